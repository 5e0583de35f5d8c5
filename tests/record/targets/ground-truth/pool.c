/* SPDX-License-Identifier: GPL-3.0-or-later */

/* pool SECONDS: four threads that wait on a condition for jobs of 0.4 and of
 * 0.1 ms; main has two of each for them every 4 ms. */

#include "truth.h"

#define N_THREADS 4

enum
{
  SQUARES,
  SUMS,
  AWAIT_JOB,
  POST,
  N_PARTS
};
static TruthPart parts[N_PARTS] = {
  { "squares", 0 }, { "sums", 0 }, { "await_job", 0 }, { "post_jobs", 0 }
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static int large, small, over;

WORK (squares)
WORK (sums)

typedef enum
{
  NONE,
  LARGE,
  SMALL
} Job;

NOINLINE static Job
await_job (void)
{
  Job job = NONE;

  pthread_mutex_lock (&lock);
  while (large + small == 0 && !over)
    pthread_cond_wait (&some, &lock);
  if (large > 0)
    {
      large--;
      job = LARGE;
    }
  else if (small > 0)
    {
      small--;
      job = SMALL;
    }
  pthread_mutex_unlock (&lock);
  return job;
}

NOINLINE static void
post_jobs (int last)
{
  truth_sleep (4000);
  pthread_mutex_lock (&lock);
  large += 2;
  small += 2;
  over = last;
  pthread_cond_broadcast (&some);
  pthread_mutex_unlock (&lock);
}

static void *
body (void *unused)
{
  TruthThread *self = truth_thread_begin ("worker");

  for (;;)
    {
      Job job;

      TIMED (parts[AWAIT_JOB], job = await_job ());
      if (job == LARGE)
        TIMED (parts[SQUARES], squares (400));
      else if (job == SMALL)
        TIMED (parts[SUMS], sums (100));
      else
        break;
    }
  truth_thread_end (self);
  return NULL;
}

int
main (int argc, char **argv)
{
  TruthThread *self = truth_thread_begin ("pool");
  pthread_t threads[N_THREADS];

  for (int i = 0; i < N_THREADS; i++)
    if (pthread_create (&threads[i], NULL, body, NULL) != 0)
      return 1;
  truth_begin (argc, argv);
  while (truth_goes_on ())
    TIMED (parts[POST], post_jobs (0));
  post_jobs (1);
  for (int i = 0; i < N_THREADS; i++)
    pthread_join (threads[i], NULL);
  truth_thread_end (self);
  return truth_end (parts, N_PARTS);
}
