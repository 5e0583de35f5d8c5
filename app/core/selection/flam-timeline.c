/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-timeline-private.h"

#define MAX_BUCKETS (1 << 16)
#define MAX_GAPS 4096
#define PERIODS 4
#define MAX_ROWS 4096 /* threads beyond these, the lightest, have no row */

/* --- the frame ----------------------------------------------------------- */

static void
timeline_clear (gpointer data)
{
  FlamTimeline *timeline = data;

  for (guint i = 0; i < timeline->n_counters; i++)
    g_free (timeline->counters[i].value);
  g_free (timeline->counters);
  g_free (timeline->value);
  g_free (timeline->split);
  g_free (timeline->top);
  g_free (timeline->threads);
  flam_profile_unref (timeline->profile);
}

FlamTimeline *
flam_timeline_ref (FlamTimeline *timeline)
{
  return g_atomic_rc_box_acquire (timeline);
}

void
flam_timeline_unref (FlamTimeline *timeline)
{
  g_atomic_rc_box_release_full (timeline, timeline_clear);
}

gint64
flam_timeline_time_of (const FlamTimeline *timeline, double fraction)
{
  double span = (double)(timeline->end - timeline->start);

  return timeline->start + (gint64)(CLAMP (fraction, 0, 1) * span);
}

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

static gint64
last_time (const FlamProfile *profile)
{
  const FlamAllocations *allocations = &profile->allocations;
  gint64 last = profile->facts.duration_ns - 1;

  for (FlamId t = 0; profile->samples.time != NULL && t < profile->threads.n;
       t++)
    if (profile->threads.n_samples[t] > 0)
      last = MAX (last,
                  profile->samples.time[profile->threads.first_sample[t] +
                                        profile->threads.n_samples[t] - 1]);
  if (allocations->n > 0)
    last = MAX (last, allocations->time[allocations->n - 1]);
  for (guint32 i = 0; i < allocations->n; i++)
    if (allocations->freed_at[i] != FLAM_NEVER)
      last = MAX (last, allocations->freed_at[i]);
  for (guint i = 0; i < profile->n_counters; i++)
    if (profile->counters[i].n > 0)
      last = MAX (last, profile->counters[i].time[profile->counters[i].n - 1]);
  return MIN (last, G_MAXINT64 - 1);
}

/* --- buckets ------------------------------------------------------------- */

static int
ascending (gconstpointer a, gconstpointer b)
{
  const gint64 *x = a, *y = b;

  return (*x > *y) - (*x < *y);
}

/* The time from sample to sample, as the thread with most of them has it; 0
 * for fewer than two. */
static gint64
sampling_period (const FlamProfile *profile)
{
  const FlamThreads *threads = &profile->threads;
  g_autoptr (GArray) gaps = g_array_new (FALSE, FALSE, sizeof (gint64));
  FlamId busiest = 0;
  guint32 step;

  for (FlamId t = 1; t < threads->n; t++)
    if (threads->n_samples[t] > threads->n_samples[busiest])
      busiest = t;
  if (threads->n == 0 || threads->n_samples[busiest] < 2)
    return 0;
  step = threads->n_samples[busiest] / MAX_GAPS + 1;
  for (guint32 i = 1; i < threads->n_samples[busiest]; i += step)
    {
      const gint64 *time =
          &profile->samples.time[threads->first_sample[busiest] + i];
      gint64 gap = time[0] - time[-1];

      g_array_append_val (gaps, gap);
    }
  g_array_sort (gaps, ascending);
  return g_array_index (gaps, gint64, gaps->len / 2);
}

/* Buckets shorter than a few periods would show the sampler, not the program:
 * one has a sample in it and the next has none. */
static guint
sensible_buckets (const FlamTimeline *timeline, guint wanted)
{
  gint64 period = timeline->kind == FLAM_TIMELINE_ACTIVITY
                      ? sampling_period (timeline->profile)
                      : 0;
  gint64 most = MIN (CLAMP (wanted, 1, MAX_BUCKETS), timeline->end);

  if (period > 0)
    most = MIN (most, timeline->end / PERIODS / period);
  return (guint)MAX (most, 1);
}

/* --- rows ---------------------------------------------------------------- */

typedef struct
{
  FlamId thread;
  gint64 weight;
} ThreadWeight;

static int
heavier_first (gconstpointer a, gconstpointer b)
{
  const ThreadWeight *x = a, *y = b;

  if (x->weight != y->weight)
    return x->weight < y->weight ? 1 : -1;
  return x->thread < y->thread ? -1 : 1;
}

static void
find_rows (FlamTimelineFill *fill)
{
  FlamTimeline *timeline = fill->timeline;
  g_autofree gint64 *weights =
      flam_weights_by_thread (fill->profile, fill->selection);
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (ThreadWeight));

  for (FlamId t = 0; t < fill->profile->threads.n; t++)
    {
      ThreadWeight row = { t, weights[t] };

      if (weights[t] > 0 && flam_selection_has_thread (fill->selection, t))
        g_array_append_val (rows, row);
    }
  g_array_sort (rows, heavier_first);
  timeline->n_rows = 1 + MIN (rows->len, MAX_ROWS);
  timeline->threads = g_new (FlamId, timeline->n_rows);
  for (guint i = 0; i + 1 < timeline->n_rows; i++)
    {
      FlamId thread = g_array_index (rows, ThreadWeight, i).thread;

      timeline->threads[i] = thread;
      fill->row_of[thread] = i + 1;
    }
}

/* --- activity ------------------------------------------------------------ */

/* A sample of a measure of time stands for a stretch of it, next to the
 * moment it was taken:
 *
 *       weight                      weight
 *     |<------>|                  |<------>|
 *   --s--------s--  samplers    --s--------s--  tracers: what began here
 *
 *             weight
 *           |<-->|
 *   --s--------s--------s--  ours: half of what ran between two is each one's
 *
 * Short ones fit into a bucket; that of a thread which waits may be a hundred
 * times as long. Put into one bucket it would make a comb of a thread that
 * slept all the time. */
typedef enum
{
  AT_ONCE, /* not time, or nobody knows of which stretch */
  BEFORE,
  AFTER,
  AROUND,
  SPAN, /* the capture says: its own time and no other */
} Stretch;

typedef struct
{
  Stretch stretch;
  const gint64 *time, *weight;
  guint32 first, end;
} Stretches;

/* The longest one around sample `i`, to half of the way to its neighbours. */
static void
halves_of (const Stretches *all, guint32 i, gint64 *before, gint64 *after)
{
  *before = i > all->first ? (all->time[i] - all->time[i - 1]) / 2 : 0;
  *after = i + 1 < all->end ? (all->time[i + 1] - all->time[i]) / 2 : 0;
}

/* Where the weights fit between the samples. */
static Stretches
find_stretches (const FlamTimelineFill *fill, FlamId thread)
{
  const FlamMeasure *measure = fill->measure;
  const FlamThreads *threads = &fill->profile->threads;
  Stretches all = { AT_ONCE,
                    fill->profile->samples.time,
                    measure->weight,
                    threads->first_sample[thread],
                    threads->first_sample[thread] +
                        threads->n_samples[thread] };
  gint64 before = 0, after = 0, around = 0, half[2];

  if (measure->weight == NULL || fill->selection->count ||
      fill->timeline->unit != FLAM_UNIT_NS || measure->denominator != 1)
    return all;
  if (measure->spans)
    all.stretch = SPAN;
  if (measure->spans || measure->event != FLAM_NONE)
    return all;
  for (guint32 i = all.first + 1; i < all.end; i++)
    {
      gint64 gap = all.time[i] - all.time[i - 1];

      before += CLAMP (all.weight[i], 0, gap);
      after += CLAMP (all.weight[i - 1], 0, gap);
      halves_of (&all, i, &half[0], &half[1]);
      around += CLAMP (all.weight[i], 0, half[0] + half[1]);
    }
  all.stretch = after > before ? AFTER : BEFORE;
  if (around > MAX (before, after))
    all.stretch = AROUND;
  return all;
}

/* The stretch of sample `i`, inclusive of both: never over its neighbour. What
 * does not fit beside it is no stretch. */
static void
stretch_of (const Stretches *all, guint32 i, gint64 *from, gint64 *to)
{
  gint64 time = all->time[i];
  gint64 gap = 0, before, after;

  *from = *to = time;
  halves_of (all, i, &before, &after);
  if (all->stretch == AROUND)
    gap = before + after;
  else if (all->stretch == BEFORE)
    gap = i > all->first ? time - all->time[i - 1] : time;
  else if (all->stretch == AFTER && i + 1 < all->end)
    gap = all->time[i + 1] - time;
  else if (all->stretch == SPAN)
    gap = MIN (all->weight[i], G_MAXINT64 - time);
  if (gap < 2 || all->weight[i] < 2 || all->weight[i] / 9 > gap / 8)
    return;
  gap = MIN (gap, all->weight[i]) - 1;
  if (all->stretch == AROUND)
    *from -= MIN (before, MAX (gap / 2, gap - after));
  else if (all->stretch == BEFORE)
    *from -= gap;
  *to = *from + gap;
}

/* What the bucket has of a weight that lies evenly from `from` to `to`, less
 * what the ones before it had: the parts' sum is the whole. */
static gint64
share_up_to (const FlamTimeline *timeline,
             guint bucket,
             gint64 from,
             gint64 to,
             gint64 weight)
{
  double end =
      (double)timeline->start +
      (double)(timeline->end - timeline->start) * (bucket + 1) / timeline->n;

  return (gint64)((double)weight * (end - (double)from) /
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

static gboolean
fill_samples (FlamTimelineFill *fill, FlamId thread, GError **error)
{
  const FlamSamples *samples = &fill->profile->samples;
  const FlamMeasure *measure = fill->measure;
  Stretches all = find_stretches (fill, thread);
  gboolean each_one = fill->selection->count || measure->weight == NULL;
  gint64 one = fill->selection->count ? measure->denominator : 1;
  guint row = fill->row_of[thread];

  for (guint32 i = all.first; i < all.end; i++)
    {
      guint16 event = samples->event != NULL ? samples->event[i] : 0;
      guint8 state = samples->state != NULL ? samples->state[i] : 0;
      gint64 from, to;

      if ((i - all.first) % FLAM_TIMELINE_STEP == 0 &&
          !flam_progress_step (fill->progress, (double)i / samples->n, error))
        return FALSE;
      if ((measure->event != FLAM_NONE && event != measure->event) ||
          !(fill->selection->states & 1u << state))
        continue;
      stretch_of (&all, i, &from, &to);
      add_stretch (
          fill, row, state, from, to, each_one ? one : measure->weight[i]);
    }
  return TRUE;
}

static gboolean
fill_activity (FlamTimelineFill *fill, GError **error)
{
  for (FlamId t = 0; t < fill->profile->threads.n; t++)
    if (flam_selection_has_thread (fill->selection, t) &&
        !fill_samples (fill, t, error))
      return FALSE;
  if (fill->timeline->unit == FLAM_UNIT_NS && fill->measure->denominator == 1)
    fill->timeline->ceiling = MAX (
        (fill->timeline->end - fill->timeline->start) / fill->timeline->n, 1);
  return TRUE;
}

/* --- counters ------------------------------------------------------------ */

static void
fill_counter (FlamTimeline *timeline, guint index)
{
  const FlamCounter *counter = &timeline->profile->counters[index];
  struct FlamTimelineCounter *out = &timeline->counters[index];
  guint32 next = 0;
  gint64 value = 0;

  out->id = flam_profile_string (timeline->profile, counter->id);
  out->unit = counter->unit;
  out->value = g_new0 (gint64, timeline->n);
  for (guint i = 0; i < timeline->n; i++)
    {
      gint64 most = G_MININT64;

      for (; next < counter->n &&
             flam_timeline_bucket_of (timeline, counter->time[next]) <= i;
           next++)
        {
          value = counter->value[next];
          most = MAX (most, value);
        }
      out->value[i] = MAX (most, value);
      out->top = MAX (out->top, out->value[i]);
    }
}

/* --- the front door ------------------------------------------------------ */

static gboolean
has_times (const FlamProfile *profile, FlamTimelineKind kind)
{
  return kind == FLAM_TIMELINE_MEMORY ? profile->allocations.n > 0
                                      : profile->samples.time != NULL;
}

static void
find_tops (FlamTimeline *timeline)
{
  timeline->top = g_new0 (gint64, timeline->n_rows);
  for (guint row = 0; row < timeline->n_rows; row++)
    for (guint i = 0; i < timeline->n; i++)
      timeline->top[row] =
          MAX (timeline->top[row], *flam_timeline_cell (timeline, row, i));
}

static void
set_out (FlamTimelineFill *fill,
         FlamTimelineKind kind,
         guint n_buckets,
         gboolean rows)
{
  const FlamProfile *profile = fill->profile;
  FlamTimeline *timeline = fill->timeline;

  timeline->profile = flam_profile_ref (profile);
  timeline->kind = kind;
  timeline->unit = fill->measure->unit;
  timeline->peak_time = -1;
  timeline->end = MAX (last_time (profile) + 1, 1);
  timeline->n = sensible_buckets (timeline, n_buckets);
  timeline->n_rows = 1;
  if (rows)
    find_rows (fill);
  timeline->value = g_new0 (gint64, (gsize)timeline->n_rows * timeline->n);
  if (kind == FLAM_TIMELINE_ACTIVITY && profile->samples.state != NULL)
    timeline->split =
        g_new0 (FlamStateSplit, (gsize)timeline->n_rows * timeline->n);
  timeline->n_counters = profile->n_counters;
  timeline->counters =
      g_new0 (struct FlamTimelineCounter, profile->n_counters + 1);
  for (guint i = 0; i < profile->n_counters; i++)
    fill_counter (timeline, i);
}

FlamTimeline *
flam_timeline_new (const FlamProfile *profile,
                   const FlamSelection *selection,
                   guint n_buckets,
                   gboolean per_thread,
                   const FlamProgress *progress,
                   GError **error)
{
  g_autofree guint *row_of = g_new0 (guint, profile->threads.n + 1);
  g_autoptr (FlamTimeline) timeline = NULL;
  FlamTimelineKind kind;
  gboolean filled;
  FlamTimelineFill fill = {
    profile, selection, .progress = progress, .row_of = row_of
  };

  if (selection->measure >= profile->n_measures)
    return NULL;
  fill.measure = &profile->measures[selection->measure];
  kind = fill.measure->source == FLAM_FROM_SAMPLES ? FLAM_TIMELINE_ACTIVITY
                                                   : FLAM_TIMELINE_MEMORY;
  if (!has_times (profile, kind))
    return NULL;
  timeline = fill.timeline = g_atomic_rc_box_new0 (FlamTimeline);
  set_out (&fill, kind, n_buckets, per_thread);
  filled = kind == FLAM_TIMELINE_MEMORY
               ? flam_timeline_fill_memory (&fill, error)
               : fill_activity (&fill, error);
  if (!filled)
    return NULL;
  find_tops (timeline);
  return g_steal_pointer (&timeline);
}
