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
 * Several cores read large files (flam-parts.h) in two steps. First each finds
 * the distinct texts of a part of the lines (flam-folded-part.c). These are
 * joined, and divided again, so that no text is parsed twice:
 *
 *    lines    a b a c a|c a d a b      two cores
 *    texts    a:3 b:1 c:1|c:1 a:2 d:1 b:1
 *    joined   a:5 b:2|c:2 d:1          two cores: stacks (flam-folded-stacks.c)
 *
 * Texts of the same stack and thread are one sample, unless the lines are to
 * stay in order: one core then reads them, and each run of equal ones is a
 * sample. */

#include "flam-formats.h"

#include "flam-folded.h"
#include "flam-parts.h"
#include "flam-weights-as.h"

#include <string.h>

/* The number of texts that are parsed between two reports of progress. */
#define STEP 4096
/* One text in this many is sampled first. */
#define GUESS_EVERY 64
/* Bytes per stack in its columns. */
#define LEAST_FRAME 8

/* A range of the distinct texts, in separate tables. */
typedef struct
{
  gsize first, end;
  FlamBuilder *builder;
  FlamFoldedStacks stacks;
} Share;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  guint n_columns;
  gboolean in_order;
  FlamFingerprintKey key;
  FlamParts texts;
  FlamFoldedPart parts[FLAM_PARTS_MAX];
  FlamPartsJoin join; /* FlamFoldedRow: the distinct texts of all parts */
  guint places;       /* of their weights */
  Share shares[FLAM_PARTS_MAX];
  guint n_shares;
  gsize size;         /* of the distinct texts */
  FlamColumn samples; /* FlamFoldedSample */
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

/* --- lines -> distinct texts --------------------------------------------- */

static void
begin_parts (Folded *folded, const FlamLoadOptions *options)
{
  FlamLoadOptions own = *options;

  if (folded->in_order)
    own.jobs = 1;
  flam_parts_cut (&folded->texts, folded->source, &own, flam_parts_line_start);
  flam_fingerprint_key_init (&folded->key);
  for (guint i = 0; i < folded->texts.n; i++)
    flam_folded_part_init (&folded->parts[i],
                           folded->source,
                           &folded->texts.text[i],
                           &folded->key,
                           folded->n_columns,
                           folded->in_order);
}

static void
end_parts (gpointer data)
{
  Folded *folded = data;

  for (guint i = 0; i < folded->texts.n; i++)
    flam_folded_part_clear (&folded->parts[i]);
}

static gboolean
read_part (gpointer data, guint i, const FlamProgress *progress, GError **error)
{
  Folded *folded = data;

  return flam_folded_part_read (&folded->parts[i], progress, error);
}

/* All weights get the maximum number of decimal places of any part. */
static gboolean
level_places (Folded *folded)
{
  for (guint i = 0; i < folded->texts.n; i++)
    folded->places = MAX (folded->places, folded->parts[i].places);
  for (guint i = 0; i < folded->texts.n; i++)
    if (folded->parts[i].places < folded->places &&
        !flam_folded_part_raise_places (&folded->parts[i], folded->places))
      return FALSE;
  return TRUE;
}

static void
end_join (gpointer data)
{
  flam_parts_join_clear (data);
}

static gboolean
join_parts (Folded *folded, const FlamProgress *progress, GError **error)
{
  FlamPartsJoin *join = &folded->join;

  join->n = folded->texts.n;
  join->add = flam_folded_row_add;
  for (guint i = 0; i < join->n; i++)
    join->rows[i] = &folded->parts[i].rows;
  if (!level_places (folded))
    return flam_folded_overflow (folded->source, error);
  if (!flam_parts_join (join, progress, error))
    return join->failed ? flam_folded_overflow (folded->source, error) : FALSE;
  for (guint i = 0; i < join->n && !folded->in_order; i++)
    flam_folded_part_clear (&folded->parts[i]);
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
      lines += part->text.before + part->text.line;
    }
  if (good == 0)
    return flam_source_invalid (
        folded->source, error, N_ ("no line contains a stack and its weight"));
  if (bad > 0)
    flam_builder_warn (folded->builder,
                       N_ ("%" PRIu64 " of %" PRIu64
                           " lines contain no stack and weight and were left "
                           "out; the first is line %" PRIu64),
                       bad,
                       bad + good,
                       first);
  return TRUE;
}

/* --- texts -> stacks ----------------------------------------------------- */

static void
begin_shares (Folded *folded, const FlamLoadOptions *options)
{
  const FlamColumn *rows = &folded->join.joined;

  for (gsize i = 0; i < rows->n; i++)
    folded->size += flam_column_at (rows, FlamFoldedRow, i).length;
  folded->n_shares = flam_parts_of (folded->size, options);
  flam_column_reserve (&folded->samples, rows->n);
  folded->samples.n = rows->n;
  for (guint i = 0; i < folded->n_shares; i++)
    {
      Share *share = &folded->shares[i];

      share->first = i > 0 ? share[-1].end : 0;
      share->end = rows->n * (i + 1) / folded->n_shares;
      share->builder = i > 0 ? flam_builder_new () : folded->builder;
      flam_folded_stacks_init (
          &share->stacks, share->builder, folded->source, &folded->key);
    }
}

static void
end_shares (gpointer data)
{
  Folded *folded = data;

  for (guint i = 0; i < folded->n_shares; i++)
    {
      flam_folded_stacks_clear (&folded->shares[i].stacks);
      if (i > 0)
        flam_builder_free (folded->shares[i].builder);
    }
}

/* The estimated number of stacks for the texts [first, end): the frames of some
 * of them, extrapolated to all. */
static gsize
guess_stacks (const Folded *folded, gsize first, gsize end)
{
  const FlamFoldedRow *rows = folded->join.joined.data;
  gsize n = 0, taken = 0;

  for (gsize i = first; i < end; i += GUESS_EVERY, taken++)
    for (gsize at = 0; at < rows[i].length; at++)
      n += rows[i].stack[at] == ';' || at == 0;
  return taken > 0 ? n * (end - first) / taken : 0;
}

/* A growing column leaves holes in the heap that are too small for later
 * columns, so that the kernel clears new pages for those. The others are merged
 * into the first. In any case, this is not more memory than the texts take. */
static void
reserve_stacks (Folded *folded, const Share *share)
{
  gboolean is_first = share == &folded->shares[0];
  gsize end = is_first ? folded->join.joined.n : share->end;
  gsize most = folded->size / LEAST_FRAME / (is_first ? 1 : folded->n_shares);
  gsize n = guess_stacks (folded, share->first, end);

  flam_builder_reserve_stacks (share->builder, MIN (n, most));
}

static gboolean
make_stacks (gpointer data,
             guint i,
             const FlamProgress *progress,
             GError **error)
{
  Folded *folded = data;
  Share *share = &folded->shares[i];
  const FlamFoldedRow *rows = folded->join.joined.data;
  const guint8 *left = NULL;

  reserve_stacks (folded, share);
  if (share->first < share->end)
    left = (const guint8 *)rows[share->first].stack;
  for (gsize r = share->first; r < share->end; r++)
    {
      FlamFoldedSample *sample =
          &flam_column_at (&folded->samples, FlamFoldedSample, r);

      if (r % STEP == 0 && !flam_progress_step (progress, 1, error))
        return FALSE;
      flam_source_leave_before (
          folded->source, &left, (const guint8 *)rows[r].stack);
      flam_folded_stacks_add (
          &share->stacks, rows[r].stack, rows[r].length, sample);
      memcpy (sample->weight, rows[r].weight, sizeof sample->weight);
    }
  return TRUE;
}

static gboolean
merge_shares (Folded *folded, const FlamProgress *progress, GError **error)
{
  FlamBuilder *builders[FLAM_PARTS_MAX];
  g_autoptr (FlamBuilderMerge) merge = NULL;

  for (guint i = 0; i < folded->n_shares; i++)
    builders[i] = folded->shares[i].builder;
  merge = flam_parts_merge (builders, folded->n_shares, progress, error);
  for (guint s = 1; s < folded->n_shares && merge != NULL; s++)
    for (gsize i = folded->shares[s].first; i < folded->shares[s].end; i++)
      {
        FlamFoldedSample *sample =
            &flam_column_at (&folded->samples, FlamFoldedSample, i);

        sample->stack = flam_builder_merge_stack (merge, s, sample->stack);
        sample->thread = flam_builder_merge_thread (merge, s, sample->thread);
      }
  return merge != NULL;
}

/* --- stacks -> samples ---------------------------------------------------- */

static gboolean
sample_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamFoldedSample *a = (const FlamFoldedSample *)table + row;
  const FlamFoldedSample *b = key;

  return a->stack == b->stack && a->thread == b->thread;
}

static gboolean
add_sample (Folded *folded,
            FlamInterner *interner,
            const FlamFoldedSample *sample)
{
  guint32 hash = flam_hash_pair (sample->stack, sample->thread);
  FlamSlot *slot = flam_interner_find (
      interner, hash, sample_equal, folded->samples.data, sample);
  FlamFoldedSample *known;

  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ hash, folded->samples.n };
      interner->used++;
      flam_column_append (&folded->samples, FlamFoldedSample, *sample);
      return TRUE;
    }
  known = &flam_column_at (&folded->samples, FlamFoldedSample, slot->id);
  return !__builtin_add_overflow (
             known->weight[0], sample->weight[0], &known->weight[0]) &&
         !__builtin_add_overflow (
             known->weight[1], sample->weight[1], &known->weight[1]);
}

/* Whether no stack has two samples, whatever their threads. One bit per stack
 * fits into the cache; a hash of them would not. */
static gboolean
are_different (const Folded *folded)
{
  const FlamFoldedSample *samples = folded->samples.data;
  g_autofree guint8 *met = NULL;
  FlamId last = 0;

  for (gsize i = 0; i < folded->samples.n; i++)
    if (samples[i].stack != FLAM_NONE)
      last = MAX (last, samples[i].stack);
  met = g_new0 (guint8, last / 8 + 1);
  for (gsize i = 0; i < folded->samples.n; i++)
    {
      FlamStackId stack = samples[i].stack;
      guint8 bit = (guint8)(1 << stack % 8);

      if (stack == FLAM_NONE || (met[stack / 8] & bit) != 0)
        return FALSE;
      met[stack / 8] |= bit;
    }
  return TRUE;
}

/* Different texts may mean the same: "a;;b" and "a;[unknown];b". */
static gboolean
join_samples (Folded *folded, GError **error)
{
  FlamInterner interner;
  gsize n = folded->samples.n;
  gboolean ok = TRUE;

  if (are_different (folded))
    return TRUE;
  flam_interner_init (&interner);
  flam_interner_reserve (&interner, n);
  folded->samples.n = 0;
  for (gsize i = 0; i < n && ok; i++)
    {
      FlamFoldedSample sample =
          flam_column_at (&folded->samples, FlamFoldedSample, i);
      ok = add_sample (folded, &interner, &sample);
    }
  flam_interner_clear (&interner);
  return ok || flam_folded_overflow (folded->source, error);
}

/* One sample per run, not per text. */
static void
put_in_order (Folded *folded)
{
  const FlamColumn *runs = &folded->parts[0].runs;
  FlamColumn samples;

  flam_column_init (&samples, sizeof (FlamFoldedSample));
  flam_column_reserve (&samples, runs->n);
  for (gsize i = 0; i < runs->n; i++)
    {
      const FlamFoldedRun *run = &flam_column_at (runs, FlamFoldedRun, i);
      FlamFoldedSample sample =
          flam_column_at (&folded->samples, FlamFoldedSample, run->row);

      memcpy (sample.weight, run->weight, sizeof sample.weight);
      flam_column_append (&samples, FlamFoldedSample, sample);
    }
  flam_column_clear (&folded->samples);
  folded->samples = samples;
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
    {
      guint measure = flam_weights_as_add_measure (
          as, folded->builder, i > 0 ? FLAM_WEIGHTS_BEFORE : FLAM_WEIGHTS_NOW);

      flam_builder_set_denominator (
          folded->builder, measure, flam_folded_powers[folded->places]);
      if (folded->in_order)
        flam_builder_set_spans (folded->builder, measure, FLAM_SPANS_ORDER);
    }
}

static void
add_samples (Folded *folded)
{
  const FlamFoldedSample *samples = folded->samples.data;
  FlamSample sample = { 0 };

  flam_builder_reserve_samples (folded->builder, folded->samples.n);
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
  Folded *folded = flam_arena_new (load, Folded);
  FlamWeightsAs as = flam_weights_as_of (load->source, load->options);
  const FlamProgress *progress = load->options->progress;

  folded->source = load->source;
  folded->builder = load->builder;
  folded->n_columns = count_columns (load->source);
  folded->in_order = load->options->in_order_max > 0 &&
                     load->source->size <= load->options->in_order_max;
  flam_arena_column (load, &folded->samples, FlamFoldedSample);
  begin_parts (folded, load->options);
  flam_arena_keep (load, folded, end_parts);
  flam_arena_keep (load, &folded->join, end_join);
  if (!flam_parts_read (folded->texts.n, read_part, folded, progress, error) ||
      !check (folded, error) || !join_parts (folded, progress, error))
    return FALSE;
  begin_shares (folded, load->options);
  flam_arena_keep (load, folded, end_shares);
  if (!flam_parts_read (
          folded->n_shares, make_stacks, folded, progress, error) ||
      !flam_parts_leave (&folded->texts, folded->source, progress, error) ||
      !merge_shares (folded, progress, error) ||
      (!folded->in_order && !join_samples (folded, error)))
    return FALSE;
  if (folded->in_order)
    put_in_order (folded);
  find_signs (folded);
  scale_weights (folded, as);
  add_measures (folded, as);
  add_samples (folded);
  return TRUE;
}

const FlamImporter flam_import_folded = {
  .id = "folded",
  .label = N_ ("Folded stacks"),
  .written_by = "stackcollapse-*.pl, many profilers",
  .suffixes = FLAM_LIST (".folded", ".collapsed"),
  .mime = { .type = "application/x-folded-stacks",
            .name = "Folded stacks",
            .globs = FLAM_LIST ("*.folded", "*.collapsed") },
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = flam_folded_probe,
  .load = load,
  .streams = TRUE,
};
