/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The part of a capture that is memory. */
#include "flam-cut-private.h"

gboolean
flam_cut_is_peak (FlamMeasureSource source)
{
  return flam_allocation_filter_source_is_peak (source);
}

void
flam_cut_memory_clear (FlamCutMemory *memory)
{
  flam_allocation_filter_clear (&memory->made);
  flam_allocation_filter_clear (&memory->peak);
  flam_allocation_filter_clear (&memory->leaked);
}

void
flam_cut_memory_init (FlamCutMemory *memory, const FlamCut *cut)
{
  const FlamProfile *profile = cut->profile;
  const FlamSelection *selection = cut->selection;
  FlamMeasureSource source = profile->measures[selection->measure].source;

  flam_allocation_filter_init (
      &memory->made, profile, selection, FLAM_FROM_ALLOCATED);
  flam_allocation_filter_init (
      &memory->peak, profile, selection, FLAM_FROM_PEAK);
  flam_allocation_filter_init (
      &memory->leaked, profile, selection, FLAM_FROM_LEAKED);
  for (FlamId i = 0; i < profile->allocations.n && !memory->before; i++)
    memory->before = flam_allocation_filter_count (&memory->peak, i) > 0 &&
                     flam_allocation_filter_count (&memory->made, i) == 0;
  memory->peak_alone = memory->before && flam_cut_is_peak (source);
}

static void
put_allocation (FlamCut *cut, const FlamCutMemory *memory, FlamId i)
{
  const FlamAllocations *rows = &cut->profile->allocations;
  gint64 peak = flam_allocation_filter_count (&memory->peak, i);
  gint64 count = memory->peak_alone
                     ? peak
                     : flam_allocation_filter_count (&memory->made, i);
  gboolean soon = rows->distance[i] <= cut->selection->temporary_distance;
  FlamAllocation row = {
    .time = flam_cut_shifted (cut, rows->time[i]),
    .freed_at = rows->freed_at[i] < cut->to
                    ? flam_cut_shifted (cut, rows->freed_at[i])
                    : FLAM_NEVER,
    .thread = FLAM_NONE,
    .size = rows->size[i],
    .count = count,
    .at_peak = memory->before && !memory->peak_alone ? -1 : peak,
    .distance = soon ? 0 : rows->distance[i],
    .allocator =
        rows->allocator != NULL ? rows->allocator[i] : FLAM_ALLOCATOR_MALLOC,
  };

  if (count == 0 || !flam_cut_find_stack (cut, rows->stack[i], &row.stack))
    return;
  if (rows->thread[i] != FLAM_NONE)
    row.thread = cut->threads[rows->thread[i]];
  if (row.freed_at == FLAM_NEVER &&
      flam_allocation_filter_rule (&memory->leaked, i) != FLAM_NONE)
    row.freed_at = flam_cut_duration (cut);
  flam_builder_add_allocation (cut->builder, &row);
}

void
flam_cut_put_allocations (FlamCut *cut, const FlamCutMemory *memory)
{
  gboolean pages = (memory->made.kinds & FLAM_ALLOCATORS_PAGES) != 0;

  for (FlamId i = 0; i < cut->profile->allocations.n; i++)
    put_allocation (cut, memory, i);
  if (memory->peak.peak_time >= 0)
    flam_builder_set_peak_time (cut->builder,
                                flam_cut_shifted (cut, memory->peak.peak_time));
  if (pages && cut->profile->allocations.n > 0)
    flam_builder_facts (cut->builder)->pages_count = TRUE;
}
