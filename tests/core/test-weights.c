/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-query.h"
#include "flam-fixture.h"

/* The way in which samples are shown does not affect their sums. */
static void
randomize_shown (FlamSelection *selection)
{
  static const char *const patterns[] = { "f1", "f[2-5]", "f7$" };

  selection->by = g_test_rand_int_range (0, FLAM_N_BY);
  selection->recursion = g_test_rand_int_range (0, 3);
  selection->invert = g_test_rand_bit ();
  for (int i = g_test_rand_int_range (0, 3); i > 0; i--)
    flam_selection_add_transform (
        selection,
        g_test_rand_int_range (0, FLAM_TRANSFORM_BRANCHES + 1),
        patterns[g_test_rand_int_range (0, 3)],
        NULL);
}

static void
randomize_samples (FlamSelection *selection, const FlamProfile *profile)
{
  selection->measure = g_test_rand_int_range (0, profile->n_measures);
  selection->count = g_test_rand_bit ();
  selection->states = g_test_rand_int_range (1, 1 << FLAM_N_STATES);
  if (g_test_rand_bit ())
    {
      selection->from = g_test_rand_int_range (-10, 1000);
      selection->to = selection->from + g_test_rand_int_range (0, 1000);
    }
  if (g_test_rand_bit ())
    flam_selection_add_thread (selection,
                               g_test_rand_int_range (0, profile->threads.n));
}

static void
assert_same (const FlamWeights *a, const FlamWeights *b)
{
  gsize n = a->profile->stacks.n + 1;

  g_assert_cmpmem (
      a->weight, n * sizeof (gint64), b->weight, n * sizeof (gint64));
  g_assert_cmpint (a->no_stack, ==, b->no_stack);
  g_assert_cmpint (a->total, ==, b->total);
  g_assert_true ((a->split == NULL) == (b->split == NULL));
  if (a->split != NULL)
    g_assert_cmpmem (a->split,
                     n * sizeof (FlamStateSplit),
                     b->split,
                     n * sizeof (FlamStateSplit));
}

/* Showing the same samples in another way gives the same weights, whether they
 * are summed again or not; other samples must be summed again. */
static void
test_shown_again (void)
{
  for (guint round = 0; round < 300; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selected = flam_selection_new ();
      g_autoptr (FlamSelection) selection = NULL;
      g_autoptr (FlamWeights) before = NULL;
      g_autoptr (FlamWeights) again = NULL;
      g_autoptr (FlamWeights) fresh = NULL;
      g_auto (FlamShown) shown = { 0 };
      const FlamShown *dropping = NULL;

      randomize_samples (selected, profile);
      selection = flam_selection_copy (selected);
      randomize_shown (selected);
      randomize_shown (selection);
      before = flam_weights_new (profile, selected, NULL, NULL);
      fresh = flam_weights_new (profile, selection, NULL, NULL);
      g_assert_true (flam_shown_init (&shown, profile, selection, NULL, NULL));
      if (flam_selection_drops_stacks (selection))
        dropping = &shown;
      again = flam_weights_new_shown (
          before, selected, profile, selection, dropping);
      g_assert_true ((again != NULL) == (before->sums != NULL &&
                                         !flam_by_has_tops (selection->by)));
      if (again != NULL)
        assert_same (again, fresh);
      selection->count = !selection->count;
      g_assert_null (flam_weights_new_shown (
          before, selected, profile, selection, dropping));
    }
}

/* The threads' weights add up to the whole, and each equals a selection of that
 * thread. */
static void
test_by_thread (void)
{
  for (guint round = 0; round < 300; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autofree gint64 *threads = NULL;
      g_autofree gint64 *known = NULL;
      g_auto (FlamShown) shown = { 0 };

      randomize_samples (selection, profile);
      randomize_shown (selection);
      threads = flam_weights_by_thread (profile, selection);
      g_assert_true (flam_shown_init (&shown, profile, selection, NULL, NULL));
      known = flam_weights_by_thread_since (
          NULL,
          profile,
          selection,
          flam_selection_drops_stacks (selection) ? &shown : NULL);
      g_assert_cmpmem (threads,
                       profile->threads.n * sizeof *threads,
                       known,
                       profile->threads.n * sizeof *known);
      for (FlamId t = 0; t < profile->threads.n; t++)
        {
          g_autoptr (FlamWeights) weights = NULL;

          flam_selection_all_threads (selection);
          flam_selection_add_thread (selection, t);
          weights = flam_weights_new (profile, selection, NULL, NULL);
          g_assert_cmpint (threads[t], ==, weights->total);
          g_assert_cmpint (
              threads[t], ==, flam_weights_total (profile, selection));
        }
    }
}

/* The stacks through a node have its total, and those through its children are
 * some of them. */
static void
test_of_path (void)
{
  for (guint round = 0; round < 60; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamWeights) weights = NULL;
      g_autoptr (FlamTree) tree = NULL;

      randomize_samples (selection, profile);
      randomize_shown (selection);
      weights = flam_weights_new (profile, selection, NULL, NULL);
      tree = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
      for (FlamNodeId i = 1; i < tree->n;
           i += 1 + (FlamNodeId)g_test_rand_int_range (0, (int)tree->n / 8 + 1))
        {
          g_autoptr (FlamWeights) path =
              flam_path_weights_new (weights, selection, tree, i);
          g_autoptr (FlamWeights) above = NULL;
          gint64 sum = path->no_stack;

          g_assert_cmpint (path->total, ==, tree->total[i]);
          for (FlamId s = 0; s < profile->stacks.n; s++)
            sum += path->weight[s];
          g_assert_cmpint (sum, ==, path->total);
          if (tree->depth[i] < 2)
            continue;
          above =
              flam_path_weights_new (weights, selection, tree, tree->parent[i]);
          for (FlamId s = 0; s < profile->stacks.n; s++)
            g_assert_cmpint (path->weight[s], <=, above->weight[s]);
        }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/weights/shown-again", test_shown_again);
  g_test_add_func ("/weights/by-thread", test_by_thread);
  g_test_add_func ("/weights/of-path", test_of_path);
  return g_test_run ();
}
