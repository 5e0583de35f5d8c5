/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sleepers.h"

/* The third number of schedstat counts how often a thread was put on a CPU. A
 * thread that was seen in a system call at count N sleeps in it as long as the
 * count is N:
 *
 *   count  ... 41      41      41      42 (runs, sleeps again)   44
 *   tick       look    skip    skip    look                      ...
 *
 * A stop of ours adds 1 or 2; it happens to a sleeper only when its frame
 * pointer is needed to read its stack (hint_needs_bp). */

#define COUNT_OF_A_STOP 2
#define SAME_EVERY (10 * 1000000ll)

static gboolean
wants_wall (const FlamTracer *tracer)
{
  return (tracer->options->what & FLAM_RECORD_WALL) != 0;
}

static void
commit (FlamTracer *tracer,
        FlamTask *task,
        FlamMessage *message,
        FlamState state,
        gint64 time,
        gint64 cpu,
        gsize n)
{
  message->target = task->target;
  message->task = task;
  message->time = time;
  message->state = (guint8)state;
  message->cpu = cpu;
  message->wall = MAX (time - task->wall_seen, 0);
  task->wall_seen = MAX (time, task->wall_seen);
  flam_pipe_commit (tracer->pipe, n);
  tracer->stats.samples++;
}

/* Its wait so far, on the stack that is known. */
static void
put_same (FlamTracer *tracer, FlamTask *task, gint64 until)
{
  FlamMessage *message;

  if (until <= task->wall_seen)
    return;
  message = flam_pipe_reserve (tracer->pipe, FLAM_MESSAGE_SAME, 0, 0, TRUE);
  if (message != NULL)
    commit (tracer, task, message, task->blocked_state, until, 0, 0);
  else
    tracer->stats.lost++;
}

/* Copies the stack of a thread that does not run; FALSE when it has woken
 * meanwhile, so that the copy may be torn. */
static gboolean
put_asleep (FlamTracer *tracer,
            FlamTask *task,
            const FlamBlocked *blocked,
            gint64 cpu,
            gint64 now)
{
  gsize wanted = (gsize)g_atomic_int_get ((gint *)&task->hint_copy);
  gint64 began = flam_tracer_begin_read (task);
  guint n_python = flam_tracer_walk_python (tracer, task, now);
  FlamMessage *message = flam_pipe_reserve (
      tracer->pipe, FLAM_MESSAGE_ASLEEP, n_python, wanted, TRUE);
  gint64 cpu_after;
  guint64 count;
  gsize n;

  if (message == NULL)
    {
      tracer->stats.lost++;
      return FALSE;
    }
  n = flam_read_memory (
      task->tid, blocked->sp, flam_message_stack (message), wanted);
  if (!flam_task_read_schedstat (task, &cpu_after, &count) ||
      count != task->blocked_count)
    return FALSE;
  if (n_python > 0)
    flam_python_reader_resolve (
        tracer->python, task, flam_message_python (message));
  message->regs[7] = blocked->sp;
  message->regs[16] = blocked->pc;
  message->limited = n == wanted;
  commit (tracer,
          task,
          message,
          wants_wall (tracer) ? task->blocked_state : FLAM_STATE_RUNNING,
          now,
          cpu,
          n);
  flam_tracer_end_read (tracer, task, began, n, n_python);
  tracer->stats.target_cpu += cpu;
  task->cpu_seen += cpu;
  return TRUE;
}

/* In the CPU mode a sleeper is of interest only for the time it ran between
 * two ticks without being met: once that is a period's worth, it counts where
 * the thread went to sleep. */
static void
read_for_cpu (FlamTracer *tracer,
              FlamTask *task,
              const FlamBlocked *blocked,
              gint64 cpu,
              gint64 now)
{
  gint64 ran = cpu - task->cpu_seen;

  if (ran >= tracer->period && put_asleep (tracer, task, blocked, ran, now))
    task->sampled = TRUE;
}

static void
read_for_wall (FlamTracer *tracer,
               FlamTask *task,
               const FlamBlocked *blocked,
               gint64 cpu,
               gint64 now)
{
  gint64 ran = cpu - task->cpu_seen;

  if (!task->blocked_known)
    task->blocked_known = put_asleep (
        tracer, task, blocked, ran >= tracer->period ? ran : 0, now);
}

/* Still in the sleep that is known. FALSE: it must be stopped once. */
static gboolean
still_asleep (FlamTracer *tracer, FlamTask *task, gint64 now)
{
  gint64 before = task->blocked_until;

  task->blocked_until = now;
  if (!wants_wall (tracer))
    return TRUE;
  if (task->blocked_known && tracer->python != NULL &&
      flam_python_reader_has_news (task))
    task->blocked_known = FALSE;
  if (task->blocked_known && !task->read_by_stop &&
      g_atomic_int_get (&task->hint_needs_bp))
    {
      g_atomic_int_set (&task->hint_needs_bp, FALSE);
      put_same (tracer, task, before);
      task->read_by_stop = TRUE;
      return FALSE;
    }
  if (task->blocked_known && now - task->wall_seen >= SAME_EVERY)
    put_same (tracer, task, now);
  return TRUE;
}

/* It was asleep and has moved since: what it slept is written down, unless it
 * was our own stop that moved it, and it sleeps on as before. */
static gboolean
wake (FlamTracer *tracer,
      FlamTask *task,
      guint64 count,
      guint line,
      gboolean sleeps)
{
  gboolean was_our_stop = task->read_by_stop && sleeps &&
                          line == task->blocked_line &&
                          count - task->blocked_count <= COUNT_OF_A_STOP;

  task->blocked_count = count;
  if (was_our_stop)
    return FALSE;
  if (task->blocked && task->blocked_known && wants_wall (tracer))
    put_same (tracer, task, task->blocked_until);
  task->blocked = task->blocked_known = task->read_by_stop = FALSE;
  return TRUE;
}

gboolean
flam_sleepers_target (FlamTracer *tracer, FlamTarget *target, gint64 now)
{
  gint64 cpu;

  if (wants_wall (tracer))
    return FALSE;
  if (target->looked_at == now)
    return target->idle;
  target->looked_at = now;
  cpu = flam_target_read_cpu (target);
  target->idle = cpu >= 0 && cpu - target->cpu_seen < tracer->period / 4;
  if (!target->idle)
    target->cpu_seen = cpu;
  return target->idle;
}

/* The line has to be the same before and after the count was read. */
static gboolean
find_asleep (const FlamTask *task,
             FlamBlocked *blocked,
             guint *line,
             gint64 *cpu,
             guint64 *count)
{
  guint again;

  return flam_task_read_blocked (task, blocked, line) && !blocked->running &&
         flam_task_read_schedstat (task, cpu, count) &&
         flam_task_read_blocked (task, blocked, &again) && again == *line;
}

gboolean
flam_sleepers_check (FlamTracer *tracer, FlamTask *task, gint64 now)
{
  FlamBlocked blocked;
  guint line = 0;
  gint64 cpu = 0;
  guint64 count = 0;
  gboolean sleeps;

  if (task->blocked && flam_task_read_schedstat (task, &cpu, &count) &&
      count == task->blocked_count)
    {
      if (!still_asleep (tracer, task, now))
        return FALSE;
      if (wants_wall (tracer) && !task->blocked_known &&
          find_asleep (task, &blocked, &line, &cpu, &count) &&
          count == task->blocked_count)
        read_for_wall (tracer, task, &blocked, cpu, now);
      return TRUE;
    }
  sleeps = find_asleep (task, &blocked, &line, &cpu, &count);
  if (task->blocked && !wake (tracer, task, count, line, sleeps))
    return still_asleep (tracer, task, now);
  if (!sleeps)
    return FALSE;
  task->blocked = TRUE;
  task->blocked_count = count;
  task->blocked_line = line;
  task->blocked_until = now;
  task->blocked_state = (guint8)flam_blocked_state (&blocked);
  if (wants_wall (tracer))
    read_for_wall (tracer, task, &blocked, cpu, now);
  else
    read_for_cpu (tracer, task, &blocked, cpu, now);
  return TRUE;
}

void
flam_sleepers_stopped (FlamTask *task, FlamMessage *message)
{
  if (task->blocked && task->read_by_stop)
    message->state = task->blocked_state;
}
