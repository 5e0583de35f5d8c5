/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-chains.h"
#include "flam-perf-state.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include "flam-commands.h"
#include "flam-newcomers.h"
#include "flam-stops.h"

#define DRAIN_EVERY (5 * 1000000ll) /* ns */
#define BATCH_AGE (10 * 1000000ll)
#define MOST_CPUS 64
#define LET_GO_MAX 200 /* ms */

/* For the program, its end; for others, a requested stop. */
static void
reap (FlamTracer *tracer)
{
  pid_t launched =
      tracer->attached ? 0 : g_array_index (tracer->chosen, pid_t, 0);
  gboolean ended;
  pid_t pid;
  int status;

  while ((pid = flam_wait_next (&ended)) > 0 && flam_wait_reap (pid, &status))
    if (WIFSTOPPED (status) && tracer->chains != NULL)
      flam_perf_chains_take_stop (tracer->chains, tracer, pid, status);
    else if (pid == launched && !WIFSTOPPED (status))
      tracer->exit_status =
          WIFSIGNALED (status) ? 128 + WTERMSIG (status) : WEXITSTATUS (status);
}

static void
wait_for_something (FlamPerf *perf, const sigset_t *mask)
{
  FlamTracer *tracer = perf->tracer;
  const GArray *fds = flam_perf_rings_fds (perf->rings);
  struct pollfd polled[1 + MOST_CPUS];
  struct timespec timeout = { 0, DRAIN_EVERY };
  gboolean controlled = tracer->control->fd >= 0 && !tracer->control->closed;
  nfds_t n = 1;
  int woken;

  polled[0] =
      (struct pollfd){ controlled ? tracer->control->fd : -1, POLLIN, 0 };
  for (guint i = 0; i < fds->len && perf->prompt && n <= MOST_CPUS; i++)
    polled[n++] = (struct pollfd){ g_array_index (fds, int, i), POLLIN, 0 };
  flam_instant_sleep (&tracer->instant);
  woken = ppoll (polled, n, &timeout, mask);
  if (woken == 0)
    flam_instant_woke (&tracer->instant);
  if (woken <= 0)
    return;
  if (polled[0].revents != 0)
    flam_commands_handle (tracer);
  /* The thread that a ring belongs to has ended. */
  for (nfds_t i = 1; i < n; i++)
    if (polled[i].revents & (POLLHUP | POLLERR))
      flam_perf_rings_ignore (perf->rings, polled[i].fd);
}

/* Threads that were asked to stop, which would remain stopped. */
static void
let_go (FlamTracer *tracer)
{
  for (guint i = 0; i < LET_GO_MAX && tracer->chains != NULL &&
                    flam_perf_chains_asked (tracer->chains) > 0;
       i++)
    {
      reap (tracer);
      g_usleep (1000);
    }
}

static void
end (FlamPerf *perf)
{
  FlamTracer *tracer = perf->tracer;
  gint64 now = flam_tracer_now (tracer);

  flam_perf_rings_stop (perf->rings);
  flam_perf_drain_last (perf, G_MAXINT64);
  let_go (tracer);
  while (tracer->tasks.list->len > 0)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, 0);
      FlamPerfThread *thread = flam_perf_find_thread (perf, task->tid);

      flam_perf_thread_advance (thread, now, !tracer->paused);
      flam_perf_thread_compare (thread);
      flam_tracer_note_survivor (tracer, task);
      flam_perf_remove_thread (perf, thread, now);
    }
  flam_tracer_warn_of_survivors (tracer);
  flam_perf_first_warn (perf);
}

/* FALSE: none has come. */
static gboolean
take_newcomers (FlamPerf *perf)
{
  FlamTracer *tracer = perf->tracer;
  g_autoptr (GArray) pids =
      tracer->tasks.list->len > 0
          ? flam_newcomers_look (tracer, flam_perf_attach_to, perf)
          : flam_newcomers_wait (tracer, flam_perf_attach_to, perf);

  return pids != NULL;
}

void
flam_perf_run (FlamPerf *perf)
{
  FlamTracer *tracer = perf->tracer;
  sigset_t mask;

  pthread_sigmask (SIG_SETMASK, NULL, &mask);
  sigdelset (&mask, SIGCHLD);
  sigdelset (&mask, SIGINT);
  sigdelset (&mask, SIGTERM);
  sigdelset (&mask, SIGHUP);
  for (;;)
    {
      gint64 now = flam_tracer_now (tracer);

      reap (tracer);
      flam_commands_check (tracer, now);
      if (tracer->stopping)
        break;
      flam_perf_drain (perf);
      if (!take_newcomers (perf) && tracer->attached &&
          tracer->tasks.list->len == 0)
        break;
      flam_commands_say_status (tracer, now);
      flam_pipe_push (tracer->pipe, now, BATCH_AGE);
      flam_perf_tell_sleepers (perf);
      flam_perf_first_look (perf);
      if (perf->wants_more)
        flam_perf_reopen (perf);
      wait_for_something (perf, &mask);
    }
  end (perf);
  while (tracer->waits && tracer->exit_status < 0)
    {
      flam_commands_check (tracer, flam_tracer_now (tracer));
      wait_for_something (perf, &mask);
      reap (tracer);
    }
}
