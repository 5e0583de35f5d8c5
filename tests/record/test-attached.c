/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "recording.h"

/* The allocation library in a running program: its records from then on, and
 * that the program ends as usual. */

typedef struct
{
  GPid pid;
  int input, output, error;
} Lodger;

static void
expect (const Lodger *lodger, const char *text)
{
  char line[16] = "";

  g_assert_cmpint (
      read (lodger->output, line, strlen (text)), ==, (gint64)strlen (text));
  g_assert_cmpstr (line, ==, text);
}

static Lodger
lodger_start_of (const char *name, const char *first, const char *others)
{
  g_autofree char *path = target_path (name);
  const char *argv[] = { path, first, others, NULL };
  g_autoptr (GError) error = NULL;
  Lodger lodger;

  g_spawn_async_with_pipes (NULL,
                            (char **)argv,
                            NULL,
                            G_SPAWN_DO_NOT_REAP_CHILD,
                            NULL,
                            NULL,
                            &lodger.pid,
                            &lodger.input,
                            &lodger.output,
                            &lodger.error,
                            &error);
  g_assert_no_error (error);
  expect (&lodger, "ready\n");
  return lodger;
}

static Lodger
lodger_start (const char *first, const char *others)
{
  return lodger_start_of ("lodger", first, others);
}

static void
lodger_say (const Lodger *lodger, const char *commands)
{
  for (; *commands != '\0'; commands++)
    {
      g_assert_cmpint (write (lodger->input, commands, 1), ==, 1);
      expect (lodger, "done\n");
    }
}

static void
assert_undisturbed (Lodger *lodger)
{
  char text[256] = "";
  int status;

  g_assert_cmpint (write (lodger->input, "q", 1), ==, 1);
  g_assert_cmpint (waitpid (lodger->pid, &status, 0), ==, lodger->pid);
  if (read (lodger->error, text, sizeof text - 1) > 0)
    g_error ("%s", text);
  g_assert_true (WIFEXITED (status));
  g_assert_cmpint (WEXITSTATUS (status), ==, 7);
  close (lodger->input);
  close (lodger->output);
  close (lodger->error);
}

static Running *
attach (const Lodger *lodger, const char *option)
{
  g_autofree char *pid = g_strdup_printf ("%d", (int)lodger->pid);
  const char *arguments[] = { "--mode", "alloc", "--pid", pid, option, NULL };
  Running *running = recorder_start (arguments);

  g_assert_true (recorder_wait_for (running, "status"));
  return running;
}

static Recording *
end (Running *running)
{
  recorder_say (running, "stop");
  return recorder_end (running);
}

static void
assert_window (const Recording *recording, gint64 times)
{
  assert_ended (recording, 0);
  g_assert_cmpint (
      weight_of (recording->profile, "allocations", "in_window", TRUE),
      ==,
      100 * times);
  g_assert_cmpint (weight_of (recording->profile, "leaked", "in_window", TRUE),
                   ==,
                   40 * 64 * times);
  g_assert_cmpint (weight_of (recording->profile, "allocations", "main", FALSE),
                   ==,
                   100 * times);
}

/* --- figures -------------------------------------------------------------- */

/* Blocks that it allocates before and afterwards are not recorded, and neither
 * are their releases. */
static void
test_exact (void)
{
  Lodger lodger = lodger_start ("c", "");

  lodger_say (&lodger, "w");
  for (guint i = 0; i < 2; i++)
    {
      Running *running = attach (&lodger, "--exact");
      g_autoptr (Recording) recording = NULL;

      lodger_say (&lodger, i == 0 ? "ww" : "w");
      recording = end (running);
      assert_window (recording, i == 0 ? 2 : 1);
      lodger_say (&lodger, "w");
    }
  assert_undisturbed (&lodger);
}

/* First sampled, then exact: no thread keeps its countdown. */
static void
test_sampled (void)
{
  Lodger lodger = lodger_start ("c", "");
  Running *running = attach (&lodger, NULL);
  g_autoptr (Recording) recording = NULL;
  g_autoptr (Recording) exact = NULL;

  lodger_say (&lodger, "bw");
  recording = end (running);
  assert_ended (recording, 0);
  /* All of them were counted, except for the last 64 KiB, and all are at one
   * place; they are live, whatever else was freed. */
  g_assert_cmpint (
      weight_of (recording->profile, "allocated", "in_window", TRUE),
      >,
      65472 * 1024);
  g_assert_cmpint (
      weight_of (recording->profile, "allocated", "in_window", TRUE),
      <=,
      65536 * 1024 + 100 * 64);
  g_assert_cmpint (weight_of (recording->profile, "leaked", "in_window", TRUE),
                   >,
                   65000 * 1024);
  running = attach (&lodger, "--exact");
  lodger_say (&lodger, "w");
  exact = end (running);
  assert_window (exact, 1);
  assert_undisturbed (&lodger);
}

/* A program at a fixed address has addresses of functions that are its own. */
static void
test_fixed (void)
{
  Lodger lodger = lodger_start_of ("lodger-no-pie", "c", "");
  Running *running = attach (&lodger, "--exact");
  g_autoptr (Recording) recording = NULL;

  lodger_say (&lodger, "w");
  recording = end (running);
  assert_window (recording, 1);
  assert_undisturbed (&lodger);
}

static void
test_library (void)
{
  Lodger lodger = lodger_start ("c", "");
  Running *running = attach (&lodger, "--exact");
  g_autoptr (Recording) recording = NULL;

  lodger_say (&lodger, "lw");
  recording = end (running);
  assert_ended (recording, 0);
  g_assert_cmpint (
      weight_of (recording->profile, "leaked", "allocate_in_library", TRUE),
      ==,
      20 * 48);
  assert_undisturbed (&lodger);
}

static void
test_child (void)
{
  static const char *const options[] = { "--follow", "--no-follow" };

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      Lodger lodger = lodger_start ("c", "");
      g_autofree char *pid = g_strdup_printf ("%d", (int)lodger.pid);
      const char *arguments[] = { "--mode", "alloc",    "--exact", "--pid",
                                  pid,      options[i], NULL };
      Running *running = recorder_start (arguments);
      g_autoptr (Recording) recording = NULL;

      g_assert_true (recorder_wait_for (running, "status"));
      lodger_say (&lodger, "fw");
      recording = end (running);
      assert_ended (recording, 0);
      g_assert_cmpint (
          weight_of (recording->profile, "allocations", "in_window", TRUE),
          ==,
          i == 0 ? 110 : 100);
      assert_undisturbed (&lodger);
    }
}

/* --- the program ---------------------------------------------------------- */

/* By the activity of the thread that is used for it, and of the other
 * threads. */
static void
test_undisturbed (void)
{
  static const char *const programs[][2] = {
    { "c", "aarseq" }, { "r", "cq" }, { "s", "ca" },
    { "e", "ca" },     { "h", "cr" }, { "a", "caaa" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      Lodger lodger = lodger_start (programs[i][0], programs[i][1]);

      for (guint round = 0; round < 2; round++)
        {
          Running *running = attach (&lodger, round == 1 ? NULL : "--exact");
          g_autoptr (Recording) recording = NULL;

          lodger_say (&lodger, "w");
          recording = end (running);
          assert_ended (recording, 0);
          if (round != 1)
            g_assert_cmpint (
                weight_of (
                    recording->profile, "allocations", "in_window", TRUE),
                ==,
                100);
        }
      assert_undisturbed (&lodger);
    }
}

/* The recorder is killed at any moment of the injection: the thread that it
 * used finds back by itself. No thread waits in epoll_wait(), which fails after
 * a stop that no recorder mends. */
static void
test_killed (void)
{
  static const char *const programs[][2] = {
    { "c", "rsq" },
    { "r", "cq" },
    { "s", "ca" },
    { "a", "ca" },
  };
  guint n = g_getenv ("FLAM_TEST_ALL") != NULL ? 50 : 10;

  for (guint i = 0; i < n; i++)
    {
      const char *const *program = programs[i % G_N_ELEMENTS (programs)];
      Lodger lodger = lodger_start (program[0], program[1]);
      g_autofree char *pid = g_strdup_printf ("%d", (int)lodger.pid);
      const char *arguments[] = { "--mode", "alloc", "--pid", pid, NULL };
      Running *running = recorder_start (arguments);
      g_autoptr (Recording) recording = NULL;

      g_assert_true (recorder_wait_for (running, "target"));
      g_usleep ((gulong)g_test_rand_int_range (0, 150000));
      kill (running->pid, SIGKILL);
      recording = recorder_end (running);
      lodger_say (&lodger, "w");
      assert_undisturbed (&lodger);
    }
}

/* --- refusals ------------------------------------------------------------- */

static void
assert_refused (pid_t pid, const char *why)
{
  g_autofree char *number = g_strdup_printf ("%d", (int)pid);
  const char *arguments[] = { "--mode", "alloc", "--pid", number, NULL };
  g_autoptr (Recording) recording = record (arguments);

  g_assert_cmpint (recording->status, ==, 1);
  if (strstr (recording->error, why) == NULL)
    g_error ("%s", recording->error);
}

static void
test_refused (void)
{
  pid_t pid = target_start ("shares-static", "1000");
  Lodger lodger = lodger_start ("c", "");

  assert_refused (pid, "it is statically linked");
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  kill (lodger.pid, SIGSTOP);
  waitpid (lodger.pid, NULL, WUNTRACED);
  assert_refused (lodger.pid, "it is stopped: continue it first");
  kill (lodger.pid, SIGCONT);
  assert_undisturbed (&lodger);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/attached/exact", test_exact);
  g_test_add_func ("/attached/sampled", test_sampled);
  g_test_add_func ("/attached/fixed", test_fixed);
  g_test_add_func ("/attached/library", test_library);
  g_test_add_func ("/attached/child", test_child);
  g_test_add_func ("/attached/undisturbed", test_undisturbed);
  g_test_add_func ("/attached/killed", test_killed);
  g_test_add_func ("/attached/refused", test_refused);
  return g_test_run ();
}
