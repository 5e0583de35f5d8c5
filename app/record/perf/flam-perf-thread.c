/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-thread.h"

#include "flam-tasks.h"

/* At most one part of this many is added to a sample for other times. */
#define OWED_PART 2

void
flam_perf_thread_advance (FlamPerfThread *thread, gint64 time, gboolean counts)
{
  gint64 ns = time - thread->since;

  if (ns <= 0)
    return;
  thread->since = time;
  if (!counts)
    {
      if (thread->state == FLAM_PERF_RUNS)
        thread->before += ns;
      return;
    }
  if (thread->state == FLAM_PERF_RUNS)
    {
      thread->cpu += ns;
      thread->total += ns;
    }
  else if (thread->state == FLAM_PERF_QUEUED)
    thread->queued += ns;
  else
    thread->slept += ns;
}

void
flam_perf_thread_take (FlamPerfThread *thread,
                       const FlamPerfRecord *record,
                       gint64 time,
                       gboolean counts)
{
  if (record->kind == FLAM_PERF_ON_CPU)
    {
      if (thread->state == FLAM_PERF_UNKNOWN)
        thread->state = FLAM_PERF_SLEEPS;
    }
  /* It was on a CPU, although no record shows since when. */
  else if (thread->state != FLAM_PERF_RUNS)
    {
      if (thread->state != FLAM_PERF_UNKNOWN)
        flam_perf_thread_advance (thread, time, counts);
      thread->state = FLAM_PERF_RUNS;
    }
  flam_perf_thread_advance (thread, time, counts);
  if (record->kind == FLAM_PERF_ON_CPU)
    {
      thread->state = FLAM_PERF_RUNS;
      thread->moved = TRUE;
      thread->switches += counts;
    }
  else if (record->kind == FLAM_PERF_OFF_CPU)
    thread->state = record->preempted ? FLAM_PERF_QUEUED : FLAM_PERF_SLEEPS;
}

void
flam_perf_thread_compare (FlamPerfThread *thread)
{
  FlamSchedstat stat;
  gint64 more;

  if (!thread->moved ||
      (thread->state != FLAM_PERF_SLEEPS &&
       thread->state != FLAM_PERF_QUEUED) ||
      !flam_task_read_schedstat (thread->task, &stat))
    return;
  thread->moved = FALSE;
  if (thread->before < 0)
    thread->before = MAX (stat.cpu - thread->total, 0);
  more = stat.cpu - thread->before - thread->total;
  thread->owed += more;
  thread->total += more;
}

gint64
flam_perf_thread_pay (FlamPerfThread *thread)
{
  gint64 cpu = MAX (thread->cpu, 0), part = cpu / OWED_PART;
  gint64 owed = CLAMP (thread->owed, -part, part);

  thread->cpu -= cpu;
  thread->owed -= owed;
  return cpu + owed;
}

gint64
flam_perf_thread_pay_all (FlamPerfThread *thread)
{
  gint64 cpu = MAX (thread->cpu + thread->owed, 0);

  thread->cpu = thread->owed = 0;
  return cpu;
}
