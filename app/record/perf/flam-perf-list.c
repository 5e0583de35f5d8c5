/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-chains.h"
#include "flam-perf-state.h"
#include "flam-perf-strangers.h"

void
flam_perf_process_free (gpointer data)
{
  FlamPerfProcess *process = data;

  flam_perf_maps_free (process->maps);
  g_free (process);
}

FlamPerfThread *
flam_perf_find_thread (const FlamPerf *perf, pid_t tid)
{
  return g_hash_table_lookup (perf->threads, GINT_TO_POINTER (tid));
}

FlamPerfProcess *
flam_perf_find_process (const FlamPerf *perf, pid_t pid)
{
  return g_hash_table_lookup (perf->processes, GINT_TO_POINTER (pid));
}

FlamPerfThread *
flam_perf_add_thread (FlamPerf *perf,
                      pid_t pid,
                      pid_t parent,
                      pid_t tid,
                      const char *name,
                      gint64 now)
{
  FlamPerfThread *thread = g_new0 (FlamPerfThread, 1);
  FlamPerfProcess *process = flam_perf_find_process (perf, pid);

  thread->task = flam_tasks_add (
      &perf->tracer->tasks, pid, parent, tid, FLAM_BIRTH_EARLIER, name, now);
  thread->task->hint_copy = (gint)perf->stack;
  thread->since = now;
  thread->before = -1;
  if (name != NULL)
    g_strlcpy (thread->name, name, sizeof thread->name);
  else
    flam_proc_comm (pid, tid, thread->name);
  g_hash_table_insert (perf->threads, GINT_TO_POINTER (tid), thread);
  if (process == NULL)
    {
      FlamPerfProcess *above = flam_perf_find_process (perf, parent);

      process = g_new0 (FlamPerfProcess, 1);
      process->target = thread->task->target;
      process->maps = above != NULL ? flam_perf_maps_copy (above->maps)
                                    : flam_perf_maps_new ();
      process->began = now;
      g_hash_table_insert (perf->processes, GINT_TO_POINTER (pid), process);
      if (perf->strangers != NULL)
        flam_perf_strangers_remove (perf->strangers, pid);
    }
  return thread;
}

/* For flam-perf-first. */
static void
count_first_period (FlamPerf *perf, const FlamPerfThread *thread)
{
  gint64 period = (gint64)flam_perf_rings_period (perf->rings, FLAM_PERF_CLOCK);

  if (thread->is_new && perf->strangers == NULL)
    perf->first_periods += MIN (thread->total, period);
}

void
flam_perf_remove_thread (FlamPerf *perf, FlamPerfThread *thread, gint64 now)
{
  pid_t pid = thread->task->target->pid;
  gboolean last = thread->task->target->n_tasks == 1;
  gint64 cpu = flam_perf_thread_pay_all (thread);
  FlamMessage rest = { .cpu = cpu,
                       .ran = cpu,
                       .queued = thread->queued,
                       .slept = thread->slept,
                       .time = now };
  pid_t tid = thread->task->tid;

  if (perf->tracer->chains != NULL)
    flam_perf_chains_forget (perf->tracer->chains, tid);
  g_strlcpy (rest.comm, thread->name, sizeof rest.comm);
  perf->tracer->tasks.charged_cpu += thread->total;
  count_first_period (perf, thread);
  perf->tracer->tasks.switches += thread->switches;
  flam_tasks_retire (&perf->tracer->tasks, thread->task, &rest);
  g_hash_table_remove (perf->threads, GINT_TO_POINTER (tid));
  if (last)
    g_hash_table_remove (perf->processes, GINT_TO_POINTER (pid));
}
