/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Counts with different decimals, on one scale. */

#include "flam-fixture.h"

#include "flam-core-query.h"

/* Stacks whose weights are fractions of 1. */
static FlamProfile *
profile_of (const char *stacks, gint64 denominator)
{
  g_autoptr (FlamProfile) whole = flam_fixture_profile (stacks);
  g_autoptr (FlamBuilder) builder = flam_builder_new_copy (whole);

  flam_builder_set_denominator (builder, 0, denominator);
  return flam_builder_finish (builder, NULL);
}

static FlamTree *
tree_of (const FlamProfile *profile)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

static void
test_common (void)
{
  g_assert_cmpint (flam_rescale_common (10, 100), ==, 100);
  g_assert_cmpint (flam_rescale_common (1, 1), ==, 1);
  g_assert_cmpint (flam_rescale_common (4, 6), ==, 12);
  g_assert_cmpint (flam_rescale_common (G_MAXINT64, G_MAXINT64 - 1), ==, 0);
  g_assert_cmpint (flam_rescale_weight (-15, 10, 100), ==, -150);
  g_assert_cmpint (flam_rescale_weight (G_MAXINT64, 1, 10), ==, G_MAXINT64);
  g_assert_cmpint (flam_rescale_weight (G_MININT64, 1, 10), ==, G_MININT64);
}

/* 1.5 and 1.25, whichever is the base. */
static void
test_both (void)
{
  for (guint turned = 0; turned < 2; turned++)
    {
      FlamProfile *tenths = profile_of ("a;b 15\nother:a;c 20\n", 10);
      FlamProfile *hundredths = profile_of ("a;b 125\n", 100);
      g_autoptr (FlamProfile) base = turned ? hundredths : tenths;
      g_autoptr (FlamProfile) fresh = turned ? tenths : hundredths;
      g_autoptr (FlamTree) was = NULL;
      g_autoptr (FlamTree) is = NULL;
      g_autofree FlamDiffRow *rows = NULL;
      g_autoptr (GError) error = NULL;
      guint n;

      g_assert_true (
          flam_measure_is_like (&base->measures[0], &fresh->measures[0]));
      g_assert_true (flam_rescale_both (&base, 0, &fresh, 0, &error));
      g_assert_no_error (error);
      was = tree_of (base);
      is = tree_of (fresh);
      g_assert_true (flam_diff_is_possible (was, is));
      g_assert_cmpint (flam_tree_measure (was).denominator, ==, 100);
      g_assert_cmpint (flam_tree_measure (is).denominator, ==, 100);
      rows = flam_diff_functions (was, is, TRUE, FLAM_DIFF_UNSCALED, &n);
      g_assert_cmpuint (n, ==, 3);
      g_assert_cmpstr (rows[0].name, ==, "c");
      g_assert_cmpint (rows[0].delta, ==, turned ? 200 : -200);
      g_assert_cmpstr (rows[1].name, ==, "b");
      g_assert_cmpint (rows[1].delta, ==, turned ? 25 : -25);
    }
}

/* Profiles with the same denominator are not copied. */
static void
test_same (void)
{
  g_autoptr (FlamProfile) a = profile_of ("a 15\n", 10);
  g_autoptr (FlamProfile) b = profile_of ("b 15\n", 10);
  const FlamProfile *was = a, *is = b;

  g_assert_true (flam_rescale_both (&a, 0, &b, 0, NULL));
  g_assert_true (a == was && b == is);
}

/* Samples without a column are 1 each. */
static void
test_plain (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamSample sample = { .stack = FLAM_NONE };
  g_autoptr (FlamProfile) plain = NULL;
  g_autoptr (FlamProfile) finer = NULL;
  g_autoptr (FlamTree) tree = NULL;

  sample.thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i < 3; i++)
    flam_builder_add_sample (builder, &sample, NULL);
  plain = flam_builder_finish (builder, NULL);
  finer = flam_rescale_profile (plain, 0, 100, NULL);
  g_clear_pointer (&plain, flam_profile_unref);
  tree = tree_of (finer);
  g_assert_cmpint (tree->total[0], ==, 300);
}

static void
test_too_large (void)
{
  g_autoptr (FlamProfile) large =
      profile_of ("a 9223372036854775\nb 9223372036854775\n", 1);
  g_autoptr (FlamProfile) fine = profile_of ("a 1\n", 1000);
  g_autoptr (FlamProfile) memory = flam_fixture_random ();
  g_autoptr (GError) error = NULL;
  const FlamProfile *was = large;

  g_assert_false (flam_rescale_both (&large, 0, &fine, 0, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_TOO_LARGE);
  g_assert_true (large == was);
  g_clear_error (&error);
  g_assert_null (
      flam_rescale_profile (memory, memory->n_measures - 1, 10, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_TOO_LARGE);
}

/* A history's changes are not truncated to the decimals of the later
 * capture. */
static void
test_moves (void)
{
  const FlamFiguresKeep keep = { 10, FALSE };
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) hundredths = profile_of ("a;b 125\n", 100);
  g_autoptr (FlamProfile) whole = profile_of ("a;b 3\n", 1);
  g_autoptr (FlamFigures) before =
      flam_figures_new ("before", hundredths, selection, &keep, NULL, NULL);
  g_autoptr (FlamFigures) after =
      flam_figures_new ("after", whole, selection, &keep, NULL, NULL);
  guint n;
  g_autofree FlamFiguresMove *moves =
      flam_figures_moves (before, after, 10, &n);

  g_assert_cmpuint (n, ==, 1);
  g_assert_cmpint (moves[0].delta, ==, 175);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/rescale/common", test_common);
  g_test_add_func ("/rescale/both", test_both);
  g_test_add_func ("/rescale/same", test_same);
  g_test_add_func ("/rescale/plain", test_plain);
  g_test_add_func ("/rescale/too-large", test_too_large);
  g_test_add_func ("/rescale/moves", test_moves);
  return g_test_run ();
}
