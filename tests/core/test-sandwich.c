/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Callers and callees: from stacks to indented trees; and properties that
 * always hold. */

#include "flam-fixture.h"

#include "flam-core-picture.h"

static FlamTree *
tree_of (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

static FlamId
node_named (const FlamTree *tree, const char *name)
{
  for (FlamId i = 1; i < tree->n; i++)
    if (strcmp (flam_tree_name (tree, i), name) == 0)
      return i;
  g_assert_not_reached ();
}

typedef struct
{
  const char *name;
  const char *stacks;
  const char *of;
  FlamBy by;
  const char *callers;
  const char *callees;
} Case;

static const Case cases[] = {
  { "merge",
    "A;B;C 2\nA;B;D 3\nX;B 1\nX;Y 7\n",
    "B",
    .callers = "B self=0 total=6\n"
               "  A self=5 total=5\n"
               "  X self=1 total=1\n",
    .callees = "B self=1 total=6\n"
               "  D self=3 total=3\n"
               "  C self=2 total=2\n" },
  { "recursion",
    "A;B;C;B;D 4\nB 1\n",
    "B",
    .callers = "B self=1 total=5\n"
               "  A self=4 total=4\n",
    .callees = "B self=1 total=5\n"
               "  C self=0 total=4\n"
               "    B self=0 total=4\n"
               "      D self=4 total=4\n" },
  { "thread",
    "one:A;B 3\ntwo:B 4\n",
    "B",
    .by = FLAM_BY_THREAD,
    .callers = "B self=0 total=7\n"
               "  two self=4 total=4\n"
               "  A self=0 total=3\n"
               "    one self=3 total=3\n",
    .callees = "B self=7 total=7\n" },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (FlamProfile) profile = flam_fixture_profile (c->stacks);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (FlamTree) callers = NULL;
  g_autoptr (FlamTree) callees = NULL;
  g_autofree char *above = NULL;
  g_autofree char *below = NULL;
  FlamNodeId node;

  selection->by = c->by;
  tree = tree_of (profile, selection);
  node = node_named (tree, c->of);
  callers = flam_sandwich_callers (tree, node, NULL, NULL);
  callees = flam_sandwich_callees (tree, node, NULL, NULL);
  above = flam_dump_tree (callers);
  below = flam_dump_tree (callees);
  g_assert_cmpstr (above, ==, c->callers);
  g_assert_cmpstr (below, ==, c->callees);
  g_assert_cmpuint (
      flam_tree_function (callees, 0), ==, flam_tree_function (tree, node));
}

/* The stacks of each node have its weight. */
static void
check_stacks (const FlamTree *side, const FlamTree *tree, const gint64 *weight)
{
  g_autofree gint64 *self = g_new (gint64, side->n);
  g_autofree gint64 *total = g_new (gint64, side->n);

  if (tree->stack_node == NULL)
    return;
  flam_tree_sum (side, weight, self, total);
  for (FlamNodeId i = 0; i < side->n; i++)
    g_assert_cmpint (total[i], ==, side->total[i]);
}

static void
check_states (const FlamTree *tree)
{
  for (FlamId i = 0; tree->split != NULL && i < tree->n; i++)
    {
      gint64 sum = 0;

      for (guint s = 0; s < FLAM_N_STATES; s++)
        {
          g_assert_cmpint (tree->split[i].weight[s], >=, 0);
          sum += tree->split[i].weight[s];
        }
      g_assert_cmpint (sum, ==, tree->total[i]);
    }
}

/* Both halves have the function's figures from the table of functions, in every
 * state; the cost beyond its self cost belongs to its callees. */
static void
test_properties (void)
{
  for (guint round = 0; round < 100; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamWeights) weights = NULL;
      g_autoptr (FlamTree) tree = NULL;
      g_autofree FlamFunctionRow *rows = NULL;
      guint n;

      selection->by = g_test_rand_int_range (0, FLAM_BY_FILE + 1);
      selection->recursion = g_test_rand_int_range (0, 3);
      weights = flam_weights_new (profile, selection, NULL, NULL);
      tree = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
      rows = flam_functions_new (tree, FLAM_SORT_TOTAL, &n);
      for (guint i = 0; i < n; i++)
        {
          g_autoptr (FlamTree) callers =
              flam_sandwich_callers (tree, rows[i].node, NULL, NULL);
          g_autoptr (FlamTree) callees =
              flam_sandwich_callees (tree, rows[i].node, NULL, NULL);

          g_assert_cmpint (callers->total[0], ==, rows[i].total);
          g_assert_cmpint (callees->total[0], ==, rows[i].total);
          g_assert_cmpuint (
              flam_sandwich_find (tree, rows[i].node, tree), !=, FLAM_NONE);
          check_stacks (callers, tree, weights->weight);
          check_stacks (callees, tree, weights->weight);
          check_states (callers);
          check_states (callees);
        }
    }
}

/* Choosing a caller or callee selects a stack on that path, not the heaviest of
 * the function. */
static void
test_find_call (void)
{
  g_autoptr (FlamProfile) profile = flam_fixture_profile (
      "A;X;B;Y 1\nA;X 50\nC;X;D;B;Y 3\nC;Y 40\nB;Y;Y 2\nY 90\n");
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  for (guint invert = 0; invert < 2; invert++)
    {
      g_autoptr (FlamTree) upright = NULL;
      g_autoptr (FlamTree) tree = NULL;
      g_autoptr (FlamTree) callers = NULL;
      g_autoptr (FlamTree) callees = NULL;
      FlamFunctionRow row;
      FlamNodeId node, found;

      selection->invert = FALSE;
      upright = tree_of (profile, selection);
      selection->invert = invert;
      tree = tree_of (profile, selection);
      node = node_named (upright, "B");
      callers = flam_sandwich_callers (upright, node, NULL, NULL);
      callees = flam_sandwich_callees (upright, node, NULL, NULL);

      /* B from X from A */
      node = 1;
      while (callers->parent[node] != 0 ||
             strcmp (flam_tree_name (callers, node), "X") != 0)
        node++;
      found = flam_sandwich_find_call (callers, node, tree);
      g_assert_cmpint (tree->total[found], ==, invert ? 1 : 51);
      /* B calls Y, heaviest below D */
      node = node_named (callees, "Y");
      found = flam_sandwich_find_call (callees, node, tree);
      g_assert_cmpstr (flam_tree_name (tree, found), ==, "Y");
      g_assert_cmpint (tree->total[found], ==, invert ? 136 : 3);

      row = flam_functions_row_of (tree, node_named (tree, "Y"));
      g_assert_cmpint (row.self, ==, 136);
      g_assert_cmpint (row.total, ==, 136);
      row = flam_functions_row_of (tree, node_named (tree, "X"));
      g_assert_cmpint (row.self, ==, 50);
      g_assert_cmpint (row.total, ==, 54);

      /* The box of a function that has the cost, and that of its caller. */
      node = node_named (tree, "Y");
      if (!invert)
        continue;
      row = flam_functions_row_of_node (tree, node);
      g_assert_cmpint (row.self, ==, 136);
      g_assert_cmpint (row.total, ==, 136);
      node = flam_tree_first_child (tree, node);
      g_assert_false (flam_functions_has_self (tree, node));
      row = flam_functions_row_of_node (tree, node);
      g_assert_cmpint (row.self, ==, 0);
      g_assert_cmpint (row.total, ==, tree->total[node]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/sandwich/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/sandwich/properties", test_properties);
  g_test_add_func ("/sandwich/find-call", test_find_call);
  return g_test_run ();
}
