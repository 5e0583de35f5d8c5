/* SPDX-License-Identifier: GPL-3.0-or-later */

/* `sampled PROGRAM...`: runs the program, and takes samples of its busiest
 * thread with the recorder's own functions, at the recorder's priority. Writes
 * their number and three medians: the time for which the thread is stopped and
 * the CPU time of reading, unwinding and naming a stack, in µs; and its frames.
 * The first samples, whose functions and code are new, do not count.
 *
 * A recorder's own figures cannot show this: on a busy machine, most of a stop
 * is spent waiting for a CPU, and most of its CPU time is that of reading
 * files. */

#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "flam-copy.h"
#include "flam-priority.h"
#include "flam-sampler.h"
#include "flam-tracer.h"

#define WARM_UP (600 * 1000) /* µs: functions are compiled meanwhile */
#define PERIOD 1000          /* µs */
#define FIRST 100            /* samples that do not count */
#define MOST 1100

typedef struct
{
  FlamRecordOptions *options;
  FlamControl control;
  FlamPipe pipe;
  FlamBuilder *builder;
  FlamCaptureWriter *writer;
  FlamSampler sampler;
  FlamTracer tracer;
  FlamTask *task;
  GArray *held, *spent, *frames; /* gint64 */
} Bench;

static gint64
clock_of (clockid_t clock)
{
  struct timespec ts;

  clock_gettime (clock, &ts);
  return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static pid_t
start (char **argv)
{
  pid_t pid = fork ();
  int null;

  if (pid != 0)
    return pid;
  null = open ("/dev/null", O_WRONLY);
  dup2 (null, STDOUT_FILENO);
  dup2 (null, STDERR_FILENO);
  execvp (argv[0], argv);
  _exit (127);
}

/* Java and Erlang leave the first thread idle. */
static pid_t
find_busiest (pid_t pid)
{
  g_autofree char *folder = g_strdup_printf ("/proc/%d/task", (int)pid);
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  const char *name;
  gint64 most = -1;
  pid_t busiest = 0;

  while (dir != NULL && (name = g_dir_read_name (dir)) != NULL)
    {
      g_autofree char *path = g_strdup_printf ("%s/%s/schedstat", folder, name);
      g_autofree char *text = NULL;
      gint64 cpu = g_file_get_contents (path, &text, NULL, NULL)
                       ? g_ascii_strtoll (text, NULL, 10)
                       : 0;

      if (cpu > most)
        {
          most = cpu;
          busiest = atoi (name);
        }
    }
  return busiest;
}

static void
begin (Bench *bench, pid_t pid)
{
  FlamTracer *tracer = &bench->tracer;

  bench->options = flam_record_options_new ();
  flam_record_options_add_pid (bench->options, pid);
  bench->options->what = FLAM_RECORD_CPU;
  flam_control_init (&bench->control, -1);
  bench->builder = flam_builder_new ();
  flam_builder_set_has_times (bench->builder);
  for (guint i = flam_sampler_n_weights (bench->options); i > 0; i--)
    flam_builder_add_column (bench->builder);
  bench->writer = flam_capture_writer_new (-1, bench->builder);
  flam_pipe_init (&bench->pipe);
  flam_sampler_init (
      &bench->sampler, bench->options, &bench->pipe, bench->writer);
  flam_tracer_init (tracer, bench->options, &bench->control, &bench->pipe);
  flam_priority_take ();
}

static void
catch_up (Bench *bench)
{
  flam_pipe_push (&bench->pipe, flam_tracer_now (&bench->tracer), 0);
  flam_sampler_catch_up (&bench->sampler);
}

/* Does the work of handle_stop() and sample_stopped() for such a stop. FALSE:
 * the thread has ended. */
static gboolean
take_sample (Bench *bench)
{
  FlamTracer *tracer = &bench->tracer;
  FlamTask *task = bench->task;
  FlamStopContext context;
  FlamSchedstat stat;
  FlamCopy copy = { 0 };
  FlamStop stop;
  gint64 stopped, resumed, cpu;
  int status;

  if (ptrace (PTRACE_INTERRUPT, task->tid, NULL, NULL) != 0 ||
      waitpid (task->tid, &status, __WALL) != task->tid)
    return FALSE;
  stopped = clock_of (CLOCK_MONOTONIC);
  cpu = clock_of (CLOCK_THREAD_CPUTIME_ID);
  stop = flam_stop_read (status);
  if (stop.kind == FLAM_STOP_EXITED)
    return FALSE;
  if (stop.kind != FLAM_STOP_INTERRUPT ||
      !flam_stop_registers (task->tid, TRUE, copy.regs, &context) ||
      !flam_task_read_schedstat (task, &stat))
    {
      flam_tracer_resume (
          tracer, task, stop.kind == FLAM_STOP_SIGNAL ? stop.value : 0);
      return TRUE;
    }
  copy.began = flam_tracer_begin_read (task);
  flam_copy_take (tracer,
                  task,
                  FLAM_MESSAGE_SAMPLE,
                  &context,
                  flam_tracer_now (tracer),
                  TRUE,
                  &copy);
  flam_tracer_resume (tracer, task, 0);
  resumed = clock_of (CLOCK_MONOTONIC) - stopped;
  copy.message->time = flam_tracer_now (tracer);
  copy.message->state = FLAM_STATE_RUNNING;
  copy.message->cpu = PERIOD * 1000;
  flam_copy_commit (tracer, task, &copy);
  catch_up (bench);
  cpu = clock_of (CLOCK_THREAD_CPUTIME_ID) - cpu;
  g_array_append_val (bench->held, resumed);
  g_array_append_val (bench->spent, cpu);
  g_array_append_val (bench->frames, (gint64){ task->path->len });
  return TRUE;
}

static int
compare (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

  return (x > y) - (x < y);
}

static gint64
median (GArray *values)
{
  g_array_remove_range (values, 0, FIRST);
  g_array_sort (values, compare);
  return g_array_index (values, gint64, values->len / 2);
}

int
main (int argc, char **argv)
{
  Bench bench = { 0 };
  pid_t pid, tid;

  if (argc < 2)
    return 2;
  pid = start (argv + 1);
  g_usleep (WARM_UP);
  tid = find_busiest (pid);
  begin (&bench, pid);
  flam_sampler_expect (&bench.sampler, pid);
  if (tid == 0 || ptrace (PTRACE_SEIZE, tid, NULL, NULL) != 0)
    return 1;
  bench.task = flam_tasks_add (&bench.tracer.tasks,
                               pid,
                               0,
                               tid,
                               FLAM_BIRTH_UNSEEN,
                               NULL,
                               flam_tracer_now (&bench.tracer));
  bench.held = g_array_new (FALSE, FALSE, sizeof (gint64));
  bench.spent = g_array_new (FALSE, FALSE, sizeof (gint64));
  bench.frames = g_array_new (FALSE, FALSE, sizeof (gint64));
  catch_up (&bench);
  while (bench.held->len < MOST && take_sample (&bench))
    g_usleep (PERIOD);
  kill (pid, SIGKILL);
  if (bench.held->len <= FIRST)
    return 1;
  printf ("%u ", bench.held->len - FIRST);
  printf ("%.1f ", (double)median (bench.held) / 1000);
  printf ("%.1f ", (double)median (bench.spent) / 1000);
  printf ("%d\n", (int)median (bench.frames));
  return 0;
}
