/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ALLOCATION_FILTER_H
#define FLAM_ALLOCATION_FILTER_H

/* Profile + selection -> which rows of allocations count, for one measure:
 *
 *    time ────────from━━━━━━━━━━━━━━━━━━━━━to──────▶
 *    a     ├──────────────┤                           allocated: b c d
 *    b                 ├──────┤                       temporary: those of them
 *    c                        ├───────────────▶         freed soon
 *    d                             ├──┤               leaked: c
 *                        ▲ the moment of the range    at the peak: a b
 *                          when the most was live
 *
 * Weights, curve, sizes and kinds of memory all use this filter, so that they
 * always agree. */

#include "flam-selection.h"

G_BEGIN_DECLS

/* Bits of FlamSelection.allocators. */
#define FLAM_ALLOCATOR_BIT(allocator) (1u << (allocator))
#define FLAM_ALLOCATORS_ALL (FLAM_ALLOCATOR_BIT (FLAM_N_ALLOCATORS) - 1)
/* Pages of the system. The allocators get their memory from them, so that the
 * two together would count the same bytes twice. */
#define FLAM_ALLOCATORS_PAGES                                                  \
  (FLAM_ALLOCATOR_BIT (FLAM_ALLOCATOR_MMAP) |                                  \
   FLAM_ALLOCATOR_BIT (FLAM_ALLOCATOR_BRK) |                                   \
   FLAM_ALLOCATOR_BIT (FLAM_ALLOCATOR_FILE))

/* Opened things: they have no bytes. */
#define FLAM_ALLOCATORS_RESOURCES                                              \
  (FLAM_ALLOCATOR_BIT (FLAM_ALLOCATOR_DESCRIPTOR) |                            \
   FLAM_ALLOCATOR_BIT (FLAM_ALLOCATOR_THREAD))

typedef struct
{
  const FlamAllocations *rows;
  const FlamSelection *selection;
  FlamMeasureSource source;
  gint64 from, to;     /* ns: the selection's range, as it applies here */
  guint kinds;         /* bits: the kinds that count */
  gint64 peak_time;    /* peaks: ns; -1 otherwise */
  gboolean exact_peak; /* at_peak is more precise than the times */
  gboolean
      in_tick;  /* the peak is within the tick at peak_time, not at its end */
  FlamId *rule; /* leaks: a stack's suppression, or FLAM_NONE; NULL: no
                   suppressions */
} FlamAllocationFilter;

void flam_allocation_filter_init (FlamAllocationFilter *filter,
                                  const FlamProfile *profile,
                                  const FlamSelection *selection,
                                  FlamMeasureSource source);
void flam_allocation_filter_clear (FlamAllocationFilter *filter);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamAllocationFilter,
                                  flam_allocation_filter_clear)

/* How many of the row's blocks count. */
gint64 flam_allocation_filter_count (const FlamAllocationFilter *filter,
                                     FlamId row);
/* The same as if every thread or every kind were selected, or there were no
 * suppressions. */
gint64 flam_allocation_filter_count_in_time (const FlamAllocationFilter *filter,
                                             FlamId row);
gboolean flam_allocation_filter_has_kind (const FlamAllocationFilter *filter,
                                          FlamId row);
gboolean flam_allocation_filter_has_thread (const FlamAllocationFilter *filter,
                                            FlamId row);
/* The suppression that applies to a leaked row, or FLAM_NONE. */
FlamId flam_allocation_filter_rule (const FlamAllocationFilter *filter,
                                    FlamId row);

/* The time at which the selected kinds held the most within the selected range;
 * -1 without allocations. */
gint64 flam_allocation_filter_peak_time (const FlamProfile *profile,
                                         const FlamSelection *selection);

gboolean flam_allocation_filter_source_is_bytes (FlamMeasureSource source);
gboolean flam_allocation_filter_source_is_peak (FlamMeasureSource source);
/* Bytes for blocks, and blocks for bytes. */
FlamMeasureSource
flam_allocation_filter_other_source (FlamMeasureSource source);

/* The kinds that occur in the profile, and those that count if the selection
 * names none: the heap's, if there are any; also pages, but only if the
 * capture's own figures include them. */
guint flam_allocation_filter_kinds_present (const FlamProfile *profile);
guint flam_allocation_filter_kinds_counted (const FlamProfile *profile,
                                            const FlamSelection *selection);

G_END_DECLS

#endif
