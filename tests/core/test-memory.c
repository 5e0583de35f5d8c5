/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The measures derived from allocations, against a slow and simple ledger. */

#include "flam-fixture.h"

#include "flam-core-query.h"

static gint64
total_of (const FlamProfile *profile,
          const char *measure,
          gint64 from,
          gint64 to)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  selection->measure = flam_profile_find_measure (profile, measure);
  selection->from = from;
  selection->to = to;
  return flam_weights_total (profile, selection);
}

static gboolean
is_heap (const FlamAllocations *a, FlamId row)
{
  return a->allocator[row] != FLAM_ALLOCATOR_MMAP &&
         a->allocator[row] != FLAM_ALLOCATOR_BRK &&
         a->allocator[row] != FLAM_ALLOCATOR_FILE;
}

static gboolean
is_pages_alone (const FlamAllocations *a)
{
  for (FlamId i = 0; i < a->n; i++)
    if (is_heap (a, i))
      return FALSE;
  return TRUE;
}

/* Pages count on request, and if there is nothing else. */
static gboolean
counts (const FlamAllocations *a, FlamId row)
{
  return is_heap (a, row) || is_pages_alone (a);
}

static gint64
live_at (const FlamAllocations *a, gint64 time)
{
  gint64 live = 0;

  for (FlamId i = 0; i < a->n; i++)
    if (counts (a, i) && a->time[i] <= time && time < a->freed_at[i])
      live += a->size[i] * a->count[i];
  return live;
}

static void
test_against_ledger (void)
{
  for (guint round = 0; round < 50; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      const FlamAllocations *a = &profile->allocations;
      gint64 from = g_test_rand_int_range (0, 500);
      gint64 to = from + g_test_rand_int_range (1, 700);
      /* A range that reaches the end includes events at the end. */
      gint64 before = to < profile->facts.duration_ns ? to : G_MAXINT64;
      gint64 peak = 0, peak_in = 0, leaked = 0, allocated = 0, temporary = 0;

      for (gint64 t = 0; t < 1400; t++)
        {
          gint64 live = live_at (a, t);

          peak = MAX (peak, live);
          if (t >= from && t < before)
            peak_in = MAX (peak_in, live);
        }
      for (FlamId i = 0; i < a->n; i++)
        {
          gboolean in =
              counts (a, i) && a->time[i] >= from && a->time[i] < before;

          allocated += in ? a->size[i] * a->count[i] : 0;
          temporary += in && a->distance[i] == 0 ? a->count[i] : 0;
          leaked +=
              in && a->freed_at[i] >= before ? a->size[i] * a->count[i] : 0;
        }
      g_assert_cmpint (
          total_of (profile, "peak", G_MININT64, G_MAXINT64), ==, peak);
      g_assert_cmpint (total_of (profile, "peak", from, to), ==, peak_in);
      g_assert_cmpint (total_of (profile, "leaked", from, to), ==, leaked);
      g_assert_cmpint (
          total_of (profile, "allocated", from, to), ==, allocated);
      g_assert_cmpint (
          total_of (profile, "temporary", from, to), ==, temporary);
      g_assert_cmpint (total_of (profile, "leaked", G_MININT64, G_MAXINT64),
                       ==,
                       live_at (a, FLAM_NEVER - 1));
    }
}

/* --- the summary --------------------------------------------------------- */

static FlamSelection *
random_selection (const FlamProfile *profile)
{
  FlamSelection *selection = flam_selection_new ();

  if (g_test_rand_bit ())
    {
      selection->from = g_test_rand_int_range (0, 500);
      selection->to = selection->from + g_test_rand_int_range (1, 700);
    }
  if (g_test_rand_bit ())
    flam_selection_add_thread (
        selection,
        (FlamId)g_test_rand_int_range (0, (gint32)profile->threads.n));
  if (g_test_rand_bit ())
    selection->allocators =
        (guint)g_test_rand_int_range (1, FLAM_ALLOCATORS_ALL + 1);
  selection->invert = g_test_rand_bit ();
  return selection;
}

static void
add_to (FlamAmounts *sum, const FlamAmounts *more)
{
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    {
      sum->part[part].bytes += more->part[part].bytes;
      sum->part[part].blocks += more->part[part].blocks;
    }
}

static void
assert_same (const FlamAmounts *a, const FlamAmounts *b)
{
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    {
      g_assert_cmpint (a->part[part].bytes, ==, b->part[part].bytes);
      g_assert_cmpint (a->part[part].blocks, ==, b->part[part].blocks);
    }
}

static FlamTree *
tree_of (const FlamProfile *profile, FlamSelection *selection, const char *id)
{
  g_autoptr (FlamWeights) weights = NULL;

  selection->measure = (guint)flam_profile_find_measure (profile, id);
  weights = flam_weights_new (profile, selection, NULL, NULL);
  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

/* Sizes, kinds and functions each add up to the whole, and the whole equals the
 * measures. */
static void
check_sums (const FlamProfile *profile, FlamSelection *selection)
{
  static const char *const measures[FLAM_MEMORY_N][2] = {
    { "allocated", "allocations" },
    { "temporary-bytes", "temporary" },
    { "peak", "peak-blocks" },
    { "leaked", "leaked-blocks" },
  };
  g_autoptr (FlamMemorySummary) memory =
      flam_memory_summary_new (profile, selection, NULL, NULL, 0, NULL, NULL);
  FlamAmounts sizes = { 0 }, kinds = { 0 }, functions = { 0 };

  for (guint bin = 0; bin < FLAM_MEMORY_BINS; bin++)
    add_to (&sizes, &memory->size[bin]);
  for (guint kind = 0; kind < FLAM_N_ALLOCATORS; kind++)
    if (memory->kinds_counted & FLAM_ALLOCATOR_BIT (kind))
      add_to (&kinds, &memory->kind[kind]);
  for (guint i = 0; i < memory->n_functions; i++)
    add_to (&functions, &memory->function_self[i]);
  assert_same (&sizes, &memory->all);
  assert_same (&kinds, &memory->all);
  assert_same (&functions, &memory->all);
  for (guint part = 0; part < FLAM_MEMORY_N; part++)
    {
      g_autoptr (FlamTree) bytes =
          tree_of (profile, selection, measures[part][0]);
      g_autoptr (FlamTree) blocks =
          tree_of (profile, selection, measures[part][1]);

      g_assert_cmpint (bytes->total[0], ==, memory->all.part[part].bytes);
      g_assert_cmpint (blocks->total[0], ==, memory->all.part[part].blocks);
      g_assert_cmpint (blocks->other_total[0], ==, bytes->total[0]);
    }
}

static void
test_summary (void)
{
  for (guint round = 0; round < 100; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = random_selection (profile);

      check_sums (profile, selection);
    }
}

/* The figures of the zoomed node, in upright and inverted trees. */
static void
test_zoom (void)
{
  for (guint round = 0; round < 100; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = random_selection (profile);
      g_autoptr (FlamTree) tree = tree_of (profile, selection, "allocations");
      g_autoptr (FlamMemorySummary) memory = NULL;
      FlamNodeId node;

      if (tree->n < 2)
        continue;
      node = (FlamId)g_test_rand_int_range (1, (gint32)tree->n);
      memory = flam_memory_summary_new (
          profile, selection, NULL, tree, node, NULL, NULL);
      g_assert_cmpint (memory->all.part[FLAM_MEMORY_ALLOCATED].blocks,
                       ==,
                       tree->total[node]);
      g_assert_cmpint (memory->all.part[FLAM_MEMORY_ALLOCATED].bytes,
                       ==,
                       tree->other_total[node]);
    }
}

static void
test_search (void)
{
  for (guint round = 0; round < 50; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = random_selection (profile);
      g_autoptr (FlamTree) tree = tree_of (profile, selection, "allocations");
      g_autofree guint8 *matched = g_malloc0 (tree->n);
      g_autoptr (FlamRegex) regex = flam_regex_new ("^f[357]$", 0, NULL);
      g_autoptr (FlamMemorySummary) memory = flam_memory_summary_new (
          profile, selection, regex, NULL, 0, NULL, NULL);

      g_assert_cmpint (memory->all.part[FLAM_MEMORY_ALLOCATED].blocks,
                       ==,
                       flam_tree_search (tree, regex, matched));
    }
}

static void
test_bins (void)
{
  gint64 low, high;

  flam_memory_summary_bin_range (0, &low, &high);
  g_assert_cmpint (low, ==, 0);
  g_assert_cmpint (high, ==, 0);
  flam_memory_summary_bin_range (5, &low, &high);
  g_assert_cmpint (low, ==, 16);
  g_assert_cmpint (high, ==, 31);
  flam_memory_summary_bin_range (63, &low, &high);
  g_assert_cmpint (high, ==, G_MAXINT64);
}

/* The curve marks the moment of the peak measures, and its amount is theirs. */
static void
test_curve_agrees (void)
{
  for (guint round = 0; round < 50; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = random_selection (profile);
      g_autoptr (FlamTree) tree = tree_of (profile, selection, "peak");
      g_autoptr (FlamTimeline) timeline = flam_timeline_new (
          profile, selection, NULL, 100, FLAM_TIMELINE_ALL, NULL, NULL);
      g_autoptr (FlamMemorySummary) memory = flam_memory_summary_new (
          profile, selection, NULL, NULL, 0, NULL, NULL);

      g_assert_cmpint (timeline->peak, ==, tree->total[0]);
      g_assert_cmpint (timeline->peak_time, ==, memory->peak_time);
    }
}

static void
test_pages_apart (void)
{
  g_autoptr (FlamProfile) profile = flam_fixture_random ();
  const FlamAllocations *a = &profile->allocations;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  gint64 heap = 0, pages = 0;

  for (FlamId i = 0; i < a->n; i++)
    *(is_heap (a, i) ? &heap : &pages) += a->size[i] * a->count[i];
  if (is_pages_alone (a))
    return;
  selection->measure = (guint)flam_profile_find_measure (profile, "allocated");
  g_assert_cmpint (flam_weights_total (profile, selection), ==, heap);
  selection->allocators = FLAM_ALLOCATORS_PAGES;
  g_assert_cmpint (flam_weights_total (profile, selection), ==, pages);
  selection->allocators = FLAM_ALLOCATORS_ALL;
  g_assert_cmpint (flam_weights_total (profile, selection), ==, heap + pages);
}

/* --- suppressions -------------------------------------------------------- */

static gboolean
goes_through (const FlamProfile *profile, FlamStackId stack, const char *name)
{
  for (; stack != FLAM_NONE; stack = profile->stacks.prefix[stack])
    if (strstr (flam_profile_function_name (
                    profile,
                    profile->frames.function[profile->stacks.frame[stack]]),
                name) != NULL)
      return TRUE;
  return FALSE;
}

static void
test_suppressions (void)
{
  static const char text[] = "leak:f7\nleak:^f1$\nleak:nothing\n";

  for (guint round = 0; round < 50; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      const FlamAllocations *a = &profile->allocations;
      g_autoptr (FlamMemorySummary) with = NULL;
      g_autoptr (FlamMemorySummary) without = flam_memory_summary_new (
          profile, selection, NULL, NULL, 0, NULL, NULL);
      gint64 f7 = 0;

      selection->suppressions = flam_suppressions_new ();
      g_assert_true (flam_suppressions_parse (
          selection->suppressions, text, strlen (text), NULL));
      with = flam_memory_summary_new (
          profile, selection, NULL, NULL, 0, NULL, NULL);
      g_assert_cmpint (with->all.part[FLAM_MEMORY_LEAKED].bytes +
                           with->rule[0].part[FLAM_MEMORY_LEAKED].bytes +
                           with->rule[1].part[FLAM_MEMORY_LEAKED].bytes,
                       ==,
                       without->all.part[FLAM_MEMORY_LEAKED].bytes);
      g_assert_cmpint (with->rule[2].part[FLAM_MEMORY_LEAKED].blocks, ==, 0);
      g_assert_cmpint (with->all.part[FLAM_MEMORY_PEAK].bytes,
                       ==,
                       without->all.part[FLAM_MEMORY_PEAK].bytes);
      for (FlamId i = 0; i < a->n; i++)
        if (counts (a, i) && a->freed_at[i] == FLAM_NEVER &&
            goes_through (profile, a->stack[i], "f7"))
          f7 += a->count[i];
      /* A stack that matches two rules belongs to the rule nearer to its
       * leaf. */
      g_assert_cmpint (with->rule[0].part[FLAM_MEMORY_LEAKED].blocks, <=, f7);
      g_assert_cmpint (with->rule[0].part[FLAM_MEMORY_LEAKED].blocks +
                           with->rule[1].part[FLAM_MEMORY_LEAKED].blocks,
                       >=,
                       f7);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/memory/ledger", test_against_ledger);
  g_test_add_func ("/memory/summary", test_summary);
  g_test_add_func ("/memory/zoom", test_zoom);
  g_test_add_func ("/memory/search", test_search);
  g_test_add_func ("/memory/bins", test_bins);
  g_test_add_func ("/memory/curve", test_curve_agrees);
  g_test_add_func ("/memory/pages", test_pages_apart);
  g_test_add_func ("/memory/suppressions", test_suppressions);
  return g_test_run ();
}
