/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sleepers.h"

#include <string.h>

#include "flam-wall.h"

/* The third number of schedstat counts how often a thread was put on a CPU. A
 * thread that was seen in a system call at count N sleeps in it as long as the
 * count is N:
 *
 *   count  ... 41      41      41      42 (runs, sleeps again)   44
 *   tick       look    skip    skip    look                      ...
 *
 * A stop by the tracer adds 1 or 2; a sleeper is only stopped when its frame
 * pointer is needed to read its stack (hint_needs_bp). */

#define COUNT_OF_A_STOP 2
#define SAME_EVERY (10 * 1000000ll)
/* A thread that was woken and waits for a CPU keeps its count until it runs;
 * this is how often its state is checked. */
#define LOOK_EVERY (2 * 1000000ll)

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
        gsize n)
{
  message->target = task->target;
  message->task = task;
  message->time = time;
  message->state = (guint8)state;
  flam_wall_pay (task, message);
  flam_pipe_commit (tracer->pipe, n);
  tracer->stats.samples++;
}

/* Writes the wait so far, with the known stack. */
static void
put_same (FlamTracer *tracer, FlamTask *task, gint64 until)
{
  FlamMessage *message;

  if (until <= task->wall.until)
    return;
  message = flam_pipe_reserve (tracer->pipe, FLAM_MESSAGE_SAME, 0, 0, TRUE);
  if (message != NULL)
    {
      flam_wall_sleep (task, until);
      commit (tracer, task, message, task->blocked_state, until, 0);
    }
  else
    tracer->stats.lost++;
}

/* Copies the stack of a thread that does not run. FALSE if the thread has woken
 * meanwhile, so that the copy may be inconsistent. */
static gboolean
put_asleep (FlamTracer *tracer,
            FlamTask *task,
            const FlamBlocked *blocked,
            gint64 now)
{
  gsize wanted = (gsize)g_atomic_int_get ((gint *)&task->hint_copy);
  gint64 began = flam_tracer_begin_read (task);
  const guint64 regs[FLAM_N_REGS] = {
    [FLAM_UNWIND_SP] = blocked->sp, [FLAM_UNWIND_PC] = blocked->pc
  };
  guint n_items = flam_tracer_walk_runtimes (
      tracer, task, regs, 1u << FLAM_RUNTIME_RSP, 0, now, NULL);
  FlamMessage *message = flam_pipe_reserve (
      tracer->pipe, FLAM_MESSAGE_ASLEEP, n_items, wanted, TRUE);
  FlamSchedstat stat;
  gsize n;

  if (message == NULL)
    {
      tracer->stats.lost++;
      return FALSE;
    }
  task->blocked_copy = (guint)wanted;
  n = flam_read_memory (
      task->tid, blocked->sp, flam_message_stack (message), wanted);
  if (!flam_task_read_schedstat (task, &stat) ||
      stat.count != task->blocked_count)
    {
      if (n_items > 0)
        flam_runtime_reader_forget (tracer->runtimes);
      return FALSE;
    }
  if (n_items > 0)
    flam_runtime_reader_resolve (
        tracer->runtimes, task, flam_message_items (message));
  memcpy (message->regs, regs, sizeof regs);
  message->limited = n == wanted;
  flam_wall_look (task, &stat, now, TRUE);
  commit (tracer, task, message, task->blocked_state, now, n);
  flam_tracer_end_read (tracer, task, began, n, n_items);
  return TRUE;
}

static gboolean
is_off_the_queue (FlamTask *task)
{
  FlamBlocked blocked;
  guint line;

  return flam_task_read_blocked (task, &blocked, &line) && !blocked.running;
}

/* Whether a stack that was read would be read better now: with a runtime that
 * was found only since, or more of it. */
static gboolean
wants_again (const FlamTracer *tracer, const FlamTask *task)
{
  return (tracer->runtimes != NULL && flam_runtime_reader_has_news (task)) ||
         (!task->read_by_stop &&
          (guint)g_atomic_int_get ((const gint *)&task->hint_copy) >
              task->blocked_copy);
}

/* Whether the thread is still in the known sleep. */
static void
still_asleep (FlamTracer *tracer, FlamTask *task, gint64 now)
{
  gint64 before = task->blocked_until;

  if (!wants_wall (tracer) || now - before < LOOK_EVERY ||
      !is_off_the_queue (task))
    return;
  task->blocked_until = now;
  if (task->blocked_known && wants_again (tracer, task))
    task->blocked_known = FALSE;
  if (task->blocked_known && !task->read_by_stop && !task->pending &&
      g_atomic_int_get (&task->hint_needs_bp))
    {
      g_atomic_int_set (&task->hint_needs_bp, FALSE);
      put_same (tracer, task, before);
      task->read_by_stop = task->wants_stop = TRUE;
      return;
    }
  if (task->blocked_known && now - task->wall.until >= SAME_EVERY)
    put_same (tracer, task, now);
}

/* The thread was asleep and has run since: its sleep is written, unless only a
 * stop by the tracer made it run and it sleeps on as before. */
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

  if (was_our_stop)
    {
      task->blocked_count = count;
      return FALSE;
    }
  if (task->blocked && task->blocked_known && wants_wall (tracer))
    put_same (tracer, task, task->blocked_until);
  task->blocked = task->blocked_known = task->read_by_stop = FALSE;
  return TRUE;
}

/* The line must be the same before and after the count is read. */
static gboolean
find_asleep (FlamTask *task,
             FlamBlocked *blocked,
             guint *line,
             FlamSchedstat *stat)
{
  guint again;

  return flam_task_read_blocked (task, blocked, line) && !blocked->running &&
         flam_task_read_schedstat (task, stat) &&
         flam_task_read_blocked (task, blocked, &again) && again == *line;
}

static void
read_stack (FlamTracer *tracer,
            FlamTask *task,
            const FlamBlocked *blocked,
            gint64 now)
{
  if (wants_wall (tracer) && !task->blocked_known)
    task->blocked_known = put_asleep (tracer, task, blocked, now);
}

gboolean
flam_sleepers_sleeps_on (FlamTracer *tracer, FlamTask *task, gint64 now)
{
  FlamBlocked blocked;
  FlamSchedstat stat;
  guint line;

  if (!task->blocked || !flam_task_read_schedstat (task, &stat) ||
      stat.count != task->blocked_count)
    return FALSE;
  still_asleep (tracer, task, now);
  if (wants_wall (tracer) && !task->blocked_known &&
      find_asleep (task, &blocked, &line, &stat) &&
      stat.count == task->blocked_count)
    read_stack (tracer, task, &blocked, now);
  return !task->wants_stop;
}

gboolean
flam_sleepers_check (FlamTracer *tracer, FlamTask *task, gint64 now)
{
  FlamBlocked blocked;
  FlamSchedstat stat = { 0 };
  guint line = 0;
  gboolean sleeps = find_asleep (task, &blocked, &line, &stat);

  if (task->blocked && !wake (tracer, task, stat.count, line, sleeps))
    {
      still_asleep (tracer, task, now);
      return TRUE;
    }
  if (!sleeps)
    return FALSE;
  task->blocked = TRUE;
  task->blocked_count = stat.count;
  task->blocked_cpu = stat.cpu;
  task->blocked_line = line;
  task->blocked_until = now;
  task->blocked_state = (guint8)flam_task_blocked_state (task, &blocked);
  read_stack (tracer, task, &blocked, now);
  return TRUE;
}

void
flam_sleepers_woke (FlamTracer *tracer, FlamTask *task)
{
  if (task->blocked)
    wake (tracer, task, 0, 0, FALSE);
}

gboolean
flam_sleepers_stopped (const FlamTask *task)
{
  return task->blocked && task->read_by_stop;
}
