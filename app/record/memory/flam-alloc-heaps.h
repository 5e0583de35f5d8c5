/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The heaps of the recorded processes: which block, and which pages, live at
 * which address, and who gives them back. What that makes of the events is
 * FlamLedger's.
 *
 * A tick is 10 ms, or the ten-thousandth part of the time so far when that is
 * longer: long recordings have rows in proportion to what they do, not to how
 * long they do it.
 *
 * Events come in the order of their times. */

#include "flam-builder.h"

typedef struct _FlamAllocHeaps FlamAllocHeaps;

FlamAllocHeaps *flam_alloc_heaps_new (FlamBuilder *builder);
void flam_alloc_heaps_free (FlamAllocHeaps *heaps);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamAllocHeaps, flam_alloc_heaps_free)

/* One address space: a process. Its blocks die with it, unfreed. */
typedef struct _FlamAllocSpace FlamAllocSpace;
/* One stream of events in it: a thread. `thread` and the stacks below are the
 * writer's. */
typedef struct _FlamAllocStream FlamAllocStream;

FlamAllocSpace *flam_alloc_heaps_add_space (FlamAllocHeaps *heaps);
FlamAllocStream *flam_alloc_heaps_add_stream (FlamAllocHeaps *heaps,
                                              FlamAllocSpace *space,
                                              FlamId thread);
void flam_alloc_heaps_end_stream (FlamAllocHeaps *heaps,
                                  FlamAllocStream *stream);
void flam_alloc_heaps_end_space (FlamAllocHeaps *heaps, FlamAllocSpace *space);

/* It is `time` now: writes what the tick that is over held. When the current
 * one will be over; no need to say the time more often. */
gint64 flam_alloc_heaps_advance (FlamAllocHeaps *heaps, gint64 time);

/* A stack of the writer's, and the site that it last allocated for, which is
 * most often the next one's (FLAM_NONE at first). */
typedef struct
{
  FlamId id;
  guint32 site;
} FlamAllocStack;

/* For streams that leave blocks out (sampling): how many its thread had made
 * before the event that follows. Otherwise the ledger counts. */
void flam_alloc_stream_set_made (FlamAllocStream *stream, guint32 made);
guint32 flam_alloc_stream_get_made (const FlamAllocStream *stream);
/* `each`: how many blocks this one stands for (sampling). Addresses are below
 * 2^48. */
void flam_alloc_heaps_block (FlamAllocHeaps *heaps,
                             FlamAllocStream *stream,
                             guint64 address,
                             gint64 size,
                             guint32 each,
                             FlamAllocStack *stack,
                             FlamAllocator allocator);
void flam_alloc_heaps_free_block (FlamAllocHeaps *heaps,
                                  FlamAllocStream *stream,
                                  guint64 address);
/* The block at this address will be looked up soon: a hint to the processor. */
void flam_alloc_heaps_expect (const FlamAllocSpace *space, guint64 address);
/* Pages: what [address, address + size) covered is given back, the rest of a
 * mapping cut by it stays. */
void flam_alloc_heaps_unmap (FlamAllocHeaps *heaps,
                             FlamAllocStream *stream,
                             guint64 address,
                             guint64 size);
/* The heap's end moved by `change` bytes. */
void flam_alloc_heaps_break (FlamAllocHeaps *heaps,
                             FlamAllocStream *stream,
                             gint64 change,
                             FlamAllocStack *stack);

/* Writes the rest and the exact peak. */
void flam_alloc_heaps_finish (FlamAllocHeaps *heaps, gint64 time);
/* Bytes live now, without pages. */
gint64 flam_alloc_heaps_live (const FlamAllocHeaps *heaps);
