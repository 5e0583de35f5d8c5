/* SPDX-License-Identifier: GPL-3.0-or-later */

/* sleeper: threads that wait, each in its own way, for 1.2 s: nanosleep, a
 * mutex, a pipe; and nanosleep, poll and a condition with a time limit, each
 * interrupted by a signal that is ignored, after which the kernel continues the
 * call as another one (restart_syscall). main joins them. */

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
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

static void *
on_sleep (void *unused)
{
  pthread_setname_np (pthread_self (), "on-sleep");
  nap ();
  return NULL;
}

static void *
on_poll (void *unused)
{
  pthread_setname_np (pthread_self (), "on-poll");
  poll (NULL, 0, 1200);
  return NULL;
}

static void *
on_lock (void *unused)
{
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  struct timespec until;

  pthread_setname_np (pthread_self (), "on-lock");
  clock_gettime (CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  until.tv_nsec += 200000000;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  pthread_mutex_lock (&mutex);
  while (pthread_cond_timedwait (&never, &mutex, &until) != ETIMEDOUT)
    ;
  pthread_mutex_unlock (&mutex);
  return NULL;
}

#define N 6

int
main (void)
{
  void *(*bodies[N]) (void *) = { in_sleep, in_lock, in_pipe,
                                  on_sleep, on_poll, on_lock };
  const struct timespec soon = { 0, 50000000 };
  pthread_t threads[N];

  if (pipe (ends) != 0)
    return 1;
  pthread_mutex_lock (&held);
  for (int i = 0; i < N; i++)
    pthread_create (&threads[i], NULL, bodies[i], NULL);
  nanosleep (&soon, NULL);
  for (int i = 3; i < N; i++)
    pthread_kill (threads[i], SIGURG);
  nap ();
  pthread_mutex_unlock (&held);
  if (write (ends[1], "", 1) != 1)
    return 1;
  for (int i = 0; i < N; i++)
    pthread_join (threads[i], NULL);
  return 0;
}
