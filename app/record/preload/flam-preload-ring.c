/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The way out: one ring a thread, in a file that the recorder maps too. The
 * writer owns `head`, the reader `tail`:
 *
 *        tail            head
 *   ──────┬───────────────┬────────────
 *         │ to be read    │ room
 *
 * A full ring is waited for as long as the recorder's heart beats; when it has
 * died the target goes silent and runs on. */

#include "flam-preload-python.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define PATH_SIZE 4096
#define WAIT_NS 200000
/* A recorder that gives no sign for so long is dead. */
#define DEAD_AFTER_NS 3000000000ll

TLS PreloadThread preload_thread;
_Atomic uint32_t preload_epoch;

static char directory[PATH_SIZE];
uint32_t *preload_forked;
static uint32_t last_epoch;
static pthread_key_t thread_key;
static bool has_thread_key;
static atomic_flag rings_lock = ATOMIC_FLAG_INIT;

static int64_t
now_ns (void)
{
  struct timespec now;

  clock_gettime (CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static inline uint64_t
now_ticks (void)
{
  return LIKELY (preload_header->clock == FLAM_ALLOC_CLOCK_TSC)
             ? __rdtsc ()
             : (uint64_t)now_ns ();
}

long
preload_tid (void)
{
  return syscall (SYS_gettid);
}

/* --- files --------------------------------------------------------------- */

/* The offset is a long: the seventh argument lies on the stack, where the
 * upper half of an int may be anything. */
static void *
map_file (int fd, size_t size)
{
  long at = syscall (
      SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0l);

  return at == -1 ? NULL : (void *)at;
}

static char *
append (char *to, const char *text)
{
  while (*text)
    *to++ = *text++;
  *to = 0;
  return to;
}

static char *
append_number (char *to, unsigned long number)
{
  char digits[24];
  unsigned n = 0;

  do
    digits[n++] = '0' + number % 10;
  while (number /= 10);
  while (n > 0)
    *to++ = digits[--n];
  *to = 0;
  return to;
}

static bool
map_control (void)
{
  char path[PATH_SIZE + 32];
  long fd;

  append (append (path, directory), "/control");
  fd = syscall (SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
  if (fd < 0)
    return false;
  preload_control = map_file (fd, 4096);
  syscall (SYS_close, fd);
  return preload_control != NULL &&
         preload_control->magic == FLAM_ALLOC_MAGIC &&
         preload_control->version == FLAM_ALLOC_VERSION;
}

/* DIR/PID.N, N the first that is not there. */
static long
create_file (void)
{
  char path[PATH_SIZE + 64];
  char *number = append (append_number (append (append (path, directory), "/"),
                                        syscall (SYS_getpid)),
                         ".");
  long fd = -1;

  for (unsigned n = 0; n < 100000; n++)
    {
      append_number (number, n);
      fd = syscall (SYS_openat,
                    AT_FDCWD,
                    path,
                    O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                    0600);
      if (fd != -1 || errno != EEXIST)
        break;
    }
  return fd;
}

/* Invariant and the same on all processors, by the kernel's own check. */
static bool
tsc_is_usable (void)
{
  char name[16] = "";
  long fd = syscall (
      SYS_openat,
      AT_FDCWD,
      "/sys/devices/system/clocksource/clocksource0/current_clocksource",
      O_RDONLY | O_CLOEXEC,
      0);
  unsigned a, b, c, d;

  if (fd >= 0)
    {
      syscall (SYS_read, fd, name, sizeof name - 1);
      syscall (SYS_close, fd);
    }
  if (strncmp (name, "tsc", 3) == 0)
    return true;
  /* A paravirtual clock is made of the counter; the processor says whether
   * that one is invariant. */
  __asm__("cpuid"
          : "=a"(a), "=b"(b), "=c"(c), "=d"(d)
          : "a"(0x80000007), "c"(0));
  return strncmp (name, "kvm-clock", 9) == 0 && (d & 1 << 8) != 0;
}

/* A limit on file sizes would be answered with a deadly signal. */
static bool
may_be_so_large (void)
{
  struct rlimit limit;

  return getrlimit (RLIMIT_FSIZE, &limit) == 0 &&
         limit.rlim_cur >= FLAM_ALLOC_FILE_SIZE;
}

static bool
map_process (void)
{
  long fd = may_be_so_large () ? create_file () : -1;
  FlamAllocHeader *before = preload_header;
  FlamAllocHeader *header = NULL;

  if (fd < 0)
    return false;
  if (syscall (SYS_ftruncate, fd, FLAM_ALLOC_FILE_SIZE) == 0)
    header = map_file (fd, FLAM_ALLOC_FILE_SIZE);
  syscall (SYS_close, fd);
  if (header == NULL)
    return false;
  preload_header = header;
  preload_room_reset ();
  if (!preload_room (header, sizeof *header))
    {
      preload_header = before;
      syscall (SYS_munmap, header, FLAM_ALLOC_FILE_SIZE);
      return false;
    }
  header->version = FLAM_ALLOC_VERSION;
  header->pid = syscall (SYS_getpid);
  header->parent = syscall (SYS_getppid);
  header->clock = tsc_is_usable () ? FLAM_ALLOC_CLOCK_TSC : FLAM_ALLOC_CLOCK_NS;
  header->start_ns = now_ns ();
  header->start_ticks = now_ticks ();
  syscall (SYS_prctl, PR_GET_NAME, header->name);
  header->n_modules = 1; /* 0: unknown code */
  header->text_used = 1;
  header->n_nodes = 1;
  header->magic = FLAM_ALLOC_MAGIC;
  return true;
}

/* --- threads ------------------------------------------------------------- */

static void
lock_rings (void)
{
  while (atomic_flag_test_and_set_explicit (&rings_lock, memory_order_acquire))
    __builtin_ia32_pause ();
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

/* A ring without an owner, or one more. */
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

/* Runs among the thread's own destructors, last if libc lets it. What the
 * thread still frees after this is not seen. */
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
  thread->dead = true;
  if (thread->epoch == atomic_load (&preload_epoch) && thread->ring != NULL)
    {
      __atomic_store_n (
          &thread->ring->state, FLAM_ALLOC_RING_DONE, __ATOMIC_RELEASE);
      give_stack_back (thread->stack);
    }
  thread->ring = NULL;
  thread->stack = NULL;
}

/* Neighbouring seeds lead far apart: splitmix64's last steps. */
static uint64_t
random_seed (const PreloadThread *thread)
{
  uint64_t seed = preload_control->seed;
  uint64_t x = seed != 0 ? seed + (uint64_t)(uintptr_t)thread->ring -
                               (uint64_t)(uintptr_t)preload_header
                         : now_ticks () ^ (uint64_t)(uintptr_t)thread << 20;

  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ x >> 27) * 0x94d049bb133111ebull;
  return (x ^ x >> 31) | 1;
}

static bool
begin_thread (uint32_t epoch)
{
  PreloadThread *thread = &preload_thread;

  thread->busy = true;
  thread->epoch = epoch;
  thread->ring = take_ring ();
  thread->room = NULL;
  thread->stack = thread->ring ? take_stack () : NULL;
  thread->random = random_seed (thread);
  thread->until_sample = 0;
  thread->counting = false;
  thread->dead = thread->stack == NULL;
  if (thread->dead)
    __atomic_add_fetch (&preload_header->lost, 1, __ATOMIC_RELAXED);
  thread->busy = false;
  /* May allocate, which is the target's business like any other. */
  if (has_thread_key)
    pthread_setspecific (thread_key, (void *)1);
  return !thread->dead;
}

/* --- forks --------------------------------------------------------------- */

/* The code is where it was in the parent: so are the rows that say so. */
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

/* The child's own beginning: the parent's rings are not touched any more. */
static bool
begin_process (void)
{
  FlamAllocHeader *parent = preload_header;

  preload_thread.busy = true;
  *preload_forked = 1;
  atomic_flag_clear (&rings_lock);
  memset (spare_stacks, 0, sizeof spare_stacks);
  atomic_store (&preload_epoch, 0);
  if (!preload_control->follow || preload_control->stopped || !map_process ())
    {
      preload_thread.busy = false;
      return false;
    }
  copy_modules (parent);
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

/* The variable and the one before it, LD_PRELOAD, are ours: the program and
 * those that it starts do not find them. */
static const char *
take_directory (void)
{
  size_t length = strlen (FLAM_ALLOC_ENV_DIR "=");
  char **at = environ;
  const char *found;

  while (
      at[0] != NULL &&
      (at[1] == NULL || strncmp (at[1], FLAM_ALLOC_ENV_DIR "=", length) != 0))
    at++;
  if (at[0] == NULL)
    return NULL;
  found = at[1] + length;
  do
    at[0] = at[2];
  while (*at++ != NULL);
  return found;
}

static bool
map_all (void)
{
  const char *path = take_directory ();

  if (path == NULL || strlen (path) >= PATH_SIZE - 1)
    return false;
  append (directory, path);
  preload_forked = preload_pages (4096);
  if (preload_forked == NULL ||
      syscall (SYS_madvise, preload_forked, 4096, MADV_WIPEONFORK) != 0)
    return false;
  *preload_forked = 1;
  return map_control () && !preload_control->stopped && map_process ();
}

void
preload_start (bool bypassed)
{
  bool mapped;

  preload_thread.busy = true;
  mapped = map_all ();
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
  if (mapped && !bypassed)
    atomic_store (&preload_epoch, ++last_epoch);
}

/* --- records ------------------------------------------------------------- */

static void
ring_doorbell (void)
{
  __atomic_add_fetch (&preload_control->doorbell, 1, __ATOMIC_RELEASE);
  syscall (SYS_futex, &preload_control->doorbell, FUTEX_WAKE, 1, 0, 0, 0);
}

/* FALSE when the reader is gone. */
static bool
wait_for_room (FlamAllocRing *ring, uint64_t head, uint64_t need)
{
  struct timespec pause = { 0, WAIT_NS };
  uint64_t beat = preload_control->heartbeat;
  int64_t silent_since = now_ns ();

  while (head + need - __atomic_load_n (&ring->tail, __ATOMIC_ACQUIRE) >
         FLAM_ALLOC_RING_DATA)
    {
      if (preload_control->stopped)
        return false;
      if (beat != preload_control->heartbeat)
        {
          beat = preload_control->heartbeat;
          silent_since = now_ns ();
        }
      if (now_ns () - silent_since > DEAD_AFTER_NS)
        {
          preload_control->stopped = 1;
          return false;
        }
      ring_doorbell ();
      syscall (SYS_nanosleep, &pause, NULL);
    }
  return true;
}

/* On the first way through a ring, or a thread's, a few pages at a time. */
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
  record->stamp = FLAM_ALLOC_STAMP (now_ticks (), FLAM_ALLOC_OP_FREE);
  record->address = address;
  if (preload_control->sample_bytes != 0)
    record->address |= (uint64_t)preload_thread.made << 48;
  publish (sizeof *record);
}

void
preload_put_block (unsigned op, uint64_t address, uint64_t size, uint32_t node)
{
  FlamAllocBlock *record = reserve (sizeof *record);

  if (record == NULL)
    return;
  record->stamp = FLAM_ALLOC_STAMP (now_ticks (), op);
  record->address = address;
  record->size = size;
  record->node = node;
  record->made = preload_thread.made;
  publish (sizeof *record);
}
