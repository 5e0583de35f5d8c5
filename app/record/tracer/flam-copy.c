/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-copy.h"

#include <errno.h>
#include <string.h>

#define ALTERNATE_MAX                                                          \
  (1u << 20) /* bytes: a larger stack is not an alternate one \ */
#define ALL_REGS 0xffffu

/* The number of bytes of the stack to copy. */
static gsize
bytes_to_copy (FlamTask *task, guint64 sp)
{
  gsize most = (gsize)g_atomic_int_get ((gint *)&task->hint_copy);
  gsize top = (gsize)g_atomic_pointer_get (&task->hint_top);

  return top > sp && top - sp < most ? top - sp : most;
}

/* The stack pointer of the code interrupted by a handler on an alternate signal
 * stack; 0: none. */
static guint64
interrupted_sp (FlamTask *task, guint64 sp)
{
  gsize saved = (gsize)g_atomic_pointer_get (&task->hint_interrupted);
  guint64 value;

  return saved > sp && saved - sp < ALTERNATE_MAX &&
                 flam_read_memory (task->tid, saved, &value, 8) == 8
             ? value
             : 0;
}

/* With the managed frames, it was read already. */
static gsize
copy_stack (FlamTracer *tracer,
            FlamTask *task,
            guint64 sp,
            FlamMessage *message,
            gsize wanted)
{
  gsize n = 0;
  gconstpointer stack = tracer->runtimes != NULL
                            ? flam_runtime_reader_stack (tracer->runtimes, &n)
                            : NULL;

  if (stack != NULL)
    {
      memcpy (flam_message_stack (message), stack, n);
      return n;
    }
  errno = 0;
  n = flam_read_memory (task->tid, sp, flam_message_stack (message), wanted);
  tracer->stats.unreadable += n == 0 && errno == EPERM;
  return n;
}

void
flam_copy_take (FlamTracer *tracer,
                FlamTask *task,
                FlamMessageKind kind,
                const FlamStopContext *context,
                gint64 now,
                gboolean may_fail,
                FlamCopy *copy)
{
  guint64 sp = copy->regs[FLAM_UNWIND_SP];

  copy->wanted = bytes_to_copy (task, sp);
  copy->other = interrupted_sp (task, sp);
  copy->n_other = copy->other != 0 ? bytes_to_copy (task, copy->other) : 0;
  task->fs_base = context->fs_base;
  copy->n_items = flam_tracer_walk_runtimes (
      tracer, task, copy->regs, ALL_REGS, copy->wanted, now, NULL);
  copy->message = flam_pipe_reserve (tracer->pipe,
                                     kind,
                                     copy->n_items,
                                     copy->wanted + copy->n_other,
                                     may_fail);
  if (copy->message == NULL)
    return;
  copy->n = copy_stack (tracer, task, sp, copy->message, copy->wanted);
  if (copy->n_other > 0)
    copy->n_other =
        flam_read_memory (task->tid,
                          copy->other,
                          (char *)flam_message_stack (copy->message) + copy->n,
                          copy->n_other);
}

void
flam_copy_commit (FlamTracer *tracer, FlamTask *task, FlamCopy *copy)
{
  FlamMessage *message = copy->message;

  if (copy->n_items > 0)
    flam_runtime_reader_resolve (
        tracer->runtimes, task, flam_message_items (message));
  memcpy (message->regs, copy->regs, sizeof copy->regs);
  message->target = task->target;
  message->task = task;
  message->limited = copy->n == copy->wanted;
  message->other_sp = copy->other;
  message->n_other = copy->n_other;
  flam_pipe_commit (tracer->pipe, copy->n + copy->n_other);
  flam_tracer_end_read (tracer, task, copy->began, copy->n, copy->n_items);
}
