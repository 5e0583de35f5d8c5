/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-sample.h"

#include <string.h>

#include "flam-perf-chains.h"
#include "flam-perf-state.h"

/* Bytes at the end of a copy of a stack. */
#define COMPARED 512

/* The bytes of the copied stack that the walk needs. */
static gsize
needed_bytes (FlamTask *task, const FlamPerfRecord *record)
{
  gsize top = (gsize)g_atomic_pointer_get (&task->hint_top);
  guint64 sp = record->regs[FLAM_UNWIND_SP];

  return top > sp && top - sp < record->stack_size ? (gsize)(top - sp)
                                                   : record->stack_size;
}

/* The part of a stack that is not in the copy, because it has no room for it or
 * ends at a page that is not in memory, such as one of a large array of which
 * no byte was written. The frames there were called long ago, so they are still
 * there unless the end of the copy has changed. Reading such a page brings
 * it into memory. */
static gsize
read_rest (FlamTracer *tracer,
           FlamTask *task,
           const FlamPerfRecord *record,
           gpointer to,
           gsize size)
{
  guint8 now[COMPARED];
  guint64 end = record->regs[FLAM_UNWIND_SP] + record->stack_size;
  gsize compared = MIN (COMPARED, record->stack_size);
  const guint8 *last =
      (const guint8 *)record->stack + record->stack_size - compared;
  gint64 began = flam_tracer_begin_read (task);
  gsize n = flam_read_memory (task->tid, end, to, size);

  flam_tracer_end_read (tracer, task, began, n, 0);
  return flam_read_memory (task->tid, end - compared, now, compared) ==
                     compared &&
                 memcmp (now, last, compared) == 0
             ? n
             : 0;
}

/* The copy has no room for more. */
static gboolean
is_full (const FlamPerfRecord *record, guint32 stack)
{
  return record->has_regs && record->stack_size >= stack;
}

/* How much of it may be needed. Until a whole stack of the thread was seen, a
 * small copy that is full may end anywhere in the stack. */
static gsize
wanted_rest (FlamTask *task, const FlamPerfRecord *record, guint32 stack)
{
  gsize most = (gsize)g_atomic_int_get ((gint *)&task->hint_copy);
  gsize top = (gsize)g_atomic_pointer_get (&task->hint_top);
  guint64 end = record->regs[FLAM_UNWIND_SP] + record->stack_size;

  if (is_full (record, stack) && stack < FLAM_PERF_STACK_MOST)
    most = MAX (most, 2 * record->stack_size);
  if (!record->has_regs || record->stack_size == 0 ||
      most <= record->stack_size)
    return 0;
  most -= record->stack_size;
  return top > end && top - end < most ? (gsize)(top - end)
         : top != 0 && top <= end      ? 0
                                       : most;
}

gboolean
flam_perf_copy_wants_room (FlamTask *task,
                           const FlamPerfRecord *record,
                           guint32 stack)
{
  gsize top = (gsize)g_atomic_pointer_get (&task->hint_top);
  guint32 most = (guint32)g_atomic_int_get ((gint *)&task->hint_copy);

  return stack < FLAM_PERF_STACK_MOST &&
         (most > stack ||
          (is_full (record, stack) &&
           top > record->regs[FLAM_UNWIND_SP] + record->stack_size));
}

/* In the middle of an exec, the thread has the registers of its former program
 * and no memory of it: only the kernel is at work there. */
static gboolean
has_user_code (FlamTask *task, const FlamPerfRecord *record)
{
  guint64 value;

  return record->has_regs &&
         (record->stack_size > 0 || record->n_kernel == 0 ||
          flam_read_memory (
              task->tid, record->regs[FLAM_UNWIND_SP], &value, sizeof value) ==
              sizeof value);
}

/* The stack that a handler on an alternate signal stack has interrupted. It
 * does not change while the handler runs. */
static guint64
interrupted_sp (FlamTask *task, const FlamPerfRecord *record)
{
  guint64 saved = (gsize)g_atomic_pointer_get (&task->hint_interrupted);
  guint64 at = saved - record->regs[FLAM_UNWIND_SP], value = 0;

  if (saved != 0 && record->has_regs && at < record->stack_size &&
      record->stack_size - at >= 8)
    memcpy (&value, (const char *)record->stack + at, 8);
  return value;
}

gboolean
flam_perf_copy_is_short (FlamTask *task,
                         const FlamPerfRecord *record,
                         guint32 stack)
{
  return wanted_rest (task, record, stack) > 0;
}

gboolean
flam_perf_copy_begin (FlamTracer *tracer,
                      FlamTask *task,
                      const FlamPerfRecord *record,
                      FlamMessageKind kind,
                      FlamPerfCopy *copy)
{
  gboolean has_user = has_user_code (task, record);
  gsize n_stack = has_user ? needed_bytes (task, record) : 0;
  gsize n_rest = wanted_rest (task, record, copy->stack);
  gsize n_kernel = record->n_kernel * sizeof *record->kernel;
  guint64 other = interrupted_sp (task, record);
  gsize n_other = other != 0 ? copy->stack : 0;
  guint n_items = tracer->chains != NULL && has_user
                      ? flam_perf_chains_walk (tracer->chains,
                                               tracer,
                                               task,
                                               record,
                                               record->time - tracer->origin)
                      : 0;
  FlamMessage *message = flam_pipe_reserve (
      tracer->pipe, kind, n_items, n_stack + n_rest + n_other + n_kernel, TRUE);

  copy->message = message;
  if (message == NULL)
    return FALSE;
  if (n_items > 0)
    flam_runtime_reader_resolve (
        tracer->runtimes, task, flam_message_items (message));
  if (n_stack > 0)
    memcpy (flam_message_stack (message), record->stack, n_stack);
  if (n_rest > 0)
    {
      n_rest = read_rest (tracer,
                          task,
                          record,
                          (char *)flam_message_stack (message) + n_stack,
                          n_rest);
      n_stack += n_rest;
    }
  message->limited = n_stack < record->stack_size || n_stack >= copy->stack;
  if (n_other > 0)
    n_other = flam_read_memory (task->tid,
                                other,
                                (char *)flam_message_stack (message) + n_stack,
                                n_other);
  if (n_kernel > 0)
    memcpy ((char *)flam_message_stack (message) + n_stack + n_other,
            record->kernel,
            n_kernel);
  memcpy (message->regs, record->regs, sizeof record->regs);
  message->target = task->target;
  message->task = task;
  message->other_sp = other;
  message->n_other = n_other;
  message->n_kernel = (guint32)n_kernel;
  message->kernel_only = !has_user;
  copy->size = n_stack + n_other + n_kernel;
  return TRUE;
}

void
flam_perf_copy_commit (FlamTracer *tracer, FlamPerfCopy *copy)
{
  flam_pipe_commit (tracer->pipe, copy->size);
}

/* --- counts -------------------------------------------------------------- */

void
flam_perf_counts_init (FlamPerfCounts *counts, guint first, guint n)
{
  counts->first = first;
  counts->told = g_array_new (FALSE, TRUE, sizeof (guint64));
  counts->taken = g_array_new (FALSE, TRUE, sizeof (guint));
  g_array_set_size (counts->told, n);
  g_array_set_size (counts->taken, n);
}

void
flam_perf_counts_clear (FlamPerfCounts *counts)
{
  g_clear_pointer (&counts->told, g_array_unref);
  g_clear_pointer (&counts->taken, g_array_unref);
}

void
flam_perf_counts_begin (FlamPerfCounts *counts, const FlamPerfRings *rings)
{
  for (guint i = 0; i < counts->told->len; i++)
    g_array_index (counts->told, guint64, i) =
        flam_perf_rings_count (rings, counts->first + i);
}

void
flam_perf_counts_note (FlamPerfCounts *counts,
                       FlamTracer *tracer,
                       FlamTask *task,
                       const FlamPerfRecord *record)
{
  guint i = record->event - counts->first;
  FlamMessage *message =
      flam_pipe_reserve (tracer->pipe, FLAM_MESSAGE_COUNTED, 0, 0, FALSE);

  message->target = task->target;
  message->task = task;
  message->time = MAX (record->time - tracer->origin, 0);
  message->event = i;
  message->count = (gint64)record->period;
  flam_pipe_commit (tracer->pipe, 0);
  g_array_index (counts->taken, guint, i)++;
  tracer->stats.samples++;
}

gboolean
flam_perf_counts_take (FlamPerfCounts *counts,
                       FlamTracer *tracer,
                       FlamTask *task,
                       const FlamPerfRecord *record,
                       guint32 stack)
{
  FlamPerfCopy copy = { .stack = stack };

  if (!flam_perf_copy_begin (tracer, task, record, FLAM_MESSAGE_STACK, &copy))
    return FALSE;
  copy.message->time = MAX (record->time - tracer->origin, 0);
  flam_perf_copy_commit (tracer, &copy);
  flam_perf_counts_note (counts, tracer, task, record);
  return TRUE;
}

void
flam_perf_counts_tell (FlamPerfCounts *counts,
                       FlamTracer *tracer,
                       const FlamPerfRings *rings,
                       gboolean last)
{
  for (guint i = 0; i < counts->told->len; i++)
    {
      guint64 *told = &g_array_index (counts->told, guint64, i), count;
      FlamMessage *message;

      if (g_array_index (counts->taken, guint, i) == 0 && !tracer->paused &&
          !last)
        continue;
      /* Each one is a sample, or lost. */
      if (flam_perf_rings_period (rings, counts->first + i) == 1)
        count = *told + g_array_index (counts->taken, guint, i);
      else
        count = flam_perf_rings_count (rings, counts->first + i);
      message =
          flam_pipe_reserve (tracer->pipe, FLAM_MESSAGE_TOTAL, 0, 0, FALSE);
      message->time = flam_tracer_now (tracer);
      message->event = i;
      message->count = (gint64)(count - *told);
      flam_pipe_commit (tracer->pipe, 0);
      *told = count;
      g_array_index (counts->taken, guint, i) = 0;
    }
}
