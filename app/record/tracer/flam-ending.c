/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ending.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>

#include "flam-launch-exec.h"

#define HOLD_TIME (50 * 1000000ll)

static gboolean
reads_later (const FlamTask *task)
{
  const FlamRuntimeSet *set =
      g_atomic_pointer_get (&task->target->hint_runtimes);

  return set != NULL && set->reads_later;
}

static void
set_options (FlamTracer *tracer, FlamTask *task)
{
  unsigned long options =
      flam_launch_exec_options (tracer) | PTRACE_O_TRACEEXIT;

  ptrace (PTRACE_SETOPTIONS, task->tid, NULL, (void *)options);
  task->watched = FLAM_WATCHED;
}

/* The leader often only waits for the other threads, so it is never stopped for
 * a sample. */
void
flam_ending_watch (FlamTracer *tracer, FlamTask *task)
{
  FlamTask *leader;

  if (task->watched == FLAM_WATCHED || !reads_later (task))
    return;
  set_options (tracer, task);
  leader = flam_tasks_find (&tracer->tasks, task->target->pid);
  if (leader != NULL && leader->watched == FLAM_NOT_WATCHED &&
      !leader->pending && !leader->listening &&
      ptrace (PTRACE_INTERRUPT, leader->tid, NULL, NULL) == 0)
    leader->watched = FLAM_TO_BE_WATCHED;
}

void
flam_ending_meet (FlamTracer *tracer, FlamTask *task)
{
  guint64 regs[FLAM_N_REGS];
  FlamStopContext context;

  if (task->watched != FLAM_TO_BE_WATCHED)
    return;
  /* So that the stop does not end its wait. */
  flam_stop_registers (task->tid, TRUE, regs, &context);
  set_options (tracer, task);
}

gboolean
flam_ending_hold (FlamTracer *tracer, FlamTask *task)
{
  guint64 regs[FLAM_N_REGS];
  FlamStopContext context = { 0 };
  FlamTarget *target = task->target;
  gboolean leads = task->tid == target->pid;

  if (!leads)
    flam_stop_registers (task->tid, FALSE, regs, &context);
  if (tracer->stopping || !reads_later (task) ||
      (!leads && context.call != SYS_exit_group))
    return FALSE;
  g_atomic_int_set (&target->hint_read, FALSE);
  flam_tasks_tell_ending (&tracer->tasks, task, flam_tracer_now (tracer));
  flam_pipe_push (tracer->pipe, G_MAXINT64, 0);
  task->held_until = flam_tracer_now (tracer) + HOLD_TIME;
  tracer->n_held++;
  return TRUE;
}

void
flam_ending_let_go (FlamTracer *tracer)
{
  gint64 now = flam_tracer_now (tracer);
  guint n_held = 0;

  if (tracer->n_held == 0)
    return;
  for (guint i = 0; i < tracer->tasks.list->len; i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, i);

      if (task->held_until == 0)
        continue;
      if (now < task->held_until && !tracer->stopping &&
          !g_atomic_int_get (&task->target->hint_read))
        n_held++;
      else
        {
          task->held_until = 0;
          flam_tracer_resume (tracer, task, 0);
        }
    }
  tracer->n_held = n_held;
}
