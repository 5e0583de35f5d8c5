/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "flam-launch.h"
#include "flam-proc.h"
#include "recording.h"

/* Attaching, commands, and the end of a recording. */

/* It continues to run, and is not traced. */
static void
assert_free (pid_t pid)
{
  g_assert_cmpint (kill (pid, 0), ==, 0);
  g_assert_cmpint (waitpid (pid, NULL, WNOHANG), ==, 0);
  for (guint i = 0; flam_proc_status (pid, "TracerPid") > 0 && i < 1000; i++)
    g_usleep (1000);
  g_assert_cmpint (flam_proc_status (pid, "TracerPid"), ==, 0);
}

static void
kill_target (pid_t pid)
{
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
}

static Running *
attach (pid_t pid)
{
  g_autofree char *text = g_strdup_printf ("%d", (int)pid);
  const char *arguments[] = { "--pid", text, NULL };

  return recorder_start (arguments);
}

static void
wait_for_samples (Running *running)
{
  for (guint i = 0; i < 3; i++)
    g_assert_true (recorder_wait_for (running, "status "));
}

static void
test_attach (void)
{
  pid_t pid = target_start ("cases", "spin");
  Running *running = attach (pid);
  g_autoptr (Recording) recording = NULL;

  wait_for_samples (running);
  recorder_say (running, "stop");
  recording = recorder_end (running);
  g_assert_cmpint (recording->status, ==, 0);
  g_assert_nonnull (strstr (recording->said, "done "));
  assert_free (pid);
  /* In a third of a second, most of which may go to other processes. */
  g_assert_cmpuint (recording->profile->samples.n, >=, 5);
  g_assert_cmpfloat (rooted_share (recording->profile), >, 0.97);
  assert_share (
      weight_of (recording->profile, "cpu-time", "burn", TRUE) +
          weight_of (recording->profile, "cpu-time", "[not sampled]", TRUE),
      total_of (recording->profile, "cpu-time"),
      1,
      0.05);
  kill_target (pid);
}

/* Attached to while stopped by job control; it stays stopped. */
static void
test_attach_stopped (void)
{
  pid_t pid = target_start ("cases", "spin");
  Running *running;
  g_autoptr (Recording) recording = NULL;
  int status;

  kill (pid, SIGSTOP);
  waitpid (pid, &status, WUNTRACED);
  running = attach (pid);
  wait_for_samples (running);
  recorder_say (running, "stop");
  recording = recorder_end (running);
  g_assert_cmpint (recording->status, ==, 0);
  g_assert_cmpuint (recording->profile->samples.n, <, 5);
  kill (pid, SIGCONT);
  assert_free (pid);
  kill_target (pid);
}

static void
assert_not_attached (pid_t pid, const char *why)
{
  g_autoptr (Recording) recording = recorder_end (attach (pid));

  g_assert_cmpint (recording->status, ==, 1);
  if (strstr (recording->error, why) == NULL)
    g_error ("%s", recording->error);
}

static void
test_attach_refused (void)
{
  pid_t pid = target_start ("cases", "spin");
  Running *first = attach (pid);
  pid_t zombie;

  g_assert_true (recorder_wait_for (first, "status "));
  assert_not_attached (pid, "already traced");
  recorder_say (first, "stop");
  recording_free (recorder_end (first));
  kill_target (pid);

  zombie = fork ();
  if (zombie == 0)
    _exit (0);
  g_usleep (100000);
  assert_not_attached (zombie, "zombie");
  waitpid (zombie, NULL, 0);
  assert_not_attached (zombie, "no such process");
}

static void
test_commands (void)
{
  g_autofree char *path = target_path ("cases");
  const char *arguments[] = { "--", path, "spin", NULL };
  Running *running = recorder_start (arguments);
  g_autoptr (Recording) recording = NULL;
  const FlamProfile *profile;
  gint64 gap = 0;

  g_assert_true (recorder_wait_for (running, "target "));
  wait_for_samples (running);
  recorder_say (running, "pause");
  g_assert_true (recorder_wait_for (running, "paused"));
  recorder_say (running, "mark in the pause");
  wait_for_samples (running);
  recorder_say (running, "resume");
  g_assert_true (recorder_wait_for (running, "resumed"));
  wait_for_samples (running);
  recorder_say (running, "what is this");
  g_assert_true (recorder_wait_for (running, "error "));
  recorder_say (running, "terminate");
  recording = recorder_end (running);
  g_assert_cmpint (recording->status, ==, 128 + SIGTERM);
  profile = recording->profile;
  g_assert_cmpuint (profile->marks.n, ==, 1);
  g_assert_cmpstr (flam_profile_string (profile, profile->marks.name[0]),
                   ==,
                   "in the pause");
  for (guint32 i = 1; i < profile->samples.n; i++)
    gap = MAX (gap, profile->samples.time[i] - profile->samples.time[i - 1]);
  g_assert_cmpint (gap, >, 300000000);
}

static gint64
cpu_of (pid_t pid)
{
  clockid_t clock;
  struct timespec ts;

  g_assert_cmpint (clock_getcpuclockid (pid, &clock), ==, 0);
  g_assert_cmpint (clock_gettime (clock, &ts), ==, 0);
  return ts.tv_sec * G_GINT64_CONSTANT (1000000000) + ts.tv_nsec;
}

/* Time used before a pause and after the last sample is not lost: the stretches
 * between the pauses are shorter than a sampling period. */
static void
test_pauses (void)
{
  pid_t pid = target_start ("cases", "spin");
  g_autofree char *text = g_strdup_printf ("%d", (int)pid);
  const char *arguments[] = { "--rate", "10", "--pid", text, NULL };
  Running *running = recorder_start (arguments);
  g_autoptr (Recording) recording = NULL;
  gint64 ran = 0;

  g_assert_true (recorder_wait_for (running, "target "));
  for (int i = 0; i < 20; i++)
    {
      gint64 began = cpu_of (pid);

      g_usleep (40000);
      recorder_say (running, "pause");
      g_assert_true (recorder_wait_for (running, "paused"));
      ran += cpu_of (pid) - began;
      g_usleep (40000);
      recorder_say (running, "resume");
      g_assert_true (recorder_wait_for (running, "resumed"));
    }
  recorder_say (running, "stop");
  recording = recorder_end (running);
  g_assert_cmpint (recording->status, ==, 0);
  /* The scheduler's count is some ms old for running threads. */
  assert_share (total_of (recording->profile, "cpu-time"), ran, 1, 0.25);
  assert_free (pid);
  kill_target (pid);
}

/* The recording ends, the target does not. */
static void
test_duration (void)
{
  pid_t pid = target_start ("cases", "spin");
  g_autofree char *text = g_strdup_printf ("%d", (int)pid);
  const char *arguments[] = { "--duration", "0.4", "--pid", text, NULL };
  g_autoptr (Recording) recording = record (arguments);

  g_assert_cmpint (recording->status, ==, 0);
  g_assert_cmpint (recording->profile->facts.duration_ns, >=, 400000000);
  assert_free (pid);
  kill_target (pid);
}

/* Nothing is sampled before the delay is over, and the delay does not count as
 * duration. */
static void
test_delay (void)
{
  pid_t pid = target_start ("cases", "spin");
  g_autofree char *text = g_strdup_printf ("%d", (int)pid);
  const char *arguments[] = { "--delay", "0.5", "--duration", "0.4",
                              "--pid",   text,  NULL };
  g_autoptr (Recording) recording = record (arguments);
  const FlamProfile *profile = recording->profile;

  g_assert_cmpint (recording->status, ==, 0);
  g_assert_cmpint (profile->facts.duration_ns, >=, 900000000);
  g_assert_cmpuint (profile->samples.n, >, 0);
  for (guint i = 0; i < profile->samples.n; i++)
    g_assert_cmpint (profile->samples.time[i], >=, 500000000);
  /* Time used before is neither a sample's nor missing. */
  g_assert_cmpint (total_of (profile, "cpu-time"), <, 600000000);
  assert_free (pid);
  kill_target (pid);
}

static void
test_sigterm (void)
{
  pid_t pid = target_start ("cases", "spin");
  Running *running = attach (pid);
  g_autoptr (Recording) recording = NULL;

  wait_for_samples (running);
  kill (running->pid, SIGTERM);
  recording = recorder_end (running);
  g_assert_cmpint (recording->status, ==, 128 + SIGTERM);
  g_assert_cmpuint (recording->profile->samples.n, >, 10);
  assert_free (pid);
  kill_target (pid);
}

/* A launched program receives the signal that ends the recorder. A reader of
 * the error output waits for both to end. */
static void
test_passed_on (void)
{
  static const int signals[] = { SIGTERM, SIGHUP };

  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    {
      g_autofree char *target = target_path ("cases");
      const char *arguments[] = { "--", target, "spin", NULL };
      Running *running = recorder_start (arguments);
      g_autofree char *line = recorder_wait_for_line (running, "target ");
      g_autoptr (Recording) recording = NULL;
      pid_t pid = (pid_t)g_ascii_strtoll (line + strlen ("target "), NULL, 10);

      wait_for_samples (running);
      kill (running->pid, signals[i]);
      recording = recorder_end (running);
      g_assert_cmpint (recording->status, ==, 128 + signals[i]);
      /* In a third of a second, most of which may go to other processes. */
      g_assert_cmpuint (recording->profile->samples.n, >=, 3);
      for (guint k = 0; k < 1000 && flam_proc_lives (pid); k++)
        g_usleep (10000);
      g_assert_false (flam_proc_lives (pid));
    }
}

/* The interrupt key: the target gets the signal and decides; the recording
 * continues until the target ends, and returns its status. */
static void
test_interrupt (void)
{
  g_autofree char *path = target_path ("cases");
  g_autofree char *output = NULL;
  char text[256];
  int terminal = posix_openpt (O_RDWR | O_NOCTTY), status;
  gsize n = 0;
  pid_t pid;

  close (g_file_open_tmp ("flam-XXXXXX.flambeau", &output, NULL));
  unlink (output);
  g_assert_cmpint (grantpt (terminal), ==, 0);
  g_assert_cmpint (unlockpt (terminal), ==, 0);
  pid = fork ();
  if (pid == 0)
    {
      setsid ();
      dup2 (open (ptsname (terminal), O_RDWR), 2);
      execl (g_getenv ("FLAMBEAU_RECORDER"),
             "flambeau-recorder",
             "--output",
             output,
             "--",
             path,
             "interrupt",
             NULL);
      _exit (127);
    }
  text[0] = '\0';
  while (strstr (text, "ready") == NULL)
    {
      ssize_t got = read (terminal, text + n, sizeof text - 1 - n);
      g_assert_cmpint (got, >, 0);
      n += (gsize)got;
      text[n] = '\0';
    }
  g_usleep (100000);
  g_assert_cmpint (write (terminal, "\003", 1), ==, 1);
  g_assert_cmpint (waitpid (pid, &status, 0), ==, pid);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 42);
  close (terminal);
  g_assert_true (g_file_test (output, G_FILE_TEST_IS_REGULAR));
  unlink (output);
}

/* The window is gone: the recording ends properly. */
static void
test_hang_up (void)
{
  pid_t pid = target_start ("cases", "spin");
  Running *running = attach (pid);
  g_autoptr (Recording) recording = NULL;

  wait_for_samples (running);
  close (running->control);
  running->control = open ("/dev/null", O_RDONLY | O_CLOEXEC);
  recording = recorder_end (running);
  g_assert_cmpint (recording->status, ==, 0);
  g_assert_cmpuint (recording->profile->samples.n, >, 10);
  assert_free (pid);
  kill_target (pid);
}

/* Waits until there are more samples than now: "status MS SAMPLES ...". */
static void
wait_for_more (Running *running)
{
  gint64 first = -1, n;

  do
    {
      g_autofree char *line = recorder_wait_for_line (running, "status ");
      g_assert_nonnull (line);
      g_assert_cmpint (
          sscanf (line, "status %*d %" G_GINT64_FORMAT, &n), ==, 1);
      if (first < 0)
        first = n;
    }
  while (n == first);
}

/* The recorder itself gets no CPU for a while: missed samples are reported, and
 * the time that passed meanwhile is not lost. */
static void
test_late (void)
{
  pid_t pid = target_start ("cases", "spin");
  gint64 before = cpu_of (pid), from, to, total;
  Running *running = attach (pid);
  g_autoptr (Recording) recording = NULL;

  wait_for_more (running);
  from = cpu_of (pid);
  kill (running->pid, SIGSTOP);
  waitpid (running->pid, NULL, WUNTRACED);
  g_usleep (200000);
  to = cpu_of (pid);
  kill (running->pid, SIGCONT);
  wait_for_more (running);
  recorder_say (running, "stop");
  recording = recorder_end (running);
  g_assert_cmpint (recording->status, ==, 0);
  g_assert_cmpuint (recording->profile->facts.late, >, 150);
  total = total_of (recording->profile, "cpu-time");
  g_assert_cmpint (total, >=, to - from);
  g_assert_cmpint (total, <=, cpu_of (pid) - before);
  assert_free (pid);
  kill_target (pid);
}

/* Short threads may end before the recorder has attached to them. */
static void
assert_is_over (pid_t pid)
{
  int status;

  g_assert_cmpint (waitpid (pid, &status, WNOHANG), ==, pid);
  g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 0);
}

/* kill -9 of the recorder, at random moments: the target continues, and the
 * file is valid up to its last complete block. */
static void
test_killed (void)
{
  for (guint i = 0; i < 20; i++)
    {
      pid_t pid = target_start ("cases", i % 4 == 0 ? "short-threads" : "spin");
      Running *running = attach (pid);
      g_autoptr (Recording) recording = NULL;
      int status;

      if (!recorder_wait_for (running, "target "))
        {
          recording = recorder_end (running);
          g_assert_cmpuint (i % 4, ==, 0);
          assert_is_over (pid);
          continue;
        }
      g_usleep ((gulong)g_test_rand_int_range (0, i < 5 ? 1300000 : 200000));
      kill (running->pid, SIGKILL);
      recording = recorder_end (running);
      /* On a fast machine the short threads, and with them the recording, may
       * end earlier. */
      if (i % 4 != 0 || recording->status != 0)
        g_assert_cmpint (recording->status, ==, 128 + SIGKILL);
      g_assert_nonnull (recording->profile);
      if (i % 4 == 0)
        {
          waitpid (pid, &status, 0);
          g_assert_true (WIFEXITED (status) && WEXITSTATUS (status) == 0);
          continue;
        }
      assert_free (pid);
      kill_target (pid);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/control/quick/attach", test_attach);
  g_test_add_func ("/control/attach-stopped", test_attach_stopped);
  g_test_add_func ("/control/attach-refused", test_attach_refused);
  g_test_add_func ("/control/quick/commands", test_commands);
  g_test_add_func ("/control/pauses", test_pauses);
  g_test_add_func ("/control/duration", test_duration);
  g_test_add_func ("/control/delay", test_delay);
  g_test_add_func ("/control/sigterm", test_sigterm);
  g_test_add_func ("/control/passed-on", test_passed_on);
  g_test_add_func ("/control/interrupt", test_interrupt);
  g_test_add_func ("/control/hang-up", test_hang_up);
  g_test_add_func ("/control/late", test_late);
  g_test_add_func ("/control/killed", test_killed);
  return g_test_run ();
}
