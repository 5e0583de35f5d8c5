/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* libflambeau-alloc.so: what its files share with each other. The rules of the
 * house, since this runs inside other people's programs:
 *
 *  - no lock is held while calling anything of the target's or of libc's that
 *    may lock; no loader lock is ever taken from a hook (a constructor could
 *    wait for us while holding it);
 *  - our own allocations come from mmap (flam-preload-memory.c), those of the
 *    unwinder's files too (meson.build): the target's heap is as it would be
 *    without us. While `busy` is set, the hooks say nothing;
 *  - thread-local storage is of the initial-exec kind: reading it never
 *    allocates;
 *  - errno is as the real function left it. */

#include "flam-alloc-shared.h"
#include "flam-unwind-rows.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define HIDDEN __attribute__ ((visibility ("hidden")))
#define EXPORT __attribute__ ((visibility ("default")))
#define UNLIKELY(x) __builtin_expect (!!(x), 0)
#define LIKELY(x) __builtin_expect (!!(x), 1)
#define TLS __thread __attribute__ ((tls_model ("initial-exec")))

/* --- flam-preload-memory.c: allocations of our own ----------------------- */

HIDDEN void *preload_allocate (size_t size);
HIDDEN void *preload_allocate_array (size_t n, size_t size); /* zeroed */
HIDDEN void *preload_reallocate (void *data, size_t size);
HIDDEN void preload_release (void *data);
/* As qsort(), which may call malloc(), and be called inside of it. */
HIDDEN void preload_sort (void *data,
                          size_t n,
                          size_t size,
                          int (*compare) (const void *, const void *));
/* Zeroed pages; NULL without memory. */
HIDDEN void *preload_pages (size_t size);
HIDDEN void preload_release_pages (void *pages, size_t size);
/* Memory that should be there; the kernel says if it is not. */
HIDDEN bool preload_read (uint64_t address, void *to, size_t size);

/* --- flam-preload-modules.c: which code is where ------------------------- */

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t bias;  /* address - bias = offset in the file */
  uint64_t image; /* the ELF file as it is mapped; 0: none */
  uint64_t image_end;
  uint32_t id; /* row of the shared table */
  bool late;   /* not there from the start on, and may go */
  _Atomic bool tried;
  FlamUnwindTable *_Atomic table; /* NULL: not compiled yet */
} PreloadModule;

/* A list that is replaced whole, never freed. */
typedef struct
{
  uint32_t n;
  PreloadModule modules[];
} PreloadModules;

/* The code at `pc`, or NULL. Reads /proc/self/maps anew when the place is
 * unknown; where that is to no avail, a few times a second. */
HIDDEN const PreloadModule *preload_module_at (uint64_t pc);
/* NULL: only frame pointers will do. */
HIDDEN const FlamUnwindTable *
preload_module_table (const PreloadModule *module);
/* Some library may be gone: read them again, and drop the kept stacks. */
HIDDEN void preload_modules_changed (void);
/* Raised whenever pcs may have a new meaning. */
HIDDEN extern _Atomic uint32_t preload_code_epoch;

/* --- flam-preload-symbols.c: a module's own symbols ---------------------- */

/* The address of one that the module exports; 0: it does not. */
HIDDEN uint64_t preload_find_symbol (const PreloadModule *module,
                                     const char *name);

/* --- flam-preload-room.c: memory for the file ----------------------------- */

/* Before that much is written to a place in the file for the first time: FALSE
 * when there is no memory for it. */
HIDDEN bool preload_room (const void *data, size_t size);
/* Up to where there is room, once there is for a byte of it. */
HIDDEN const void *preload_room_end (const void *data);
/* A new file. */
HIDDEN void preload_room_reset (void);

/* --- flam-preload-trie.c: stacks as numbers ------------------------------ */

/* The node of a frame, by its caller's; 0 is no frame. */
HIDDEN uint32_t preload_trie_node (uint64_t pc, uint32_t parent);
/* A forked child's file has none yet. */
HIDDEN void preload_trie_reset (void);

/* --- flam-preload-stack.c: where the call came from ---------------------- */

typedef struct _PreloadStack PreloadStack;

HIDDEN PreloadStack *preload_stack_new (void);
HIDDEN void preload_stack_free (PreloadStack *stack);
/* The node of the stack whose innermost frame is (pc, sp, bp). */
HIDDEN uint32_t preload_stack_node (PreloadStack *stack,
                                    uint64_t pc,
                                    uint64_t sp,
                                    uint64_t bp);
/* A forked child begins with no stacks. */
HIDDEN void preload_stacks_reset (void);

/* --- flam-preload-ring.c: the way out ------------------------------------ */

typedef struct
{
  uint32_t epoch; /* of preload_epoch when it was made; else it is stale */
  bool busy;
  bool dead; /* its thread is ending, or there was no room */
  bool counting;
  uint32_t made;        /* allocations so far */
  int64_t until_sample; /* bytes, at least 0: what reaches it is looked at */
  uint64_t random;
  FlamAllocRing *ring;
  const uint8_t *room; /* in the ring: up to here it may be written */
  PreloadStack *stack;
} PreloadThread;

HIDDEN extern TLS PreloadThread preload_thread;
HIDDEN extern FlamAllocHeader *preload_header;
HIDDEN extern FlamAllocControl *preload_control;
/* 0: not recording. Raised when a forked child starts anew. */
HIDDEN extern _Atomic uint32_t preload_epoch;

/* Maps the files; called once, from the constructor. With `bypassed`, only to
 * say that nothing will be seen. */
HIDDEN void preload_start (bool bypassed);
/* Is there something to record, here and now? Makes the thread ready. */
HIDDEN bool preload_enter_slow (void);
HIDDEN void preload_put_free (uint64_t address);
HIDDEN void
preload_put_block (unsigned op, uint64_t address, uint64_t size, uint32_t node);
/* 0: every allocation. */
static inline uint64_t
preload_sample_bytes (void)
{
  return preload_control->sample_bytes;
}
/* A word that a forked child finds zeroed, whichever way it was forked. */
HIDDEN extern uint32_t *preload_forked;
HIDDEN long preload_tid (void);

/* --- flam-preload-sampled.c: some blocks for all ------------------------- */

#define FLAM_PRELOAD_FILTER 4096

/* Which frees need a second look, by KiB of memory, and side by side for those
 * that lie side by side. 0: all do, as there is something to be done yet, or
 * every block is a record. Else there live one sampled block less. */
HIDDEN extern _Atomic uint8_t preload_filter[FLAM_PRELOAD_FILTER];

static inline uint32_t
preload_filter_index (uint64_t address)
{
  return (address >> 10 ^ address >> 22) % FLAM_PRELOAD_FILTER;
}

static inline bool
preload_is_unsampled (uint64_t address)
{
  return atomic_load_explicit (&preload_filter[preload_filter_index (address)],
                               memory_order_relaxed) == 1;
}

/* From now on, only those of sampled blocks. */
HIDDEN void preload_filter_frees (void);
/* But in these places all do. */
HIDDEN void preload_never_filter (uint64_t start, uint64_t end);

/* How many bytes it is to the thread's next sample. */
HIDDEN void preload_begin_countdown (void);
/* False: no room. */
HIDDEN bool preload_remember_sampled (uint64_t address);
/* False: it is not one of them. */
HIDDEN bool preload_forget_sampled (uint64_t address);
