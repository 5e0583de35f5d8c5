/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-diff-private.h"

#include <string.h>

/* --- files ---------------------------------------------------------------- */

static const char *
base_name (const char *path)
{
  const char *slash = strrchr (path, '/');

  return slash != NULL ? slash + 1 : path;
}

/* The number of whole components that two paths share at their ends. */
static guint
count_shared (const char *a, const char *b)
{
  gsize i = strlen (a), j = strlen (b);
  guint shared = 0;

  while (i > 0 && j > 0 && a[i - 1] == b[j - 1])
    {
      i--;
      j--;
      shared += a[i] == '/';
    }
  return shared;
}

/* One of `files`, char*; NULL: no match, or several equally good ones. */
static const char *
find_alike (const GPtrArray *files, const char *path)
{
  const char *best = NULL;
  guint most = 0;
  gboolean alone = TRUE;

  for (guint i = 0; i < files->len; i++)
    {
      const char *file = files->pdata[i];
      guint shared;

      if (strcmp (base_name (file), base_name (path)) != 0)
        continue;
      shared = count_shared (file, path);
      if (best == NULL || shared > most)
        {
          best = file;
          most = shared;
          alone = TRUE;
        }
      else if (shared == most)
        alone = FALSE;
    }
  return alone ? best : NULL;
}

/* The paths that have weight, as a set; borrowed texts of the profile. */
static GHashTable *
files_of (const FlamDiffWeights *side)
{
  GHashTable *files = g_hash_table_new (g_str_hash, g_str_equal);
  guint n;
  g_autofree FlamFileRow *rows =
      flam_lines_files (side->weights, side->selection, &n);

  for (guint i = 0; i < n; i++)
    g_hash_table_add (
        files,
        (char *)flam_profile_string (side->weights->profile, rows[i].file));
  return files;
}

/* The files of `of` that are not in `others`; borrowed texts. */
static GPtrArray *
files_apart (GHashTable *of, GHashTable *others)
{
  GPtrArray *apart = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer file;

  g_hash_table_iter_init (&iter, of);
  while (g_hash_table_iter_next (&iter, &file, NULL))
    if (!g_hash_table_contains (others, file))
      g_ptr_array_add (apart, file);
  return apart;
}

const char *
flam_diff_find_file (const FlamDiffWeights *from,
                     const char *path,
                     const FlamDiffWeights *to)
{
  g_autoptr (GHashTable) there = files_of (to);
  g_autoptr (GHashTable) here = NULL;
  g_autoptr (GPtrArray) apart = NULL;
  gpointer same;

  if (g_hash_table_lookup_extended (there, path, &same, NULL))
    return same;
  here = files_of (from);
  apart = files_apart (there, here);
  return find_alike (apart, path);
}

/* --- lines ---------------------------------------------------------------- */

typedef struct
{
  const char *file;
  guint32 line;
  FlamFigure base, fresh;
} Line;

typedef struct
{
  FlamColumn rows; /* Line */
  FlamInterner interner;
} Lines;

static gboolean
row_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const Line *a = &flam_column_at ((FlamColumn *)table, Line, row);
  const Line *b = key;

  return a->line == b->line && strcmp (a->file, b->file) == 0;
}

static Line *
row_of (Lines *lines, const char *file, guint32 line)
{
  Line key = { .file = file, .line = line };
  guint32 hash = flam_hash_pair (g_str_hash (file), line);
  FlamSlot *slot = flam_interner_find (
      &lines->interner, hash, row_equal, &lines->rows, &key);

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, (FlamId)lines->rows.n };
      lines->interner.used++;
      flam_column_append (&lines->rows, Line, key);
    }
  return &flam_column_at (&lines->rows, Line, slot->id);
}

/* The name of a file of the base in the new capture, by its id in the base. */
typedef struct
{
  GHashTable *there; /* files of the new capture */
  GPtrArray *apart;  /* its files that are missing from the base */
  GHashTable *names; /* by id */
} Names;

static const char *
name_file (Names *names, const FlamProfile *profile, FlamStringId file)
{
  const char *path = flam_profile_string (profile, file);
  gpointer known = g_hash_table_lookup (names->names, GUINT_TO_POINTER (file));

  if (known != NULL)
    return known;
  if (!g_hash_table_contains (names->there, path))
    known = (gpointer)find_alike (names->apart, path);
  if (known == NULL)
    known = (gpointer)path;
  g_hash_table_insert (names->names, GUINT_TO_POINTER (file), known);
  return known;
}

/* `names` NULL: these are the names of the new capture. */
static void
add_lines (Lines *lines,
           const FlamDiffWeights *side,
           Names *names,
           const char *wanted,
           gboolean self)
{
  const FlamProfile *profile = side->weights->profile;
  guint n;
  g_autofree FlamFileLineRow *rows =
      flam_lines_all (side->weights, side->selection, &n);

  for (guint i = 0; i < n; i++)
    {
      const char *file = names != NULL
                             ? name_file (names, profile, rows[i].file)
                             : flam_profile_string (profile, rows[i].file);
      const FlamLineRow *of = &rows[i].row;
      Line *row;

      if (wanted != NULL && strcmp (file, wanted) != 0)
        continue;
      row = row_of (lines, file, of->line);
      flam_diff_add_figure (names != NULL ? &row->base : &row->fresh,
                            self ? flam_lines_self (side->weights, of)
                                 : flam_lines_total (side->weights, of));
    }
}

static void
add_base_lines (Lines *lines,
                const FlamDiffWeights *base,
                const FlamDiffWeights *fresh,
                const char *wanted,
                gboolean self)
{
  g_autoptr (GHashTable) here = files_of (base);
  g_autoptr (GHashTable) there = files_of (fresh);
  g_autoptr (GPtrArray) apart = files_apart (there, here);
  g_autoptr (GHashTable) by_id = g_hash_table_new (NULL, NULL);
  Names names = { there, apart, by_id };

  add_lines (lines, base, &names, wanted, self);
}

static FlamEstimate
estimate_of (const FlamDiffWeights *side, FlamFigure figure)
{
  const FlamProfile *profile = side->weights->profile;
  const FlamMeasure measure = flam_selection_measure (
      side->selection, profile, side->selection->measure);

  return flam_estimate_of_figure (&profile->facts, &measure, figure);
}

FlamDiffRow
flam_diff_line (const char *file,
                guint32 line,
                const FlamDiffWeights *base,
                FlamFigure was,
                const FlamDiffWeights *fresh,
                FlamFigure is,
                FlamDiffScale scale)
{
  return flam_diff_row (
      file,
      line,
      &(FlamDiffFigures){
          was, is, estimate_of (base, was), estimate_of (fresh, is) },
      scale);
}

FlamDiffRow *
flam_diff_lines (const FlamDiffWeights *base,
                 const FlamDiffWeights *fresh,
                 const char *file,
                 gboolean self,
                 FlamDiffScale scale,
                 guint *n)
{
  Lines lines;
  FlamDiffRow *rows;

  flam_column_init (&lines.rows, sizeof (Line));
  flam_interner_init (&lines.interner);
  add_lines (&lines, fresh, NULL, file, self);
  add_base_lines (&lines, base, fresh, file, self);
  *n = (guint)lines.rows.n;
  rows = g_new (FlamDiffRow, (gsize)*n + 1);
  for (guint i = 0; i < *n; i++)
    {
      const Line *of = &flam_column_at (&lines.rows, Line, i);

      rows[i] = flam_diff_line (
          of->file, of->line, base, of->base, fresh, of->fresh, scale);
    }
  flam_interner_clear (&lines.interner);
  flam_column_clear (&lines.rows);
  flam_diff_sort (rows, *n);
  return rows;
}
