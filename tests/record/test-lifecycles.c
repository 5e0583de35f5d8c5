/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Programs that end before they are examined, and stacks that are easily
 * mistaken for complete or truncated ones. */

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "recording.h"

static Recording *
record_shell (const char *script)
{
  const char *arguments[] = {
    "--rate", "1000", "--", "sh", "-c", script, NULL
  };

  return record (arguments);
}

static const char *
name_of (const FlamProfile *profile, FlamStringId name)
{
  return flam_profile_string (profile, name);
}

static const char *
function_of (const FlamProfile *profile, FlamStackId stack)
{
  FlamFrameId frame = profile->stacks.frame[stack];

  return name_of (profile,
                  profile->functions.name[profile->frames.function[frame]]);
}

/* The root of a stack that contains `function`; NULL: it has none. */
static const char *
root_below (const FlamProfile *profile, FlamStackId stack, const char *function)
{
  gboolean here = FALSE;
  FlamId root = stack;

  for (; stack != FLAM_NONE; stack = profile->stacks.prefix[stack])
    {
      here |= strcmp (function_of (profile, stack), function) == 0;
      root = stack;
    }
  return here ? function_of (profile, root) : NULL;
}

/* The share of a function's CPU time on stacks that begin in _start. */
static double
reaching_share (const FlamProfile *profile, const char *function)
{
  const gint64 *weight = profile->measures[0].weight;
  gint64 all = 0, reaching = 0;

  for (guint32 i = 0; i < profile->samples.n; i++)
    {
      const char *root =
          root_below (profile, profile->samples.stack[i], function);

      if (root == NULL)
        continue;
      all += weight[i];
      if (strcmp (root, "_start") == 0)
        reaching += weight[i];
    }
  g_test_message (
      "%.3f of %.3f ms", 1e-6 * (double)reaching, 1e-6 * (double)all);
  return all > 0 ? (double)reaching / (double)all : 0;
}

/* --- stacks -------------------------------------------------------------- */

/* main's callee finds the stack as main found it: its frame looks like the
 * first one of a manually constructed stack, until libc is known. */
static void
test_roots (void)
{
  g_autofree char *target = target_path ("shallow");
  g_autofree char *script =
      g_strdup_printf ("for i in $(seq 30); do '%s'; done", target);
  g_autoptr (Recording) recording = record_shell (script);
  const FlamProfile *profile = recording->profile;

  assert_good (recording, 0);
  g_assert_cmpuint (profile->samples.n, >, 100);
  /* A program may end before its mappings can be read, if others use the
   * CPU. */
  g_assert_cmpfloat (reaching_share (profile, "spin"), >=, 0.95);
  g_assert_cmpuint (
      profile->facts.truncated_stacks, <=, profile->samples.n / 20);
}

/* Its main and the assembler function are unwound by their instructions. */
static void
test_bare (void)
{
  g_autofree char *target = target_path ("bare");
  const char *arguments[] = { "--", target, NULL };
  g_autoptr (Recording) recording = record (arguments);
  const FlamProfile *profile = recording->profile;

  assert_good (recording, 0);
  g_assert_cmpuint (profile->samples.n, >, 20);
  g_assert_cmpfloat (reaching_share (profile, "spin"), >=, 0.99);
#ifdef __x86_64__
  {
    g_autofree char *stack = stack_text (profile, "mix");

    g_assert_true (g_str_has_prefix (stack, "mix < stir < main < "));
    g_assert_cmpfloat (reaching_share (profile, "mix"), >=, 0.99);
  }
#endif
}

/* Both halves of a capture agree on the same stack. */
static void
test_coroutines (void)
{
  g_autofree char *target = target_path ("lifecycles");
  const char *arguments[] = { "--rate", "1000", "--mode",     "both", "--exact",
                              "--",     target, "coroutines", NULL };
  g_autoptr (Recording) recording = record (arguments);
  const FlamProfile *profile = recording->profile;
  g_autofree char *worked = NULL;
  guint n = 0;

  assert_good (recording, 0);
  worked = stack_text (profile, "work");
  g_assert_cmpstr (worked, ==, "work < coroutine < __start_context");
  for (guint32 i = 0; i < profile->allocations.n; i++)
    {
      const char *root =
          root_below (profile, profile->allocations.stack[i], "allocate");

      n += root != NULL;
      if (root != NULL)
        g_assert_cmpstr (root, ==, "__start_context");
    }
  g_assert_cmpuint (n, >, 0);
  g_assert_cmpuint (
      profile->facts.truncated_stacks, <=, 5 + profile->samples.n / 20);
}

/* --- names --------------------------------------------------------------- */

static void
test_names (void)
{
  g_autoptr (Recording) recording =
      record_shell ("for i in $(seq 300); do /bin/true; done");
  const FlamProfile *profile = recording->profile;
  guint n = 0;

  assert_ended (recording, 0);
  g_assert_cmpuint (profile->processes.n, ==, 302);
  for (guint32 i = 0; i < profile->processes.n; i++)
    {
      const char *name = name_of (profile, profile->processes.name[i]);

      n += strcmp (name, "true") == 0;
      g_assert_cmpstr (name, !=, "");
    }
  g_assert_cmpuint (n, ==, 300);
}

static void
test_modules (void)
{
  g_autoptr (Recording) recording =
      record_shell ("for i in $(seq 300); do /bin/true; done");
  const FlamProfile *profile = recording->profile;
  const gint64 *weight = profile->measures[0].weight;
  gint64 all = 0, unknown = 0;

  assert_ended (recording, 0);
  for (guint32 i = 0; i < profile->samples.n; i++)
    {
      FlamStackId stack = profile->samples.stack[i];
      FlamFunctionId function;

      if (stack == FLAM_NONE || profile->samples.event[i] != 0)
        continue;
      function = profile->frames.function[profile->stacks.frame[stack]];
      all += weight[i];
      if (profile->functions.module[function] == FLAM_NONE)
        unknown += weight[i];
    }
  g_test_message (
      "%.3f of %.3f ms", 1e-6 * (double)unknown, 1e-6 * (double)all);
  g_assert_cmpint (unknown, <=, all / 50);
}

static void
test_late_names (void)
{
  g_autoptr (Recording) recording =
      record_target (NULL, "lifecycles", "late-names");
  const FlamProfile *profile = recording->profile;
  guint n = 0;

  assert_ended (recording, 0);
  g_assert_cmpuint (profile->threads.n, ==, 81);
  for (guint32 i = 0; i < profile->threads.n; i++)
    n += g_str_has_prefix (name_of (profile, profile->threads.name[i]), "late");
  g_assert_cmpuint (n, ==, 80);
}

/* --- CPU time ------------------------------------------------------------ */

/* The program and the kernel agree; each thread's rows add up to that. */
static void
test_charged (gconstpointer what)
{
  g_autoptr (Recording) recording = record_target (NULL, "lifecycles", what);
  const FlamProfile *profile = recording->profile;
  const char *said = strstr (recording->error, "used ");
  double used = said != NULL ? g_ascii_strtod (said + 5, NULL) : 0;
  double charged = 1e-9 * (double)profile->facts.charged_cpu_ns;
  gint64 missed = weight_of (profile, "cpu-time", "[not sampled]", TRUE);

  assert_ended (recording, 0);
  g_test_message ("used %.4f s, charged %.4f s, not sampled %.4f s",
                  used,
                  charged,
                  1e-9 * (double)missed);
  g_assert_cmpfloat (charged, >, 0.97 * used);
  g_assert_cmpfloat (charged, <, 1.03 * used);
  g_assert_cmpint (
      total_of (profile, "cpu-time"), ==, profile->facts.charged_cpu_ns);
  g_assert_cmpint (missed,
                   ==,
                   profile->facts.charged_cpu_ns -
                       profile->facts.recorded_cpu_ns);
  g_assert_cmpint (
      weight_of (profile, "samples", "[not sampled]", TRUE), ==, 0);
}

/* A thread's wall time never exceeds the elapsed time, even if it calls
 * exec. */
static void
test_wall (void)
{
  g_autoptr (Recording) recording =
      record_target ("--mode=wall", "lifecycles", "exec");
  const FlamProfile *profile = recording->profile;
  gint64 duration = profile->facts.duration_ns;
  const FlamMeasure *measure = profile->measures;

  while (strcmp (flam_profile_string (profile, measure->id), "wall-time") != 0)
    measure++;

  assert_ended (recording, 0);
  for (FlamId t = 0; t < profile->threads.n; t++)
    {
      gint64 wall = 0;

      for (guint32 i = 0; i < profile->threads.n_samples[t]; i++)
        wall += measure->weight[profile->threads.first_sample[t] + i];
      g_test_message ("thread %d: %.3f s of %.3f s",
                      profile->threads.tid[t],
                      1e-9 * (double)wall,
                      1e-9 * (double)duration);
      g_assert_cmpint (wall, <=, duration + 5000000);
    }
}

/* --- recorded processes -------------------------------------------------- */

static gboolean
warns_of (const FlamProfile *profile, const char *text)
{
  for (guint i = 0; profile->facts.warnings[i] != NULL; i++)
    if (strstr (profile->facts.warnings[i], text) != NULL)
      return TRUE;
  return FALSE;
}

static Recording *
record_master (const char *follow, pid_t pid)
{
  g_autofree char *number = g_strdup_printf ("%d", (int)pid);
  const char *arguments[] = {
    follow, "--duration", "0.5", "--pid", number, NULL
  };

  return record (arguments);
}

static void
test_master (void)
{
  pid_t pid = target_start ("lifecycles", "master");
  g_autoptr (Recording) all = NULL;
  g_autoptr (Recording) alone = NULL;

  g_usleep (100000);
  all = record_master ("--follow", pid);
  alone = record_master ("--no-follow", pid);
  kill (pid, SIGKILL);
  assert_ended (all, 0);
  assert_ended (alone, 0);
  g_assert_cmpuint (all->profile->processes.n, ==, 3);
  for (guint32 i = 1; i < 3; i++)
    g_assert_cmpuint (all->profile->processes.parent[i], ==, 0);
  g_assert_cmpint (
      weight_of (all->profile, "cpu-time", "master", FALSE), >, 50000000);
  g_assert_cmpuint (alone->profile->processes.n, ==, 1);
  g_assert_true (
      warns_of (alone->profile, "2 child processes were not recorded"));
  g_assert_true (warns_of (alone->profile, "no samples"));
  g_assert_false (warns_of (all->profile, "no samples"));
}

static void
test_daemon (void)
{
  g_autoptr (Recording) recording =
      record_target (NULL, "lifecycles", "daemon");

  assert_ended (recording, 0);
  g_assert_true (warns_of (recording->profile, "outlived the program (1)"));
}

/* --- descriptors --------------------------------------------------------- */

/* `sh -c SCRIPT RECORDER` with this few descriptors for the recorder;
 * LeakSanitizer would need some itself at the end. */
static Recording *
record_poor (guint limit, const char *script)
{
  g_autofree char *recorder = g_strdup (g_getenv ("FLAMBEAU_RECORDER"));
  g_autofree char *text = g_strdup_printf (
      "#!/bin/sh\nulimit -n %u\n"
      "ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 exec '%s' \"$@\"\n",
      limit,
      recorder);
  g_autofree char *path = NULL;
  int fd = g_file_open_tmp ("flam-XXXXXX.sh", &path, NULL);
  const char *arguments[] = { "--rate", "1000", "--",     "sh",
                              "-c",     script, recorder, NULL };
  Recording *recording;

  g_assert_cmpint (fd, >=, 0);
  close (fd);
  g_assert_true (g_file_set_contents (path, text, -1, NULL));
  g_assert_cmpint (g_chmod (path, 0700), ==, 0);
  g_setenv ("FLAMBEAU_RECORDER", path, TRUE);
  recording = record (arguments);
  g_setenv ("FLAMBEAU_RECORDER", recorder, TRUE);
  g_unlink (path);
  return recording;
}

/* 100 threads need 200 if all are kept: half of the descriptors are for others.
 * A program with many libraries needs more than there are. */
static void
test_descriptors (void)
{
  g_autofree char *target = target_path ("lifecycles");
  g_autofree char *script = g_strdup_printf ("exec '%s' crowd", target);
  g_autoptr (Recording) poor = record_poor (16, script);
  g_autoptr (Recording) destitute =
      record_poor (16, "for i in $(seq 20); do \"$0\" --help >/dev/null; done");

  assert_ended (poor, 0);
  g_assert_cmpfloat (rooted_share (poor->profile), >, 0.95);
  g_assert_false (warns_of (poor->profile, "descriptors"));
  assert_ended (destitute, 0);
  g_assert_true (warns_of (destitute->profile, "descriptors"));
}

/* Too few to start a program: the message has the remedy. */
static void
test_no_descriptors (void)
{
  g_autoptr (Recording) recording = record_poor (8, "exit 0");

  g_assert_cmpint (recording->status, ==, 1);
  g_assert_null (recording->profile);
  if (strstr (recording->error,
              "too many open files: raise the limit (ulimit -n)") == NULL)
    g_error ("%s", recording->error);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/lifecycles/quick/roots", test_roots);
  g_test_add_func ("/lifecycles/quick/bare", test_bare);
  g_test_add_func ("/lifecycles/coroutines", test_coroutines);
  g_test_add_func ("/lifecycles/names", test_names);
  g_test_add_func ("/lifecycles/modules", test_modules);
  g_test_add_func ("/lifecycles/quick/late-names", test_late_names);
  g_test_add_data_func ("/lifecycles/quick/charged", "forks", test_charged);
  g_test_add_data_func ("/lifecycles/quick/charged-exec", "exec", test_charged);
  g_test_add_func ("/lifecycles/quick/wall-exec", test_wall);
  g_test_add_func ("/lifecycles/quick/master", test_master);
  g_test_add_func ("/lifecycles/daemon", test_daemon);
  g_test_add_func ("/lifecycles/descriptors", test_descriptors);
  g_test_add_func ("/lifecycles/quick/no-descriptors", test_no_descriptors);
  return g_test_run ();
}
