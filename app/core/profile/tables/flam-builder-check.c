/* SPDX-License-Identifier: GPL-3.0-or-later */

/* finish(): errors, the checks on every file, and the shift of its clock. */

#include "flam-builder-private.h"

static gboolean
refuse (GError **error, const char *what)
{
  return flam_error_set (error, FLAM_ERROR_INVALID, "%s", what);
}

/* Sums of weights must not overflow: a tree adds them up without checks. */
gboolean
flam_builder_check_weight (gint64 *sum, gint64 weight, GError **error)
{
  if (weight < 0)
    return refuse (error, N_ ("a sample has a negative weight"));
  if (__builtin_add_overflow (*sum, weight, sum))
    return refuse (error, N_ ("the weights add up to more than 2^63"));
  return TRUE;
}

static gboolean
check_weights (FlamBuilder *builder, GError **error)
{
  if (builder->laid != NULL)
    return TRUE;
  for (guint c = 0; c < builder->tables.weights->len; c++)
    {
      const gint64 *weights = flam_tables_weights (&builder->tables, c);
      gint64 sum = 0;

      for (guint32 i = 0; i < builder->tables.profile.samples.n; i++)
        if (!flam_builder_check_weight (&sum, weights[i], error))
          return FALSE;
    }
  return TRUE;
}

static gboolean
check_allocations (FlamBuilder *builder, GError **error)
{
  const FlamAllocations *rows = &builder->tables.profile.allocations;
  gint64 bytes = 0;
  gint64 blocks = 0;

  for (guint32 i = 0; i < rows->n; i++)
    {
      gint64 count = rows->count[i];
      gint64 total;

      if (rows->size[i] < 0 || count < 0 || rows->at_peak[i] > count ||
          rows->born_more[i] > count || rows->born_more[i] < -count ||
          rows->died_more[i] > count || rows->died_more[i] < 0)
        return refuse (error, N_ ("an allocation has an impossible size"));
      if (__builtin_mul_overflow (rows->size[i], count, &total) ||
          __builtin_add_overflow (bytes, total, &bytes) ||
          __builtin_add_overflow (blocks, count, &blocks))
        return refuse (error, N_ ("the allocations add up to more than 2^63"));
    }
  return TRUE;
}

/* Checked so that an array of sets is no larger than the table. */
static gboolean
check_labels (FlamBuilder *builder, GError **error)
{
  const FlamSampleLabels *labels = &builder->tables.profile.labels;

  for (guint32 i = 0, last = 0; i < labels->n; last = labels->set[i++])
    if (labels->set[i] != last + 1 && (labels->set[i] != last || last == 0))
      return refuse (error, N_ ("the sets of labels are not in order"));
  return TRUE;
}

static gboolean
holds_weight (const FlamBuilder *builder)
{
  const FlamTables *tables = &builder->tables;
  guint32 n = tables->profile.samples.n;

  for (guint i = 0; i < tables->measures.n; i++)
    if (n > 0 && tables->measures.column[i] < 0)
      return TRUE;
  for (guint c = 0; builder->laid != NULL && c < tables->weights->len; c++)
    if (builder->laid->sums[c] > 0)
      return TRUE;
  for (guint c = 0; builder->laid == NULL && c < tables->weights->len; c++)
    for (guint32 i = 0; i < n; i++)
      if (flam_tables_weights (tables, c)[i] > 0)
        return TRUE;
  return FALSE;
}

/* An empty picture always comes with a warning, whatever the format. */
static void
warn_if_empty (FlamBuilder *builder)
{
  const FlamProfile *profile = &builder->tables.profile;

  if (profile->allocations.n > 0 || holds_weight (builder))
    return;
  if (profile->samples.n == 0)
    flam_builder_warn (builder, N_ ("the capture has no samples"));
  else
    flam_builder_warn (builder,
                       N_ ("all samples of the capture have weight 0"));
}

gboolean
flam_builder_check (FlamBuilder *builder, GError **error)
{
  if (!check_weights (builder, error) || !check_allocations (builder, error) ||
      !check_labels (builder, error))
    return FALSE;
  warn_if_empty (builder);
  return TRUE;
}

/* --- times -------------------------------------------------------- */

gint64
flam_time_since (gint64 time, gint64 origin)
{
  gint64 difference;

  if (__builtin_sub_overflow (time, origin, &difference))
    return time > origin ? G_MAXINT64 - 1 : G_MININT64 + 1;
  return MIN (difference, FLAM_NEVER - 1);
}

/* The end of a span is part of the capture, in particular that of the last
   one. */
static void
span_ends (FlamSpan *span, const FlamTables *tables, guint m)
{
  const FlamSamples *samples = &tables->profile.samples;
  gint64 column = tables->measures.column[m];
  gint64 wanted = tables->measures.event[m];
  const gint64 *weights;

  if (!tables->measures.spans[m] || column < 0 || samples->time == NULL)
    return;
  weights = flam_tables_weights (tables, (guint)column);
  for (guint32 i = 0; i < samples->n; i++)
    {
      gint64 event = samples->event != NULL ? samples->event[i] : 0;
      gint64 end;

      if ((wanted < 0 || wanted == event) &&
          !__builtin_add_overflow (samples->time[i], weights[i], &end))
        span->last = MAX (span->last, end);
    }
}

FlamSpan
flam_builder_find_span (FlamBuilder *builder)
{
  const FlamTables *tables = &builder->tables;
  const FlamAllocations *allocations = &tables->profile.allocations;
  FlamSpan span = { G_MAXINT64, G_MININT64 };

  if (builder->laid != NULL && builder->laid->n > 0)
    span = (FlamSpan){ builder->laid->first, builder->laid->last };
  for (guint t = FLAM_TABLE_MODULES; t < FLAM_N_TABLES; t++)
    {
      FlamColumnIter iter = { NULL };

      if (builder->laid != NULL && t == FLAM_TABLE_SAMPLES)
        continue;
      while (flam_tables_next (tables, t, &iter))
        for (guint32 i = 0;
             iter.info->flags & FLAM_COLUMN_SPAN && *iter.data != NULL &&
             i < *flam_tables_n (tables, t);
             i++)
          {
            gint64 time = ((gint64 *)*iter.data)[i];

            span.first = MIN (span.first, time);
            span.last = MAX (span.last, time);
          }
    }
  for (guint m = 0; m < tables->measures.n; m++)
    span_ends (&span, tables, m);
  for (guint32 i = 0; i < allocations->n; i++)
    if (allocations->freed_at[i] != FLAM_NEVER)
      span.last = MAX (span.last, allocations->freed_at[i]);
  if (builder->has_origin && span.first != G_MAXINT64)
    span.first = MIN (span.first, builder->origin);
  if (span.first == G_MAXINT64)
    span = (FlamSpan){ 0, 0 };
  return span;
}

void
flam_builder_shift_times (FlamBuilder *builder, gint64 origin)
{
  const FlamTables *tables = &builder->tables;
  gint64 *freed = cells (builder, gint64, profile.allocations.freed_at);

  for (guint t = FLAM_TABLE_MODULES; t < FLAM_N_TABLES; t++)
    {
      FlamColumnIter iter = { NULL };

      if (builder->laid != NULL && t == FLAM_TABLE_SAMPLES)
        continue;
      while (flam_tables_next (tables, t, &iter))
        for (guint32 i = 0;
             iter.info->flags & FLAM_COLUMN_TIME && *iter.data != NULL &&
             i < *flam_tables_n (tables, t);
             i++)
          ((gint64 *)*iter.data)[i] =
              flam_time_since (((gint64 *)*iter.data)[i], origin);
    }
  if (builder->peak_time != G_MININT64)
    builder->peak_time = flam_time_since (builder->peak_time, origin);
  for (guint32 i = 0; i < tables->profile.allocations.n; i++)
    if (freed[i] != FLAM_NEVER)
      freed[i] = MAX (flam_time_since (freed[i], origin),
                      tables->profile.allocations.time[i]);
}
