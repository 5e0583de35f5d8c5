/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Blocks as they were recorded become allocations: each release is a row, what
 * is left of a row of BLOCKS is another. `at_peak` is what AT_PEAK says of all
 * that are alike, given first to those that most surely lived at that time. */

#include "flam-builder-private.h"

#include "flam-heap.h"

static FlamHeapSite *
peak_of (
    FlamHeap *peaks, FlamId thread, FlamId stack, gint64 size, guint8 allocator)
{
  FlamSiteKey key = { size, stack, thread, 1, allocator };

  guint32 site = flam_heap_find_site (peaks, &key);

  return &flam_column_at (&peaks->sites, FlamHeapSite, site);
}

static void
read_peaks (const FlamPeakRows *rows, FlamHeap *peaks)
{
  for (guint32 i = 0; i < rows->n; i++)
    {
      FlamHeapSite *site = peak_of (peaks,
                                    rows->thread[i],
                                    rows->stack[i],
                                    rows->size[i],
                                    rows->allocator[i]);

      if (__builtin_add_overflow (
              site->at_peak, MAX (rows->count[i], 0), &site->at_peak))
        site->at_peak = G_MAXINT64;
    }
}

static void
add_blocks (FlamBuilder *builder,
            guint32 row,
            gint64 count,
            gint64 freed_at,
            guint16 distance)
{
  const FlamBlockRows *blocks = &builder->tables.blocks;
  FlamAllocation allocation = {
    .time = blocks->time[row],
    .freed_at = freed_at,
    .thread = blocks->thread[row],
    .stack = blocks->stack[row],
    .size = blocks->size[row],
    .count = count,
    .at_peak = builder->tables.at_peak.n > 0 ? 0 : -1,
    .distance = distance,
    .allocator = blocks->allocator[row],
  };

  if (count > 0)
    flam_builder_add_allocation (builder, &allocation);
}

static void
pair_blocks (FlamBuilder *builder)
{
  const FlamBlockRows *blocks = &builder->tables.blocks;
  const FlamReleaseRows *releases = &builder->tables.releases;
  g_autofree gint64 *left = g_new (gint64, blocks->n + 1);

  for (guint32 i = 0; i < blocks->n; i++)
    left[i] = MAX (blocks->count[i], 0);
  for (guint32 i = 0; i < releases->n; i++)
    {
      gint64 row = releases->row[i];
      gint64 count;

      if (row < 0 || row >= blocks->n)
        continue;
      count = CLAMP (releases->count[i], 0, left[row]);
      left[row] -= count;
      add_blocks (builder,
                  (guint32)row,
                  count,
                  releases->time[i],
                  releases->distance[i]);
    }
  for (guint32 i = 0; i < blocks->n; i++)
    add_blocks (builder, i, left[i], FLAM_NEVER, G_MAXUINT16);
}

static void
share_peaks (FlamBuilder *builder, FlamHeap *peaks, guint32 from)
{
  const FlamAllocations *rows = &builder->tables.profile.allocations;
  gint64 peak_time = MAX (builder->peak_time, 0);

  for (guint surely = 3; surely > 0; surely--)
    for (guint32 i = from; i < rows->n; i++)
      {
        FlamHeapSite *site;

        if (flam_heap_surely (rows->time[i], rows->freed_at[i], peak_time) !=
            surely)
          continue;
        site = peak_of (peaks,
                        rows->thread[i],
                        rows->stack[i],
                        rows->size[i],
                        rows->allocator[i]);
        cells (builder, gint64, profile.allocations.at_peak)[i] =
            flam_heap_share (&site->at_peak, rows->count[i]);
      }
}

void
flam_builder_fold_memory (FlamBuilder *builder)
{
  static const FlamHeapSite blank = { 0 };
  guint32 from = builder->tables.profile.allocations.n;
  gint64 peak_time = flam_builder_noted_number (builder, FLAM_FACT_PEAK_TIME);
  FlamHeap peaks;

  if (peak_time >= 0)
    flam_builder_set_peak_time (builder, peak_time);
  flam_heap_init (&peaks, &blank, sizeof blank);
  read_peaks (&builder->tables.at_peak, &peaks);
  pair_blocks (builder);
  if (peaks.sites.n > 0)
    share_peaks (builder, &peaks, from);
  flam_heap_clear (&peaks);
}
