/* SPDX-License-Identifier: GPL-3.0-or-later */

/* busy BUSY ASLEEP UNITS: BUSY threads do UNITS units of work each, at the end
 * of six calls, while ASLEEP threads wait on a condition. Prints the CPU time
 * of the whole process in ns, to measure the cost of recording. */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#ifdef __clang__
#define NOINLINE __attribute__ ((noinline))
#else
#define NOINLINE __attribute__ ((noinline, noclone))
#endif

static volatile uint64_t sink;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t over = PTHREAD_COND_INITIALIZER;
static int done;
static long units;

NOINLINE static uint64_t
spin (uint64_t n)
{
  uint64_t a = n;

  for (uint64_t i = 0; i < n; i++)
    {
      a = a * 6364136223846793005ull + i;
      __asm__ volatile("" : "+r"(a)); /* step by step, with every compiler */
    }
  return a;
}

#define LEVEL(name, next)                                                      \
  NOINLINE uint64_t name (uint64_t n)                                          \
  {                                                                            \
    uint64_t r = next (n);                                                     \
    sink += r;                                                                 \
    return r + 1;                                                              \
  }
uint64_t level5 (uint64_t n);
uint64_t level4 (uint64_t n);
uint64_t level3 (uint64_t n);
uint64_t level2 (uint64_t n);
uint64_t level1 (uint64_t n);
LEVEL (level5, spin)
LEVEL (level4, level5)
LEVEL (level3, level4)
LEVEL (level2, level3)
LEVEL (level1, level2)

static void *
work (void *unused)
{
  for (long i = 0; i < units; i++)
    level1 (200000);
  return NULL;
}

static void *
doze (void *unused)
{
  pthread_mutex_lock (&lock);
  while (!done)
    pthread_cond_wait (&over, &lock);
  pthread_mutex_unlock (&lock);
  return NULL;
}

int
main (int argc, char **argv)
{
  int n_busy = argc > 1 ? atoi (argv[1]) : 1;
  int n_asleep = argc > 2 ? atoi (argv[2]) : 0;
  pthread_t busy[256], asleep[2048];
  struct timespec cpu;

  units = argc > 3 ? atol (argv[3]) : 1000;
  for (int i = 0; i < n_asleep && i < 2048; i++)
    pthread_create (&asleep[i], NULL, doze, NULL);
  for (int i = 1; i < n_busy && i < 256; i++)
    pthread_create (&busy[i], NULL, work, NULL);
  work (NULL);
  for (int i = 1; i < n_busy && i < 256; i++)
    pthread_join (busy[i], NULL);
  pthread_mutex_lock (&lock);
  done = 1;
  pthread_cond_broadcast (&over);
  pthread_mutex_unlock (&lock);
  for (int i = 0; i < n_asleep && i < 2048; i++)
    pthread_join (asleep[i], NULL);
  clock_gettime (CLOCK_PROCESS_CPUTIME_ID, &cpu);
  printf ("%lld\n", cpu.tv_sec * 1000000000ll + cpu.tv_nsec);
  return 0;
}
