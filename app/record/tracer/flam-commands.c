/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-commands.h"

#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "flam-proc.h"

#define STATUS_EVERY (200 * 1000000ll)
#define DETACH_TIME (2 * 1000000000ll)
#define IDLE_PERIOD (10 * 1000000ll)

static volatile sig_atomic_t
    stop_signals; /* a command to stop, or SIGINT twice */
static volatile sig_atomic_t terminal_interrupts;
static volatile sig_atomic_t ended_by;    /* SIGTERM or SIGHUP; 0: neither */
static volatile sig_atomic_t ended_alone; /* sent to the recorder only */

static void
on_child (int sig)
{
}

void
flam_commands_hear_stops (gboolean hear)
{
  struct sigaction child = { .sa_handler = on_child,
                             .sa_flags = hear ? 0 : SA_NOCLDSTOP };

  sigaction (SIGCHLD, &child, NULL);
}

/* SIGINT from the terminal, or to the recorder's process group by itself, is
 * sent to the target as well, and the target decides what happens. From any
 * other sender it is a command to the recorder.
 * SIGTERM and SIGHUP end the recorder, and a program that it launched gets them
 * as well, unless the kernel sends SIGHUP to all when the terminal closes. */
static void
on_stop (int sig, siginfo_t *info, void *context)
{
  if (sig == SIGINT &&
      (info->si_code == SI_KERNEL || info->si_pid == getpid ()))
    {
      terminal_interrupts++;
      return;
    }
  if (sig != SIGINT)
    {
      ended_by = sig;
      ended_alone = info->si_code != SI_KERNEL;
    }
  stop_signals++;
}

static void
catch_signal (int sig)
{
  struct sigaction action = { .sa_sigaction = on_stop,
                              .sa_flags = SA_SIGINFO | SA_RESTART };
  struct sigaction old;

  sigaction (sig, NULL, &old);
  if (old.sa_handler != SIG_IGN)
    sigaction (sig, &action, NULL);
}

void
flam_commands_prepare_signals (void)
{
  struct sigaction nothing = { .sa_handler = on_child };
  sigset_t blocked;

  /* Handlers, not SIG_IGN: exec then gives the target the inherited
   * settings. */
  flam_commands_hear_stops (TRUE);
  sigaction (SIGPIPE, &nothing, NULL);
  sigaction (SIGXFSZ, &nothing, NULL);
  catch_signal (SIGINT);
  catch_signal (SIGTERM);
  catch_signal (SIGHUP);
  sigemptyset (&blocked);
  sigaddset (&blocked, SIGCHLD);
  sigaddset (&blocked, SIGINT);
  sigaddset (&blocked, SIGTERM);
  sigaddset (&blocked, SIGHUP);
  pthread_sigmask (SIG_BLOCK, &blocked, NULL);
}

void
flam_commands_get_open_mask (sigset_t *mask)
{
  pthread_sigmask (SIG_SETMASK, NULL, mask);
  sigdelset (mask, SIGCHLD);
  sigdelset (mask, SIGINT);
  sigdelset (mask, SIGTERM);
  sigdelset (mask, SIGHUP);
}

gboolean
flam_commands_are_stopping (int *by)
{
  *by = ended_by;
  return stop_signals > 0 || terminal_interrupts > 0;
}

/* No more samples are taken; every thread is detached as soon as it stops. */
static void
stop (FlamTracer *tracer)
{
  if (tracer->stopping)
    return;
  if (tracer->withdraw != NULL)
    tracer->withdraw (tracer);
  tracer->stopping = TRUE;
  tracer->give_up_at = flam_tracer_now (tracer) + DETACH_TIME;
  for (guint i = 0; i < tracer->tasks.list->len && !tracer->tasks.without_proc;
       i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, i);
      ptrace (PTRACE_INTERRUPT, task->tid, NULL, NULL);
    }
}

static void
set_paused (FlamTracer *tracer, gboolean paused)
{
  gint64 now = flam_tracer_now (tracer);

  for (guint i = 0; tracer->paused != paused && !tracer->tasks.without_proc &&
                    i < tracer->tasks.list->len;
       i++)
    {
      FlamTask *task = g_ptr_array_index (tracer->tasks.list, i);
      if (paused)
        flam_task_pause (task, now);
      else
        flam_task_skip (task, now);
      task->blocked_until = now;
    }
  tracer->paused = paused;
  tracer->delayed = FALSE;
  flam_control_say (tracer->control, paused ? "paused" : "resumed");
}

static void
put_text (FlamTracer *tracer, FlamMessageKind kind, const char *text)
{
  gsize size = MIN (strlen (text), 4096);
  FlamMessage *message =
      flam_pipe_reserve (tracer->pipe, kind, 0, size + 1, FALSE);

  message->time = flam_tracer_now (tracer);
  memcpy (flam_message_data (message), text, size);
  ((char *)flam_message_data (message))[size] = '\0';
  flam_pipe_commit (tracer->pipe, size + 1);
}

void
flam_tracer_warn (FlamTracer *tracer, const char *text)
{
  put_text (tracer, FLAM_MESSAGE_WARNING, text);
  if (isatty (STDERR_FILENO))
    g_printerr ("%s: %s\n", g_get_prgname (), text);
}

static void
signal_chosen (FlamTracer *tracer, int sig)
{
  for (guint i = 0; i < tracer->chosen->len; i++)
    if (g_hash_table_contains (
            tracer->tasks.by_pid,
            GINT_TO_POINTER (g_array_index (tracer->chosen, pid_t, i))))
      kill (g_array_index (tracer->chosen, pid_t, i), sig);
}

void
flam_commands_handle (FlamTracer *tracer)
{
  FlamCommand command;
  char *text;

  flam_control_read (tracer->control);
  while ((command = flam_control_next (tracer->control, &text)) !=
         FLAM_COMMAND_NONE)
    {
      g_autofree char *owned = text;
      switch (command)
        {
        case FLAM_COMMAND_PAUSE:
        case FLAM_COMMAND_RESUME:
          set_paused (tracer, command == FLAM_COMMAND_PAUSE);
          break;
        case FLAM_COMMAND_MARK:
          put_text (tracer, FLAM_MESSAGE_MARK, owned);
          break;
        case FLAM_COMMAND_TERMINATE:
          signal_chosen (tracer, SIGTERM);
          break;
        case FLAM_COMMAND_INTERRUPT:
          kill (0, SIGINT);
          break;
        default:
          tracer->waits = FALSE;
          stop (tracer);
          break;
        }
    }
  if (tracer->control->closed)
    {
      tracer->waits = FALSE;
      stop (tracer);
    }
}

void
flam_commands_say_status (FlamTracer *tracer, gint64 now)
{
  if (now < tracer->next_status)
    return;
  tracer->next_status = now + STATUS_EVERY;
  flam_control_say (tracer->control,
                    "status %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT
                    " %u %" G_GUINT64_FORMAT,
                    now / 1000000,
                    tracer->stats.samples,
                    tracer->tasks.list->len,
                    tracer->stats.lost);
}

static void
end_program (FlamTracer *tracer)
{
  if (ended_by == 0 || tracer->ended_by != 0 || tracer->exit_status >= 0)
    return;
  tracer->ended_by = ended_by;
  if (!tracer->attached && ended_alone)
    signal_chosen (tracer, ended_by);
}

/* The capture cannot be written any more. A launched program is no longer
 * traced, but the recorder still returns its exit status. */
static void
fail (FlamTracer *tracer)
{
  if (tracer->stopping)
    return;
  stop (tracer);
  tracer->period = MAX (tracer->period, IDLE_PERIOD);
  tracer->waits = !tracer->attached && tracer->exit_status < 0;
  if (tracer->waits && tracer->control->fd < 0)
    {
      /* The language may change now: no capture is written any more. */
      setlocale (LC_MESSAGES, "");
      g_printerr ("%s: %s\n",
                  g_get_prgname (),
                  _ ("the capture cannot be written any more; the program "
                     "goes on without being recorded"));
    }
}

/* The time is over. The name is a chosen process's if one of them runs. */
static void
stop_in_time (FlamTracer *tracer)
{
  const FlamTask *task = NULL;

  for (guint i = 0; i < tracer->tasks.list->len; i++)
    {
      const FlamTask *one = g_ptr_array_index (tracer->tasks.list, i);

      if (task == NULL || (one->target->chosen && !task->target->chosen))
        task = one;
    }
  if (!tracer->stopping && task != NULL)
    {
      tracer->n_running = g_hash_table_size (tracer->tasks.by_pid);
      flam_proc_comm (task->target->pid, task->target->pid, tracer->running);
    }
  stop (tracer);
}

void
flam_commands_check (FlamTracer *tracer, gint64 now)
{
  if (!tracer->attached && tracer->exit_status >= 0)
    stop (tracer);
  if (tracer->delayed && (double)now >= tracer->options->delay * 1e9)
    set_paused (tracer, FALSE);
  if (tracer->options->duration > 0 &&
      (double)now >= (tracer->options->delay + tracer->options->duration) * 1e9)
    stop_in_time (tracer);
  if (stop_signals > 0 || terminal_interrupts > (tracer->attached ? 0 : 1))
    {
      tracer->waits = FALSE;
      end_program (tracer);
      stop (tracer);
    }
  if (g_atomic_int_get (tracer->failed))
    fail (tracer);
}

/* --- processes that outlive the program ------------------------------------
 */

void
flam_tracer_note_survivor (FlamTracer *tracer, const FlamTask *task)
{
  if (tracer->attached || tracer->exit_status < 0 || task->target->n_tasks > 1)
    return;
  if (tracer->n_left < G_N_ELEMENTS (tracer->left))
    tracer->left[tracer->n_left] = task->target->pid;
  tracer->n_left++;
}

/* Daemons and background processes of a shell. */
void
flam_tracer_warn_of_survivors (FlamTracer *tracer)
{
  char comm[16] = "";
  g_autofree char *text = NULL;

  if (tracer->n_left == 0)
    return;
  for (guint i = MIN (tracer->n_left, G_N_ELEMENTS (tracer->left)); i-- > 0;)
    {
      comm[0] = '\0';
      flam_proc_comm (tracer->left[i], tracer->left[i], comm);
      flam_control_say (
          tracer->control, "left %d %s", (int)tracer->left[i], comm);
    }
  text =
      g_strdup_printf (N_ ("processes that outlived the program (%u) were "
                           "recorded only until it ended: --pid %d records %s"),
                       tracer->n_left,
                       (int)tracer->left[0],
                       comm[0] != '\0' ? comm : N_ ("one of them"));
  flam_tracer_warn (tracer, text);
}
