/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Lines of folded stacks into distinct texts and their weights, by one core.
 *
 * Most of a large file is repetition. A line with a known stack needs only its
 * fingerprint; its frames are determined once for all lines and parts (flam-
 * folded-stacks.c).
 *
 * The first line of a stack may be anywhere in the file, and a cache miss takes
 * longer than reading a line. So lines are read in batches, and the data that
 * each of them needs is prefetched before the first one is looked up. */

#include "flam-folded.h"

#include <string.h>

#define BATCH 32

typedef struct
{
  FlamFoldedLine line;
  FlamFingerprint print;
} Pending;

gboolean
flam_folded_overflow (const FlamSource *source, GError **error)
{
  return flam_source_invalid (
      source, error, N_ ("the sum of the weights is too large"));
}

gboolean
flam_folded_part_raise_places (FlamFoldedPart *part, guint places)
{
  gint64 factor = flam_folded_powers[places - part->places];
  FlamFoldedRow *rows = part->rows.data;
  FlamFoldedRun *runs = part->runs.data;

  for (gsize i = 0; i < part->rows.n; i++)
    for (guint c = 0; c < 2; c++)
      if (__builtin_mul_overflow (
              rows[i].weight[c], factor, &rows[i].weight[c]))
        return FALSE;
  /* None of these is more than its row's. */
  for (gsize i = 0; i < part->runs.n; i++)
    for (guint c = 0; c < 2; c++)
      runs[i].weight[c] *= factor;
  part->places = places;
  return TRUE;
}

static gboolean
row_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return flam_fingerprint_equal (&((const FlamFoldedRow *)table + row)->print,
                                 key);
}

/* A row with this text, with a weight of 0 if it is new. */
static FlamFoldedRow *
find_row (FlamFoldedPart *part,
          const FlamFingerprint *print,
          const char *stack,
          gsize length)
{
  guint32 hash = (guint32)print->a;
  FlamSlot *slot = flam_interner_find (
      &part->interner, hash, row_equal, part->rows.data, print);
  FlamFoldedRow *row;

  if (slot->id != FLAM_NONE)
    return &flam_column_at (&part->rows, FlamFoldedRow, slot->id);
  *slot = (FlamSlot){ hash, part->rows.n };
  part->interner.used++;
  row = flam_column_push (&part->rows);
  *row = (FlamFoldedRow){ *print, stack, length, { 0 } };
  return row;
}

/* FALSE: the sum overflows. */
static gboolean
add_weights (FlamFoldedRow *row, const gint64 *weights, gint64 factor)
{
  for (guint c = 0; c < 2; c++)
    {
      gint64 weight;
      if (__builtin_mul_overflow (weights[c], factor, &weight) ||
          __builtin_add_overflow (row->weight[c], weight, &row->weight[c]))
        return FALSE;
    }
  return TRUE;
}

/* A line whose weights, times the factor, do not overflow their row's. */
static void
add_to_run (FlamFoldedPart *part,
            FlamId row,
            const gint64 *weights,
            gint64 factor)
{
  gsize n = part->runs.n;
  FlamFoldedRun *run =
      n > 0 ? &flam_column_at (&part->runs, FlamFoldedRun, n - 1) : NULL;

  if (run == NULL || run->row != row)
    {
      run = flam_column_push (&part->runs);
      *run = (FlamFoldedRun){ row, { 0 } };
    }
  for (guint c = 0; c < 2; c++)
    run->weight[c] += weights[c] * factor;
}

static gboolean
add_line (FlamFoldedPart *part, const Pending *pending)
{
  const FlamFoldedLine *line = &pending->line;
  FlamFoldedRow *row;
  gint64 factor;

  if (line->places > part->places &&
      !flam_folded_part_raise_places (part, line->places))
    return FALSE;
  factor = flam_folded_powers[part->places - line->places];
  row = find_row (part, &pending->print, line->stack, line->length);
  if (!add_weights (row, line->weight, factor))
    return FALSE;
  if (part->in_order)
    add_to_run (part,
                (FlamId)(row - (FlamFoldedRow *)part->rows.data),
                line->weight,
                factor);
  return TRUE;
}

/* Reads up to BATCH lines with a stack. */
static guint
take_lines (FlamFoldedPart *part, Pending *pending)
{
  const char *text;
  gsize length;
  guint n = 0;

  while (n < BATCH && flam_text_next (&part->text, &text, &length))
    {
      FlamFoldedLine *line = &pending[n].line;

      if (flam_folded_is_skipped (text, length))
        continue;
      if (!flam_folded_parse_line (text, length, part->n_columns, line) ||
          line->length > G_MAXUINT32)
        {
          flam_text_bad (&part->text);
          continue;
        }
      pending[n].print =
          flam_fingerprint (part->key, line->stack, line->length);
      flam_interner_prefetch (&part->interner, (guint32)pending[n].print.a);
      n++;
    }
  return n;
}

gboolean
flam_folded_part_read (FlamFoldedPart *part,
                       const FlamProgress *progress,
                       GError **error)
{
  Pending pending[BATCH];
  guint n;

  flam_text_reopen (&part->text, progress);
  while ((n = take_lines (part, pending)) > 0)
    {
      for (guint i = 0; i < n; i++)
        flam_interner_prefetch_row (
            &part->interner, (guint32)pending[i].print.a, &part->rows);
      for (guint i = 0; i < n; i++)
        if (!add_line (part, &pending[i]))
          {
            g_clear_error (&part->text.cancelled);
            return flam_folded_overflow (part->source, error);
          }
      part->good += n;
    }
  return flam_text_close (&part->text, error);
}

gboolean
flam_folded_row_add (gpointer first, gconstpointer row)
{
  return add_weights (first, ((const FlamFoldedRow *)row)->weight, 1);
}

void
flam_folded_part_init (FlamFoldedPart *part,
                       const FlamSource *source,
                       const FlamText *text,
                       const FlamFingerprintKey *key,
                       guint n_columns,
                       gboolean in_order)
{
  *part = (FlamFoldedPart){ .source = source,
                            .text = *text,
                            .n_columns = n_columns,
                            .key = key,
                            .in_order = in_order };
  flam_column_init (&part->rows, sizeof (FlamFoldedRow));
  flam_column_init (&part->runs, sizeof (FlamFoldedRun));
  flam_interner_init (&part->interner);
}

void
flam_folded_part_clear (FlamFoldedPart *part)
{
  flam_column_clear (&part->rows);
  flam_column_clear (&part->runs);
  flam_interner_clear (&part->interner);
}
