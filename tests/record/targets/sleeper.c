/* SPDX-License-Identifier: GPL-3.0-or-later */

/* sleeper: four threads that wait, each in its own way, for 1.2 s: nanosleep,
 * a mutex, a pipe, a condition with a time limit; main joins them. */

#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

__attribute__ ((noinline)) static void
nap (void)
{
  struct timespec ts = { 1, 200000000 };

  while (nanosleep (&ts, &ts) != 0)
    ;
}

static void *
in_sleep (void *unused)
{
  pthread_setname_np (pthread_self (), "in-sleep");
  nap ();
  return NULL;
}

static void *
in_lock (void *unused)
{
  pthread_setname_np (pthread_self (), "in-lock");
  pthread_mutex_lock (&held);
  pthread_mutex_unlock (&held);
  return NULL;
}

static void *
in_pipe (void *unused)
{
  char byte;

  pthread_setname_np (pthread_self (), "in-pipe");
  return read (ends[0], &byte, 1) == 1 ? NULL : &held;
}

int
main (void)
{
  void *(*bodies[]) (void *) = { in_sleep, in_lock, in_pipe };
  pthread_t threads[3];

  if (pipe (ends) != 0)
    return 1;
  pthread_mutex_lock (&held);
  for (int i = 0; i < 3; i++)
    pthread_create (&threads[i], NULL, bodies[i], NULL);
  nap ();
  pthread_mutex_unlock (&held);
  if (write (ends[1], "", 1) != 1)
    return 1;
  for (int i = 0; i < 3; i++)
    pthread_join (threads[i], NULL);
  return 0;
}
