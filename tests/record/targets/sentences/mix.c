/* SPDX-License-Identifier: GPL-3.0-or-later */

/* mix CASE: programs of which one sentence is true (test-sentences.py). Every
 * part takes a length of its thread's own CPU time, or waits for a time, so
 * that the shares hold on any machine. */

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__ ((noinline))
#else
#define NOINLINE __attribute__ ((noinline, noclone, noipa))
#endif
#define MS 1000000L
/* Not a function, so that none is inlined. */
#define WORK(ms)                                                               \
  do                                                                           \
    {                                                                          \
      int64_t end = now () + (ms)*MS;                                          \
                                                                               \
      do                                                                       \
        for (uint64_t step = 0; step < 200000; step++)                         \
          sink += step ^ (sink >> 3);                                          \
      while (now () < end);                                                    \
    }                                                                          \
  while (0)
#define PART(name)                                                             \
  NOINLINE static void name (long ms) { WORK (ms); }

static volatile uint64_t sink;

NOINLINE static int64_t
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000 * MS + t.tv_nsec;
}

#define REST(ms)                                                               \
  nanosleep (&(struct timespec){ (ms) / 1000, (ms) % 1000 * MS }, NULL)

PART (checksum)
PART (parse)

static void
run_cpu (void)
{
  checksum (800);
  parse (200);
}

NOINLINE static void
run_short (void)
{
  checksum (16);
  parse (4);
}

/* --- many functions ------------------------------------------------------- */

PART (a)
PART (b)
PART (c)
PART (d)
PART (e)
PART (f)
PART (g)
PART (h)
PART (i)
PART (j)
PART (k)
PART (l)
PART (m)

static void
run_spread (void)
{
  void (*const all[]) (long) = { a, b, c, d, e, f, g, h, i, j, k, l };

  for (unsigned part = 0; part < sizeof all / sizeof *all; part++)
    all[part](75);
  m (92);
}

/* --- other people's code -------------------------------------------------- */

static int
compare (const void *left, const void *right)
{
  return memcmp (left, right, 8);
}

#define ROWS 200000

NOINLINE static void
sort_rows (void)
{
  char *rows = malloc (ROWS * 8);
  unsigned seed = 1;

  for (int row = 0; row < ROWS * 8; row++)
    rows[row] = (char)rand_r (&seed);
  qsort (rows, ROWS, 8, compare);
  sink += (uint64_t)rows[77];
  free (rows);
}

static void
run_library (void)
{
  int64_t end = now () + 800 * MS;

  while (now () < end)
    sort_rows ();
}

/* --- recursion ------------------------------------------------------------ */

NOINLINE static uint64_t
fibonacci (unsigned n)
{
  return n < 2 ? n : fibonacci (n - 1) + fibonacci (n - 2);
}

static void
run_recursion (void)
{
  int64_t end = now () + 800 * MS;

  while (now () < end)
    sink += fibonacci (27);
}

/* Of both, one level deeper at each call: half of the levels is of each. */
NOINLINE static void is_odd (unsigned level, int64_t end);

NOINLINE static void
is_even (unsigned level, int64_t end)
{
  for (uint64_t step = 0; step < 2000; step++)
    sink += step ^ (sink >> 3);
  if (level < 2000 && now () < end)
    is_odd (level + 1, end);
  sink++;
}

NOINLINE static void
is_odd (unsigned level, int64_t end)
{
  for (uint64_t step = 0; step < 2000; step++)
    sink += step ^ (sink >> 3);
  if (level < 2000 && now () < end)
    is_even (level + 1, end);
  sink++;
}

static void
run_mutual (void)
{
  int64_t end = now () + 800 * MS;

  while (now () < end)
    is_even (0, end);
}

/* --- system calls --------------------------------------------------------- */

NOINLINE static void
read_zeros (void)
{
  int64_t end = now () + 800 * MS;
  int zero = open ("/dev/zero", O_RDONLY);
  static char buffer[1 << 16];

  while (now () < end)
    for (int n = 0; n < 100; n++)
      sink += (uint64_t)read (zero, buffer, sizeof buffer);
  close (zero);
}

/* --- threads -------------------------------------------------------------- */

static void *
crunch (void *nothing)
{
  checksum (80);
  parse (20);
  return nothing;
}

static void
run_threads (void)
{
  pthread_t threads[16];

  for (int n = 0; n < 16; n++)
    pthread_create (&threads[n], NULL, crunch, NULL);
  for (int n = 0; n < 16; n++)
    pthread_join (threads[n], NULL);
}

/* Each child has the same shares. */
static void
run_children (void)
{
  for (int n = 0; n < 3; n++)
    if (fork () == 0)
      {
        checksum (240);
        parse (60);
        _exit (0);
      }
  while (wait (NULL) > 0)
    continue;
}

/* --- waiting -------------------------------------------------------------- */

static pthread_mutex_t queue = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;

NOINLINE static void *
queue_pop (void *nothing)
{
  pthread_mutex_lock (&queue);
  pthread_mutex_unlock (&queue);
  return nothing;
}

/* Two threads wait for the lock while one rests. */
static void
run_lock (void)
{
  pthread_t threads[2];

  pthread_mutex_lock (&queue);
  for (int n = 0; n < 2; n++)
    pthread_create (&threads[n], NULL, queue_pop, NULL);
  REST (900);
  pthread_mutex_unlock (&queue);
  for (int n = 0; n < 2; n++)
    pthread_join (threads[n], NULL);
}

NOINLINE static void
await_job (void)
{
  struct timespec until;

  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_sec++;
  pthread_mutex_lock (&queue);
  pthread_cond_timedwait (&filled, &queue, &until);
  pthread_mutex_unlock (&queue);
}

static void
run_condition (void)
{
  checksum (100);
  await_job ();
}

/* From a program that writes nothing for a second. */
NOINLINE static void
fetch (void)
{
  char byte;

  while (read (0, &byte, 1) == 1)
    continue;
}

NOINLINE static void
idle (void)
{
  REST (1000);
}

NOINLINE static void
poll_input (void)
{
  struct pollfd input = { .fd = 0, .events = POLLIN };

  poll (&input, 1, 900);
}

NOINLINE static void *
nap (void *nothing)
{
  REST (1000);
  return nothing;
}

/* One of four threads waits for the others, which sleep. */
static void
run_naps (void)
{
  pthread_t threads[3];

  for (int n = 0; n < 3; n++)
    pthread_create (&threads[n], NULL, nap, NULL);
  for (int n = 0; n < 3; n++)
    pthread_join (threads[n], NULL);
}

/* --- memory --------------------------------------------------------------- */

static void *kept[64];

#define BLOCK(at, size)                                                        \
  do                                                                           \
    {                                                                          \
      kept[at] = malloc (size);                                                \
      memset (kept[at], 1, size);                                              \
    }                                                                          \
  while (0)

NOINLINE static void
open_session (void)
{
  for (int n = 0; n < 8; n++)
    BLOCK (n, 100 * 1000);
  memset (kept, 0, sizeof kept);
}

NOINLINE static void
load (void)
{
  for (int n = 0; n < 60; n++)
    BLOCK (n, 300 * 1000);
  REST (20);
  for (int n = 0; n < 60; n++)
    free (kept[n]);
  memset (kept, 0, sizeof kept);
}

NOINLINE static void
decode (void)
{
  BLOCK (0, 30 * 1000 * 1000);
  free (kept[0]);
}

static void
run_leak (void)
{
  open_session ();
  load ();
}

static void
run_peak (void)
{
  load ();
  decode ();
}

/* One block that grows to 12 MB and is never freed. */
NOINLINE static void
append (void)
{
  for (size_t size = 1; size <= 12; size++)
    {
      kept[0] = realloc (kept[0], size * 1000 * 1000);
      memset (kept[0], 1, size * 1000 * 1000);
    }
  kept[0] = NULL;
}

NOINLINE static void
churn (void)
{
  for (int n = 0; n < 20000; n++)
    {
      BLOCK (0, 100);
      free (kept[0]);
    }
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    void (*run) (void);
  } cases[] = {
    { "cpu", run_cpu },
    { "short", run_short },
    { "spread", run_spread },
    { "library", run_library },
    { "recursion", run_recursion },
    { "mutual", run_mutual },
    { "calls", read_zeros },
    { "children", run_children },
    { "threads", run_threads },
    { "lock", run_lock },
    { "condition", run_condition },
    { "pipe", fetch },
    { "idle", idle },
    { "poll", poll_input },
    { "naps", run_naps },
    { "leak", run_leak },
    { "peak", run_peak },
    { "leak-only", open_session },
    { "append", append },
    { "churn", churn },
  };

  for (unsigned n = 0; n < sizeof cases / sizeof *cases; n++)
    if (argc > 1 && strcmp (argv[1], cases[n].name) == 0)
      {
        cases[n].run ();
        return 0;
      }
  return 2;
}
