/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_INSTANT_H
#define FLAM_INSTANT_H

/* Whether a tick is a random instant, and what a thread did at that moment. The
 * purpose is explained at the top of flam-tracer.c. */

#include <sched.h>

#include "flam-stops.h"
#include "flam-tasks.h"

/* The tracer's own place in the queue for a CPU. */
typedef struct
{
  int fd;            /* the tracer's schedstat, -1 none */
  int sched_fd;      /* the tracer's sched, -1 none */
  gint64 queued;     /* waiting time for a CPU before the sleep */
  gint64 waited;     /* waiting time of the last wake-up */
  gint64 woke_at;    /* the tick's time */
  guint n_late;      /* consecutive ticks that were not random */
  gint64 late_since; /* when the first of them was */
  gboolean first;    /* it has real-time priority */
  gboolean exact;    /* whether the scheduler's stamps can be read */
  gint64 cpu;        /* the CPU time that it had used before the sleep */
  gint64 waits_cpu;  /* the CPU time that its sleeps took; */
  guint64 n_waits;   /* the number of these sleeps */
  gint64 put_at;     /* when it was put on its CPU, by that CPU's clock; 0: not
                        read at this tick; -1: unavailable */
  cpu_set_t allowed; /* CPUs the tracer may use */
  gboolean visiting; /* bound to one CPU, for threads that make calls */
  gboolean useful;   /* such a thread was found there at this tick */
  gint64 visits;     /* since then */
  gint64 wanted_at;  /* when such a thread was last found on any CPU */
  int next_cpu;      /* other CPU where one was found at this tick; -1: none */
  guint n_next;      /* how many were found on other CPUs */
} FlamInstant;

typedef enum
{
  FLAM_INSTANT_RUNNING, /* on a CPU; the stack at the stop is the one that
                         * ran */
  FLAM_INSTANT_QUEUED,  /* waited for a CPU, with that stack */
} FlamInstantVerdict;

/* Called on the thread that takes the ticks. */
void flam_instant_init (FlamInstant *instant);
void flam_instant_clear (FlamInstant *instant);
/* Called before the sleep until the next tick or stop. */
void flam_instant_sleep (FlamInstant *instant);
/* Called after it. */
void flam_instant_woke (FlamInstant *instant);
/* An upper bound of the CPU time around `n` waits in which the kernel takes no
 * sample, estimated from the time that the tracer needs to sleep and to wake
 * up. */
gint64 flam_instant_unseen (const FlamInstant *instant, guint64 n);
/* Called when a stop was handled: the thread left its CPU for that stop, not
 * for a tick that follows before the next sleep. */
void flam_instant_resumed (FlamInstant *instant);
/* The CPU time of this thread, up to this moment. */
gint64 flam_instant_own_cpu (void);
/* At a tick: FALSE if it came because another thread left the CPU, so that the
 * running threads are not a random sample. */
gboolean flam_instant_begin (FlamInstant *instant, gint64 now);
/* Whether the thread, which runs or waits for a CPU, is left for a later tick
 * on its own CPU. */
gboolean flam_instant_leaves (FlamInstant *instant, FlamTask *task);
/* Called after the tick's stops were handled: moves to the CPU of such a
 * thread. */
void flam_instant_visit (FlamInstant *instant);
/* Whether a thread that sleeps was on the tracer's CPU at the tick: it was in
 * the kernel, on its way into that sleep, and the tracer had to wait for it.
 * `task->interrupted`: its counts now. */
gboolean flam_instant_fell_asleep (FlamInstant *instant, FlamTask *task);
/* Called after a tick's INTERRUPTs were sent, before the tracer sleeps: what
 * `task`, one of the `n` interrupted threads, did at the tick. */
void flam_instant_look (FlamInstant *instant, FlamTask *task);
/* Called at each stop of a thread that was not asleep. */
void flam_instant_note (FlamTask *task, const FlamStopContext *context);
/* Called when a runnable thread that was interrupted has stopped at `context`,
 * later than `none_at` and not later than `now`, with the scheduler's counts
 * `stopped`. `estimated`: the counts leave it open. */
FlamInstantVerdict flam_instant_judge (const FlamTask *task,
                                       const FlamSchedstat *stopped,
                                       const FlamStopContext *context,
                                       gint64 none_at,
                                       gint64 now,
                                       gboolean *estimated);

#endif
