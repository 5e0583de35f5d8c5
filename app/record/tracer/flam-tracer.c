/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-tracer.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <time.h>

#include "flam-call-stops.h"
#include "flam-commands.h"
#include "flam-copy.h"
#include "flam-core-picture.h"
#include "flam-ending.h"
#include "flam-faults.h"
#include "flam-joins.h"
#include "flam-newcomers.h"
#include "flam-launch-exec.h"
#include "flam-launch.h"
#include "flam-priority.h"
#include "flam-proc.h"
#include "flam-sleepers.h"
#include "flam-wall.h"

/* One loop waits for three events: the clock, a stop, a command.
 *
 *   tick     threads that sleep are left alone (flam-sleepers.c); all others
 *            are sent PTRACE_INTERRUPT at once, at most one pending for each
 *   stop     copy registers and stack, continue the thread, and only then
 *            process the copy
 *   command  stop, pause, mark ...
 *
 * Rules, each of them the result of a target that hung or was never sampled
 * again:
 * - wait for all, never for one by number: a leader that has ended is not
 *   reported until its other threads are.
 * - an ended thread is read before it is reaped: its name and CPU time are
 *   final then. The stop at the end (PTRACE_O_TRACEEXIT), which does not
 * include the time to release the memory, serves only flam-ending.c.
 * - never wait for one thread in particular, never stop the world.
 * - any stop replaces the INTERRUPT that is on its way: take the sample there.
 * - a group stop gets PTRACE_LISTEN; PTRACE_CONT would undo SIGSTOP.
 * - the parent of a vfork does not stop until the child is done: no time limit.
 * - no PTRACE_O_EXITKILL: the target outlives the recorder.
 * - processes that outlive the program (a daemon, a compile server) are
 *   detached, or the recording would never end.
 *
 * Attribution of time. A tick is a random instant; only the threads that are on
 * a CPU at it get a sample: flam-instant.c explains how they are found. CPU
 * time is never attributed to a wait.
 *
 * A sample weighs the CPU time around it, half of the time since the previous
 * sample and half of the time until the next one (flam-sampler.c). So the delay
 * of a stop does not matter, nor the number of skipped ticks, nor that threads
 * are sampled less often if their stacks are so deep that reading them takes
 * long; the sum of a thread's samples is its CPU time in the kernel's account.
 * The time that is not near any sample when a thread ends is reported with its
 * end: it is divided with siblings (flam-gaps.h), or is a row of its own. */

#define IDLE_PERIOD (10 * 1000000ll)
#define BATCH_AGE (10 * 1000000ll)
/* How often threads that are held at their end are looked at. */
#define HELD_PAUSE (500 * 1000ll)
#define FAULT_FDS_MAX 64 /* rings: one per CPU */
/* The time of polling for stops: nearly all threads that run on another CPU
 * stop 8 to 30 µs after the INTERRUPT, further ones soon after the first. */
#define FIRST_STOP_TIME (40 * 1000ll)
#define NEXT_STOP_TIME (15 * 1000ll)

static gboolean
samples_threads (const FlamRecordOptions *options)
{
  return (options->what & (FLAM_RECORD_CPU | FLAM_RECORD_WALL)) != 0;
}

void
flam_tracer_init (FlamTracer *tracer,
                  const FlamRecordOptions *options,
                  FlamControl *control,
                  FlamPipe *pipe)
{
  memset (tracer, 0, sizeof *tracer);
  tracer->options = options;
  tracer->control = control;
  tracer->pipe = pipe;
  tracer->origin = flam_tracer_now (tracer);
  tracer->period = (gint64)(1e9 / options->rate);
  /* Allocations only: no thread is stopped, the loop has only its own work. */
  if (!samples_threads (options))
    tracer->period = MAX (tracer->period, IDLE_PERIOD);
  tracer->next_tick = tracer->period;
  tracer->paused = tracer->delayed = options->delay > 0;
  tracer->exit_status = -1;
  tracer->instant.fd = tracer->instant.sched_fd = -1;
  if (options->runtimes)
    tracer->runtimes = flam_runtime_reader_new ();
  tracer->due = g_ptr_array_new ();
  tracer->attached = flam_record_options_attaches (options);
  tracer->follows_calls = flam_call_stops_are_wanted (options);
  tracer->chosen = g_array_new (FALSE, FALSE, sizeof (pid_t));
  flam_tasks_init (&tracer->tasks, pipe);
}

void
flam_tracer_clear (FlamTracer *tracer)
{
  flam_tasks_clear (&tracer->tasks);
  g_ptr_array_unref (tracer->due);
  g_array_unref (tracer->chosen);
  flam_tracer_kin_clear (&tracer->kin);
  g_clear_pointer (&tracer->newcomers, flam_newcomers_free);
  g_clear_pointer (&tracer->runtimes, flam_runtime_reader_free);
  flam_instant_clear (&tracer->instant);
  g_clear_pointer (&tracer->faults, flam_faults_free);
}

gint64
flam_tracer_stop_time (const FlamTracer *tracer, guint percent)
{
  guint64 total = 0, below = 0;

  for (guint i = 0; i < FLAM_STOP_BINS; i++)
    total += tracer->stats.stops[i];
  for (guint i = 0; i < FLAM_STOP_BINS; i++)
    if ((below += tracer->stats.stops[i]) * 100 > total * percent)
      return i * 1000ll;
  return 0;
}

/* --- samples ------------------------------------------------------------- */

static void
count_stop (FlamTracer *tracer, gint64 ns)
{
  tracer->stats.stops[CLAMP (ns / 1000, 0, FLAM_STOP_BINS - 1)]++;
}

/* The use of the stop: the state of its sample. FALSE: no sample. */
static gboolean
judge (FlamTracer *tracer,
       FlamTask *task,
       const FlamSchedstat *stat,
       const FlamStopContext *context,
       FlamState *state)
{
  gboolean estimated, wall = (tracer->options->what & FLAM_RECORD_WALL) != 0;

  *state = FLAM_STATE_RUNNING;
  if (flam_sleepers_stopped (task))
    {
      *state = task->blocked_state;
      return TRUE;
    }
  flam_instant_note (task, context);
  if (flam_instant_judge (task,
                          stat,
                          context,
                          tracer->none_at,
                          flam_tracer_now (tracer),
                          &estimated) == FLAM_INSTANT_QUEUED)
    *state = FLAM_STATE_RUNNABLE;
  tracer->stats.uncertain += estimated;
  tracer->stats.waiting += *state == FLAM_STATE_RUNNABLE && !wall;
  return *state == FLAM_STATE_RUNNING || wall;
}

static void
account (FlamTask *task, FlamMessage *message, gint64 cpu)
{
  flam_wall_pay (task, message);
  if (message->state != FLAM_STATE_RUNNING)
    return;
  message->cpu = MAX (cpu - task->cpu_seen, 0);
  task->cpu_seen = cpu;
}

/* Handles a stopped thread that was sent an INTERRUPT: takes the sample and
 * continues the thread. */
static void
sample_stopped (
    FlamTracer *tracer, FlamTask *task, FlamStop stop, gboolean serves, int sig)
{
  FlamCopy copy = { .began = flam_tracer_begin_read (task) };
  FlamStopContext context;
  FlamState state = FLAM_STATE_RUNNING;
  FlamSchedstat stat;
  gint64 now;
  gboolean ok = flam_stop_registers (task->tid, TRUE, copy.regs, &context) &&
                flam_task_read_schedstat (task, &stat);
  gint64 counted_at = flam_tracer_now (tracer);
  gboolean good = ok && judge (tracer, task, &stat, &context, &state);

  if (good)
    {
      flam_launch_exec_look (tracer, task);
      flam_copy_take (tracer,
                      task,
                      FLAM_MESSAGE_SAMPLE,
                      &context,
                      task->interrupted_at,
                      TRUE,
                      &copy);
    }
  flam_ending_watch (tracer, task);
  if (stop.kind == FLAM_STOP_CALL)
    flam_short_call_pass (task, TRUE);
  else if (!serves)
    flam_short_call_repeat (task, context.call, context.result);
  flam_tracer_resume (tracer, task, sig);
  now = flam_tracer_now (tracer);
  count_stop (tracer, now - task->interrupted_at);
  tracer->stats.late += now - task->interrupted_at > tracer->period;
  task->target->foreign |= context.foreign;
  if (ok)
    flam_wall_look (task,
                    &stat,
                    counted_at,
                    context.cut_off || flam_sleepers_stopped (task));
  if (copy.message == NULL)
    {
      tracer->stats.lost += !context.foreign && (good || !ok);
      return;
    }
  copy.message->time = task->interrupted_at;
  copy.message->state = (guint8)state;
  account (task, copy.message, stat.cpu);
  flam_copy_commit (tracer, task, &copy);
  tracer->stats.samples++;
}

/* --- stops --------------------------------------------------------------- */

static FlamTask *
adopt_as (FlamTracer *tracer,
          pid_t pid,
          pid_t parent,
          pid_t tid,
          FlamTaskBirth birth,
          const char *name,
          gint64 now)
{
  FlamTarget *above =
      g_hash_table_lookup (tracer->tasks.by_pid, GINT_TO_POINTER (parent));
  FlamTask *task = flam_tasks_add (&tracer->tasks,
                                   pid,
                                   parent,
                                   tid,
                                   birth,
                                   name[0] != '\0' ? name : NULL,
                                   now);

  if (above != NULL && above->attached != NULL && task->target->n_tasks == 1 &&
      !task->target->injected)
    {
      task->target->attached = flam_alloc_attached_copy (above->attached, pid);
      task->target->injected = TRUE;
    }
  return task;
}

/* A new thread, whose first stop came before that of its creator. */
static FlamTask *
adopt (FlamTracer *tracer, pid_t tid, gint64 now)
{
  pid_t pid, parent;
  char name[16] = "";

  return flam_proc_family (tid, &pid, &parent, name)
             ? adopt_as (
                   tracer, pid, parent, tid, FLAM_BIRTH_EARLIER, name, now)
             : NULL;
}

/* The thread or process that `creator` has created. All is known of it without
 * a look into /proc, which takes longer than all else that is done for a
 * process that ends soon. */
static void
adopt_created (FlamTracer *tracer, FlamTask *creator, pid_t tid)
{
  pid_t above = creator->target->pid;

  if (tid <= 0 || flam_tasks_find (&tracer->tasks, tid) != NULL)
    return;
  if (flam_stop_is_process (tid))
    adopt_as (tracer,
              tid,
              above,
              tid,
              FLAM_BIRTH_NOW,
              creator->comm,
              flam_tracer_now (tracer));
  else if (flam_stop_is_thread (above, tid))
    adopt_as (tracer,
              above,
              0,
              tid,
              FLAM_BIRTH_NOW,
              creator->comm,
              flam_tracer_now (tracer));
}

/* Handles a thread that has ended, and is not reaped yet. FALSE: it cannot
 * be. */
static gboolean
handle_end (FlamTracer *tracer, pid_t tid)
{
  FlamTask *task = flam_tasks_find (&tracer->tasks, tid);
  gint64 now = flam_tracer_now (tracer);
  gboolean reaped;
  int status;

  if (task != NULL && tracer->faults != NULL)
    flam_faults_drain (tracer->faults, tracer);
  if (task != NULL && tracer->paused)
    flam_task_skip (task, now);
  if (task != NULL)
    flam_tasks_begin_to_remove (&tracer->tasks, task, TRUE, now);
  reaped = flam_wait_reap (tid, &status);
  if (task != NULL)
    flam_tasks_take_out (&tracer->tasks, task, now);
  if (!reaped)
    return FALSE;
  if (tracer->chosen->len == 1 &&
      tid == g_array_index (tracer->chosen, pid_t, 0))
    tracer->exit_status = flam_stop_read (status).value;
  return TRUE;
}

/* Detaches a thread that is still alive. */
static void
leave (FlamTracer *tracer, FlamTask *task)
{
  if (tracer->faults != NULL)
    flam_faults_drain (tracer->faults, tracer);
  task->is_kept = TRUE;
  flam_tracer_note_survivor (tracer, task);
  flam_tasks_remove (&tracer->tasks, task, FALSE, flam_tracer_now (tracer));
}

static void
detach (FlamTracer *tracer, FlamTask *task, pid_t tid, int sig)
{
  if (task != NULL)
    {
      flam_joins_look (tracer, task);
      leave (tracer, task);
    }
  ptrace (PTRACE_DETACH, tid, NULL, (void *)(glong)sig);
}

/* Threads of a child process of a kind that is not followed. */
static gboolean
is_unwanted (FlamTracer *tracer, const FlamTask *task)
{
  return !tracer->options->follow && !task->target->chosen;
}

/* The first stop of a new thread. It runs while its data is read: a process
 * that ends soon has spent a good part of its time in this stop otherwise. */
static void
meet_new (FlamTracer *tracer, pid_t tid)
{
  flam_tracer_resume_new (tracer, tid);
  adopt (tracer, tid, flam_tracer_now (tracer));
  flam_instant_resumed (&tracer->instant);
}

/* A stop that serves nothing: it must not end the call in which the thread
 * waited. `task`: NULL if a part of the call is not to be repeated. */
static void
pass_over (FlamTask *task, pid_t tid)
{
  guint64 regs[FLAM_N_REGS];
  FlamStopContext context;

  if (flam_stop_registers (tid, TRUE, regs, &context) && task != NULL)
    flam_short_call_repeat (task, context.call, context.result);
}

/* A signal that the program ignores does not interrupt it, unless it is traced:
 * another stop that serves nothing. */
static gboolean
is_without_effect (FlamTask *task, int sig)
{
  guint64 regs[FLAM_N_REGS];
  FlamStopContext context;

  return flam_stop_registers (task->tid, FALSE, regs, &context) &&
         (context.fails || flam_short_call_is_at (task)) &&
         flam_proc_ignores (task->target->pid, sig);
}

static void
handle_stop (FlamTracer *tracer, pid_t tid, int status)
{
  FlamStop stop = flam_stop_read (status);
  FlamTask *task = flam_tasks_find (&tracer->tasks, tid);
  int sig = stop.kind == FLAM_STOP_SIGNAL ? stop.value : 0;
  gboolean pending, is_first, serves;

  tracer->stats.handled++;
  if (task == NULL && stop.kind == FLAM_STOP_INTERRUPT && !tracer->stopping)
    {
      meet_new (tracer, tid);
      return;
    }
  if (task == NULL)
    task = adopt (tracer, tid, flam_tracer_now (tracer));
  if (task != NULL && task->short_call.active && tracer->stopping &&
      stop.kind == FLAM_STOP_CALL)
    {
      flam_short_call_pass (task, FALSE);
      if (task->short_call.active)
        {
          flam_tracer_resume (tracer, task, 0);
          return;
        }
    }
  serves = stop.kind != FLAM_STOP_INTERRUPT &&
           !(stop.kind == FLAM_STOP_SIGNAL && task != NULL &&
             is_without_effect (task, sig));
  if (task != NULL && stop.kind != FLAM_STOP_CALL &&
      (serves || tracer->stopping))
    flam_short_call_settle (task);
  if (task == NULL || tracer->stopping || is_unwanted (tracer, task))
    {
      if (stop.kind == FLAM_STOP_INTERRUPT)
        pass_over (NULL, tid);
      detach (tracer, task, tid, sig);
      return;
    }
  pending = task->pending;
  is_first = task->is_new;
  task->pending = task->is_new = FALSE;
  task->listening = stop.kind == FLAM_STOP_GROUP;
  if (task->listening)
    ptrace (PTRACE_LISTEN, tid, NULL, NULL);
  else if (stop.kind == FLAM_STOP_EXEC)
    {
      if (tracer->follows_calls)
        flam_call_stops_exec (tracer, task);
      flam_launch_exec_exec (tracer, task);
    }
  else if (stop.kind == FLAM_STOP_CALL && tracer->follows_calls)
    {
      flam_short_call_pass (task, pending);
      flam_call_stops_handle (tracer, task);
    }
  else if (stop.kind == FLAM_STOP_ENDING)
    {
      flam_call_stops_ending (tracer, task);
      if (!flam_ending_hold (tracer, task))
        flam_tracer_resume (tracer, task, 0);
    }
  else if (pending && !tracer->paused && stop.kind != FLAM_STOP_CLONE &&
           !is_first)
    sample_stopped (tracer, task, stop, serves, sig);
  else if (stop.kind == FLAM_STOP_CLONE)
    {
      pid_t created = flam_stop_created (tid);

      flam_ending_meet (tracer, task);
      flam_call_stops_created (tracer, task, created);
      flam_tracer_resume (tracer, task, 0);
      adopt_created (tracer, task, created);
    }
  else
    {
      if (stop.kind == FLAM_STOP_CALL)
        {
          if (pending)
            pass_over (NULL, tid);
          flam_short_call_pass (task, pending);
        }
      else if (!serves && !is_first)
        pass_over (task, tid);
      flam_ending_meet (tracer, task);
      flam_tracer_resume (tracer, task, sig);
    }
  if (!tracer->follows_calls)
    flam_instant_resumed (&tracer->instant);
}

/* --- the allocation library ---------------------------------------------- */

static void
pass_stop (gpointer data, pid_t tid, int status)
{
  handle_stop (data, tid, status);
}

static FlamTracing
tracing_of (FlamTracer *tracer)
{
  return (FlamTracing){ pass_stop, tracer, flam_launch_exec_options (tracer) };
}

/* The processes that exist now. */
static GArray *
list_processes (const FlamTracer *tracer)
{
  GArray *pids = g_array_new (FALSE, FALSE, sizeof (pid_t));
  GHashTableIter iter;
  gpointer key;

  g_hash_table_iter_init (&iter, tracer->tasks.by_pid);
  while (g_hash_table_iter_next (&iter, &key, NULL))
    {
      pid_t pid = GPOINTER_TO_INT (key);

      g_array_append_val (pids, pid);
    }
  return pids;
}

static void
withdraw (FlamTracer *tracer)
{
  FlamTracing tracing = tracing_of (tracer);
  g_autoptr (GArray) pids = list_processes (tracer);

  tracer->withdraw = NULL;
  for (guint i = 0; i < pids->len; i++)
    {
      FlamTarget *target = g_hash_table_lookup (
          tracer->tasks.by_pid,
          GINT_TO_POINTER (g_array_index (pids, pid_t, i)));

      if (target != NULL && target->attached != NULL &&
          !flam_alloc_detach (g_steal_pointer (&target->attached), &tracing) &&
          flam_proc_lives (g_array_index (pids, pid_t, i)))
        flam_tracer_warn (
            tracer,
            N_ ("the library that records allocations could not be removed "
                "from a process; it no longer has any effect there"));
    }
}

gboolean
flam_tracer_refuse_library (pid_t pid, const char *why, GError **error)
{
  return flam_error_set (
      error,
      FLAM_ERROR_UNSUPPORTED,
      N_ ("process %d: its allocations cannot be recorded, because it %s"),
      (int)pid,
      why);
}

gboolean
flam_tracer_attach_library (FlamTracer *tracer, GError **error)
{
  FlamTracing tracing = tracing_of (tracer);
  g_autoptr (GArray) pids = list_processes (tracer);
  g_autoptr (GError) first = NULL;
  gboolean any = FALSE;

  tracer->withdraw = withdraw;
  for (guint i = 0; i < pids->len; i++)
    {
      pid_t pid = g_array_index (pids, pid_t, i);
      g_autofree char *why =
          flam_launch_exec_attach_library (tracer, &tracing, pid);

      any |= why == NULL;
      if (why != NULL && first == NULL)
        flam_tracer_refuse_library (pid, why, &first);
    }
  if (!any && first != NULL)
    g_propagate_error (error, g_steal_pointer (&first));
  return any;
}

static void
attach_library_to (FlamTracer *tracer, GArray *pids)
{
  FlamTracing tracing = tracing_of (tracer);

  for (guint i = 0; tracer->injection != NULL && i < pids->len; i++)
    g_free (flam_launch_exec_attach_library (
        tracer, &tracing, g_array_index (pids, pid_t, i)));
}

/* `last`: no process is left. FALSE: none has come. */
static gboolean
take_newcomers (FlamTracer *tracer, gboolean last)
{
  g_autoptr (GArray) pids =
      last ? flam_newcomers_wait (tracer, flam_launch_exec_attach_to, tracer)
           : flam_newcomers_look (tracer, flam_launch_exec_attach_to, tracer);

  if (pids != NULL)
    attach_library_to (tracer, pids);
  return pids != NULL;
}

/* --- the loop's events ---------------------------------------------------- */

/* Handles all stops and ends. FALSE: no thread is left to wait for. */
static gboolean
drain (FlamTracer *tracer)
{
  for (;;)
    {
      gboolean ended;
      int status;
      pid_t tid = flam_wait_stopped (&status);

      if (tid > 0)
        {
          handle_stop (tracer, tid, status);
          continue;
        }
      tracer->none_at = flam_tracer_now (tracer);
      tid = flam_wait_next (&ended);
      if (tid <= 0)
        return tid == 0;
      if (ended && !handle_end (tracer, tid))
        return TRUE;
    }
}

/* Whether threads were stopped for it.
 *
 * Polling for a stop is cheaper than sleeping until a wake-up, for the target
 * too, because the kernel would charge the wake-up to it: 15 µs per stop
 * instead of 24. Such stops need no SIGCHLD either, which would end the next
 * ppoll() at once. Stops without SIGCHLD are found by the drain() that
 * follows. */
static gboolean
take_samples (FlamTracer *tracer, gint64 now)
{
  guint expected;
  gboolean stops;
  gint64 until, sent;

  flam_commands_hear_stops (FALSE);
  expected = flam_ticks_take (tracer, now);
  stops = expected > 0;
  sent = flam_tracer_now (tracer);
  until = expected > 0 && flam_ticks_reach_elsewhere (
                              tracer, now, sent + NEXT_STOP_TIME)
              ? sent + FIRST_STOP_TIME
              : sent;
  while (expected > 0 && flam_tracer_now (tracer) < until)
    {
      int status;
      pid_t tid = flam_wait_stopped (&status);

      if (tid < 0)
        break;
      if (tid > 0)
        {
          handle_stop (tracer, tid, status);
          expected--;
          until = flam_tracer_now (tracer) + NEXT_STOP_TIME;
        }
      else
        tracer->none_at = flam_tracer_now (tracer);
    }
  flam_instant_visit (&tracer->instant);
  flam_commands_hear_stops (TRUE);
  return stops;
}

/* --- the loop ------------------------------------------------------------ */

static void
wait_for_something (FlamTracer *tracer, gint64 until, const sigset_t *mask)
{
  gboolean controlled = tracer->control->fd >= 0 && !tracer->control->closed;
  struct pollfd polled[1 + FAULT_FDS_MAX];
  const GArray *fds =
      tracer->faults != NULL ? flam_faults_fds (tracer->faults) : NULL;
  gint64 ns = MAX (until - flam_tracer_now (tracer), 0);
  struct timespec timeout = { ns / 1000000000, ns % 1000000000 };
  nfds_t n = 1;
  int woken;

  polled[0] =
      (struct pollfd){ controlled ? tracer->control->fd : -1, POLLIN, 0 };
  for (guint i = 0; fds != NULL && i < fds->len && n <= FAULT_FDS_MAX; i++)
    polled[n++] = (struct pollfd){ g_array_index (fds, int, i), POLLIN, 0 };
  flam_instant_sleep (&tracer->instant);
  woken = ppoll (polled, n, &timeout, mask);
  if (woken == 0)
    flam_instant_woke (&tracer->instant);
  if (woken <= 0)
    return;
  if (polled[0].revents != 0)
    flam_commands_handle (tracer);
  if (n > 1)
    flam_faults_drain (tracer->faults, tracer);
  /* The thread that a ring belongs to has ended. */
  for (nfds_t i = 1; i < n; i++)
    if (polled[i].revents & (POLLHUP | POLLERR))
      flam_faults_ignore (tracer->faults, polled[i].fd);
}

/* Once the program is reaped, a thread that is still waited for may be in a
 * traced child process and not have stopped yet: drain() ends when none is
 * left. */
static gboolean
is_over (FlamTracer *tracer, gint64 now)
{
  gboolean reaped = !tracer->attached && tracer->exit_status >= 0;

  if (tracer->waits && tracer->exit_status < 0)
    return FALSE;
  return tracer->stopping && (now >= tracer->give_up_at ||
                              (tracer->tasks.list->len == 0 && !reaped));
}

void
flam_tracer_run (FlamTracer *tracer)
{
  sigset_t mask;
  gint64 now;

  flam_instant_init (&tracer->instant);
  if (!flam_priority_take () && samples_threads (tracer->options))
    flam_priority_request ();
  flam_commands_get_open_mask (&mask);
  for (;;)
    {
      if (!drain (tracer) && !take_newcomers (tracer, TRUE))
        break;
      flam_ending_let_go (tracer);
      now = flam_tracer_now (tracer);
      flam_commands_check (tracer, now);
      if (is_over (tracer, now))
        break;
      if (now >= tracer->next_tick)
        {
          gboolean stops = !tracer->stopping && !tracer->paused &&
                           samples_threads (tracer->options) &&
                           take_samples (tracer, now);

          if (tracer->faults != NULL)
            flam_faults_drain (tracer->faults, tracer);
          flam_ticks_plan (tracer, stops);
          flam_commands_say_status (tracer, now);
          flam_pipe_push (
              tracer->pipe, now, now < tracer->young_until ? 0 : BATCH_AGE);
          take_newcomers (tracer, FALSE);
          if (!drain (tracer) && !take_newcomers (tracer, TRUE))
            break;
        }
      wait_for_something (tracer,
                          tracer->n_held > 0
                              ? MIN (tracer->next_tick, now + HELD_PAUSE)
                              : tracer->next_tick,
                          &mask);
    }
  /* The threads that did not stop to be detached. */
  while (tracer->tasks.list->len > 0)
    leave (tracer, g_ptr_array_index (tracer->tasks.list, 0));
  if (tracer->faults != NULL)
    flam_faults_finish (tracer->faults, tracer);
  flam_tracer_warn_of_survivors (tracer);
}
