/* SPDX-License-Identifier: GPL-3.0-or-later */

/* uneven SECONDS: 64 threads; thread i works for i * 10 µs every 40 ms, in one
 * of four functions, each of which a quarter of the threads uses. */

#include "truth.h"

#define N_THREADS 64

enum
{
  LOW,
  MIDDLE,
  HIGH,
  TOP,
  REST,
  N_PARTS
};
static TruthPart parts[N_PARTS] = {
  { "low", 0 }, { "middle", 0 }, { "high", 0 }, { "top", 0 }, { "rest", 0 }
};

WORK (low)
WORK (middle)
WORK (high)
WORK (top)

static void (*const work[]) (int) = { low, middle, high, top };
static pthread_barrier_t begin;

NOINLINE static void
rest (void)
{
  truth_sleep (40000);
  truth_sink++;
}

static void *
body (void *data)
{
  int i = (int)(intptr_t)data, quarter = i * 4 / N_THREADS;
  TruthThread *self;
  char name[16];

  snprintf (name, sizeof name, "uneven-%d", i);
  self = truth_thread_begin (name);
  pthread_barrier_wait (&begin);
  while (truth_goes_on ())
    {
      TIMED (parts[quarter], work[quarter]((i + 1) * 10));
      TIMED (parts[REST], rest ());
    }
  truth_thread_end (self);
  return NULL;
}

int
main (int argc, char **argv)
{
  pthread_t threads[N_THREADS];

  pthread_barrier_init (&begin, NULL, N_THREADS + 1);
  for (int i = 0; i < N_THREADS; i++)
    if (pthread_create (&threads[i], NULL, body, (void *)(intptr_t)i) != 0)
      return 1;
  truth_begin (argc, argv);
  pthread_barrier_wait (&begin);
  for (int i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
  return truth_end (parts, N_PARTS);
}
