/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-build.h"

#include "flam-heap.h"

static guint8
allocator_of (guint32 value)
{
  return value < FLAM_N_ALLOCATORS ? (guint8)value : FLAM_ALLOCATOR_OTHER;
}

static void
build_allocations (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_ALLOCATIONS;

  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    {
      FlamAllocation row = {
        .time = flam_build_i64 (build, t, 0, i),
        .freed_at = flam_build_i64 (build, t, 1, i),
        .thread = flam_build_id (build, t, 2, i),
        .stack = flam_capture_build_stack_at (build,
                                              flam_build_u32 (build, t, 3, i),
                                              flam_build_i64 (build, t, 0, i)),
        .size = flam_build_i64 (build, t, 4, i),
        .count = flam_build_i64 (build, t, 5, i),
        .at_peak = flam_build_i64 (build, t, 6, i),
        .distance = (guint16)MIN (flam_build_u32 (build, t, 7, i), G_MAXUINT16),
        .allocator = allocator_of (flam_build_u32 (build, t, 8, i)),
      };
      flam_builder_add_allocation (build->builder, &row);
    }
}

/* Each release is a row of allocations, what is left of a row of BLOCKS is
 * another. `at_peak` is what AT_PEAK says of all that are alike, given first
 * to those that most surely lived at that time. */
typedef struct
{
  GArray *rows;   /* FlamAllocation, with the file's ids */
  FlamHeap peaks; /* AT_PEAK: sites, of which only at_peak is used */
} Memory;

static FlamHeapSite *
peak_of (
    Memory *memory, FlamId thread, FlamId stack, gint64 size, guint8 allocator)
{
  FlamSiteKey key = { size, stack, thread, 1, allocator };
  guint32 site = flam_heap_find_site (&memory->peaks, &key);

  return &flam_column_at (&memory->peaks.sites, FlamHeapSite, site);
}

static void
read_peaks (FlamCaptureBuild *build, Memory *memory)
{
  const FlamCaptureTable t = FLAM_CAPTURE_AT_PEAK;

  for (guint32 i = 0; i < flam_build_table (build, t)->n; i++)
    {
      FlamHeapSite *site =
          peak_of (memory,
                   flam_build_u32 (build, t, 0, i),
                   flam_build_u32 (build, t, 1, i),
                   flam_build_i64 (build, t, 2, i),
                   allocator_of (flam_build_u32 (build, t, 3, i)));

      if (__builtin_add_overflow (site->at_peak,
                                  MAX (flam_build_i64 (build, t, 4, i), 0),
                                  &site->at_peak))
        site->at_peak = G_MAXINT64;
    }
}

static void
add_blocks (FlamCaptureBuild *build,
            Memory *memory,
            guint32 row,
            gint64 count,
            gint64 freed_at,
            guint32 distance)
{
  const FlamCaptureTable t = FLAM_CAPTURE_BLOCKS;
  FlamAllocation allocation = {
    .time = flam_build_i64 (build, t, 0, row),
    .freed_at = freed_at,
    .thread = flam_build_u32 (build, t, 1, row),
    .stack = flam_build_u32 (build, t, 2, row),
    .size = flam_build_i64 (build, t, 3, row),
    .count = count,
    .at_peak = memory->peaks.sites.n > 0 ? 0 : -1,
    .distance = (guint16)MIN (distance, G_MAXUINT16),
    .allocator = allocator_of (flam_build_u32 (build, t, 5, row)),
  };

  if (count > 0)
    g_array_append_val (memory->rows, allocation);
}

static void
pair_blocks (FlamCaptureBuild *build, Memory *memory)
{
  const FlamCaptureTable b = FLAM_CAPTURE_BLOCKS;
  const FlamCaptureTable r = FLAM_CAPTURE_RELEASES;
  guint32 n = flam_build_table (build, b)->n;
  g_autofree gint64 *left = g_new (gint64, n + 1);

  for (guint32 i = 0; i < n; i++)
    left[i] = MAX (flam_build_i64 (build, b, 4, i), 0);
  for (guint32 i = 0; i < flam_build_table (build, r)->n; i++)
    {
      gint64 row = flam_build_i64 (build, r, 1, i);
      gint64 count;

      if (row < 0 || row >= n)
        continue;
      count = CLAMP (flam_build_i64 (build, r, 2, i), 0, left[row]);
      left[row] -= count;
      add_blocks (build,
                  memory,
                  row,
                  count,
                  flam_build_i64 (build, r, 0, i),
                  flam_build_u32 (build, r, 3, i));
    }
  for (guint32 i = 0; i < n; i++)
    add_blocks (build, memory, i, left[i], FLAM_NEVER, G_MAXUINT16);
}

static void
share_peaks (Memory *memory, gint64 peak_time)
{
  for (guint surely = 3; surely > 0; surely--)
    for (guint i = 0; i < memory->rows->len; i++)
      {
        FlamAllocation *row = &g_array_index (memory->rows, FlamAllocation, i);
        FlamHeapSite *site;

        if (flam_heap_surely (row->time, row->freed_at, peak_time) != surely)
          continue;
        site = peak_of (
            memory, row->thread, row->stack, row->size, row->allocator);
        row->at_peak = flam_heap_share (&site->at_peak, row->count);
      }
}

static void
build_blocks (FlamCaptureBuild *build)
{
  static const FlamHeapSite blank = { 0 };
  Memory memory = { .rows =
                        g_array_new (FALSE, FALSE, sizeof (FlamAllocation)) };

  flam_heap_init (&memory.peaks, &blank, sizeof blank);
  read_peaks (build, &memory);
  pair_blocks (build, &memory);
  if (memory.peaks.sites.n > 0)
    share_peaks (&memory, flam_build_fact (build, FLAM_FACT_PEAK_TIME));
  for (guint i = 0; i < memory.rows->len; i++)
    {
      FlamAllocation *row = &g_array_index (memory.rows, FlamAllocation, i);

      if (row->thread != FLAM_NONE)
        row->thread = build->map[FLAM_CAPTURE_THREADS][row->thread];
      row->stack = flam_capture_build_stack_at (build, row->stack, row->time);
      flam_builder_add_allocation (build->builder, row);
    }
  g_array_unref (memory.rows);
  flam_heap_clear (&memory.peaks);
}

void
flam_capture_build_memory (FlamCaptureBuild *build)
{
  if (flam_capture_reader_fact (build->reader, FLAM_FACT_PEAK_TIME) != NULL)
    flam_builder_set_peak_time (build->builder,
                                flam_build_fact (build, FLAM_FACT_PEAK_TIME));
  build_allocations (build);
  build_blocks (build);
}
