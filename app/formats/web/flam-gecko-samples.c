/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-gecko-samples.h"

#include "flam-parts.h"

/* Stacks are prefetched this many samples ahead. */
#define AHEAD 24
/* Of the file's text, roughly, for each sample. */
#define BYTES 16

/* FALSE: it is invalid. */
static gboolean
get_sample (const FlamGeckoSamples *samples,
            gsize row,
            FlamStackId *stack,
            gint64 *weight)
{
  gint64 number =
      flam_gecko_cell (&samples->tables->column[FLAM_GECKO_SAMPLE_STACK], row);

  *stack = FLAM_NONE;
  *weight = flam_gecko_cell (samples->weights, row);
  if (*weight == FLAM_GECKO_NOTHING)
    *weight = FLAM_GECKO_MICRO;
  if (*weight < 0)
    return FALSE;
  if (number == FLAM_GECKO_NOTHING)
    return TRUE;
  if (number < 0 || number >= samples->stacks->len)
    return FALSE;
  *stack = (FlamStackId)number;
  return TRUE;
}

/* --- counting ------------------------------------------------------------- */

/* `elapsed` becomes -1 if it cannot be a sum of what later ranges go on from.
 */
static gboolean
count_range (gpointer data,
             guint i,
             const FlamProgress *progress,
             GError **error)
{
  FlamGeckoSamples *samples = data;
  FlamGeckoRange *range = &samples->ranges[i];
  FlamStackId stack;
  gint64 weight;

  for (gsize row = range->from; row < range->to; row++)
    range->good += get_sample (samples, row, &stack, &weight);
  for (gsize row = range->from;
       row < MIN (range->to, samples->deltas->n) && range->elapsed >= 0;
       row++)
    {
      gint64 delta = flam_gecko_cell (samples->deltas, row);

      if (delta == FLAM_GECKO_NOTHING)
        continue;
      if (delta < 0 ||
          __builtin_add_overflow (range->elapsed, delta, &range->elapsed))
        range->elapsed = -1;
    }
  return TRUE;
}

/* FALSE: times do not ascend, or overflow, so that a range depends on all of
 * those before it. */
static gboolean
add_up (FlamGeckoSamples *samples)
{
  gint64 now = 0;
  gboolean good = TRUE;

  samples->good = 0;
  for (guint i = 0; i < samples->n; i++)
    {
      FlamGeckoRange *range = &samples->ranges[i];

      range->first = samples->good;
      range->now = now;
      samples->good += range->good;
      good = good && range->elapsed >= 0 &&
             !__builtin_add_overflow (now, range->elapsed, &now) &&
             now <= FLAM_GECKO_LATEST;
    }
  return good;
}

void
flam_gecko_samples_init (FlamGeckoSamples *samples,
                         FlamGeckoProcess *process,
                         FlamGeckoTables *tables,
                         gint64 offset)
{
  gsize n = tables->column[FLAM_GECKO_SAMPLE_STACK].n;

  *samples = (FlamGeckoSamples){
    .tables = tables,
    .stacks = flam_gecko_stacks (process, tables),
    .times = flam_gecko_cells_of (process, tables, FLAM_GECKO_SAMPLE_TIME),
    .deltas = flam_gecko_cells_of (process, tables, FLAM_GECKO_SAMPLE_DELTA),
    .weights = flam_gecko_cells_of (process, tables, FLAM_GECKO_SAMPLE_WEIGHT),
    .offset = offset,
    .n = flam_parts_of (n * BYTES, tables->options)
  };
  samples->ranges = g_new0 (FlamGeckoRange, samples->n);
  for (guint i = 0; i < samples->n; i++)
    {
      samples->ranges[i].from = n / samples->n * i;
      samples->ranges[i].to = i + 1 < samples->n ? n / samples->n * (i + 1) : n;
    }
  flam_parts_read (samples->n, count_range, samples, NULL, NULL);
  if (!add_up (samples))
    {
      samples->ranges[0] = (FlamGeckoRange){ .to = n, .good = samples->good };
      samples->n = 1;
    }
  samples->bad = n - samples->good;
}

void
flam_gecko_samples_clear (FlamGeckoSamples *samples)
{
  g_clear_pointer (&samples->ranges, g_free);
}

/* --- putting -------------------------------------------------------------- */

/* The sum within the limits of times. */
static gint64
add_time (FlamGeckoRange *range, gint64 time, gint64 more)
{
  __int128 sum = (__int128)time + more;

  if (G_LIKELY (sum >= -FLAM_GECKO_LATEST && sum <= FLAM_GECKO_LATEST))
    return (gint64)sum;
  range->limited++;
  return sum < 0 ? -FLAM_GECKO_LATEST : FLAM_GECKO_LATEST;
}

/* Rows of one chunk. */
static void
put_rows (const FlamGeckoSamples *samples,
          FlamGeckoRange *range,
          gsize from,
          gsize to)
{
  const FlamGeckoCells *numbers =
      &samples->tables->column[FLAM_GECKO_SAMPLE_STACK];
  const FlamId *stacks = (const FlamId *)(gpointer)samples->stacks->data;

  for (gsize row = from; row < to; row++)
    {
      gint64 later = flam_gecko_cell (numbers, MIN (row + AHEAD, to - 1));
      gint64 time = flam_gecko_cell (samples->times, row);
      gint64 delta = flam_gecko_cell (samples->deltas, row);
      FlamSample sample = samples->like;
      gint64 weight;

      if (later >= 0 && later < samples->stacks->len)
        __builtin_prefetch (&stacks[later]);
      if (delta != FLAM_GECKO_NOTHING)
        range->now = add_time (range, range->now, delta);
      if (!get_sample (samples, row, &sample.stack, &weight))
        continue;
      sample.time = add_time (range,
                              time != FLAM_GECKO_NOTHING ? time : range->now,
                              samples->offset);
      range->limited += weight == G_MAXINT64;
      weight = MIN (weight, G_MAXINT64 - 1);
      if (sample.stack != FLAM_NONE)
        sample.stack = stacks[sample.stack];
      flam_builder_set_sample (
          samples->builder, range->first++, &sample, &weight);
    }
}

static gboolean
put_range (gpointer data, guint i, const FlamProgress *progress, GError **error)
{
  FlamGeckoSamples *samples = data;
  FlamGeckoRange *range = &samples->ranges[i];

  for (gsize row = range->from, to; row < range->to; row = to)
    {
      to = (row / FLAM_GECKO_CHUNK + 1) * FLAM_GECKO_CHUNK;
      to = MIN (to, range->to);
      put_rows (samples, range, row, to);
      for (guint c = FLAM_GECKO_SAMPLE_STACK;
           c <= FLAM_GECKO_SAMPLE_WEIGHT && to - row == FLAM_GECKO_CHUNK;
           c++)
        flam_gecko_cells_leave (&samples->tables->column[c],
                                row / FLAM_GECKO_CHUNK);
    }
  return TRUE;
}

void
flam_gecko_samples_put (FlamGeckoSamples *samples,
                        FlamBuilder *builder,
                        FlamThreadId thread,
                        guint event)
{
  guint32 first;

  samples->builder = builder;
  samples->like = (FlamSample){ .thread = thread, .event = (guint16)event };
  first = flam_builder_push_samples (builder, samples->good, &samples->like);
  for (guint i = 0; i < samples->n; i++)
    samples->ranges[i].first += first;
  flam_parts_read (samples->n, put_range, samples, NULL, NULL);
  for (guint i = 0; i < samples->n; i++)
    flam_builder_limited (builder)->n += samples->ranges[i].limited;
}
