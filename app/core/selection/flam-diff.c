/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-diff.h"

#include "flam-columns.h"
#include "flam-dump.h"
#include "flam-functions.h"

#include <string.h>

gboolean
flam_diff_is_possible (const FlamTree *base, const FlamTree *fresh)
{
  const FlamMeasure a = flam_tree_measure (base);
  const FlamMeasure b = flam_tree_measure (fresh);

  if (base->counted && fresh->counted)
    return a.denominator == b.denominator;
  return flam_measure_is_like (&a, &b);
}

FlamDiffScale
flam_diff_scale_totals (const FlamTree *base, const FlamTree *fresh)
{
  return (FlamDiffScale){ fresh->total[0], base->total[0] };
}

gint64
flam_diff_scaled (gint64 value, FlamDiffScale scale)
{
  __int128_t product = (__int128_t)value * scale.to;

  if (scale.from == 0)
    return 0;
  return (gint64)CLAMP (product / scale.from, G_MININT64, G_MAXINT64);
}

static FlamDiffRow *
row_named (GHashTable *rows, const char *name)
{
  FlamDiffRow *row = g_hash_table_lookup (rows, name);

  if (row == NULL)
    {
      row = g_new0 (FlamDiffRow, 1);
      row->name = name;
      g_hash_table_insert (rows, (char *)name, row);
    }
  return row;
}

static void
add_tree (GHashTable *rows,
          const FlamTree *tree,
          gboolean self,
          gboolean is_base)
{
  guint n;
  g_autofree FlamFunctionRow *functions =
      flam_functions_new (tree, FLAM_SORT_SELF, &n);

  for (guint i = 0; i < n; i++)
    {
      FlamDiffRow *row =
          row_named (rows, flam_tree_name (tree, functions[i].node));
      gint64 value = self ? functions[i].self : functions[i].total;

      *(is_base ? &row->base : &row->fresh) += value;
    }
}

static int
compare_rows (gconstpointer a, gconstpointer b)
{
  const FlamDiffRow *x = a;
  const FlamDiffRow *y = b;

  if (ABS (x->delta) != ABS (y->delta))
    return ABS (x->delta) > ABS (y->delta) ? -1 : 1;
  return strcmp (x->name, y->name);
}

FlamDiffRow *
flam_diff_functions (const FlamTree *base,
                     const FlamTree *fresh,
                     gboolean self,
                     FlamDiffScale scale,
                     guint *n)
{
  g_autoptr (GHashTable) table =
      g_hash_table_new_full (g_str_hash, g_str_equal, NULL, g_free);
  FlamDiffRow *rows;
  GHashTableIter iter;
  gpointer value;

  add_tree (table, base, self, TRUE);
  add_tree (table, fresh, self, FALSE);
  rows = g_new (FlamDiffRow, g_hash_table_size (table) + 1);
  *n = 0;
  g_hash_table_iter_init (&iter, table);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    {
      FlamDiffRow row = *(FlamDiffRow *)value;

      row.base = flam_diff_scaled (row.base, scale);
      row.delta = row.fresh - row.base;
      rows[(*n)++] = row;
    }
  qsort (rows, *n, sizeof *rows, compare_rows);
  return rows;
}

/* --- tree ---------------------------------------------------------------- */

/* A path of names as a number: the path of the caller and a name. Nodes of both
 * trees with the same number are compared. */
typedef struct
{
  FlamId parent;
  FlamId name;
} PathKey;

typedef struct
{
  FlamColumn paths;  /* PathKey */
  GHashTable *names; /* char* -> its number + 1 */
  FlamInterner interner;
} Paths;

static gboolean
path_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const PathKey *a = &flam_column_at ((FlamColumn *)table, PathKey, row);
  const PathKey *b = key;

  return a->parent == b->parent && a->name == b->name;
}

static FlamId
name_number (Paths *paths, const char *name)
{
  gpointer number = g_hash_table_lookup (paths->names, name);

  if (number == NULL)
    {
      number = GUINT_TO_POINTER (g_hash_table_size (paths->names) + 1);
      g_hash_table_insert (paths->names, (char *)name, number);
    }
  return GPOINTER_TO_UINT (number) - 1;
}

/* The path of each node; g_free. */
static FlamId *
find_paths (Paths *paths, const FlamTree *tree)
{
  FlamId *of_node = g_new (FlamId, tree->n);

  for (FlamId i = 0; i < tree->n; i++)
    {
      PathKey key = {
        i > 0 ? of_node[tree->parent[i]] : FLAM_NONE,
        i > 0 ? name_number (paths, flam_tree_name (tree, i)) : FLAM_NONE,
      };
      guint32 hash = flam_hash_pair (key.parent, key.name);
      FlamSlot *slot = flam_interner_find (
          &paths->interner, hash, path_equal, &paths->paths, &key);

      if (slot->id == FLAM_NONE)
        {
          *slot = (FlamSlot){ hash, (FlamId)paths->paths.n };
          paths->interner.used++;
          flam_column_append (&paths->paths, PathKey, key);
        }
      of_node[i] = slot->id;
    }
  return of_node;
}

/* What each path holds; g_free. Siblings of one name are one path. */
static gint64 *
sum_paths (const FlamTree *tree,
           const FlamId *path,
           const gint64 *value,
           gsize n_paths)
{
  gint64 *sum = g_new0 (gint64, n_paths);

  for (FlamId i = 0; i < tree->n; i++)
    sum[path[i]] += value[i];
  return sum;
}

static void *
copy_column (const void *column, gsize n, gsize size)
{
  return column != NULL ? g_memdup2 (column, n * size) : NULL;
}

static FlamTree *
copy_tree (const FlamTree *tree)
{
  FlamTree *copy = g_atomic_rc_box_new (FlamTree);

#define COPY(column)                                                           \
  copy->column = copy_column (tree->column, tree->n, sizeof *tree->column)
  *copy = *tree;
  flam_profile_ref (tree->profile);
  COPY (parent);
  COPY (subtree_end);
  COPY (depth);
  COPY (function);
  COPY (line);
  COPY (frame);
  COPY (self);
  COPY (total);
  COPY (split);
  COPY (other_self);
  COPY (other_total);
#undef COPY
  copy->stack_node = copy_column (
      tree->stack_node, tree->profile->stacks.n, sizeof *tree->stack_node);
  copy->change = NULL;
  return copy;
}

/* Weight of the topmost nodes of the other tree whose paths this one lacks. */
static gint64
weigh_missing (const FlamTree *other, const FlamId *path, const gint64 *total)
{
  gint64 missing = 0;

  for (FlamId i = 0; i < other->n;)
    if (total[path[i]] == 0)
      {
        missing += other->total[i];
        i = other->subtree_end[i];
      }
    else
      i++;
  return missing;
}

/* Siblings of one name share what the other tree has, by what they have. */
static gint64
share_of (gint64 others, gint64 value, gint64 sum)
{
  return sum > 0 ? (gint64)((__int128_t)others * value / sum) : others;
}

FlamTree *
flam_diff_tree (const FlamTree *base,
                const FlamTree *fresh,
                FlamDiffShape shape,
                gboolean self,
                FlamDiffScale scale)
{
  g_autoptr (GHashTable) names = g_hash_table_new (g_str_hash, g_str_equal);
  Paths paths = { .names = names };
  const FlamTree *here = shape == FLAM_DIFF_FRESH ? fresh : base;
  const FlamTree *other = shape == FLAM_DIFF_FRESH ? base : fresh;
  FlamTree *tree = copy_tree (here);
  FlamTreeChange *change = g_new0 (FlamTreeChange, 1);
  const gint64 *value = self ? tree->self : tree->total;
  g_autofree FlamId *path = NULL;
  g_autofree FlamId *other_path = NULL;
  g_autofree gint64 *sum = NULL;
  g_autofree gint64 *other_sum = NULL;
  g_autofree gint64 *total = NULL;

  flam_column_init (&paths.paths, sizeof (PathKey));
  flam_interner_init (&paths.interner);
  path = find_paths (&paths, tree);
  other_path = find_paths (&paths, other);
  sum = sum_paths (tree, path, value, paths.paths.n);
  other_sum = sum_paths (
      other, other_path, self ? other->self : other->total, paths.paths.n);
  total = sum_paths (tree, path, tree->total, paths.paths.n);
  flam_interner_clear (&paths.interner);
  flam_column_clear (&paths.paths);

  tree->change = change;
  change->base = g_new (gint64, tree->n);
  change->delta = g_new (gint64, tree->n);
  change->missing = weigh_missing (other, other_path, total);
  for (FlamId i = 0; i < tree->n; i++)
    {
      gint64 there = share_of (other_sum[path[i]], value[i], sum[path[i]]);
      gint64 was = shape == FLAM_DIFF_FRESH ? there : value[i];
      gint64 is = shape == FLAM_DIFF_FRESH ? value[i] : there;

      change->base[i] = flam_diff_scaled (was, scale);
      change->delta[i] = is - change->base[i];
      if (i > 0)
        change->greatest = MAX (change->greatest, ABS (change->delta[i]));
    }
  return tree;
}

/* --- folded -------------------------------------------------------------- */

typedef struct
{
  char *base;
  char *fresh;
} Columns;

static void
columns_free (gpointer data)
{
  Columns *columns = data;

  g_free (columns->base);
  g_free (columns->fresh);
  g_free (columns);
}

static char *
scaled_text (const char *weight, FlamDiffScale scale)
{
  gint64 value = g_ascii_strtoll (weight, NULL, 10);

  if (scale.to == scale.from)
    return g_strdup (weight);
  return g_strdup_printf ("%" G_GINT64_FORMAT, flam_diff_scaled (value, scale));
}

static void
add_folded (GHashTable *paths,
            const FlamTree *tree,
            gboolean is_base,
            FlamDiffScale scale)
{
  g_autofree char *text = flam_dump_folded (tree);
  char *save = NULL;

  for (char *line = strtok_r (text, "\n", &save); line != NULL;
       line = strtok_r (NULL, "\n", &save))
    {
      char *space = strrchr (line, ' ');
      Columns *columns;

      *space = 0;
      columns = g_hash_table_lookup (paths, line);
      if (columns == NULL)
        {
          columns = g_new0 (Columns, 1);
          g_hash_table_insert (paths, g_strdup (line), columns);
        }
      if (is_base)
        columns->base = scaled_text (space + 1, scale);
      else
        columns->fresh = g_strdup (space + 1);
    }
}

char *
flam_diff_folded (const FlamTree *base,
                  const FlamTree *fresh,
                  FlamDiffScale scale)
{
  g_autoptr (GHashTable) paths =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, columns_free);
  g_autoptr (GList) keys = NULL;
  GString *out = g_string_new (NULL);

  add_folded (paths, base, TRUE, scale);
  add_folded (paths, fresh, FALSE, FLAM_DIFF_UNSCALED);
  keys = g_list_sort (g_hash_table_get_keys (paths), (GCompareFunc)strcmp);
  for (GList *key = keys; key != NULL; key = key->next)
    {
      const Columns *columns = g_hash_table_lookup (paths, key->data);

      g_string_append_printf (out,
                              "%s %s %s\n",
                              (const char *)key->data,
                              columns->base ? columns->base : "0",
                              columns->fresh ? columns->fresh : "0");
    }
  return g_string_free (out, FALSE);
}
