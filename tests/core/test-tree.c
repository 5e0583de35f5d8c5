/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Trees from text: from stacks to an indented tree; and properties that always
 * hold. */

#include "flam-fixture.h"

#include "flam-core-picture.h"

#include <string.h>

static FlamTree *
tree_of (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

typedef struct
{
  const char *name;
  const char *stacks;
  FlamTransformKind kind;
  const char *pattern; /* NULL: no transform */
  FlamRecursion recursion;
  gboolean invert;
  FlamBy by;
  const char *expected;
} Case;

#define SMALL "A;B;C 5\nA;B 1\nA;D 2\n"
#define RECURSIVE "A;B;A;B;C 3\nA;A;C 2\n"

static const Case cases[] = {
  { "merge",
    SMALL,
    .expected = "all self=0 total=8\n"
                "  A self=0 total=8\n"
                "    B self=1 total=6\n"
                "      C self=5 total=5\n"
                "    D self=2 total=2\n" },
  { "focus",
    SMALL "X;B;E 4\n",
    FLAM_TRANSFORM_FOCUS,
    "^B$",
    .expected = "all self=0 total=10\n"
                "  B self=1 total=10\n"
                "    C self=5 total=5\n"
                "    E self=4 total=4\n" },
  { "ignore",
    SMALL,
    FLAM_TRANSFORM_IGNORE,
    "^B$",
    .expected = "all self=0 total=2\n"
                "  A self=0 total=2\n"
                "    D self=2 total=2\n" },
  { "filter",
    SMALL,
    FLAM_TRANSFORM_FILTER,
    "C|D",
    .expected = "all self=0 total=7\n"
                "  A self=0 total=7\n"
                "    B self=0 total=5\n"
                "      C self=5 total=5\n"
                "    D self=2 total=2\n" },
  { "hide",
    SMALL,
    FLAM_TRANSFORM_HIDE,
    "^B$",
    .expected = "all self=0 total=8\n"
                "  A self=1 total=8\n"
                "    C self=5 total=5\n"
                "    D self=2 total=2\n" },
  { "collapse",
    SMALL,
    FLAM_TRANSFORM_COLLAPSE,
    "^B$",
    .expected = "all self=0 total=8\n"
                "  A self=0 total=8\n"
                "    B self=6 total=6\n"
                "    D self=2 total=2\n" },
  { "stop-at",
    SMALL,
    FLAM_TRANSFORM_STOP_AT,
    "A",
    .expected = "all self=0 total=8\n"
                "  A self=8 total=8\n" },
  { "prune",
    SMALL,
    FLAM_TRANSFORM_PRUNE,
    "B",
    .expected = "all self=0 total=8\n"
                "  A self=6 total=8\n"
                "    D self=2 total=2\n" },
  { "prune-root",
    SMALL,
    FLAM_TRANSFORM_PRUNE,
    "A",
    .expected = "all self=8 total=8\n" },
  /* A branch without a match goes, and its caller keeps its width. */
  { "branches",
    SMALL,
    FLAM_TRANSFORM_BRANCHES,
    "^C$",
    .expected = "all self=0 total=8\n"
                "  A self=2 total=8\n"
                "    B self=1 total=6\n"
                "      C self=5 total=5\n" },
  { "branches-below",
    SMALL,
    FLAM_TRANSFORM_BRANCHES,
    "^B$",
    .expected = "all self=0 total=8\n"
                "  A self=2 total=8\n"
                "    B self=1 total=6\n"
                "      C self=5 total=5\n" },
  { "branches-none",
    SMALL,
    FLAM_TRANSFORM_BRANCHES,
    "^E$",
    .expected = "all self=8 total=8\n" },
  { "invert",
    SMALL,
    .invert = TRUE,
    .expected = "all self=0 total=8\n"
                "  C self=0 total=5\n"
                "    B self=0 total=5\n"
                "      A self=5 total=5\n"
                "  D self=0 total=2\n"
                "    A self=2 total=2\n"
                "  B self=0 total=1\n"
                "    A self=1 total=1\n" },
  { "recursion-flat",
    RECURSIVE,
    .recursion = FLAM_RECURSION_FLAT,
    .expected = "all self=0 total=5\n"
                "  A self=0 total=5\n"
                "    B self=0 total=3\n"
                "      A self=0 total=3\n"
                "        B self=0 total=3\n"
                "          C self=3 total=3\n"
                "    C self=2 total=2\n" },
  { "recursion-collapse",
    RECURSIVE,
    .recursion = FLAM_RECURSION_COLLAPSE,
    .expected = "all self=0 total=5\n"
                "  A self=0 total=5\n"
                "    B self=0 total=3\n"
                "      C self=3 total=3\n"
                "    C self=2 total=2\n" },
  { "by-thread",
    "one:A;B 3\ntwo:A 4\none:A 1\n",
    .by = FLAM_BY_THREAD,
    .expected = "all self=0 total=8\n"
                "  one self=0 total=4\n"
                "    A self=1 total=4\n"
                "      B self=3 total=3\n"
                "  two self=0 total=4\n"
                "    A self=4 total=4\n" },
};

static void
test_case (gconstpointer data)
{
  const Case *c = data;
  g_autoptr (FlamProfile) profile = flam_fixture_profile (c->stacks);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) tree = NULL;
  g_autofree char *text = NULL;

  if (c->pattern != NULL)
    g_assert_true (
        flam_selection_add_transform (selection, c->kind, c->pattern, NULL));
  selection->recursion = c->recursion;
  selection->invert = c->invert;
  selection->by = c->by;
  tree = tree_of (profile, selection);
  text = flam_dump_tree (tree);
  g_assert_cmpstr (text, ==, c->expected);
}

/* --- invariants ---------------------------------------------------------- */

static void
check_shape (const FlamTree *tree)
{
  gint64 selves = 0;

  for (FlamId i = 0; i < tree->n; i++)
    {
      gint64 below = tree->self[i];

      g_assert_cmpint (tree->self[i], >=, 0);
      g_assert_cmpuint (tree->subtree_end[i], >, i);
      g_assert_cmpuint (tree->subtree_end[i], <=, tree->n);
      for (FlamId c = flam_tree_first_child (tree, i); c != FLAM_NONE;
           c = flam_tree_next_sibling (tree, c))
        {
          g_assert_cmpuint (tree->parent[c], ==, i);
          g_assert_cmpuint (tree->depth[c], ==, tree->depth[i] + 1);
          below += tree->total[c];
        }
      g_assert_cmpint (below, ==, tree->total[i]);
      selves += tree->self[i];
    }
  g_assert_cmpint (selves, ==, tree->total[0]);
}

static void
check_functions (const FlamTree *tree)
{
  guint n;
  g_autofree FlamFunctionRow *rows =
      flam_functions_new (tree, FLAM_SORT_SELF, &n);

  for (guint i = 0; i < n; i++)
    {
      g_assert_cmpint (rows[i].self, <=, rows[i].total);
      g_assert_cmpint (rows[i].total, <=, tree->total[0]);
      if (i > 0)
        g_assert_cmpint (rows[i - 1].self, >=, rows[i].self);
    }
}

static void
randomize (FlamSelection *selection, const FlamProfile *profile)
{
  static const char *const patterns[] = { "f1", "f[2-5]", "f7$" };

  selection->measure = g_test_rand_int_range (0, profile->n_measures);
  selection->by = g_test_rand_int_range (0, FLAM_N_BY);
  selection->recursion = g_test_rand_int_range (0, 3);
  selection->invert = g_test_rand_bit ();
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
  for (int i = g_test_rand_int_range (0, 3); i > 0; i--)
    flam_selection_add_transform (
        selection,
        g_test_rand_int_range (0, FLAM_TRANSFORM_BRANCHES + 1),
        patterns[g_test_rand_int_range (0, 3)],
        NULL);
}

static void
test_properties (void)
{
  for (guint round = 0; round < 300; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamWeights) weights = NULL;
      g_autoptr (FlamTree) tree = NULL;

      randomize (selection, profile);
      weights = flam_weights_new (profile, selection, NULL, NULL);
      tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
      g_assert_cmpint (tree->total[0], <=, weights->total);
      if (selection->transforms->len == 0)
        g_assert_cmpint (tree->total[0], ==, weights->total);
      check_shape (tree);
      if (!selection->invert)
        check_functions (tree);
    }
}

/* A tree of functions is merged family by family, while one with threads on top
 * finds each node by its key: below a single thread, both are the same tree. */
static void
test_merged (void)
{
  for (guint round = 0; round < 300; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamTree) merged = NULL;
      g_autoptr (FlamTree) keyed = NULL;

      randomize (selection, profile);
      selection->invert = FALSE;
      selection->by = FLAM_BY_FUNCTION;
      flam_selection_all_threads (selection);
      flam_selection_add_thread (selection,
                                 g_test_rand_int_range (0, profile->threads.n));
      merged = tree_of (profile, selection);
      selection->by = FLAM_BY_THREAD;
      keyed = tree_of (profile, selection);
      g_assert_cmpint (merged->total[0], ==, keyed->total[0]);
      if (keyed->n == 1)
        continue;
      g_assert_cmpuint (keyed->subtree_end[1], ==, keyed->n);
      g_assert_cmpuint (merged->n + 1, ==, keyed->n);
      g_assert_cmpint (merged->self[0], ==, keyed->self[1]);
      for (FlamId i = 1; i < merged->n; i++)
        {
          g_assert_cmpuint (merged->key[i].row, ==, keyed->key[i + 1].row);
          g_assert_cmpuint (merged->frame[i], ==, keyed->frame[i + 1]);
          g_assert_cmpuint (merged->parent[i] + 1, ==, keyed->parent[i + 1]);
          g_assert_cmpint (merged->self[i], ==, keyed->self[i + 1]);
          g_assert_cmpint (merged->total[i], ==, keyed->total[i + 1]);
        }
    }
}

/* If few of many stacks have weight, the others are left out first: the tree
 * is the same as for those few alone, and each stack has the node of its
 * function. */
static void
test_few (void)
{
  static const char few[] = "few:main;g7;h1 3\nfew:main;g7;h2 2\n"
                            "few:main;g9 4\nfew:main;g7;h1;main 1\n";
  g_autoptr (GString) text = g_string_new (few);
  g_autoptr (FlamProfile) alone = flam_fixture_profile (few);
  g_autoptr (FlamProfile) all = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) wanted = tree_of (alone, selection);
  g_autofree char *expected = flam_dump_tree (wanted);
  g_autoptr (FlamTree) tree = NULL;
  g_autofree char *dump = NULL;
  guint with_node = 0;

  for (guint i = 0; i < 100; i++)
    g_string_append_printf (text, "crowd:main;g%u;h%u 1\n", i % 20, i);
  all = flam_fixture_profile (text->str);
  flam_selection_add_thread (selection, 0);
  tree = tree_of (all, selection);
  dump = flam_dump_tree (tree);
  g_assert_cmpstr (dump, ==, expected);
  for (FlamId s = 0; s < all->stacks.n; s++)
    {
      FlamNodeId node = tree->stack_node[s];

      if (node == FLAM_NONE)
        continue;
      g_assert_cmpuint (
          tree->key[node].row, ==, all->frames.function[all->stacks.frame[s]]);
      with_node++;
    }
  g_assert_cmpuint (with_node, ==, 6);
}

/* The states add up to the total, whatever is selected; and a selection of one
 * state equals its part of the split. */
static void
test_states (void)
{
  for (guint round = 0; round < 100; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamTree) tree = NULL;
      FlamStateSplit whole;

      randomize (selection, profile);
      selection->measure = 0;
      tree = tree_of (profile, selection);
      if (tree->split == NULL)
        continue;
      for (FlamId i = 0; i < tree->n; i++)
        {
          gint64 sum = 0;

          for (guint s = 0; s < FLAM_N_STATES; s++)
            {
              sum += tree->split[i].weight[s];
              if (!(selection->states & 1u << s))
                g_assert_cmpint (tree->split[i].weight[s], ==, 0);
            }
          g_assert_cmpint (sum, ==, tree->total[i]);
        }
      whole = flam_weights_by_state (profile, selection);
      for (guint s = 0; s < FLAM_N_STATES; s++)
        {
          selection->states = 1u << s;
          g_assert_cmpint (
              flam_weights_total (profile, selection), ==, whole.weight[s]);
        }
    }
}

/* In the inverted tree, the same functions have the same self costs. */
static void
test_inverted_agrees (void)
{
  g_autoptr (FlamProfile) profile = flam_fixture_random ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) upright = tree_of (profile, selection);
  g_autoptr (FlamTree) inverted = NULL;
  g_autofree FlamFunctionRow *rows = NULL;
  guint n;

  selection->invert = TRUE;
  inverted = tree_of (profile, selection);
  rows = flam_functions_new (upright, FLAM_SORT_SELF, &n);
  for (guint i = 0; i < n; i++)
    for (FlamId c = flam_tree_first_child (inverted, 0); c != FLAM_NONE;
         c = flam_tree_next_sibling (inverted, c))
      if (flam_tree_is_same (inverted, c, upright, rows[i].node))
        g_assert_cmpint (inverted->total[c], ==, rows[i].self);
}

/* By module, module numbers must not be taken for function numbers. */
static void
test_find_function (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  const char *const modules[] = { "libb.so", "liba.so" };
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) tree = NULL;
  FlamSample sample = { .stack = FLAM_NONE };
  gint64 one = 1;

  sample.thread = flam_builder_lone_thread (builder);
  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  for (guint i = 0; i < 3; i++)
    {
      FlamFunction function = {
        .name = flam_builder_string (builder,
                                     i == 0   ? "f"
                                     : i == 1 ? "g"
                                              : "h",
                                     1),
        .module = flam_builder_module (
            builder, modules[i / 2], "", FLAM_ADDRESS_VADDR),
      };

      sample.stack = flam_builder_stack (
          builder,
          sample.stack,
          flam_builder_frame_of (builder, &function, 0, 0, 0));
    }
  flam_builder_add_sample (builder, &sample, &one);
  profile = flam_builder_finish (builder, NULL);
  selection->by = FLAM_BY_MODULE;
  tree = tree_of (profile, selection);
  g_assert_cmpuint (tree->n, ==, 3);
  for (FlamId f = 0; f < profile->functions.n; f++)
    {
      FlamNodeId node = flam_tree_find_function (tree, f);

      if (node != 0)
        g_assert_cmpuint (flam_tree_function (tree, node), ==, f);
    }
  g_assert_cmpuint (flam_tree_find_function (tree, FLAM_NONE), ==, 0);
  g_assert_cmpuint (flam_tree_find_same (tree, 2, tree), ==, 2);
}

/* Nodes that are modules or files are matched by what they are. */
static void
test_places (void)
{
  static const char *const names[] = { "main", "sin", "inner", "put" };
  static const char *const modules[] = { "app", "libm", "app", "app" };
  static const char *const files[] = { "a.c", "sin.c", "", "b.c" };
  static const struct
  {
    FlamBy by;
    FlamTransformKind kind;
    const char *name;
    gint64 total;
    guint32 n; /* nodes */
  } all[] = {
    { FLAM_BY_MODULE, FLAM_TRANSFORM_FILTER, "libm", 1, 3 },
    { FLAM_BY_MODULE, FLAM_TRANSFORM_IGNORE, "libm", 2, 2 },
    { FLAM_BY_MODULE, FLAM_TRANSFORM_HIDE, "libm", 3, 2 },
    { FLAM_BY_MODULE, FLAM_TRANSFORM_FILTER, "lib", 0, 1 },
    { FLAM_BY_FILE, FLAM_TRANSFORM_FOCUS, "b.c", 1, 2 },
    { FLAM_BY_FILE, FLAM_TRANSFORM_FILTER, "b.c", 1, 3 },
    { FLAM_BY_FILE, FLAM_TRANSFORM_PRUNE, "b.c", 3, 4 },
    { FLAM_BY_FILE, FLAM_TRANSFORM_FILTER, FLAM_UNKNOWN_PLACE, 1, 3 },
    { FLAM_BY_FILE, FLAM_TRANSFORM_FILTER, "put", 0, 1 },
  };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamStackId leaf[G_N_ELEMENTS (names)];
  FlamSample sample = { .stack = FLAM_NONE };
  gint64 one = 1;
  g_autoptr (FlamProfile) profile = NULL;

  sample.thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      FlamFunction function = {
        .name = flam_builder_string (builder, names[i], -1),
        .module =
            flam_builder_module (builder, modules[i], "", FLAM_ADDRESS_VADDR),
        .file = flam_builder_string (builder, files[i], -1),
      };

      leaf[i] = flam_builder_stack (
          builder,
          i == 0 ? FLAM_NONE : leaf[0],
          flam_builder_frame_of (builder, &function, 0, i + 1, 0));
    }
  for (guint i = 1; i < G_N_ELEMENTS (names); i++)
    {
      sample.stack = leaf[i];
      flam_builder_add_sample (builder, &sample, &one);
    }
  profile = flam_builder_finish (builder, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (all); i++)
    {
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamSelection) copy = NULL;
      g_autoptr (FlamTree) tree = NULL;

      selection->by = all[i].by;
      flam_selection_add_place_transform (
          selection, all[i].kind, all[i].by, all[i].name, NULL);
      copy = flam_selection_copy (selection);
      g_assert_true (flam_selection_equal (selection, copy));
      tree = tree_of (profile, copy);
      g_test_message ("%u: %s", i, all[i].name);
      g_assert_cmpint (tree->total[0], ==, all[i].total);
      g_assert_cmpuint (tree->n, ==, all[i].n);
    }
}

static void
test_deep (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = { .stack = FLAM_NONE };
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) tree = NULL;
  g_autofree char *folded = NULL;
  g_autofree FlamFunctionRow *rows = NULL;
  guint n;

  sample.thread = flam_builder_thread (builder, process, 1, 0);
  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  for (guint i = 0; i < 100000; i++)
    {
      FlamStringId name = flam_builder_string (builder, i % 2 ? "a" : "b", -1);
      FlamFunctionId function =
          flam_builder_function_named (builder, name, FLAM_KIND_NATIVE);
      FlamFrameId frame = flam_builder_frame (builder, function, 0, 0, 0);

      sample.stack = flam_builder_stack (builder, sample.stack, frame);
    }
  flam_builder_add_sample (builder, &sample, NULL);
  profile = flam_builder_finish (builder, NULL);
  tree = tree_of (profile, selection);
  g_assert_cmpuint (tree->max_depth, ==, 100000);
  rows = flam_functions_new (tree, FLAM_SORT_TOTAL, &n);
  g_assert_cmpuint (n, ==, 2);
  g_assert_cmpint (rows[0].total, ==, 1);
  folded = flam_dump_folded_diff (tree, tree, FLAM_DIFF_UNSCALED, FALSE);
  g_assert_cmpuint (strlen (folded), ==, 200004);
}

static gboolean
refuse (gpointer data, double fraction)
{
  return FALSE;
}

/* The cost of the code that an import runs belongs to its importer, as in
 * Memray's reports. */
static void
test_imports (void)
{
  static const struct
  {
    const char *name;
    guint flags;
  } path[] = {
    { "main", FLAM_FUNCTION_PLAIN },
    { "_find_and_load", FLAM_FUNCTION_IMPORT | FLAM_FUNCTION_IRRELEVANT },
    { "<module>", FLAM_FUNCTION_PLAIN },
    { "work", FLAM_FUNCTION_PLAIN },
  };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamTree) tree = NULL;
  FlamSample sample = { .stack = FLAM_NONE };

  flam_builder_add_measure (builder,
                            "samples",
                            "samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  sample.thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  for (guint i = 0; i < G_N_ELEMENTS (path); i++)
    {
      FlamFunction function = {
        .name = flam_builder_string (builder, path[i].name, -1),
        .module = FLAM_NONE,
        .flags = path[i].flags,
      };
      FlamId id = flam_builder_function (builder, &function);
      FlamFrameId frame = flam_builder_frame (builder, id, 0, 0, 0);
      sample.stack = flam_builder_stack (builder, sample.stack, frame);
    }
  flam_builder_add_sample (builder, &sample, NULL);
  profile = flam_builder_finish (builder, NULL);
  g_assert_cmphex (flam_frame_traits_of (profile),
                   ==,
                   FLAM_HAS_NATIVE | FLAM_HAS_IMPORTS | FLAM_HAS_IRRELEVANT);
  selection->hide_imports = TRUE;
  tree = tree_of (profile, selection);
  g_assert_cmpuint (tree->n, ==, 2);
  g_assert_cmpstr (flam_tree_name (tree, 1), ==, "main");
  g_assert_cmpint (tree->self[1], ==, 1);
}

/* A profile of "run", a function of that kind, which calls "memcpy" of a module
 * in the first samples. */
static FlamProfile *
interpreter_profile (FlamFunctionKind kind, guint n_native, guint n_other)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamFunction run = { .kind = kind, .module = FLAM_NONE };
  FlamFunction copy = { .kind = FLAM_KIND_NATIVE };
  FlamSample sample = { .stack = FLAM_NONE };
  FlamStackId inner, other;

  flam_builder_add_measure (builder,
                            "samples",
                            "samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  sample.thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  run.name = flam_builder_string (builder, "run", -1);
  copy.name = flam_builder_string (builder, "memcpy", -1);
  copy.module = flam_builder_module (
      builder, "/usr/lib/libc.so.6", "", FLAM_ADDRESS_VADDR);
  other = flam_builder_stack (
      builder,
      FLAM_NONE,
      flam_builder_frame (
          builder, flam_builder_function (builder, &copy), 1, 0, 0));
  inner = flam_builder_stack (
      builder,
      FLAM_NONE,
      flam_builder_frame (
          builder, flam_builder_function (builder, &run), 0, 0, 0));
  inner = flam_builder_stack (
      builder,
      inner,
      flam_builder_frame (
          builder, flam_builder_function (builder, &copy), 1, 0, 0));
  for (guint i = 0; i < n_native + n_other; i++)
    {
      sample.stack = i < n_native ? inner : other;
      flam_builder_add_sample (builder, &sample, NULL);
    }
  return flam_builder_finish (builder, NULL);
}

static void
test_interpreted (void)
{
  static const struct
  {
    FlamFunctionKind kind;
    guint n_native, n_other;
    gboolean interpreted;
  } mixes[] = {
    { FLAM_KIND_INTERPRETED, 3, 2, TRUE },
    { FLAM_KIND_JIT, 3, 2, TRUE },
    { FLAM_KIND_INTERPRETED, 2, 2, FALSE },
    { FLAM_KIND_NATIVE, 3, 2, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (mixes); i++)
    {
      g_autoptr (FlamProfile) profile = interpreter_profile (
          mixes[i].kind, mixes[i].n_native, mixes[i].n_other);

      g_assert_cmpint (
          flam_frames_are_interpreted (profile), ==, mixes[i].interpreted);
    }
}

/* The cost of the recorder's library is one frame, and is not added to its
 * caller. */
static void
test_recorder (void)
{
  static const struct
  {
    const char *name;
    gboolean recorder;
    gint64 weight;
  } path[] = {
    { "main", FALSE, 1 },   { "encode", FALSE, 0 }, { "malloc", TRUE, 20 },
    { "record", TRUE, 30 }, { "memcpy", FALSE, 4 },
  };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  FlamSample sample = { .stack = FLAM_NONE };
  FlamId recorder = flam_builder_module (builder,
                                         "/usr/lib/flambeau/"
                                         "libflambeau-alloc.so",
                                         "",
                                         FLAM_ADDRESS_FILE_OFFSET);

  flam_builder_add_measure (builder,
                            "samples",
                            "samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  sample.thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  for (guint i = 0; i < G_N_ELEMENTS (path); i++)
    {
      FlamFunction function = {
        .name = flam_builder_string (builder, path[i].name, -1),
        .module = path[i].recorder ? recorder : FLAM_NONE,
        .flags =
            path[i].recorder ? FLAM_FUNCTION_IRRELEVANT : FLAM_FUNCTION_PLAIN,
      };
      FlamId id = flam_builder_function (builder, &function);
      FlamFrameId frame = flam_builder_frame (builder, id, 0, 0, 0);

      sample.stack = flam_builder_stack (builder, sample.stack, frame);
      flam_builder_add_sample (builder, &sample, &path[i].weight);
    }
  profile = flam_builder_finish (builder, NULL);
  for (guint way = 0; way < 2; way++)
    {
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamTree) tree = NULL;
      g_autofree char *folded = NULL;

      selection->hide_irrelevant = way == 1;
      tree = tree_of (profile, selection);
      folded = flam_dump_folded_diff (tree, tree, FLAM_DIFF_UNSCALED, FALSE);
      g_assert_cmpstr (folded,
                       ==,
                       "main 1 1\n"
                       "main;encode;malloc 50 50\n"
                       "main;encode;malloc;memcpy 4 4\n");
    }
}

/* The line to show first: the costliest of the user's own code, including the
 * library code it calls, but not the recorder's. */
static void
test_begin (void)
{
  static const struct
  {
    const char *function, *file;
    guint32 line;
    gint64 weight; /* of the stack up to here */
    gboolean root; /* and the next one begins again below main */
    const char *module;
  } path[] = {
    { "main", "/home/me/app.c", 5, 0, FALSE },
    { "work", "/home/me/app.c", 9, 2, FALSE },
    { "sort", "/usr/include/sort.h", 3, 630, TRUE },
    { "small", "/home/me/app.c", 20, 3, FALSE },
    { FLAM_RECORDER_NAME, "", 0, 900, TRUE, FLAM_RECORDER_LIBRARY },
    { "tiny", "/home/me/tiny.c", 1, 1, TRUE },
    { "libc", "", 0, 364, TRUE },
  };
  static const struct
  {
    guint8 app, sort, tiny;
    const char *file;
    guint32 line;
  } ways[] = {
    { FLAM_TEXT_OWN, FLAM_TEXT_HERE, FLAM_TEXT_OWN, "/home/me/app.c", 9 },
    { FLAM_TEXT_NONE, FLAM_TEXT_HERE, FLAM_TEXT_OWN, "/usr/include/sort.h", 3 },
    { FLAM_TEXT_NONE, FLAM_TEXT_NONE, FLAM_TEXT_OWN, "/home/me/tiny.c", 1 },
    { FLAM_TEXT_NONE, FLAM_TEXT_NONE, FLAM_TEXT_NONE, NULL, 0 },
  };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  FlamSample sample = { .stack = FLAM_NONE };
  FlamId main_stack = FLAM_NONE;

  flam_builder_add_measure (builder,
                            "samples",
                            "samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  sample.thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  for (guint i = 0; i < G_N_ELEMENTS (path); i++)
    {
      const FlamFunction of = {
        .name = flam_builder_string (builder, path[i].function, -1),
        .module =
            path[i].module != NULL
                ? flam_builder_module (
                      builder, path[i].module, "", FLAM_ADDRESS_FILE_OFFSET)
                : FLAM_NONE,
        .kind = FLAM_KIND_NATIVE,
      };
      FlamFunctionId function = flam_builder_function (builder, &of);
      FlamStringId file = flam_builder_string (builder, path[i].file, -1);
      FlamFrameId frame =
          flam_builder_frame_in (builder, function, 0, file, path[i].line, 0);

      sample.stack = flam_builder_stack (builder, sample.stack, frame);
      if (i == 0)
        main_stack = sample.stack;
      else
        flam_builder_add_sample (builder, &sample, &path[i].weight);
      if (path[i].root)
        sample.stack = main_stack;
    }
  profile = flam_builder_finish (builder, NULL);
  weights = flam_weights_new (profile, selection, NULL, NULL);
  for (guint c = 0; c < G_N_ELEMENTS (ways); c++)
    {
      g_autofree guint8 *texts =
          g_new0 (guint8, flam_profile_n_strings (profile));
      FlamFileLineRow found;

      for (FlamId s = 0; s < flam_profile_n_strings (profile); s++)
        {
          const char *name = flam_profile_string (profile, s);

          texts[s] = strcmp (name, "/home/me/app.c") == 0        ? ways[c].app
                     : strcmp (name, "/usr/include/sort.h") == 0 ? ways[c].sort
                     : strcmp (name, "/home/me/tiny.c") == 0     ? ways[c].tiny
                                                                 : 0;
        }
      g_assert_cmpint (flam_lines_begin (weights, selection, texts, &found),
                       ==,
                       ways[c].file != NULL);
      if (ways[c].file == NULL)
        continue;
      g_assert_cmpstr (
          flam_profile_string (profile, found.file), ==, ways[c].file);
      g_assert_cmpuint (found.row.line, ==, ways[c].line);
    }
}

static void
test_cancel (void)
{
  g_autoptr (FlamProfile) profile = flam_fixture_profile (SMALL);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  g_autoptr (GError) error = NULL;
  FlamProgress progress = { refuse, NULL };

  g_assert_null (
      flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, &progress, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_CANCELLED);
}

static void
test_find_path (void)
{
  g_autoptr (FlamProfile) profile = flam_fixture_profile (SMALL);
  g_autoptr (FlamProfile) other = flam_fixture_profile ("A;B;X 1\n");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) from = tree_of (profile, selection);
  g_autoptr (FlamTree) to = tree_of (other, selection);
  FlamId found;

  g_assert_cmpstr (flam_tree_name (from, 3), ==, "C");
  found = flam_tree_find_path (from, 3, to);
  g_assert_cmpstr (flam_tree_name (to, found), ==, "B");
}

/* A function is found again after a transform has moved it. */
static FlamId
find_again (const FlamTree *from, FlamNodeId node, const FlamTree *to)
{
  FlamId found = flam_tree_find_again (from, node, to);

  g_assert_cmpstr (flam_tree_name (to, found), ==, flam_tree_name (from, node));
  return found;
}

static void
test_find_again (void)
{
  g_autoptr (FlamProfile) profile =
      flam_fixture_profile ("A;B;C 1\nA;D;C 5\nA;B;B;C;E 2\nX;C 50\nA;B;D 2\n");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) from = tree_of (profile, selection);
  g_autoptr (FlamTree) to = NULL;
  g_autoptr (FlamTree) inverted = NULL;
  const char *const names[] = { "A", "B", "C", NULL };
  const char *const deeper[] = { "A", "B", "B", "C", "E", NULL };
  FlamNodeId node = flam_tree_find_names (from, names);
  FlamId deep = flam_tree_find_names (from, deeper);
  FlamId found;
  g_auto (GStrv) path = flam_tree_get_path (from, node);

  g_assert_true (g_strv_equal ((const char *const *)path, names));
  g_assert_cmpuint (from->depth[deep], ==, 5);
  flam_selection_add_transform (selection, FLAM_TRANSFORM_HIDE, "^A$", NULL);
  to = tree_of (profile, selection);
  /* Below B still, although another C is heavier. */
  found = find_again (from, node, to);
  g_assert_cmpstr (flam_tree_name (to, to->parent[found]), ==, "B");
  g_assert_cmpuint (to->depth[found], ==, 2);
  found = find_again (from, deep, to);
  g_assert_cmpuint (to->depth[found], ==, 4);
  /* In the inverted tree, paths do not help: only the function is left. */
  selection->invert = TRUE;
  inverted = tree_of (profile, selection);
  find_again (from, node, inverted);
  g_clear_pointer (&to, flam_tree_unref);
  selection->invert = FALSE;
  flam_selection_add_transform (selection, FLAM_TRANSFORM_HIDE, "^C$", NULL);
  to = tree_of (profile, selection);
  found = flam_tree_find_again (from, node, to);
  g_assert_cmpuint (found, ==, 0);
}

static void
test_search (void)
{
  g_autoptr (FlamProfile) profile = flam_fixture_profile (RECURSIVE "Z 5\n");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) tree = tree_of (profile, selection);
  g_autoptr (FlamRegex) regex = flam_regex_new ("A", 0, NULL);
  g_autofree guint8 *matched = g_new (guint8, tree->n);

  /* Nested matches count once. */
  g_assert_cmpint (flam_tree_search (tree, regex, matched), ==, 5);
  g_assert_cmpint (flam_tree_search (tree, NULL, matched), ==, 0);
}

static void
add_process (FlamBuilder *builder,
             gint32 pid,
             const char *name,
             FlamStackId stack,
             guint n)
{
  FlamProcessId process = flam_builder_process (builder, pid, 0);

  flam_builder_set_process_name (builder, process, name);
  for (guint i = 0; i < n; i++)
    {
      /* Two threads. */
      FlamSample sample = { .thread = flam_builder_thread (
                                builder, process, pid + (int)(i % 2), 0),
                            .stack = stack };

      flam_builder_add_sample (builder, &sample, NULL);
    }
}

/* Programs of one name, with their threads, stay apart. */
static void
test_processes (void)
{
  static const char *const names[] = {
    "web (40)", "web (50)", "db", "[unknown process] (60)"
  };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamId function = flam_builder_function_named (
      builder, flam_builder_string (builder, "serve", -1), FLAM_KIND_NATIVE);
  FlamStackId stack = flam_builder_stack (
      builder, FLAM_NONE, flam_builder_frame (builder, function, 0, 0, 0));
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (FlamTree) again = NULL;
  g_autofree char *text = NULL;

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  add_process (builder, 40, "web", stack, 5);
  add_process (builder, 50, "web", stack, 3);
  add_process (builder, -1, "db", stack, 2);
  add_process (builder, 60, "", stack, 1);
  profile = flam_builder_finish (builder, NULL);
  selection->by = FLAM_BY_PROCESS;
  tree = tree_of (profile, selection);
  text = flam_dump_tree (tree);
  g_assert_cmpstr (text,
                   ==,
                   "all self=0 total=11\n"
                   "  web (40) self=0 total=5\n"
                   "    serve self=5 total=5\n"
                   "  web (50) self=0 total=3\n"
                   "    serve self=3 total=3\n"
                   "  db self=0 total=2\n"
                   "    serve self=2 total=2\n"
                   "  [unknown process] (60) self=0 total=1\n"
                   "    serve self=1 total=1\n");
  g_assert_cmpstr (flam_tree_plain_name (tree, 3), ==, "web");
  selection->invert = TRUE;
  again = tree_of (profile, selection);
  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      FlamNodeId top = flam_tree_find_name (tree, names[i]);
      FlamNodeId other = flam_tree_find_same (tree, top, again);

      g_assert_cmpuint (flam_tree_process (tree, top), ==, i);
      g_assert_cmpstr (flam_tree_name (again, other), ==, names[i]);
      g_assert_cmpint (again->total[other], ==, tree->total[top]);
    }
}

/* Threads of one name have their ids; a thread of another capture is found by
 * its name alone. */
static void
test_thread_names (void)
{
  static const struct
  {
    gint32 tid;
    const char *name;
    const char *shown;
  } threads[] = { { 41, "worker", "worker (41)" },
                  { 42, "worker", "worker (42)" },
                  { 43, "main", "main" },
                  { -1, "idle", "idle" } };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 41, 0);
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) tree = NULL;
  const char *worker[] = { "worker", NULL };

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    {
      FlamSample sample = { .thread = flam_builder_thread (
                                builder, process, threads[i].tid, 0),
                            .stack = FLAM_NONE };

      flam_builder_set_thread_name (builder, sample.thread, threads[i].name);
      for (guint n = i; n < G_N_ELEMENTS (threads); n++)
        flam_builder_add_sample (builder, &sample, NULL);
    }
  profile = flam_builder_finish (builder, NULL);
  selection->by = FLAM_BY_THREAD;
  tree = tree_of (profile, selection);
  g_assert_cmpuint (tree->n, ==, 1 + G_N_ELEMENTS (threads));
  for (guint i = 0; i < G_N_ELEMENTS (threads); i++)
    {
      g_assert_cmpstr (flam_tree_name (tree, i + 1), ==, threads[i].shown);
      g_assert_cmpstr (flam_tree_plain_name (tree, i + 1), ==, threads[i].name);
    }
  g_assert_cmpuint (flam_tree_find_names (tree, worker), ==, 1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autofree char *path = g_strdup_printf ("/tree/%s", cases[i].name);

      g_test_add_data_func (path, &cases[i], test_case);
    }
  g_test_add_func ("/tree/properties", test_properties);
  g_test_add_func ("/tree/merged", test_merged);
  g_test_add_func ("/tree/few", test_few);
  g_test_add_func ("/tree/states", test_states);
  g_test_add_func ("/tree/inverted-agrees", test_inverted_agrees);
  g_test_add_func ("/tree/places", test_places);
  g_test_add_func ("/tree/deep", test_deep);
  g_test_add_func ("/tree/imports", test_imports);
  g_test_add_func ("/tree/recorder", test_recorder);
  g_test_add_func ("/tree/begin", test_begin);
  g_test_add_func ("/tree/cancel", test_cancel);
  g_test_add_func ("/tree/interpreted", test_interpreted);
  g_test_add_func ("/tree/find-function", test_find_function);
  g_test_add_func ("/tree/find-path", test_find_path);
  g_test_add_func ("/tree/find-again", test_find_again);
  g_test_add_func ("/tree/search", test_search);
  g_test_add_func ("/tree/processes", test_processes);
  g_test_add_func ("/tree/thread-names", test_thread_names);
  return g_test_run ();
}
