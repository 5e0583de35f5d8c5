/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-timeline-private.h"

#include "flam-allocation-filter.h"

/* A bucket holds the maximum of its moments, so that a short peak is not
 * averaged away. Allocations come in order; releases are sorted. All events of
 * one moment count at once: their order is only known for the capture's high-
 * water mark (flam-allocation-filter.c), which is inserted unchanged. */
typedef struct
{
  FlamTimelineFill *fill;
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
    *flam_timeline_cell (timeline, row, ++curve->bucket[row]) =
        curve->live[row];
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
  FlamId thread = curve->fill->profile->allocations.thread[allocation];

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
      gint64 *value =
          flam_timeline_cell (curve->fill->timeline, row, curve->bucket[row]);

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

      if (steps++ % FLAM_TIMELINE_STEP == 0 &&
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
  FlamTimelineFill *fill = curve->fill;
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
      gint64 *value = flam_timeline_cell (timeline, row, bucket);

      *value = MAX (*value, held[row]);
    }
}

static gboolean
fill_curve (FlamTimelineFill *fill,
            const FlamAllocationFilter *filter,
            GError **error)
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
gboolean
flam_timeline_fill_memory (FlamTimelineFill *fill, GError **error)
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
