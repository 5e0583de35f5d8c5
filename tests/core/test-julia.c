/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The graphs that FlameGraphs.jl tests itself with. */

#include "flam-fixture.h"

#include "flam-dump.h"

static FlamTree *
tree_of (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
}

/* The backtraces that FlameGraphs.jl tests itself with, callers first: what
 * stands at each address, and the graph it expects of them. */
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
  FlamId process = flam_builder_process (builder, 1, 0);
  FlamId thread = flam_builder_thread (builder, process, 1, 0);

  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_SAMPLES, -1, FLAM_NONE);
  for (guint i = 0; i < n; i++)
    {
      FlamSample sample = { .thread = thread, .stack = FLAM_NONE };

      for (const guint8 *ip = stacks[i]; *ip != 0; ip++)
        {
          FlamId function = flam_builder_function_named (
              builder,
              flam_builder_string (builder, code[*ip].function, -1),
              FLAM_KIND_JIT);
          FlamId frame = flam_builder_frame (
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
  /* combine=false: what is one line is still two addresses. */
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
  /* recur=:flat: back to where the very address was. */
  check (recursive,
         FLAM_BY_ADDRESS,
         FLAM_RECURSION_COLLAPSE,
         "all self=0 total=2\n"
         "  f1@0x1 self=0 total=2\n"
         "    f1@0x7 self=0 total=1\n"
         "      f3@0x3 self=1 total=1\n"
         "    f2@0x2 self=1 total=1\n");
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/julia", test_graphs);
  return g_test_run ();
}
