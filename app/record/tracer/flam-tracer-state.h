/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the steps of the tracer share, each of which needs those before it:
 *
 *    flam-stops        what the kernel says: a thread stopped, how, with what
 *    flam-tasks        who is traced
 *    flam-launch-exec  a program begins
 *    flam-commands     what is asked for from outside
 *    flam-sleepers     who sleeps, and where
 *    flam-ticks        who is due at a tick
 *    flam-instant      whether a stop shows what ran at the tick
 *    flam-batch        the sample, on its way to the sampler
 *
 * flam-tracer.c is the loop that takes them in turn. */

#include "flam-control.h"
#include "flam-inject.h"
#include "flam-instant.h"
#include "flam-python-reader.h"
#include "flam-record-options.h"
#include "flam-tasks.h"

/* How long threads were stopped, in µs; the last bin takes all that is more. */
#define FLAM_STOP_BINS 65536

typedef struct
{
  guint64 samples;
  guint64 lost;    /* stops whose sample could not be kept */
  guint64 late;    /* samples a period late, or left out for it */
  guint64 refused; /* targets for another machine, not sampled */
  guint64
      setuid_dropped; /* targets that ran without their set-user-ID rights */
  guint stops[FLAM_STOP_BINS];
} FlamTracerStats;

typedef struct
{
  const FlamRecordOptions *options;
  FlamControl *control;
  FlamPipe *pipe;
  FlamPythonReader *python; /* NULL: Python frames are not recorded */
  /* What programs load when they begin; NULL: nothing. */
  const FlamInjection *injection;
  FlamTasks tasks;
  GPtrArray *due; /* FlamTask, while a tick looks for them */
  FlamInstant instant;
  FlamTracerStats stats;

  gint64 origin; /* CLOCK_MONOTONIC of time 0 */
  gint64 period; /* ns */
  gint64 next_tick;
  gint64 young_until; /* a program was started lately */
  gint64 next_status;
  gint64 none_at; /* then no stop was waiting to be seen to */
  gboolean paused;
  gboolean delayed;  /* paused until the options' delay is over */
  gboolean stopping; /* detaching; no samples any more */
  gint64 give_up_at; /* then what does not stop is left to the kernel */

  guint n_left;     /* processes that outlived the program */
  pid_t left;       /* one of them */
  pid_t main_pid;   /* launched or attached to */
  int exit_status;  /* of main_pid, 128 + signal; -1: it still runs */
  gboolean *failed; /* set by the sampler: the disk is full */
} FlamTracer;

/* ns since the recording began. */
gint64 flam_tracer_now (const FlamTracer *tracer);
guint flam_tracer_walk_python (FlamTracer *tracer, FlamTask *task, gint64 now);
/* Around the reading of a stack: one that is deep is not read again soon. */
gint64 flam_tracer_begin_read (const FlamTask *task);
void flam_tracer_end_read (FlamTracer *tracer,
                           FlamTask *task,
                           gint64 began,
                           gsize n_bytes,
                           guint n_python);
