/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Allocation events -> rows of a capture. The ledger knows which block lives
 * at which address, and says what happened tick by tick, alike things in one
 * row:
 *
 *   events   +a(64,X) +b(64,X) -a +c(64,X)      next tick:  -b
 *   BLOCKS   time X size=64 count=3             (row 0)
 *   RELEASES row 0: 1 (at once)                             row 0: 1
 *
 * A tick is 10 ms, or the ten-thousandth part of the time so far when that is
 * longer: long recordings have rows in proportion to what they do, not to how
 * long they do it.
 *
 * What lives, and what did at the peak, is FlamHeap's to count.
 *
 * Events come in the order of their times. A ledger of an opened file
 * (FlamLedger) is another: it knows every event before it must say anything,
 * and has files whose blocks have no addresses. */

#include "flam-builder.h"

G_BEGIN_DECLS

typedef struct _FlamAllocLedger FlamAllocLedger;

FlamAllocLedger *flam_alloc_ledger_new (FlamBuilder *builder);
void flam_alloc_ledger_free (FlamAllocLedger *ledger);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamAllocLedger, flam_alloc_ledger_free)

/* One address space: a process. Its blocks die with it, unfreed. */
typedef struct _FlamAllocSpace FlamAllocSpace;
/* One stream of events in it: a thread. `thread` and the stacks below are the
 * writer's. */
typedef struct _FlamAllocStream FlamAllocStream;

FlamAllocSpace *flam_alloc_ledger_add_space (FlamAllocLedger *ledger);
FlamAllocStream *flam_alloc_ledger_add_stream (FlamAllocLedger *ledger,
                                               FlamAllocSpace *space,
                                               FlamId thread);
void flam_alloc_ledger_end_stream (FlamAllocLedger *ledger,
                                   FlamAllocStream *stream);
void flam_alloc_ledger_end_space (FlamAllocLedger *ledger,
                                  FlamAllocSpace *space);

/* It is `time` now: writes what the tick that is over held. When the current
 * one will be over; no need to say the time more often. */
gint64 flam_alloc_ledger_advance (FlamAllocLedger *ledger, gint64 time);

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
void flam_alloc_ledger_block (FlamAllocLedger *ledger,
                              FlamAllocStream *stream,
                              guint64 address,
                              gint64 size,
                              guint32 each,
                              FlamAllocStack *stack,
                              FlamAllocator allocator);
void flam_alloc_ledger_free_block (FlamAllocLedger *ledger,
                                   FlamAllocStream *stream,
                                   guint64 address);
/* The block at this address will be asked for soon: a hint to the processor. */
void flam_alloc_ledger_expect (const FlamAllocSpace *space, guint64 address);
/* Pages: what [address, address + size) covered is given back, the rest of a
 * mapping cut by it stays. */
void flam_alloc_ledger_unmap (FlamAllocLedger *ledger,
                              FlamAllocStream *stream,
                              guint64 address,
                              guint64 size);
/* The heap's end moved by `change` bytes. */
void flam_alloc_ledger_break (FlamAllocLedger *ledger,
                              FlamAllocStream *stream,
                              gint64 change,
                              FlamAllocStack *stack);

/* Writes the rest and the exact peak. */
void flam_alloc_ledger_finish (FlamAllocLedger *ledger, gint64 time);
/* Bytes live now, without pages. */
gint64 flam_alloc_ledger_live (const FlamAllocLedger *ledger);

G_END_DECLS
