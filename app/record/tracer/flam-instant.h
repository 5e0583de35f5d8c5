/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Whether a tick is a random instant, and what a thread did at it. The purpose
 * is explained at the top of flam-tracer.c. */

#include "flam-stops.h"

/* The tracer's own place in the queue for a CPU. */
typedef struct
{
  int fd;         /* the tracer's schedstat, -1 none */
  gint64 queued;  /* waiting time for a CPU before the sleep */
  gint64 waited;  /* waiting time of the last wake-up */
  gint64 woke_at; /* the tick's time */
  guint n_late;   /* consecutive ticks that were not random */
  gboolean first; /* it gets the CPU before all others */
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
/* At a tick: FALSE if it came because another thread left the CPU, so that the
 * running threads are no random sample. */
gboolean flam_instant_begin (FlamInstant *instant, gint64 now);
/* Called when a runnable thread that was interrupted has stopped at `context`,
 * later than `none_at` and not later than `now`, with the scheduler's counts
 * `stopped`. */
FlamInstantVerdict flam_instant_judge (const FlamTask *task,
                                       const FlamSchedstat *stopped,
                                       const FlamStopContext *context,
                                       gint64 none_at,
                                       gint64 now);
