/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-state.h"

#include <errno.h>

#include "flam-commands.h"
#include "flam-launch.h"

/* The size of a copied stack belongs to an event. New events with larger copies
 * are opened beside the old ones, and from a time T on they are the ones that
 * are read, so nothing remains unseen:
 *
 *   old events   ───────────────────┤ closed
 *   new events             ├────────┼──────────────
 *   read         old ───────────────T─ new ────────
 *
 * If the limits leave no room for both, the old ones are closed first, and a
 * warning has the length of the gap. */

#define TO_BE_READ 2000 /* µs, more than flam_perf_drain() leaves unread */
/* The kernel writes one event to the old and the new rings, with a different
 * time in each. Reading it in both does no harm. */
#define APART 2000 /* ns */

/* --- both at once -------------------------------------------------------- */

typedef struct
{
  FlamPerf *perf;
  FlamPerfRings *rings;
  GHashTable *followed; /* tid, set */
} Next;

/* Drops the new events' records. A thread that has begun has inherited them. */
static void
skip_records (const Next *next)
{
  FlamPerfRecord record;

  while (flam_perf_rings_next (next->rings, &record))
    if (record.kind == FLAM_PERF_BEGAN)
      g_hash_table_add (next->followed, GINT_TO_POINTER (record.tid));
}

/* FALSE: it is not possible. `any`: some were not followed. */
static gboolean
follow_tasks (const Next *next, gboolean *any)
{
  const GPtrArray *tasks = next->perf->tracer->tasks.list;

  for (guint i = 0; i < tasks->len; i++)
    {
      const FlamTask *task = g_ptr_array_index (tasks, i);

      if (!g_hash_table_add (next->followed, GINT_TO_POINTER (task->tid)))
        continue;
      *any = TRUE;
      if (!flam_perf_rings_add (next->rings, task->tid) && errno != ESRCH)
        return FALSE;
    }
  return TRUE;
}

/* Until the old events show no thread that the new ones do not follow. */
static gboolean
follow_all (const Next *next)
{
  gboolean any;

  do
    {
      any = FALSE;
      g_usleep (TO_BE_READ);
      flam_perf_drain (next->perf);
      flam_perf_rings_begin (next->rings, 0);
      skip_records (next);
      if (!follow_tasks (next, &any))
        return FALSE;
    }
  while (any);
  return next->perf->strangers == NULL ||
         flam_perf_rings_add_cpus (next->rings);
}

static void
change_to (const Next *next)
{
  FlamPerf *perf = next->perf;
  gint64 time = perf->tracer->origin + flam_tracer_now (perf->tracer);

  flam_perf_rings_stop (perf->rings);
  flam_perf_drain_last (perf, time);
  flam_perf_rings_free (perf->rings);
  perf->rings = next->rings;
  flam_perf_counts_begin (&perf->counts, perf->rings);
  flam_perf_rings_begin_until (perf->rings, time - APART);
  skip_records (next);
}

/* FALSE: the limits do not permit it. */
static gboolean
open_beside (FlamPerf *perf, guint32 stack)
{
  g_autoptr (GHashTable) followed = g_hash_table_new (NULL, NULL);
  Next next = { .perf = perf, .followed = followed };
  guint32 old = perf->stack;

  perf->stack = stack;
  next.rings =
      flam_perf_make_rings (perf, FALSE, flam_perf_rings_size (perf->rings));
  perf->stack = old;
  if (!follow_all (&next))
    {
      flam_perf_rings_free (next.rings);
      return FALSE;
    }
  change_to (&next);
  perf->stack = stack;
  return TRUE;
}

/* --- one after the other ------------------------------------------------- */

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
      tracer->options->follow
          ? flam_tracer_kin_below (&tracer->kin, tracer->chosen)
          : NULL;
  gboolean any = FALSE;

  /* Until the records of those that are followed are read. */
  g_usleep (TO_BE_READ);
  flam_perf_drain (perf);
  for (guint i = 0; below != NULL && i < below->len; i++)
    {
      const FlamKin *kin = &g_array_index (below, FlamKin, i);
      FlamPerfThread *thread;

      if (flam_perf_find_process (perf, kin->pid) != NULL ||
          !flam_perf_attach_to (perf, kin->pid, kin->parent, NULL))
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

static void
follow_again (FlamPerf *perf, int *problem)
{
  FlamTasks *tasks = &perf->tracer->tasks;

  for (guint i = tasks->list->len; i-- > 0;)
    {
      FlamTask *task = g_ptr_array_index (tasks->list, i);
      FlamPerfThread *thread = flam_perf_find_thread (perf, task->tid);
      gboolean ok = flam_perf_rings_add (perf->rings, task->tid);
      gboolean ended = !ok && errno == ESRCH;

      if (!ok && !ended)
        *problem = errno;
      catch_up (perf, thread);
      /* While no event was open: no record tells that. */
      if (ended)
        flam_perf_remove_thread (perf, thread, flam_tracer_now (perf->tracer));
    }
}

static void
follow_new_threads (FlamPerf *perf, int *problem)
{
  g_autoptr (GArray) pids = g_array_new (FALSE, FALSE, sizeof (pid_t));
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, perf->processes);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    g_array_append_vals (pids, &(pid_t){ GPOINTER_TO_INT (key) }, 1);
  for (guint i = 0; i < pids->len; i++)
    {
      pid_t pid = g_array_index (pids, pid_t, i);
      FlamPerfProcess *process = flam_perf_find_process (perf, pid);

      if (process == NULL)
        continue;
      flam_perf_read_maps (process);
      while (flam_perf_add_threads (perf, pid, 0, problem))
        ;
    }
}

static void
warn_of_gap (FlamPerf *perf, gint64 ns)
{
  g_autofree char *text = g_strdup_printf (
      N_ ("nothing was recorded for %.1f ms, while copies of stacks were made "
          "larger: there was no room for old and new events; raise "
          "/proc/sys/kernel/perf_event_mlock_kb and the limit of open files "
          "(ulimit -n)"),
      (double)ns / 1e6);

  flam_tracer_warn (perf->tracer, text);
}

static void
close_and_open (FlamPerf *perf, guint32 stack)
{
  int problem = 0;
  gint64 began = flam_tracer_now (perf->tracer);

  flam_perf_rings_stop (perf->rings);
  flam_perf_drain_last (perf, G_MAXINT64);
  forget_states (perf);
  flam_perf_rings_free (perf->rings);
  perf->stack = stack;
  perf->rings = flam_perf_make_rings (perf, FALSE, 0);
  follow_again (perf, &problem);
  follow_new_threads (perf, &problem);
  flam_perf_counts_begin (&perf->counts, perf->rings);
  warn_of_gap (perf, flam_tracer_now (perf->tracer) - began);
  while (add_processes (perf))
    ;
  if (perf->strangers != NULL && !flam_perf_rings_add_cpus (perf->rings))
    problem = errno;
  if (problem != 0)
    flam_tracer_warn (perf->tracer, flam_perf_problem (problem));
}

void
flam_perf_reopen (FlamPerf *perf)
{
  if (!open_beside (perf, FLAM_PERF_STACK_MOST))
    close_and_open (perf, FLAM_PERF_STACK_MOST);
  perf->wants_more = FALSE;
  flam_perf_look_at_room (perf);
}
