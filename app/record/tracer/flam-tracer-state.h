/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACER_STATE_H
#define FLAM_TRACER_STATE_H

/* The state that the steps of the tracer share. Each depends on those before
 * it:
 *
 *    flam-stops        reports of the kernel: stops, their kind and data
 *    flam-tasks        the traced processes and threads
 *    flam-loader       the libraries that a program has loaded
 *    flam-launch-exec  a program begins
 *    flam-commands     commands from outside
 *    flam-sleepers     sleeping threads and their stacks
 *    flam-priority     the tracer's priority over others that want its CPU
 *    flam-ticks        the threads to stop at a tick
 *    flam-instant      whether a stop shows what ran at the tick
 *    flam-copy         the stack of a stopped thread
 *    flam-call-stops   system calls, in the modes that follow them
 *    flam-batch        the sample, on its way to the sampler
 *
 * flam-tracer.c is the loop that takes them in turn. */

#include "flam-control.h"
#include "flam-inject.h"
#include "flam-instant.h"
#include "flam-runtime-reader.h"
#include "flam-record-options.h"
#include "flam-tasks.h"
#include "flam-tracer-kin.h"

/* How long threads were stopped, in µs; the last bin counts all longer
 * stops. */
#define FLAM_STOP_BINS 65536

/* Processes that outlived the program and are named to who controls the
 * recorder; more are only counted. */
#define FLAM_TRACER_LEFT_MAX 64

typedef struct
{
  guint64 samples;
  guint64 lost;    /* stops without a usable sample */
  guint64 late;    /* samples taken a period late, or skipped for this reason */
  guint64 waiting; /* stops of threads that waited for a CPU (not sampled) */
  guint64 uncertain;  /* stops for which flam-instant had to estimate */
  guint64 ticks;      /* ticks at which a thread wanted a CPU */
  guint64 not_random; /* such ticks that were left out: flam_instant_begin() */
  guint64 unreadable; /* stacks that the system did not allow to read */
  guint64 refused;    /* targets for another machine, not sampled */
  guint64
      setuid_dropped; /* targets that ran without their set-user-ID rights */
  guint64 handled;    /* stops of any kind */
  guint stops[FLAM_STOP_BINS];
} FlamTracerStats;

typedef struct _FlamTracer FlamTracer;

struct _FlamTracer
{
  const FlamRecordOptions *options;
  FlamControl *control;
  FlamPipe *pipe;
  FlamRuntimeReader *runtimes; /* NULL: no managed frames are recorded */
  /* The library that programs load when they begin; NULL: none. */
  const FlamInjection *injection;
  struct _FlamFaults *faults; /* NULL: page faults are not recorded */
  /* The managed frames of the kernel's samples; NULL: they are not read. */
  struct _FlamPerfChains *chains;
  FlamTasks tasks; /* without_proc: threads are not traced with ptrace */
  GPtrArray *due;  /* FlamTask, during the selection at a tick */
  FlamInstant instant;
  FlamTracerStats stats;

  gint64 origin; /* CLOCK_MONOTONIC of time 0 */
  gint64 period; /* ns */
  gint64 next_tick;
  gint64 tick_cost;   /* mean CPU time of a tick that stops threads */
  gint64 cpu_at_plan; /* the tracer's CPU time when the last tick was planned */
  gint64 left_out;    /* ns of skipped ticks that are not counted yet */
  gint64 young_until; /* a program was started recently */
  gint64 next_status;
  gint64 none_at; /* the last time at which no stop was pending */
  gboolean paused;
  gboolean delayed;  /* paused until the options' delay is over */
  gboolean stopping; /* detaching; no more samples */
  gboolean waits;    /* for the exit of a program that is no longer traced */
  int ended_by;      /* the signal that ended the recording; 0: none */
  gint64 give_up_at; /* then the remaining threads are left to the kernel */

  guint n_held;                     /* threads that are held at their end */
  guint n_left;                     /* processes that outlived the program */
  pid_t left[FLAM_TRACER_LEFT_MAX]; /* the first of them */
  guint n_running;        /* processes that ran on when the duration was over */
  char running[16];       /* the name of one of them */
  gboolean follows_calls; /* threads stop at system calls */
  gboolean attached;      /* to processes that were not launched */
  GArray *chosen;    /* pid_t, launched or attached to; not their descendants */
  FlamTracerKin kin; /* which of their descendants are recorded */
  struct _FlamNewcomers *newcomers; /* NULL: not looked for yet */
  int exit_status;  /* of the chosen one, 128 + signal; -1: it still runs, or
                       several are chosen */
  gboolean *failed; /* set by the sampler: the disk is full */

  /* Called once, before threads are detached at the end. */
  void (*withdraw) (FlamTracer *tracer);
};

/* ns since the recording began. */
gint64 flam_tracer_now (const FlamTracer *tracer);
/* Continues a stopped thread, with a signal or 0. */
void
flam_tracer_resume (const FlamTracer *tracer, const FlamTask *task, int sig);
/* The same for one that has no task yet. */
void flam_tracer_resume_new (const FlamTracer *tracer, pid_t tid);
/* Reads the managed frames of a thread. `regs` as in FlamMessage; `known`:
 * those that are valid, besides the program counter. `n_stack`, `copied`: as of
 * flam_runtime_reader_walk(). */
guint flam_tracer_walk_runtimes (FlamTracer *tracer,
                                 FlamTask *task,
                                 const guint64 *regs,
                                 guint32 known,
                                 gsize n_stack,
                                 gint64 now,
                                 const FlamRuntimeCopied *copied);
/* Called before and after reading a stack: a deep one is not read again
 * soon. */
gint64 flam_tracer_begin_read (const FlamTask *task);
void flam_tracer_end_read (FlamTracer *tracer,
                           FlamTask *task,
                           gint64 began,
                           gsize n_bytes,
                           guint n_items);

#endif
