/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Two trees, and one list of changes. */

#include "flam-fixture.h"

#include "flam-core-picture.h"

static FlamTree *
tree_of (const char *stacks)
{
  g_autoptr (FlamProfile) profile = flam_fixture_profile (stacks);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

static void
assert_row (const FlamDiffRow *row, const char *name, gint64 a, gint64 b)
{
  g_assert_cmpstr (row->name, ==, name);
  g_assert_cmpint (row->base, ==, a);
  g_assert_cmpint (row->fresh, ==, b);
  g_assert_cmpint (row->delta, ==, b - a);
}

static void
test_rows (void)
{
  g_autoptr (FlamTree) base = tree_of ("main;parse 5\nmain;old 3\n");
  g_autoptr (FlamTree) fresh = tree_of ("main;parse 2\nmain;fresh 14\n");
  g_autofree FlamDiffRow *rows = NULL;
  g_autofree FlamDiffRow *normal = NULL;
  guint n;

  rows = flam_diff_functions (base, fresh, FALSE, FLAM_DIFF_UNSCALED, &n);
  g_assert_cmpuint (n, ==, 4);
  assert_row (&rows[0], "fresh", 0, 14);
  assert_row (&rows[1], "main", 8, 16);
  assert_row (&rows[2], "old", 3, 0);
  assert_row (&rows[3], "parse", 5, 2);

  normal = flam_diff_functions (
      base, fresh, TRUE, flam_diff_scale_totals (base, fresh), &n);
  assert_row (&normal[0], "fresh", 0, 14);
  assert_row (&normal[1], "parse", 10, 2);
  assert_row (&normal[2], "old", 6, 0);
}

static void
test_folded (void)
{
  g_autoptr (FlamTree) base = tree_of ("main;parse 5\nmain;old 3\n");
  g_autoptr (FlamTree) fresh = tree_of ("main;parse 2\nmain 14\n");
  g_autofree char *text =
      flam_dump_folded_diff (base, fresh, FLAM_DIFF_UNSCALED, FALSE);
  g_autofree char *normal = flam_dump_folded_diff (
      base, fresh, flam_diff_scale_totals (base, fresh), FALSE);

  g_assert_cmpstr (text, ==, "main 0 14\nmain;old 3 0\nmain;parse 5 2\n");
  g_assert_cmpstr (normal, ==, "main 0 14\nmain;old 6 0\nmain;parse 10 2\n");
}

/* Weights in tenths, one stack each; names that form one path in folded text
 * are one line. */
static FlamTree *
tree_of_tenths (const char *const *names, const gint64 *tenths)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamWeights) weights = NULL;
  FlamSample sample = {
    flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0),
    FLAM_NONE
  };
  guint measure =
      flam_builder_add_standard_measure (builder,
                                         FLAM_STANDARD_SAMPLES,
                                         (int)flam_builder_add_column (builder),
                                         FLAM_NONE);

  flam_builder_set_denominator (builder, measure, 10);
  for (guint i = 0; names[i] != NULL; i++)
    {
      FlamFunctionId function = flam_builder_function_named (
          builder,
          flam_builder_string (builder, names[i], -1),
          FLAM_KIND_NATIVE);

      sample.stack = flam_builder_stack (
          builder, FLAM_NONE, flam_builder_frame (builder, function, 0, 0, 0));
      flam_builder_add_sample (builder, &sample, &tenths[i]);
    }
  profile = flam_builder_finish (builder, NULL);
  weights = flam_weights_new (profile, selection, NULL, NULL);
  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

static void
test_folded_fractions (void)
{
  static const char *const names[] = { "parse", "old", "a;b", "a:b", NULL };
  static const gint64 before[] = { 25, 5, 3, 2 };
  static const gint64 now[] = { 52, 9, 5, 4 };
  g_autoptr (FlamTree) base = tree_of_tenths (names, before);
  g_autoptr (FlamTree) fresh = tree_of_tenths (names, now);
  g_autofree char *text =
      flam_dump_folded_diff (base, fresh, FLAM_DIFF_UNSCALED, FALSE);
  g_autofree char *normal = flam_dump_folded_diff (
      base, fresh, flam_diff_scale_totals (base, fresh), FALSE);

  g_assert_cmpstr (text, ==, "a:b 0.5 0.9\nold 0.5 0.9\nparse 2.5 5.2\n");
  g_assert_cmpstr (normal, ==, "a:b 1 0.9\nold 1 0.9\nparse 5 5.2\n");
}

static FlamId
find (const FlamTree *tree, const char *name)
{
  for (FlamId i = 0; i < tree->n; i++)
    if (g_str_equal (flam_tree_name (tree, i), name))
      return i;
  g_assert_not_reached ();
}

static void
test_tree (void)
{
  g_autoptr (FlamTree) base = tree_of ("main;parse 5\nmain;old;older 3\n");
  g_autoptr (FlamTree) fresh = tree_of ("main;parse 2\nmain;fresh 14\n");
  g_autoptr (FlamTree) tree =
      flam_diff_tree (base, fresh, FLAM_DIFF_FRESH, FALSE, FLAM_DIFF_UNSCALED);
  g_autoptr (FlamTree) normal = flam_diff_tree (
      base, fresh, FLAM_DIFF_FRESH, TRUE, flam_diff_scale_totals (base, fresh));
  g_autoptr (FlamTree) before =
      flam_diff_tree (base, fresh, FLAM_DIFF_BASE, FALSE, FLAM_DIFF_UNSCALED);
  const FlamTreeChange *change = tree->change;

  g_assert_cmpuint (tree->n, ==, fresh->n);
  g_assert_cmpint (change->delta[0], ==, 8);
  g_assert_cmpint (change->delta[find (tree, "main")], ==, 8);
  g_assert_cmpint (change->base[find (tree, "parse")], ==, 5);
  g_assert_cmpint (change->delta[find (tree, "parse")], ==, -3);
  g_assert_cmpint (change->base[find (tree, "fresh")], ==, 0);
  g_assert_cmpint (change->delta[find (tree, "fresh")], ==, 14);
  g_assert_cmpint (change->greatest, ==, 14);
  g_assert_cmpint (change->missing, ==, 3);

  change = before->change;
  g_assert_cmpuint (before->n, ==, base->n);
  g_assert_cmpint (change->base[find (before, "old")], ==, 3);
  g_assert_cmpint (change->delta[find (before, "old")], ==, -3);
  g_assert_cmpint (change->delta[find (before, "main")], ==, 8);
  g_assert_cmpint (change->missing, ==, 14);

  change = normal->change;
  g_assert_cmpint (change->delta[find (normal, "main")], ==, 0);
  g_assert_cmpint (change->delta[find (normal, "parse")], ==, 2 - 10);
}

/* All paths of both, each as wide as the larger of its two self values, plus
 * its callees. */
static void
test_tree_of_both (void)
{
  g_autoptr (FlamTree) base =
      tree_of ("main;parse 5\nmain;old;older 3\nmain;both 4\n");
  g_autoptr (FlamTree) fresh =
      tree_of ("main;parse 2\nmain;fresh 14\nmain;both 4\nnew;both 1\n");
  g_autoptr (FlamTree) tree =
      flam_diff_tree (base, fresh, FLAM_DIFF_BOTH, FALSE, FLAM_DIFF_UNSCALED);
  const FlamTreeChange *change = tree->change;
  FlamId old = find (tree, "old"), main = find (tree, "main");

  g_assert_true (change->both);
  g_assert_cmpuint (tree->n, ==, 9);
  g_assert_cmpuint (tree->max_depth, ==, 3);
  g_assert_cmpint (tree->total[0], ==, 5 + 3 + 4 + 14 + 1);
  g_assert_cmpint (change->base[0], ==, 12);
  g_assert_cmpint (change->delta[0], ==, 21 - 12);
  g_assert_cmpint (tree->total[old], ==, 3);
  g_assert_cmpint (change->delta[old], ==, -3);
  g_assert_cmpuint (change->kind[old], ==, FLAM_CHANGE_GONE);
  g_assert_cmpuint (tree->parent[find (tree, "older")], ==, old);
  g_assert_cmpuint (
      change->kind[find (tree, "fresh")], ==, FLAM_CHANGE_UNTRACKED);
  g_assert_cmpuint (change->kind[find (tree, "parse")], ==, FLAM_CHANGE_KEPT);
  g_assert_cmpint (tree->total[find (tree, "parse")], ==, 5);
  /* Its function existed before, on another path. */
  g_assert_cmpuint (change->kind[find (tree, "new") + 1], ==, FLAM_CHANGE_NEW);
  /* The heaviest first, in preorder. */
  g_assert_cmpuint (main, ==, 1);
  g_assert_cmpstr (flam_tree_name (tree, 2), ==, "fresh");
  for (FlamId i = 1; i < tree->n; i++)
    {
      g_assert_cmpuint (tree->parent[i], <, i);
      g_assert_cmpuint (
          tree->subtree_end[i], <=, tree->subtree_end[tree->parent[i]]);
    }
}

/* Only paths whose own value changed, and their callers: "both" did not. */
static void
test_tree_of_changes (void)
{
  g_autoptr (FlamTree) base =
      tree_of ("main;parse 5\nmain;old;older 3\nmain;both 4\nmain 2\n");
  g_autoptr (FlamTree) fresh = tree_of (
      "main;parse 2\nmain;fresh 14\nmain;both 4\nmain 2\nnew;both 1\n");
  g_autoptr (FlamTree) tree = flam_diff_tree (
      base, fresh, FLAM_DIFF_CHANGED, FALSE, FLAM_DIFF_UNSCALED);
  g_autoptr (FlamTree) none =
      flam_diff_tree (base, base, FLAM_DIFF_CHANGED, FALSE, FLAM_DIFF_UNSCALED);
  FlamId main = find (tree, "main");

  /* all, main, parse, old, older, fresh, new, and both below that */
  g_assert_cmpuint (tree->n, ==, 8);
  g_assert_cmpint (tree->total[0], ==, 5 + 3 + 14 + 1);
  g_assert_cmpint (tree->total[main], ==, 5 + 3 + 14);
  g_assert_cmpint (tree->self[main], ==, 0);
  /* The figures are those of the whole path. */
  g_assert_cmpint (tree->change->base[main], ==, 14);
  g_assert_cmpint (tree->change->delta[main], ==, 22 - 14);
  g_assert_cmpuint (tree->parent[find (tree, "both")], ==, find (tree, "new"));
  g_assert_cmpuint (none->n, ==, 1);
  g_assert_cmpint (none->total[0], ==, 0);
}

/* Each path of either exists, whatever the rows are, and has the same figures
 * as in the shape of its side. */
static void
test_both_of_random (void)
{
  for (guint round = 0; round < 60; round++)
    {
      FlamTree *sides[2];
      g_autoptr (FlamTree) both = NULL;
      g_autoptr (FlamTree) shaped = NULL;
      FlamBy by = round % FLAM_N_BY;
      gboolean self = g_test_rand_bit ();

      for (guint i = 0; i < 2; i++)
        {
          g_autoptr (FlamProfile) profile = flam_fixture_random ();
          g_autoptr (FlamSelection) selection = flam_selection_new ();
          g_autoptr (FlamWeights) weights = NULL;

          selection->by = by;
          selection->by_label = g_intern_string ("tenant");
          weights = flam_weights_new (profile, selection, NULL, NULL);
          sides[i] =
              flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
        }
      both = flam_diff_tree (
          sides[0], sides[1], FLAM_DIFF_BOTH, self, FLAM_DIFF_UNSCALED);
      shaped = flam_diff_tree (
          sides[0], sides[1], FLAM_DIFF_FRESH, self, FLAM_DIFF_UNSCALED);
      g_assert_cmpint (
          both->total[0], >=, MAX (sides[0]->total[0], sides[1]->total[0]));
      for (FlamId i = 0; i < shaped->n; i++)
        {
          FlamNodeId node = flam_tree_find_path (shaped, i, both);

          g_assert_cmpuint (both->depth[node], ==, shaped->depth[i]);
          g_assert_cmpint (both->total[node], >=, shaped->total[i]);
          g_assert_cmpuint (
              both->change->kind[node], ==, shaped->change->kind[i]);
        }
      flam_tree_unref (sides[0]);
      flam_tree_unref (sides[1]);
    }
}

/* --- lines ---------------------------------------------------------------- */

static FlamProfile *
lined (const char *file, guint32 line, guint n, const char *other)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamStringId name = flam_builder_string (builder, "work", -1);
  FlamFunctionId function =
      flam_builder_function_named (builder, name, FLAM_KIND_NATIVE);
  const char *files[] = { file, other };

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i < n; i++)
    {
      const char *path = files[i % 2] != NULL ? files[i % 2] : file;
      FlamSample sample = {
        .thread = flam_builder_thread (builder, process, 1, 0),
        .stack = flam_builder_stack (
            builder,
            FLAM_NONE,
            flam_builder_frame_in (builder,
                                   function,
                                   0,
                                   flam_builder_string (builder, path, -1),
                                   line,
                                   0)),
      };

      flam_builder_add_sample (builder, &sample, NULL);
    }
  return flam_builder_finish (builder, NULL);
}

static void
assert_line (const FlamDiffRow *row,
             const char *file,
             guint32 line,
             gint64 base,
             gint64 fresh)
{
  g_assert_cmpuint (row->line, ==, line);
  assert_row (row, file, base, fresh);
}

/* By file and line, wherever the file was built; lines of another file with
 * that name are not confused with them. */
static void
test_lines (void)
{
  g_autoptr (FlamProfile) was = lined ("/a/src/sort.c", 12, 4, NULL);
  g_autoptr (FlamProfile) moved = lined ("/b/src/sort.c", 12, 6, "/b/x/io.c");
  g_autoptr (FlamProfile) other =
      lined ("/a/lib/sort.c", 12, 2, "/a/src/sort.c");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) a = flam_weights_new (was, selection, NULL, NULL);
  g_autoptr (FlamWeights) b = flam_weights_new (moved, selection, NULL, NULL);
  g_autoptr (FlamWeights) c = flam_weights_new (other, selection, NULL, NULL);
  FlamDiffWeights base = { a, selection }, fresh = { b, selection };
  FlamDiffWeights two = { c, selection };
  FlamDiffScale half = { 1, 2 };
  guint n;
  g_autofree FlamDiffRow *rows =
      flam_diff_lines (&base, &fresh, NULL, TRUE, FLAM_DIFF_UNSCALED, &n);
  g_autofree FlamDiffRow *scaled = NULL;
  g_autofree FlamDiffRow *apart = NULL;

  g_assert_cmpuint (n, ==, 2);
  assert_line (&rows[0], "/b/x/io.c", 12, 0, 3);
  assert_line (&rows[1], "/b/src/sort.c", 12, 4, 3);
  scaled = flam_diff_lines (&base, &fresh, "/b/src/sort.c", FALSE, half, &n);
  g_assert_cmpuint (n, ==, 1);
  assert_line (&scaled[0], "/b/src/sort.c", 12, 2, 3);
  apart = flam_diff_lines (&two, &base, NULL, TRUE, FLAM_DIFF_UNSCALED, &n);
  g_assert_cmpuint (n, ==, 2);
  assert_line (&apart[0], "/a/src/sort.c", 12, 1, 4);
  assert_line (&apart[1], "/a/lib/sort.c", 12, 1, 0);
  g_assert_cmpstr (flam_diff_find_file (&fresh, "/b/src/sort.c", &base),
                   ==,
                   "/a/src/sort.c");
  g_assert_null (flam_diff_find_file (&fresh, "/b/x/io.c", &base));
}

/* A tree compared with itself has not changed, whatever its nodes are
 * called. */
static void
test_tree_of_itself (void)
{
  for (guint round = 0; round < 50; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamWeights) weights = NULL;
      g_autoptr (FlamTree) tree = NULL;
      g_autoptr (FlamTree) diff = NULL;

      selection->by = g_test_rand_int_range (0, FLAM_N_BY);
      weights = flam_weights_new (profile, selection, NULL, NULL);
      tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
      diff = flam_diff_tree (
          tree, tree, round % 2, g_test_rand_bit (), FLAM_DIFF_UNSCALED);
      g_assert_cmpint (diff->change->missing, ==, 0);
      for (FlamId i = 0; i < diff->n; i++)
        g_assert_cmpint (diff->change->delta[i], ==, 0);
    }
}

static FlamTree *
random_tree (void)
{
  g_autoptr (FlamProfile) profile = flam_fixture_random ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
}

static const FlamDiffRow *
row_of (const FlamDiffRow *rows, guint n, const char *name)
{
  for (guint i = 0; i < n; i++)
    if (g_str_equal (rows[i].name, name))
      return &rows[i];
  g_assert_not_reached ();
}

/* With the sides swapped, growth becomes shrinking; and the self costs of one
 * side add up to its total. */
static void
test_both_ways (void)
{
  for (guint round = 0; round < 50; round++)
    {
      g_autoptr (FlamTree) a = random_tree ();
      g_autoptr (FlamTree) b = random_tree ();
      gboolean self = g_test_rand_bit ();
      guint n, m;
      g_autofree FlamDiffRow *rows =
          flam_diff_functions (a, b, self, FLAM_DIFF_UNSCALED, &n);
      g_autofree FlamDiffRow *back =
          flam_diff_functions (b, a, self, FLAM_DIFF_UNSCALED, &m);
      gint64 base = 0, fresh = 0;

      g_assert_cmpuint (n, ==, m);
      for (guint i = 0; i < n; i++)
        {
          const FlamDiffRow *other = row_of (back, m, rows[i].name);

          g_assert_cmpint (rows[i].delta, ==, -other->delta);
          g_assert_cmpint (rows[i].base, ==, other->fresh);
          base += rows[i].base;
          fresh += rows[i].fresh;
        }
      if (!self)
        continue;
      g_assert_cmpint (base, ==, a->total[0]);
      g_assert_cmpint (fresh, ==, b->total[0]);
    }
}

/* A range that is twice as long at the same rate has not changed. */
static void
test_scale (void)
{
  g_autoptr (FlamTree) base = tree_of ("main;parse 10\nmain;idle 6\n");
  g_autoptr (FlamTree) fresh = tree_of ("main;parse 5\nmain;idle 3\n");
  FlamDiffScale half = { 1000, 2000 };
  FlamDiffScale nothing = { 1000, 0 };
  FlamDiffScale huge = { G_MAXINT64, 1 };
  guint n;
  g_autofree FlamDiffRow *rows =
      flam_diff_functions (base, fresh, FALSE, half, &n);
  g_autofree FlamDiffRow *none =
      flam_diff_functions (base, fresh, FALSE, nothing, &n);
  g_autofree FlamDiffRow *most =
      flam_diff_functions (base, base, FALSE, huge, &n);

  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpint (rows[i].delta, ==, 0);
      g_assert_cmpint (none[i].base, ==, 0);
      g_assert_cmpint (most[i].base, ==, G_MAXINT64);
    }
}

/* --- estimates ------------------------------------------------------------ */

/* One allocation of this size in line 3 of keep, called from main; sampled
 * every so many bytes, or counted (0). */
static FlamProfile *
memory_of (gint64 size, gint64 every)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamAllocation allocation = {
    .time = 1,
    .freed_at = FLAM_NEVER,
    .thread = flam_builder_thread (builder, process, 1, 0),
    .stack = FLAM_NONE,
    .size = 64,
    .count = size / 64,
    .at_peak = -1,
    .distance = G_MAXUINT16,
  };

  static const char *const names[] = { "main", "keep" };

  flam_builder_add_allocation_measures (builder);
  for (guint i = 0; i < 2; i++)
    allocation.stack = flam_builder_stack (
        builder,
        allocation.stack,
        flam_builder_frame_in (builder,
                               flam_builder_function_named (
                                   builder,
                                   flam_builder_string (builder, names[i], -1),
                                   FLAM_KIND_NATIVE),
                               0,
                               flam_builder_string (builder, "/m/a.c", -1),
                               i + 2,
                               0));
  flam_builder_add_allocation (builder, &allocation);
  flam_builder_facts (builder)->sample_bytes = every;
  return flam_builder_finish (builder, NULL);
}

static void
assert_estimate (const FlamEstimate *estimate, gint64 error, gint64 samples)
{
  g_assert_cmpint (estimate->sampled, ==, error > 0);
  g_assert_cmpint (estimate->error, ==, error);
  g_assert_cmpint (estimate->samples, ==, samples);
}

/* 400 samples and 100: n * (z² / 2 + z * sqrt (b / n + z² / 4)) for each side,
 * less what a sample shows of itself, and the root of the sum of the squares
 * for the difference. */
static void
assert_estimates (const FlamChangeEstimate *estimate, gint64 base, gint64 delta)
{
  assert_estimate (&estimate->base, base, 400);
  assert_estimate (&estimate->fresh, 11332012, 100);
  assert_estimate (&estimate->delta, delta, 500);
}

static void
test_estimates (void)
{
  g_autoptr (FlamProfile) was = memory_of (209715200, 524288);
  g_autoptr (FlamProfile) is = memory_of (52428800, 524288);
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamWeights) before = flam_weights_new (was, all, NULL, NULL);
  g_autoptr (FlamWeights) now = flam_weights_new (is, all, NULL, NULL);
  g_autoptr (FlamTree) base =
      flam_tree_new (before, all, FLAM_ORDER_TOTAL, NULL, NULL);
  g_autoptr (FlamTree) fresh =
      flam_tree_new (now, all, FLAM_ORDER_TOTAL, NULL, NULL);
  const FlamDiffScale half = { 1, 2 };
  const FlamDiffWeights of_base = { before, all }, of_fresh = { now, all };
  const FlamChangeEstimate whole =
      flam_diff_whole (base, fresh, FLAM_DIFF_UNSCALED);
  g_autofree FlamDiffRow *rows = NULL, *scaled = NULL, *lines = NULL;
  guint n;

  rows = flam_diff_functions (base, fresh, FALSE, FLAM_DIFF_UNSCALED, &n);
  g_assert_cmpuint (n, ==, 2);
  assert_estimates (&rows[0].estimate, 21583173, 24377199);
  scaled = flam_diff_functions (base, fresh, FALSE, half, &n);
  assert_estimates (&scaled[0].estimate, 10791586, 15648412);
  lines =
      flam_diff_lines (&of_base, &of_fresh, NULL, TRUE, FLAM_DIFF_UNSCALED, &n);
  g_assert_cmpuint (lines[0].line, ==, 3);
  assert_estimates (&lines[0].estimate, 21583173, 24377199);
  assert_estimates (&whole, 21583173, 24377199);
  for (guint shape = 0; shape < FLAM_N_DIFF_SHAPES; shape++)
    {
      g_autoptr (FlamTree) tree =
          flam_diff_tree (base, fresh, shape, FALSE, FLAM_DIFF_UNSCALED);
      const FlamChangeEstimate estimate =
          flam_tree_change_estimate (tree->change, tree->n - 1);

      assert_estimates (&estimate, 21583173, 24377199);
    }
}

/* Counted memory has no error; of one side, the difference has its error. */
static void
test_estimate_of_one_side (void)
{
  g_autoptr (FlamProfile) was = memory_of (209715200, 0);
  g_autoptr (FlamProfile) is = memory_of (2097152, 524288);
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamWeights) before = flam_weights_new (was, all, NULL, NULL);
  g_autoptr (FlamWeights) now = flam_weights_new (is, all, NULL, NULL);
  g_autoptr (FlamTree) base =
      flam_tree_new (before, all, FLAM_ORDER_TOTAL, NULL, NULL);
  g_autoptr (FlamTree) fresh =
      flam_tree_new (now, all, FLAM_ORDER_TOTAL, NULL, NULL);
  guint n;
  g_autofree FlamDiffRow *rows =
      flam_diff_functions (base, fresh, TRUE, FLAM_DIFF_UNSCALED, &n);
  g_autofree FlamDiffRow *exact =
      flam_diff_functions (base, base, TRUE, FLAM_DIFF_UNSCALED, &n);
  g_autoptr (FlamTree) tree =
      flam_diff_tree (base, base, FLAM_DIFF_BOTH, TRUE, FLAM_DIFF_UNSCALED);

  assert_estimate (&rows[0].estimate.base, 0, 0);
  assert_estimate (&rows[0].estimate.delta, 3295672, 4);
  g_assert_true (flam_estimate_is_few (&rows[0].estimate.delta));
  assert_estimate (&exact[0].estimate.delta, 0, 0);
  g_assert_null (tree->change->estimate);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/diff/rows", test_rows);
  g_test_add_func ("/diff/folded", test_folded);
  g_test_add_func ("/diff/folded-fractions", test_folded_fractions);
  g_test_add_func ("/diff/tree", test_tree);
  g_test_add_func ("/diff/tree-of-both", test_tree_of_both);
  g_test_add_func ("/diff/tree-of-changes", test_tree_of_changes);
  g_test_add_func ("/diff/both-of-random", test_both_of_random);
  g_test_add_func ("/diff/lines", test_lines);
  g_test_add_func ("/diff/tree-of-itself", test_tree_of_itself);
  g_test_add_func ("/diff/both-ways", test_both_ways);
  g_test_add_func ("/diff/scale", test_scale);
  g_test_add_func ("/diff/estimates", test_estimates);
  g_test_add_func ("/diff/estimate-of-one-side", test_estimate_of_one_side);
  return g_test_run ();
}
