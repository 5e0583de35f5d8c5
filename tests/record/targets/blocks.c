/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Allocations whose sums are known by construction:
 *
 *   leak_small    1000 x 24 bytes, never freed
 *   leak_thread   in each of 4 threads 10 x 4096 bytes, never freed
 *   churn         100 bytes, freed at once
 *   hold_peak     512 x 64 KiB, held together, then freed
 *   grow          one block, realloc'ed from 16 bytes to 1 MiB, freed
 *   map_pages     8 x 1 MiB of pages, half of each given back at a time
 *   abyss         10 x 64 bytes, 100,000 frames deep
 *   unheard       100 x 64 bytes, freed at once, in a thread without room for
 *                 a ring
 */

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__ ((noinline))
#else
#define NOINLINE __attribute__ ((noinline, noclone))
#endif

static void *volatile sink;
static long scale = 1;
static volatile size_t huge = (size_t)-1;

/* A compiler may remove an allocation whose result is unused. */
static void *
seen (void *block)
{
  sink = block;
  return block;
}

NOINLINE static void
leak_small (void)
{
  for (int i = 0; i < 1000; i++)
    sink = malloc (24);
}

NOINLINE static void
churn (long n)
{
  for (long i = 0; i < n; i++)
    {
      void *volatile block = malloc (100);

      free (block);
    }
}

NOINLINE static void
hold_peak (void)
{
  static void *blocks[512];

  for (int i = 0; i < 512; i++)
    sink = blocks[i] = calloc (1, 65536);
  usleep (20000);
  for (int i = 0; i < 512; i++)
    free (blocks[i]);
}

NOINLINE static void
grow (void)
{
  void *block = malloc (16);

  for (size_t size = 32; size <= 1 << 20; size *= 2)
    sink = block = realloc (block, size);
  free (block);
}

NOINLINE static void
map_pages (void)
{
  for (int i = 0; i < 8; i++)
    {
      char *pages = mmap (NULL,
                          1 << 20,
                          PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS,
                          -1,
                          0);

      munmap (pages + (1 << 19), 1 << 19);
    }
}

NOINLINE static void
leak_thread (void)
{
  for (int i = 0; i < 10; i++)
    sink = malloc (4096);
}

static void *
worker (void *data)
{
  leak_thread ();
  churn (5000 * scale);
  return NULL;
}

static void
run_threads (int n, void *(*body) (void *))
{
  pthread_t threads[64];

  for (int i = 0; i < n; i++)
    pthread_create (&threads[i], NULL, body, NULL);
  for (int i = 0; i < n; i++)
    pthread_join (threads[i], NULL);
}

/* 4,096 blocks of 1,000 bytes are live; they are replaced one by one. */
NOINLINE static void
replaced (long n)
{
  static void *blocks[4096];
  unsigned random = 1;

  for (int i = 0; i < 4096; i++)
    blocks[i] = malloc (1000);
  for (long i = 0; i < n; i++)
    {
      random = random * 1664525 + 1013904223;
      free (blocks[random >> 20]);
      blocks[random >> 20] = malloc (1000);
    }
}

/* After 60 blocks of 300,000 bytes have been freed, one block is larger than
 * all of them together. */
NOINLINE static void
one_large (void)
{
  void *blocks[60];

  for (int i = 0; i < 60; i++)
    blocks[i] = seen (malloc (300000));
  for (int i = 0; i < 60; i++)
    free (blocks[i]);
  free (seen (malloc (30000000)));
}

/* 20 MB by brk, and 10 blocks with pages of their own. */
NOINLINE static void
grow_heap (void)
{
  for (int i = 0; i < 20000; i++)
    sink = malloc (1000);
  for (int i = 0; i < 10; i++)
    sink = malloc (1 << 20);
}

/* Extends the heap, and releases its end as often. A part of an aligned block
 * is released at once, so that it need not be at the heap's end. */
NOINLINE static void
trim_heap (void)
{
  mallopt (M_MMAP_THRESHOLD, 4 << 20);
  mallopt (M_TRIM_THRESHOLD, 128 << 10);
  sink = malloc (100);
  for (int i = 0; i < 20; i++)
    free (seen (malloc (2000000)));
  for (int i = 0; i < 20; i++)
    sink = aligned_alloc (1 << 20, 100000);
}

/* 45 blocks of 10,000 bytes, five of them only for a moment; much later more.
 */
NOINLINE static void
quick (void)
{
  void *blocks[45];

  for (int i = 0; i < 45; i++)
    sink = blocks[i] = malloc (10000);
  for (int i = 0; i < 45; i++)
    free (blocks[i]);
  usleep (200000);
  sink = malloc (1000000);
}

static void
known (void)
{
  leak_small ();
  churn (20000 * scale);
  hold_peak ();
  grow ();
  map_pages ();
  run_threads (4, worker);
}

static void *
short_life (void *data)
{
  free (seen (malloc (64)));
  /* No tail call: the test looks for this frame. */
  sink = malloc (32);
  return NULL;
}

static void
many_threads (void)
{
  for (int i = 0; i < 3000 / 50; i++)
    run_threads (50, short_life);
}

static void
many_forks (void)
{
  for (int i = 0; i < 500; i++)
    {
      int status;
      pid_t child = fork ();

      if (child == 0)
        {
          sink = malloc (128);
          free (seen (malloc (64)));
          _exit (sink ? 7 : 1);
        }
      if (waitpid (child, &status, 0) != child || WEXITSTATUS (status) != 7)
        exit (99);
    }
}

static void
handler (int number)
{
  sink = malloc (48);
  free (seen (malloc (16)));
}

static void
in_handlers (void)
{
  signal (SIGUSR1, handler);
  for (int i = 0; i < 1000; i++)
    raise (SIGUSR1);
}

static void
odd_calls (void)
{
  void *block = NULL;

  if (posix_memalign (&block, 64, 1000) != 0 || ((size_t)block & 63) != 0)
    exit (98);
  free (block);
  block = seen (aligned_alloc (128, 1280));
  if (malloc_usable_size (block) < 1280)
    exit (97);
  free (block);
  free (seen (memalign (32, 320)));
  free (seen (valloc (100)));
  free (seen (realloc (NULL, 0)));
  free (NULL);
  free (seen (reallocarray (NULL, 10, 10)));
  if (seen (reallocarray (NULL, huge, 16)) != NULL)
    exit (96);
  if (seen (malloc (huge / 2)) != NULL)
    exit (95);
  /* Frees the loader's record of its last error. */
  if (dlopen ("/no/such/library.so", RTLD_NOW) != NULL || dlerror () == NULL)
    exit (94);
}

/* Calls from the same place of the program at the same stack address, with
 * different paths: they differ only in the caller of `middle`, or only in where
 * the frame of `reaching`, known by rbp alone, begins. */

/* No tail call, and no two functions with the same body. */
#define DONE() (line = __LINE__)

static volatile int line;

NOINLINE static void
inner (void)
{
  sink = malloc (8);
}

NOINLINE static void
middle (void)
{
  inner ();
  DONE ();
}

NOINLINE static void
left (void)
{
  middle ();
  DONE ();
}

NOINLINE static void
right (void)
{
  middle ();
  DONE ();
}

/* A frame of whatever size reaches down to `floor`. */
NOINLINE static void
reaching (const char *floor)
{
  volatile char *room =
      __builtin_alloca ((const char *)__builtin_frame_address (0) - floor);

  *room = 1;
  middle ();
  DONE ();
}

NOINLINE static void
from_high (const char *floor)
{
  reaching (floor);
  DONE ();
}

NOINLINE static void
from_low (const char *floor)
{
  char room[512];

  __asm__ volatile("" : : "r"(room) : "memory");
  reaching (floor);
  DONE ();
}

static void
ways (void)
{
  const char *here = __builtin_frame_address (0);
  const char *floor = here - (4096 + ((size_t)here & 15));

  for (int i = 0; i < 1000; i++)
    {
      left ();
      right ();
      from_high (floor);
      from_low (floor);
    }
}

NOINLINE static int
down (int n)
{
  volatile int below;

  if (n == 0)
    sink = malloc (64);
  below = n > 0 ? down (n - 1) : 0;
  return below + 1;
}

static void *
abyss_body (void *data)
{
  for (int i = 0; i < 10; i++)
    down (100000);
  return data;
}

static void
abyss (void)
{
  pthread_attr_t attr;
  pthread_t thread;

  pthread_attr_init (&attr);
  pthread_attr_setstacksize (&attr, 64 << 20);
  if (pthread_create (&thread, &attr, abyss_body, NULL) != 0)
    exit (93);
  pthread_join (thread, NULL);
}

/* Waits until no memory is left to map, and uses the memory of the heap. */
static void *
unheard_body (void *data)
{
  while (!__atomic_load_n ((int *)data, __ATOMIC_ACQUIRE))
    usleep (1000);
  for (int i = 0; i < 100; i++)
    free (seen (malloc (64)));
  return NULL;
}

static void
unheard (void)
{
  struct rlimit none = { 0, RLIM_INFINITY };
  pthread_t thread;
  int go = 0;

  mallopt (M_ARENA_MAX, 1);
  free (seen (malloc (100000)));
  if (pthread_create (&thread, NULL, unheard_body, &go) != 0)
    exit (93);
  setrlimit (RLIMIT_AS, &none);
  __atomic_store_n (&go, 1, __ATOMIC_RELEASE);
  pthread_join (thread, NULL);
}

static void
for_ever (void)
{
  puts ("running");
  fflush (stdout);
  for (;;)
    {
      churn (1000);
      usleep (1000);
    }
}

int
main (int argc, char **argv)
{
  const char *what = argc > 1 ? argv[1] : "known";

  if (argc > 2)
    scale = atol (argv[2]);
  if (strcmp (what, "known") == 0)
    known ();
  else if (strcmp (what, "threads") == 0)
    many_threads ();
  else if (strcmp (what, "forks") == 0)
    many_forks ();
  else if (strcmp (what, "replaced") == 0)
    replaced (scale);
  else if (strcmp (what, "large") == 0)
    one_large ();
  else if (strcmp (what, "heap") == 0)
    grow_heap ();
  else if (strcmp (what, "trims") == 0)
    {
      run_threads (4, short_life);
      trim_heap ();
    }
  else if (strcmp (what, "quick") == 0)
    quick ();
  else if (strcmp (what, "handlers") == 0)
    in_handlers ();
  else if (strcmp (what, "odd") == 0)
    odd_calls ();
  else if (strcmp (what, "ways") == 0)
    ways ();
  else if (strcmp (what, "crash") == 0)
    {
      leak_small ();
      raise (SIGSEGV);
    }
  else if (strcmp (what, "abyss") == 0)
    abyss ();
  else if (strcmp (what, "unheard") == 0)
    unheard ();
  else if (strcmp (what, "for-ever") == 0)
    for_ever ();
  else
    return 2;
  return 3;
}
