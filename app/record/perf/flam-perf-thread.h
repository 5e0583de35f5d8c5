/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_THREAD_H
#define FLAM_PERF_THREAD_H

/* How a thread spent its time, by the kernel's records of when it was put on a
 * CPU and taken off it. Each sample takes the time of its kind since the last
 * one:
 *
 *   switch     on     off            on      off (preempted)  on
 *   thread   ───┬──────┬──────────────┬───────┬────────────────┬──
 *               └ cpu ─┴─── slept ────┴─ cpu ─┴──── queued ────┘ */

#include "flam-perf-rings.h"

typedef struct
{
  FlamTask *task;
  char name[16];
  enum
  {
    FLAM_PERF_UNKNOWN, /* as found when it was attached to */
    FLAM_PERF_RUNS,
    FLAM_PERF_QUEUED, /* preempted, or not run yet */
    FLAM_PERF_SLEEPS,
  } state;
  gint64 since;              /* it is accounted for up to this time */
  gint64 cpu, queued, slept; /* ns, in no sample yet */
  gint64 owed;               /* CPU time that the records do not show */
  gint64 total;              /* ns on a CPU */
  guint64 switches;          /* times put on a CPU */
  gint64 before;             /* CPU time that is not recorded; -1: unknown */
  gboolean moved;            /* put on a CPU since it was last compared */
  guint8 wait;               /* FlamState of its sleep */
  guint64 way;               /* of that one into a kernel without names, or 0 */
  pid_t waker;               /* of the program, who ended it; 0: none */
  char waker_name[16];
  gboolean has_stack; /* some stack of it was written */
  gboolean is_new;    /* it was created while it was recorded */
} FlamPerfThread;

/* Accounts for the time until `time`. `counts` FALSE: it is outside of the
 * recording. */
void
flam_perf_thread_advance (FlamPerfThread *thread, gint64 time, gboolean counts);
/* A switch takes time before and after its record, a fifth of the CPU time at
 * 28,000 switches a second. The scheduler's count of a thread off the CPU
 * includes it: the difference is owed to the samples. */
void flam_perf_thread_compare (FlamPerfThread *thread);
/* Takes the CPU time since the last sample. The time that is owed is spread
 * over many samples, so that none of them outweighs the others. */
gint64 flam_perf_thread_pay (FlamPerfThread *thread);
/* The same after the last sample, with all the time that is still owed. */
gint64 flam_perf_thread_pay_all (FlamPerfThread *thread);
/* A record shows that it was on a CPU, or off it, until `record->time`. */
void flam_perf_thread_take (FlamPerfThread *thread,
                            const FlamPerfRecord *record,
                            gint64 time,
                            gboolean counts);

#endif
