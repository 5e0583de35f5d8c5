/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <glib/gstdio.h>
#include <linux/capability.h>
#include <math.h>
#include <string.h>
#include <sys/prctl.h>

#include "flam-core-query.h"
#include "flam-perf-rings.h"
#include "recording.h"

/* Programs whose shares are known by construction, at a low, a usual and a high
 * rate; those of others, and those that wait, at all three with FLAM_TEST_ALL.
 * The number of samples depends on the machine and its load; the allowed
 * difference of each share follows from it. If samples are lost, the next one
 * includes their weight. */

static const char *const rates[] = { "100", "1000", "5000" };

typedef struct
{
  const char *name; /* of a function or a thread */
  double share;
} Part;

/* Our programs, and those with which the captures of other tools beside the
 * repository were made, if they are present: compiled here, unchanged. */
typedef struct
{
  const char *target;
  const char *source; /* in $FLAM_CAPTURES/src; NULL: it is one of ours */
  const char *argument;
  gboolean threads; /* parts are threads */
  Part parts[6];
  const char *deep; /* a function that calls itself */
  guint depth;
} Known;

#define WORKERS                                                                \
  {                                                                            \
    { "worker-0", 0.1 }, { "worker-1", 0.2 }, { "worker-2", 0.3 },             \
    {                                                                          \
      "worker-3", 0.4                                                          \
    }                                                                          \
  }

static const Known known[] = {
  { "shares",
    NULL,
    "500",
    FALSE,
    { { "parse", 0.2 },
      { "compute", 0.6 },
      { "spin_heavy", 0.5 },
      { "spin_light", 0.1 },
      { "leaf", 0.2 } },
    "recurse",
    31 },
  { "workers", NULL, "60", TRUE, WORKERS, NULL, 0 },
  { "nest",
    "nest.c",
    "500",
    FALSE,
    { { "parse", 0.2 },
      { "compute", 0.6 },
      { "spin_heavy", 0.5 },
      { "spin_light", 0.1 },
      { "leaf_work", 0.2 } },
    "recurse",
    31 },
  { "threads", "threads.cpp", "60", TRUE, WORKERS, NULL, 0 },
};

typedef struct
{
  const Known *known;
  const char *rate;
} Run;

/* The program, compiled if it is one of the others; NULL: not possible. To be
 * removed with its folder. Similar loops take the same time only if they begin
 * at the same offset in a cache line: otherwise, an AMD EPYC spends 48 instead
 * of 50 per cent in one of them, according to perf, too. */
static char *
compile (const Known *wanted)
{
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *program = g_build_filename (folder, wanted->target, NULL);
  const char *captures = g_getenv ("FLAM_CAPTURES");
  g_autofree char *source = g_build_filename (
      captures != NULL ? captures : "", "src", wanted->source, NULL);
  const char *argv[] = { g_str_has_suffix (wanted->source, ".cpp") ? "c++"
                                                                   : "cc",
                         "-O2",
                         "-g",
                         "-falign-functions=64",
                         "-falign-loops=64",
                         "-pthread",
                         "-o",
                         program,
                         source,
                         NULL };
  int status;

  if (g_file_test (source, G_FILE_TEST_EXISTS) &&
      g_spawn_sync (NULL,
                    (char **)argv,
                    NULL,
                    G_SPAWN_SEARCH_PATH,
                    NULL,
                    NULL,
                    NULL,
                    NULL,
                    &status,
                    NULL) &&
      g_spawn_check_wait_status (status, NULL))
    return g_steal_pointer (&program);
  g_rmdir (folder);
  return NULL;
}

static Recording *
record_known (const Run *run)
{
  const Known *wanted = run->known;
  g_autofree char *path =
      wanted->source != NULL ? compile (wanted) : target_path (wanted->target);
  g_autofree char *folder = NULL;
  const char *arguments[] = { "--rate", run->rate,        "--",
                              path,     wanted->argument, NULL };
  Recording *recording;

  if (path == NULL)
    return NULL;
  recording = record (arguments);
  if (wanted->source != NULL)
    {
      folder = g_path_get_dirname (path);
      g_unlink (path);
      g_rmdir (folder);
    }
  return recording;
}

static gint64
weight_of_part (const FlamProfile *profile,
                const Known *wanted,
                const char *name)
{
  return wanted->threads ? thread_weight (profile, "cpu-time", name)
                         : weight_of (profile, "cpu-time", name, FALSE);
}

/* The largest difference between a share and its known value. */
static double
largest_error (const FlamProfile *profile, const Known *wanted)
{
  gint64 total = total_of (profile, "cpu-time");
  double largest = 0;

  for (const Part *part = wanted->parts; part->name != NULL; part++)
    {
      gint64 weight = weight_of_part (profile, wanted, part->name);
      double error =
          fabs ((double)weight / (double)MAX (total, 1) - part->share);

      g_test_message ("%s: wrong by %.4f", part->name, error);
      largest = MAX (largest, error);
    }
  return largest;
}

/* A machine that others use does not give each part of a program the same CPU
 * time, but such errors do not repeat. */
static void
test_known (gconstpointer data)
{
  const Run *run = data;
  double error = 1, bound = 0;

  for (guint i = 0; i < 3 && error > bound; i++)
    {
      g_autoptr (Recording) recording = record_known (run);

      if (recording == NULL)
        {
          g_test_skip ("its source, or a compiler, is not here");
          return;
        }
      assert_ended (recording, 0);
      bound = sampling_error (recording->profile);
      error = largest_error (recording->profile, run->known);
      g_test_message ("%u samples: shares within %.3f",
                      recording->profile->samples.n,
                      bound);
      if (run->known->deep != NULL)
        g_assert_cmpuint (depth_of (recording->profile, run->known->deep),
                          ==,
                          run->known->depth);
      g_assert_cmpfloat (rooted_share (recording->profile), >, 0.98);
    }
  g_assert_cmpfloat (error, <=, bound);
}

/* --- time off the CPU ---------------------------------------------------- */

/* Each waits in its own way for 1.2 s, and the reason is recorded. */
static const struct
{
  const char *thread;
  const char *function;
  FlamState state;
} waits[] = {
  { "in-sleep", "in_sleep", FLAM_STATE_SLEEP },
  { "in-lock", "in_lock", FLAM_STATE_LOCK },
  { "in-pipe", "in_pipe", FLAM_STATE_IO },
  { "on-sleep", "on_sleep", FLAM_STATE_SLEEP },
  { "on-poll", "on_poll", FLAM_STATE_IO },
  { "on-lock", "on_lock", FLAM_STATE_LOCK },
};

/* Of a thread's time, by its rows. */
static FlamStateSplit
thread_split (const FlamProfile *profile, const char *thread)
{
  int wall = flam_profile_find_measure (profile, "wall-time");
  FlamStateSplit split = { { 0 } };

  for (guint32 t = 0; t < profile->threads.n; t++)
    for (guint32 k = 0; k < profile->threads.n_samples[t]; k++)
      {
        guint32 i = profile->threads.first_sample[t] + k;

        if (strcmp (flam_profile_string (profile, profile->threads.name[t]),
                    thread) == 0)
          split.weight[profile->samples.state[i]] +=
              profile->measures[wall].weight[i];
      }
  return split;
}

static void
check_sleepers (const char *const *options)
{
  g_autofree char *path = target_path ("sleeper");
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autoptr (Recording) recording = NULL;
  const FlamProfile *profile;

  while (*options != NULL)
    g_ptr_array_add (arguments, (gpointer)*options++);
  g_ptr_array_add (arguments, (gpointer) "--mode=wall");
  g_ptr_array_add (arguments, (gpointer) "--");
  g_ptr_array_add (arguments, path);
  g_ptr_array_add (arguments, NULL);
  recording = record ((const char **)arguments->pdata);
  profile = recording->profile;
  assert_ended (recording, 0);
  for (guint i = 0; i < G_N_ELEMENTS (waits); i++)
    {
      gint64 wall = thread_weight (profile, "wall-time", waits[i].thread);

      g_assert_cmpint (wall, >, 1000000000);
      g_assert_cmpint (wall, <=, profile->facts.duration_ns);
      assert_share (weight_of (profile, "wall-time", waits[i].function, FALSE),
                    wall,
                    1,
                    0.05);
      g_assert_cmpint (
          thread_weight (profile, "cpu-time", waits[i].thread), <, 100000000);
      assert_share (
          thread_split (profile, waits[i].thread).weight[waits[i].state],
          wall,
          1,
          0.1);
    }
  g_assert_cmpfloat (rooted_share (profile), >, 0.95);
}

static void
test_sleepers (gconstpointer rate)
{
  const char *options[] = { "--rate", rate, NULL };

  check_sleepers (options);
}

/* Even if the event by which the waits are seen is counted, too. */
static void
test_kernel_sleepers (void)
{
  const char *plain[] = { "--engine", "perf", NULL };
  const char *counted[] = {
    "--engine", "perf", "--events", "page-faults,context-switches", NULL
  };

  if (flam_perf_obstacle () != NULL)
    {
      g_test_skip (flam_perf_obstacle ());
      return;
    }
  check_sleepers (plain);
  check_sleepers (counted);
}

/* Without these privileges, the kernel hides its names. */
static void
test_nameless_sleepers (void)
{
  static const int dropped[] = { CAP_SYSLOG, CAP_BPF, CAP_SYS_ADMIN };
  const char *options[] = { "--engine", "perf", NULL };

  if (!g_test_subprocess ())
    {
      g_test_trap_subprocess (NULL, 0, 0);
      g_test_trap_assert_passed ();
      return;
    }
  for (guint i = 0; i < G_N_ELEMENTS (dropped); i++)
    prctl (PR_CAPBSET_DROP, dropped[i]);
  if (flam_perf_obstacle () == NULL)
    check_sleepers (options);
}

static FlamStateSplit
split_of (const FlamTree *tree, const char *function)
{
  for (FlamId i = 0; i < tree->n; i++)
    if (strcmp (flam_tree_name (tree, i), function) == 0)
      return tree->split[i];
  g_error ("%s was not seen", function);
}

/* A thread that does one thing after another: each is at its place in time. */
static void
test_kitchen (void)
{
  static const struct
  {
    const char *function;
    FlamState state;
  } steps[] = {
    { "chop", FLAM_STATE_RUNNING },
    { "wait_for_stove", FLAM_STATE_LOCK },
    { "wait_for_order", FLAM_STATE_IO },
    { "nap", FLAM_STATE_SLEEP },
  };
  g_autoptr (Recording) recording =
      record_target ("--mode=wall", "kitchen", NULL);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;

  assert_ended (recording, 0);
  weights = flam_weights_new (recording->profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (steps); i++)
    {
      FlamStateSplit split = split_of (tree, steps[i].function);
      gint64 all = 0;

      for (guint s = 0; s < FLAM_N_STATES; s++)
        all += split.weight[s];
      /* A thread that runs or is woken has to wait while other threads use the
       * CPU. */
      all -= split.weight[FLAM_STATE_RUNNABLE];
      g_test_message ("%s", steps[i].function);
      assert_share (split.weight[steps[i].state], all, 1, 0.05);
    }
}

/* --- generated code ------------------------------------------------------ */

/* The weight of the functions that V8 calls "*NAME FILE:LINE" or similar. */
static gint64
script_weight (const FlamProfile *profile, const char *name)
{
  gint64 weight = 0;

  for (guint32 i = 0; i < profile->functions.n; i++)
    {
      const char *function = flam_profile_function_name (profile, i);
      if (strstr (function, name) != NULL)
        weight += weight_of (profile, "cpu-time", function, TRUE);
    }
  return weight;
}

static void
test_javascript (gconstpointer rate)
{
  g_autofree char *node = g_find_program_in_path ("node");
  g_autofree char *script = g_test_build_filename (
      G_TEST_DIST, "record", "targets", "shares.js", NULL);
  g_autofree char *folder = g_dir_make_tmp ("flam-XXXXXX", NULL);
  g_autofree char *log = g_build_filename (folder, "v8.log", NULL);
  g_autofree char *map = NULL;
  const char *arguments[] = { "--rate",
                              rate,
                              "--cwd",
                              folder,
                              "--",
                              node,
                              "--perf-basic-prof",
                              "--no-logfile-per-isolate",
                              script,
                              "400",
                              NULL };
  g_autoptr (Recording) recording = NULL;
  gint64 heavy, light;

  if (node == NULL)
    {
      g_test_skip ("node is not installed");
      return;
    }
  recording = record (arguments);
  assert_ended (recording, 0);
  map = g_strdup_printf ("/tmp/perf-%d.map",
                         recording->profile->processes.pid[0]);
  g_unlink (map);
  g_unlink (log);
  g_rmdir (folder);
  heavy = script_weight (recording->profile, "heavyWork");
  light = script_weight (recording->profile, "lightWork");
  g_assert_cmpint (
      heavy + light, >, total_of (recording->profile, "cpu-time") / 2);
  /* Until they are optimized, both run slower. */
  assert_share (heavy,
                heavy + light,
                0.75,
                0.02 + 1.5 * sampling_error (recording->profile));
}

/* One address with two functions: each sample has the name that was valid at
 * its time. */
static void
test_generations (void)
{
  g_autoptr (Recording) recording = record_target (NULL, "jit", NULL);
  const FlamProfile *profile = recording->profile;
  g_autofree char *dump = NULL;
  gint64 first, second;

  assert_ended (recording, 0);
  dump = g_strdup_printf ("/tmp/jit-%d.dump", profile->processes.pid[0]);
  g_unlink (dump);
  first = weight_of (profile, "cpu-time", "first", TRUE);
  second = weight_of (profile, "cpu-time", "second", TRUE);
  g_assert_cmpint (first + second, >, total_of (profile, "cpu-time") / 2);
  assert_share (first, first + second, 0.75, 1.5 * sampling_error (profile));
}

int
main (int argc, char **argv)
{
  static Run runs[G_N_ELEMENTS (known)][G_N_ELEMENTS (rates)];

  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/shares/kitchen", test_kitchen);
  g_test_add_func ("/shares/generations", test_generations);
  g_test_add_func ("/shares/kernel-sleepers", test_kernel_sleepers);
  g_test_add_func ("/shares/nameless-sleepers", test_nameless_sleepers);
  for (guint r = 0; r < G_N_ELEMENTS (rates); r++)
    {
      g_autofree char *sleepers =
          g_strdup_printf ("/shares/sleepers/%s", rates[r]);
      g_autofree char *javascript =
          g_strdup_printf ("/shares/javascript/%s", rates[r]);
      gboolean all =
          g_getenv ("FLAM_TEST_ALL") != NULL || strcmp (rates[r], "1000") == 0;

      for (guint i = 0; i < G_N_ELEMENTS (known); i++)
        {
          g_autofree char *path =
              g_strdup_printf ("/shares/%s/%s", known[i].target, rates[r]);
          runs[i][r] = (Run){ &known[i], rates[r] };
          if (all || known[i].source == NULL)
            g_test_add_data_func (path, &runs[i][r], test_known);
        }
      if (!all)
        continue;
      g_test_add_data_func (sleepers, rates[r], test_sleepers);
      g_test_add_data_func (javascript, rates[r], test_javascript);
    }
  return g_test_run ();
}
