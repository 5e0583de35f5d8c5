/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Folded stacks: a line per stack, root first, and its weight.
 *
 *    main;parse;read_[k] 12          a weight, whole or fractional
 *    main;parse;read_[k] 10 12       differential: weight before, weight now
 *    main;parse;read_[k] -2          the same for weight that was removed
 *
 * flam-folded.h describes the texts of frames. Lines that start with "# " are
 * comments; a function of JavaScript may be called "#build". Lines without a
 * weight are left out and counted. Source: FlameGraph's stackcollapse-*.pl,
 * flamegraph.pl and difffolded.pl.
 *
 * The number of columns is the same in the whole file: a leaf may be called
 * "thread 3", so a file is differential only if every line can be read as such.
 *
 * Several cores read large files (flam-parts.h), each into separate rows
 * (flam-folded-part.c). Lines of the same stack and thread, in one part or in
 * several, are one sample. */

#include "flam-formats.h"

#include "flam-folded.h"
#include "flam-parts.h"
#include "flam-weights-as.h"

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  guint n_columns;
  FlamParts texts;
  FlamFoldedPart parts[FLAM_PARTS_MAX];
  FlamColumn samples; /* FlamFoldedSample: of all parts */
  FlamInterner interner;
  guint places;
} Folded;

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

/* --- parts --------------------------------------------------------------- */

static void
begin_parts (Folded *folded)
{
  for (guint i = 0; i < folded->texts.n; i++)
    flam_folded_part_init (&folded->parts[i],
                           folded->source,
                           &folded->texts.text[i],
                           i == 0 ? folded->builder : flam_builder_new (),
                           folded->n_columns);
}

static void
end_parts (Folded *folded)
{
  for (guint i = 0; i < folded->texts.n; i++)
    {
      if (i > 0)
        flam_builder_free (folded->parts[i].builder);
      flam_folded_part_clear (&folded->parts[i]);
    }
}

static gboolean
read_part (gpointer data, guint i, const FlamProgress *progress, GError **error)
{
  Folded *folded = data;

  return flam_folded_part_read (&folded->parts[i], progress, error);
}

static gboolean
sample_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamFoldedSample *a = (const FlamFoldedSample *)table + row;
  const FlamFoldedSample *b = key;

  return a->stack == b->stack && a->thread == b->thread;
}

static gboolean
add_sample (Folded *folded, const FlamFoldedSample *sample)
{
  guint32 hash = flam_hash_pair (sample->stack, sample->thread);
  FlamSlot *slot = flam_interner_find (
      &folded->interner, hash, sample_equal, folded->samples.data, sample);
  FlamFoldedSample *known;

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, folded->samples.n };
      folded->interner.used++;
      flam_column_append (&folded->samples, FlamFoldedSample, *sample);
      return TRUE;
    }
  known = &flam_column_at (&folded->samples, FlamFoldedSample, slot->id);
  return !__builtin_add_overflow (
             known->weight[0], sample->weight[0], &known->weight[0]) &&
         !__builtin_add_overflow (
             known->weight[1], sample->weight[1], &known->weight[1]);
}

/* Adds the rows of a part to those of all, with the builder's ids. */
static gboolean
add_part (Folded *folded, const FlamFoldedPart *part)
{
  gint64 factor = flam_folded_powers[folded->places - part->places];
  g_auto (FlamMerged) merged = { NULL };

  if (part->builder != folded->builder)
    flam_builder_merge (folded->builder, part->builder, &merged);
  for (gsize i = 0; i < part->rows.n; i++)
    {
      FlamFoldedSample sample =
          flam_column_at (&part->rows, FlamFoldedRow, i).sample;

      if (part->builder != folded->builder)
        {
          if (sample.stack != FLAM_NONE)
            sample.stack = merged.stacks[sample.stack];
          sample.thread = merged.threads[sample.thread];
        }
      for (guint c = 0; c < 2; c++)
        if (__builtin_mul_overflow (
                sample.weight[c], factor, &sample.weight[c]))
          return FALSE;
      if (!add_sample (folded, &sample))
        return FALSE;
    }
  return TRUE;
}

static gboolean
add_parts (Folded *folded, GError **error)
{
  for (guint i = 0; i < folded->texts.n; i++)
    folded->places = MAX (folded->places, folded->parts[i].places);
  for (guint i = 0; i < folded->texts.n; i++)
    if (!add_part (folded, &folded->parts[i]))
      return flam_folded_overflow (folded->source, error);
  return TRUE;
}

/* Numbers of lines are relative to the start of the part. */
static gboolean
check (const Folded *folded, GError **error)
{
  guint64 good = 0, bad = 0, first = 0, lines = 0;

  for (guint i = 0; i < folded->texts.n; i++)
    {
      const FlamFoldedPart *part = &folded->parts[i];

      if (bad == 0 && part->text.bad > 0)
        first = lines + part->text.first_bad;
      good += part->good;
      bad += part->text.bad;
      lines += part->text.line;
    }
  if (good == 0)
    return flam_source_invalid (
        folded->source, error, N_ ("no line holds a stack and its weight"));
  if (bad > 0)
    flam_builder_warn (folded->builder,
                       N_ ("%" PRIu64 " of %" PRIu64
                           " lines hold no stack and weight and were left out; "
                           "the first is line %" PRIu64),
                       bad,
                       bad + good,
                       first);
  return TRUE;
}

/* --- into the builder ---------------------------------------------------- */

/* A single column with negative weights is a difference, too. */
static void
find_signs (Folded *folded)
{
  for (gsize i = 0; i < folded->samples.n && folded->n_columns == 1; i++)
    if (flam_column_at (&folded->samples, FlamFoldedSample, i).weight[1] > 0)
      folded->n_columns = 2;
}

static void
scale_weights (Folded *folded, FlamWeightsAs as)
{
  FlamFoldedSample *samples = folded->samples.data;

  for (gsize i = 0; i < folded->samples.n; i++)
    for (guint k = 0; k < 2; k++)
      samples[i].weight[k] = flam_weights_as_scale (as, samples[i].weight[k]);
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
  const FlamFoldedSample *samples = folded->samples.data;
  FlamSample sample = { 0 };

  for (gsize i = 0; i < folded->samples.n; i++)
    {
      sample.stack = samples[i].stack;
      sample.thread = samples[i].thread;
      flam_builder_add_sample (folded->builder, &sample, samples[i].weight);
    }
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Folded *folded = flam_keep_new (load, Folded);
  FlamWeightsAs as = flam_weights_as_of (load->source, load->options);
  gboolean ok;

  folded->source = load->source;
  folded->builder = load->builder;
  folded->n_columns = count_columns (load->source);
  flam_keep_column (load, &folded->samples, FlamFoldedSample);
  flam_interner_init (&folded->interner);
  flam_parts_cut (
      &folded->texts, load->source, load->options, flam_parts_line_start);
  begin_parts (folded);
  ok =
      flam_parts_read (
          folded->texts.n, read_part, folded, load->options->progress, error) &&
      check (folded, error) && add_parts (folded, error);
  end_parts (folded);
  flam_interner_clear (&folded->interner);
  if (!ok)
    return FALSE;
  find_signs (folded);
  scale_weights (folded, as);
  add_measures (folded, as);
  add_samples (folded);
  return TRUE;
}

const FlamImporter flam_import_folded = {
  .id = "folded",
  .label = N_ ("Folded stacks"),
  .suffixes = FLAM_LIST (".folded", ".collapsed"),
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = flam_folded_probe,
  .load = load,
  .streams = TRUE,
};
