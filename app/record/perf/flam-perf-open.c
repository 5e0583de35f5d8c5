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

FlamPerfRings *
flam_perf_make_rings (FlamPerf *perf, gboolean on_exec, gsize ring_least)
{
  const FlamRecordOptions *options = perf->tracer->options;
  FlamPerfOptions settings = {
    .events = (const FlamPerfEvent *)(gpointer)perf->events->list->data,
    .n_events = perf->events->list->len,
    .frequency = (guint64)options->rate,
    .stack = perf->stack,
    .children = options->follow,
    .on_exec = on_exec,
    .ring_least = ring_least,
    .copies = perf->tracer->chains != NULL
                  ? flam_perf_chains_copies (perf->tracer->chains)
                  : NULL,
  };

  return flam_perf_rings_new (&settings);
}

void
flam_perf_look_at_room (FlamPerf *perf)
{
  perf->prompt |= flam_perf_rings_room (perf->rings) < ROOM;
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
  perf->rings = flam_perf_make_rings (perf, TRUE, 0);
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
gboolean
flam_perf_add_threads (FlamPerf *perf, pid_t pid, pid_t parent, int *problem)
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

void
flam_perf_read_maps (FlamPerfProcess *process)
{
  g_autofree char *text =
      flam_proc_text (process->target->pid, process->target->pid, "maps");

  if (text == NULL)
    return;
  flam_perf_maps_set (process->maps, text);
  process->changed = TRUE;
}

gboolean
flam_perf_attach_to (gpointer data, pid_t pid, pid_t parent, GError **error)
{
  FlamPerf *perf = data;
  g_autofree char *obstacle = flam_attach_obstacle (pid);
  int problem = 0;

  while (obstacle == NULL && problem == 0 &&
         flam_perf_add_threads (perf, pid, parent, &problem))
    ;
  if (flam_perf_find_process (perf, pid) != NULL && problem == 0)
    {
      flam_perf_read_maps (flam_perf_find_process (perf, pid));
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
  perf->rings = flam_perf_make_rings (perf, FALSE, 0);
  return flam_launch_exec_attach (
      perf->tracer, flam_perf_attach_to, perf, error);
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
      flam_perf_look_at_room (perf);
      flam_launch_exec_announce (tracer);
      if (why != NULL)
        flam_tracer_warn (tracer, why);
      if (flam_perf_wants_wall (perf) && perf->names == NULL)
        flam_tracer_warn (
            tracer,
            N_ ("what short waits were for is known only in part: the kernel "
                "hides the addresses of its functions (kernel.kptr_restrict)"));
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
