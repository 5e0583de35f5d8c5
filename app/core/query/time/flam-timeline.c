/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-timeline.h"

#include "flam-allocation-filter.h"
#include "flam-sample-filter.h"

#define STEP (1 << 16) /* rows between two progress reports */

/* The position of a sample's stretch relative to its time. */
typedef enum
{
  STRETCH_NONE, /* not a time, or an unknown stretch */
  STRETCH_BEFORE,
  STRETCH_AFTER,
  STRETCH_AROUND,
  STRETCH_SPAN, /* given by the capture: exactly its own time */
} Stretch;

/* The samples of a thread that were added: how many, and with which stretch. */
typedef struct FlamTimelineThread
{
  guint32 n;
  Stretch stretch;
  gint64 before, after, around; /* the part of their weight that fits */
  gint64 weight;                /* to choose the threads with rows */
} Thread;

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  const FlamMeasure *measure;
  const FlamTimeline *before; /* NULL: from the start */
  const FlamProgress *progress;
  FlamTimeline *timeline;
  FlamSampleFilter filter;
  guint *row_of;     /* row of each thread; 0: none of its own */
  guint *row_of_set; /* of each set of labels; NULL: the rows are not CPUs */
} Fill;

static gint64 *
cell_at (FlamTimeline *timeline, guint row, guint bucket)
{
  return &timeline->value[(gsize)row * timeline->n + bucket];
}

/* --- activity ------------------------------------------------------------ */

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
  Stretch stretch;
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
sum_fits (const Stretches *all, Thread *sums)
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
static Stretch
find_stretch (const Fill *fill, const Stretches *all, Thread *sums)
{
  const FlamMeasure *measure = fill->measure;
  gint64 around;

  if (measure->weight == NULL || fill->selection->count ||
      fill->timeline->unit != FLAM_UNIT_NS || measure->denominator != 1)
    return STRETCH_NONE;
  if (measure->spans)
    return STRETCH_SPAN;
  if (measure->event != FLAM_NONE)
    return STRETCH_NONE;
  sum_fits (all, sums);
  around = sums->around;
  if (all->end > all->first + 1)
    around += fits_around (all, all->end - 1);
  if (around > MAX (sums->before, sums->after))
    return STRETCH_AROUND;
  return sums->after > sums->before ? STRETCH_AFTER : STRETCH_BEFORE;
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
  if (all->stretch == STRETCH_AROUND)
    gap = before + after;
  else if (all->stretch == STRETCH_BEFORE)
    gap = i > all->first ? time - all->time[i - 1] : time;
  else if (all->stretch == STRETCH_AFTER && i + 1 < all->end)
    gap = all->time[i + 1] - time;
  else if (all->stretch == STRETCH_SPAN)
    gap = MIN (all->weight[i], G_MAXINT64 - time);
  if (gap < 2 || all->weight[i] < 2 || all->weight[i] / 9 > gap / 8)
    return;
  gap = MIN (gap, all->weight[i]) - 1;
  if (all->stretch == STRETCH_AROUND)
    *from -= MIN (before, MAX (gap / 2, gap - after));
  else if (all->stretch == STRETCH_BEFORE)
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
add_stretch (Fill *fill,
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
add_samples (Fill *fill,
             FlamThreadId thread,
             const Stretches *all,
             guint32 skip,
             int sign,
             GError **error)
{
  const FlamSamples *samples = &fill->profile->samples;
  const FlamMeasure *measure = fill->measure;
  gboolean each_one = fill->selection->count || measure->weight == NULL;
  gint64 one = fill->selection->count ? measure->denominator : 1;
  guint32 n_sets = fill->filter.n_sets;
  guint row = fill->row_of[thread];

  for (guint32 i = all->first + skip; i < all->end; i++)
    {
      guint8 state = samples->state != NULL ? samples->state[i] : 0;
      gint64 from, to;

      if ((i - all->first) % STEP == 0 &&
          !flam_progress_step (fill->progress, (double)i / samples->n, error))
        return FALSE;
      if (!flam_sample_filter_has (&fill->filter, i))
        continue;
      if (fill->row_of_set != NULL)
        row = fill->row_of_set[flam_sample_label_set (samples, n_sets, i)];
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
fill_thread (Fill *fill, FlamThreadId thread, GError **error)
{
  const FlamThreads *threads = &fill->profile->threads;
  Thread *filled = &fill->timeline->filled[thread];
  guint32 first = threads->first_sample[thread];
  Stretches all = { STRETCH_NONE,
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
take_row (Fill *fill, guint row, guint old_row)
{
  const FlamTimeline *before = fill->before;
  FlamTimeline *timeline = fill->timeline;
  guint narrower = timeline->shift - before->shift;

  for (guint i = 0; i < before->n; i++)
    {
      gsize from = (gsize)old_row * before->n + i;

      if (before->split == NULL)
        *cell_at (timeline, row, i >> narrower) += before->value[from];
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
take_over (Fill *fill)
{
  const FlamTimeline *before = fill->before;

  take_row (fill, 0, 0);
  for (guint i = 0; i + 1 < before->n_rows; i++)
    if (fill->row_of[before->threads[i]] > 0)
      take_row (fill, fill->row_of[before->threads[i]], i + 1);
}

/* The weight of samples, bucket by bucket. */
static gboolean
fill_activity (Fill *fill, GError **error)
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

/* --- memory -------------------------------------------------------------- */

/* A bucket holds the maximum of its moments, so that a short peak is not
 * averaged away. Allocations come in order; releases are sorted. All events of
 * one moment count at once: their order is only known for the capture's high-
 * water mark (flam-allocation-filter.c), which is inserted unchanged. */
typedef struct
{
  Fill *fill;
  const FlamAllocationFilter *filter; /* the rows that count */
  GArray *deaths;                     /* FlamId, ascending in time */
  gboolean counts;                    /* blocks, not bytes */
  gint64 *live;                       /* a row */
  guint *bucket;                      /* per row: filled up to here */
  GArray *changed;                    /* guint: rows, in this moment */
} Curve;

static void
curve_clear (Curve *curve)
{
  g_array_unref (curve->deaths);
  g_array_unref (curve->changed);
  g_free (curve->live);
  g_free (curve->bucket);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Curve, curve_clear)

static void
carry_on (Curve *curve, guint row, guint bucket)
{
  FlamTimeline *timeline = curve->fill->timeline;

  while (curve->bucket[row] < bucket)
    *cell_at (timeline, row, ++curve->bucket[row]) = curve->live[row];
}

static gint64
amount_of (const Curve *curve, FlamId row, gint64 count)
{
  const FlamAllocations *rows = &curve->fill->profile->allocations;

  return curve->counts ? count : count * rows->size[row];
}

static guint
row_of (const Curve *curve, FlamId allocation)
{
  FlamThreadId thread = curve->fill->profile->allocations.thread[allocation];

  return thread == FLAM_NONE ? 0 : curve->fill->row_of[thread];
}

static void
change_row (Curve *curve, guint row, guint bucket, gint64 change)
{
  carry_on (curve, row, bucket);
  curve->live[row] += change;
  g_array_append_val (curve->changed, row);
}

static void
change (Curve *curve, FlamId allocation, gint64 time, gint64 by)
{
  guint bucket = flam_timeline_bucket_of (curve->fill->timeline, time);
  guint row = row_of (curve, allocation);

  change_row (curve, 0, bucket, by);
  if (row > 0)
    change_row (curve, row, bucket, by);
}

static void
end_moment (Curve *curve)
{
  for (guint i = 0; i < curve->changed->len; i++)
    {
      guint row = g_array_index (curve->changed, guint, i);
      gint64 *value = cell_at (curve->fill->timeline, row, curve->bucket[row]);

      *value = MAX (*value, curve->live[row]);
    }
  g_array_set_size (curve->changed, 0);
}

static gboolean
is_selected (const Curve *curve, FlamId allocation)
{
  return flam_allocation_filter_has_kind (curve->filter, allocation) &&
         flam_allocation_filter_has_thread (curve->filter, allocation);
}

static int
earlier_first (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 *freed_at = data;
  gint64 x = freed_at[*(const FlamId *)a];
  gint64 y = freed_at[*(const FlamId *)b];

  return (x > y) - (x < y);
}

static void
find_deaths (Curve *curve)
{
  const FlamAllocations *rows = &curve->fill->profile->allocations;

  for (FlamId i = 0; i < rows->n; i++)
    if (rows->freed_at[i] != FLAM_NEVER && is_selected (curve, i))
      g_array_append_val (curve->deaths, i);
  g_array_sort_with_data (
      curve->deaths, earlier_first, (gpointer)rows->freed_at);
}

static gboolean
walk_curve (Curve *curve, GError **error)
{
  const FlamAllocations *rows = &curve->fill->profile->allocations;
  const FlamId *deaths = (const FlamId *)(const void *)curve->deaths->data;
  guint n_deaths = curve->deaths->len;
  guint dead = 0;
  guint born = 0;
  guint steps = 0;

  while (born < rows->n || dead < n_deaths)
    {
      gint64 birth = born < rows->n ? rows->time[born] : FLAM_NEVER;
      gint64 death =
          dead < n_deaths ? rows->freed_at[deaths[dead]] : FLAM_NEVER;
      gint64 now = MIN (birth, death);

      if (steps++ % STEP == 0 &&
          !flam_progress_step (
              curve->fill->progress, (double)born / (rows->n + 1), error))
        return FALSE;
      for (; born < rows->n && rows->time[born] == now; born++)
        if (is_selected (curve, born))
          change (curve, born, now, amount_of (curve, born, rows->count[born]));
      for (; dead < n_deaths && rows->freed_at[deaths[dead]] == now; dead++)
        change (curve,
                deaths[dead],
                now,
                -amount_of (curve, deaths[dead], rows->count[deaths[dead]]));
      end_moment (curve);
    }
  for (guint row = 0; row < curve->fill->timeline->n_rows; row++)
    carry_on (curve, row, curve->fill->timeline->n - 1);
  return TRUE;
}

/* The high-water mark of the whole capture, whatever range is selected. */
static void
put_mark (Curve *curve)
{
  Fill *fill = curve->fill;
  FlamTimeline *timeline = fill->timeline;
  g_autoptr (FlamSelection) whole = flam_selection_copy (fill->selection);
  g_autofree gint64 *held = g_new0 (gint64, timeline->n_rows);
  g_auto (FlamAllocationFilter) filter = { 0 };
  guint bucket;

  whole->from = G_MININT64;
  whole->to = G_MAXINT64;
  flam_allocation_filter_init (
      &filter, fill->profile, whole, curve->filter->source);
  if (!filter.exact_peak)
    return;
  for (FlamId i = 0; i < filter.rows->n; i++)
    {
      gint64 amount =
          amount_of (curve, i, flam_allocation_filter_count (&filter, i));
      guint row = row_of (curve, i);

      held[0] += amount;
      if (row > 0)
        held[row] += amount;
    }
  bucket = flam_timeline_bucket_of (timeline, filter.peak_time);
  for (guint row = 0; row < timeline->n_rows; row++)
    {
      gint64 *value = cell_at (timeline, row, bucket);

      *value = MAX (*value, held[row]);
    }
}

static gboolean
fill_curve (Fill *fill, const FlamAllocationFilter *filter, GError **error)
{
  FlamTimeline *timeline = fill->timeline;
  g_auto (Curve) curve = {
    .fill = fill,
    .filter = filter,
    .deaths = g_array_new (FALSE, FALSE, sizeof (FlamId)),
    .counts = timeline->unit == FLAM_UNIT_COUNT,
    .live = g_new0 (gint64, timeline->n_rows),
    .bucket = g_new0 (guint, timeline->n_rows),
    .changed = g_array_new (FALSE, FALSE, sizeof (guint)),
  };

  find_deaths (&curve);
  if (!walk_curve (&curve, error))
    return FALSE;
  put_mark (&curve);
  return TRUE;
}

/* The moment is that of the peak measures: of all threads, in the selected
 * range. The amount is that of the selected threads. */
static gboolean
fill_memory (Fill *fill, GError **error)
{
  const FlamAllocations *rows = &fill->profile->allocations;
  FlamTimeline *timeline = fill->timeline;
  gboolean bytes = timeline->unit == FLAM_UNIT_BYTES;
  FlamMeasureSource source = fill->measure->source;
  g_auto (FlamAllocationFilter) filter = { 0 };

  if (!flam_allocation_filter_source_is_peak (source))
    source = bytes ? FLAM_FROM_PEAK : FLAM_FROM_PEAK_BLOCKS;

  flam_allocation_filter_init (&filter, fill->profile, fill->selection, source);
  timeline->peak_time = filter.peak_time;
  for (FlamId i = 0; i < rows->n; i++)
    timeline->peak +=
        flam_allocation_filter_count (&filter, i) * (bytes ? rows->size[i] : 1);
  return fill_curve (fill, &filter, error);
}

/* --- the whole ----------------------------------------------------------- */

#define MAX_BUCKETS (1 << 16)
#define MAX_GAPS 512
#define PERIODS 4
#define MAX_ROWS 4096 /* limit; the lightest threads beyond it have no row */
#define MAX_CELLS (1 << 20) /* of all rows */
#define RATES_MAX 8         /* the first events */

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
  g_free (timeline->cpus);
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
  FlamThreadId thread;
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
weigh_threads (Fill *fill)
{
  const FlamProfile *had = fill->before != NULL ? fill->before->profile : NULL;
  g_autofree gint64 *weights =
      flam_weights_by_thread_since (had, fill->profile, fill->selection, NULL);

  for (FlamId t = 0; t < fill->profile->threads.n; t++)
    fill->timeline->filled[t].weight += weights[t];
}

static guint
most_rows (const FlamTimeline *timeline)
{
  return MIN (MAX_ROWS, MAX (MAX_CELLS / timeline->n, 1));
}

static void
find_threads (Fill *fill)
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
  timeline->n_rows = 1 + MIN (rows->len, most_rows (timeline));
  timeline->threads = g_new (FlamId, timeline->n_rows);
  for (guint i = 0; i + 1 < timeline->n_rows; i++)
    {
      FlamThreadId thread = g_array_index (rows, ThreadWeight, i).thread;

      timeline->threads[i] = thread;
      fill->row_of[thread] = i + 1;
    }
}

static int
lower_first (gconstpointer a, gconstpointer b)
{
  const ThreadWeight *x = a, *y = b;

  return (x->weight > y->weight) - (x->weight < y->weight);
}

/* The weight of a CPU is its number. */
static void
find_cpus (Fill *fill)
{
  FlamTimeline *timeline = fill->timeline;
  const FlamSampleLabels *labels = &fill->profile->labels;
  g_autoptr (GHashTable) row_of = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) cpus = g_array_new (FALSE, FALSE, sizeof (ThreadWeight));
  g_autofree FlamId *values =
      flam_sample_labels_values (fill->profile, FLAM_LABEL_CPU);
  guint32 n_sets = flam_sample_labels_n_sets (fill->profile);

  for (FlamId row = 0; row < labels->n; row++)
    if (strcmp (flam_profile_string (fill->profile, labels->key[row]),
                FLAM_LABEL_CPU) == 0 &&
        g_hash_table_add (row_of, GUINT_TO_POINTER (labels->value[row])))
      {
        ThreadWeight cpu = { labels->value[row], labels->number[row] };

        g_array_append_val (cpus, cpu);
      }
  g_array_sort (cpus, lower_first);
  timeline->n_rows = 1 + MIN (cpus->len, most_rows (timeline));
  timeline->cpus = g_new (FlamId, timeline->n_rows);
  for (guint i = 0; i < cpus->len; i++)
    {
      FlamId value = g_array_index (cpus, ThreadWeight, i).thread;
      gboolean has_row = i + 1 < timeline->n_rows;

      if (has_row)
        timeline->cpus[i] = value;
      g_hash_table_replace (row_of,
                            GUINT_TO_POINTER (value),
                            GUINT_TO_POINTER (has_row ? i + 1 : 0));
    }
  fill->row_of_set = g_new0 (guint, (gsize)n_sets + 1);
  for (guint32 set = 1; set <= n_sets; set++)
    fill->row_of_set[set] = GPOINTER_TO_UINT (
        g_hash_table_lookup (row_of, GUINT_TO_POINTER (values[set])));
}

/* --- going on ------------------------------------------------------------ */

/* The earlier buckets keep their place, or two or more of them are merged into
 * one. */
static void
go_on (Fill *fill, const FlamTimeline *before)
{
  FlamTimeline *timeline = fill->timeline;

  timeline->filled = g_new0 (Thread, fill->profile->threads.n + 1);
  if (before == NULL ||
      !flam_weights_go_on (
          before->profile, before->selection, fill->profile, fill->selection) ||
      fill->measure->spans || before->wanted != timeline->wanted ||
      before->rows != timeline->rows || before->rows == FLAM_TIMELINE_CPUS ||
      before->shift > timeline->shift)
    return;
  fill->before = before;
  memcpy (timeline->filled,
          before->filled,
          before->profile->threads.n * sizeof *before->filled);
}

/* Whether a new row has samples that are already in the sum of all. */
static gboolean
has_late_row (const Fill *fill)
{
  g_autofree gboolean *had = NULL;

  if (fill->before == NULL || fill->timeline->rows != FLAM_TIMELINE_THREADS)
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

/* Events that are counted: the measures of one event each, beside the selected
 * one. */
typedef struct
{
  const FlamMeasure *measure;
  struct FlamTimelineCounter *counter;
} Rate;

static void
add_rates (Fill *fill, GArray *rates)
{
  const FlamProfile *profile = fill->profile;
  FlamTimeline *timeline = fill->timeline;

  /* The numbers of traced calls and of samples are not events of the
   * machine. */
  for (guint i = 0; i < profile->n_measures; i++)
    if (profile->measures[i].spans == FLAM_SPANS_CALLS)
      return;
  for (guint i = 0; i < profile->n_measures && rates->len < RATES_MAX; i++)
    {
      Rate rate = { &profile->measures[i] };

      if (rate.measure == fill->measure || rate.measure->event == FLAM_NONE ||
          rate.measure->source != FLAM_FROM_SAMPLES ||
          rate.measure->unit != FLAM_UNIT_COUNT ||
          rate.measure->kind != FLAM_MEASURE_CPU ||
          strcmp (flam_profile_string (profile, rate.measure->id), "samples") ==
              0)
        continue;
      rate.counter = &timeline->counters[timeline->n_counters++];
      *rate.counter = (struct FlamTimelineCounter){
        .id = flam_profile_string (profile, rate.measure->name),
        .unit = rate.measure->unit,
        .is_rate = TRUE,
        .value = g_new0 (gint64, timeline->n),
      };
      g_array_append_val (rates, rate);
    }
}

/* Per second, however long the buckets are. */
static void
scale_rate (const FlamTimeline *timeline, const Rate *rate)
{
  double second = 1e9 / (double)(G_GUINT64_CONSTANT (1) << timeline->shift);

  for (guint i = 0; i < timeline->n; i++)
    {
      gint64 *value = &rate->counter->value[i];

      *value = (gint64)MIN (
          (double)*value / (double)rate->measure->denominator * second, 0x1p62);
      rate->counter->top = MAX (rate->counter->top, *value);
    }
}

static gboolean
fill_rate (Fill *fill, const Rate *rate, GError **error)
{
  const FlamProfile *profile = fill->profile;
  const FlamSamples *samples = &profile->samples;
  FlamTimeline *timeline = fill->timeline;
  gint64 *to = rate->counter->value;
  const gint64 *weight = rate->measure->weight;

  for (FlamId t = 0; t < profile->threads.n; t++)
    {
      guint32 first = profile->threads.first_sample[t];
      guint32 end = first + profile->threads.n_samples[t];

      if (!flam_selection_has_thread (fill->selection, t))
        continue;
      for (guint32 i = first; i < end; i++)
        {
          if ((i - first) % STEP == 0 &&
              !flam_progress_step (
                  fill->progress, (double)i / samples->n, error))
            return FALSE;
          if (flam_sample_filter_has (&fill->filter, i))
            to[flam_timeline_bucket_of (timeline, samples->time[i])] +=
                weight != NULL ? weight[i] : 1;
        }
    }
  return TRUE;
}

static gboolean
fill_rates (Fill *fill, GError **error)
{
  g_autoptr (GArray) rates = g_array_new (FALSE, FALSE, sizeof (Rate));
  gboolean filled = TRUE;

  if (fill->profile->samples.time != NULL)
    add_rates (fill, rates);
  for (guint i = 0; filled && i < rates->len; i++)
    {
      const Rate *rate = &g_array_index (rates, Rate, i);

      flam_sample_filter_init (
          &fill->filter, fill->profile, fill->selection, rate->measure->event);
      filled = fill_rate (fill, rate, error);
      flam_sample_filter_clear (&fill->filter);
      scale_rate (fill->timeline, rate);
    }
  return filled;
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
          MAX (timeline->top[row], *cell_at (timeline, row, i));
}

static void
set_out (Fill *fill, const FlamTimeline *before)
{
  const FlamProfile *profile = fill->profile;
  FlamTimeline *timeline = fill->timeline;

  timeline->end = MAX (last_time (profile) + 1, 1);
  set_buckets (timeline);
  go_on (fill, before);
  timeline->n_rows = 1;
  if (timeline->rows == FLAM_TIMELINE_THREADS)
    find_threads (fill);
  else if (timeline->rows == FLAM_TIMELINE_CPUS &&
           timeline->kind == FLAM_TIMELINE_ACTIVITY)
    find_cpus (fill);
  timeline->value = g_new0 (gint64, (gsize)timeline->n_rows * timeline->n);
  if (timeline->kind == FLAM_TIMELINE_ACTIVITY &&
      profile->samples.state != NULL)
    timeline->split =
        g_new0 (FlamStateSplit, (gsize)timeline->n_rows * timeline->n);
  timeline->n_counters = profile->n_counters;
  timeline->counters =
      g_new0 (struct FlamTimelineCounter, profile->n_counters + RATES_MAX);
  for (guint i = 0; i < profile->n_counters; i++)
    fill_counter (timeline, i);
}

FlamTimeline *
flam_timeline_new (const FlamProfile *profile,
                   const FlamSelection *selection,
                   const FlamTimeline *before,
                   guint n_buckets,
                   FlamTimelineRows rows,
                   const FlamProgress *progress,
                   GError **error)
{
  g_autofree guint *row_of = g_new0 (guint, profile->threads.n + 1);
  g_autoptr (FlamTimeline) timeline = NULL;
  FlamTimelineKind kind;
  gboolean filled;
  Fill fill = { profile, selection, .progress = progress, .row_of = row_of };

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
  timeline->rows = rows;
  timeline->peak_time = -1;
  set_out (&fill, before);
  if (has_late_row (&fill))
    return flam_timeline_new (
        profile, selection, NULL, n_buckets, rows, progress, error);
  filled = kind == FLAM_TIMELINE_MEMORY ? fill_memory (&fill, error)
                                        : fill_activity (&fill, error);
  g_free (fill.row_of_set);
  if (!filled || !fill_rates (&fill, error))
    return NULL;
  find_tops (timeline);
  return g_steal_pointer (&timeline);
}
