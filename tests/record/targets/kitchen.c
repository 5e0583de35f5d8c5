/* SPDX-License-Identifier: GPL-3.0-or-later */

/* kitchen: twice over, a cook chops (running), waits for the stove (a lock),
 * for an order (a pipe), and naps, 0.2 s each; main holds the stove and sends
 * the orders. tests/captures/flambeau/kitchen.flambeau is a recording of it. */

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__ ((noinline)) static void

static pthread_mutex_t stove = PTHREAD_MUTEX_INITIALIZER;
static int orders[2];
static volatile unsigned carrots;

static double
now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

OWN
nap (double seconds)
{
  struct timespec t = { 0, (long)(seconds * 1e9) };

  if (seconds > 0)
    nanosleep (&t, NULL);
}

OWN
slice (void)
{
  for (unsigned i = 0; i < 100000; i++)
    carrots += i;
}

OWN
chop (void)
{
  double end = now () + 0.2;

  while (now () < end)
    slice ();
}

OWN
wait_for_stove (void)
{
  pthread_mutex_lock (&stove);
  pthread_mutex_unlock (&stove);
}

OWN
wait_for_order (void)
{
  char order;

  if (read (orders[0], &order, 1) != 1)
    _exit (1);
}

OWN
cook_dish (void)
{
  chop ();
  wait_for_stove ();
  wait_for_order ();
  nap (0.2);
  carrots++; /* no tail call */
}

static void *
cook (void *unused)
{
  pthread_setname_np (pthread_self (), "cook");
  for (int i = 0; i < 2; i++)
    cook_dish ();
  return unused;
}

int
main (void)
{
  pthread_t thread;
  double start = now ();

  pthread_mutex_lock (&stove);
  if (pipe (orders) != 0 || pthread_create (&thread, NULL, cook, NULL) != 0)
    return 1;
  for (int i = 0; i < 2; i++)
    {
      nap (start + 0.8 * i + 0.4 - now ());
      pthread_mutex_unlock (&stove);
      nap (start + 0.8 * i + 0.6 - now ());
      pthread_mutex_lock (&stove);
      if (write (orders[1], "o", 1) != 1)
        return 1;
    }
  pthread_join (thread, NULL);
  return 0;
}
