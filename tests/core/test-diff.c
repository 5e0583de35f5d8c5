/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Two trees, one list of what changed. */

#include "flam-fixture.h"

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

  rows = flam_diff_functions (base, fresh, FALSE, FALSE, &n);
  g_assert_cmpuint (n, ==, 4);
  assert_row (&rows[0], "fresh", 0, 14);
  assert_row (&rows[1], "main", 8, 16);
  assert_row (&rows[2], "old", 3, 0);
  assert_row (&rows[3], "parse", 5, 2);

  normal = flam_diff_functions (base, fresh, TRUE, TRUE, &n);
  assert_row (&normal[0], "fresh", 0, 14);
  assert_row (&normal[1], "parse", 10, 2);
  assert_row (&normal[2], "old", 6, 0);
}

static void
test_folded (void)
{
  g_autoptr (FlamTree) base = tree_of ("main;parse 5\nmain;old 3\n");
  g_autoptr (FlamTree) fresh = tree_of ("main;parse 2\nmain 14\n");
  g_autofree char *text = flam_diff_folded (base, fresh, FALSE);
  g_autofree char *normal = flam_diff_folded (base, fresh, TRUE);

  g_assert_cmpstr (text, ==, "main 0 14\nmain;old 3 0\nmain;parse 5 2\n");
  g_assert_cmpstr (normal, ==, "main 0 14\nmain;old 6 0\nmain;parse 10 2\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/diff/rows", test_rows);
  g_test_add_func ("/diff/folded", test_folded);
  return g_test_run ();
}
