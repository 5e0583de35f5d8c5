/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flam-environment.h"
#include "flam-perf-rings.h"
#include "recording.h"

static void
test_shares (void)
{
  g_autoptr (Recording) recording = record_target (NULL, "shares", "300");
  const FlamProfile *profile = recording->profile;
  double tolerance;
  gint64 total;
  g_autofree char *stack = NULL;

  assert_good (recording, 0);
  total = total_of (profile, "cpu-time");
  tolerance = sampling_error (profile);
  g_test_message ("shares within %.3f", tolerance);
  g_assert_cmpint (profile->samples.n, >, 100);
  assert_share (weight_of (profile, "cpu-time", "spin_heavy", FALSE),
                total,
                0.5,
                tolerance);
  assert_share (weight_of (profile, "cpu-time", "spin_light", FALSE),
                total,
                0.1,
                tolerance);
  assert_share (
      weight_of (profile, "cpu-time", "parse", FALSE), total, 0.2, tolerance);
  assert_share (
      weight_of (profile, "cpu-time", "leaf", FALSE), total, 0.2, tolerance);
  assert_share (
      weight_of (profile, "cpu-time", "compute", FALSE), total, 0.6, tolerance);
  g_assert_cmpfloat (rooted_share (profile), >, 0.99);
  g_assert_cmpfloat (profile->facts.recorder_share, >, 0);
  g_assert_cmpint (profile->facts.stop_median_ns, >, 0);
  g_assert_cmpint (
      profile->facts.stop_p99_ns, >=, profile->facts.stop_median_ns);

  /* Inlined functions are on the stack of the functions into which they were
   * inlined. */
  g_assert_cmpint (
      weight_of (profile, "cpu-time", "outer", FALSE), >, total / 2);
  stack = stack_text (profile, "outer");
  if (!g_regex_match_simple (
          "outer < (spin_heavy|spin_light|leaf|parse) < .*main < .* < _start$",
          stack,
          0,
          0))
    g_error ("%s", stack);
  g_free (stack);
  stack = stack_text (profile, "leaf");
  if (strstr (stack, "leaf < recurse < recurse < recurse < ") == NULL)
    g_error ("%s", stack);
}

/* --- failures ------------------------------------------------------------ */

typedef struct
{
  const char *name;
  int status;
  const char *option;
} Case;

static void
test_case (gconstpointer data)
{
  const Case *the_case = data;
  g_autoptr (Recording) recording =
      record_target (the_case->option, "cases", the_case->name);

  assert_good (recording, the_case->status);
}

static const Case cases[] = {
  { "signals", 0, NULL },
  { "itimer", 0, NULL },
  { "stopped", 0, NULL },
  { "vforks", 0, NULL },
  { "slow-vfork", 0, NULL },
  { "forks", 0, NULL },
  { "short-threads", 0, NULL },
  { "exec-thread", 0, NULL },
  { "leader-exits", 23, NULL },
  { "crash", 128 + SIGSEGV, NULL },
  { "tracer", 0, "--no-follow" },
  { "tracer", 1, NULL }, /* as documented: switch following off for these */
  { "eintr", 0, NULL },
  { "eintr-threads", 0, NULL },
  { "eintr-threads", 0, "--mode=wall" },
  { "short-calls", 0, "--no-follow" },
  { "short-calls", 0, "--mode=wall" },
  { "short-calls", 0, "--mode=faults" },
  { "short-threads", 0, "--mode=wall" },
  { "exec-thread", 0, "--mode=wall" },
  { "vforks", 0, "--no-follow" },
  { "many-threads", 0, NULL },
  { "setuids", 0, NULL },
};

static void
test_leader (void)
{
  g_autoptr (Recording) recording =
      record_target (NULL, "cases", "leader-exits");

  g_assert_cmpfloat (rooted_share (recording->profile), >, 0.95);
}

static void
test_exec (void)
{
  g_autoptr (Recording) recording =
      record_target (NULL, "cases", "exec-thread");
  gint64 total = total_of (recording->profile, "cpu-time");

  g_assert_cmpint (
      weight_of (recording->profile, "cpu-time", "after_exec", FALSE),
      >,
      total / 10);
}

static void
test_children (void)
{
  g_autoptr (Recording) recording = record_target (NULL, "cases", "vforks");
  g_autoptr (Recording) alone =
      record_target ("--no-follow", "cases", "vforks");

  g_assert_cmpuint (recording->profile->processes.n, ==, 21);
  for (guint32 i = 1; i < recording->profile->processes.n; i++)
    g_assert_cmpuint (recording->profile->processes.parent[i], ==, 0);
  g_assert_cmpuint (alone->profile->processes.n, ==, 1);
}

/* --- stacks -------------------------------------------------------------- */

static void
test_daemon (void)
{
  g_autoptr (Recording) recording = record_target (NULL, "cases", "daemon");
  const char *said = strstr (recording->error, "child ");
  pid_t pid = said != NULL ? (pid_t)g_ascii_strtoll (said + 6, NULL, 10) : 0;

  assert_good (recording, 0);
  g_assert_cmpint (pid, >, 0);
  g_assert_cmpint (kill (pid, SIGKILL), ==, 0);
}

static void
test_deep (void)
{
  g_autoptr (Recording) recording = record_target (NULL, "cases", "deep");

  g_assert_cmpint (recording->status, ==, 0);
  g_assert_cmpfloat (rooted_share (recording->profile), >, 0.9);
}

/* More of a sleeper's stack is read if the first copy was too small. */
static void
test_deep_sleep (void)
{
  g_autoptr (Recording) recording =
      record_target ("--mode=wall", "cases", "deep-sleep");
  const FlamProfile *profile = recording->profile;

  g_assert_cmpint (recording->status, ==, 0);
  g_assert_cmpuint (depth_of (profile, "sleep_below"), ==, 256);
  g_assert_cmpint (
      weight_of (profile, "wall-time", "deep_sleep", FALSE), >, 500 * 1000000);
}

/* Separate stacks, set up by makecontext(): they end where they began. */
static void
test_coroutines (void)
{
  g_autoptr (Recording) recording = record_target (NULL, "cases", "coroutines");
  const FlamProfile *profile = recording->profile;
  g_autofree char *stack = NULL;

  assert_good (recording, 0);
  stack = stack_text (profile, "burn");
  g_assert_cmpstr (stack, ==, "burn < coroutine < __start_context");
  g_assert_cmpuint (
      profile->facts.truncated_stacks, <=, 5 + profile->samples.n / 20);
}

static void
test_abyss (void)
{
  g_autoptr (Recording) recording = record_target (NULL, "cases", "abyss");

  assert_ended (recording, 0);
  g_assert_cmpuint (depth_of (recording->profile, "deep"), ==, 100001);
  /* It takes a while until the stack is recognized as deep. */
  g_assert_cmpint (
      weight_of (recording->profile, "cpu-time", "abyss_body", FALSE),
      >,
      total_of (recording->profile, "cpu-time") / 2);
}

static void
test_generated (void)
{
  g_autoptr (Recording) recording = record_target (NULL, "cases", "generated");
  g_autofree char *stack = NULL;

  assert_good (recording, 0);
  g_assert_cmpfloat (rooted_share (recording->profile), >, 0.99);
  stack = stack_text (recording->profile, "generated");
  if (strstr (stack, "generated code of process") == NULL)
    g_error ("%s", stack);
}

static int
compare_descending (gconstpointer a, gconstpointer b)
{
  const gint64 *x = a;
  const gint64 *y = b;

  return *x > *y ? -1 : *x < *y;
}

/* Without names, the program's functions are still distinguished. */
static void
assert_cut (const FlamProfile *profile)
{
  static const double expected[] = { 0.5, 0.2, 0.2, 0.1 };
  gint64 total = total_of (profile, "cpu-time");
  g_autoptr (GArray) self = g_array_new (FALSE, TRUE, sizeof (gint64));

  for (FlamId i = 0; i < profile->functions.n; i++)
    {
      const char *name = flam_profile_function_name (profile, i);

      if (g_str_has_prefix (name, "shares-stripped+0x"))
        {
          gint64 weight = weight_of (profile, "cpu-time", name, TRUE);

          g_array_append_val (self, weight);
        }
    }
  g_array_sort (self, compare_descending);
  g_assert_cmpuint (self->len, >=, G_N_ELEMENTS (expected));
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++)
    assert_share (g_array_index (self, gint64, i),
                  total,
                  expected[i],
                  sampling_error (profile));
}

static void
test_builds (gconstpointer data)
{
  const char *target = data;
  g_autoptr (Recording) recording = record_target (NULL, target, "60");

  assert_good (recording, 0);
  g_assert_cmpuint (recording->profile->samples.n, >, 20);
  g_assert_cmpuint (recording->profile->facts.truncated_stacks, <=, 2);
  if (strcmp (target, "shares-stripped") == 0)
    assert_cut (recording->profile);
  else
    g_assert_cmpfloat (rooted_share (recording->profile), >, 0.97);
}

/* The file is gone before its symbols are read. */
static void
test_deleted (void)
{
  g_autofree char *target = target_path ("cases");
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *copy = g_build_filename (folder, "victim", NULL);
  g_autofree char *text = NULL;
  const char *arguments[] = { "--", copy, "deleted", NULL };
  g_autoptr (Recording) recording = NULL;
  gsize size;

  g_assert_true (g_file_get_contents (target, &text, &size, NULL));
  g_assert_true (g_file_set_contents_full (
      copy, text, (gssize)size, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  recording = record (arguments);
  assert_good (recording, 0);
  assert_share (weight_of (recording->profile, "cpu-time", "burn", FALSE),
                total_of (recording->profile, "cpu-time"),
                1,
                0.05);
  g_rmdir (folder);
}

/* The type of the note with the build ID becomes one that nothing reads. */
static char *
copy_without_build_id (const char *folder, const char *target)
{
  static const guint8 note[] = { 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
  g_autofree char *from = target_path (target);
  char *to = g_build_filename (folder, target, NULL);
  g_autofree char *text = NULL;
  guint8 *found;
  gsize size;

  g_assert_true (g_file_get_contents (from, &text, &size, NULL));
  found = memmem (text, size, note, sizeof note);
  if (found != NULL)
    found[4] = 99;
  g_assert_true (g_file_set_contents_full (
      to, text, (gssize)size, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  return to;
}

/* Two programs at one path, one after the other: without build IDs, addresses
 * in one are not named by the other. */
static void
test_replaced (void)
{
  static const char script[] =
      "cp -p \"$0\" program && ./program 40 && rm program && "
      "cp -p \"$1\" program && ./program $2";
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *first = copy_without_build_id (folder, "shares");
  g_autofree char *other = copy_without_build_id (folder, "busy");
  g_autofree char *path = g_build_filename (folder, "program", NULL);
  const char *seconds[] = { other, first };
  static const char *const numbers[] = { "1 0 300", "40" };

  for (guint i = 0; i < G_N_ELEMENTS (seconds); i++)
    {
      const char *arguments[] = {
        "--cwd", folder, "--",       "sh",       "-c",
        script,  first,  seconds[i], numbers[i], NULL
      };
      g_autoptr (Recording) recording = record (arguments);
      const FlamModules *modules = &recording->profile->modules;
      guint found = 0;

      for (FlamId m = 0; m < modules->n; m++)
        if (strcmp (flam_profile_string (recording->profile, modules->path[m]),
                    path) == 0)
          {
            found++;
            g_assert_cmpint (modules->symbols[m] != FLAM_SYMBOLS_NONE, ==, i);
          }
      g_assert_cmpuint (found, ==, 1);
      g_unlink (path);
    }
  g_unlink (first);
  g_unlink (other);
  g_rmdir (folder);
}

/* Each library is called by a function of its own. Which of both is sampled
 * more often does not matter: without real-time priority, that is as the
 * scheduler decides. */
static void
assert_told_apart (const char *what, const char *engine)
{
  g_autofree char *a = target_path ("library-a.so");
  g_autofree char *b = target_path ("library-b.so");
  g_autofree char *say_a = g_strconcat ("FLAM_LIBRARY_A=", a, NULL);
  g_autofree char *say_b = g_strconcat ("FLAM_LIBRARY_B=", b, NULL);
  g_autofree char *target = target_path ("cases");
  const char *arguments[] = { "--engine", engine, "--env", say_a, "--env",
                              say_b,      "--",   target,  what,  NULL };
  g_autoptr (Recording) recording = record (arguments);
  const FlamProfile *profile = recording->profile;
  gint64 in_a, in_b, mixed, called;

  assert_ended (recording, 0);
  called = weight_of (profile, "samples", "call_a", FALSE) +
           weight_of (profile, "samples", "call_b", FALSE);
  in_a = weight_through (profile, "samples", "call_a", "work_in_a");
  in_b = weight_through (profile, "samples", "call_b", "work_in_b");
  mixed = weight_through (profile, "samples", "call_a", "work_in_b") +
          weight_through (profile, "samples", "call_b", "work_in_a");
  g_test_message ("%d, %d and %d mixed up of %d samples",
                  (int)in_a,
                  (int)in_b,
                  (int)mixed,
                  (int)called);
  g_assert_cmpint (in_a, >, 0);
  g_assert_cmpint (in_b, >, 0);
  /* 2 in 100 samples at most, and 6 if the recorder often waits for a CPU. */
  g_assert_cmpint (mixed, <=, 1 + called / 8);
  /* The others are in work(), which reads its page from the file first. */
  g_assert_cmpint (in_a + in_b, >, called * 3 / 4);
}

static void
test_libraries (void)
{
  assert_told_apart ("libraries", "ptrace");
}

/* Two libraries replace one another at one address, faster than the mappings
 * are read for any other reason. */
static void
test_plugins (void)
{
  assert_told_apart ("plugins", "ptrace");
}

/* Code without a path: its file, which is closed, can be opened as it is mapped
 * with privileges alone. Without them it is read as it is loaded, which has no
 * local symbols. */
static void
assert_unpacked (const char *name)
{
  g_autofree char *library = target_path ("library-a.so");
  g_autofree char *variable = g_strconcat ("FLAM_LIBRARY_A=", library, NULL);
  g_autofree char *target = target_path ("cases");
  const char *arguments[] = {
    "--env", variable, "--", target, "unpacked", NULL
  };
  g_autoptr (Recording) recording = record (arguments);
  const FlamModules *modules = &recording->profile->modules;
  const char *path = "";

  assert_good (recording, 0);
  g_assert_cmpint (
      weight_through (recording->profile, "samples", "call_a", name),
      >,
      total_of (recording->profile, "samples") * 9 / 10);
  g_assert_cmpfloat (rooted_share (recording->profile), >, 0.97);
  for (FlamId m = 0; m < modules->n && *path == '\0'; m++)
    if (strstr (flam_profile_string (recording->profile, modules->path[m]),
                "plugin") != NULL)
      path = flam_profile_string (recording->profile, modules->path[m]);
  g_assert_cmpstr (path, ==, "/memfd:plugin");
}

static void
test_unpacked (void)
{
  if (geteuid () == 0)
    assert_unpacked ("work_in_a");
  else
    g_test_skip ("it needs privileges");
}

static void
test_unpacked_unprivileged (void)
{
  g_autofree char *recorder = g_strdup (g_getenv ("FLAMBEAU_RECORDER"));
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *script = g_build_filename (folder, "recorder", NULL);
  g_autofree char *text = g_strdup_printf (
      "#!/bin/sh\nexec %s %s \"$@\"\n",
      geteuid () == 0 ? "setpriv --bounding-set -sys_admin,-checkpoint_restore"
                      : "",
      recorder);

  g_assert_true (g_file_set_contents_full (
      script, text, -1, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  g_setenv ("FLAMBEAU_RECORDER", script, TRUE);
  assert_unpacked ("[memfd:plugin]");
  g_setenv ("FLAMBEAU_RECORDER", recorder, TRUE);
  g_unlink (script);
  g_rmdir (folder);
}

/* What /proc shows is later than the kernel's records of samples. */
static void
test_plugins_with_perf (void)
{
  if (flam_perf_obstacle () != NULL)
    g_test_skip (flam_perf_obstacle ());
  else
    assert_told_apart ("plugins", "perf");
}

/* Only the first stack of a handler on a stack of its own does not reach the
 * root: from then on, both stacks are copied. */
static void
test_alternate (void)
{
  g_autoptr (Recording) recording = record_target (NULL, "cases", "alternate");
  const FlamProfile *profile = recording->profile;
  gint64 n;

  assert_good (recording, 0);
  n = total_of (profile, "samples");
  g_assert_cmpint (
      weight_of (profile, "samples", "burn", FALSE), >=, n - 2 - n / 10);
  g_assert_cmpint (weight_of (profile, "samples", "get_interrupted", FALSE),
                   >=,
                   n - 5 - n / 20);
  g_assert_cmpuint (profile->facts.truncated_stacks, <=, 5 + n / 20);
}

static void
test_namespace (void)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *say = g_strconcat ("FLAM_DIRECTORY=", folder, NULL);
  g_autofree char *target = target_path ("cases");
  const char *arguments[] = { "--env", say, "--", target, "namespace", NULL };
  g_autoptr (Recording) recording = record (arguments);

  g_rmdir (folder);
  if (recording->status == 77)
    {
      g_test_skip ("mount namespaces need privileges that are not there");
      return;
    }
  assert_good (recording, 0);
  assert_share (weight_of (recording->profile, "cpu-time", "after_exec", FALSE),
                total_of (recording->profile, "cpu-time"),
                1,
                0.3);
}

/* --- the program that is started ----------------------------------------- */

static void
test_environment (void)
{
  g_autofree char *target = target_path ("cases");
  const char *arguments[] = { "--cwd", "/",    "--env",       "FLAM_TEST=a b=c",
                              "--",    target, "environment", NULL };
  g_autoptr (Recording) recording = record (arguments);

  assert_good (recording, 0);
}

static void
assert_refused (const char *program, const char *why)
{
  const char *arguments[] = { "--", program, NULL };
  g_autoptr (Recording) recording = record (arguments);

  g_assert_cmpint (recording->status, ==, 1);
  if (strstr (recording->error, why) == NULL)
    g_error ("%s", recording->error);
  if (strstr (recording->said, "error ") == NULL)
    g_error ("%s", recording->said);
  g_assert_null (recording->profile);
}

static void
test_refused (void)
{
  static const guint8 elf32[64] = { 0x7f, 'E', 'L', 'F', 1, 1, 1, [18] = 3 };
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "file", NULL);

  assert_refused ("/no/such/program", "no such program");
  assert_refused ("no-such-program-anywhere", "no such program");
  assert_refused (folder, "is a folder");
  g_assert_true (g_file_set_contents_full (
      file, "text", 4, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
  assert_refused (file, "not executable");
  g_assert_true (g_file_set_contents_full (
      file, "te\0xt", 5, G_FILE_SET_CONTENTS_NONE, 0755, NULL));
  g_chmod (file, 0755);
  assert_refused (file, "neither a program nor a script");
  g_assert_true (g_file_set_contents_full (file,
                                           (const char *)elf32,
                                           sizeof elf32,
                                           G_FILE_SET_CONTENTS_NONE,
                                           0755,
                                           NULL));
  assert_refused (file, "64-bit");
  g_unlink (file);
  g_rmdir (folder);
}

/* A script without an interpreter line is run by the shell. */
static void
test_plain_script (void)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *file = g_build_filename (folder, "file", NULL);
  const char *arguments[] = { "--", file, "one", "two words", NULL };
  g_autoptr (Recording) recording = NULL;

  g_assert_true (g_file_set_contents_full (file,
                                           "test \"$2\" = 'two words' || exit\n"
                                           "exit $((40 + $#))\n",
                                           -1,
                                           G_FILE_SET_CONTENTS_NONE,
                                           0755,
                                           NULL));
  recording = record (arguments);
  assert_ended (recording, 42);
  g_unlink (file);
  g_rmdir (folder);
}

/* An interpreter whose functions cannot be shown is reported, however old. */
static void
test_old_python (void)
{
  static const char *const modes[] = { "--mode=cpu", "--mode=both" };

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      g_autoptr (Recording) recording =
          record_target (modes[i], "python2.7", NULL);

      assert_good (recording, 0);
      g_assert_true (has_warning (
          recording->profile,
          "python2.7: its Python functions cannot be shown: this version"));
    }
}

/* So is one that has a variable for it, with the variable; and nothing once it
 * is set. */
static void
test_old_erlang (void)
{
  g_autoptr (Recording) without =
      record_target ("--mode=cpu", "beam.smp", NULL);
  g_autoptr (Recording) with =
      record_target ("--env=ERL_FLAGS=+S 1 +JPperf true", "beam.smp", NULL);

  assert_good (without, 0);
  g_assert_true (has_warning (without->profile,
                              "Erlang 26 functions cannot be shown: this "
                              "version is not supported"));
  g_assert_cmpstr (
      flam_facts_other (&without->profile->facts, FLAM_FACT_UNREAD),
      ==,
      "Erlang 26");
  g_assert_cmpstr (
      flam_facts_other (&without->profile->facts, FLAM_FACT_UNREAD_VARIABLES),
      ==,
      "'ERL_FLAGS=+JPperf true'");
  assert_good (with, 7);
  g_assert_false (has_warning (with->profile, "Erlang 26"));
  g_assert_null (flam_facts_other (&with->profile->facts, FLAM_FACT_UNREAD));
}

int
main (int argc, char **argv)
{
  static const char *const builds[] = { "shares-static",
                                        "shares-no-cfi",
                                        "shares-stripped",
                                        "shares-pie",
                                        "shares-no-pie" };

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/record/quick/shares", test_shares);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path =
          g_strdup_printf ("/record/case/%s%s",
                           cases[i].name,
                           cases[i].option != NULL ? cases[i].option : "");
      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/record/leader", test_leader);
  g_test_add_func ("/record/quick/exec", test_exec);
  g_test_add_func ("/record/children", test_children);
  g_test_add_func ("/record/daemon", test_daemon);
  g_test_add_func ("/record/deep", test_deep);
  g_test_add_func ("/record/deep-sleep", test_deep_sleep);
  g_test_add_func ("/record/coroutines", test_coroutines);
  g_test_add_func ("/record/abyss", test_abyss);
  g_test_add_func ("/record/generated", test_generated);
  for (guint i = 0; i < G_N_ELEMENTS (builds); i++)
    {
      g_autofree char *path = g_strconcat ("/record/build/", builds[i], NULL);
      g_test_add_data_func (path, builds[i], test_builds);
    }
  g_test_add_func ("/record/deleted", test_deleted);
  g_test_add_func ("/record/unpacked", test_unpacked);
  g_test_add_func ("/record/unpacked/unprivileged", test_unpacked_unprivileged);
  g_test_add_func ("/record/replaced", test_replaced);
  g_test_add_func ("/record/libraries", test_libraries);
  g_test_add_func ("/record/plugins", test_plugins);
  g_test_add_func ("/record/plugins-with-perf", test_plugins_with_perf);
  g_test_add_func ("/record/alternate", test_alternate);
  g_test_add_func ("/record/namespace", test_namespace);
  g_test_add_func ("/record/quick/environment", test_environment);
  g_test_add_func ("/record/quick/refused", test_refused);
  g_test_add_func ("/record/quick/plain-script", test_plain_script);
  g_test_add_func ("/record/quick/old-python", test_old_python);
  g_test_add_func ("/record/quick/old-erlang", test_old_erlang);
  return g_test_run ();
}
