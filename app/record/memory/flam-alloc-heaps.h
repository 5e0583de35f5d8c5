/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ALLOC_HEAPS_H
#define FLAM_ALLOC_HEAPS_H

/* The heaps of the recorded processes: which blocks and pages are live at which
 * addresses, and which threads free them. FlamLedger makes rows of the events.
 *
 * A tick is 10 ms, or the ten-thousandth part of the time so far if that is
 * longer: the rows of a long recording are in proportion to its activity, not
 * to its duration.
 *
 * Events must be passed in the order of their times. */

#include "flam-core-query.h"

typedef struct _FlamAllocHeaps FlamAllocHeaps;

/* `sampled`: blocks are samples, and the exact number of live bytes follows
 * from flam_alloc_heaps_level(). `attached`: the processes have blocks that are
 * older than the recording, and which they free during it; then live bytes are
 * an estimate, too. `spill`, which is taken over, or NULL: for the data of each
 * block. */
FlamAllocHeaps *flam_alloc_heaps_new (FlamBuilder *builder,
                                      gboolean sampled,
                                      gboolean attached,
                                      FlamSpill *spill);
/* For the results of system calls: `pages`, otherwise descriptors and threads,
 * which are blocks of size 1 at addresses that the caller chooses. */
FlamAllocHeaps *flam_alloc_heaps_new_of_calls (FlamBuilder *builder,
                                               gboolean pages);
void flam_alloc_heaps_free (FlamAllocHeaps *heaps);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamAllocHeaps, flam_alloc_heaps_free)

/* One address space: a process. Its blocks end with it, without being freed. */
typedef struct _FlamAllocSpace FlamAllocSpace;
/* One stream of events in it: a thread. `thread` and the stacks below are ids
 * of the writer. */
typedef struct _FlamAllocStream FlamAllocStream;

/* `forked`: it begins with blocks of its parent, which are not counted again.
 * If allocations are sampled, they cannot be told from its own when they are
 * released, so its live blocks are estimated from the sampled ones. */
FlamAllocSpace *flam_alloc_heaps_add_space (FlamAllocHeaps *heaps,
                                            gboolean forked);
FlamAllocStream *flam_alloc_heaps_add_stream (FlamAllocHeaps *heaps,
                                              FlamAllocSpace *space,
                                              FlamThreadId thread);
void flam_alloc_heaps_end_stream (FlamAllocHeaps *heaps,
                                  FlamAllocStream *stream);
void flam_alloc_heaps_end_space (FlamAllocHeaps *heaps, FlamAllocSpace *space);

/* Advances to `time`: writes the state at the end of the tick that is over.
 * Returns when the current tick ends; no call is needed before then. */
gint64 flam_alloc_heaps_advance (FlamAllocHeaps *heaps, gint64 time);

/* A stack of the writer, and the site of its last allocation, which is most
 * often the site of the next one (FLAM_NONE at first). */
typedef struct
{
  FlamId id;
  guint32 site;
  float carry; /* sampled: the part of a block that rounding has left over;
                  begins at random */
} FlamAllocStack;

/* For streams that lack blocks (sampling): the number of blocks that the thread
 * had allocated before the next event. Otherwise the ledger counts them. */
void flam_alloc_stream_set_made (FlamAllocStream *stream, guint32 made);
guint32 flam_alloc_stream_get_made (const FlamAllocStream *stream);
/* `each`: the number of blocks that this one represents (sampling). `slack`:
 * the bytes that its allocator gave beyond its size. Addresses are below 2^48.
 * FALSE, and nothing is recorded, if with this one the sizes of all
 * processes together would exceed 2^63, or their rows FLAM_BLOCK_ROWS. */
gboolean flam_alloc_heaps_block (FlamAllocHeaps *heaps,
                                 FlamAllocStream *stream,
                                 guint64 address,
                                 gint64 size,
                                 guint32 each,
                                 guint slack,
                                 FlamAllocStack *stack,
                                 FlamAllocator allocator);
void flam_alloc_heaps_free_block (FlamAllocHeaps *heaps,
                                  FlamAllocStream *stream,
                                  guint64 address);
/* Prefetches the block at this address, which will be looked up soon. */
void flam_alloc_heaps_expect (const FlamAllocSpace *space, guint64 address);
/* Pages: the pages in [address, address + size) are released; the rest of a
 * partly covered mapping stays. */
void flam_alloc_heaps_unmap (FlamAllocHeaps *heaps,
                             FlamAllocStream *stream,
                             guint64 address,
                             guint64 size);
/* If pages are recorded: maps whole pages, which replace earlier ones. FALSE:
 * see flam_alloc_heaps_block. */
gboolean flam_alloc_heaps_map (FlamAllocHeaps *heaps,
                               FlamAllocStream *stream,
                               guint64 address,
                               gint64 size,
                               FlamStackId stack,
                               FlamAllocator allocator);
/* The first pages that end after `*start`, as they were mapped. FALSE: none. */
gboolean flam_alloc_heaps_next_pages (const FlamAllocSpace *space,
                                      guint64 *start,
                                      guint64 *end);
/* The heap's end moved by `change` bytes. FALSE: see flam_alloc_heaps_block. */
gboolean flam_alloc_heaps_break (FlamAllocHeaps *heaps,
                                 FlamAllocStream *stream,
                                 gint64 change,
                                 FlamAllocStack *stack);

/* Sampled: what a thread has counted since the previous call. */
typedef struct
{
  gint64 live;  /* change of its live bytes, as rounded by its allocator, */
  gint64 high;  /* which were higher by this in between */
  gint64 asked; /* bytes that it requested */
  guint32 made; /* blocks that it allocated, */
  guint32 gone; /* and those that it freed; */
  gint64 high_blocks; /* change of its live blocks up to the highest moment */
} FlamAllocCounts;

/* FALSE: as in flam_alloc_heaps_block(). */
gboolean flam_alloc_heaps_level (FlamAllocHeaps *heaps,
                                 const FlamAllocSpace *space,
                                 const FlamAllocCounts *counts);

/* Writes the rest and the exact peak; for sampled blocks also the exact sums,
 * as facts. The peak of each tick goes to the counter. */
void flam_alloc_heaps_finish (FlamAllocHeaps *heaps, gint64 time);

#endif
