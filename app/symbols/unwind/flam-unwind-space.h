/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_SPACE_H
#define FLAM_UNWIND_SPACE_H

/* An address space's code, and the walk over a stack in it. Plain C, like
 * flam-unwind-rows.h.
 *
 *   walk: pc -> cache -> (miss) -> mapping -> table -> row -> step -> pc ...
 *
 * A space is one process's executable mappings. It may be read by many threads
 * while it is not changed, if it has no `load`; each uses a cache of its own.
 *
 * How to use it:
 *
 *   FlamUnwindSpace *space = flam_unwind_space_new ();
 *   FlamUnwindCache *cache = flam_unwind_cache_new ();
 *   flam_unwind_space_add (space, start, end, offset, table, my_module);
 *   FlamUnwindMemory memory = { copy, sp, n_copied };
 *   FlamUnwindRegs regs = { .pc = pc, .sp = sp, .bp = bp };
 *   n = flam_unwind_walk (
 *       space, cache, &memory, &regs, pcs, NULL, 30000, &end);
 */

#include "flam-unwind-rows.h"

#define FLAM_UNWIND_DEFAULT_LIMIT 30000

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t offset;              /* in the file, of `start` */
  const FlamUnwindTable *table; /* the caller's; NULL: frame pointers */
  void *user;                   /* the caller's */
  void *managed;                /* the claim's; NULL: not managed code */
  bool uncovered;               /* the claim is only for code without CFI */
  bool loaded;                  /* `load` was already called */
} FlamUnwindMap;

typedef struct _FlamUnwindSpace FlamUnwindSpace;
typedef struct _FlamUnwindCache FlamUnwindCache;

/* NULL only if there is no memory. */
FlamUnwindSpace *flam_unwind_space_new (void);
/* For the child of a fork. */
FlamUnwindSpace *flam_unwind_space_copy (const FlamUnwindSpace *space);
void flam_unwind_space_free (FlamUnwindSpace *space);

/* Called once for each mapping without a table, when a walk first reaches it;
 * returns its table or NULL. Without it, walks are async-signal-safe. */
typedef const FlamUnwindTable *(*FlamUnwindLoad) (void *data,
                                                  const FlamUnwindMap *map);
void flam_unwind_space_set_load (FlamUnwindSpace *space,
                                 FlamUnwindLoad load,
                                 void *data);

/* The frames of code that was claimed: `frame` is the number of the last frame,
 * `regs` its registers, which become the caller's. The result is as of
 * flam_unwind_step(); a caller must be nearer to the root of the stack. */
typedef FlamUnwindEnd (*FlamUnwindManaged) (void *data,
                                            void *managed,
                                            const FlamUnwindMemory *memory,
                                            size_t frame,
                                            FlamUnwindRegs *regs);
void flam_unwind_space_set_managed (FlamUnwindSpace *space,
                                    FlamUnwindManaged step,
                                    void *data);
/* Claims the part of the mappings that is in the range, until they are
 * replaced; not for the child of a fork. `uncovered`: only the code that has no
 * call frame information. False: no memory. */
bool flam_unwind_space_claim (FlamUnwindSpace *space,
                              uint64_t start,
                              uint64_t end,
                              void *managed,
                              bool uncovered);

/* Adds a mapping; overlapped ones are cut or removed, as mmap does. False: no
 * memory, or an empty range. */
bool flam_unwind_space_add (FlamUnwindSpace *space,
                            uint64_t start,
                            uint64_t end,
                            uint64_t offset,
                            const FlamUnwindTable *table,
                            void *user);
void
flam_unwind_space_remove (FlamUnwindSpace *space, uint64_t start, uint64_t end);
/* Called after exec. */
void flam_unwind_space_clear (FlamUnwindSpace *space);

/* The mapping that contains `address`, or NULL. Valid until the next change. */
const FlamUnwindMap *flam_unwind_space_find (const FlamUnwindSpace *space,
                                             uint64_t address);
/* Never 0; different after each change, and never equal to that of another
 * space: for caches of the caller. */
uint64_t flam_unwind_space_generation (const FlamUnwindSpace *space);
size_t flam_unwind_space_size (const FlamUnwindSpace *space);

/* 4096 places, about 96 KiB. A change of its space is detected automatically;
 * one cache may serve many spaces, of one thread at a time. */
FlamUnwindCache *flam_unwind_cache_new (void);
void flam_unwind_cache_free (FlamUnwindCache *cache);

/* Walks the whole stack, leaf first: pcs[0] is regs->pc; a caller's pc is its
 * return address - 1 (a signal trampoline's is exact), so that all may be
 * looked up unchanged. `sps` (or NULL) receives the stack pointer of each: the
 * memory from sps[i] up to sps[i + 1] belongs to frame i. Returns the number of
 * frames; `end` is the reason of the end (never FLAM_UNWIND_OK). On
 * FLAM_UNWIND_NEEDS_BP, `pcs` holds the certain frames: read rbp, walk again.
 * `regs` keeps its value at the last frame. */
size_t flam_unwind_walk (FlamUnwindSpace *space,
                         FlamUnwindCache *cache,
                         const FlamUnwindMemory *memory,
                         FlamUnwindRegs *regs,
                         uint64_t *pcs,
                         uint64_t *sps,
                         size_t limit,
                         FlamUnwindEnd *end);

#endif
