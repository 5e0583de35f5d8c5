/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ticks.h"

#include <math.h>
#include <sched.h>
#include <sys/ptrace.h>

#include "flam-sleepers.h"

static guint
interrupt (FlamTracer *tracer, FlamTask *task)
{
  task->interrupted_at = flam_tracer_now (tracer);
  task->tick_at = tracer->instant.woke_at;
  task->tick_waited = tracer->instant.waited;
  task->wants_stop = FALSE;
  task->pending = ptrace (PTRACE_INTERRUPT, task->tid, NULL, NULL) == 0;
  return (guint)task->pending;
}

/* One that stays in the kernel for long is still to stop; it may sleep there,
 * which is of interest for the wall time. */
static gboolean
is_of_interest (const FlamTracer *tracer, const FlamTask *task, gint64 now)
{
  return !task->listening && !task->target->foreign &&
         now >= task->rest_until &&
         (!task->pending || (tracer->options->what & FLAM_RECORD_WALL));
}

static gboolean
runs (const FlamTask *task)
{
  FlamBlocked blocked;
  guint line;

  return !flam_task_read_blocked (task, &blocked, &line) || blocked.running;
}

/* Nothing is between the look at it and the INTERRUPT. */
static guint
interrupt_running (FlamTracer *tracer, FlamTask *task)
{
  flam_task_read_schedstat (task, &task->interrupted);
  return runs (task) ? interrupt (tracer, task) : 0;
}

static gboolean
was_sent (const FlamTask *task, gint64 now)
{
  return task->pending && task->interrupted_at >= now;
}

/* As little time as can be is between the look at a thread and its INTERRUPT,
 * and before the stops are taken: who has gone to sleep is read last, as that
 * takes 2 µs and more. */
guint
flam_ticks_take (FlamTracer *tracer, gint64 now)
{
  gboolean random = flam_instant_begin (&tracer->instant, now);
  guint n = 0;

  g_ptr_array_set_size (tracer->due, 0);
  for (guint i = 0; i < tracer->tasks.list->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, i);

      if (is_of_interest (tracer, task, now) &&
          !flam_sleepers_sleeps_on (tracer, task, now))
        g_ptr_array_add (tracer->due, task);
    }
  for (guint i = 0; random && i < tracer->due->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->due, i);

      if (!task->pending && !task->wants_stop &&
          interrupt_running (tracer, task) > 0)
        {
          n++;
          flam_sleepers_woke (tracer, task);
        }
    }
  for (guint i = 0; i < tracer->due->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->due, i);

      if (was_sent (task, now))
        continue;
      if (!task->wants_stop)
        flam_sleepers_check (tracer, task, now);
      if (task->wants_stop && !task->pending)
        {
          flam_task_read_schedstat (task, &task->interrupted);
          n += interrupt (tracer, task);
        }
    }
  return n;
}

/* One that runs on another CPU stops while we look; one that waits for ours
 * does not. An INTERRUPT takes longer to arrive than this takes. */
gboolean
flam_ticks_reach_elsewhere (FlamTracer *tracer, gint64 now, gint64 until)
{
  int here = sched_getcpu ();

  for (guint i = 0; i < tracer->due->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->due, i);
      int cpu = was_sent (task, now) ? flam_task_read_cpu (task) : -1;

      if (cpu >= 0 && cpu != here)
        return TRUE;
      if (flam_tracer_now (tracer) > until)
        return FALSE;
    }
  return FALSE;
}

/* Ticks come at random, at any moment with the same probability, however long
 * ago the last one was: the only rhythm that cannot be in step, nor out of
 * step, with one that the target has. Those that would have come while the last
 * one was being seen to are left out, which changes nothing about that; and so
 * are those after one that took longer than a period, so that we, who are
 * preferred, never take more of a CPU than a third. */
void
flam_ticks_plan (FlamTracer *tracer, gint64 began)
{
  gint64 wait =
      (gint64)(-(double)tracer->period * log (1 - g_random_double ()));
  gint64 now = flam_tracer_now (tracer);

  tracer->next_tick += wait;
  if (now - began > tracer->period)
    now += 2 * (now - began);
  if (tracer->next_tick < now)
    {
      tracer->stats.late +=
          (guint64)((now - tracer->next_tick) / tracer->period);
      tracer->next_tick = now + wait;
    }
}
