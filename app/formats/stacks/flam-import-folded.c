/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Folded stacks: a line a stack, root first, and its weight.
 *
 *    main;parse;read_[k] 12          a weight, whole or fractional
 *    main;parse;read_[k] 10 12       differential: weight before, weight now
 *
 * What a frame's text says is told in flam-folded.h. Lines that start with "# "
 * are comments; a function of JavaScript may be called "#build". Lines without
 * a weight are left out and counted. Source: FlameGraph's stackcollapse-*.pl,
 * flamegraph.pl and difffolded.pl.
 *
 * Two columns or one is a fact of the file: a leaf may well be called
 * "thread 3", so it is differential only when every line reads that way.
 *
 * Most of a large file is repetition. A line whose stack was seen before costs
 * one hash of it; else what it shares with the new stack before it is taken
 * over frame by frame, and only the rest is interned:
 *
 *    last     main ; parse ; read          ends   4   10   15
 *    stacks   0      1       2
 *    line     main ; parse ; write;poll    shared ^ 11 bytes: starts at stack 1
 */

#include "flam-formats.h"

#include "flam-folded.h"
#include "flam-weights-as.h"

typedef struct
{
  FlamId stack;
  FlamId thread;
  gint64 weight[2];
} Entry;

typedef struct
{
  FlamBuilder *builder;
  FlamFoldedNames names;
  guint n_columns;
  FlamPieces stacks;
  FlamPieces frames;
  FlamColumn entries;     /* Entry, a row of `stacks` each */
  FlamColumn last_ends;   /* guint32: offset behind each frame of `last` */
  FlamColumn last_stacks; /* FlamId */
  FlamColumn last_threads;
  const char *last;
  gsize last_length;
  guint places;
  FlamText lines;
  guint64 good;
} Folded;

/* --- load ---------------------------------------------------------------- */

static guint
count_columns (const FlamSource *source)
{
  FlamText all;
  const char *text;
  gsize length;
  FlamFoldedLine line;
  gboolean any = FALSE;

  flam_text_init (&all, source);
  while (flam_text_next (&all, &text, &length))
    if (!flam_folded_is_skipped (text, length) &&
        flam_folded_parse_line (text, length, 1, &line))
      {
        if (!flam_folded_parse_line (text, length, 2, &line))
          return 1;
        any = TRUE;
      }
  return any ? 2 : 1;
}

static FlamId
find_frame (Folded *folded, const char *name, gsize length)
{
  gboolean is_new;
  FlamId row =
      flam_pieces_find (&folded->frames, name, length, FLAM_NONE, &is_new);

  if (is_new)
    *flam_pieces_value (&folded->frames, row) =
        flam_folded_frame (&folded->names, name, length);
  return *flam_pieces_value (&folded->frames, row);
}

static gsize
common_length (const char *a, const char *b, gsize length)
{
  gsize i = 0;
  guint64 x, y;

  for (; i + 8 <= length; i += 8)
    {
      memcpy (&x, a + i, 8);
      memcpy (&y, b + i, 8);
      if (x != y)
        break;
    }
  while (i < length && a[i] == b[i])
    i++;
  return i;
}

/* Drops from `last` the frames that the new stack does not begin with;
 * returns where the first frame of its own starts. */
static gsize
keep_shared (Folded *folded, const char *stack, gsize length)
{
  gsize shared =
      common_length (folded->last, stack, MIN (folded->last_length, length));
  gsize n = folded->last_ends.n;

  while (n > 0 && flam_column_at (&folded->last_ends, guint32, n - 1) >= shared)
    n--;
  folded->last_ends.n = n;
  folded->last_stacks.n = n;
  folded->last_threads.n = n;
  folded->last = stack;
  folded->last_length = length;
  return n > 0 ? flam_column_at (&folded->last_ends, guint32, n - 1) + 1 : 0;
}

/* What comes before the first frame may say whose stack it is. */
static void
make_stack (Folded *folded, const char *text, gsize length, Entry *entry)
{
  gsize at = keep_shared (folded, text, length);
  gsize n = folded->last_stacks.n;

  entry->stack =
      n > 0 ? flam_column_at (&folded->last_stacks, FlamId, n - 1) : FLAM_NONE;
  entry->thread =
      n > 0 ? flam_column_at (&folded->last_threads, FlamId, n - 1) : FLAM_NONE;
  if (n == 0)
    folded->names.process = FLAM_NONE;
  while (at < length)
    {
      const char *stop = memchr (text + at, ';', length - at);
      gsize end = stop != NULL ? (gsize)(stop - text) : length;

      if (entry->stack != FLAM_NONE ||
          !flam_folded_thread (
              &folded->names, text + at, end - at, &entry->thread))
        entry->stack =
            flam_builder_stack (folded->builder,
                                entry->stack,
                                find_frame (folded, text + at, end - at));
      flam_column_append (&folded->last_ends, guint32, end);
      flam_column_append (&folded->last_stacks, FlamId, entry->stack);
      flam_column_append (&folded->last_threads, FlamId, entry->thread);
      at = end + 1;
    }
  if (entry->thread == FLAM_NONE)
    entry->thread = flam_folded_main_thread (&folded->names);
}

static gboolean
raise_places (Folded *folded, guint places)
{
  gint64 factor = flam_folded_powers[places - folded->places];
  Entry *entries = folded->entries.data;

  for (gsize i = 0; i < folded->entries.n; i++)
    for (guint c = 0; c < 2; c++)
      if (__builtin_mul_overflow (
              entries[i].weight[c], factor, &entries[i].weight[c]))
        return FALSE;
  folded->places = places;
  return TRUE;
}

static gboolean
add_line (Folded *folded, const FlamFoldedLine *line)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (
      &folded->stacks, line->stack, line->length, FLAM_NONE, &is_new);
  Entry *entry;

  if (is_new)
    {
      Entry fresh = { 0 };
      make_stack (folded, line->stack, line->length, &fresh);
      flam_column_append (&folded->entries, Entry, fresh);
    }
  if (line->places > folded->places && !raise_places (folded, line->places))
    return FALSE;
  entry = &flam_column_at (&folded->entries, Entry, row);
  for (guint c = 0; c < folded->n_columns; c++)
    {
      gint64 weight;
      if (__builtin_mul_overflow (
              line->weight[c],
              flam_folded_powers[folded->places - line->places],
              &weight) ||
          __builtin_add_overflow (entry->weight[c], weight, &entry->weight[c]))
        return FALSE;
    }
  return TRUE;
}

static gboolean
read_lines (Folded *folded,
            const FlamSource *source,
            const FlamProgress *progress,
            GError **error)
{
  FlamText *lines = &folded->lines;
  const char *text;
  gsize length;
  FlamFoldedLine line;

  flam_text_open (lines, source, progress);
  while (flam_text_next (lines, &text, &length))
    {
      if (flam_folded_is_skipped (text, length))
        continue;
      if (!flam_folded_parse_line (text, length, folded->n_columns, &line) ||
          line.length > G_MAXUINT32)
        flam_text_bad (lines);
      else if (add_line (folded, &line))
        folded->good++;
      else
        {
          flam_source_error (source,
                             error,
                             FLAM_ERROR_INVALID,
                             FLAM_NO_OFFSET,
                             "the weights add up to more than a number holds "
                             "(at line %" G_GUINT64_FORMAT ")",
                             lines->line);
          return FALSE;
        }
    }
  return flam_text_close (lines, error);
}

/* --- into the builder ---------------------------------------------------- */

static void
scale_weights (Folded *folded, FlamWeightsAs as)
{
  Entry *entries = folded->entries.data;

  for (gsize i = 0; i < folded->entries.n; i++)
    for (guint k = 0; k < 2; k++)
      entries[i].weight[k] = flam_weights_as_scale (as, entries[i].weight[k]);
}

static void
add_measures (Folded *folded, FlamWeightsAs as)
{
  for (guint i = 0; i < folded->n_columns; i++)
    flam_builder_set_denominator (
        folded->builder,
        flam_weights_as_add_measure (as,
                                     folded->builder,
                                     i > 0 ? FLAM_WEIGHTS_BEFORE
                                           : FLAM_WEIGHTS_NOW),
        flam_folded_powers[folded->places]);
}

static void
add_samples (Folded *folded)
{
  const Entry *entries = folded->entries.data;
  FlamSample sample = { 0 };

  for (gsize i = 0; i < folded->entries.n; i++)
    {
      sample.stack = entries[i].stack;
      sample.thread = entries[i].thread;
      flam_builder_add_sample (folded->builder, &sample, entries[i].weight);
    }
}

static gboolean
check (const Folded *folded, const FlamSource *source, GError **error)
{
  if (folded->good == 0)
    {
      flam_source_error (source,
                         error,
                         FLAM_ERROR_INVALID,
                         FLAM_NO_OFFSET,
                         "no line holds a stack and its weight");
      return FALSE;
    }
  if (folded->lines.bad > 0)
    flam_builder_warn (folded->builder,
                       "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                       " lines hold no stack and weight and were left out; "
                       "the first is line %" G_GUINT64_FORMAT,
                       folded->lines.bad,
                       folded->lines.bad + folded->good,
                       folded->lines.first_bad);
  return TRUE;
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  Folded folded = { .builder = builder, .last = "" };
  gboolean ok;

  folded.n_columns = count_columns (source);
  flam_folded_names_init (&folded.names, builder, source);
  flam_pieces_init (&folded.stacks);
  flam_pieces_init (&folded.frames);
  flam_column_init (&folded.entries, sizeof (Entry));
  flam_column_init (&folded.last_ends, sizeof (guint32));
  flam_column_init (&folded.last_stacks, sizeof (FlamId));
  flam_column_init (&folded.last_threads, sizeof (FlamId));
  ok = read_lines (&folded, source, options->progress, error) &&
       check (&folded, source, error);
  flam_pieces_clear (&folded.stacks);
  flam_pieces_clear (&folded.frames);
  if (ok)
    {
      FlamWeightsAs as = flam_weights_as_of (source, options);

      scale_weights (&folded, as);
      add_measures (&folded, as);
      add_samples (&folded);
    }
  flam_column_clear (&folded.entries);
  flam_column_clear (&folded.last_ends);
  flam_column_clear (&folded.last_stacks);
  flam_column_clear (&folded.last_threads);
  return ok;
}

static const char *const suffixes[] = { ".folded", ".collapsed", NULL };
static const char *const mime_types[] = { "text/plain", NULL };

const FlamImporter flam_import_folded = {
  .id = "folded",
  .label = "Folded stacks",
  .suffixes = suffixes,
  .mime_types = mime_types,
  .probe = flam_folded_probe,
  .load = load,
  .streams = TRUE,
};
