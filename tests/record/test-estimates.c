/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Sampled allocations by simulation: the account of the recorder on thousands
 * of random runs whose truth is kept beside it. The estimates must be right in
 * the mean, and their errors must contain the truth as often as they promise.
 */

#include "flam-alloc-heaps.h"
#include "flam-alloc-runtimes.h"
#include "flam-core-query.h"

#include <math.h>

#define EVERY 524288
#define LIVE 4096
#define SIZE 1000
#define REPLACED 20000
#define SITES 5
#define RUNS 200

static GRand *dice; /* of a given seed: the same runs every time */

/* The site of each block: shares of 50, 30, 13, 5 and 2 %. */
static const guint below[SITES] = { 50, 80, 93, 98, 100 };

typedef struct
{
  guint site;
  gboolean sampled;
} Block;

typedef struct
{
  FlamBuilder *builder;
  FlamAllocHeaps *heaps;
  FlamAllocSpace *space;
  FlamAllocStream *stream;
  FlamAllocStack stacks[SITES];
  Block blocks[LIVE];
  gint64 live[SITES];     /* bytes */
  double until;           /* bytes to the next sample */
  FlamAllocCounts counts; /* that no level has reported yet */
} Run;

static double
interval (void)
{
  return -log (1 - g_rand_double (dice)) * EVERY;
}

static void
say_level (Run *run)
{
  g_assert_true (flam_alloc_heaps_level (run->heaps, run->space, &run->counts));
  run->counts = (FlamAllocCounts){ 0 };
}

static void
begin (Run *run)
{
  *run = (Run){ .builder = flam_builder_new () };
  flam_builder_set_has_times (run->builder);
  flam_builder_add_allocation_measure (run->builder, FLAM_FROM_PEAK);
  for (guint site = 0; site < SITES; site++)
    {
      char name[] = { (char)('a' + site), '\0' };
      FlamFunctionId function = flam_builder_function_named (
          run->builder,
          flam_builder_string (run->builder, name, -1),
          FLAM_KIND_NATIVE);
      FlamFrameId frame = flam_builder_frame (run->builder, function, 0, 0, 0);

      run->stacks[site] =
          (FlamAllocStack){ flam_builder_stack (run->builder, FLAM_NONE, frame),
                            FLAM_NONE };
    }
  run->heaps = flam_alloc_heaps_new (run->builder, TRUE, FALSE, NULL);
  run->space = flam_alloc_heaps_add_space (run->heaps, FALSE);
  run->stream = flam_alloc_heaps_add_stream (run->heaps, run->space, FLAM_NONE);
  run->until = interval ();
}

/* A sampled block stands for 1 / (1 - exp (-size / every)) blocks, rounded at
 * random. */
static guint32
stands_for (gint64 size)
{
  return (guint32)(1 / -expm1 (-(double)size / EVERY) + g_rand_double (dice));
}

static void
make (Run *run, guint i)
{
  guint random = (guint)g_rand_int_range (dice, 0, 100);
  guint site = 0;

  while (random >= below[site])
    site++;
  run->blocks[i] = (Block){ site, FALSE };
  run->live[site] += SIZE;
  run->counts.live += SIZE;
  run->counts.asked += SIZE;
  run->counts.made++;
  run->counts.high_blocks++;
  run->until -= SIZE;
  if (run->until > 0)
    return;
  run->until = interval ();
  run->blocks[i].sampled = TRUE;
  flam_alloc_heaps_block (run->heaps,
                          run->stream,
                          (i + 1) * 1024,
                          SIZE,
                          stands_for (SIZE),
                          0,
                          &run->stacks[site],
                          FLAM_ALLOCATOR_MALLOC);
  say_level (run);
}

static void
drop (Run *run, guint i)
{
  if (run->blocks[i].sampled)
    {
      say_level (run);
      flam_alloc_heaps_free_block (run->heaps, run->stream, (i + 1) * 1024);
    }
  run->live[run->blocks[i].site] -= SIZE;
  run->counts.live -= SIZE;
  run->counts.gone++;
  run->counts.high_blocks--;
}

static FlamProfile *
finish (Run *run)
{
  FlamFacts facts = flam_facts_unknown;
  g_autoptr (GError) error = NULL;
  FlamProfile *profile;

  say_level (run);
  facts.sample_bytes = EVERY;
  flam_builder_note_facts (run->builder, &facts);
  flam_alloc_heaps_finish (run->heaps, REPLACED);
  flam_alloc_heaps_free (run->heaps);
  flam_builder_set_recorded (run->builder);
  profile = flam_builder_finish (run->builder, &error);
  g_assert_no_error (error);
  flam_builder_free (run->builder);
  return profile;
}

/* `spread`: what its error depends on, or NULL. */
static gint64
peak_of (const FlamProfile *profile, guint site, FlamSpread *spread)
{
  const FlamAllocations *rows = &profile->allocations;
  char name[] = { (char)('a' + site), '\0' };
  gint64 sum = 0;

  for (FlamId i = 0; i < rows->n; i++)
    {
      FlamFrameId frame = profile->stacks.frame[rows->stack[i]];
      FlamFunctionId function = profile->frames.function[frame];

      if (!g_str_equal (flam_profile_function_name (profile, function), name))
        continue;
      sum += rows->at_peak[i] * rows->size[i];
      if (spread != NULL)
        flam_spread_add_blocks (spread,
                                &profile->facts,
                                FLAM_ALLOCATOR_MALLOC,
                                rows->size[i],
                                rows->at_peak[i]);
    }
  return sum;
}

/* 4,096 blocks of 1,000 bytes are live at any time, and one of them is replaced
 * 20,000 times. All moments are equally high and the first is the peak, so the
 * true split is that of the end. */
static void
test_replaced (void)
{
  guint within[SITES] = { 0 };
  double sum = 0, sums[SITES] = { 0 }, truths[SITES] = { 0 };

  for (guint n = 0; n < RUNS; n++)
    {
      g_autoptr (FlamProfile) profile = NULL;
      g_autofree Run *run = g_new (Run, 1);
      gint64 truth[SITES];
      gint64 total = 0;

      begin (run);
      for (guint i = 0; i < LIVE; i++)
        make (run, i);
      say_level (run);
      memcpy (truth, run->live, sizeof truth);
      for (guint k = 0; k < REPLACED; k++)
        {
          guint i = (guint)g_rand_int_range (dice, 0, LIVE);

          drop (run, i);
          make (run, i);
        }
      profile = finish (run);
      g_assert_cmpint (profile->facts.peak_bytes, ==, LIVE * SIZE);
      g_assert_cmpint (
          profile->facts.allocated_bytes, ==, (LIVE + REPLACED) * SIZE);
      for (guint site = 0; site < SITES; site++)
        {
          FlamFigure figure = { 0 };
          gint64 peak = peak_of (profile, site, &figure.spread);
          gint64 error;

          figure.weight = peak;
          figure.other = peak / SIZE;
          error =
              peak > 0
                  ? flam_estimate_of (&profile->facts, FLAM_FROM_PEAK, &figure)
                        .error
                  : (gint64)flam_estimate_error (0, 0, EVERY, 0, LIVE * SIZE);

          total += peak;
          sums[site] += (double)peak;
          truths[site] += (double)truth[site];
          within[site] += ABS (peak - truth[site]) <= error;
        }
      sum += (double)total;
    }
  g_test_message ("peak %.0f of %d", sum / RUNS, LIVE * SIZE);
  g_assert_cmpfloat (fabs (sum / RUNS - LIVE * SIZE), <, 0.01 * LIVE * SIZE);
  for (guint site = 0; site < SITES; site++)
    {
      g_test_message ("%c: %.0f of %.0f, %u of %d within the error",
                      'a' + site,
                      sums[site] / RUNS,
                      truths[site] / RUNS,
                      within[site],
                      RUNS);
      g_assert_cmpuint (within[site], >=, RUNS * 95 / 100);
      /* No bias: four standard errors of a share of at most eight samples. */
      g_assert_cmpfloat (fabs (sums[site] - truths[site]) / RUNS,
                         <,
                         4 * sqrt (EVERY * truths[site] / RUNS) / sqrt (RUNS) *
                             1.5);
    }
}

/* Live bytes are counted as malloc() rounds them to 16 bytes, less what the few
 * sampled blocks have of that: most are large, while nearly all of the rounding
 * is in small ones. The error of the total contains the truth. */
static void
test_rounded (void)
{
  guint within = 0;
  double wide = 0;

  for (guint n = 0; n < 2 * RUNS; n++)
    {
      g_autoptr (FlamProfile) profile = NULL;
      g_autofree Run *run = g_new (Run, 1);
      gint64 truth = 0;

      begin (run);
      /* One block was freed: otherwise all is known. */
      run->counts = (FlamAllocCounts){ .asked = SIZE, .made = 1, .gone = 1 };
      for (guint i = 0; i < 10000; i++)
        {
          gint32 size = g_rand_int_range (dice, 16, 2048);
          gint32 slack = (16 - (size + 8) % 16) % 16;

          truth += size;
          run->counts.live += size + slack;
          run->counts.asked += size;
          run->counts.made++;
          run->counts.high_blocks++;
          run->until -= size;
          if (run->until > 0)
            continue;
          run->until = interval ();
          flam_alloc_heaps_block (run->heaps,
                                  run->stream,
                                  (i + 1) * 4096,
                                  size,
                                  stands_for (size),
                                  (guint)slack,
                                  &run->stacks[0],
                                  FLAM_ALLOCATOR_MALLOC);
          say_level (run);
        }
      profile = finish (run);
      within += ABS (profile->facts.live_bytes - truth) <=
                profile->facts.live_bytes_error;
      wide += (double)profile->facts.live_bytes_error / (double)truth;
    }
  g_test_message ("%u of %d within the error, %.2f %% in the mean",
                  within,
                  2 * RUNS,
                  100 * wide / (2 * RUNS));
  g_assert_cmpfloat (wide / (2 * RUNS), <, 0.005);
  g_assert_cmpuint (within, >=, 2 * RUNS * 95 / 100);
}

/* Of 68 live blocks, sixty are mappings with pages of slack, and the others
 * have no sample. If nothing was freed, the sums are exact, and otherwise the
 * errors contain them; the sum of what is live is never a matter of few
 * samples. */
static void
test_mixed_slack (void)
{
  for (guint freed = 0; freed < 2; freed++)
    {
      g_autofree Run *run = g_new (Run, 1);
      g_autoptr (FlamProfile) profile = NULL;
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamWeights) weights = NULL;
      FlamEstimate estimate;
      gint64 off;

      begin (run);
      flam_builder_add_allocation_measure (run->builder, FLAM_FROM_LEAKED);
      for (guint i = 0; i < 30; i++)
        g_assert_true (flam_alloc_heaps_block (run->heaps,
                                               run->stream,
                                               (i + 1) * 0x100000,
                                               300000,
                                               2,
                                               3088,
                                               &run->stacks[0],
                                               FLAM_ALLOCATOR_MALLOC));
      run->counts = (FlamAllocCounts){
        .live = 60 * 303088 + 8 * 100008,
        .asked = 60 * 300000 + 8 * 100000 + freed * 1000,
        .made = 68 + freed,
        .gone = freed,
        .high_blocks = 68,
      };
      say_level (run);
      profile = finish (run);
      off = ABS (profile->facts.live_bytes - 18800000);
      g_assert_cmpint (off, <=, profile->facts.live_bytes_error);
      g_assert_cmpint (profile->facts.live_bytes_error, <, 100000);
      if (!freed)
        g_assert_cmpint (off, ==, 0);
      selection->measure = (guint)flam_profile_find_measure (profile, "leaked");
      weights = flam_weights_new (profile, selection, NULL, NULL);
      g_assert_cmpint (ABS (weights->total - profile->facts.live_bytes), <, 68);
      estimate = flam_estimate_of (
          &profile->facts,
          FLAM_FROM_LEAKED,
          &(FlamFigure){ weights->total, 68, { .samples = 1 } });
      g_assert_false (flam_estimate_is_few (&estimate));
      g_assert_cmpint (estimate.error, ==, profile->facts.live_bytes_error);
    }
}

/* One sampled block is the whole peak, and stands for no others: what was
 * allocated later by blocks without a sample is still counted. */
static void
test_rest (void)
{
  g_autofree Run *run = g_new (Run, 1);
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;

  begin (run);
  flam_builder_add_allocation_measure (run->builder, FLAM_FROM_ALLOCATED);
  g_assert_true (flam_alloc_heaps_block (run->heaps,
                                         run->stream,
                                         0x1000,
                                         SIZE,
                                         1,
                                         0,
                                         &run->stacks[0],
                                         FLAM_ALLOCATOR_MALLOC));
  run->counts = (FlamAllocCounts){
    .live = SIZE, .asked = SIZE, .made = 1, .high_blocks = 1
  };
  say_level (run);
  flam_alloc_heaps_free_block (run->heaps, run->stream, 0x1000);
  run->counts = (FlamAllocCounts){
    .live = -SIZE, .asked = 1999 * SIZE, .made = 1999, .gone = 2000
  };
  profile = finish (run);
  g_assert_cmpint (peak_of (profile, 0, NULL), ==, SIZE);
  selection->measure = (guint)flam_profile_find_measure (profile, "allocated");
  weights = flam_weights_new (profile, selection, NULL, NULL);
  g_assert_cmpint (weights->total, ==, 2000 * SIZE);
}

/* A forked child frees the blocks that it has from its parent, which keeps its
 * own, and allocates others. */
static void
test_forked (void)
{
  g_autofree Run *run = g_new (Run, 1);
  g_autoptr (FlamProfile) profile = NULL;
  FlamAllocSpace *child;
  FlamAllocStream *stream;
  const FlamAllocCounts frees = { .live = -LIVE * SIZE, .gone = LIVE };

  begin (run);
  for (guint i = 0; i < LIVE; i++)
    make (run, i);
  say_level (run);
  child = flam_alloc_heaps_add_space (run->heaps, TRUE);
  stream = flam_alloc_heaps_add_stream (run->heaps, child, FLAM_NONE);
  g_assert_true (flam_alloc_heaps_level (run->heaps, child, &frees));
  flam_alloc_heaps_free_block (run->heaps, stream, 1024);
  for (guint i = 0; i < 2; i++)
    g_assert_true (flam_alloc_heaps_block (run->heaps,
                                           stream,
                                           0x4000000 + i * 1024,
                                           SIZE,
                                           500,
                                           0,
                                           &run->stacks[0],
                                           FLAM_ALLOCATOR_MALLOC));
  flam_alloc_heaps_free_block (run->heaps, stream, 0x4000000);
  profile = finish (run);
  g_assert_cmpint (profile->facts.live_bytes, ==, (LIVE + 500) * SIZE);
  g_assert_cmpint (profile->facts.live_blocks, ==, LIVE + 500);
  g_assert_cmpint (profile->facts.peak_bytes, ==, (LIVE + 1000) * SIZE);
  g_assert_cmpint (profile->facts.peak_blocks, ==, LIVE + 1000);
}

static FlamFunctionRow
row_named (const FlamTree *tree,
           const FlamFunctionRow *rows,
           guint n,
           const char *name)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (flam_tree_name (tree, rows[i].node), name))
      return rows[i];
  g_assert_not_reached ();
}

static FlamEstimate
estimate_of (const FlamTree *tree, const FlamFunctionRow *row)
{
  const FlamMeasure measure = flam_tree_measure (tree);

  g_assert_cmpint (measure.source, ==, FLAM_FROM_ALLOCATED);
  return flam_estimate_of_figure (
      &tree->profile->facts, &measure, flam_functions_total (tree, row));
}

/* Mappings are counted even if blocks are sampled: one of 81,920 bytes by
 * `b`, and one by `c`, which also has a sampled block. `a` has only sampled
 * blocks. */
static void
test_mappings (void)
{
  g_autofree Run *run = g_new (Run, 1);
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_autofree FlamFunctionRow *rows = NULL;
  static const struct
  {
    guint site;
    guint64 address;
    gint64 size;
    guint32 each;
    FlamAllocator allocator;
  } blocks[] = {
    { 0, 0x1000, 1000, 8, FLAM_ALLOCATOR_MALLOC },
    { 1, 0x100000, 81920, 1, FLAM_ALLOCATOR_MMAP },
    { 2, 0x2000, 1000, 8, FLAM_ALLOCATOR_MALLOC },
    { 2, 0x200000, 81920, 1, FLAM_ALLOCATOR_MMAP },
  };
  FlamEstimate estimates[3];
  guint n;

  begin (run);
  flam_builder_add_allocation_measure (run->builder, FLAM_FROM_ALLOCATED);
  for (guint i = 0; i < G_N_ELEMENTS (blocks); i++)
    flam_alloc_heaps_block (run->heaps,
                            run->stream,
                            blocks[i].address,
                            blocks[i].size,
                            blocks[i].each,
                            0,
                            &run->stacks[blocks[i].site],
                            blocks[i].allocator);
  profile = finish (run);
  selection->measure = (guint)flam_profile_find_measure (profile, "allocated");
  selection->allocators = FLAM_ALLOCATORS_ALL;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
  rows = flam_functions_new (tree, FLAM_SORT_TOTAL, &n);
  g_assert_cmpuint (n, ==, 3);
  for (guint i = 0; i < 3; i++)
    {
      char name[] = { (char)('a' + i), '\0' };
      FlamFunctionRow row = row_named (tree, rows, n, name);

      g_assert_cmpint (
          row.total, ==, (i == 1 ? 0 : 8000) + (i == 0 ? 0 : 81920));
      g_assert_cmpint (row.spread_total.exact, ==, i == 0 ? 0 : 81920);
      estimates[i] = estimate_of (tree, &row);
    }
  g_assert_true (estimates[0].sampled);
  g_assert_false (estimates[1].sampled);
  g_assert_true (estimates[2].sampled);
  g_assert_cmpint (estimates[2].error, ==, estimates[0].error);
  g_assert_cmpint (estimates[2].samples, ==, estimates[0].samples);
}

static void
test_runtimes (void)
{
  g_assert_nonnull (
      strstr (flam_alloc_runtime ("/opt/jdk/libjvm.so")->sentence, "Java"));
  g_assert_nonnull (
      strstr (flam_alloc_runtime ("/usr/bin/node")->sentence, "JavaScript"));
  g_assert_nonnull (strstr (
      flam_alloc_runtime ("/usr/lib/libnode.so.108")->mapped, "JavaScript"));
  g_assert_nonnull (
      strstr (flam_alloc_runtime ("/x/libcoreclr.so")->sentence, ".NET"));
  g_assert_null (flam_alloc_runtime ("/usr/bin/nodeadm"));
  g_assert_null (flam_alloc_runtime ("/proc/self/exe"));
  g_assert_null (flam_alloc_runtime ("/nowhere"));
}

int
main (int argc, char **argv)
{
  int status;

  g_test_init (&argc, &argv, NULL);
  dice = g_rand_new_with_seed (26);
  g_test_add_func ("/estimates/replaced", test_replaced);
  g_test_add_func ("/estimates/rounded", test_rounded);
  g_test_add_func ("/estimates/mixed-slack", test_mixed_slack);
  g_test_add_func ("/estimates/rest", test_rest);
  g_test_add_func ("/estimates/forked", test_forked);
  g_test_add_func ("/estimates/mappings", test_mappings);
  g_test_add_func ("/estimates/runtimes", test_runtimes);
  status = g_test_run ();
  g_rand_free (dice);
  return status;
}
