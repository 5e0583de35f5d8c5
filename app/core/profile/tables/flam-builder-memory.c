/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Recorded blocks become allocations: each release is a row, the rest of a row
 * of BLOCKS is another. `at_peak` is the number in AT_PEAK for all equal
 * blocks, assigned first to those most certain to be live at that time. */

#include "flam-builder-private.h"

#include "flam-peak-tracker.h"

static guint32
site_of (FlamPeakTracker *peaks,
         FlamId thread,
         FlamId stack,
         gint64 size,
         guint8 allocator)
{
  FlamSiteKey key = { size, stack, thread, 1, allocator };

  return flam_peak_tracker_find_site (peaks, &key);
}

static FlamPeakSite *
peak_of (const FlamPeakTracker *peaks, guint32 site)
{
  return &flam_column_at (&peaks->sites, FlamPeakSite, site);
}

static void
read_peaks (const FlamPeakRows *rows, FlamPeakTracker *peaks)
{
  for (guint32 i = 0; i < rows->n; i++)
    {
      FlamPeakSite *site = peak_of (peaks,
                                    site_of (peaks,
                                             rows->thread[i],
                                             rows->stack[i],
                                             rows->size[i],
                                             rows->allocator[i]));

      if (__builtin_add_overflow (
              site->at_peak, MAX (rows->count[i], 0), &site->at_peak))
        site->at_peak = G_MAXINT64;
    }
}

/* The releases sorted by row, those of one row in their original order: `first`
 * is where the releases of each row begin. */
static guint32 *
order_releases (const FlamReleaseRows *releases, guint32 n, guint32 *first)
{
  guint32 *order = g_new (guint32, releases->n + 1);

  for (guint32 i = 0; i < releases->n; i++)
    if (releases->row[i] >= 0 && releases->row[i] < n)
      first[releases->row[i] + 1]++;
  for (guint32 row = 0; row < n; row++)
    first[row + 1] += first[row];
  for (guint32 i = 0; i < releases->n; i++)
    if (releases->row[i] >= 0 && releases->row[i] < n)
      order[first[releases->row[i]]++] = i;
  memmove (first + 1, first, n * sizeof *first);
  first[0] = 0;
  return order;
}

/* `more` is the rest of that of the BLOCKS row: positive for blocks freed in
 * the tick in which they were allocated, negative for others. */
static void
add (FlamBuilder *builder, FlamAllocation *allocation, gint64 *more)
{
  gboolean at_once = allocation->freed_at <= allocation->time;

  if (allocation->count <= 0)
    return;
  allocation->born_more = at_once ? CLAMP (*more, 0, allocation->count)
                                  : CLAMP (*more, -allocation->count, 0);
  *more -= allocation->born_more;
  if (at_once)
    allocation->died_more = 0;
  flam_builder_add_allocation (builder, allocation);
}

/* Written in the order of the blocks, which is that of their times: there is no
 * need to sort. */
static void
pair_blocks (FlamBuilder *builder)
{
  const FlamBlockRows *blocks = &builder->tables.blocks;
  const FlamReleaseRows *releases = &builder->tables.releases;
  g_autofree guint32 *first = g_new0 (guint32, (gsize)blocks->n + 1);
  g_autofree guint32 *order = order_releases (releases, blocks->n, first);
  gboolean has_peak = builder->tables.at_peak.n > 0 || builder->peak_time >= 0;

  for (guint32 row = 0; row < blocks->n; row++)
    {
      gint64 left = MAX (blocks->count[row], 0);
      gint64 more = blocks->more[row];
      FlamAllocation allocation = {
        .time = blocks->time[row],
        .thread = blocks->thread[row],
        .stack = blocks->stack[row],
        .size = blocks->size[row],
        .at_peak = has_peak ? 0 : -1,
        .allocator = blocks->allocator[row],
      };

      for (guint32 i = first[row]; i < first[row + 1] && left > 0; i++)
        {
          allocation.count = CLAMP (releases->count[order[i]], 0, left);
          allocation.freed_at = releases->time[order[i]];
          allocation.distance = releases->distance[order[i]];
          allocation.died_more =
              CLAMP (releases->more[order[i]], 0, allocation.count);
          left -= allocation.count;
          add (builder, &allocation, &more);
        }
      allocation.count = left;
      allocation.freed_at = FLAM_NEVER;
      allocation.distance = G_MAXUINT16;
      allocation.died_more = 0;
      add (builder, &allocation, &more);
    }
}

/* A row that may have been live at the peak. */
typedef struct
{
  guint32 allocation;
  guint32 site;
  guint certainty;
} Lived;

static void
share_peaks (FlamBuilder *builder, FlamPeakTracker *peaks, guint32 from)
{
  const FlamAllocations *rows = &builder->tables.profile.allocations;
  gint64 peak_time = MAX (builder->peak_time, 0);
  FlamColumn lived;

  flam_column_init (&lived, sizeof (Lived));
  for (guint32 i = from; i < rows->n; i++)
    {
      Lived one = { .allocation = i };

      one.certainty = flam_peak_tracker_certainty (
          rows->time[i], rows->freed_at[i], peak_time);
      if (one.certainty == 0)
        continue;
      one.site = site_of (peaks,
                          rows->thread[i],
                          rows->stack[i],
                          rows->size[i],
                          rows->allocator[i]);
      flam_column_append (&lived, Lived, one);
    }
  for (guint certainty = 3; certainty > 0; certainty--)
    for (gsize i = 0; i < lived.n; i++)
      {
        const Lived *one = &flam_column_at (&lived, Lived, i);

        if (one->certainty == certainty)
          cells (
              builder, gint64, profile.allocations.at_peak)[one->allocation] =
              flam_peak_tracker_share (&peak_of (peaks, one->site)->at_peak,
                                       rows->count[one->allocation]);
      }
  flam_column_clear (&lived);
}

void
flam_builder_map_blocks (FlamBuilder *builder, const FlamId *stacks)
{
  FlamTables *tables = &builder->tables;

  for (guint32 i = 0; i < tables->blocks.n; i++)
    cells (builder, FlamId, blocks.stack)[i] = stacks[tables->blocks.stack[i]];
  for (guint32 i = 0; i < tables->at_peak.n; i++)
    cells (builder, FlamId, at_peak.stack)[i] =
        stacks[tables->at_peak.stack[i]];
}

void
flam_builder_fold_memory (FlamBuilder *builder)
{
  static const FlamPeakSite blank = { 0 };
  FlamTables *tables = &builder->tables;
  guint32 from = tables->profile.allocations.n;
  gint64 peak_time = flam_builder_noted_number (builder, FLAM_FACT_PEAK_TIME);
  FlamPeakTracker peaks;

  if (peak_time >= 0)
    flam_builder_set_peak_time (builder, peak_time);
  flam_peak_tracker_init (&peaks, &blank, sizeof blank);
  read_peaks (&tables->at_peak, &peaks);
  flam_builder_reserve_allocations (
      builder, (gsize)tables->blocks.n + tables->releases.n);
  pair_blocks (builder);
  if (peaks.sites.n > 0)
    share_peaks (builder, &peaks, from);
  flam_peak_tracker_clear (&peaks);
  /* In a copy they are scaled already. */
  if (from == 0)
    flam_builder_scale_sampled (builder, from);
  tables->blocks.n = tables->releases.n = tables->at_peak.n = 0;
}
