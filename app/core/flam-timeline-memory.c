/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-timeline-private.h"

#include "flam-blocks.h"

/* Births come in order; deaths are sorted. A bucket holds the most that lived
 * at any moment of it, so a short peak is not averaged away. */
typedef struct
{
  gint64 time;
  guint32 allocation;
} Death;

static int
earlier_first (gconstpointer a, gconstpointer b)
{
  const Death *x = a, *y = b;

  if (x->time != y->time)
    return x->time < y->time ? -1 : 1;
  return x->allocation < y->allocation ? -1 : x->allocation > y->allocation;
}

typedef struct
{
  FlamTimelineFill *fill;
  const FlamBlocks *blocks; /* which rows count */
  gboolean counts;          /* blocks, not bytes */
  gint64 *live;             /* a row */
  guint *bucket;            /* a row: filled up to here */
} Curve;

static void
carry_on (Curve *curve, guint row, guint bucket)
{
  FlamTimeline *timeline = curve->fill->timeline;

  while (curve->bucket[row] < bucket)
    *flam_timeline_cell (timeline, row, ++curve->bucket[row]) =
        curve->live[row];
}

static void
change_row (Curve *curve, guint row, gint64 time, gint64 change)
{
  FlamTimeline *timeline = curve->fill->timeline;
  guint bucket = flam_timeline_bucket_of (timeline, time);
  gint64 *value;

  carry_on (curve, row, bucket);
  if (change > 0 && curve->live[row] > G_MAXINT64 - change)
    change = G_MAXINT64 - curve->live[row];
  curve->live[row] += change;
  value = flam_timeline_cell (timeline, row, bucket);
  *value = MAX (*value, curve->live[row]);
}

static gint64
amount_of (const Curve *curve, guint32 allocation)
{
  const FlamAllocations *rows = &curve->fill->profile->allocations;

  return curve->counts ? rows->count[allocation]
                       : rows->count[allocation] * rows->size[allocation];
}

static void
change (Curve *curve, guint32 allocation, gint64 time, gint64 by)
{
  FlamId thread = curve->fill->profile->allocations.thread[allocation];
  guint row = thread == FLAM_NONE ? 0 : curve->fill->row_of[thread];

  change_row (curve, 0, time, by);
  if (row > 0)
    change_row (curve, row, time, by);
}

static gboolean
is_selected (const Curve *curve, guint32 allocation)
{
  return flam_blocks_has_kind (curve->blocks, allocation) &&
         flam_blocks_has_thread (curve->blocks, allocation);
}

static GArray *
find_deaths (const Curve *curve)
{
  const FlamAllocations *rows = &curve->fill->profile->allocations;
  GArray *deaths = g_array_new (FALSE, FALSE, sizeof (Death));

  for (guint32 i = 0; i < rows->n; i++)
    {
      Death death = { rows->freed_at[i], i };

      if (death.time != FLAM_NEVER && is_selected (curve, i))
        g_array_append_val (deaths, death);
    }
  g_array_sort (deaths, earlier_first);
  return deaths;
}

/* Of one moment, what dies goes first: a block freed at t does not live at
 * t. But a block that lives for no time at all must be born before. */
static gboolean
walk_curve (Curve *curve, const GArray *deaths, GError **error)
{
  const FlamAllocations *rows = &curve->fill->profile->allocations;
  guint next = 0;

  for (guint32 i = 0; i <= rows->n; i++)
    {
      gint64 now = i < rows->n ? rows->time[i] : FLAM_NEVER;

      if (i % FLAM_TIMELINE_STEP == 0 &&
          !flam_progress_step (
              curve->fill->progress, (double)i / (rows->n + 1), error))
        return FALSE;
      for (; next < deaths->len; next++)
        {
          Death death = g_array_index (deaths, Death, next);

          if (death.time > now || (i < rows->n && death.allocation >= i))
            break;
          change (curve,
                  death.allocation,
                  death.time,
                  -amount_of (curve, death.allocation));
        }
      if (i < rows->n && is_selected (curve, i))
        change (curve, i, now, amount_of (curve, i));
    }
  return TRUE;
}

static gboolean
fill_curve (FlamTimelineFill *fill, const FlamBlocks *blocks, GError **error)
{
  FlamTimeline *timeline = fill->timeline;
  g_autofree gint64 *live = g_new0 (gint64, timeline->n_rows);
  g_autofree guint *bucket = g_new0 (guint, timeline->n_rows);
  g_autoptr (GArray) deaths = NULL;
  Curve curve = {
    .fill = fill,
    .blocks = blocks,
    .counts = timeline->unit == FLAM_UNIT_COUNT,
    .live = live,
    .bucket = bucket,
  };

  deaths = find_deaths (&curve);
  if (!walk_curve (&curve, deaths, error))
    return FALSE;
  for (guint row = 0; row < timeline->n_rows; row++)
    carry_on (&curve, row, timeline->n - 1);
  return TRUE;
}

/* The moment is the one the peak measures speak of: of all threads, in the
 * selected range; the amount is the selected threads'. */
gboolean
flam_timeline_fill_memory (FlamTimelineFill *fill, GError **error)
{
  const FlamAllocations *rows = &fill->profile->allocations;
  FlamTimeline *timeline = fill->timeline;
  gboolean bytes = timeline->unit == FLAM_UNIT_BYTES;
  g_auto (FlamBlocks) blocks = { 0 };

  flam_blocks_init (&blocks,
                    fill->profile,
                    fill->selection,
                    bytes ? FLAM_FROM_PEAK : FLAM_FROM_PEAK_BLOCKS);
  timeline->peak_time = flam_blocks_peak_time (fill->profile, fill->selection);
  for (FlamId i = 0; i < rows->n; i++)
    timeline->peak +=
        flam_blocks_count (&blocks, i) * (bytes ? rows->size[i] : 1);
  return fill_curve (fill, &blocks, error);
}
