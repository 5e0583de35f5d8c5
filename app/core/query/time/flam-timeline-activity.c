/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-timeline-private.h"

static void
add_to_cell (FlamTimeline *timeline,
             guint row,
             guint bucket,
             FlamState state,
             gint64 weight)
{
  gsize at = (gsize)row * timeline->n + bucket;

  timeline->value[at] += weight;
  if (timeline->split != NULL)
    timeline->split[at].weight[state] += weight;
}

/* --- activity ------------------------------------------------------------ */

/* A sample of a measure of time represents a stretch of time next to the moment
 * at which it was taken:
 *
 *       weight                      weight
 *     |<------>|                  |<------>|
 *   --s--------s--  samplers    --s--------s--  tracers: what began here
 *
 *             weight
 *           |<-->|
 *   --s--------s--------s--  ours: half of the time between two goes to each
 *
 * Short stretches fit into a bucket; that of a waiting thread may be a hundred
 * times as long. In a single bucket, it would draw a continuously sleeping
 * thread as a comb. */
typedef struct
{
  FlamStretch stretch;
  const gint64 *time, *weight;
  guint32 first, end;
} Stretches;

/* The longest stretch around sample `i`, to the middle between it and its
   neighbours. */
static void
halves_of (const Stretches *all, guint32 i, gint64 *before, gint64 *after)
{
  *before = i > all->first ? (all->time[i] - all->time[i - 1]) / 2 : 0;
  *after = i + 1 < all->end ? (all->time[i + 1] - all->time[i]) / 2 : 0;
}

static gint64
fits_around (const Stretches *all, guint32 i)
{
  gint64 before, after;

  halves_of (all, i, &before, &after);
  return CLAMP (all->weight[i], 0, before + after);
}

/* The part of the weights that fits between samples, updated by one more pair.
 * The last sample, whose next neighbour is still missing, is not in the sum of
 * `around`. */
static void
sum_fits (const Stretches *all, FlamTimelineThread *sums)
{
  for (guint32 i = MAX (all->first + sums->n, all->first + 1); i < all->end;
       i++)
    {
      gint64 gap = all->time[i] - all->time[i - 1];

      sums->before += CLAMP (all->weight[i], 0, gap);
      sums->after += CLAMP (all->weight[i - 1], 0, gap);
      if (i - 1 > all->first)
        sums->around += fits_around (all, i - 1);
    }
}

/* The kind of stretch that fits the weights best. */
static FlamStretch
find_stretch (const FlamTimelineFill *fill,
              const Stretches *all,
              FlamTimelineThread *sums)
{
  const FlamMeasure *measure = fill->measure;
  gint64 around;

  if (measure->weight == NULL || fill->selection->count ||
      fill->timeline->unit != FLAM_UNIT_NS || measure->denominator != 1)
    return FLAM_STRETCH_NONE;
  if (measure->spans)
    return FLAM_STRETCH_SPAN;
  if (measure->event != FLAM_NONE)
    return FLAM_STRETCH_NONE;
  sum_fits (all, sums);
  around = sums->around;
  if (all->end > all->first + 1)
    around += fits_around (all, all->end - 1);
  if (around > MAX (sums->before, sums->after))
    return FLAM_STRETCH_AROUND;
  return sums->after > sums->before ? FLAM_STRETCH_AFTER : FLAM_STRETCH_BEFORE;
}

/* The stretch of sample `i`, both ends inclusive: it never overlaps its
 * neighbour. The part of the weight that does not fit has no stretch. */
static void
stretch_of (const Stretches *all, guint32 i, gint64 *from, gint64 *to)
{
  gint64 time = all->time[i];
  gint64 gap = 0, before, after;

  *from = *to = time;
  halves_of (all, i, &before, &after);
  if (all->stretch == FLAM_STRETCH_AROUND)
    gap = before + after;
  else if (all->stretch == FLAM_STRETCH_BEFORE)
    gap = i > all->first ? time - all->time[i - 1] : time;
  else if (all->stretch == FLAM_STRETCH_AFTER && i + 1 < all->end)
    gap = all->time[i + 1] - time;
  else if (all->stretch == FLAM_STRETCH_SPAN)
    gap = MIN (all->weight[i], G_MAXINT64 - time);
  if (gap < 2 || all->weight[i] < 2 || all->weight[i] / 9 > gap / 8)
    return;
  gap = MIN (gap, all->weight[i]) - 1;
  if (all->stretch == FLAM_STRETCH_AROUND)
    *from -= MIN (before, MAX (gap / 2, gap - after));
  else if (all->stretch == FLAM_STRETCH_BEFORE)
    *from -= gap;
  *to = *from + gap;
}

/* The part up to the end of this bucket of a weight that is spread evenly
 * from `from` to `to`. The parts add up to the whole, however long the
 * buckets are. */
static gint64
share_up_to (const FlamTimeline *timeline,
             guint bucket,
             gint64 from,
             gint64 to,
             gint64 weight)
{
  gint64 end = ((gint64)bucket + 1) << timeline->shift;

  return (gint64)((double)weight * (double)(end - from) /
                  (double)(to - from + 1));
}

static void
add_stretch (FlamTimelineFill *fill,
             guint row,
             FlamState state,
             gint64 from,
             gint64 to,
             gint64 weight)
{
  FlamTimeline *timeline = fill->timeline;
  guint last = flam_timeline_bucket_of (timeline, to);
  gint64 done = 0;

  for (guint i = flam_timeline_bucket_of (timeline, from); i <= last; i++)
    {
      gint64 upto =
          i == last ? weight : share_up_to (timeline, i, from, to, weight);

      add_to_cell (timeline, 0, i, state, upto - done);
      if (row > 0)
        add_to_cell (timeline, row, i, state, upto - done);
      done = upto;
    }
}

/* Adds samples from the `skip`-th on, `sign` times: 1 or -1. */
static gboolean
add_samples (FlamTimelineFill *fill,
             FlamId thread,
             const Stretches *all,
             guint32 skip,
             int sign,
             GError **error)
{
  const FlamSamples *samples = &fill->profile->samples;
  const FlamMeasure *measure = fill->measure;
  gboolean each_one = fill->selection->count || measure->weight == NULL;
  gint64 one = fill->selection->count ? measure->denominator : 1;
  guint row = fill->row_of[thread];

  for (guint32 i = all->first + skip; i < all->end; i++)
    {
      guint8 state = samples->state != NULL ? samples->state[i] : 0;
      gint64 from, to;

      if ((i - all->first) % FLAM_TIMELINE_STEP == 0 &&
          !flam_progress_step (fill->progress, (double)i / samples->n, error))
        return FALSE;
      if (!flam_sample_filter_has (&fill->filter, i))
        continue;
      stretch_of (all, i, &from, &to);
      add_stretch (fill,
                   row,
                   state,
                   from,
                   to,
                   sign * (each_one ? one : measure->weight[i]));
    }
  return TRUE;
}

/* The last added sample now has a neighbour. If a thread's kind of stretch has
 * changed, all of its samples are subtracted and added again. */
static gboolean
fill_thread (FlamTimelineFill *fill, FlamId thread, GError **error)
{
  const FlamThreads *threads = &fill->profile->threads;
  FlamTimelineThread *filled = &fill->timeline->filled[thread];
  guint32 first = threads->first_sample[thread];
  Stretches all = { FLAM_STRETCH_NONE,
                    fill->profile->samples.time,
                    fill->measure->weight,
                    first,
                    first + threads->n_samples[thread] };
  Stretches had = all;
  guint32 kept;

  if (filled->n == threads->n_samples[thread])
    return TRUE;
  had.stretch = filled->stretch;
  had.end = first + filled->n;
  all.stretch = find_stretch (fill, &all, filled);
  kept = had.stretch == all.stretch && filled->n > 0 ? filled->n - 1 : 0;
  filled->n = threads->n_samples[thread];
  filled->stretch = all.stretch;
  return add_samples (fill, thread, &had, kept, -1, error) &&
         add_samples (fill, thread, &all, kept, 1, error);
}

/* --- going on ------------------------------------------------------------ */

static void
take_row (FlamTimelineFill *fill, guint row, guint old_row)
{
  const FlamTimeline *before = fill->before;
  FlamTimeline *timeline = fill->timeline;
  guint narrower = timeline->shift - before->shift;

  for (guint i = 0; i < before->n; i++)
    {
      gsize from = (gsize)old_row * before->n + i;

      if (before->split == NULL)
        *flam_timeline_cell (timeline, row, i >> narrower) +=
            before->value[from];
      else
        for (FlamState state = 0; state < FLAM_N_STATES; state++)
          add_to_cell (timeline,
                       row,
                       i >> narrower,
                       state,
                       before->split[from].weight[state]);
    }
}

static void
take_over (FlamTimelineFill *fill)
{
  const FlamTimeline *before = fill->before;

  take_row (fill, 0, 0);
  for (guint i = 0; i + 1 < before->n_rows; i++)
    if (fill->row_of[before->threads[i]] > 0)
      take_row (fill, fill->row_of[before->threads[i]], i + 1);
}

gboolean
flam_timeline_fill_activity (FlamTimelineFill *fill, GError **error)
{
  FlamTimeline *timeline = fill->timeline;
  gboolean filled = TRUE;

  if (fill->before != NULL)
    take_over (fill);
  flam_sample_filter_init (
      &fill->filter, fill->profile, fill->selection, fill->measure->event);
  for (FlamId t = 0; filled && t < fill->profile->threads.n; t++)
    filled = !flam_selection_has_thread (fill->selection, t) ||
             fill_thread (fill, t, error);
  flam_sample_filter_clear (&fill->filter);
  if (!filled)
    return FALSE;
  if (timeline->unit == FLAM_UNIT_NS && fill->measure->denominator == 1)
    timeline->ceiling =
        (gint64)MIN (G_GUINT64_CONSTANT (1) << timeline->shift,
                     (guint64)(timeline->end - timeline->start));
  return TRUE;
}
