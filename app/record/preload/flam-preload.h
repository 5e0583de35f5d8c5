/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_PRELOAD_H
#define FLAM_PRELOAD_H

/* libflambeau-alloc.so: the interface between its files. Rules for all of them,
 * since the library runs inside foreign programs:
 *
 *  - no lock is held during a call of a function of the target or of libc
 *    that may lock; no loader lock that is held while constructors run is ever
 *    taken in a hook (a constructor could wait for the hook);
 *  - the library's own allocations come from mmap (flam-preload-memory.c),
 *    those of the unwinder's files too (meson.build): the target's heap is as
 *    it would be without the library. While `busy` is set, the hooks record
 *    nothing;
 *  - thread-local storage is of the initial-exec kind: reading it never
 *    allocates;
 *  - errno is as the real function left it. */

#include "flam-alloc-shared.h"
#include "flam-mapping.h"
#include "flam-unwind-rows.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define HIDDEN __attribute__ ((visibility ("hidden")))
#define EXPORT __attribute__ ((visibility ("default")))
#define UNLIKELY(x) __builtin_expect (!!(x), 0)
#define LIKELY(x) __builtin_expect (!!(x), 1)
#define TLS __thread __attribute__ ((tls_model ("initial-exec")))

/* In a loop that waits for another thread. */
static inline void
preload_pause (void)
{
#ifdef __x86_64__
  __builtin_ia32_pause ();
#else
  __asm__ volatile("yield");
#endif
}

/* --- flam-preload-memory.c: the library's own allocations ---------------- */

HIDDEN void *preload_allocate (size_t size);
HIDDEN void *preload_allocate_array (size_t n, size_t size); /* zeroed */
HIDDEN void *preload_reallocate (void *data, size_t size);
HIDDEN void preload_release (void *data);
/* Like qsort(), which may call malloc() and must therefore not be called
 * here. */
HIDDEN void preload_sort (void *data,
                          size_t n,
                          size_t size,
                          int (*compare) (const void *, const void *));
/* Zeroed pages; NULL without memory. */
HIDDEN void *preload_pages (size_t size);
HIDDEN void preload_release_pages (void *pages, size_t size);
/* Reads memory that should be mapped; false if it is not. */
HIDDEN bool preload_read (uint64_t address, void *to, size_t size);

/* --- flam-preload-modules.c: mappings of code ---------------------------- */

typedef struct
{
  uint64_t start;
  uint64_t end;
  uint64_t bias;  /* address - bias = offset in the file */
  uint64_t image; /* the ELF file as it is mapped; 0: none */
  uint64_t image_end;
  uint32_t id; /* row of the shared table */
  bool late;   /* loaded later, and may be unloaded */
  _Atomic bool tried;
  FlamUnwindTable *_Atomic table; /* NULL: not compiled yet */
} PreloadModule;

/* A list that is replaced as a whole, never freed. */
typedef struct
{
  uint32_t n;
  PreloadModule modules[];
} PreloadModules;

/* The code at `pc`, or NULL. Reads /proc/self/maps again if the address is
 * unknown; if that fails, only a few times a second. */
HIDDEN const PreloadModule *preload_module_at (uint64_t pc);
/* NULL: only frame pointers are usable. */
HIDDEN const FlamUnwindTable *
preload_module_table (const PreloadModule *module);
/* A library may have been unloaded: reads the modules again, drops kept
 * stacks. */
HIDDEN void preload_modules_changed (void);
/* Incremented whenever pcs may have a new meaning. */
HIDDEN extern _Atomic uint32_t preload_code_epoch;

/* Reads /proc/self/maps. */
HIDDEN void preload_visit_mappings (void (*visit) (const FlamMapping *mapping));
/* Where the memory begins that brk() extends; 0: unknown. */
HIDDEN uint64_t preload_begin_of_heap (void);
/* In the first records of another file. */
HIDDEN void preload_modules_reset (void);

/* --- flam-preload-slots.c: hooks of a running program -------------------- */

typedef struct
{
  const char *name;
  void *hook;
  void **real;
} PreloadHook;

/* In all loaded modules: calls of the real functions become calls of the hooks,
 * or the other way around. The table, which is kept, ends with a name that is
 * NULL. */
HIDDEN void preload_slots_set (const PreloadHook *table, bool hooks);
/* The first definition of a function, in the order in which the program
 * searches; not this library's. dlsym() may find the program's own jump to it
 * instead, which goes through a slot. */
HIDDEN void *preload_slots_find (const char *name);
/* A library may have been loaded: the next refresh looks. */
HIDDEN void preload_slots_expect (void);
HIDDEN void preload_slots_refresh (void);
/* Whether the module that is loaded here is the program itself. */
HIDDEN bool preload_is_in_program (uint64_t base);

/* --- flam-preload-symbols.c: a module's own symbols ---------------------- */

/* As in the section .gnu.hash. */
static inline uint32_t
preload_name_hash (const char *name)
{
  uint32_t hash = 5381;

  for (; *name != 0; name++)
    hash = hash * 33 + (uint8_t)*name;
  return hash;
}

/* The address of a symbol that the module exports; 0: it does not. */
HIDDEN uint64_t preload_find_symbol (const PreloadModule *module,
                                     const char *name);

/* --- flam-preload-room.c: memory for the file ----------------------------- */

/* Called before `size` bytes are first written to a place in the file: FALSE if
 * there is no memory for them. */
HIDDEN bool preload_room (const void *data, size_t size);
/* The end of the available memory around a byte for which there is memory. */
HIDDEN const void *preload_room_end (const void *data);
/* Called for a new file. */
HIDDEN void preload_room_reset (void);

/* --- flam-preload-trie.c: stacks as numbers ------------------------------ */

/* The node of a frame under its caller's node; 0 is not a frame. */
HIDDEN uint32_t preload_trie_node (uint64_t pc, uint32_t parent);
/* Called in a forked child: its file has no nodes yet. */
HIDDEN void preload_trie_reset (void);

/* --- flam-preload-stack.c: the stack of a call --------------------------- */

typedef struct _PreloadStack PreloadStack;

HIDDEN PreloadStack *preload_stack_new (void);
HIDDEN void preload_stack_free (PreloadStack *stack);
/* The node of the stack whose innermost frame is (pc, sp, bp). */
HIDDEN uint32_t preload_stack_node (PreloadStack *stack,
                                    uint64_t pc,
                                    uint64_t sp,
                                    uint64_t bp);
/* Called in a forked child: it begins without stacks. */
HIDDEN void preload_stacks_reset (void);

/* --- flam-preload-ring.c: the output ------------------------------------- */

typedef struct _PreloadThread PreloadThread;

struct __attribute__ ((aligned (64))) _PreloadThread
{
  uint32_t epoch; /* value of preload_epoch at its creation; another one:
                   * outdated */
  bool busy;
  bool dead;    /* its thread is ending, or is not recorded */
  bool unheard; /* no memory for its ring: its events are lost */
  bool counting;
  uint32_t made;        /* blocks allocated so far, */
  uint32_t gone;        /* and freed; with sampling */
  int64_t until_sample; /* bytes, at least 0: a sample is due after allocating
                           this many */
  /* With sampling, as in FlamAllocLevel. Calls use no more than this first
   * cache line. */
  int64_t live;
  int64_t high;         /* the highest `live` since the last record, */
  int64_t upper, lower; /* outside these, `live` must be written */
  uint32_t high_made;   /* `made` and `gone` when it was highest */
  uint32_t high_gone;
  uint32_t before;    /* of `made`, those that are not to be counted */
  uint64_t allocated; /* up to the last draw of */
  int64_t drawn;      /* until_sample */
  uint64_t random;
  struct
  {
    int64_t live;
    uint64_t allocated;
    uint32_t made, gone;
  } written; /* in the last record */
  FlamAllocRing *ring;
  const uint8_t *room; /* end of the writable part of the ring */
  PreloadStack *stack;
  /* For threads that are notified when they end. */
  PreloadThread *next, *previous;
  bool listed;
};

HIDDEN extern TLS PreloadThread preload_thread;
HIDDEN extern FlamAllocHeader *preload_header;
HIDDEN extern FlamAllocControl *preload_control;
/* 0: not recording. Incremented at the start of a forked child. */
HIDDEN extern _Atomic uint32_t preload_epoch;

/* Maps the files; called once, from the constructor. With `bypassed`, only to
 * report that no events will follow. */
HIDDEN void preload_start (bool bypassed);
/* Whether the recorder put the library into this program when it began. */
HIDDEN bool preload_is_requested (void);
/* In a running program, any number of times: false if the files cannot be
 * mapped. At the end they are replaced with memory of the process, for a thread
 * that is writing. */
HIDDEN bool preload_begin_attached (const char *directory);
HIDDEN void preload_end_attached (void);
/* Whether this call is to be recorded. Prepares the thread. */
HIDDEN bool preload_enter_slow (void);
/* Counts an event of a thread that found no memory for its ring. */
HIDDEN void preload_not_heard (void);
HIDDEN void preload_put_free (uint64_t address);
HIDDEN void
preload_put_block (unsigned op, uint64_t address, uint64_t size, uint32_t node);
HIDDEN void preload_put_level (void);
/* At the end of the process: adds what the other threads have counted since
 * their last records to this thread's counts. */
HIDDEN void preload_take_over_counts (void);
/* `live` was written, or cannot be written now. */
HIDDEN void preload_level_written (int64_t step);
/* 0: every allocation. */
static inline uint64_t
preload_sample_bytes (void)
{
  return preload_control->sample_bytes;
}
/* A word that is zero in a forked child, however it was forked. */
HIDDEN extern uint32_t *preload_forked;
HIDDEN long preload_tid (void);

/* --- flam-preload-sampled.c: sampled blocks ------------------------------ */

#define FLAM_PRELOAD_FILTER 4096

/* Which frees need a second check, by KiB of memory; neighbours have
 * neighbouring entries. 0: all of them, because recording has not started or
 * every block is a record. Otherwise: live sampled blocks plus 1. */
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

/* At the beginning: from now on, only frees of sampled blocks need the check;
 * or all of them. */
HIDDEN void preload_filter_frees (bool filters);
/* But in this range all frees need it. */
HIDDEN void preload_never_filter (uint64_t start, uint64_t end);

/* Draws the number of bytes up to the thread's next sample. */
HIDDEN void preload_begin_countdown (void);
/* False: no space. */
HIDDEN bool preload_remember_sampled (uint64_t address);
/* False: it is not a sampled block. */
HIDDEN bool preload_forget_sampled (uint64_t address);

#endif
