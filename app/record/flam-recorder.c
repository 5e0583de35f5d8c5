/* SPDX-License-Identifier: GPL-3.0-or-later */

/* flambeau-recorder: records one program, or one process, into a .flambeau
 * file. It is started by flambeau-cli and by the window; flam-control.h
 * describes their protocol. Exit status: the target's, 128 + signal if a signal
 * ended it; 0 if the recording ended before the target, 128 + signal if SIGTERM
 * or SIGHUP to the recorder was the reason; 1 if nothing could be recorded, or
 * if writing failed and there is no status of a launched target. */

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "flam-alloc-folder.h"
#include "flam-commands.h"
#include "flam-config.h"
#include "flam-find.h"
#include "flam-core-picture.h"
#include "flam-host-read.h"
#include "flam-host.h"
#include "flam-launch-exec.h"
#include "flam-launch.h"
#include "flam-output.h"
#include "flam-perf-events.h"
#include "flam-perf.h"
#include "flam-proc.h"
#include "flam-rank.h"
#include "flam-relay-join.h"
#include "flam-relay.h"
#include "flam-resolve.h"
#include "flam-sampler.h"
#include "flam-tracer.h"
#include "flam-transport.h"

/* The recorder warns if it waited at more than this percentage of its ticks,
 * and had at least so many of them: the shares of programs that measure
 * themselves were wrong by a fifth of that percentage. */
#define MANY_WAITS 10
#define LEAST_TICKS 100

#define COMMANDS_MAX 4096

typedef struct
{
  FlamRecordOptions *options;
  FlamControl control;
  FlamPipe pipe;
  FlamBuilder *builder;
  FlamCaptureWriter *writer;
  FlamSampler sampler;
  FlamTracer tracer;
  FlamOutput output;
  FlamInjection injection;
  FlamPerf *perf;      /* NULL: the engine is ptrace */
  char *engine_reason; /* the reason; NULL: the user chose it */
} Recorder;

/* Texts in a recording are English; printed texts are in the user's
 * language. */
static char *
in_words_of_user (const char *message)
{
  setlocale (LC_MESSAGES, "");
  return flam_message_shown (message);
}

static int
report (FlamControl *control, const GError *error)
{
  g_autofree char *shown = in_words_of_user (error->message);

  g_printerr ("%s: %s\n", g_get_prgname (), shown);
  flam_control_say (control, "error %s", error->message);
  return 1;
}

/* Raises the limit of descriptors: up to three are needed per thread. The
 * target gets its original limit back. */
static void
raise_limits (void)
{
  struct rlimit limit;

  if (getrlimit (RLIMIT_NOFILE, &limit) == 0)
    {
      limit.rlim_cur = limit.rlim_max;
      setrlimit (RLIMIT_NOFILE, &limit);
    }
  prctl (PR_SET_TIMERSLACK, 1, 0, 0, 0);
}

static gint64
own_cpu (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ll +
         (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ll;
}

/* The command lines of the chosen processes, when they were attached to. */
static char *
commands_of (const GArray *pids)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < pids->len; i++)
    {
      g_autofree char *command =
          flam_proc_command (g_array_index (pids, pid_t, i));

      if (text->len > COMMANDS_MAX)
        return g_string_free (g_string_append (text, "; …"), FALSE);
      g_string_append_printf (text, "%s%s", i > 0 ? "; " : "", command);
    }
  return g_string_free (text, FALSE);
}

static void
put_rank (FlamBuilder *builder)
{
  FlamRank rank = flam_rank_get ();

  if (rank.rank == NULL)
    return;
  flam_builder_note_fact (builder, FLAM_FACT_RANK, rank.rank);
  if (rank.ranks != NULL)
    flam_builder_note_fact (builder, FLAM_FACT_RANKS, rank.ranks);
  if (rank.job != NULL)
    flam_builder_note_fact (builder, FLAM_FACT_JOB, rank.job);
}

static void
put_first_facts (Recorder *recorder)
{
  g_autofree char *command =
      recorder->tracer.attached
          ? commands_of (recorder->tracer.chosen)
          : flam_record_options_command (recorder->options);
  FlamBuilder *builder = recorder->builder;
  FlamFacts facts = flam_facts_unknown;

  facts.command = command;
  facts.start_unix_ns = g_get_real_time () * 1000;
  if (recorder->options->what & FLAM_RECORD_ALLOC)
    facts.sample_bytes = recorder->options->sample_bytes;
  flam_builder_note_facts (builder, &facts);
  flam_builder_note_fact (builder, FLAM_FACT_HOST, g_get_host_name ());
  if (recorder->options->reached != NULL)
    flam_builder_note_fact (
        builder, FLAM_FACT_REACHED, recorder->options->reached);
  put_rank (builder);
  flam_builder_note_fact (builder, FLAM_FACT_MODE, recorder->options->mode);
  if ((recorder->options->what & FLAM_RECORD_ALLOC) &&
      recorder->tracer.attached)
    flam_builder_note_fact (builder, FLAM_FACT_MEMORY_SINCE, "attaching");
  flam_builder_note_number (
      builder, FLAM_FACT_RATE, (gint64)recorder->options->rate);
}

/* The truncated stacks of samples and of allocations. */
static guint64
count_truncated (const Recorder *recorder)
{
  FlamAllocStats stats = { 0 };

  if (recorder->sampler.alloc != NULL)
    flam_alloc_session_stats (recorder->sampler.alloc, &stats);
  return recorder->sampler.stats.truncated + stats.truncated;
}

/* The code that ran at the missing moments is unknown: a share is wrong by at
 * most their part of all. */
static void
put_waits (FlamBuilder *builder, const FlamTracerStats *stats)
{
  guint64 left_out = 100 * stats->not_random;
  guint percent = stats->ticks > 0
                      ? (guint)((left_out + stats->ticks - 1) / stats->ticks)
                      : 0;

  if (percent > MANY_WAITS && stats->ticks >= LEAST_TICKS)
    flam_builder_note_warning (
        builder,
        N_ ("the recorder had to wait for a CPU at %u %% of its ticks, since "
            "it has no real-time priority: shares of the CPU time can be "
            "wrong, by %u points at most; install RealtimeKit (rtkit), leave a "
            "CPU free, or record as root"),
        percent,
        percent);
}

/* After a stop, a thread is put on a CPU again once or twice,
 * which is not a separate wait. */
static gint64
estimate_unseen (const FlamTracer *tracer)
{
  guint64 stops = tracer->stats.handled, switches = tracer->tasks.switches;

  return flam_instant_unseen (&tracer->instant,
                              switches > 2 * stops ? switches - 2 * stops : 0);
}

static void
put_last_facts (Recorder *recorder, gint64 duration)
{
  const FlamTracer *tracer = &recorder->tracer;
  const FlamTracerStats *stats = &tracer->stats;
  FlamBuilder *builder = recorder->builder;
  FlamFacts facts = flam_facts_unknown;

  facts.duration_ns = duration;
  facts.engine = recorder->perf != NULL ? FLAM_ENGINE_PERF : FLAM_ENGINE_PTRACE;
  if (recorder->engine_reason != NULL)
    facts.engine_reason = recorder->engine_reason;
  facts.lost = stats->lost;
  facts.late = stats->late;
  facts.truncated_stacks = count_truncated (recorder);
  facts.recorder_cpu_ns = own_cpu ();
  facts.recorded_cpu_ns =
      tracer->tasks.charged_cpu - recorder->sampler.stats.not_sampled;
  if (recorder->options->what & FLAM_RECORD_CPU)
    facts.charged_cpu_ns = tracer->tasks.charged_cpu;
  if (recorder->options->what & FLAM_RECORD_CPU)
    facts.unseen_cpu_ns =
        MIN (estimate_unseen (tracer), tracer->tasks.charged_cpu);
  facts.waiting_stops = (gint64)stats->waiting;
  facts.uncertain_stops = (gint64)stats->uncertain;
  facts.unnamed_frames = (gint64)recorder->sampler.stats.unnamed;
  facts.stop_median_ns = flam_tracer_stop_time (tracer, 50);
  facts.stop_p99_ns = flam_tracer_stop_time (tracer, 99);
  flam_builder_note_facts (builder, &facts);
  if (recorder->tracer.exit_status >= 0)
    {
      flam_builder_note_number (
          builder, FLAM_FACT_EXIT_STATUS, recorder->tracer.exit_status);
      flam_control_say (
          &recorder->control, "exited %d", recorder->tracer.exit_status);
    }
  if (flam_proc_starved ())
    flam_builder_note_warning (
        builder,
        N_ ("the recorder ran out of file descriptors: stacks, names and CPU "
            "times are missing; raise the limit that ulimit -Hn shows"));
  if (stats->uncertain > stats->samples / 20 && !tracer->instant.exact)
    flam_builder_note_warning (
        builder,
        N_ ("this kernel has no /proc/PID/sched (CONFIG_SCHED_DEBUG): short "
            "system calls have less than their share of the CPU time"));
  put_waits (builder, stats);
  if (stats->unreadable > 0)
    flam_builder_note_warning (
        builder,
        N_ ("a program forbids others to read its memory (it is not dumpable: "
            "PR_SET_DUMPABLE), so that its stacks are truncated; record it as "
            "root"));
  if (stats->refused > 0)
    flam_builder_note_warning (
        builder,
        N_ ("a program that is not a 64-bit one for this processor "
            "was run and could not be recorded"));
  if (stats->setuid_dropped > 0)
    flam_builder_note_warning (
        builder,
        N_ ("a set-user-ID program was run: while an ordinary user traces it, "
            "it has only that user's privileges"));
}

#define FEW_SAMPLES 10

/* Less than a hundredth of the time, which is what most programs do that wait.
 */
static gboolean
was_idle (const Recorder *recorder, gint64 duration)
{
  return recorder->tracer.tasks.charged_cpu < duration / 100;
}

/* A recording with no samples, or with few of an idle program, states the
 * reason. */
static void
put_emptiness (Recorder *recorder, gint64 duration)
{
  guint64 samples = recorder->tracer.stats.samples;
  FlamBuilder *builder = recorder->builder;

  if (!(recorder->options->what & (FLAM_RECORD_CPU | FLAM_RECORD_WALL)))
    return;
  if (recorder->tracer.tasks.charged_cpu == 0 && samples == 0)
    flam_builder_note_warning (
        builder,
        N_ ("no samples: the program used no CPU while it was "
            "recorded; --mode wall shows what it waited for"));
  else if (was_idle (recorder, duration) && samples < FEW_SAMPLES &&
           !(recorder->options->what & FLAM_RECORD_WALL))
    flam_builder_note_warning (
        builder,
        samples == 0
            ? N_ ("no samples: the program used almost no CPU while it was "
                  "recorded; --mode wall shows what it waited for")
            : N_ ("few samples: the program used almost no CPU while it was "
                  "recorded; --mode wall shows what it waited for"));
  else if (samples == 0)
    flam_builder_note_warning (
        builder,
        N_ ("no samples: the program ran too briefly; use a "
            "higher --rate"));
}

static void
put_alloc_facts (Recorder *recorder)
{
  FlamBuilder *builder = recorder->builder;
  FlamAllocStats stats;

  flam_alloc_session_stats (recorder->sampler.alloc, &stats);
  if (stats.lost > 0)
    flam_builder_note_warning (
        builder,
        FLAM_PLURAL (stats.lost,
                     "%" PRIu64 " allocation event was lost",
                     "%" PRIu64 " allocation events were lost"),
        stats.lost);
  if (stats.full > 0)
    flam_builder_note_warning (
        builder,
        FLAM_PLURAL (stats.full,
                     "%u process ran out of shared memory for allocation "
                     "events (/dev/shm is full)",
                     "%u processes ran out of shared memory for allocation "
                     "events (/dev/shm is full)"),
        stats.full);
  if (stats.damaged > 0)
    flam_builder_note_warning (
        builder,
        FLAM_PLURAL (stats.damaged,
                     "%u process damaged its allocation events: some of them "
                     "are missing",
                     "%u processes damaged their allocation events: some of "
                     "them are missing"),
        stats.damaged);
}

static gboolean
finish (Recorder *recorder, gint64 duration, GError **error)
{
  if (recorder->sampler.alloc != NULL)
    put_alloc_facts (recorder);
  put_last_facts (recorder, duration);
  put_emptiness (recorder, duration);
  flam_control_say (&recorder->control, "finishing");
  flam_control_say (&recorder->control,
                    "stops %" G_GINT64_FORMAT,
                    flam_tracer_stop_time (&recorder->tracer, 50));
  if (recorder->sampler.error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&recorder->sampler.error));
      return FALSE;
    }
  if (!flam_capture_writer_flush (recorder->writer, error))
    return FALSE;
  flam_resolve (
      recorder->builder, recorder->sampler.binaries, recorder->tracer.origin);
  return flam_capture_writer_end (recorder->writer, duration, error) &&
         flam_output_finish (&recorder->output, error);
}

/* The recorded part is kept, if there is one. */
static void
report_failure (Recorder *recorder, GError *error)
{
  const FlamOutput *output = &recorder->output;
  g_autoptr (GError) kept = NULL;

  if (!flam_capture_writer_has_data (recorder->writer))
    {
      flam_output_abandon (&recorder->output);
      report (&recorder->control, error);
      return;
    }
  g_set_error (&kept,
               error->domain,
               error->code,
               N_ ("the recorded data is in %s: %s"),
               output->base_lines != NULL ? output->base_lines : output->path,
               error->message);
  report (&recorder->control, kept);
}

/* If --duration ended before the program did. */
static void
say_who_runs (const Recorder *recorder)
{
  guint n = recorder->tracer.n_running;
  const char *name = recorder->tracer.running;
  double duration = recorder->options->duration;

  setlocale (LC_MESSAGES, "");
  if (n == 1)
    g_printerr (_ ("Recording ended after %g s; %s is still running.\n"),
                duration,
                name);
  else if (n > 1)
    g_printerr (ngettext ("Recording ended after %g s; %s and %u other "
                          "process are still running.\n",
                          "Recording ended after %g s; %s and %u other "
                          "processes are still running.\n",
                          n - 1),
                duration,
                name,
                n - 1);
}

/* The warnings are in the capture, too, but the user should learn at once what
 * may be wrong in it. */
static void
say_what_was_written (Recorder *recorder)
{
  const char *warning;

  flam_control_say (&recorder->control, "done %s", recorder->output.path);
  if (recorder->control.fd >= 0 || !isatty (STDERR_FILENO))
    return;
  say_who_runs (recorder);
  g_printerr ("%s: wrote %s\n", g_get_prgname (), recorder->output.path);
  for (guint i = 0;
       (warning = flam_builder_warning (recorder->builder, i)) != NULL;
       i++)
    {
      g_autofree char *shown = in_words_of_user (warning);

      g_printerr ("%s: %s\n", g_get_prgname (), shown);
    }
}

static int
record (Recorder *recorder)
{
  g_autoptr (GError) error = NULL;
  gint64 duration;

  put_first_facts (recorder);
  flam_pipe_push (&recorder->pipe, 0, 0);
  flam_sampler_catch_up (&recorder->sampler);
  /* Even a recorder that is killed soon leaves a capture that names its
   * program. A failure is reported at the end. */
  flam_capture_writer_flush (recorder->writer, NULL);
  if (recorder->tracer.attached && recorder->perf == NULL)
    flam_launch_exec_begin_attached (&recorder->tracer);
  if (recorder->sampler.alloc != NULL)
    flam_alloc_session_set_start (recorder->sampler.alloc,
                                  recorder->tracer.origin);
  flam_sampler_start (&recorder->sampler);
  if (recorder->perf != NULL)
    flam_perf_run (recorder->perf);
  else
    flam_tracer_run (&recorder->tracer);
  duration = flam_tracer_now (&recorder->tracer);
  flam_pipe_finish (&recorder->pipe);
  flam_sampler_join (&recorder->sampler);
  if (!finish (recorder, duration, &error))
    report_failure (recorder, error);
  else
    say_what_was_written (recorder);
  if (recorder->tracer.ended_by != 0)
    return 128 + recorder->tracer.ended_by;
  if (!recorder->tracer.attached && recorder->tracer.exit_status >= 0)
    return recorder->tracer.exit_status;
  return error != NULL;
}

/* The program must be able to load the library. */
static gboolean
check_program (const Recorder *recorder, GError **error)
{
  FlamLaunch launch = { (const char *const *)recorder->options->argv,
                        (const char *const *)recorder->options->environment,
                        recorder->options->directory };
  g_autofree char *program = flam_launch_find (&launch, error);
  const char *obstacle;

  if (program == NULL)
    return FALSE;
  obstacle = flam_preload_check (program);
  if (obstacle != NULL)
    return flam_error_set (
        error,
        FLAM_ERROR_UNSUPPORTED,
        N_ ("%s: %s, so its allocations cannot be recorded: the library that "
            "records them cannot be loaded into it; --mode faults records the "
            "memory that it maps"),
        program,
        obstacle);
  return TRUE;
}

/* Called before any process is traced: why a process cannot be traced matters
 * more than why the library cannot be loaded. */
static gboolean
check_process (const Recorder *recorder, pid_t pid, GError **error)
{
  g_autofree char *other = flam_attach_obstacle (pid);
  const char *why = other == NULL
                        ? flam_alloc_attach_obstacle (&recorder->injection, pid)
                        : NULL;

  return why == NULL || flam_tracer_refuse_library (pid, why, error);
}

static gboolean
prepare_allocations (Recorder *recorder, GError **error)
{
  if (!recorder->tracer.attached && !check_program (recorder, error))
    return FALSE;
  if (!flam_sampler_record_allocations (&recorder->sampler,
                                        recorder->tracer.origin,
                                        flam_output_unnamed (&recorder->output),
                                        &recorder->options->environment,
                                        error))
    return FALSE;
  recorder->injection = flam_alloc_session_injection (recorder->sampler.alloc);
  recorder->tracer.injection = &recorder->injection;
  return TRUE;
}

/* The processes to attach to. Their modules are read before that. */
static gboolean
choose (Recorder *recorder, GError **error)
{
  GArray *found =
      recorder->options->wait_for != NULL
          ? flam_find_wait (recorder->options, &recorder->control, error)
          : flam_find_targets (recorder->options, &recorder->tracer.kin, error);

  if (found == NULL)
    return FALSE;
  g_array_unref (recorder->tracer.chosen);
  recorder->tracer.chosen = found;
  raise_limits ();
  if (recorder->options->wait_for == NULL)
    for (guint i = 0; i < found->len; i++)
      flam_sampler_expect (&recorder->sampler, g_array_index (found, pid_t, i));
  return recorder->tracer.injection == NULL || found->len != 1 ||
         check_process (recorder, g_array_index (found, pid_t, 0), error);
}

/* FALSE with an error: not possible; without one: ptrace is to be used. */
static gboolean
begin_with_perf (Recorder *recorder, GError **error)
{
  const FlamRecordOptions *options = recorder->options;
  gboolean asked = strcmp (options->engine, FLAM_ENGINE_PERF) == 0;
  const char *why = flam_perf_refuses (options);
  g_autoptr (GError) problem = NULL;

  if (strcmp (options->engine, FLAM_ENGINE_PTRACE) == 0)
    return FALSE;
  if (why == NULL)
    recorder->perf = flam_perf_start (&recorder->tracer, &problem);
  if (recorder->perf != NULL)
    {
      if (!asked)
        recorder->engine_reason = g_strdup (
            N_ ("the kernel permits its own functions to be sampled"));
      return TRUE;
    }
  if (asked && why != NULL)
    return flam_error_set (
        error, FLAM_ERROR_UNSUPPORTED, N_ ("--engine perf: %s"), why);
  if (asked)
    {
      g_propagate_error (error, g_steal_pointer (&problem));
      return FALSE;
    }
  recorder->engine_reason = g_strdup (why != NULL ? why : problem->message);
  return FALSE;
}

static gboolean
begin (Recorder *recorder, GError **error)
{
  g_autoptr (GError) problem = NULL;

  if (begin_with_perf (recorder, &problem))
    return TRUE;
  if (problem == NULL)
    return flam_launch_exec_start (&recorder->tracer, error);
  g_propagate_error (error, g_steal_pointer (&problem));
  return FALSE;
}

/* Events that cannot be counted here are left out. */
static void
limit_events (Recorder *recorder)
{
  g_autofree char *why = flam_perf_events_limit (recorder->options);
  g_autofree char *shown = NULL;

  if (why == NULL)
    return;
  flam_builder_note_warning (recorder->builder, "%s", why);
  shown = in_words_of_user (why);
  g_printerr ("%s: %s\n", g_get_prgname (), shown);
}

static int
start (Recorder *recorder)
{
  g_autoptr (GError) error = NULL;

  flam_alloc_folder_sweep ();
  if (!flam_output_open (&recorder->output, recorder->options, &error))
    return report (&recorder->control, error);
  recorder->builder = flam_builder_new ();
  flam_builder_set_has_times (recorder->builder);
  limit_events (recorder);
  for (guint i = flam_sampler_n_weights (recorder->options); i > 0; i--)
    flam_builder_add_column (recorder->builder);
  recorder->writer =
      flam_capture_writer_new (recorder->output.fd, recorder->builder);
  flam_pipe_init (&recorder->pipe);
  flam_sampler_init (
      &recorder->sampler, recorder->options, &recorder->pipe, recorder->writer);
  flam_tracer_init (&recorder->tracer,
                    recorder->options,
                    &recorder->control,
                    &recorder->pipe);
  recorder->tracer.failed = &recorder->sampler.failed;
  if ((recorder->options->what & FLAM_RECORD_ALLOC) &&
      !prepare_allocations (recorder, &error))
    {
      flam_output_abandon (&recorder->output);
      return report (&recorder->control, error);
    }
  if (recorder->tracer.attached && !choose (recorder, &error))
    {
      int by;

      flam_output_abandon (&recorder->output);
      report (&recorder->control, error);
      return flam_commands_are_stopping (&by) && by != 0 ? 128 + by : 1;
    }
  if (begin (recorder, &error) &&
      (!recorder->tracer.attached || recorder->tracer.injection == NULL ||
       flam_tracer_attach_library (&recorder->tracer, &error)))
    {
      raise_limits ();
      return record (recorder);
    }
  flam_output_abandon (&recorder->output);
  return report (&recorder->control, error);
}

int
main (int argc, char **argv)
{
  Recorder recorder = { .output.fd = -1 };
  g_autoptr (GError) error = NULL;
  g_autofree char *words = flam_installed_or_built (FLAM_LOCALEDIR, "po");
  g_autofree char *name = NULL;
  int status;

  setlocale (LC_CTYPE, "");
  flam_message_init (words);
  name = g_path_get_basename (argv[0]);
  g_set_prgname (name);
  if (argc == 3 && strcmp (argv[1], FLAM_JOIN_OPTION) == 0)
    return flam_relay_join (argv[2]);
  recorder.options = argc == 4 && strcmp (argv[1], FLAM_RELAY_OPTION) == 0
                         ? flam_relay_start (argv[0], argv[2], argv[3], &error)
                         : flam_record_options_parse (argc, argv, &error);
  if (recorder.options != NULL && recorder.options->help)
    {
      setlocale (LC_MESSAGES, "");
      g_print (_ ("flambeau-recorder %s\n\n"
                  "Usage: flambeau-recorder [OPTION…] "
                  "(--pid PID | -- PROGRAM ARG…)\n\n"
                  "The options are those of flambeau-cli record: see "
                  "flambeau-cli record --help.\n"),
               FLAM_VERSION);
      flam_record_options_free (recorder.options);
      return 0;
    }
  if (recorder.options == NULL)
    {
      g_autofree char *shown = in_words_of_user (error->message);

      g_printerr (_ ("%s: %s; see flambeau-cli record --help"),
                  g_get_prgname (),
                  shown);
      g_printerr ("\n");
      return 2;
    }
  if (recorder.options->push != NULL)
    {
      g_printerr (_ ("%s: --push is an option of flambeau-cli record"),
                  g_get_prgname ());
      g_printerr ("\n");
      flam_record_options_free (recorder.options);
      return 2;
    }
  flam_control_init (&recorder.control, recorder.options->control_fd);
  if (recorder.options->list)
    status = flam_host_list (recorder.options);
  else if (recorder.options->fetch != NULL)
    status = flam_host_fetch (recorder.options);
  else if (recorder.options->remove)
    status = flam_host_remove_recorder (recorder.options, &recorder.control);
  else if (recorder.options->host != NULL)
    status = flam_host_record (recorder.options, &recorder.control);
  else
    {
      flam_commands_prepare_signals ();
      status = start (&recorder);
    }
  if (recorder.writer != NULL)
    {
      g_clear_pointer (&recorder.perf, flam_perf_free);
      flam_sampler_clear (&recorder.sampler);
      flam_tracer_clear (&recorder.tracer);
      flam_pipe_clear (&recorder.pipe);
      flam_capture_writer_free (recorder.writer);
      flam_builder_free (recorder.builder);
    }
  g_free (recorder.engine_reason);
  flam_output_clear (&recorder.output);
  flam_control_clear (&recorder.control);
  flam_record_options_free (recorder.options);
  return status;
}
