/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-chains.h"
#include "flam-perf-state.h"
#include "flam-perf-strangers.h"

#include <errno.h>
#include <string.h>

#include "flam-commands.h"
#include "flam-kernel-names.h"
#include "flam-launch-exec.h"
#include "flam-launch.h"

#define STACK_FIRST (16u << 10)
/* Samples in a ring for which reading it every 5 ms is enough. */
#define ROOM 40
#define TO_BE_READ 2000 /* µs, more than flam_perf_drain() leaves unread */

static FlamPerfRings *
make_rings (FlamPerf *perf, gboolean on_exec)
{
  const FlamRecordOptions *options = perf->tracer->options;
  FlamPerfOptions settings = {
    .events = (const FlamPerfEvent *)(gpointer)perf->events->list->data,
    .n_events = perf->events->list->len,
    .frequency = (guint64)options->rate,
    .stack = perf->stack,
    .children = options->follow,
    .on_exec = on_exec,
    .copies = perf->tracer->chains != NULL
                  ? flam_perf_chains_copies (perf->tracer->chains)
                  : NULL,
  };

  return flam_perf_rings_new (&settings);
}

/* --- the beginning ------------------------------------------------------- */

const char *
flam_perf_refuses (const FlamRecordOptions *options)
{
  if (options->what & FLAM_RECORD_ALLOC)
    return N_ ("the library that records allocations is loaded with ptrace");
  if (options->what & (FLAM_RECORD_FAULTS | FLAM_RECORD_RESOURCES))
    return N_ ("system calls are followed with ptrace");
  return flam_perf_obstacle ();
}

static gboolean
open_events (pid_t pid, gpointer data, GError **error)
{
  FlamPerf *perf = data;

  perf->tracer->origin += flam_tracer_now (perf->tracer);
  return flam_perf_rings_add (perf->rings, pid) ||
         flam_error_set (error,
                         FLAM_ERROR_SYSTEM,
                         N_ ("perf_event_open: %s"),
                         flam_perf_problem (errno));
}

static gboolean
start_program (FlamPerf *perf, GError **error)
{
  FlamTracer *tracer = perf->tracer;
  FlamLaunch launch = {
    .argv = (const char *const *)tracer->options->argv,
    .environment = (const char *const *)tracer->options->environment,
    .directory = tracer->options->directory,
  };
  g_autofree char *path = flam_launch_find (&launch, error);
  pid_t pid;

  if (path == NULL)
    return FALSE;
  perf->rings = make_rings (perf, TRUE);
  pid = flam_launch_start (&launch, path, open_events, perf, error);
  if (pid < 0)
    return FALSE;
  flam_perf_add_thread (perf, pid, 0, pid, NULL, 0)->task->target->chosen =
      TRUE;
  g_array_append_val (tracer->chosen, pid);
  return TRUE;
}

/* The threads without an event: a thread that was created meanwhile is followed
 * if its creator was, and then a record of it exists. */
static gboolean
add_threads (FlamPerf *perf, pid_t pid, pid_t parent, int *problem)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/task", (int)pid);
  GDir *dir = g_dir_open (path, 0, NULL);
  gboolean found = FALSE;
  const char *name;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      pid_t tid = (pid_t)g_ascii_strtoll (name, NULL, 10);

      flam_perf_drain (perf);
      if (g_hash_table_contains (perf->threads, GINT_TO_POINTER (tid)))
        continue;
      if (!flam_perf_rings_add (perf->rings, tid))
        {
          if (errno != ESRCH)
            *problem = errno;
          continue;
        }
      flam_perf_add_thread (
          perf, pid, parent, tid, NULL, flam_tracer_now (perf->tracer));
      found = TRUE;
    }
  if (dir != NULL)
    g_dir_close (dir);
  return found;
}

static void
read_maps (FlamPerfProcess *process)
{
  g_autofree char *text =
      flam_proc_text (process->target->pid, process->target->pid, "maps");

  if (text == NULL)
    return;
  flam_perf_maps_set (process->maps, text);
  process->changed = TRUE;
}

static gboolean
attach_to (gpointer data, pid_t pid, pid_t parent, GError **error)
{
  FlamPerf *perf = data;
  g_autofree char *obstacle = flam_attach_obstacle (pid);
  int problem = 0;

  while (obstacle == NULL && problem == 0 &&
         add_threads (perf, pid, parent, &problem))
    ;
  if (flam_perf_find_process (perf, pid) != NULL && problem == 0)
    {
      read_maps (flam_perf_find_process (perf, pid));
      return TRUE;
    }
  return flam_error_set (
      error,
      FLAM_ERROR_SYSTEM,
      "process %d: %s",
      (int)pid,
      obstacle != NULL ? obstacle
                       : flam_perf_problem (problem != 0 ? problem : ESRCH));
}

static gboolean
attach (FlamPerf *perf, GError **error)
{
  perf->rings = make_rings (perf, FALSE);
  return flam_launch_exec_attach (perf->tracer, attach_to, perf, error);
}

/* The time that a thread used while no event was open. */
static void
catch_up (const FlamPerf *perf, FlamPerfThread *thread)
{
  FlamSchedstat stat;
  gint64 more;

  if (perf->tracer->paused || thread->before < 0 ||
      !flam_task_read_schedstat (thread->task, &stat))
    return;
  more = MAX (stat.cpu - thread->before - thread->total, 0);
  thread->cpu += more;
  thread->total += more;
  thread->since = flam_tracer_now (perf->tracer);
}

/* Those that were created while no event was open. FALSE: there is none. */
static gboolean
add_processes (FlamPerf *perf)
{
  FlamTracer *tracer = perf->tracer;
  g_autoptr (GArray) below =
      tracer->options->follow ? flam_proc_below (tracer->chosen) : NULL;
  gboolean any = FALSE;

  /* Until the records of those that are followed are read. */
  g_usleep (TO_BE_READ);
  flam_perf_drain (perf);
  for (guint i = 0; below != NULL && i < below->len; i++)
    {
      const FlamKin *kin = &g_array_index (below, FlamKin, i);
      FlamPerfThread *thread;

      if (flam_perf_find_process (perf, kin->pid) != NULL ||
          !attach_to (perf, kin->pid, kin->parent, NULL))
        continue;
      any = TRUE;
      thread = flam_perf_find_thread (perf, kin->pid);
      if (thread == NULL)
        continue;
      thread->before = 0;
      catch_up (perf, thread);
    }
  return any;
}

/* A thread that runs may leave its CPU while no event is open, and would seem
 * to run on. */
static void
forget_states (FlamPerf *perf)
{
  GPtrArray *tasks = perf->tracer->tasks.list;

  for (guint i = 0; i < tasks->len; i++)
    {
      const FlamTask *task = g_ptr_array_index (tasks, i);
      FlamPerfThread *thread = flam_perf_find_thread (perf, task->tid);

      if (thread->state != FLAM_PERF_RUNS)
        continue;
      flam_perf_thread_advance (
          thread, flam_tracer_now (perf->tracer), !perf->tracer->paused);
      thread->state = FLAM_PERF_UNKNOWN;
    }
}

void
flam_perf_reopen (FlamPerf *perf)
{
  FlamTasks *tasks = &perf->tracer->tasks;
  g_autoptr (GArray) pids = g_array_new (FALSE, FALSE, sizeof (pid_t));
  GHashTableIter iter;
  gpointer key;
  int problem = 0;

  flam_perf_rings_stop (perf->rings);
  perf->ended = TRUE;
  flam_perf_drain (perf);
  perf->ended = FALSE;
  forget_states (perf);
  flam_perf_rings_free (perf->rings);
  if (perf->wants_more)
    perf->stack = FLAM_PERF_STACK_MOST;
  perf->wants_more = FALSE;
  perf->rings = make_rings (perf, FALSE);
  flam_perf_counts_begin (&perf->counts);
  for (guint i = tasks->list->len; i-- > 0;)
    {
      FlamTask *task = g_ptr_array_index (tasks->list, i);
      FlamPerfThread *thread = flam_perf_find_thread (perf, task->tid);
      gboolean ok = flam_perf_rings_add (perf->rings, task->tid);
      gboolean ended = !ok && errno == ESRCH;

      if (!ok && !ended)
        problem = errno;
      catch_up (perf, thread);
      /* While no event was open: no record tells that. */
      if (ended)
        flam_perf_remove_thread (perf, thread, flam_tracer_now (perf->tracer));
    }
  g_hash_table_iter_init (&iter, perf->processes);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_array_append_vals (pids, &(pid_t){ GPOINTER_TO_INT (key) }, 1);
  for (guint i = 0; i < pids->len; i++)
    {
      pid_t pid = g_array_index (pids, pid_t, i);
      FlamPerfProcess *process = flam_perf_find_process (perf, pid);

      if (process == NULL)
        continue;
      read_maps (process);
      while (add_threads (perf, pid, 0, &problem))
        ;
    }
  while (add_processes (perf))
    ;
  if (perf->strangers != NULL && !flam_perf_rings_add_cpus (perf->rings))
    problem = errno;
  perf->prompt |= flam_perf_rings_room (perf->rings) < ROOM;
  if (problem != 0)
    flam_tracer_warn (perf->tracer, flam_perf_problem (problem));
}

/* Discards everything that this engine has begun: the other one starts over. */
static void
give_up (FlamPerf *perf, GArray *chosen)
{
  FlamTracer *tracer = perf->tracer;

  while (tracer->tasks.list->len > 0)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, 0);

      flam_perf_remove_thread (perf,
                               flam_perf_find_thread (perf, task->tid),
                               flam_tracer_now (tracer));
    }
  g_array_unref (tracer->chosen);
  tracer->chosen = g_array_ref (chosen);
  tracer->tasks.without_proc = FALSE;
  tracer->tasks.charged_cpu = 0;
  flam_perf_free (perf);
}

FlamPerf *
flam_perf_start (FlamTracer *tracer, GError **error)
{
  FlamPerf *perf = g_new0 (FlamPerf, 1);
  g_autoptr (GArray) chosen = g_array_copy (tracer->chosen);
  g_autofree char *why = NULL;

  perf->tracer = tracer;
  perf->events = flam_perf_events_new (tracer->options, &why);
  flam_perf_counts_init (&perf->counts,
                         perf->events->first_count,
                         perf->events->list->len - perf->events->first_count);
  perf->stack = STACK_FIRST;
  perf->threads = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  perf->processes =
      g_hash_table_new_full (NULL, NULL, NULL, flam_perf_process_free);
  perf->waits = g_hash_table_new (NULL, NULL);
  if (tracer->runtimes != NULL)
    tracer->chains = flam_perf_chains_new ();
  if (flam_perf_wants_wall (perf))
    perf->names = flam_kernel_names_new (NULL);
  tracer->origin += flam_tracer_now (tracer);
  tracer->tasks.without_proc = TRUE;
  if (tracer->attached ? attach (perf, error) : start_program (perf, error))
    {
      perf->prompt |= flam_perf_rings_room (perf->rings) < ROOM;
      flam_launch_exec_announce (tracer);
      if (why != NULL)
        flam_tracer_warn (tracer, why);
      return perf;
    }
  give_up (perf, chosen);
  return NULL;
}

void
flam_perf_free (FlamPerf *perf)
{
  g_clear_pointer (&perf->rings, flam_perf_rings_free);
  g_clear_pointer (&perf->strangers, flam_perf_strangers_free);
  g_clear_pointer (&perf->names, flam_kernel_names_free);
  flam_perf_events_free (perf->events);
  flam_perf_counts_clear (&perf->counts);
  g_hash_table_unref (perf->waits);
  g_clear_pointer (&perf->tracer->chains, flam_perf_chains_free);
  g_hash_table_unref (perf->threads);
  g_hash_table_unref (perf->processes);
  g_free (perf);
}
