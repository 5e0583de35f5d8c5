/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-call-stops.h"

#include <stdlib.h>
#include <sys/ptrace.h>

#include "flam-call-tell.h"
#include "flam-copy.h"
#include "flam-joins.h"
#include "flam-launch-exec.h"
#include "flam-launch.h"
#include "flam-machine.h"

gboolean
flam_call_stops_are_wanted (const FlamRecordOptions *options)
{
  return (options->what & (FLAM_RECORD_FAULTS | FLAM_RECORD_RESOURCES)) != 0;
}

/* Sends the stack of the next events. */
static void
tell_stack (FlamTracer *tracer, FlamTask *task, gint64 now)
{
  FlamCopy copy = { .began = 0 };
  FlamStopContext context;

  if (!flam_stop_registers (task->tid, FALSE, copy.regs, &context))
    return;
  flam_launch_exec_look (tracer, task);
  flam_copy_take (
      tracer, task, FLAM_MESSAGE_STACK, &context, now, FALSE, &copy);
  copy.message->time = now;
  flam_copy_commit (tracer, task, &copy);
}

static void
tell_all (FlamTracer *tracer,
          FlamTask *task,
          const FlamCallEvent *events,
          guint n)
{
  gint64 now = flam_tracer_now (tracer);

  if (n > 0 && !tracer->paused && flam_call_gets (events, n))
    tell_stack (tracer, task, now);
  for (guint i = 0; i < n; i++)
    flam_call_tell (tracer, task, events[i]);
}

static void
enter (FlamTracer *tracer,
       FlamTask *task,
       const struct __ptrace_syscall_info *info)
{
  FlamCallEvent events[FLAM_CALL_EVENTS_MAX];

  task->in_call = TRUE;
  task->call.number =
      info->arch == FLAM_MACHINE_AUDIT ? (long)info->entry.nr : -1;
  for (guint i = 0; i < G_N_ELEMENTS (task->call.arguments); i++)
    task->call.arguments[i] = info->entry.args[i];
  tell_all (
      tracer,
      task,
      events,
      flam_call_enter (tracer->options->what, &task->call, task->tid, events));
}

static void
leave (FlamTracer *tracer,
       FlamTask *task,
       const struct __ptrace_syscall_info *info)
{
  FlamCallEvent events[FLAM_CALL_EVENTS_MAX];

  if (task->in_call)
    tell_all (tracer,
              task,
              events,
              flam_call_leave (tracer->options->what,
                               &task->call,
                               task->tid,
                               info->exit.rval,
                               events));
  task->in_call = FALSE;
}

void
flam_call_stops_handle (FlamTracer *tracer, FlamTask *task)
{
  struct __ptrace_syscall_info info;

  if (ptrace (PTRACE_GET_SYSCALL_INFO, task->tid, (void *)sizeof info, &info) >
      0)
    {
      if (info.op == PTRACE_SYSCALL_INFO_ENTRY)
        enter (tracer, task, &info);
      else if (info.op == PTRACE_SYSCALL_INFO_EXIT)
        leave (tracer, task, &info);
    }
  flam_tracer_resume (tracer, task, 0);
}

void
flam_call_stops_created (FlamTracer *tracer, FlamTask *task, pid_t created)
{
  FlamCallEvent event = { FLAM_CALL_BEGIN_THREAD, 0, 1 };

  if (!(tracer->options->what & FLAM_RECORD_RESOURCES) || created <= 0 ||
      !flam_stop_is_thread (task->target->pid, created))
    return;
  flam_joins_begin (tracer, task, created);
  event.at = (guint64)created;
  tell_all (tracer, task, &event, 1);
}

void
flam_call_stops_ending (FlamTracer *tracer, FlamTask *task)
{
  if (tracer->options->what & FLAM_RECORD_RESOURCES)
    flam_joins_end (tracer, task);
}

/* --- exec ---------------------------------------------------------------- */

static int
compare_numbers (gconstpointer a, gconstpointer b)
{
  guint x = *(const guint *)a, y = *(const guint *)b;

  return x < y ? -1 : x > y;
}

static GArray *
list_descriptors (pid_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/fd", (int)pid);
  GDir *dir = g_dir_open (path, 0, NULL);
  GArray *numbers;
  const char *name;

  if (dir == NULL)
    return NULL;
  numbers = g_array_new (FALSE, FALSE, sizeof (guint));
  while ((name = g_dir_read_name (dir)) != NULL)
    g_array_append_vals (numbers, &(guint){ (guint)atoi (name) }, 1);
  g_dir_close (dir);
  g_array_sort (numbers, compare_numbers);
  return numbers;
}

/* Descriptors between those that are open were closed. */
static void
tell_closed (FlamTracer *tracer, FlamTask *task)
{
  g_autoptr (GArray) numbers = list_descriptors (task->target->pid);
  guint64 from = 0;

  for (guint i = 0; numbers != NULL && i <= numbers->len; i++)
    {
      guint64 to = i < numbers->len ? g_array_index (numbers, guint, i)
                                    : (guint64)G_MAXINT32 + 1;

      if (to > from)
        flam_call_tell (
            tracer, task, (FlamCallEvent){ FLAM_CALL_CLOSE, from, to - from });
      from = to + 1;
    }
}

void
flam_call_stops_exec (FlamTracer *tracer, FlamTask *task)
{
  task->call.number = -1;
  task->in_call = FALSE;
  flam_joins_exec (tracer, task);
  if (tracer->options->what & FLAM_RECORD_RESOURCES)
    tell_closed (tracer, task);
}
