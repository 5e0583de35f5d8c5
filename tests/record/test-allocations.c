/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Allocations of targets/blocks.c, and of a foreign C++ program, whose sums are
 * known by construction. */

#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "flam-launch.h"
#include "recording.h"

#include "flam-core-query.h"

static Recording *
record_program (const char *const *options,
                const char *program,
                const char *what,
                const char *scale)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();

  g_ptr_array_add (arguments, (gpointer) "--mode");
  g_ptr_array_add (arguments, (gpointer) "alloc");
  for (guint i = 0; options[i] != NULL; i++)
    g_ptr_array_add (arguments, (gpointer)options[i]);
  g_ptr_array_add (arguments, (gpointer) "--");
  g_ptr_array_add (arguments, (gpointer)program);
  g_ptr_array_add (arguments, (gpointer)what);
  g_ptr_array_add (arguments, (gpointer)scale);
  g_ptr_array_add (arguments, NULL);
  return record ((const char *const *)arguments->pdata);
}

static Recording *
record_blocks (const char *const *options, const char *what, const char *scale)
{
  g_autofree char *target = target_path ("blocks");

  return record_program (options, target, what, scale);
}

static Recording *
record_exactly (const char *what)
{
  const char *const options[] = { "--exact", NULL };
  Recording *recording = record_blocks (options, what, NULL);

  if (recording->profile == NULL)
    g_error ("%s: status %d: %s", what, recording->status, recording->error);
  return recording;
}

static void
test_known (void)
{
  g_autoptr (Recording) recording = record_exactly ("known");
  const FlamProfile *p = recording->profile;
  g_autofree char *stack = NULL;

  g_assert_cmpint (recording->status, ==, 3);
  g_assert_cmpint (weight_of (p, "leaked", "leak_small", TRUE), ==, 24000);
  g_assert_cmpint (
      weight_of (p, "leaked-blocks", "leak_small", TRUE), ==, 1000);
  g_assert_cmpint (weight_of (p, "leaked", "leak_thread", TRUE), ==, 163840);
  g_assert_cmpint (weight_of (p, "leaked", "churn", TRUE), ==, 0);
  g_assert_cmpint (weight_of (p, "leaked", "hold_peak", TRUE), ==, 0);
  g_assert_cmpint (weight_of (p, "leaked", "grow", TRUE), ==, 0);
  g_assert_cmpint (weight_of (p, "temporary", "churn", TRUE), ==, 40000);
  g_assert_cmpint (
      weight_of (p, "temporary-bytes", "churn", TRUE), ==, 4000000);
  g_assert_cmpint (weight_of (p, "allocations", "churn", TRUE), ==, 40000);
  g_assert_cmpint (weight_of (p, "peak", "hold_peak", TRUE), ==, 512 * 65536);
  g_assert_cmpint (weight_of (p, "peak", "leak_small", TRUE), ==, 24000);
  g_assert_cmpint (weight_of (p, "peak", "leak_thread", TRUE), ==, 0);
  /* 16, 32, ... 1 MiB. */
  g_assert_cmpint (weight_of (p, "allocations", "grow", TRUE), ==, 17);
  g_assert_cmpint (
      weight_of (p, "allocated", "grow", TRUE), ==, (1 << 21) - 16);

  stack = stack_text (p, "leak_small");
  g_assert_cmpint (p->facts.sample_bytes, ==, 0);
  if (!g_str_has_prefix (stack, "leak_small < known < main < ") ||
      !g_str_has_suffix (stack, " < _start"))
    g_error ("%s", stack);
}

/* The sums are exact for any seed; only their split is an estimate. */
static void
test_sampled (void)
{
  enum
  {
    RUNS = 5,
    EVERY = 16384,
    TRUTH = 100 * 40000 * 4
  };
  const char *const options[] = { "--sample-bytes", "16384", NULL };

  for (guint i = 0; i < RUNS; i++)
    {
      g_autofree char *seed = g_strdup_printf ("%u", i + 1);
      g_autoptr (Recording) recording = NULL;
      const FlamFacts *facts;
      gint64 bytes;

      g_setenv ("FLAMBEAU_ALLOC_SEED", seed, TRUE);
      recording = record_blocks (options, "known", "4");
      facts = &recording->profile->facts;
      bytes = weight_of (recording->profile, "allocated", "churn", TRUE);
      g_test_message ("%" G_GINT64_FORMAT " of %d, %" G_GINT64_FORMAT " in all",
                      bytes,
                      TRUTH,
                      facts->allocated_bytes);
      g_assert_cmpint (facts->sample_bytes, ==, EVERY);
      g_assert_cmpint (facts->allocated_bytes, >=, TRUTH);
      g_assert_cmpint (ABS (bytes - TRUTH),
                       <=,
                       flam_estimate_error ((double)bytes * EVERY,
                                            (double)bytes * EVERY * EVERY,
                                            EVERY,
                                            (double)bytes,
                                            (double)facts->allocated_bytes));
      /* Blocks of 100 bytes. Both are fitted to exact totals, in which there
       * are blocks of other sizes, too. */
      g_assert_cmpint (ABS (bytes - 100 * weight_of (recording->profile,
                                                     "allocations",
                                                     "churn",
                                                     TRUE)),
                       <=,
                       bytes / 100);
    }
  g_unsetenv ("FLAMBEAU_ALLOC_SEED");
}

/* 4,096 blocks of 1,000 bytes are live, and one is replaced a million times:
 * the maximum of a million estimates is far too high, but the count is
 * exact. */
static void
test_sampled_peak (void)
{
  const char *const options[] = { "--sample-bytes", "524288", NULL };

  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *seed = g_strdup_printf ("%u", i + 1);
      g_autoptr (Recording) recording = NULL;
      const FlamFacts *facts;

      g_setenv ("FLAMBEAU_ALLOC_SEED", seed, TRUE);
      recording = record_blocks (options, "replaced", "1000000");
      facts = &recording->profile->facts;
      g_assert_cmpint (facts->peak_bytes, >=, 4096 * 1000);
      g_assert_cmpint (facts->peak_bytes, <, 4096 * 1000 * 102 / 100);
      g_assert_cmpint (facts->live_bytes, >=, 4096 * 1000 * 98 / 100);
      g_assert_cmpint (facts->live_bytes, <, 4096 * 1000 * 102 / 100);
      g_assert_cmpint (
          ABS (weight_of (recording->profile, "peak", "main", FALSE) -
               4096 * 1000),
          <,
          4096 * 1000 * 3 / 100);
    }
  g_unsetenv ("FLAMBEAU_ALLOC_SEED");
}

/* The block that makes the peak is in it, and counted once. */
static void
test_large_block (void)
{
  const char *const options[] = { "--sample-bytes", "524288", NULL };

  for (guint i = 0; i < 4; i++)
    {
      g_autofree char *seed = g_strdup_printf ("%u", i + 1);
      g_autoptr (Recording) recording = NULL;
      const FlamProfile *p;

      g_setenv ("FLAMBEAU_ALLOC_SEED", seed, TRUE);
      recording = record_blocks (options, "large", "1");
      p = recording->profile;
      g_assert_cmpint (p->facts.peak_bytes, >=, 30000000);
      g_assert_cmpint (p->facts.peak_bytes, <, 30300000);
      g_assert_cmpint (weight_of (p, "peak", "one_large", TRUE), ==, 30000000);
      g_assert_cmpint (ABS (weight_of (p, "allocated", "one_large", FALSE) -
                            (60 * 300000 + 30000000)),
                       <,
                       100000);
    }
  g_unsetenv ("FLAMBEAU_ALLOC_SEED");
}

static gint64
sum_of (const FlamProfile *p, const char *measure)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;

  selection->measure = (guint)flam_profile_find_measure (p, measure);
  weights = flam_weights_new (p, selection, NULL, NULL);
  return weights->total;
}

/* The numbers of blocks are those of a recording of every block, however few
 * are sampled. */
static void
test_sampled_blocks (void)
{
  static const struct
  {
    const char *what, *scale;
  } programs[] = { { "known", NULL },
                   { "replaced", "100000" },
                   { "threads", NULL } };
  static const char *const rates[] = { "16384", "524288", "1073741824" };
  static const char *const measures[] = { "allocations",
                                          "leaked-blocks",
                                          "peak-blocks" };

  for (guint i = 0; i < G_N_ELEMENTS (programs); i++)
    {
      const char *const exactly[] = { "--exact", NULL };
      g_autoptr (Recording) exact =
          record_blocks (exactly, programs[i].what, programs[i].scale);

      for (guint k = 0; k < G_N_ELEMENTS (rates); k++)
        {
          const char *const options[] = { "--sample-bytes", rates[k], NULL };
          g_autoptr (Recording) sampled =
              record_blocks (options, programs[i].what, programs[i].scale);

          /* The threads of `threads` peak together. */
          for (guint m = 0; m < (i < 2 ? 3 : 2); m++)
            {
              g_test_message ("%s, %s", programs[i].what, measures[m]);
              g_assert_cmpint (sum_of (sampled->profile, measures[m]),
                               ==,
                               sum_of (exact->profile, measures[m]));
            }
        }
    }
}

/* 450,000 bytes are in use for less than a tick of the clock. */
static void
test_peak_in_tick (void)
{
  const char *const options[] = { "--exact", NULL };
  g_autoptr (Recording) recording = record_blocks (options, "quick", "1");
  const FlamProfile *p = recording->profile;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  gint64 sum = 0;

  selection->measure = flam_profile_find_measure (p, "peak");
  /* Without the overall peak, which comes 200 ms later. */
  selection->from = 0;
  selection->to = p->allocations.peak_time - 100 * G_GINT64_CONSTANT (1000000);
  weights = flam_weights_new (p, selection, NULL, NULL);
  for (FlamStackId stack = 0; stack < p->stacks.n; stack++)
    sum += weights->weight[stack];
  g_assert_cmpint (sum, >=, 450000);
  g_assert_cmpint (sum, <, 460000);
}

/* How often the program extends its heap by brk(), by strace; -1: strace is not
 * usable. */
static int
breaks_by_strace (const char *target, const char *what)
{
  const char *const argv[] = { "strace",      "-f",   "-e", "trace=brk", "-o",
                               "/dev/stderr", target, what, NULL };
  g_autofree char *out = NULL;
  guint64 last = G_MAXUINT64;
  int n = 0;

  if (!g_spawn_sync (NULL,
                     (char **)argv,
                     NULL,
                     G_SPAWN_SEARCH_PATH,
                     NULL,
                     NULL,
                     NULL,
                     &out,
                     NULL,
                     NULL) ||
      out == NULL)
    return -1;
  for (const char *p = out; (p = strstr (p, "= 0x")) != NULL; p++)
    {
      guint64 now = g_ascii_strtoull (p + 2, NULL, 16);

      n += now > last;
      last = now;
    }
  return n > 0 ? n : -1;
}

static void
count_breaks (const FlamProfile *profile, gint64 *n, gint64 *bytes)
{
  const FlamAllocations *rows = &profile->allocations;

  *n = *bytes = 0;
  for (FlamId i = 0; i < rows->n; i++)
    if (rows->allocator[i] == FLAM_ALLOCATOR_BRK)
      {
        *n += rows->count[i];
        *bytes += rows->count[i] * rows->size[i];
        g_assert_cmpuint (rows->stack[i], !=, FLAM_NONE);
      }
}

/* Counts calls of malloc itself. */
static void
test_heap_pages (void)
{
  const char *const options[] = { "--exact", NULL };
  g_autofree char *target = target_path ("blocks");
  g_autoptr (Recording) recording = record_blocks (options, "heap", "1");
  const FlamAllocations *rows = &recording->profile->allocations;
  int breaks = breaks_by_strace (target, "heap");
  gint64 n_brk, brk, large = 0;

  count_breaks (recording->profile, &n_brk, &brk);
  for (FlamId i = 0; i < rows->n; i++)
    if (rows->allocator[i] == FLAM_ALLOCATOR_MMAP && rows->size[i] >= 1 << 20 &&
        rows->size[i] < (1 << 20) + 8192)
      large += rows->count[i];
  g_assert_cmpint (brk, >=, 20000 * 1008);
  g_assert_cmpint (brk, <, 20000 * 1008 + 2 * 132 * 1024);
  g_assert_cmpint (large, ==, 10);
  if (breaks > 0)
    g_assert_cmpint (n_brk, ==, breaks);
}

/* The heap is extended, released and extended again; that of threads is not. */
static void
test_breaks (void)
{
  static const char *const modes[] = { "--exact", NULL };
  g_autofree char *target = target_path ("blocks");
  int breaks = breaks_by_strace (target, "trims");

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    {
      const char *const options[] = { modes[i], NULL };
      g_autoptr (Recording) recording = record_blocks (options, "trims", NULL);
      gint64 n, bytes;

      count_breaks (recording->profile, &n, &bytes);
      if (breaks > 0)
        g_assert_cmpint (n, ==, breaks);
    }
}

/* --- a C++ program that is not ours --------------------------------------- */

/* Sums of blocks of one size. */
typedef struct
{
  const char *measure;
  const char *function;
  gint64 size;
  gint64 n;
} Known;

static const Known program_known[] = {
  { "leaked", "leak_small", 24, 1000 },
  { "leaked", "leak_thread", 4096, 40 },
  { "leaked", "temp_churn", 100, 0 },
  { "leaked", "hold_peak", 65536, 0 },
  { "peak", "hold_peak", 65536, 512 },
  { "peak", "leak_small", 24, 1000 },
  { "allocated", "temp_churn", 100, 41000 },
  { "temporary-bytes", "temp_churn", 100, 41000 },
};

/* Its path, g_free; NULL: skipped. */
static char *
build_program (const char *folder)
{
  g_autofree char *source =
      g_build_filename (g_getenv ("FLAM_CAPTURES"), "src", "alloc.cpp", NULL);
  g_autofree char *compiler = g_find_program_in_path ("g++");
  g_autofree char *program = g_build_filename (folder, "program", NULL);
  const char *const command[] = { "g++", "-O2",   "-g",   "-pthread",
                                  "-o",  program, source, NULL };
  int status = 0;

  if (compiler == NULL || !g_file_test (source, G_FILE_TEST_EXISTS))
    {
      g_test_skip (compiler == NULL ? "g++ is not installed"
                                    : "the program's source is not here");
      return NULL;
    }
  g_assert_true (g_spawn_sync (NULL,
                               (char **)command,
                               NULL,
                               G_SPAWN_SEARCH_PATH,
                               NULL,
                               NULL,
                               NULL,
                               NULL,
                               &status,
                               NULL));
  g_assert_cmpint (status, ==, 0);
  return g_steal_pointer (&program);
}

static void
remove_program (const char *folder, const char *program)
{
  if (program != NULL)
    g_unlink (program);
  g_rmdir (folder);
}

static void
test_program (void)
{
  const char *const options[] = { "--exact", NULL };
  g_autofree char *folder = g_dir_make_tmp ("flam-program-XXXXXX", NULL);
  g_autofree char *program = build_program (folder);
  g_autoptr (Recording) recording = NULL;

  if (program != NULL)
    {
      recording = record_program (options, program, "1", NULL);
      assert_ended (recording, 0);
      for (guint i = 0; i < G_N_ELEMENTS (program_known); i++)
        {
          const Known *known = &program_known[i];

          g_assert_cmpint (
              weight_of (
                  recording->profile, known->measure, known->function, TRUE),
              ==,
              known->size * known->n);
        }
      g_assert_cmpint (
          weight_of (recording->profile, "allocations", "deep", FALSE),
          ==,
          1000);
      /* A vector that doubles, from one number to 2^20 of them. */
      g_assert_cmpint (
          weight_of (recording->profile, "allocated", "vec_grow", FALSE),
          ==,
          4 * ((1 << 21) - 1));
    }
  remove_program (folder, program);
}

/* The error of an estimate of known->n blocks: from random sampling, and from
 * the random rounding of represented blocks to whole numbers. */
static double
deviation_of (const Known *known, double every)
{
  double p = -expm1 (-(double)known->size / every);
  double part = 1 / p - floor (1 / p);

  return (double)known->size *
         sqrt ((double)known->n * ((1 - p) / p + p * part * (1 - part)));
}

static void
test_program_sampled (void)
{
  enum
  {
    RUNS = 20,
    EVERY = 16384,
    N = G_N_ELEMENTS (program_known)
  };
  const char *const options[] = { "--sample-bytes", "16384", NULL };
  g_autofree char *folder = g_dir_make_tmp ("flam-program-XXXXXX", NULL);
  g_autofree char *program = build_program (folder);
  double sums[N] = { 0 };

  for (guint run = 0; program != NULL && run < RUNS; run++)
    {
      g_autofree char *seed = g_strdup_printf ("%u", run + 1);
      g_autoptr (Recording) recording = NULL;

      g_setenv ("FLAMBEAU_ALLOC_SEED", seed, TRUE);
      recording = record_program (options, program, "1", NULL);
      assert_ended (recording, 0);
      for (guint i = 0; i < N; i++)
        sums[i] += (double)weight_of (recording->profile,
                                      program_known[i].measure,
                                      program_known[i].function,
                                      TRUE);
    }
  g_unsetenv ("FLAMBEAU_ALLOC_SEED");
  for (guint i = 0; program != NULL && i < N; i++)
    {
      const Known *known = &program_known[i];
      double off = sums[i] / (double)RUNS - (double)(known->size * known->n);
      double error = deviation_of (known, EVERY) / sqrt (RUNS);

      g_test_message ("%s of %s: %+.0f bytes, standard error %.0f",
                      known->measure,
                      known->function,
                      off,
                      error);
      /* Some of the program's threads take turns as the scheduler decides. */
      g_assert_cmpfloat (fabs (off), <=, 4.5 * error);
    }
  remove_program (folder, program);
}

/* --- allocating programs ------------------------------------------------- */

static void
test_threads (void)
{
  g_autoptr (Recording) recording = record_exactly ("threads");

  g_assert_cmpint (recording->status, ==, 3);
  g_assert_cmpint (weight_of (recording->profile, "leaked", "short_life", TRUE),
                   ==,
                   3000 * 32);
}

static void
test_forks (void)
{
  g_autoptr (Recording) recording = record_exactly ("forks");

  g_assert_cmpint (recording->status, ==, 3);
  g_assert_cmpuint (recording->profile->processes.n, ==, 501);
  g_assert_cmpint (
      weight_of (recording->profile, "allocations", "many_forks", TRUE),
      ==,
      1000);
}

static void
test_handlers (void)
{
  g_autoptr (Recording) recording = record_exactly ("handlers");

  g_assert_cmpint (recording->status, ==, 3);
  g_assert_cmpint (
      weight_of (recording->profile, "leaked", "handler", TRUE), ==, 48000);
}

static void
test_odd (void)
{
  g_autoptr (Recording) recording = record_exactly ("odd");

  g_assert_cmpint (recording->status, ==, 3);
  g_assert_cmpint (
      weight_of (recording->profile, "leaked", "odd_calls", TRUE), ==, 0);
  g_assert_cmpint (
      weight_of (recording->profile, "allocations", "odd_calls", TRUE), >=, 6);
}

static void
test_abyss (void)
{
  g_autoptr (Recording) recording = record_exactly ("abyss");

  g_assert_cmpint (recording->status, ==, 3);
  g_assert_cmpuint (depth_of (recording->profile, "down"), ==, 100001);
  g_assert_cmpint (
      weight_of (recording->profile, "allocated", "abyss_body", FALSE),
      ==,
      640);
  g_assert_cmpuint (recording->profile->facts.truncated_stacks, ==, 0);
}

static gboolean
generations_are_apart (void)
{
  g_autofree char *target = target_path ("jit");
  const char *arguments[] = { "--mode", "alloc",  "--exact", "--",
                              target,   "blocks", NULL };
  g_autoptr (Recording) recording = record (arguments);
  g_autofree char *dump = NULL;
  gint64 first, second;

  assert_ended (recording, 0);
  dump = g_strdup_printf ("/tmp/jit-%d.dump",
                          recording->profile->processes.pid[0]);
  g_unlink (dump);
  first = weight_of (recording->profile, "allocated", "first", FALSE);
  second = weight_of (recording->profile, "allocated", "second", FALSE);
  g_assert_cmpint (first + second, ==, 40000);
  return first == 30000;
}

/* One address with two functions: each block has the name that was valid at its
 * time. A recorder that gets no CPU between the two attributes all of them to
 * one. */
static void
test_generations (void)
{
  guint tries = 0;

  while (!generations_are_apart ())
    g_assert_cmpuint (++tries, <, 10);
}

/* Similar stacks are distinguished. */
static void
test_ways (void)
{
  const char *const ways[] = { "left", "right", "from_high", "from_low" };
  g_autoptr (Recording) recording = record_exactly ("ways");

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    g_assert_cmpint (
        weight_of (recording->profile, "allocations", ways[i], FALSE),
        ==,
        1000);
  g_assert_cmpint (
      weight_of (recording->profile, "allocations", "inner", TRUE), ==, 4000);
}

static void
test_crash (void)
{
  g_autoptr (Recording) recording = record_exactly ("crash");

  g_assert_cmpint (recording->status, ==, 128 + SIGSEGV);
  g_assert_cmpint (
      weight_of (recording->profile, "leaked", "leak_small", TRUE), ==, 24000);
}

static void
test_static (void)
{
  g_autofree char *target = target_path ("shares-static");
  const char *const arguments[] = {
    "--mode", "alloc", "--", target, "1", NULL
  };
  g_autoptr (Recording) recording = record (arguments);

  g_assert_cmpint (recording->status, ==, 1);
  g_assert_nonnull (strstr (recording->error, "statically linked"));
}

/* Samples inside the preload library are one function. */
static void
assert_recorder_is_apart (const FlamProfile *profile)
{
  for (FlamId i = 0; i < profile->functions.n; i++)
    if (g_str_equal (flam_profile_module_name (profile, i),
                     FLAM_RECORDER_LIBRARY))
      g_assert_cmpstr (
          flam_profile_function_name (profile, i), ==, FLAM_RECORDER_NAME);
}

/* Both together: samples and allocations in one capture. */
static void
test_both (void)
{
  g_autofree char *target = target_path ("blocks");
  const char *const arguments[] = { "--mode", "both", "--exact", "--rate",
                                    "1000",   "--",   target,    "known",
                                    "50",     NULL };
  g_autoptr (Recording) recording = record (arguments);

  g_assert_cmpint (recording->status, ==, 3);
  g_assert_true (flam_profile_has_kind (recording->profile, FLAM_MEASURE_CPU));
  g_assert_cmpint (total_of (recording->profile, "cpu-time"), >, 0);
  g_assert_cmpint (
      weight_of (recording->profile, "leaked", "leak_small", TRUE), ==, 24000);
  g_assert_cmpuint (recording->profile->processes.n, ==, 1);
  g_assert_cmpuint (recording->profile->threads.n, ==, 5);
  assert_recorder_is_apart (recording->profile);
}

static pid_t
child_of (pid_t pid)
{
  g_autofree char *path =
      g_strdup_printf ("/proc/%d/task/%d/children", (int)pid, (int)pid);
  g_autofree char *text = NULL;

  g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
  return (pid_t)g_ascii_strtoll (text, NULL, 10);
}

/* The folder that a target shares with its recorder; g_free. */
static char *
shared_folder (pid_t pid)
{
  g_autofree char *path = g_strdup_printf ("/proc/%d/maps", (int)pid);
  g_autofree char *maps = NULL;
  const char *found, *begin;

  g_assert_true (g_file_get_contents (path, &maps, NULL, NULL));
  found = strstr (maps, "/flambeau-");
  g_assert_nonnull (found);
  for (begin = found; begin[-1] != ' ';)
    begin--;
  return g_strndup (begin, (gsize)(strchr (found + 1, '/') - begin));
}

/* The recorder is killed: the file is readable, and the target, whose rings are
 * no longer read, notices this and continues. */
static void
test_killed (void)
{
  g_autofree char *target = target_path ("blocks");
  const char *const arguments[] = { "--mode", "alloc",    "--exact", "--",
                                    target,   "for-ever", NULL };
  Running *running = recorder_start (arguments);
  g_autoptr (Recording) recording = NULL;
  g_autoptr (Recording) next = NULL;
  g_autofree char *folder = NULL;
  gint64 switches;
  pid_t pid;

  g_assert_true (recorder_wait_for (running, "status "));
  pid = child_of (running->pid);
  g_assert_cmpint (pid, >, 0);
  g_usleep (1500000);
  folder = shared_folder (pid);
  kill (running->pid, SIGKILL);
  g_usleep (5 * G_USEC_PER_SEC);
  switches = flam_proc_status (pid, "voluntary_ctxt_switches");
  g_assert_cmpint (switches, >=, 0);
  for (guint i = 0;
       i < 100 &&
       flam_proc_status (pid, "voluntary_ctxt_switches") < switches + 100;
       i++)
    g_usleep (100000);
  g_assert_cmpint (
      flam_proc_status (pid, "voluntary_ctxt_switches"), >=, switches + 100);
  kill (pid, SIGKILL);
  recording = recorder_end (running);
  g_assert_nonnull (recording->profile);
  g_assert_cmpint (total_of (recording->profile, "allocations"), >, 1000);
  /* The next recorder, of whatever kind, removes its files. */
  next = record_target (NULL, "cases", "nothing");
  assert_ended (next, 2);
  g_assert_false (g_file_test (folder, G_FILE_TEST_EXISTS));
}

/* The library's own work is not attributed to the program. */
static void
test_nothing (void)
{
  g_autoptr (Recording) recording =
      record_target ("--mode=alloc", "cases", "nothing");
  g_autoptr (Recording) exact = NULL;
  g_autofree char *target = target_path ("cases");
  const char *const arguments[] = { "--mode", "alloc",   "--exact", "--",
                                    target,   "nothing", NULL };

  assert_ended (recording, 2);
  g_assert_cmpint (total_of (recording->profile, "allocations"), ==, 0);
  exact = record (arguments);
  assert_ended (exact, 2);
  g_assert_cmpint (total_of (exact->profile, "allocations"), ==, 0);
  g_assert_cmpint (total_of (exact->profile, "allocated"), ==, 0);
}

/* A target that controls its rings: the recording continues and ends, and
 * reports damage. */
static void
test_hostile (void)
{
  static const char *const ways[] = {
    "head", "garbage", "cut", "control", "chatter"
  };

  for (guint i = 0; i < G_N_ELEMENTS (ways); i++)
    {
      g_autofree char *target = target_path ("hostile");
      const char *const arguments[] = { "--mode", "alloc", "--exact", "--",
                                        target,   ways[i], NULL };
      g_autoptr (Recording) recording = record (arguments);

      assert_ended (recording, 7);
      g_assert_true (recording->profile->facts.complete);
      g_assert_cmpint (
          weight_of (recording->profile, "leaked", "before", TRUE), ==, 100000);
      if (i < 3 && !has_warning (recording->profile, "damaged"))
        g_error ("%s: nothing is said", ways[i]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/allocations/quick/known", test_known);
  g_test_add_func ("/allocations/quick/handlers", test_handlers);
  g_test_add_func ("/allocations/quick/odd", test_odd);
  g_test_add_func ("/allocations/quick/ways", test_ways);
  g_test_add_func ("/allocations/quick/crash", test_crash);
  g_test_add_func ("/allocations/quick/abyss", test_abyss);
  g_test_add_func ("/allocations/quick/generations", test_generations);
  g_test_add_func ("/allocations/quick/static", test_static);
  g_test_add_func ("/allocations/quick/both", test_both);
  g_test_add_func ("/allocations/threads", test_threads);
  g_test_add_func ("/allocations/forks", test_forks);
  g_test_add_func ("/allocations/sampled", test_sampled);
  g_test_add_func ("/allocations/quick/sampled-peak", test_sampled_peak);
  g_test_add_func ("/allocations/quick/large-block", test_large_block);
  g_test_add_func ("/allocations/sampled-blocks", test_sampled_blocks);
  g_test_add_func ("/allocations/quick/peak-in-tick", test_peak_in_tick);
  g_test_add_func ("/allocations/quick/heap-pages", test_heap_pages);
  g_test_add_func ("/allocations/quick/breaks", test_breaks);
  g_test_add_func ("/allocations/program", test_program);
  g_test_add_func ("/allocations/program-sampled", test_program_sampled);
  g_test_add_func ("/allocations/killed", test_killed);
  g_test_add_func ("/allocations/quick/nothing", test_nothing);
  g_test_add_func ("/allocations/quick/hostile", test_hostile);
  return g_test_run ();
}
