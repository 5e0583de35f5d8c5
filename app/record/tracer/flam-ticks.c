/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-picture.h"

#include <math.h>
#include <sched.h>
#include <sys/ptrace.h>

#include "flam-priority.h"
#include "flam-sleepers.h"

static void
note_tick (const FlamTracer *tracer, FlamTask *task)
{
  task->interrupted_at = flam_tracer_now (tracer);
  task->tick_at = tracer->instant.woke_at;
  task->tick_waited = tracer->instant.waited;
}

static guint
interrupt (FlamTracer *tracer, FlamTask *task)
{
  note_tick (tracer, task);
  task->wants_stop = FALSE;
  task->pending = ptrace (PTRACE_INTERRUPT, task->tid, NULL, NULL) == 0;
  return (guint)task->pending;
}

/* A thread that stays in the kernel for long must stop as well: it may sleep
 * there, which matters for the wall time. */
static gboolean
is_of_interest (const FlamTracer *tracer, const FlamTask *task, gint64 now)
{
  return !task->listening && !task->is_new && !task->target->foreign &&
         now >= task->rest_until &&
         (!task->pending || (tracer->options->what & FLAM_RECORD_WALL));
}

static gboolean
runs (FlamTask *task)
{
  FlamBlocked blocked;
  guint line;

  return !flam_task_read_blocked (task, &blocked, &line) || blocked.running;
}

static gboolean
is_running_or_fell_asleep (FlamTracer *tracer, FlamTask *task)
{
  gboolean running = runs (task);

  return flam_task_read_schedstat (task, &task->interrupted) &&
         (running || flam_instant_fell_asleep (&tracer->instant, task));
}

/* No work is done between its check and the INTERRUPT. */
static guint
interrupt_running (FlamTracer *tracer, FlamTask *task)
{
  return is_running_or_fell_asleep (tracer, task) ? interrupt (tracer, task)
                                                  : 0;
}

static gboolean
was_sent (const FlamTask *task, gint64 now)
{
  return task->pending && task->interrupted_at >= now;
}

/* A thread in the kernel takes an INTERRUPT when it leaves the kernel, which
 * may be several waits later. A thread that waited for a CPU when the
 * INTERRUPT was sent may run at a later tick: its stop is then the sample of
 * that tick. */
static void
aim_again (FlamTracer *tracer, FlamTask *task)
{
  FlamSchedstat before = task->interrupted;

  if (!is_running_or_fell_asleep (tracer, task))
    task->at_tick = FLAM_AT_TICK_QUEUED;
  else
    flam_instant_look (&tracer->instant, task);
  if (task->at_tick == FLAM_AT_TICK_ON_CPU ||
      task->at_tick == FLAM_AT_TICK_PREEMPTED)
    note_tick (tracer, task);
  else
    {
      task->interrupted = before;
      task->at_tick = FLAM_AT_TICK_QUEUED;
    }
}

/* The time between the check of a thread and its INTERRUPT, and the time before
 * the stops are handled, are kept as short as possible: the check for sleep
 * comes last, as it takes 2 µs and more. */
guint
flam_ticks_take (FlamTracer *tracer, gint64 now)
{
  gboolean random;
  guint n = 0;

  tracer->instant.first = flam_priority_is_first ();
  random = flam_instant_begin (&tracer->instant, now);
  g_ptr_array_set_size (tracer->due, 0);
  for (guint i = 0; i < tracer->tasks.list->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, i);

      if (is_of_interest (tracer, task, now) &&
          !flam_sleepers_sleeps_on (tracer, task, now))
        g_ptr_array_add (tracer->due, task);
    }
  tracer->stats.ticks += tracer->due->len > 0;
  tracer->stats.not_random += tracer->due->len > 0 && !random;
  for (guint i = 0; random && i < tracer->due->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->due, i);

      if (!task->pending && !task->wants_stop &&
          !flam_instant_leaves (&tracer->instant, task) &&
          interrupt_running (tracer, task) > 0)
        {
          n++;
          flam_sleepers_woke (tracer, task);
        }
    }
  for (guint i = 0; n > 0 && i < tracer->due->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->due, i);

      if (was_sent (task, now))
        flam_instant_look (&tracer->instant, task);
    }
  for (guint i = 0; random && i < tracer->tasks.list->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, i);

      if (task->pending && task->at_tick == FLAM_AT_TICK_QUEUED &&
          !was_sent (task, now))
        aim_again (tracer, task);
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

static gboolean
is_elsewhere (FlamTask *task)
{
  int cpu;

  if (task->at_tick != FLAM_AT_TICK_UNKNOWN)
    return task->at_tick == FLAM_AT_TICK_ON_CPU;
  cpu = flam_task_read_cpu (task);
  return cpu >= 0 && cpu != sched_getcpu ();
}

/* A thread on another CPU stops meanwhile; one that waits for the tracer's CPU
 * does not. An INTERRUPT takes longer to arrive than this check takes. */
gboolean
flam_ticks_reach_elsewhere (FlamTracer *tracer, gint64 now, gint64 until)
{
  for (guint i = 0; i < tracer->due->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->due, i);

      if (was_sent (task, now) && is_elsewhere (task))
        return TRUE;
      if (flam_tracer_now (tracer) > until)
        return FALSE;
    }
  return FALSE;
}

/* The tracer, which has priority, takes at most this part of a CPU. */
#define MOST_OF_A_CPU 3
#define COSTS_KEPT 32 /* ticks */

/* The mean time between two ticks. Ticks that cost much come less often. If
 * instead some were left out after an expensive one, the end of a burst of work
 * would be sampled less often than its beginning. */
static gint64
mean_wait (FlamTracer *tracer, gboolean stopped_some)
{
  gint64 used = flam_instant_own_cpu ();

  if (stopped_some)
    tracer->tick_cost +=
        (used - tracer->cpu_at_plan - tracer->tick_cost) / COSTS_KEPT;
  tracer->cpu_at_plan = used;
  return MAX (tracer->period, MOST_OF_A_CPU * tracer->tick_cost);
}

static void
count_late (FlamTracer *tracer, gint64 ns)
{
  tracer->left_out += ns;
  tracer->stats.late += (guint64)(tracer->left_out / tracer->period);
  tracer->left_out %= tracer->period;
}

/* Ticks come at random, with the same probability at any moment, independent of
 * the time of the last one: no other schedule is free of interference with a
 * rhythm of the target. Ticks that would have come while the last one was being
 * handled are skipped, which does not affect this property. */
void
flam_ticks_plan (FlamTracer *tracer, gboolean stopped_some)
{
  gint64 mean = mean_wait (tracer, stopped_some);
  gint64 wait = (gint64)(-(double)mean * log (1 - g_random_double ()));
  gint64 now = flam_tracer_now (tracer);

  count_late (
      tracer,
      (gint64)((double)wait * (1 - (double)tracer->period / (double)mean)));
  tracer->next_tick += wait;
  if (tracer->next_tick < now)
    {
      count_late (tracer, now - tracer->next_tick);
      tracer->next_tick = now + wait;
    }
}
