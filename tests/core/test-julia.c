/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The graphs of FlameGraphs.jl's own tests. */

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

/* The backtraces of FlameGraphs.jl's own tests, callers first: the frames at
 * each address, and the graph that it expects. */
static const struct
{
  const char *function;
  guint32 line;
} code[] = {
  { NULL, 0 },  { "f1", 1 }, { "f2", 5 }, { "f3", 1 },  { "f2", 15 },
  { "f4", 20 }, { "f5", 1 }, { "f1", 2 }, { "f6", 10 },
};

static FlamProfile *
profile_of (const guint8 (*stacks)[8], guint n, gboolean one_line)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamThreadId thread = flam_builder_thread (builder, process, 1, 0);

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i < n; i++)
    {
      FlamSample sample = { .thread = thread, .stack = FLAM_NONE };

      for (const guint8 *ip = stacks[i]; *ip != 0; ip++)
        {
          FlamFunctionId function = flam_builder_function_named (
              builder,
              flam_builder_string (builder, code[*ip].function, -1),
              FLAM_KIND_JIT);
          FlamFrameId frame = flam_builder_frame (
              builder, function, *ip, one_line ? 1 : code[*ip].line, 0);

          sample.stack = flam_builder_stack (builder, sample.stack, frame);
        }
      flam_builder_add_sample (builder, &sample, NULL);
    }
  return flam_builder_finish (builder, NULL);
}

static void
check (const FlamProfile *profile,
       FlamBy by,
       FlamRecursion recursion,
       const char *expected)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTree) tree = NULL;
  g_autofree char *text = NULL;

  selection->by = by;
  selection->recursion = recursion;
  tree = tree_of (profile, selection);
  text = flam_dump_tree (tree);
  g_assert_cmpstr (text, ==, expected);
}

static void
test_graphs (void)
{
  static const guint8 stacks[][8] = {
    { 1, 2, 3, 4 }, { 1, 5, 6 }, { 7, 8 }, { 1, 2, 3, 4 }
  };
  static const guint8 again[][8] = { { 1, 2, 1, 7, 3 }, { 1, 2 } };
  g_autoptr (FlamProfile) profile =
      profile_of (stacks, G_N_ELEMENTS (stacks), FALSE);
  g_autoptr (FlamProfile) alike =
      profile_of (stacks, G_N_ELEMENTS (stacks), TRUE);
  g_autoptr (FlamProfile) recursive =
      profile_of (again, G_N_ELEMENTS (again), FALSE);

  check (profile,
         FLAM_BY_LINE,
         FLAM_RECURSION_OFF,
         "all self=0 total=4\n"
         "  f1:1 self=0 total=3\n"
         "    f2:5 self=0 total=2\n"
         "      f3:1 self=0 total=2\n"
         "        f2:15 self=2 total=2\n"
         "    f4:20 self=0 total=1\n"
         "      f5:1 self=1 total=1\n"
         "  f1:2 self=0 total=1\n"
         "    f6:10 self=1 total=1\n");
  /* combine=false: the same line is still two addresses. */
  check (alike,
         FLAM_BY_LINE,
         FLAM_RECURSION_OFF,
         "all self=0 total=4\n"
         "  f1:1 self=0 total=4\n"
         "    f2:1 self=0 total=2\n"
         "      f3:1 self=0 total=2\n"
         "        f2:1 self=2 total=2\n"
         "    f4:1 self=0 total=1\n"
         "      f5:1 self=1 total=1\n"
         "    f6:1 self=1 total=1\n");
  check (alike,
         FLAM_BY_ADDRESS,
         FLAM_RECURSION_OFF,
         "all self=0 total=4\n"
         "  f1@0x1 self=0 total=3\n"
         "    f2@0x2 self=0 total=2\n"
         "      f3@0x3 self=0 total=2\n"
         "        f2@0x4 self=2 total=2\n"
         "    f4@0x5 self=0 total=1\n"
         "      f5@0x6 self=1 total=1\n"
         "  f1@0x7 self=0 total=1\n"
         "    f6@0x8 self=1 total=1\n");
  /* Back to the previous occurrence of the same address. */
  check (recursive,
         FLAM_BY_ADDRESS,
         FLAM_RECURSION_COLLAPSE,
         "all self=0 total=2\n"
         "  f1@0x1 self=0 total=2\n"
         "    f1@0x7 self=0 total=1\n"
         "      f3@0x3 self=1 total=1\n"
         "    f2@0x2 self=1 total=1\n");
}

/* The status of hidden C frames goes to the caller that gets their cost, if
 * they have any, with every way to build a tree. */
static void
test_hidden (void)
{
  static const struct
  {
    const char *function;
    guint status;
  } path[] = { { "cook", 0 },
               { "jl_invoke", FLAM_STATUS_DISPATCH },
               { "chop", 0 },
               { "jl_gc_collect", FLAM_STATUS_GC },
               { "jl_gc_mark", FLAM_STATUS_GC } };
  static const char kept[] = "all self=0 total=2\n"
                             "  cook self=0 total=2 status=dispatch\n"
                             "    chop self=2 total=2 status=gc\n";
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamThreadId thread =
      flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamTree) whole = NULL;
  g_autoptr (FlamTree) hidden = NULL;
  g_autoptr (FlamTree) in_time = NULL;
  g_autoptr (FlamTree) inverted = NULL;
  g_autoptr (FlamTree) cut_tree = NULL;
  g_autoptr (FlamProfile) part = NULL;
  g_autofree char *text = NULL;
  g_autofree char *of_part = NULL;
  FlamSample sample = { .thread = thread, .stack = FLAM_NONE };
  FlamWeights *weights;

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i < G_N_ELEMENTS (path); i++)
    {
      const FlamFunction function = { .name = flam_builder_string (
                                          builder, path[i].function, -1),
                                      .module = FLAM_NONE };

      sample.stack =
          flam_builder_stack (builder,
                              sample.stack,
                              flam_builder_frame_of_status (
                                  builder, &function, 0, 0, 0, path[i].status));
      if (i == 2 || i == 4)
        flam_builder_add_sample (builder, &sample, NULL);
    }
  /* Without weight. */
  flam_builder_stack (
      builder,
      sample.stack,
      flam_builder_frame_of_status (
          builder,
          &(FlamFunction){ .name = flam_builder_string (builder, "jl_x", -1),
                           .module = FLAM_NONE },
          0,
          0,
          0,
          FLAM_STATUS_TASK));
  profile = flam_builder_finish (builder, NULL);
  whole = tree_of (profile, selection);
  g_assert_cmphex (flam_tree_status (whole, 1), ==, 0);
  g_assert_cmphex (flam_tree_status (whole, 2), ==, FLAM_STATUS_DISPATCH);

  g_assert_true (flam_selection_add_transform (
      selection, FLAM_TRANSFORM_HIDE, "^jl_", NULL));
  hidden = tree_of (profile, selection);
  text = flam_dump_tree (hidden);
  g_assert_cmpstr (text, ==, kept);
  weights = flam_weights_new (profile, selection, NULL, NULL);
  in_time = flam_tree_new (weights, selection, FLAM_ORDER_TIME, NULL, NULL);
  flam_weights_free (weights);
  g_assert_cmphex (flam_tree_status (in_time, 1), ==, FLAM_STATUS_DISPATCH);
  g_assert_cmphex (flam_tree_status (in_time, 2), ==, FLAM_STATUS_GC);
  selection->invert = TRUE;
  inverted = tree_of (profile, selection);
  g_assert_cmphex (flam_tree_status (inverted, 1), ==, FLAM_STATUS_GC);
  g_assert_cmphex (flam_tree_status (inverted, 2), ==, FLAM_STATUS_DISPATCH);

  selection->invert = FALSE;
  part = flam_cut_new (profile, selection, NULL);
  cut_tree = tree_of (part, all);
  of_part = flam_dump_tree (cut_tree);
  g_assert_cmpstr (of_part, ==, kept);
}

/* FlameGraphs.jl's and ProfileCanvas's meanings, in either theme, with readable
 * labels; dispatch has priority over the others. */
static void
test_colors (void)
{
  static const struct
  {
    const char *name;
    guint status;
    FlamColor color;
  } told[] = {
    { "dispatch", FLAM_STATUS_ALL, 0xcc6767 },
    { "gc", FLAM_STATUS_ALL & ~FLAM_STATUS_DISPATCH, 0xcc9944 },
    { "compiled", FLAM_STATUS_COMPILATION | FLAM_STATUS_REPL, 0x646464 },
    { "repl", FLAM_STATUS_REPL | FLAM_STATUS_TASK, 0x8fb0a0 },
    { "task", FLAM_STATUS_TASK, 0xb79bc4 },
    { "plain", 0, 0 },
    { "plain", 0, 0 },
  };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamSample sample = {
    flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0),
    FLAM_NONE
  };
  const FlamColors colors = { .mode = FLAM_PALETTE_AUTO };
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamTree) tree = NULL;

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i < G_N_ELEMENTS (told); i++)
    {
      const FlamFunction function = { .name = flam_builder_string (
                                          builder, told[i].name, -1),
                                      .module = FLAM_NONE };

      sample.stack =
          flam_builder_stack (builder,
                              sample.stack,
                              flam_builder_frame_of_status (
                                  builder, &function, 0, 0, 0, told[i].status));
    }
  flam_builder_add_sample (builder, &sample, NULL);
  profile = flam_builder_finish (builder, NULL);
  tree = tree_of (profile, selection);
  g_assert_cmpint (
      flam_palette_mode_of (tree, FLAM_PALETTE_AUTO), ==, FLAM_PALETTE_JULIA);
  for (guint dark = 0; dark < 2; dark++)
    {
      g_autoptr (FlamPalette) palette =
          flam_palette_new_for (tree, &colors, dark);
      g_autoptr (GPtrArray) legend = flam_palette_legend (palette, tree, 0, 20);
      gboolean gc = FALSE;

      for (FlamId i = 1; i < tree->n; i++)
        {
          FlamColor color = flam_palette_node (palette, tree, i);
          FlamColorState state =
              flam_palette_label_state (palette, tree, i, FLAM_COLOR_NORMAL);

          if (told[i - 1].color != 0)
            g_assert_cmphex (color, ==, told[i - 1].color);
          g_assert_cmpfloat (
              flam_color_contrast (color, flam_palette_text (palette, state)),
              >=,
              4.5);
        }
      g_assert_cmphex (flam_palette_node (palette, tree, 6),
                       !=,
                       flam_palette_node (palette, tree, 7));
      for (guint i = 0; i < legend->len; i++)
        {
          const FlamLegendEntry *entry = legend->pdata[i];

          gc |= strcmp (entry->name, "Garbage collection") == 0 &&
                entry->color == 0xcc9944;
        }
      g_assert_true (gc);
    }
}

/* The legend's color of code without a status that was called by a chain of as
 * many collections. */
static FlamColor
plain_color (guint collections)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamSample sample = {
    flam_builder_thread (builder, flam_builder_process (builder, 1, 0), 1, 0),
    FLAM_NONE
  };
  const FlamFunction function = { .name =
                                      flam_builder_string (builder, "cook", -1),
                                  .module = FLAM_NONE };
  const FlamColors colors = { .mode = FLAM_PALETTE_JULIA };
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (FlamPalette) palette = NULL;
  g_autoptr (GPtrArray) legend = NULL;

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i <= collections; i++)
    sample.stack = flam_builder_stack (
        builder,
        sample.stack,
        flam_builder_frame_of_status (
            builder, &function, 0, 0, 0, i < collections ? FLAM_STATUS_GC : 0));
  flam_builder_add_sample (builder, &sample, NULL);
  profile = flam_builder_finish (builder, NULL);
  tree = tree_of (profile, selection);
  palette = flam_palette_new_for (tree, &colors, FALSE);
  legend = flam_palette_legend (palette, tree, 0, 20);
  for (guint i = 0; i < legend->len; i++)
    {
      const FlamLegendEntry *entry = legend->pdata[i];

      if (strcmp (entry->name, "Other code") == 0)
        return entry->color;
    }
  g_assert_not_reached ();
}

/* Rows have two alternating colors, and the legend has the one that occurs. */
static void
test_legend (void)
{
  g_assert_cmphex (plain_color (0), !=, plain_color (1));
  g_assert_cmphex (plain_color (0), ==, plain_color (2));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/julia", test_graphs);
  g_test_add_func ("/julia/hidden", test_hidden);
  g_test_add_func ("/julia/colors", test_colors);
  g_test_add_func ("/julia/legend", test_legend);
  return g_test_run ();
}
