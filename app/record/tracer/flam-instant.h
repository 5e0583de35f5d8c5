/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Whether a tick is an instant at random, and where a thread was at it. The
 * essay at the top of flam-tracer.c says what for. */

#include "flam-stops.h"

/* The tracer's own place in the queue for a CPU. */
typedef struct
{
  int fd;         /* its schedstat, -1 none */
  gint64 queued;  /* it has waited for a CPU so long, before it slept */
  gint64 waited;  /* and when it woke: so long for that one */
  gint64 woke_at; /* the tick's time */
  guint n_late;   /* ticks in a row that were not at random */
  gboolean first; /* it gets the CPU before everybody else */
} FlamInstant;

typedef enum
{
  FLAM_INSTANT_RUNNING, /* on a CPU, and the stack at the stop is what ran */
  FLAM_INSTANT_QUEUED,  /* waited for a CPU, with that stack */
} FlamInstantVerdict;

/* On the thread that is to have the ticks. */
void flam_instant_init (FlamInstant *instant);
void flam_instant_clear (FlamInstant *instant);
/* It is about to sleep until the next tick, or a stop. */
void flam_instant_sleep (FlamInstant *instant);
/* At a tick: FALSE when it came because somebody else left the CPU, so that
 * what runs now is no sample of what runs. */
gboolean flam_instant_begin (FlamInstant *instant, gint64 now);
/* A thread that was interrupted, as it was runnable, has stopped at `context`,
 * later than `none_at` and not later than `now`, and the scheduler says
 * `stopped`. */
FlamInstantVerdict flam_instant_judge (const FlamTask *task,
                                       const FlamSchedstat *stopped,
                                       const FlamStopContext *context,
                                       gint64 none_at,
                                       gint64 now);
