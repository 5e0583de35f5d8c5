/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The output: one ring per thread, in a file that the recorder maps as well.
 * Only the writer changes `head`, only the reader changes `tail`:
 *
 *        tail            head
 *   ──────┬───────────────┬────────────
 *         │ to be read    │ room
 *
 * While a ring is full, its thread waits for as long as the recorder's
 * heartbeat goes on; after that the target stops recording and runs on. */

#include "flam-preload-files.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAIT_NS 200000
/* Without a heartbeat for this long, the recorder is considered dead. */
#define DEAD_AFTER_NS 3000000000ll

TLS PreloadThread preload_thread;
_Atomic uint32_t preload_epoch;

static uint32_t last_epoch;
static pthread_key_t thread_key;
static bool has_thread_key;
static atomic_flag rings_lock = ATOMIC_FLAG_INIT;

long
preload_tid (void)
{
  return syscall (SYS_gettid);
}

/* --- threads ------------------------------------------------------------- */

static void
lock_rings (void)
{
  while (atomic_flag_test_and_set_explicit (&rings_lock, memory_order_acquire))
    preload_pause ();
}

static void
unlock_rings (void)
{
  atomic_flag_clear_explicit (&rings_lock, memory_order_release);
}

static FlamAllocRing *
ring_at (uint32_t i)
{
  return (FlamAllocRing *)((char *)preload_header + FLAM_ALLOC_RINGS_AT +
                           (uint64_t)i * FLAM_ALLOC_RING_BYTES);
}

/* A ring that is free, or a new one. */
static FlamAllocRing *
take_ring (void)
{
  FlamAllocRing *ring = NULL;
  uint32_t n;

  lock_rings ();
  n = preload_header->n_rings;
  for (uint32_t i = 0; i < n && ring == NULL; i++)
    if (__atomic_load_n (&ring_at (i)->state, __ATOMIC_ACQUIRE) ==
        FLAM_ALLOC_RING_FREE)
      ring = ring_at (i);
  if (ring == NULL && n < FLAM_ALLOC_MAX_RINGS &&
      preload_room (ring_at (n), sizeof *ring))
    {
      ring = ring_at (n);
      __atomic_store_n (&preload_header->n_rings, n + 1, __ATOMIC_RELEASE);
    }
  if (ring != NULL)
    {
      ring->tid = preload_tid ();
      syscall (SYS_prctl, PR_GET_NAME, ring->name);
      __atomic_store_n (&ring->state, FLAM_ALLOC_RING_USED, __ATOMIC_RELEASE);
    }
  unlock_rings ();
  return ring;
}

static PreloadStack *spare_stacks[16];

static PreloadStack *
take_stack (void)
{
  PreloadStack *stack = NULL;

  lock_rings ();
  for (unsigned i = 0; i < 16 && stack == NULL; i++)
    {
      stack = spare_stacks[i];
      spare_stacks[i] = NULL;
    }
  unlock_rings ();
  return stack ? stack : preload_stack_new ();
}

static void
give_stack_back (PreloadStack *stack)
{
  lock_rings ();
  for (unsigned i = 0; i < 16; i++)
    if (spare_stacks[i] == NULL)
      {
        spare_stacks[i] = stack;
        stack = NULL;
        break;
      }
  unlock_rings ();
  if (stack != NULL)
    preload_stack_free (stack);
}

/* The threads that a recording has met: their counts are reset before the
 * next one. */
static PreloadThread *threads;

static void
list_thread (PreloadThread *thread)
{
  lock_rings ();
  if (!thread->listed)
    {
      thread->listed = true;
      thread->previous = NULL;
      thread->next = threads;
      if (threads != NULL)
        threads->previous = thread;
      threads = thread;
    }
  unlock_rings ();
}

static void
unlist_thread (PreloadThread *thread)
{
  lock_rings ();
  if (thread->listed)
    {
      if (thread->next != NULL)
        thread->next->previous = thread->previous;
      if (thread->previous != NULL)
        thread->previous->next = thread->next;
      else
        threads = thread->next;
      thread->listed = false;
    }
  unlock_rings ();
}

/* Runs among the thread's own destructors, last if libc allows it. Frees of the
 * thread after this are not recorded. */
static void
thread_ends (void *data)
{
  PreloadThread *thread = &preload_thread;
  uintptr_t round = (uintptr_t)data;

  if (round < 3)
    {
      pthread_setspecific (thread_key, (void *)(round + 1));
      return;
    }
  if (thread->epoch == atomic_load (&preload_epoch) && thread->ring != NULL &&
      preload_sample_bytes () != 0 && !preload_control->stopped)
    preload_put_level ();
  thread->dead = true;
  thread->unheard = false;
  if (thread->epoch == atomic_load (&preload_epoch) && thread->ring != NULL)
    {
      __atomic_store_n (
          &thread->ring->state, FLAM_ALLOC_RING_DONE, __ATOMIC_RELEASE);
      give_stack_back (thread->stack);
    }
  thread->ring = NULL;
  thread->stack = NULL;
  unlist_thread (thread);
}

/* Makes very different values of similar seeds: splitmix64's last steps. */
static uint64_t
random_seed (const PreloadThread *thread)
{
  uint64_t seed = preload_control->seed;
  uint64_t x = seed != 0
                   ? seed + (uint64_t)(uintptr_t)thread->ring -
                         (uint64_t)(uintptr_t)preload_header
                   : preload_now_ticks () ^ (uint64_t)(uintptr_t)thread << 20;

  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return (x ^ x >> 31) | 1;
}

/* `live` is written when it has changed by this much. */
#define STEP_LEAST 2048
#define STEP_MOST (64 << 10)

static void
forget_counts (PreloadThread *thread)
{
  thread->before = thread->made;
  thread->live = 0;
  thread->gone = 0;
  preload_level_written (STEP_LEAST);
  thread->allocated = 0;
  thread->drawn = thread->until_sample;
  memset (&thread->written, 0, sizeof thread->written);
  thread->written.made = thread->made;
}

static bool
begin_thread (uint32_t epoch)
{
  PreloadThread *thread = &preload_thread;
  bool forked = thread->epoch != 0;

  thread->busy = true;
  thread->epoch = epoch;
  thread->ring = take_ring ();
  thread->room = NULL;
  if (thread->ring == NULL)
    thread->stack = NULL;
  else if (thread->stack == NULL)
    thread->stack = take_stack ();
  thread->random = random_seed (thread);
  thread->until_sample = 0;
  thread->counting = false;
  thread->drawn = 0;
  if (forked)
    forget_counts (thread);
  thread->dead = thread->unheard = thread->stack == NULL;
  thread->busy = false;
  /* May allocate; that is recorded like any allocation of the target. */
  if (has_thread_key && pthread_setspecific (thread_key, (void *)1) == 0)
    list_thread (thread);
  return !thread->dead;
}

/* --- forks --------------------------------------------------------------- */

/* The code of a forked child is at the same addresses, so its rows are
 * copied. */
static void
copy_modules (const FlamAllocHeader *parent)
{
  if (!preload_room ((char *)preload_header + FLAM_ALLOC_MODULES_AT,
                     parent->n_modules * sizeof (FlamAllocModule)) ||
      !preload_room ((char *)preload_header + FLAM_ALLOC_TEXT_AT,
                     parent->text_used))
    return;
  memcpy ((char *)preload_header + FLAM_ALLOC_MODULES_AT,
          (const char *)parent + FLAM_ALLOC_MODULES_AT,
          parent->n_modules * sizeof (FlamAllocModule));
  memcpy ((char *)preload_header + FLAM_ALLOC_TEXT_AT,
          (const char *)parent + FLAM_ALLOC_TEXT_AT,
          parent->text_used);
  preload_header->n_modules = parent->n_modules;
  preload_header->text_used = parent->text_used;
}

/* Only the thread that called fork() is in the child. */
static void
forget_parent (void)
{
  atomic_flag_clear (&rings_lock);
  memset (spare_stacks, 0, sizeof spare_stacks);
  threads = NULL;
  preload_thread.listed = false;
}

/* The start of a forked child: the parent's rings are not used any more. */
static bool
begin_process (void)
{
  FlamAllocHeader *parent = preload_header;

  preload_thread.busy = true;
  *preload_forked = 1;
  forget_parent ();
  atomic_store (&preload_epoch, 0);
  if (!preload_control->follow || preload_control->stopped ||
      !preload_map_process (NULL))
    {
      preload_thread.busy = false;
      return false;
    }
  copy_modules (parent);
  preload_header->forked = 1;
  syscall (SYS_munmap, parent, FLAM_ALLOC_FILE_SIZE);
  preload_stacks_reset ();
  atomic_fetch_add (&preload_code_epoch, 1);
  preload_header->ready = 1;
  preload_thread.dead = false;
  preload_thread.busy = false;
  atomic_store (&preload_epoch, ++last_epoch);
  return true;
}

bool
preload_enter_slow (void)
{
  PreloadThread *thread = &preload_thread;
  int saved = errno;
  bool ready = true;

  if (*preload_forked == 0)
    ready = begin_process ();
  errno = saved;
  if (!ready || thread->busy || atomic_load (&preload_epoch) == 0)
    return false;
  if (preload_control->stopped)
    {
      atomic_store (&preload_epoch, 0);
      return false;
    }
  if (thread->epoch != atomic_load (&preload_epoch))
    return begin_thread (atomic_load (&preload_epoch));
  return !thread->dead;
}

void
preload_not_heard (void)
{
  const PreloadThread *thread = &preload_thread;

  if (thread->unheard && !thread->busy &&
      thread->epoch == atomic_load (&preload_epoch) &&
      !preload_control->stopped)
    __atomic_add_fetch (&preload_header->lost, 1, __ATOMIC_RELAXED);
}

void
preload_start (bool bypassed)
{
  bool mapped;

  preload_thread.busy = true;
  mapped = preload_map_files (preload_take_directory ());
  if (mapped)
    {
      preload_header->bypassed = bypassed;
      has_thread_key = pthread_key_create (&thread_key, thread_ends) == 0;
      if (!bypassed)
        preload_modules_changed ();
      preload_header->ready = 1;
    }
  preload_thread.busy = false;
  preload_thread.until_sample = 0;
  forget_counts (&preload_thread);
  if (mapped && !bypassed)
    atomic_store (&preload_epoch, ++last_epoch);
}

/* --- a running program ------------------------------------------------------
 */

static void
reset_threads (void)
{
  lock_rings ();
  for (PreloadThread *thread = threads; thread; thread = thread->next)
    thread->until_sample = thread->drawn = 0;
  unlock_rings ();
}

bool
preload_begin_attached (const char *directory)
{
  bool mapped;

  preload_thread.busy = true;
  if (preload_forked != NULL && *preload_forked == 0)
    forget_parent ();
  mapped = preload_map_files (directory);
  if (mapped)
    {
      if (!has_thread_key)
        has_thread_key = pthread_key_create (&thread_key, thread_ends) == 0;
      preload_stacks_reset ();
      preload_modules_reset ();
      preload_modules_changed ();
      reset_threads ();
      preload_header->ready = 1;
      atomic_store (&preload_epoch, ++last_epoch);
    }
  else
    preload_leave_files ();
  preload_thread.busy = false;
  return mapped;
}

void
preload_end_attached (void)
{
  atomic_store (&preload_epoch, 0);
  preload_leave_files ();
}

/* --- records ------------------------------------------------------------- */

static void
ring_doorbell (void)
{
  __atomic_add_fetch (&preload_control->doorbell, 1, __ATOMIC_RELEASE);
  syscall (SYS_futex, &preload_control->doorbell, FUTEX_WAKE, 1, 0, 0, 0);
}

/* FALSE if the reader has ended. */
static bool
wait_for_room (FlamAllocRing *ring, uint64_t head, uint64_t need)
{
  struct timespec pause = { 0, WAIT_NS };
  uint64_t beat = preload_control->heartbeat;
  int64_t silent_since = preload_now_ns ();

  while (head + need - __atomic_load_n (&ring->tail, __ATOMIC_ACQUIRE) >
         FLAM_ALLOC_RING_DATA)
    {
      if (preload_control->stopped)
        return false;
      if (beat != preload_control->heartbeat)
        {
          beat = preload_control->heartbeat;
          silent_since = preload_now_ns ();
        }
      if (preload_now_ns () - silent_since > DEAD_AFTER_NS)
        {
          preload_control->stopped = 1;
          return false;
        }
      ring_doorbell ();
      syscall (SYS_nanosleep, &pause, NULL);
    }
  return true;
}

/* At the first use of a ring's memory: allocates a few pages at a time. */
static bool
make_room (const uint8_t *data, unsigned size)
{
  if (!preload_room (data, size))
    return false;
  preload_thread.room = preload_room_end (data + size - 1);
  return true;
}

static inline void *
reserve (unsigned size)
{
  FlamAllocRing *ring = preload_thread.ring;
  uint64_t head = ring->head;
  uint64_t at = head % FLAM_ALLOC_RING_DATA;
  uint64_t pad =
      at + size > FLAM_ALLOC_RING_DATA ? FLAM_ALLOC_RING_DATA - at : 0;
  uint64_t used = head - __atomic_load_n (&ring->tail, __ATOMIC_ACQUIRE);

  if (UNLIKELY (used + pad + size > FLAM_ALLOC_RING_DATA &&
                !wait_for_room (ring, head, pad + size)) ||
      UNLIKELY (ring->data + at + size > preload_thread.room &&
                !make_room (ring->data + at, pad > 0 ? pad : size)))
    {
      __atomic_add_fetch (&preload_header->lost, 1, __ATOMIC_RELAXED);
      return NULL;
    }
  if (pad > 0)
    {
      uint64_t word = FLAM_ALLOC_OP_PAD;

      memcpy (ring->data + at, &word, sizeof word);
      __atomic_store_n (&ring->head, head + pad, __ATOMIC_RELEASE);
      at = 0;
    }
  return ring->data + at;
}

static inline void
publish (unsigned size)
{
  FlamAllocRing *ring = preload_thread.ring;
  uint64_t head = ring->head + size;
  uint64_t half = FLAM_ALLOC_RING_DATA / 2;

  __atomic_store_n (&ring->head, head, __ATOMIC_RELEASE);
  if (UNLIKELY ((head ^ (head - size)) & half))
    ring_doorbell ();
}

void
preload_put_free (uint64_t address)
{
  FlamAllocFree *record = reserve (sizeof *record);

  if (record == NULL)
    return;
  record->stamp = FLAM_ALLOC_STAMP (preload_now_ticks (), FLAM_ALLOC_OP_FREE);
  record->address = address;
  if (preload_control->sample_bytes != 0)
    record->address |= (uint64_t)preload_thread.made << 48;
  publish (sizeof *record);
}

void
preload_level_written (int64_t step)
{
  PreloadThread *thread = &preload_thread;

  thread->high = thread->live;
  thread->high_made = thread->made;
  thread->high_gone = thread->gone;
  thread->upper = thread->live + step;
  thread->lower = thread->live - step;
}

static uint64_t
allocated_by (const PreloadThread *thread)
{
  return thread->allocated + (uint64_t)(thread->drawn - thread->until_sample);
}

void
preload_take_over_counts (void)
{
  PreloadThread *thread = &preload_thread;

  lock_rings ();
  for (const PreloadThread *other = threads; other; other = other->next)
    if (other != thread && other->epoch == thread->epoch && !other->dead)
      {
        thread->live += other->live - other->written.live;
        thread->allocated += allocated_by (other) - other->written.allocated;
        thread->made += other->made - other->written.made;
        thread->gone += other->gone - other->written.gone;
      }
  unlock_rings ();
  if (thread->high < thread->live)
    {
      thread->high = thread->live;
      thread->high_made = thread->made;
      thread->high_gone = thread->gone;
    }
}

void
preload_put_level (void)
{
  PreloadThread *thread = &preload_thread;
  FlamAllocLevel *record = reserve (sizeof *record);
  int64_t high = thread->high - thread->live;
  uint64_t allocated = allocated_by (thread);
  uint64_t step = allocated / 128;

  if (record != NULL)
    {
      record->stamp =
          FLAM_ALLOC_STAMP (preload_now_ticks (), FLAM_ALLOC_OP_LEVEL);
      record->live = thread->live;
      record->allocated = allocated;
      record->high = high < 0            ? 0
                     : high > UINT32_MAX ? UINT32_MAX
                                         : (uint32_t)high;
      record->made = thread->made - thread->before;
      record->gone = thread->gone;
      record->high_made = thread->high_made - thread->before;
      record->high_gone = thread->high_gone;
      record->unused = 0;
      publish (sizeof *record);
      thread->written.live = record->live;
      thread->written.allocated = allocated;
      thread->written.made = thread->made;
      thread->written.gone = thread->gone;
    }
  preload_level_written (step < STEP_LEAST  ? STEP_LEAST
                         : step > STEP_MOST ? STEP_MOST
                                            : (int64_t)step);
}

void
preload_put_block (unsigned op, uint64_t address, uint64_t size, uint32_t node)
{
  FlamAllocBlock *record = reserve (sizeof *record);

  if (record == NULL)
    return;
  record->stamp = FLAM_ALLOC_STAMP (preload_now_ticks (), op);
  record->address = address;
  record->size = size;
  record->node = node;
  record->made = preload_thread.made;
  publish (sizeof *record);
}
