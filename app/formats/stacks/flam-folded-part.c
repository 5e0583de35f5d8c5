/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Lines of folded stacks into stacks and weights, by one core.
 *
 * Most of a large file is repetition. A line with a known stack needs only its
 * fingerprint; else the frames that it shares with the previous new stack are
 * reused, and only the rest is interned:
 *
 *    last     main ; parse ; read          ends   4   10   15
 *    stacks   0      1       2
 *    line     main ; parse ; write;poll    shared ^ 11 bytes: starts at stack 1
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
      source, error, N_ ("the weights add up to more than a number holds"));
}

/* --- stacks -------------------------------------------------------------- */

static FlamId
find_frame (FlamFoldedPart *part, const char *name, gsize length)
{
  gboolean is_new;
  FlamId row =
      flam_pieces_find (&part->frames, name, length, FLAM_NONE, &is_new);

  if (is_new)
    *flam_pieces_value (&part->frames, row) =
        flam_folded_frame (&part->names, name, length);
  return *flam_pieces_value (&part->frames, row);
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

/* Drops the frames from `last` that the new stack does not begin with; returns
 * the start of its first frame after the shared ones. */
static gsize
keep_shared (FlamFoldedPart *part, const char *stack, gsize length)
{
  gsize shared =
      common_length (part->last, stack, MIN (part->last_length, length));
  gsize n = part->last_ends.n;

  while (n > 0 && flam_column_at (&part->last_ends, guint32, n - 1) >= shared)
    n--;
  part->last_ends.n = n;
  part->last_stacks.n = n;
  part->last_threads.n = n;
  part->last = stack;
  part->last_length = length;
  return n > 0 ? flam_column_at (&part->last_ends, guint32, n - 1) + 1 : 0;
}

static void
push_path (FlamFoldedPart *part, FlamFoldedSample *sample)
{
  gsize n = part->path.n;
  gsize had = part->last_stacks.n;
  FlamId *stacks;

  if (n == 0)
    return;
  flam_column_reserve (&part->last_stacks, had + n);
  stacks = &flam_column_at (&part->last_stacks, FlamId, had);
  flam_builder_stack_path (
      part->builder, sample->stack, part->path.data, n, stacks);
  part->last_stacks.n = had + n;
  for (gsize i = 0; i < n; i++)
    flam_column_append (&part->last_threads, FlamId, sample->thread);
  sample->stack = stacks[n - 1];
}

/* The text before the first frame may identify the thread. */
static void
make_stack (FlamFoldedPart *part,
            const char *text,
            gsize length,
            FlamFoldedSample *sample)
{
  gsize at = keep_shared (part, text, length);
  gsize n = part->last_stacks.n;

  sample->stack =
      n > 0 ? flam_column_at (&part->last_stacks, FlamId, n - 1) : FLAM_NONE;
  sample->thread =
      n > 0 ? flam_column_at (&part->last_threads, FlamId, n - 1) : FLAM_NONE;
  if (n == 0)
    part->names.process = FLAM_NONE;
  part->path.n = 0;
  while (at < length)
    {
      const char *stop = memchr (text + at, ';', length - at);
      gsize end = stop != NULL ? (gsize)(stop - text) : length;
      gboolean begun = sample->stack != FLAM_NONE || part->path.n > 0;

      flam_column_append (&part->last_ends, guint32, end);
      if (!begun && flam_folded_thread (
                        &part->names, text + at, end - at, &sample->thread))
        {
          flam_column_append (&part->last_stacks, FlamId, FLAM_NONE);
          flam_column_append (&part->last_threads, FlamId, sample->thread);
        }
      else
        flam_column_append (
            &part->path, FlamId, find_frame (part, text + at, end - at));
      at = end + 1;
    }
  push_path (part, sample);
  if (sample->thread == FLAM_NONE)
    sample->thread = flam_folded_main_thread (&part->names);
}

/* --- lines --------------------------------------------------------------- */

static gboolean
raise_places (FlamFoldedPart *part, guint places)
{
  gint64 factor = flam_folded_powers[places - part->places];
  FlamFoldedRow *rows = part->rows.data;

  for (gsize i = 0; i < part->rows.n; i++)
    for (guint c = 0; c < 2; c++)
      if (__builtin_mul_overflow (
              rows[i].sample.weight[c], factor, &rows[i].sample.weight[c]))
        return FALSE;
  part->places = places;
  return TRUE;
}

static gboolean
row_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamFoldedRow *a = (const FlamFoldedRow *)table + row;
  const FlamFingerprint *b = key;

  return a->print.a == b->a && a->print.b == b->b;
}

static FlamFoldedRow *
find_row (FlamFoldedPart *part, const Pending *pending)
{
  const FlamFoldedLine *line = &pending->line;
  guint32 hash = (guint32)pending->print.a;
  FlamSlot *slot = flam_interner_find (
      &part->interner, hash, row_equal, part->rows.data, &pending->print);
  FlamFoldedRow fresh = { pending->print, { 0 } };

  if (slot->id != FLAM_NONE)
    return &flam_column_at (&part->rows, FlamFoldedRow, slot->id);
  *slot = (FlamSlot){ hash, part->rows.n };
  part->interner.used++;
  make_stack (part, line->stack, line->length, &fresh.sample);
  flam_column_append (&part->rows, FlamFoldedRow, fresh);
  return &flam_column_at (&part->rows, FlamFoldedRow, part->rows.n - 1);
}

static gboolean
add_line (FlamFoldedPart *part, const Pending *pending)
{
  const FlamFoldedLine *line = &pending->line;
  gint64 *weights;

  if (line->places > part->places && !raise_places (part, line->places))
    return FALSE;
  weights = find_row (part, pending)->sample.weight;
  for (guint c = 0; c < 2; c++)
    {
      gint64 weight;
      if (__builtin_mul_overflow (
              line->weight[c],
              flam_folded_powers[part->places - line->places],
              &weight) ||
          __builtin_add_overflow (weights[c], weight, &weights[c]))
        return FALSE;
    }
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
          flam_fingerprint (&part->key, line->stack, line->length);
      flam_interner_prefetch (&part->interner, (guint32)pending[n].print.a);
      n++;
    }
  return n;
}

/* The row of a line's slot is mostly the right one. */
static void
prefetch_rows (const FlamFoldedPart *part, const Pending *pending, guint n)
{
  const FlamInterner *interner = &part->interner;

  for (guint i = 0; i < n; i++)
    {
      FlamId id =
          interner->slots[(guint32)pending[i].print.a & interner->mask].id;

      if (id != FLAM_NONE)
        __builtin_prefetch (&flam_column_at (&part->rows, FlamFoldedRow, id),
                            1);
    }
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
      prefetch_rows (part, pending, n);
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

void
flam_folded_part_init (FlamFoldedPart *part,
                       const FlamSource *source,
                       const FlamText *text,
                       FlamBuilder *builder,
                       guint n_columns)
{
  *part = (FlamFoldedPart){ .builder = builder,
                            .source = source,
                            .text = *text,
                            .n_columns = n_columns,
                            .last = "" };
  flam_fingerprint_key_init (&part->key);
  flam_folded_names_init (&part->names, builder, source);
  flam_column_init (&part->rows, sizeof (FlamFoldedRow));
  flam_interner_init (&part->interner);
  flam_pieces_init (&part->frames);
  flam_column_init (&part->path, sizeof (FlamId));
  flam_column_init (&part->last_ends, sizeof (guint32));
  flam_column_init (&part->last_stacks, sizeof (FlamId));
  flam_column_init (&part->last_threads, sizeof (FlamId));
}

void
flam_folded_part_clear (FlamFoldedPart *part)
{
  flam_column_clear (&part->rows);
  flam_interner_clear (&part->interner);
  flam_pieces_clear (&part->frames);
  flam_column_clear (&part->path);
  flam_column_clear (&part->last_ends);
  flam_column_clear (&part->last_stacks);
  flam_column_clear (&part->last_threads);
}
