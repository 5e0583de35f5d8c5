/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

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
 * Weights, curve, sizes and kinds of memory all ask here, so that no two of
 * them can disagree. */

#include "flam-selection.h"

G_BEGIN_DECLS

/* Bits of FlamSelection.allocators. */
#define FLAM_ALLOCATOR_BIT(allocator) (1u << (allocator))
#define FLAM_ALLOCATORS_ALL (FLAM_ALLOCATOR_BIT (FLAM_N_ALLOCATORS) - 1)
/* Pages of the system. An allocator gets its memory there, so that the two
 * together would count the same bytes twice. */
#define FLAM_ALLOCATORS_PAGES                                                  \
  (FLAM_ALLOCATOR_BIT (FLAM_ALLOCATOR_MMAP) |                                  \
   FLAM_ALLOCATOR_BIT (FLAM_ALLOCATOR_BRK))

typedef struct
{
  const FlamAllocations *rows;
  const FlamSelection *selection;
  FlamMeasureSource source;
  gint64 from, to;     /* ns: the selection's range, as it applies here */
  guint kinds;         /* bits: those that count */
  gint64 peak_time;    /* peaks: ns; -1 otherwise */
  gboolean exact_peak; /* at_peak says more than the times do */
  FlamId *rule;        /* leaks: a stack's suppression, or FLAM_NONE; NULL: no
                          suppressions */
} FlamBlocks;

void flam_blocks_init (FlamBlocks *blocks,
                       const FlamProfile *profile,
                       const FlamSelection *selection,
                       FlamMeasureSource source);
void flam_blocks_clear (FlamBlocks *blocks);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamBlocks, flam_blocks_clear)

/* Of the row's blocks, how many count. */
gint64 flam_blocks_count (const FlamBlocks *blocks, FlamId row);
/* The same if the selection had every thread, or every kind, or no
 * suppressions. */
gint64 flam_blocks_count_in_time (const FlamBlocks *blocks, FlamId row);
gboolean flam_blocks_has_kind (const FlamBlocks *blocks, FlamId row);
gboolean flam_blocks_has_thread (const FlamBlocks *blocks, FlamId row);
/* The suppression a leaked row falls under, or FLAM_NONE. */
FlamId flam_blocks_rule (const FlamBlocks *blocks, FlamId row);

/* When the selected kinds held the most within the selected range; -1 with no
 * allocations. */
gint64 flam_blocks_peak_time (const FlamProfile *profile,
                              const FlamSelection *selection);

gboolean flam_blocks_source_is_bytes (FlamMeasureSource source);
/* Bytes for blocks, and blocks for bytes. */
FlamMeasureSource flam_blocks_other_source (FlamMeasureSource source);

/* The kinds that occur in the profile, and those that count when the selection
 * does not say: the heap's where there are any; pages beside them only where
 * the capture's own figures have them in. */
guint flam_blocks_kinds_present (const FlamProfile *profile);
guint flam_blocks_kinds_counted (const FlamProfile *profile,
                                 const FlamSelection *selection);

G_END_DECLS
