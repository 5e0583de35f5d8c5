/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Python frames in recordings, for each installed Python. */

#include <glib/gstdio.h>
#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "python-recording.h"

/* --- the tests ----------------------------------------------------------- */

/* Up to 3.10 a function has no qualified name, and each has a run of the
 * evaluation loop of its own. */
static gboolean
is_chained (const char *python)
{
  return g_regex_match_simple ("python3\\.([6-9]|10)$", python, 0, 0);
}

/* Like assert_stack(); then there are native frames between any two. */
static void
assert_chain (const Recording *recording,
              const char *python,
              const char *leaf,
              const char *pattern)
{
  g_auto (GStrv) parts = g_strsplit (pattern, " < ", -1);
  g_autofree char *wider = g_strjoinv (" < (.+ < )?", parts);

  assert_stack (recording, leaf, is_chained (python) ? wider : pattern);
}

static void
test_shares (gconstpointer python)
{
  static const char *const called[] = {
    "key", "fold", "pieces", "spin", "Worker.__init__", NULL
  };
  static const char *const short_called[] = {
    "key", "fold", "pieces", "spin", NULL
  };
  g_autofree char *file = g_strdup ("/tmp/flam-truth-XXXXXX");
  g_autofree char *truth = NULL;
  g_autoptr (Recording) recording = NULL;
  const FlamProfile *profile;
  guint n = 0;

  g_close (g_mkstemp (file), NULL);
  recording = record_case (python, NULL, "shares", "0.5", file);
  assert_good (recording, 0);
  profile = recording->profile;
  g_assert_true (g_file_get_contents (file, &truth, NULL, NULL));
  g_unlink (file);
  /* From a thread's first deep stack the tracer learns how much to copy. */
  if (profile->facts.truncated_stacks > 1)
    g_assert_cmpfloat (rooted_share (profile), >, 0.99);
  assert_part (recording, "heavy", "shares", 0.6);
  assert_part (recording, "light", "shares", 0.3);
  assert_part (recording, "fine", "shares", 0.1);
  assert_part (recording, "key", "shares", 0.3);
  assert_part (recording, "pieces", "shares", 0.1);
  assert_lines (profile, is_chained (python) ? short_called : called);

  /* Native frames are between the Python ones, and no other code runs. */
  assert_chain (recording,
                python,
                "key",
                "spin < key < .+ < light < shares < main < <module> < "
                ".*PyEval_EvalCode < .*Py_[A-Za-z]*Main < .*_start$");
  assert_chain (recording,
                python,
                "pieces",
                "pieces < .+ < fold < .+ < fine < shares < ");
  /* The evaluation loop appears only while it enters or leaves a frame. */
  g_assert_cmpint (
      weight_of (profile, "cpu-time", "_PyEval_EvalFrameDefault", FALSE),
      <,
      total_of (profile, "cpu-time") / 10);

  /* Below heavy(), the stack equals Python's own. */
  *strrchr (truth, ':') = '\0';
  for (FlamId i = 0; i < profile->stacks.n; i++)
    {
      g_autofree char *stack = NULL;

      if (!is_python (profile, i) || strcmp (name_of (profile, i), "spin") != 0)
        continue;
      stack = python_stack (profile, i);
      *strrchr (stack, ':') = '\0';
      if (strstr (stack, "\nheavy:") == NULL)
        continue;
      g_assert_cmpstr (stack, ==, truth);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
}

static void
test_recursion (gconstpointer python)
{
  g_autoptr (Recording) recording =
      record_case (python, NULL, "recursion", "0.1", NULL);
  const FlamProfile *profile = recording->profile;
  g_autofree char *stack = NULL;
  guint n = 0;

  assert_good (recording, 0);
  stack = stack_text (profile, "spin");
  for (const char *at = stack; (at = strstr (at, " down <")) != NULL; at++)
    n++;
  g_assert_cmpuint (n, ==, 401);
  assert_part (recording, "down", "recursion", 1);
}

/* Each native run of the loop has its own Python frame, in the right place. */
static void
test_mutual (gconstpointer python)
{
  g_autoptr (Recording) recording =
      record_case (python, NULL, "mutual", "0.4", NULL);
  const char *run = "through_c < through_c.<locals>.<lambda> < ";
  g_autofree char *stack = NULL;
  guint n = 0;

  assert_good (recording, 0);
  stack = stack_text (recording->profile, "spin");
  for (const char *at = stack; (at = strstr (at, run)) != NULL; n++)
    {
      at += strlen (run);
      if (g_str_has_prefix (at, "through_c"))
        g_error ("%s", stack);
    }
  g_assert_cmpuint (n, ==, 20);
}

static void
test_callback (gconstpointer python)
{
  g_autoptr (Recording) recording =
      record_case (python, NULL, "callback", "0.5", NULL);

  assert_good (recording, 0);
  assert_stack (recording,
                "spin",
                "spin < callback\\.<locals>\\.compare < .+ < "
                "(msort|qsort)[^<]* < .*ffi_call.* < callback < main < ");
}

static void
test_coroutines (gconstpointer python)
{
  static const char *const called[] = { "inner", NULL };
  g_autoptr (Recording) recording =
      record_case (python, NULL, "coroutines", "0.1", NULL);

  assert_good (recording, 0);
  assert_stack (recording,
                "inner",
                "spin < inner < (.+ < )?outer < .+ < coroutines < main < ");
  assert_lines (recording->profile, called);
}

/* By its module `threading`: before 3.8 without the system's number, and from
 * 3.14 on given to the system. */
static gboolean
names_threads (const char *python)
{
  static const char *const others[] = { "3.6", "3.7", "3.14", "3.15" };

  for (guint i = 0; i < G_N_ELEMENTS (others); i++)
    if (strstr (python, others[i]) != NULL)
      return FALSE;
  return TRUE;
}

static gboolean
has_thread (const FlamProfile *profile, const char *name)
{
  for (FlamId i = 0; i < profile->threads.n; i++)
    if (strcmp (flam_profile_string (profile, profile->threads.name[i]),
                name) == 0)
      return TRUE;
  return FALSE;
}

static void
test_threads (gconstpointer python)
{
  g_autoptr (Recording) recording =
      record_case (python, NULL, "threads", "0.6", NULL);

  assert_good (recording, 0);
  assert_part (recording, "one", "spin", 1 / 6.0);
  assert_part (recording, "two", "spin", 2 / 6.0);
  assert_part (recording, "three", "spin", 3 / 6.0);
  assert_chain (recording,
                python,
                "three",
                "spin < three < (.* < )?(Thread.)?run < .* < start_thread < ");
  if (names_threads (python))
    g_assert_true (has_thread (recording->profile, "the thread of three"));
}

static void
test_children (gconstpointer python)
{
  static const char *const ways[] = { "fork", "spawn" };
  /* A program that embeds Python has no interpreter to start. */
  guint n = g_str_has_suffix (python, ".so.1.0") ? 1 : 2;

  for (guint i = 0; i < n; i++)
    {
      g_autoptr (Recording) recording =
          record_case (python, NULL, ways[i], "0.2", NULL);

      assert_good (recording, 0);
      g_assert_cmpint (recording->profile->processes.n, ==, 2);
      assert_chain (recording,
                    python,
                    "in_child",
                    i == 0 ? "spin < in_child < fork < main < "
                           : "spin < in_child < main < ");
      assert_part (recording, "in_child", "spin", 1);
    }
}

/* 100,000 frames deep. */
static void
test_abyss (gconstpointer python)
{
  g_autoptr (Recording) recording =
      record_case (python, NULL, "abyss", "2", NULL);

  /* It is read again only after a pause, so there must be time for the
   * bottom. */
  assert_ended (recording, 0);
  g_assert_cmpuint (depth_of (recording->profile, "down"), ==, 100001);
  /* Nothing of it was truncated. */
  g_assert_cmpint (weight_of (recording->profile, "cpu-time", "abyss", FALSE),
                   >=,
                   weight_of (recording->profile, "cpu-time", "down", FALSE));
  assert_stack (recording, "abyss", "down < abyss < main < <module> < ");
}

/* An interpreter within another, on the same thread. */
static void
test_nested (gconstpointer python)
{
  g_autoptr (Recording) recording =
      record_case (python, NULL, "nested", "0.5", NULL);
  gint64 inner;

  assert_good (recording, 0);
  inner = weight_of (recording->profile, "cpu-time", "within", FALSE);
  g_assert_cmpint (inner,
                   >,
                   weight_of (recording->profile, "cpu-time", "nested", FALSE) /
                       3);
  assert_stack (recording,
                "within",
                "within < <module> < .+ < nested < main < <module> ");
}

/* A waiting thread's frames are shown without stopping it. */
static void
test_sleep (gconstpointer python)
{
  g_autoptr (Recording) recording =
      record_case (python, NULL, "sleep", "0.5", NULL);
  gint64 wall;

  assert_good (recording, 0);
  wall = weight_of (recording->profile, "wall-time", "nap", FALSE);
  g_assert_cmpint (wall, >, 450 * 1000000);
  assert_stack (recording, "nap", "clock_nanosleep.* < nap < sleep < main < ");
}

static void
test_reuse (gconstpointer python)
{
  g_autoptr (Recording) recording =
      record_case (python, NULL, "reuse", "0.5", NULL);
  const FlamProfile *profile = recording->profile;
  guint n = 0;

  assert_good (recording, 0);
  for (FlamId i = 0; i < profile->stacks.n; i++)
    {
      const char *name = name_of (profile, i);
      const char *file = flam_profile_string (
          profile, profile->functions.file[function_of (profile, i)]);
      const char *base = strrchr (file, '/') ? strrchr (file, '/') + 1 : file;

      if (!g_str_has_prefix (name, "made_"))
        continue;
      g_assert_true (g_str_has_prefix (base, "made "));
      g_assert_cmpstr (name + 5, ==, base + 5);
      n++;
    }
  g_assert_cmpuint (n, >, 0);
  for (guint i = 0; i < 10; i++)
    {
      g_autofree char *name = g_strdup_printf ("made_%u", i);
      assert_part (recording, name, "reuse", 0.1);
    }
}

static void
test_death (gconstpointer python)
{
  g_autoptr (Recording) recording =
      record_case (python, NULL, "die", "0.1", NULL);

  g_assert_cmpint (recording->status, ==, 128 + SIGKILL);
  assert_part (recording, "spin", "die", 1);
}

static gboolean
is_written (const char *file)
{
  GStatBuf st;

  return g_stat (file, &st) == 0 && st.st_size > 0;
}

static void
end_with_the_test (gpointer data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

static void
test_attach (gconstpointer python)
{
  g_autofree char *path = script ();
  g_autofree char *file = g_strdup ("/tmp/flam-truth-XXXXXX");
  const char *argv[] = { python, path, "wait", "60", file, NULL };
  g_autoptr (Recording) recording = NULL;
  g_autofree char *number = NULL;
  const char *arguments[] = { "--duration", "0.5", "--pid", NULL, NULL };
  g_autoptr (GError) error = NULL;
  GPid pid;

  if (g_str_has_suffix (python, ".so.1.0"))
    {
      g_test_skip ("no different from a program that is linked with it");
      return;
    }
  g_close (g_mkstemp (file), NULL);
  if (!g_spawn_async (NULL,
                      (char **)argv,
                      NULL,
                      G_SPAWN_DO_NOT_REAP_CHILD,
                      end_with_the_test,
                      NULL,
                      &pid,
                      &error))
    g_error ("%s", error->message);
  while (!is_written (file))
    g_usleep (10000);
  g_unlink (file);
  number = g_strdup_printf ("%d", pid);
  arguments[3] = number;
  recording = record (arguments);
  kill (pid, SIGKILL);
  waitpid (pid, NULL, 0);
  assert_good (recording, 0);
  /* From the first sample on. */
  g_assert_cmpint (
      weight_of (recording->profile, "cpu-time", "main", FALSE) +
          weight_of (recording->profile, "cpu-time", "[not sampled]", TRUE),
      ==,
      total_of (recording->profile, "cpu-time"));
  assert_chain (recording, python, "spin", "spin < wait < main < <module> < ");
}

/* Three rounds, of which one is in a thread and one in a child. Python's own
 * allocations are a small part. */
static void
test_memory (gconstpointer python)
{
  static const struct
  {
    const char *function;
    double blocks;
  } made[] = { { "first", 60 }, { "second", 60 },   { "turns", 120 },
               { "sort", 60 },  { "generate", 30 }, { "block", 180 },
               { "make", 30 },  { "memory", 140 },  { "in_thread", 70 } };
  static const char *const strengths[] = { "--exact", "--sample-bytes=1" };
  g_autoptr (Recording) recording = NULL;

  for (guint s = 0; s < G_N_ELEMENTS (strengths); s++)
    {
      g_clear_pointer (&recording, recording_free);
      recording = record_case (python, strengths[s], "memory", "0", NULL);
      assert_good (recording, 0);
      for (guint i = 0; i < G_N_ELEMENTS (made); i++)
        assert_share (
            weight_of (
                recording->profile, "allocated", made[i].function, FALSE),
            (gint64)(made[i].blocks * 100000),
            1,
            0.05);
      if (s == 0)
        assert_stack (
            recording,
            "block",
            "^.+ < block < first < turns < rounds < (in_thread|memory) < ");
    }
}

/* 10,000 floats and nearly as many integers, which the pools would hide. */
static void
test_small (gconstpointer python)
{
  g_autoptr (Recording) recording = NULL;
  gint64 count;

  recording = record_case (python, "--exact", "small", "0", NULL);
  assert_good (recording, 0);
  count = weight_of (recording->profile, "allocations", "tiny", FALSE);
  g_assert_cmpint (count, >, 19000);
  g_assert_cmpint (count, <, 21000);
}

/* Loaded, unloaded, loaded again. */
static void
test_late (gconstpointer python)
{
  g_autofree char *target = target_path ("late");
  const char *arguments[] = { "--mode", "alloc", "--exact", "--",
                              target,   python,  NULL };
  g_autoptr (Recording) recording = NULL;

  recording = record (arguments);
  assert_ended (recording, 0);
  assert_share (weight_of (recording->profile, "allocated", "in_python", FALSE),
                2 * 20 * 100000,
                1,
                0.05);
  g_assert_cmpint (weight_of (recording->profile, "allocated", "in_c", FALSE),
                   ==,
                   2 * 20 * 100000);
  assert_stack (recording,
                "in_python",
                "^.+ < in_python < <module> < .*PyEval_EvalCode < .*"
                "PyRun_SimpleString.* < run_python < main < ");
}

/* Python starts long after its library was loaded: the search for its threads
 * has become infrequent by then, but not so much that most of the work is
 * missed. */
static void
test_slow (gconstpointer python)
{
  g_autoptr (Recording) recording = NULL;

  g_setenv ("EMBED_WORK", "300", TRUE);
  recording = record_case (python, NULL, "shares", "0.2", NULL);
  g_unsetenv ("EMBED_WORK");
  assert_good (recording, 0);
  g_assert_cmpint (weight_of (recording->profile, "cpu-time", "shares", FALSE),
                   >,
                   140 * 1000000);
}

static void
test_off (gconstpointer python)
{
  static const char *const options[] = { "--no-python", "--no-runtimes" };

  for (guint i = 0; i < G_N_ELEMENTS (options); i++)
    {
      g_autoptr (Recording) recording =
          record_case (python, options[i], "shares", "0.05", NULL);
      const FlamProfile *profile = recording->profile;

      assert_good (recording, 0);
      for (FlamId j = 0; j < profile->functions.n; j++)
        g_assert_cmpint (profile->functions.kind[j], !=, FLAM_KIND_INTERPRETED);
    }
}

/* --- Python versions ----------------------------------------------------- */

static void
test_none (void)
{
  g_test_skip ("no Python 3.6 to 3.14 was found");
}

static void
find_pythons (GPtrArray *found)
{
  g_autofree char *pyenv = g_build_filename (
      g_get_home_dir (), ".pyenv/versions/*/bin/python3.1[1-4]", NULL);
  g_autofree char *old = g_build_filename (
      g_get_home_dir (), ".pyenv/versions/*/bin/python3.[6-9]", NULL);
  g_autofree char *last_old = g_build_filename (
      g_get_home_dir (), ".pyenv/versions/*/bin/python3.10", NULL);
  const char *const patterns[] = {
    "/usr/bin/python3.1[1-4]",
    "/usr/local/bin/python3.1[1-4]",
    pyenv,
    old,
    last_old,
    "/usr/lib/x86_64-linux-gnu/libpython3.1[1-4].so.1.0",
  };

  for (guint i = 0; i < G_N_ELEMENTS (patterns); i++)
    {
      glob_t paths;

      if (glob (patterns[i], 0, NULL, &paths) == 0)
        for (gsize j = 0; j < paths.gl_pathc; j++)
          g_ptr_array_add (found, g_strdup (paths.gl_pathv[j]));
      globfree (&paths);
    }
}

/* Whether another build of the same version precedes it. */
static gboolean
is_repeated (const GPtrArray *pythons, guint i)
{
  g_autofree char *name = g_path_get_basename (pythons->pdata[i]);

  for (guint j = 0; j < i; j++)
    {
      g_autofree char *before = g_path_get_basename (pythons->pdata[j]);

      if (strcmp (before, name) == 0)
        return TRUE;
    }
  return FALSE;
}

/* The Pythons for which a case runs, unless FLAM_TEST_ALL is set. Old versions
 * are read through their chain of frames. */
typedef enum
{
  ONCE = 0,
  EACH_NEW = 1 << 0,
  EACH_OLD = 1 << 1,
  LIBRARY = 1 << 2, /* for a program that is linked with it, too */
  OLD = 1 << 3,     /* possible with old versions */
} Scope;

static gboolean
is_chosen (Scope scope, const GPtrArray *pythons, guint i)
{
  const char *python = pythons->pdata[i];
  gboolean library = g_str_has_suffix (python, ".so.1.0");

  if (scope == LIBRARY)
    return library;
  if (is_chained (python) && (scope & OLD) == 0)
    return FALSE;
  if (i == 0 || g_getenv ("FLAM_TEST_ALL") != NULL)
    return TRUE;
  if (library)
    return (scope & LIBRARY) != 0;
  return !is_repeated (pythons, i) &&
         (scope & (is_chained (python) ? EACH_OLD : EACH_NEW)) != 0;
}

int
main (int argc, char **argv)
{
  static const struct
  {
    const char *name;
    GTestDataFunc run;
    Scope scope;
  } tests[] = {
    { "shares", test_shares, OLD | EACH_NEW | EACH_OLD | LIBRARY },
    { "recursion", test_recursion, OLD | EACH_NEW | EACH_OLD },
    { "mutual", test_mutual, ONCE },
    { "callback", test_callback, ONCE },
    { "coroutines", test_coroutines, ONCE },
    { "threads", test_threads, OLD | EACH_NEW | EACH_OLD },
    { "children", test_children, OLD },
    { "sleep", test_sleep, ONCE },
    { "reuse", test_reuse, OLD },
    { "death", test_death, OLD },
    { "attach", test_attach, OLD | EACH_NEW },
    { "off", test_off, OLD },
    { "memory", test_memory, EACH_NEW | LIBRARY },
    { "small", test_small, ONCE },
    { "abyss", test_abyss, EACH_NEW },
    { "nested", test_nested, ONCE },
    { "late", test_late, LIBRARY },
    { "slow", test_slow, LIBRARY },
  };
  g_autoptr (GPtrArray) pythons = g_ptr_array_new_with_free_func (g_free);

  g_test_init (&argc, &argv, NULL);
  find_pythons (pythons);
  if (pythons->len == 0)
    g_test_add_func ("/python/none", test_none);
  for (guint i = 0; i < pythons->len; i++)
    for (guint t = 0; t < G_N_ELEMENTS (tests); t++)
      {
        /* -p applies to only one level of names. */
        g_autofree char *path =
            i == 0 && t == 0 ? g_strdup ("/python/quick/shares")
                             : g_strdup_printf ("/python/all%s/%s",
                                                (char *)pythons->pdata[i],
                                                tests[t].name);
        if (is_chosen (tests[t].scope, pythons, i))
          g_test_add_data_func (path, pythons->pdata[i], tests[t].run);
      }
  return g_test_run ();
}
