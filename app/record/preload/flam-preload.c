/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The hooks: each calls the next definition of the same name (libc's, or
 * jemalloc's), and records the event. operator new goes through malloc.
 *
 * Exact: every call is a record. Sampled: bytes are counted down, and a block
 * is a record when the count falls below zero, with the probability 1 -
 * exp(-size / every) (a Poisson process over bytes); a small table separates
 * frees of such blocks from all others. */

/* mmap and mmap64 are two different names here. */
#undef _FILE_OFFSET_BITS

#include "flam-preload-python.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct
{
  void *(*malloc) (size_t);
  void (*free) (void *);
  void *(*calloc) (size_t, size_t);
  void *(*realloc) (void *, size_t);
  int (*posix_memalign) (void **, size_t, size_t);
  void *(*aligned_alloc) (size_t, size_t);
  void *(*memalign) (size_t, size_t);
  void *(*valloc) (size_t);
  void *(*pvalloc) (size_t);
  void *(*mmap) (void *, size_t, int, int, int, off_t);
  int (*munmap) (void *, size_t);
  void *(*mremap) (void *, size_t, size_t, int, ...);
  int (*brk) (void *);
  void *(*sbrk) (intptr_t);
  int (*dlclose) (void *);
  size_t (*malloc_usable_size) (void *);
  /* In a running program only: */
  void *(*reallocarray) (void *, size_t, size_t);
  void *(*mmap64) (void *, size_t, int, int, int, off_t);
  void *(*dlopen) (const char *, int);
  void *(*dlsym) (void *, const char *);
} Real;

static Real real;
static bool resolved;

/* dlsym() itself may allocate: until it has returned, memory comes from
 * here. */
static char early[16 << 10] __attribute__ ((aligned (16)));
static _Atomic size_t early_used;

static bool
is_early (const void *data)
{
  return (const char *)data >= early &&
         (const char *)data < early + sizeof early;
}

static void *
allocate_early (size_t size)
{
  size_t need = (size + 31) & ~(size_t)15;
  size_t at = atomic_fetch_add (&early_used, need);

  if (at + need > sizeof early)
    return NULL;
  *(size_t *)(void *)(early + at) = size;
  return early + at + 16;
}

#define RESOLVE(name) real.name = (typeof (real.name))find (#name)

/* glibc has the size of a block before it, with three bits for its state. */
static bool has_chunks;

static size_t
no_size (void *data)
{
  (void)data;
  return 0;
}

/* Whether the code belongs to glibc and not to another allocator. */
static bool
is_of_libc (void *code)
{
  void *version = dlsym (RTLD_DEFAULT, "gnu_get_libc_version");
  Dl_info one, other;

  return code != NULL && version != NULL && dladdr (code, &one) != 0 &&
         dladdr (version, &other) != 0 && one.dli_fbase == other.dli_fbase;
}

static inline uint64_t
usable_size (void *data)
{
  uint64_t chunk;

  if (UNLIKELY (!has_chunks))
    return real.malloc_usable_size (data);
  if (UNLIKELY (data == NULL))
    return 0;
  chunk = ((const uint64_t *)data)[-1];
  /* A block with pages of its own (bit 1) has a header of two words. */
  return (chunk & ~7ull) - 8 - (chunk & 2) * 4;
}

/* The definition after this library, which was loaded first. In a running
 * program: preload_slots_find(). */
static void *
find_next (const char *name)
{
  return dlsym (RTLD_NEXT, name);
}

static void
resolve (void *(*find) (const char *))
{
  static atomic_flag once = ATOMIC_FLAG_INIT;

  if (atomic_flag_test_and_set (&once))
    return;
  RESOLVE (malloc);
  RESOLVE (free);
  RESOLVE (calloc);
  RESOLVE (realloc);
  RESOLVE (posix_memalign);
  RESOLVE (aligned_alloc);
  RESOLVE (memalign);
  RESOLVE (valloc);
  RESOLVE (pvalloc);
  RESOLVE (mmap);
  RESOLVE (munmap);
  RESOLVE (mremap);
  RESOLVE (brk);
  RESOLVE (sbrk);
  RESOLVE (dlclose);
  RESOLVE (malloc_usable_size);
  RESOLVE (reallocarray);
  RESOLVE (mmap64);
  RESOLVE (dlopen);
  RESOLVE (dlsym);
  has_chunks = is_of_libc ((void *)real.malloc) &&
               is_of_libc ((void *)real.malloc_usable_size);
  if (real.malloc_usable_size == NULL)
    real.malloc_usable_size = no_size;
  __atomic_store_n (&resolved, true, __ATOMIC_RELEASE);
}

/* Whether the next definition may be used; FALSE while dlsym() searches it. */
static inline bool
has_real (void)
{
  if (LIKELY (__atomic_load_n (&resolved, __ATOMIC_ACQUIRE)))
    return true;
  resolve (find_next);
  return __atomic_load_n (&resolved, __ATOMIC_ACQUIRE);
}

/* --- state --------------------------------------------------------------- */

/* FALSE: nothing to record: not started, a call of the library itself, or a
 * thread that is ending. A child that was forked without libc is recognized by
 * the zeroed page. */
static inline bool
enter (void)
{
  const PreloadThread *thread = &preload_thread;
  uint32_t epoch = atomic_load_explicit (&preload_epoch, memory_order_relaxed);

  if (epoch == 0 || thread->busy)
    return false;
  if (LIKELY (thread->epoch == epoch && *preload_forked != 0 &&
              !preload_control->stopped))
    return !thread->dead;
  return preload_enter_slow ();
}

/* --- records ------------------------------------------------------------- */

typedef struct
{
  uint64_t pc;
  uint64_t sp;
  uint64_t bp;
} Caller;

/* The frame that called the hook. Hooks are compiled with frame pointers; only
 * on x86-64 do these tell where the frame ends. */
#ifdef __x86_64__
#define END_OF_FRAME() ((uint64_t)__builtin_frame_address (0) + 16)
#else
#define END_OF_FRAME() ((uint64_t)__builtin_dwarf_cfa ())
#endif
#define CALLER()                                                               \
  ((Caller){ (uint64_t)__builtin_return_address (0),                           \
             END_OF_FRAME (),                                                  \
             *(const uint64_t *)__builtin_frame_address (0) })

static inline void
say_block (unsigned op, const void *data, uint64_t size, Caller caller)
{
  PreloadThread *thread = &preload_thread;
  int saved = errno;
  uint32_t node;

  thread->busy = true;
  node = preload_stack_node (thread->stack, caller.pc, caller.sp, caller.bp);
  preload_put_block (op, (uint64_t)data, size, node);
  thread->busy = false;
  errno = saved;
}

/* --- all bytes, with sampling --------------------------------------------- */

/* Sampling decides which stacks are recorded; bytes are all counted. That takes
 * a few additions in thread-local memory; the main cost is asking the allocator
 * for the block's size. */

static __attribute__ ((noinline)) void
say_level (void)
{
  PreloadThread *thread = &preload_thread;

  if (!enter () || preload_sample_bytes () == 0)
    {
      preload_level_written (1 << 30);
      return;
    }
  thread->busy = true;
  preload_put_level ();
  thread->busy = false;
}

/* Returns the size as rounded by the allocator. */
static inline uint64_t
count_made (void *data)
{
  PreloadThread *thread = &preload_thread;
  uint64_t usable = usable_size (data);

  thread->live += (int64_t)usable;
  if (thread->live > thread->high)
    {
      thread->high = thread->live;
      thread->high_made = thread->made;
      thread->high_gone = thread->gone;
      if (UNLIKELY (thread->live > thread->upper))
        say_level ();
    }
  return usable;
}

static inline void
count_gone (void *data)
{
  PreloadThread *thread = &preload_thread;

  if (UNLIKELY (data == NULL))
    return;
  thread->gone++;
  thread->live -= (int64_t)usable_size (data);
  if (UNLIKELY (thread->live < thread->lower))
    say_level ();
}

/* The requested bytes follow from the countdown. */
static void
count_drawn (void)
{
  PreloadThread *thread = &preload_thread;

  thread->allocated += (uint64_t)(thread->drawn - thread->until_sample);
}

static void
draw (void)
{
  preload_begin_countdown ();
  preload_thread.drawn = preload_thread.until_sample;
}

/* Called when the countdown has run out. The block is counted last: the level
 * that is then written includes its bytes on both sides, and the block itself
 * is live in a peak that it causes. */
static void
say_sampled (unsigned op, void *data, uint64_t size, Caller caller)
{
  PreloadThread *thread = &preload_thread;
  uint64_t usable = usable_size (data);
  uint64_t slack = usable > size ? usable - size : 0;
  uint64_t address = (uint64_t)data;

  /* The counts began within this call, which is already in `made`. */
  if (UNLIKELY (thread->before == thread->made))
    thread->before--;
  if (UNLIKELY (!thread->counting))
    {
      /* The thread's first: the start of the countdown is random, too. */
      thread->counting = true;
      count_drawn ();
      draw ();
      thread->until_sample -= (int64_t)size;
      if (thread->until_sample > 0)
        {
          count_made (data);
          return;
        }
      count_drawn ();
    }
  else
    {
      count_drawn ();
      thread->allocated += size;
    }
  draw ();
  if (preload_remember_sampled (address))
    {
      address |= (slack < FLAM_ALLOC_SLACK_MAX ? slack : FLAM_ALLOC_SLACK_MAX)
                 << 48;
      say_block (op, (const void *)address, size, caller);
    }
  thread->live += (int64_t)usable;
  if (thread->live > thread->high)
    {
      thread->high = thread->live;
      thread->high_made = thread->made;
      thread->high_gone = thread->gone;
    }
  say_level ();
}

static const uint64_t no_break = UINT64_MAX; /* not glibc's */
static const uint64_t *current_break = &no_break;
static _Atomic uint64_t known_break = UINT64_MAX;
static bool started;

/* Whether the heap is extended as glibc does it. */
static inline bool
has_break (void)
{
  return current_break != &no_break;
}

/* `known`: up to where it is to be taken for known; 0: where it is now. */
static void
find_break (uint64_t known)
{
  const uint64_t *found = has_chunks ? dlsym (RTLD_DEFAULT, "__curbrk") : NULL;

  if (found == NULL)
    return;
  /* It is 0 before the first call. */
  if (*found == 0 && real.sbrk != NULL)
    real.sbrk (0);
  atomic_store (&known_break, known > 0 && known < *found ? known : *found);
  current_break = found;
}

static void
start (bool bypassed)
{
  static atomic_flag once = ATOMIC_FLAG_INIT;

  if (atomic_flag_test_and_set (&once))
    return;
  preload_start (bypassed);
  preload_filter_frees (preload_control == NULL ||
                        preload_control->sample_bytes != 0);
  preload_never_filter ((uint64_t)early, (uint64_t)early + early_used);
  /* The test whether malloc is ours has extended it, or another library has:
   * that is recorded with the first allocation. */
  find_break (preload_begin_of_heap ());
  started = true;
}

/* Other libraries are initialized before this one, and allocate: recording
 * begins with the first call at which there is an environment to read. */
static bool
enter_or_start (void)
{
  if (LIKELY (enter ()))
    return true;
  if (started || preload_thread.busy || environ == NULL)
    return false;
  start (false);
  return enter ();
}

/* Handles a block that is due for a sample; in exact mode, that is every
 * block. */
static void
say_due (unsigned op, void *data, uint64_t size, Caller caller)
{
  PreloadThread *thread = &preload_thread;

  if (UNLIKELY (!enter_or_start ()))
    {
      preload_not_heard ();
      /* Try again after a while. */
      if (!thread->busy)
        thread->drawn = thread->until_sample =
            started && atomic_load (&preload_epoch) == 0 ? 1 << 30 : 0;
      return;
    }
  preload_slots_refresh ();
  if (preload_sample_bytes () != 0)
    {
      say_sampled (op, data, size, caller);
      return;
    }
  thread->until_sample = 0;
  say_block (op, data, size, caller);
}

/* The common path of a call: a count and a subtraction. FALSE: it is due. */
static inline bool
count_down (uint64_t size)
{
  PreloadThread *thread = &preload_thread;

  thread->made++;
  if (UNLIKELY (size >= (uint64_t)thread->until_sample))
    return false;
  thread->until_sample -= (int64_t)size;
  return true;
}

/* The call returned no block of the heap. */
static inline void
count_none (void)
{
  preload_thread.made--;
}

#define SAY_ALLOCATED(op, data, size)                                          \
  do                                                                           \
    {                                                                          \
      bool due = !count_down (size);                                           \
      uint64_t usable;                                                         \
                                                                               \
      if (UNLIKELY ((data) == NULL))                                           \
        {                                                                      \
          count_none ();                                                       \
          break;                                                               \
        }                                                                      \
      usable = due ? usable_size (data) : count_made (data);                   \
      if (UNLIKELY (due))                                                      \
        say_due (op, data, size, CALLER ());                                   \
      if (took_pages (data, usable) ||                                         \
          ((op) == FLAM_ALLOC_OP_ALIGNED && has_grown ()))                     \
        look_at_pages (data, CALLER ());                                       \
    }                                                                          \
  while (0)

/* --- the pages of the heap ----------------------------------------------- */

/* glibc's malloc takes its memory from the system by functions of its own that
 * no other library can define. The memory that it took is found when it
 * returns:
 *
 *   the break        __curbrk has moved
 *   a large block    bit 1 of its size: its pages are its own
 *   an arena         bit 2: its pages are a part of 64 MiB, at the beginning of
 *                    which is how many are in use (struct heap_info in glibc's
 *                    malloc/arena.c, the same since 2.5)
 *
 * Each is a record with the stack of the call, sampled or not: they are few. */

#define ARENA_BYTES (64ull << 20)

typedef struct
{
  uint64_t arena;
  uint64_t before;
  uint64_t size; /* bytes in use, from the beginning of this */
  uint64_t used;
} ArenaPart;

typedef struct
{
  _Atomic uint64_t at;
  _Atomic uint64_t size;
} KnownArena;

#define KNOWN_ARENAS 256

static KnownArena known_arenas[KNOWN_ARENAS];
static TLS uint64_t known_part;
static TLS uint64_t known_size;

static void
say_break_moved (Caller caller)
{
  uint64_t known = atomic_load (&known_break);
  uint64_t now = *current_break;

  /* A call of the library itself: the program's next one records it. */
  if (now == known || preload_thread.busy ||
      !atomic_compare_exchange_strong (&known_break, &known, now))
    return;
  if (!enter ())
    return;
  if (now > known)
    say_block (FLAM_ALLOC_OP_BREAK, NULL, now - known, caller);
  else
    preload_put_block (FLAM_ALLOC_OP_BREAK, 0, now - known, 0);
}

static void
say_large (void *data, uint64_t chunk, Caller caller)
{
  uint64_t before = ((const uint64_t *)data)[-2];
  uint64_t start = (uint64_t)data - 16 - before;

  if (enter ())
    say_block (
        FLAM_ALLOC_OP_MMAP, (void *)start, before + (chunk & ~7ull), caller);
}

/* An arena that the program used before the library was loaded into it. */
static void
know_arena (const FlamMapping *mapping)
{
  KnownArena *known =
      &known_arenas[mapping->start / ARENA_BYTES % KNOWN_ARENAS];

  if (mapping->start % ARENA_BYTES != 0 || !mapping->readable ||
      mapping->length != 0)
    return;
  atomic_store (&known->at, mapping->start);
  atomic_store (&known->size, mapping->end - mapping->start);
}

static void
say_arena (uint64_t at, uint64_t size, Caller caller)
{
  KnownArena *known = &known_arenas[at / ARENA_BYTES % KNOWN_ARENAS];
  uint64_t before = atomic_load (&known->size);

  if (atomic_load (&known->at) != at)
    {
      atomic_store (&known->at, at);
      before = 0;
    }
  if (size == before || size > ARENA_BYTES)
    return;
  atomic_store (&known->size, size);
  if (size > before)
    say_block (
        FLAM_ALLOC_OP_MMAP, (void *)(at + before), size - before, caller);
  else
    preload_put_block (FLAM_ALLOC_OP_UNMAP, at + size, before - size, 0);
}

/* After a call that may have allocated pages: its block is not a known one. */
static __attribute__ ((noinline)) void
look_at_pages (void *data, Caller caller)
{
  uint64_t chunk = ((const uint64_t *)data)[-1];
  uint64_t at = (uint64_t)data & ~(ARENA_BYTES - 1);

  if (!has_break ())
    return;
  if (chunk & 2)
    say_large (data, chunk, caller);
  else if ((chunk & 4) == 0)
    say_break_moved (caller);
  else if ((at != known_part || ((const ArenaPart *)at)->size != known_size) &&
           enter ())
    {
      known_part = at;
      known_size = ((const ArenaPart *)at)->size;
      say_arena (at, known_size, caller);
    }
}

/* A part of the block that extended the heap is free: it need not end beyond
 * the last known break. */
static inline bool
has_grown (void)
{
  return *current_break >
         atomic_load_explicit (&known_break, memory_order_relaxed);
}

/* In an arena whose size this thread has read before: most blocks of threads.
 */
static inline bool
is_in_known_part (const void *data)
{
  uint64_t at = (uint64_t)data & ~(ARENA_BYTES - 1);

  return at == known_part && (((const uint64_t *)data)[-1] & 6) == 4 &&
         ((const ArenaPart *)at)->size == known_size;
}

/* A block that ends beyond the last known break either moved it or is
 * elsewhere. */
static inline bool
took_pages (const void *data, uint64_t usable)
{
  return UNLIKELY (
      (uint64_t)data + usable >
          atomic_load_explicit (&known_break, memory_order_relaxed) &&
      !is_in_known_part (data));
}

static __attribute__ ((noinline)) void
say_shrunk (void)
{
  if (*current_break < atomic_load (&known_break))
    say_break_moved ((Caller){ 0 });
}

/* Before a call that may extend the heap again: free() has released its end. */
static inline void
look_at_break (void)
{
  if (UNLIKELY (*current_break <
                atomic_load_explicit (&known_break, memory_order_relaxed)))
    say_shrunk ();
}

/* Before a block is freed: a large block's pages are freed with it. */
static void
say_large_gone (const void *data)
{
  const uint64_t *chunk = data;

  if (!has_break () || !enter ())
    return;
  preload_thread.busy = true;
  preload_put_block (FLAM_ALLOC_OP_UNMAP,
                     (uint64_t)data - 16 - chunk[-2],
                     chunk[-2] + (chunk[-1] & ~7ull),
                     0);
  preload_thread.busy = false;
}

static inline void
look_at_large (const void *data)
{
  if (has_chunks && data != NULL &&
      UNLIKELY ((((const uint64_t *)data)[-1] & 2) != 0))
    say_large_gone (data);
}

/* --- blocks ------------------------------------------------------------------
 */

static void
say_looked_at (const void *data)
{
  if (!enter ())
    {
      preload_not_heard ();
      return;
    }
  if (preload_sample_bytes () != 0)
    {
      if (!preload_forget_sampled ((uint64_t)data))
        return;
      /* Writes the live bytes including this block before it is freed. */
      say_level ();
    }
  preload_thread.busy = true;
  preload_put_free ((uint64_t)data);
  preload_thread.busy = false;
}

static inline void
say_freed (void *data)
{
  if (UNLIKELY (!preload_is_unsampled ((uint64_t)data)))
    say_looked_at (data);
  count_gone (data);
  look_at_large (data);
}

/* --- the heap ------------------------------------------------------------ */

static TLS bool is_probed; /* see malloc_is_ours() */

/* Reached by a jump, so that its caller is the hook's. */
static __attribute__ ((noinline)) void *
malloc_looked_at (size_t size)
{
  void *data;

  if (UNLIKELY (is_probed || !has_real ()))
    {
      count_none ();
      return allocate_early (size);
    }
  look_at_break ();
  data = real.malloc (size);
  if (UNLIKELY (data == NULL))
    {
      count_none ();
      return NULL;
    }
  say_due (FLAM_ALLOC_OP_MALLOC, data, size, CALLER ());
  if (took_pages (data, usable_size (data)))
    look_at_pages (data, CALLER ());
  return data;
}

/* malloc() reaches the rare cases by jumps, so that it keeps nothing but the
 * block's address after the call. */
static __attribute__ ((noinline)) void *
malloc_took_pages (void *data)
{
  look_at_pages (data, CALLER ());
  return data;
}

static __attribute__ ((noinline)) void *
malloc_counted (void *data)
{
  if (data == NULL)
    count_none ();
  else if (took_pages (data, count_made (data)))
    look_at_pages (data, CALLER ());
  return data;
}

/* The countdown only works if the next definition is known. */
EXPORT void *
malloc (size_t size)
{
  PreloadThread *thread = &preload_thread;
  uint64_t chunk, usable;
  int64_t live;
  void *data;

  if (UNLIKELY (!count_down (size)))
    return malloc_looked_at (size);
  look_at_break ();
  data = real.malloc (size);
  if (UNLIKELY (data == NULL || !has_chunks))
    return malloc_counted (data);
  chunk = ((const uint64_t *)data)[-1];
  usable = (chunk & ~7ull) - 8;
  live = thread->live + (int64_t)usable;
  if (UNLIKELY ((chunk & 2) != 0 || live > thread->upper))
    return malloc_counted (data);
  thread->live = live;
  if (live > thread->high)
    {
      thread->high = live;
      thread->high_made = thread->made;
      thread->high_gone = thread->gone;
    }
  if (took_pages (data, usable))
    return malloc_took_pages (data);
  return data;
}

static __attribute__ ((noinline)) void
free_looked_at (void *data)
{
  if (data == NULL || is_early (data) || !has_real ())
    return;
  say_freed (data);
  real.free (data);
}

/* A block of another allocator, one with pages of its own, or one whose end
 * brings the number of live bytes below the limit. */
static __attribute__ ((noinline)) void
free_counted (void *data)
{
  count_gone (data);
  look_at_large (data);
  real.free (data);
}

/* The rare cases are reached by jumps, so that the common path saves no
 * registers. */
EXPORT void
free (void *data)
{
  PreloadThread *thread = &preload_thread;
  uint64_t chunk;
  int64_t live;

  if (UNLIKELY (!preload_is_unsampled ((uint64_t)data)))
    {
      free_looked_at (data);
      return;
    }
  if (UNLIKELY (data == NULL || !has_chunks))
    {
      free_counted (data);
      return;
    }
  chunk = ((const uint64_t *)data)[-1];
  live = thread->live - (int64_t)((chunk & ~7ull) - 8);
  if (UNLIKELY ((chunk & 2) != 0 || live < thread->lower))
    {
      free_counted (data);
      return;
    }
  thread->gone++;
  thread->live = live;
  real.free (data);
}

EXPORT void *
calloc (size_t n, size_t size)
{
  void *data;
  size_t total;

  if (UNLIKELY (!has_real ()))
    return __builtin_mul_overflow (n, size, &total) ? NULL
                                                    : allocate_early (total);
  look_at_break ();
  data = real.calloc (n, size);
  SAY_ALLOCATED (FLAM_ALLOC_OP_CALLOC, data, n * size);
  return data;
}

/* A block that was allocated early moves to the real heap. */
static void *
move_early (void *data, size_t size)
{
  size_t old = ((size_t *)data)[-2];
  void *fresh = has_real () ? real.malloc (size) : allocate_early (size);

  if (fresh != NULL)
    memcpy (fresh, data, old < size ? old : size);
  return fresh;
}

/* Inlined, so that the caller's frame is that of the hook's caller. */
static inline __attribute__ ((always_inline)) void *
reallocate (void *data, size_t size)
{
  void *fresh;

  if (UNLIKELY (is_early (data)))
    return move_early (data, size);
  if (UNLIKELY (!has_real ()))
    return data == NULL ? allocate_early (size) : NULL;
  /* Recorded before the call: once it returns, another thread may get the old
   * address. If it fails, the old block still exists, and is recorded again. */
  if (data != NULL)
    say_freed (data);
  look_at_break ();
  fresh = real.realloc (data, size);
  if (fresh != NULL)
    SAY_ALLOCATED (FLAM_ALLOC_OP_REALLOC, fresh, size);
  else if (data != NULL && size != 0)
    SAY_ALLOCATED (FLAM_ALLOC_OP_REALLOC, data, malloc_usable_size (data));
  return fresh;
}

EXPORT void *
realloc (void *data, size_t size)
{
  return reallocate (data, size);
}

EXPORT void *
reallocarray (void *data, size_t n, size_t size)
{
  size_t total;

  if (__builtin_mul_overflow (n, size, &total))
    {
      errno = ENOMEM;
      return NULL;
    }
  return reallocate (data, total);
}

EXPORT int
posix_memalign (void **data, size_t alignment, size_t size)
{
  int result;

  if (!has_real ())
    return ENOMEM;
  look_at_break ();
  result = real.posix_memalign (data, alignment, size);
  if (result == 0)
    SAY_ALLOCATED (FLAM_ALLOC_OP_ALIGNED, *data, size);
  return result;
}

EXPORT void *
aligned_alloc (size_t alignment, size_t size)
{
  void *data;

  look_at_break ();
  data = has_real () ? real.aligned_alloc (alignment, size) : NULL;
  SAY_ALLOCATED (FLAM_ALLOC_OP_ALIGNED, data, size);
  return data;
}

EXPORT void *
memalign (size_t alignment, size_t size)
{
  void *data;

  look_at_break ();
  data = has_real () ? real.memalign (alignment, size) : NULL;
  SAY_ALLOCATED (FLAM_ALLOC_OP_ALIGNED, data, size);
  return data;
}

EXPORT void *
valloc (size_t size)
{
  void *data;

  look_at_break ();
  data = has_real () ? real.valloc (size) : NULL;
  SAY_ALLOCATED (FLAM_ALLOC_OP_ALIGNED, data, size);
  return data;
}

EXPORT void *
pvalloc (size_t size)
{
  void *data;

  look_at_break ();
  data = has_real () ? real.pvalloc (size) : NULL;
  SAY_ALLOCATED (FLAM_ALLOC_OP_ALIGNED, data, size);
  return data;
}

/* --- pages --------------------------------------------------------------- */

/* Mappings are few: all of them are recorded, sampled or not. */
static inline void
say_mapped (const void *data, uint64_t size, int flags, Caller caller)
{
  if (data != MAP_FAILED && (flags & MAP_ANONYMOUS) && enter ())
    say_block (FLAM_ALLOC_OP_MMAP, data, size, caller);
}

static inline void
say_unmapped (const void *data, uint64_t size)
{
  if (!enter ())
    return;
  preload_thread.busy = true;
  preload_put_block (FLAM_ALLOC_OP_UNMAP, (uint64_t)data, size, 0);
  preload_thread.busy = false;
}

EXPORT void *
mmap (void *address, size_t size, int protection, int flags, int fd, off_t at)
{
  void *data;

  if (!has_real ())
    {
      errno = ENOMEM;
      return MAP_FAILED;
    }
  /* The pages that it covers are unmapped. */
  if (flags & MAP_FIXED)
    say_unmapped (address, size);
  data = real.mmap (address, size, protection, flags, fd, at);
  say_mapped (data, size, flags, CALLER ());
  return data;
}

EXPORT void *
mmap64 (void *address, size_t size, int protection, int flags, int fd, off_t at)
    __attribute__ ((alias ("mmap")));

EXPORT int
munmap (void *address, size_t size)
{
  if (!has_real ())
    {
      errno = EINVAL;
      return -1;
    }
  say_unmapped (address, size);
  return real.munmap (address, size);
}

EXPORT void *
mremap (void *address, size_t old_size, size_t new_size, int flags, ...)
{
  va_list args;
  void *wanted;
  void *data;

  va_start (args, flags);
  wanted = va_arg (args, void *);
  va_end (args);
  if (!has_real ())
    {
      errno = ENOMEM;
      return MAP_FAILED;
    }
  say_unmapped (address, old_size);
  data = real.mremap (address, old_size, new_size, flags, wanted);
  if (data != MAP_FAILED)
    say_mapped (data, new_size, MAP_ANONYMOUS, CALLER ());
  else
    say_mapped (address, old_size, MAP_ANONYMOUS, CALLER ());
  return data;
}

static void
say_break (intptr_t change, Caller caller)
{
  if (change != 0 && enter ())
    say_block (FLAM_ALLOC_OP_BREAK, NULL, (uint64_t)change, caller);
}

EXPORT void *
sbrk (intptr_t change)
{
  void *before;

  if (!has_real ())
    {
      errno = ENOMEM;
      return (void *)-1;
    }
  before = real.sbrk (change);
  if (before != (void *)-1 && has_break ())
    say_break_moved (CALLER ());
  else if (before != (void *)-1)
    say_break (change, CALLER ());
  return before;
}

EXPORT int
brk (void *end)
{
  void *before;
  int result;

  if (!has_real ())
    {
      errno = ENOMEM;
      return -1;
    }
  before = real.sbrk (0);
  result = real.brk (end);
  if (result == 0 && has_break ())
    say_break_moved (CALLER ());
  else if (result == 0)
    say_break ((char *)end - (char *)before, CALLER ());
  return result;
}

EXPORT int
dlclose (void *handle)
{
  int result;

  preload_python_may_go ();
  result = has_real () ? real.dlclose (handle) : -1;
  if (enter ())
    {
      int saved = errno;

      preload_thread.busy = true;
      preload_modules_changed ();
      preload_thread.busy = false;
      errno = saved;
    }
  preload_python_may_stay ();
  return result;
}

/* If the name `malloc` refers to another definition, no events will follow: a
 * program with a malloc of its own (statically linked jemalloc) never calls the
 * hooks. This is tested by a call, since addresses of functions may be those of
 * a program's jump table. The hook answers without extending the program's
 * heap. */
static bool
malloc_is_ours (void)
{
  PreloadThread *thread = &preload_thread;
  PreloadThread before = *thread;
  void *block;
  bool ours;

  thread->busy = true;
  thread->until_sample = 0;
  is_probed = true;
  block = malloc (1);
  ours = is_early (block);
  if (!ours)
    free (block);
  is_probed = false;
  thread->made = before.made;
  thread->gone = before.gone;
  thread->until_sample = before.until_sample;
  thread->busy = before.busy;
  return ours;
}

/* --- a running program ------------------------------------------------------
 */

/* The code of a library can be called once the program has its address. Both
 * are jumps: the loader finds libraries relative to its caller. */
static void *
open_library (const char *file, int mode)
{
  preload_slots_expect ();
  return real.dlopen (file, mode);
}

static void *
find_in_library (void *handle, const char *name)
{
  preload_slots_refresh ();
  return real.dlsym (handle, name);
}

/* The functions of this library, not those to which the names refer. */
#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-attributes"
#endif
#define OWN(name)                                                              \
  static typeof (name) own_##name __attribute__ ((alias (#name)))
OWN (malloc);
OWN (free);
OWN (calloc);
OWN (realloc);
OWN (reallocarray);
OWN (posix_memalign);
OWN (aligned_alloc);
OWN (memalign);
OWN (valloc);
OWN (pvalloc);
OWN (mmap);
OWN (munmap);
OWN (mremap);
OWN (brk);
OWN (sbrk);
OWN (dlclose);
#ifndef __clang__
#pragma GCC diagnostic pop
#endif

#define HOOK(name)                                                             \
  {                                                                            \
#name, (void *)own_##name, (void **)(void *)&real.name                     \
  }

static const PreloadHook hooks[] = {
  HOOK (malloc),
  HOOK (free),
  HOOK (calloc),
  HOOK (realloc),
  HOOK (reallocarray),
  HOOK (posix_memalign),
  HOOK (aligned_alloc),
  HOOK (memalign),
  HOOK (valloc),
  HOOK (pvalloc),
  HOOK (mmap),
  { "mmap64", (void *)own_mmap, (void **)(void *)&real.mmap64 },
  HOOK (munmap),
  HOOK (mremap),
  HOOK (brk),
  HOOK (sbrk),
  HOOK (dlclose),
  { "dlopen", (void *)open_library, (void **)(void *)&real.dlopen },
  { "dlsym", (void *)find_in_library, (void **)(void *)&real.dlsym },
  { NULL, NULL, NULL },
};

/* Whether the code is the program's own, which then calls it directly. */
static bool
is_of_program (void *code)
{
  Dl_info info;

  return dladdr (code, &info) != 0 &&
         preload_is_in_program ((uint64_t)info.dli_fbase);
}

/* Called by the recorder, in one thread of the program while the others run.
 * FLAM_ALLOC_ATTACHED, or the reason why nothing is recorded. */
EXPORT int
flambeau_alloc_attach (const char *directory)
{
  resolve (preload_slots_find);
  started = true;
  if (real.malloc == NULL || real.free == NULL)
    return FLAM_ALLOC_REFUSED_MALLOC;
  if (is_of_program ((void *)real.malloc))
    return FLAM_ALLOC_REFUSED_OWN_MALLOC;
  flambeau_alloc_detach ();
  find_break (0);
  preload_visit_mappings (know_arena);
  if (!preload_begin_attached (directory))
    return FLAM_ALLOC_REFUSED_FILES;
  preload_filter_frees (preload_sample_bytes () != 0);
  preload_slots_set (hooks, true);
  return FLAM_ALLOC_ATTACHED;
}

/* Likewise. The library stays in memory, since the program may have kept
 * pointers to its functions, which do nothing more than call the real ones. */
EXPORT int
flambeau_alloc_detach (void)
{
  preload_slots_set (hooks, false);
  preload_end_attached ();
  return FLAM_ALLOC_ATTACHED;
}

/* The remaining counts of this thread and of those that end with it. */
__attribute__ ((destructor)) static void
end (void)
{
  if (started && atomic_load (&preload_epoch) != 0 && enter ())
    {
      preload_take_over_counts ();
      say_level ();
    }
}

__attribute__ ((constructor (101))) static void
begin (void)
{
  /* Else it was loaded into a running program. */
  if (started || !preload_is_requested ())
    return;
  resolve (find_next);
  start (!malloc_is_ours ());
}
