/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-timeline-private.h"

#define MAX_BUCKETS (1 << 16)
#define MAX_GAPS 512
#define PERIODS 4
#define MAX_ROWS 4096 /* limit; the lightest threads beyond it have no row */

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
  g_free (timeline->filled);
  g_clear_pointer (&timeline->selection, flam_selection_free);
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

guint
flam_timeline_buckets_at (const FlamTimeline *timeline,
                          int pixel,
                          int pixels,
                          guint *end)
{
  guint bounds[2];

  for (int i = 0; i < 2; i++)
    bounds[i] = flam_timeline_bucket_of (
        timeline,
        flam_timeline_time_of (timeline, (double)(pixel + i) / pixels));
  *end = pixel + 1 < pixels ? MAX (bounds[1], bounds[0] + 1) : timeline->n;
  return bounds[0];
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

/* The time from sample to sample in the thread with the most samples; 0 if it
 * has fewer than two. */
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

/* Buckets shorter than a few periods would show the sampler instead of the
 * program: some would have a sample and their neighbours none. */
static void
set_buckets (FlamTimeline *timeline)
{
  gint64 period = timeline->kind == FLAM_TIMELINE_ACTIVITY
                      ? sampling_period (timeline->profile)
                      : 0;
  guint64 least = PERIODS * (guint64)MIN (period, G_MAXINT64 / PERIODS);
  guint64 most = CLAMP (timeline->wanted, 1, MAX_BUCKETS);
  guint64 last = (guint64)timeline->end - 1;

  while (timeline->shift < 63 &&
         (last >> timeline->shift >= most ||
          G_GUINT64_CONSTANT (1) << timeline->shift < least))
    timeline->shift++;
  timeline->n = (guint)(last >> timeline->shift) + 1;
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

/* The weight of each thread, including that of earlier snapshots. */
static void
weigh_threads (FlamTimelineFill *fill)
{
  const FlamProfile *had = fill->before != NULL ? fill->before->profile : NULL;
  g_autofree gint64 *weights =
      flam_weights_by_thread_since (had, fill->profile, fill->selection, NULL);

  for (FlamId t = 0; t < fill->profile->threads.n; t++)
    fill->timeline->filled[t].weight += weights[t];
}

static void
find_rows (FlamTimelineFill *fill)
{
  FlamTimeline *timeline = fill->timeline;
  g_autoptr (GArray) rows = g_array_new (FALSE, FALSE, sizeof (ThreadWeight));

  weigh_threads (fill);
  for (FlamId t = 0; t < fill->profile->threads.n; t++)
    {
      ThreadWeight row = { t, timeline->filled[t].weight };

      if (row.weight > 0 && flam_selection_has_thread (fill->selection, t))
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

/* --- going on ------------------------------------------------------------ */

/* The earlier buckets keep their place, or two or more of them are merged into
 * one. */
static void
go_on (FlamTimelineFill *fill, const FlamTimeline *before)
{
  FlamTimeline *timeline = fill->timeline;

  timeline->filled = g_new0 (FlamTimelineThread, fill->profile->threads.n + 1);
  if (before == NULL ||
      !flam_weights_go_on (
          before->profile, before->selection, fill->profile, fill->selection) ||
      fill->measure->spans || before->wanted != timeline->wanted ||
      before->per_thread != timeline->per_thread ||
      before->shift > timeline->shift)
    return;
  fill->before = before;
  memcpy (timeline->filled,
          before->filled,
          before->profile->threads.n * sizeof *before->filled);
}

/* Whether a new row has samples that are already in the sum of all. */
static gboolean
has_late_row (const FlamTimelineFill *fill)
{
  g_autofree gboolean *had = NULL;

  if (fill->before == NULL || !fill->timeline->per_thread)
    return FALSE;
  had = g_new0 (gboolean, fill->profile->threads.n + 1);
  for (guint i = 0; i + 1 < fill->before->n_rows; i++)
    had[fill->before->threads[i]] = TRUE;
  for (FlamId t = 0; t < fill->profile->threads.n; t++)
    if (fill->row_of[t] > 0 && !had[t] && fill->timeline->filled[t].n > 0)
      return TRUE;
  return FALSE;
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
set_out (FlamTimelineFill *fill, const FlamTimeline *before)
{
  const FlamProfile *profile = fill->profile;
  FlamTimeline *timeline = fill->timeline;

  timeline->end = MAX (last_time (profile) + 1, 1);
  set_buckets (timeline);
  go_on (fill, before);
  timeline->n_rows = 1;
  if (timeline->per_thread)
    find_rows (fill);
  timeline->value = g_new0 (gint64, (gsize)timeline->n_rows * timeline->n);
  if (timeline->kind == FLAM_TIMELINE_ACTIVITY &&
      profile->samples.state != NULL)
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
                   const FlamTimeline *before,
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
  timeline->profile = flam_profile_ref (profile);
  timeline->selection = flam_selection_copy (selection);
  timeline->kind = kind;
  timeline->unit = fill.measure->unit;
  timeline->wanted = n_buckets;
  timeline->per_thread = per_thread;
  timeline->peak_time = -1;
  set_out (&fill, before);
  if (has_late_row (&fill))
    return flam_timeline_new (
        profile, selection, NULL, n_buckets, per_thread, progress, error);
  filled = kind == FLAM_TIMELINE_MEMORY
               ? flam_timeline_fill_memory (&fill, error)
               : flam_timeline_fill_activity (&fill, error);
  if (!filled)
    return NULL;
  find_tops (timeline);
  return g_steal_pointer (&timeline);
}
