/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-merge.h"

#include "flam-cut-private.h"
#include "flam-facts.h"
#include "flam-merge-facts.h"
#include "flam-rescale.h"
#include "flam-weights.h"

#include <string.h>

/* A measure of samples of the result. */
typedef struct
{
  FlamMeasure like; /* strings are those of the first profile that has it */
  const FlamProfile *of;
  guint n; /* how many captures have it */
  gint64 denominator;
  gboolean plain; /* a sample always counts as 1: it needs no column */
  FlamSpans spans;
  guint column;
} Sum;

typedef struct
{
  const FlamMergePart *parts;
  guint n;
  FlamMergeHow how;
  FlamBuilder *builder;
  GArray *sums; /* Sum, also for measures of memory */
  guint n_columns;
  gboolean timeless; /* one of them has samples without times */
  gint64 start;      /* ns since 1970: to align them; 0: they are not aligned */
} Merge;

static void
merge_clear (Merge *merge)
{
  g_clear_pointer (&merge->builder, flam_builder_free);
  g_clear_pointer (&merge->sums, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Merge, merge_clear)

/* --- measures ------------------------------------------------------------- */

static const char *
id_of (const FlamProfile *profile, const FlamMeasure *measure)
{
  return flam_profile_string (profile, measure->id);
}

static Sum *
find_sum (const Merge *merge,
          const FlamProfile *profile,
          const FlamMeasure *measure)
{
  for (guint i = 0; i < merge->sums->len; i++)
    {
      Sum *sum = &g_array_index (merge->sums, Sum, i);

      if (sum->like.unit == measure->unit && sum->like.kind == measure->kind &&
          sum->like.source == measure->source &&
          strcmp (id_of (sum->of, &sum->like), id_of (profile, measure)) == 0)
        return sum;
    }
  return NULL;
}

/* FALSE: the two have no denominator in common. */
static gboolean
add_up (Merge *merge, const FlamProfile *profile, const FlamMeasure *measure)
{
  Sum *sum = find_sum (merge, profile, measure);
  gboolean plain = measure->weight == NULL && measure->event == FLAM_NONE;

  if (sum == NULL)
    {
      const Sum fresh = { *measure, profile, 0, 1, TRUE, measure->spans, 0 };

      g_array_append_val (merge->sums, fresh);
      sum = &g_array_index (merge->sums, Sum, merge->sums->len - 1);
    }
  sum->n++;
  sum->denominator =
      flam_rescale_common (sum->denominator, measure->denominator);
  sum->plain &= plain;
  if (sum->spans != measure->spans)
    sum->spans = sum->spans == FLAM_SPANS_NONE || !measure->spans
                     ? FLAM_SPANS_NONE
                     : FLAM_SPANS_SAMPLES;
  return sum->denominator != 0;
}

static void
set_too_large (GError **error, const char *name)
{
  flam_error_set (error,
                  FLAM_ERROR_TOO_LARGE,
                  N_ ("%s: the sum of its weights is too large"),
                  name);
}

/* FALSE: it has none of the previous measures. An empty capture fits all. */
static gboolean
shares_measure (const Merge *merge, const FlamProfile *profile)
{
  gboolean shared = merge->sums->len == 0 || profile->n_measures == 0;

  for (guint i = 0; i < profile->n_measures && !shared; i++)
    shared = find_sum (merge, profile, &profile->measures[i]) != NULL;
  return shared;
}

static gboolean
add_up_all (Merge *merge, gboolean apart, GError **error)
{
  for (guint k = 0; k < merge->n; k++)
    {
      const FlamProfile *profile = merge->parts[k].profile;

      if (!apart && !shares_measure (merge, profile))
        return flam_error_set (error,
                               FLAM_ERROR_INVALID,
                               N_ ("%s: it has no measure in common with %s"),
                               merge->parts[k].name,
                               merge->parts[0].name);
      for (guint i = 0; i < profile->n_measures; i++)
        if (!add_up (merge, profile, &profile->measures[i]))
          {
            set_too_large (error, merge->parts[k].name);
            return FALSE;
          }
      merge->timeless |=
          profile->samples.n > 0 && profile->samples.time == NULL;
    }
  return TRUE;
}

/* Measures with the same id but different units get the unit appended to their
 * names. */
static char *
id_for (const Merge *merge, guint index)
{
  const Sum *sum = &g_array_index (merge->sums, Sum, index);
  const char *id = id_of (sum->of, &sum->like);

  for (guint i = 0; i < index; i++)
    {
      const Sum *before = &g_array_index (merge->sums, Sum, i);

      if (strcmp (id_of (before->of, &before->like), id) == 0)
        return g_strdup_printf (
            "%s-%s", id, flam_unit_to_string (sum->like.unit));
    }
  return g_strdup (id);
}

static void
put_measure (Merge *merge, guint index)
{
  Sum *sum = &g_array_index (merge->sums, Sum, index);
  const char *name = flam_profile_string (sum->of, sum->like.name);
  g_autofree char *id = id_for (merge, index);
  guint measure;

  if (sum->n < merge->n && merge->n > 1)
    flam_builder_warn (
        merge->builder,
        N_ ("%s is not a measure of all %u captures, only of %u of them"),
        name,
        merge->n,
        sum->n);
  if (sum->like.source != FLAM_FROM_SAMPLES)
    {
      flam_builder_add_allocation_measure (merge->builder, sum->like.source);
      return;
    }
  sum->plain &= sum->n == merge->n;
  if (!sum->plain)
    {
      sum->column = flam_builder_add_column (merge->builder);
      merge->n_columns++;
    }
  measure = flam_builder_add_measure (merge->builder,
                                      id,
                                      name,
                                      sum->like.unit,
                                      sum->like.kind,
                                      sum->plain ? -1 : (int)sum->column,
                                      FLAM_NONE);
  flam_builder_set_denominator (
      merge->builder, measure, MAX (sum->denominator, 1));
  flam_builder_set_spans (merge->builder, measure, sum->spans);
}

/* --- samples -------------------------------------------------------------- */

/* Where the values of a capture's measure of samples are written. */
typedef struct
{
  const FlamMeasure *measure;
  guint column;
  gint64 scale;
} Into;

static GArray *
columns_of (const Merge *merge, const FlamProfile *profile)
{
  GArray *columns = g_array_new (FALSE, FALSE, sizeof (Into));

  for (guint i = 0; i < profile->n_measures; i++)
    {
      const FlamMeasure *measure = &profile->measures[i];
      const Sum *sum = find_sum (merge, profile, measure);
      Into into = { measure,
                    sum->column,
                    sum->denominator / measure->denominator };

      if (measure->source == FLAM_FROM_SAMPLES && !sum->plain)
        g_array_append_val (columns, into);
    }
  return columns;
}

/* FALSE: it exceeds the largest weight. */
static gboolean
weigh (const FlamSamples *samples,
       const GArray *columns,
       guint32 i,
       gint64 *weights)
{
  guint16 event = samples->event != NULL ? samples->event[i] : 0;
  gboolean overflow = FALSE;

  for (guint c = 0; c < columns->len; c++)
    {
      const Into *into = &g_array_index (columns, Into, c);
      const FlamMeasure *measure = into->measure;
      gint64 weight = measure->weight != NULL ? measure->weight[i] : 1;

      if (measure->event == FLAM_NONE || measure->event == event)
        overflow |= __builtin_mul_overflow (
            weight, into->scale, &weights[into->column]);
    }
  return !overflow;
}

static gsize
count_samples (const Merge *merge)
{
  gsize n = 0;

  for (guint k = 0; k < merge->n; k++)
    n += merge->parts[k].profile->samples.n;
  return n;
}

static gboolean
put_samples (const Merge *merge, const FlamCut *cut)
{
  const FlamProfile *profile = cut->profile;
  const FlamSamples *samples = &profile->samples;
  g_autoptr (GArray) columns = columns_of (merge, profile);
  g_autofree gint64 *weights = g_new0 (gint64, merge->n_columns + 1);

  for (FlamId t = 0; t < profile->threads.n; t++)
    for (guint32 k = 0; k < profile->threads.n_samples[t]; k++)
      {
        guint32 i = profile->threads.first_sample[t] + k;
        FlamSample sample = {
          .thread = cut->threads[t],
          .time = samples->time != NULL && !merge->timeless
                      ? flam_cut_shifted (cut, samples->time[i])
                      : 0,
          .state =
              samples->state != NULL ? samples->state[i] : FLAM_STATE_RUNNING,
          .labels = flam_cut_find_labels (cut, i),
        };

        memset (weights, 0, merge->n_columns * sizeof *weights);
        flam_cut_find_stack (cut, samples->stack[i], &sample.stack);
        if (!weigh (samples, columns, i, weights))
          return FALSE;
        flam_builder_add_sample (merge->builder, &sample, weights);
      }
  return TRUE;
}

/* --- facts ---------------------------------------------------------------- */

/* How much later than the first one a capture begins. */
static gint64
delay_of (const Merge *merge, guint k)
{
  gint64 start = merge->parts[k].profile->facts.start_unix_ns;

  return merge->start > 0 && !merge->timeless ? start - merge->start : 0;
}

static void
find_start (Merge *merge)
{
  gint64 first = G_MAXINT64;

  for (guint k = 0; k < merge->n; k++)
    first = MIN (first, merge->parts[k].profile->facts.start_unix_ns);
  if (first > 0)
    merge->start = first;
  else
    flam_builder_warn (merge->builder,
                       N_ ("some of the captures have no date: all of them "
                           "are shown as if they had begun together"));
}

/* A fact that all of them share. */
static void
put_common_fact (const Merge *merge, const char *key)
{
  const char *value = flam_facts_other (&merge->parts[0].profile->facts, key);

  for (guint k = 1; k < merge->n && value != NULL; k++)
    if (g_strcmp0 (flam_facts_other (&merge->parts[k].profile->facts, key),
                   value) != 0)
      return;
  if (value != NULL)
    flam_builder_set_fact (merge->builder, key, value);
}

static void
put_facts (const Merge *merge)
{
  FlamBuilder *builder = merge->builder;
  FlamFacts *facts = flam_builder_facts (builder);
  g_autoptr (GString) commands = g_string_new (NULL);
  gboolean charged = TRUE;

  flam_builder_set_format (builder, merge->parts[0].profile->facts.format);
  for (guint k = 0; k < merge->n; k++)
    {
      const FlamFacts *of = &merge->parts[k].profile->facts;
      g_autofree char *key = g_strdup_printf ("merged-%u", k + 1);
      g_autofree char *text =
          g_strdup_printf ("%s: %s", merge->parts[k].name, of->command);
      gint64 delay = delay_of (merge, k);

      flam_builder_set_fact (builder, key, text);
      flam_merge_add_facts (builder, commands, merge->parts[k].name, of);
      facts->duration_ns =
          MAX (facts->duration_ns,
               MIN (of->duration_ns, FLAM_NEVER - 1 - delay) + delay);
      charged &= of->charged_cpu_ns != 0;
    }
  flam_builder_set_command (builder, commands->str);
  put_common_fact (merge, FLAM_FACT_JOB);
  put_common_fact (merge, FLAM_FACT_RANKS);
  if (!charged)
    facts->charged_cpu_ns = 0;
  if (merge->timeless)
    facts->duration_ns = 0;
}

/* --- public functions ----------------------------------------------------- */

/* Processes without a name get the name of the file. */
static void
name_processes (const FlamCut *cut, const FlamMergePart *part)
{
  const FlamProcesses *processes = &part->profile->processes;

  for (FlamId i = 0; i < processes->n; i++)
    if (*flam_profile_string (part->profile, processes->name[i]) == '\0')
      flam_builder_set_process_name (
          cut->builder, cut->processes[i], part->name);
}

/* What distinguishes its counters from those of the others: the rank, or the
 * file, except for the first one. NULL: nothing. */
static char *
counters_end_of (const Merge *merge, guint k)
{
  const FlamMergePart *part = &merge->parts[k];
  const FlamProcesses *processes = &part->profile->processes;

  for (FlamId i = 0; i < processes->n && merge->how & FLAM_MERGE_ALIGNED; i++)
    if (processes->rank[i] != 0)
      return g_strdup_printf (" rank %u", processes->rank[i] - 1);
  return k > 0 ? g_strdup_printf (" %s", part->name) : NULL;
}

static gboolean
put_part (Merge *merge, guint k, guint generation, GError **error)
{
  const FlamMergePart *part = &merge->parts[k];
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autofree char *counters_end = counters_end_of (merge, k);
  g_auto (FlamCut) cut = { part->profile, all };
  g_auto (FlamCutMemory) memory = { 0 };
  gboolean fits;

  cut.builder = merge->builder;
  cut.from = G_MININT64;
  cut.to = G_MAXINT64;
  cut.delay = delay_of (merge, k);
  cut.generation = generation;
  cut.counters_end = counters_end;
  flam_shown_init (&cut.shown, part->profile, all, NULL, NULL);
  flam_cut_put_names (&cut);
  name_processes (&cut, part);
  fits = put_samples (merge, &cut);
  if (part->profile->n_measures > 0)
    {
      flam_cut_memory_init (&memory, &cut);
      flam_cut_put_allocations (&cut, &memory);
    }
  flam_cut_put_beside (&cut);
  cut.builder = NULL; /* it is shared by all parts */
  if (!fits)
    set_too_large (error, part->name);
  return fits;
}

FlamProfile *
flam_merge_new (const FlamMergePart *parts,
                guint n,
                FlamMergeHow how,
                GError **error)
{
  g_auto (Merge) merge = { parts, n, how };
  guint generation = 0;
  gboolean times = FALSE;

  merge.builder = flam_builder_new ();
  merge.sums = g_array_new (FALSE, FALSE, sizeof (Sum));
  if (!add_up_all (&merge, (how & FLAM_MERGE_APART) != 0, error))
    return NULL;
  if (how & FLAM_MERGE_ALIGNED)
    find_start (&merge);
  put_facts (&merge);
  for (guint i = 0; i < merge.sums->len; i++)
    put_measure (&merge, i);
  for (guint k = 0; k < n; k++)
    times |= parts[k].profile->samples.time != NULL;
  if (times && !merge.timeless)
    flam_builder_set_has_times (merge.builder);
  else if (times)
    flam_builder_warn (
        merge.builder,
        N_ ("some of the captures have no sample times: no times are kept"));
  flam_builder_set_origin (merge.builder, 0);
  flam_builder_reserve_samples (merge.builder, count_samples (&merge));
  for (guint k = 0; k < n; k++)
    {
      const FlamProfile *profile = parts[k].profile;

      if (!put_part (&merge, k, generation, error))
        return NULL;
      generation += MAX (profile->processes.n, profile->threads.n);
    }
  return flam_builder_finish (merge.builder, error);
}
