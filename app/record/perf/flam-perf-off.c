/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-state.h"

#include <string.h>

#include "flam-kernel-names.h"
#include "flam-stops.h"

/* What threads wait for. The kernel samples a thread when it leaves its CPU:
 *
 *   switch sample   off             on, or now and then
 *   STACK           (no message)    SAME: the time since, with that stack
 *
 * A thread that slept when it was attached to has no such sample; its stack is
 * read where it is, since it does not change meanwhile. */

/* How often a long sleep is written, so that it is seen while it lasts. */
#define TELL_EVERY (50 * 1000000ll)
/* A shorter wait for a CPU is not worth a row. */
#define LEAST_QUEUED (100 * 1000ll)

gboolean
flam_perf_wants_wall (const FlamPerf *perf)
{
  return (perf->tracer->options->what & FLAM_RECORD_WALL) != 0;
}

static FlamState
wait_at (FlamPerf *perf, guint64 address)
{
  gpointer key = GSIZE_TO_POINTER (address);
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (perf->waits, key));
  FlamState state = FLAM_STATE_BLOCKED;
  const char *name;

  if (known > 0)
    return (FlamState)(known - 1);
  name = flam_kernel_names_find (perf->names, address);
  if (name != NULL)
    state = flam_function_state (name);
  if (name != NULL && strstr (name, "exc_page_fault") != NULL)
    state = FLAM_STATE_IO;
  g_hash_table_insert (perf->waits, key, GUINT_TO_POINTER (state + 1));
  return state;
}

/* The outermost functions are the ways into the kernel. */
static FlamState
wait_by_names (FlamPerf *perf, const FlamPerfRecord *record)
{
  for (guint i = record->n_kernel; i-- > 0;)
    {
      FlamState state = wait_at (perf, record->kernel[i]);

      if (state != FLAM_STATE_BLOCKED)
        return state;
    }
  return FLAM_STATE_BLOCKED;
}

/* Where the kernel hides its names, the same way into it means the same wait:
 * learn() sees the call of some of them. */
static FlamState
wait_by_way (FlamPerf *perf,
             FlamPerfThread *thread,
             const FlamPerfRecord *record)
{
  guint known;

  thread->way = 0;
  for (guint i = 0; i < record->n_kernel; i++)
    thread->way = (thread->way ^ record->kernel[i]) * 0x9e3779b97f4a7c15;
  known = GPOINTER_TO_UINT (
      g_hash_table_lookup (perf->waits, GSIZE_TO_POINTER (thread->way)));
  return known > 0 ? (FlamState)(known - 1) : FLAM_STATE_BLOCKED;
}

FlamState
flam_perf_wait (FlamPerf *perf,
                FlamPerfThread *thread,
                const FlamPerfRecord *record)
{
  return perf->names != NULL ? wait_by_names (perf, record)
                             : wait_by_way (perf, thread, record);
}

/* A thread that sleeps. It may have woken just now, so later answers replace
 * earlier ones. */
static void
learn (FlamPerf *perf, FlamPerfThread *thread)
{
  FlamBlocked blocked;
  guint line;

  if (!flam_task_read_blocked (thread->task, &blocked, &line) ||
      blocked.running)
    return;
  thread->wait = (guint8)flam_task_blocked_state (thread->task, &blocked);
  g_hash_table_insert (perf->waits,
                       GSIZE_TO_POINTER (thread->way),
                       GUINT_TO_POINTER ((guint)thread->wait + 1));
}

/* Who ended the sleep: a thread of the program, or nobody in it. */
static void
tell_waker (const FlamPerf *perf,
            const FlamPerfThread *thread,
            FlamMessage *message)
{
  if (perf->events->waking < 0)
    return;
  message->at =
      thread->waker != 0 ? (guint64)thread->waker : FLAM_WAKER_OUTSIDE;
  g_strlcpy (message->comm, thread->waker_name, sizeof message->comm);
}

/* `woke`: the sleep is over. */
static void
tell (FlamPerf *perf, FlamPerfThread *thread, FlamState state, gboolean woke)
{
  FlamMessage *message =
      flam_pipe_reserve (perf->tracer->pipe, FLAM_MESSAGE_SAME, 0, 0, TRUE);

  if (message == NULL)
    {
      perf->tracer->stats.lost++;
      return;
    }
  message->target = thread->task->target;
  message->task = thread->task;
  message->time = thread->since;
  message->state = (guint8)state;
  if (state != FLAM_STATE_RUNNABLE)
    {
      message->slept = thread->slept;
      thread->slept = 0;
      if (woke)
        tell_waker (perf, thread, message);
    }
  if (state == FLAM_STATE_RUNNABLE || thread->queued >= LEAST_QUEUED)
    {
      message->queued = thread->queued;
      thread->queued = 0;
    }
  flam_pipe_commit (perf->tracer->pipe, 0);
  perf->tracer->stats.samples++;
}

void
flam_perf_tell_off (FlamPerf *perf, FlamPerfThread *thread, gboolean woke)
{
  if (!flam_perf_wants_wall (perf) || !thread->has_stack)
    return;
  if (thread->slept > 0)
    tell (perf, thread, (FlamState)thread->wait, woke);
  else if (thread->queued >= LEAST_QUEUED)
    tell (perf, thread, FLAM_STATE_RUNNABLE, woke);
}

/* The stack of a thread that sleeps. Only its program and stack counters are
 * known. */
static void
read_stack (FlamPerf *perf, FlamPerfThread *thread)
{
  FlamTracer *tracer = perf->tracer;
  FlamTask *task = thread->task;
  gsize size = perf->stack;
  FlamMessage *message;
  FlamBlocked blocked, again;
  guint line, line_again;
  gsize n;

  if (!flam_task_read_blocked (task, &blocked, &line) || blocked.running)
    return;
  message =
      flam_pipe_reserve (tracer->pipe, FLAM_MESSAGE_ASLEEP, 0, size, TRUE);
  if (message == NULL)
    return;
  n = flam_read_memory (
      task->tid, blocked.sp, flam_message_stack (message), size);
  if (!flam_task_read_blocked (task, &again, &line_again) || line_again != line)
    return;
  thread->wait = (guint8)flam_task_blocked_state (task, &blocked);
  thread->has_stack = TRUE;
  message->target = task->target;
  message->task = task;
  message->time = thread->since;
  message->state = thread->wait;
  message->regs[FLAM_UNWIND_SP] = blocked.sp;
  message->regs[FLAM_UNWIND_PC] = blocked.pc;
  message->limited = n == size;
  message->slept = thread->slept;
  thread->slept = 0;
  flam_pipe_commit (tracer->pipe, n);
  tracer->stats.samples++;
}

void
flam_perf_tell_sleepers (FlamPerf *perf)
{
  gint64 now = flam_perf_rings_until (perf->rings) - perf->tracer->origin;
  GPtrArray *list = perf->tracer->tasks.list;

  if (now - perf->told_at < TELL_EVERY)
    return;
  perf->told_at = now;
  for (guint i = 0; i < list->len; i++)
    {
      FlamTask *task = g_ptr_array_index (list, i);
      FlamPerfThread *thread = flam_perf_find_thread (perf, task->tid);

      flam_perf_thread_compare (thread);
      if (thread->way != 0 && thread->state == FLAM_PERF_SLEEPS)
        learn (perf, thread);
      if (!flam_perf_wants_wall (perf) || thread->state == FLAM_PERF_RUNS ||
          now - thread->since < TELL_EVERY)
        continue;
      flam_perf_thread_advance (thread, now, !perf->tracer->paused);
      if (!thread->has_stack)
        read_stack (perf, thread);
      else
        flam_perf_tell_off (perf, thread, FALSE);
    }
}
