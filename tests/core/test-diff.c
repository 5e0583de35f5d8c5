/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Two trees, one list of what changed. */

#include "flam-fixture.h"

#include "flam-carry.h"
#include "flam-diff.h"

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
  g_autofree char *text = flam_diff_folded (base, fresh, FLAM_DIFF_UNSCALED);
  g_autofree char *normal =
      flam_diff_folded (base, fresh, flam_diff_scale_totals (base, fresh));

  g_assert_cmpstr (text, ==, "main 0 14\nmain;old 3 0\nmain;parse 5 2\n");
  g_assert_cmpstr (normal, ==, "main 0 14\nmain;old 6 0\nmain;parse 10 2\n");
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

/* A tree beside itself has not changed, however its nodes are named. */
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

/* The other way round, what grew has shrunk; and the selves of one side are
 * its total, but for what has no stack. */
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
      gint64 base = a->self[0], fresh = b->self[0];

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

/* A range twice as long, at the same rate, has not changed. */
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

/* --- the same question to another capture -------------------------------- */

static FlamId
thread_named (const FlamProfile *profile, const char *name)
{
  for (FlamId t = 0; t < profile->threads.n; t++)
    if (g_str_equal (flam_profile_string (profile, profile->threads.name[t]),
                     name))
      return t;
  g_assert_not_reached ();
}

static void
test_carry_threads (void)
{
  g_autoptr (FlamProfile) now =
      flam_fixture_profile ("b:main 5\na:main 3\nnew:main 1\n");
  g_autoptr (FlamProfile) before =
      flam_fixture_profile ("z:main 1\na:main 2\nb:main 4\n");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamSelection) carried = NULL;
  g_autoptr (FlamSelection) some = NULL;
  g_autoptr (FlamSelection) none = NULL;
  guint without;

  flam_selection_add_thread (selection, thread_named (now, "a"));
  carried = flam_carry_selection (now, selection, before, &without);
  g_assert_cmpuint (without, ==, 0);
  g_assert_cmpuint (carried->threads->len, ==, 1);
  g_assert_cmpuint (g_array_index (carried->threads, FlamId, 0),
                    ==,
                    thread_named (before, "a"));

  flam_selection_add_thread (selection, thread_named (now, "new"));
  some = flam_carry_selection (now, selection, before, &without);
  g_assert_cmpuint (without, ==, FLAM_CARRIED_THREADS);
  g_assert_true (flam_selection_equal (some, carried));

  flam_selection_no_threads (selection);
  flam_selection_add_thread (selection, thread_named (now, "new"));
  none = flam_carry_selection (now, selection, before, &without);
  g_assert_cmpuint (without, ==, FLAM_CARRIED_ALL_THREADS);
  g_assert_null (none->threads);
}

static FlamProfile *
profile_of (const char *id, FlamUnit unit, gint64 duration)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = {
    .thread = flam_builder_thread (builder, process, 1, 0),
    .stack = FLAM_NONE,
  };

  flam_builder_add_measure (builder,
                            id,
                            id,
                            unit,
                            g_str_equal (id, "blocks") ? FLAM_MEASURE_ALLOC
                                                       : FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  flam_builder_facts (builder)->duration_ns = duration;
  flam_builder_add_sample (builder, &sample, NULL);
  if (duration > 0)
    flam_builder_set_has_times (builder);
  return flam_builder_finish (builder, NULL);
}

/* A range is the same seconds, where there are that many. */
static void
test_carry_measure_and_time (void)
{
  g_autoptr (FlamProfile) now = profile_of ("cpu-clock", FLAM_UNIT_NS, 1000);
  g_autoptr (FlamProfile) other = profile_of ("task", FLAM_UNIT_NS, 500);
  g_autoptr (FlamProfile) bytes = profile_of ("heap", FLAM_UNIT_BYTES, 1000);
  g_autoptr (FlamProfile) samples = profile_of ("samples", FLAM_UNIT_COUNT, 9);
  g_autoptr (FlamProfile) blocks = profile_of ("blocks", FLAM_UNIT_COUNT, 9);
  g_autoptr (FlamProfile) timeless = profile_of ("cpu-clock", FLAM_UNIT_NS, 0);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamSelection) a = NULL;
  g_autoptr (FlamSelection) b = NULL;
  g_autoptr (FlamSelection) c = NULL;
  guint without;

  /* Blocks are counted as samples are, and nothing to compare them with. */
  g_assert_null (flam_carry_selection (samples, selection, blocks, &without));
  selection->from = 400;
  selection->to = 600;
  g_assert_null (flam_carry_selection (now, selection, bytes, &without));
  a = flam_carry_selection (now, selection, other, &without);
  g_assert_cmpuint (without, ==, FLAM_CARRIED_MEASURE);
  g_assert_cmpint (a->from, ==, 400);
  g_assert_cmpint (flam_selection_get_length (a, other), ==, 100);

  selection->from = 500;
  b = flam_carry_selection (now, selection, other, &without);
  g_assert_cmpuint (without, ==, FLAM_CARRIED_MEASURE | FLAM_CARRIED_TIME);
  g_assert_cmpint (b->from, ==, G_MININT64);
  c = flam_carry_selection (now, selection, timeless, &without);
  g_assert_cmpuint (without, ==, FLAM_CARRIED_TIME);
  g_assert_cmpint (flam_selection_get_length (c, timeless), ==, 0);
}

static FlamProfile *
labelled (const char *value)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamId process = flam_builder_process (builder, 1, 0);
  FlamSampleLabel label = { "tenant", value };
  FlamSample sample = {
    .thread = flam_builder_thread (builder, process, 1, 0),
    .stack = FLAM_NONE,
    .labels = flam_builder_add_labels (builder, &label, 1),
  };

  flam_builder_add_measure (builder,
                            "samples",
                            "samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  flam_builder_add_sample (builder, &sample, NULL);
  return flam_builder_finish (builder, NULL);
}

/* A filter that would leave nothing of the other one is not carried. */
static void
test_carry_labels (void)
{
  g_autoptr (FlamProfile) now = labelled ("red");
  g_autoptr (FlamProfile) alike = labelled ("red");
  g_autoptr (FlamProfile) other = labelled ("green");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamSelection) a = NULL;
  g_autoptr (FlamSelection) b = NULL;
  guint without;

  flam_selection_add_label (selection, "tenant=red");
  a = flam_carry_selection (now, selection, alike, &without);
  g_assert_cmpuint (without, ==, 0);
  g_assert_true (flam_selection_equal (a, selection));
  b = flam_carry_selection (now, selection, other, &without);
  g_assert_cmpuint (without, ==, FLAM_CARRIED_LABELS);
  g_assert_null (b->labels);
  g_assert_cmpint (flam_weights_total (other, b), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/diff/rows", test_rows);
  g_test_add_func ("/diff/folded", test_folded);
  g_test_add_func ("/diff/tree", test_tree);
  g_test_add_func ("/diff/tree-of-itself", test_tree_of_itself);
  g_test_add_func ("/diff/both-ways", test_both_ways);
  g_test_add_func ("/diff/scale", test_scale);
  g_test_add_func ("/diff/carry-threads", test_carry_threads);
  g_test_add_func ("/diff/carry-measure-and-time", test_carry_measure_and_time);
  g_test_add_func ("/diff/carry-labels", test_carry_labels);
  return g_test_run ();
}
