/* SPDX-License-Identifier: GPL-3.0-or-later */

/* What several cores share is the same as one core's: sums of samples, trees,
 * their rows. */

#include "flam-core-picture.h"

#include <string.h>

#define FUNCTIONS 12
#define FRAMES_OF_ONE 3 /* at different addresses: they are one node */
#define THREADS 3

static void
add (gpointer data, guint i)
{
  gint *steps = data;

  g_atomic_int_add (&steps[i], (gint)i + 1);
}

static void
test_each_once (void)
{
  for (guint cores = 1; cores < 6; cores++)
    for (guint n = 0; n < 40; n++)
      {
        gint steps[40] = { 0 };

        flam_cores_set (cores, 1);
        flam_cores_run (n, add, steps);
        for (guint i = 0; i < 40; i++)
          g_assert_cmpint (steps[i], ==, i < n ? (gint)i + 1 : 0);
      }
  flam_cores_set (0, 0);
}

static void
test_number (void)
{
  flam_cores_set (4, 100);
  g_assert_cmpuint (flam_cores_for (0), ==, 1);
  g_assert_cmpuint (flam_cores_for (199), ==, 1);
  g_assert_cmpuint (flam_cores_for (200), ==, 2);
  g_assert_cmpuint (flam_cores_for (1000000), ==, 4);
  flam_cores_set (1, 0);
  g_assert_cmpuint (flam_cores_for (1000000), ==, 1);
  flam_cores_set (0, 0);
}

static FlamFrameId
add_frame (FlamBuilder *builder, guint i)
{
  g_autofree char *name = g_strdup_printf ("call_%u", i / FRAMES_OF_ONE);
  FlamFunctionId function = flam_builder_function_named (
      builder, flam_builder_string (builder, name, -1), FLAM_KIND_NATIVE);

  return flam_builder_frame (
      builder, function, 0x1000 + i, 0, 10 + i % FRAMES_OF_ONE);
}

/* `near`: how far before itself a stack's caller may be: the lower, the
 * deeper. */
static FlamProfile *
profile_new (guint n_stacks, guint near, guint32 seed)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (GRand) lot = g_rand_new_with_seed (seed);
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  g_autofree FlamStackId *stacks = g_new (FlamStackId, n_stacks);
  g_autoptr (GError) error = NULL;
  FlamProfile *profile;
  FlamFrameId frames[FUNCTIONS * FRAMES_OF_ONE];

  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  flam_builder_set_has_times (builder);
  for (guint i = 0; i < G_N_ELEMENTS (frames); i++)
    frames[i] = add_frame (builder, i);
  for (guint i = 0; i < n_stacks; i++)
    {
      guint up = (guint)g_rand_int_range (lot, 1, (gint)near + 1);

      stacks[i] = flam_builder_stack (
          builder,
          up > i ? FLAM_NONE : stacks[i - up],
          frames[g_rand_int_range (lot, 0, G_N_ELEMENTS (frames))]);
    }
  for (guint t = 0; t < THREADS; t++)
    {
      FlamThreadId thread =
          flam_builder_thread (builder, process, (gint32)t + 1, 0);

      for (guint i = 0; i < n_stacks; i++)
        {
          gint64 weight = g_rand_int_range (lot, 0, 3);
          FlamSample sample = {
            .thread = thread,
            .time = i,
            .stack = g_rand_int_range (lot, 0, 9) == 0
                         ? FLAM_NONE
                         : stacks[g_rand_int_range (lot, 0, (gint)n_stacks)]
          };

          flam_builder_add_sample (builder, &sample, &weight);
        }
    }
  profile = flam_builder_finish (builder, &error);
  g_assert_no_error (error);
  return profile;
}

typedef struct
{
  FlamWeights *weights;
  gint64 *by_thread;
  FlamTree *tree;
  FlamRows *rows;
} View;

static View
view_new (const FlamProfile *profile,
          const FlamSelection *selection,
          FlamTreeOrder order,
          gint64 less)
{
  View view = { flam_weights_new (profile, selection, NULL, NULL),
                flam_weights_by_thread (profile, selection) };

  for (FlamId s = 0; s < profile->stacks.n; s++)
    view.weights->weight[s] -= s % 3 * less;
  view.tree = flam_tree_new (view.weights, selection, order, NULL, NULL);
  view.rows = flam_rows_new (view.tree);
  return view;
}

static void
view_clear (View *view)
{
  flam_weights_free (view->weights);
  g_free (view->by_thread);
  flam_rows_unref (view->rows);
  flam_tree_unref (view->tree);
}

#define assert_same(a, b, column, n)                                           \
  g_assert_cmpmem ((a)->column,                                                \
                   (n) * sizeof *(a)->column,                                  \
                   (b)->column,                                                \
                   (n) * sizeof *(b)->column)

static void
assert_same_tree (const FlamTree *a, const FlamTree *b)
{
  g_assert_cmpuint (a->n, ==, b->n);
  g_assert_cmpuint (a->max_depth, ==, b->max_depth);
  assert_same (a, b, parent, a->n);
  assert_same (a, b, subtree_end, a->n);
  assert_same (a, b, depth, a->n);
  assert_same (a, b, key, a->n);
  g_assert_cmpint (a->line != NULL, ==, b->line != NULL);
  if (a->line != NULL)
    assert_same (a, b, line, a->n);
  assert_same (a, b, frame, a->n);
  assert_same (a, b, self, a->n);
  assert_same (a, b, total, a->n);
  assert_same (a, b, stack_node, a->profile->stacks.n);
}

static void
assert_same_rows (const FlamRows *a, const FlamRows *b)
{
  g_assert_cmpuint (a->n_rows, ==, b->n_rows);
  assert_same (a, b, row, a->n_rows + 1);
  assert_same (a, b, index, a->n);
  assert_same (a, b, peak, a->n / 64 + 1);
  g_assert_cmpuint (a->at[a->n].child, ==, b->at[b->n].child);
  for (guint32 i = 0; i < a->n; i++)
    {
      g_assert_cmpint (a->at[i].x, ==, b->at[i].x);
      g_assert_cmpint (a->at[i].total, ==, b->at[i].total);
      g_assert_cmpint (a->at[i].sum, ==, b->at[i].sum);
      g_assert_cmpuint (a->at[i].node, ==, b->at[i].node);
      g_assert_cmpuint (a->at[i].child, ==, b->at[i].child);
    }
}

static void
assert_cores_agree (const FlamProfile *profile,
                    const FlamSelection *selection,
                    FlamTreeOrder order,
                    gint64 less)
{
  View one, many;

  flam_cores_set (1, 1);
  one = view_new (profile, selection, order, less);
  for (guint cores = 2; cores < 6; cores += 3)
    {
      flam_cores_set (cores, 1);
      many = view_new (profile, selection, order, less);
      g_assert_cmpint (one.weights->total, ==, many.weights->total);
      g_assert_cmpint (one.weights->no_stack, ==, many.weights->no_stack);
      assert_same (one.weights, many.weights, weight, profile->stacks.n);
      assert_same (&one, &many, by_thread, profile->threads.n);
      assert_same_tree (one.tree, many.tree);
      assert_same_rows (one.rows, many.rows);
      view_clear (&many);
    }
  view_clear (&one);
  flam_cores_set (0, 0);
}

static void
assert_transforms_agree (const FlamProfile *profile, FlamBy by, gint64 less)
{
  static const struct
  {
    FlamTransformKind kind;
    const char *pattern;
  } transforms[] = {
    { FLAM_TRANSFORM_HIDE, "_[13]$" },
    { FLAM_TRANSFORM_FOCUS, "_2" },
    { FLAM_TRANSFORM_IGNORE, "_3" },
    { FLAM_TRANSFORM_COLLAPSE, "_4" },
  };
  g_autoptr (FlamSelection) plain = flam_selection_new ();

  plain->by = by;
  assert_cores_agree (profile, plain, FLAM_ORDER_TOTAL, less);
  assert_cores_agree (profile, plain, FLAM_ORDER_NAME, less);
  for (guint i = 0; i < G_N_ELEMENTS (transforms); i++)
    {
      g_autoptr (FlamSelection) selection = flam_selection_copy (plain);

      flam_selection_add_transform (
          selection, transforms[i].kind, transforms[i].pattern, NULL);
      assert_cores_agree (profile, selection, FLAM_ORDER_TOTAL, less);
    }
}

/* --- samples that several cores add --------------------------------------- */

#define N_ADDED 1000
#define STEPS 10

typedef struct
{
  FlamBuilder *builder;
  FlamSample samples[N_ADDED];
  gint64 weights[N_ADDED];
  FlamId first;
} Adding;

static void
set_some (gpointer data, guint step)
{
  Adding *adding = data;

  for (guint i = step * N_ADDED / STEPS; i < (step + 1) * N_ADDED / STEPS; i++)
    flam_builder_set_sample (adding->builder,
                             adding->first + i,
                             &adding->samples[i],
                             &adding->weights[i]);
}

static char *
add_samples (gboolean at_once, guint16 event)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autofree Adding *adding = g_new0 (Adding, 1);
  FlamThreadId thread = flam_builder_lone_thread (builder);
  FlamStackId stack =
      flam_builder_stack (builder, FLAM_NONE, add_frame (builder, 0));
  FlamSample before = { .thread = thread, .stack = stack, .state = 1 };

  flam_builder_add_standard_measure (builder,
                                     FLAM_STANDARD_WALL_TIME,
                                     (int)flam_builder_add_column (builder),
                                     0);
  flam_builder_set_has_times (builder);
  flam_builder_add_sample (builder, &before, &(gint64){ 7 });
  for (guint i = 0; i < N_ADDED; i++)
    {
      adding->samples[i] =
          (FlamSample){ .thread = thread,
                        .stack = i % 3 == 0 ? FLAM_NONE : stack,
                        .time = i * 5,
                        .event = event };
      adding->weights[i] = i + 1;
    }
  adding->builder = builder;
  if (at_once)
    {
      adding->first =
          flam_builder_push_samples (builder, N_ADDED, &adding->samples[0]);
      flam_cores_run (STEPS, set_some, adding);
    }
  for (guint i = 0; i < N_ADDED && !at_once; i++)
    flam_builder_add_sample (builder, &adding->samples[i], &adding->weights[i]);
  before.time = N_ADDED * 5;
  flam_builder_add_sample (builder, &before, &(gint64){ 9 });
  profile = flam_builder_finish (builder, NULL);
  return flam_dump_profile (profile);
}

static void
test_samples (void)
{
  for (guint16 event = 0; event < 2; event++)
    {
      g_autofree char *singly = add_samples (FALSE, event);
      g_autofree char *together = NULL;

      flam_cores_set (4, 1);
      together = add_samples (TRUE, event);
      flam_cores_set (0, 0);
      g_assert_cmpstr (together, ==, singly);
    }
}

static void
test_views (void)
{
  static const guint shapes[][2] = { { 1, 1 },     { 7, 3 },     { 400, 1 },
                                     { 400, 400 }, { 3000, 30 }, { 3000, 4 },
                                     { 3000, 500 } };

  for (guint i = 0; i < G_N_ELEMENTS (shapes); i++)
    {
      g_autoptr (FlamProfile) profile =
          profile_new (shapes[i][0], shapes[i][1], 5 + i);

      /* Weights below 0, as of a difference: many add up to nothing. */
      for (gint64 less = 0; less < 2; less++)
        {
          assert_transforms_agree (profile, FLAM_BY_FUNCTION, less);
          assert_transforms_agree (profile, FLAM_BY_LINE, less);
          assert_transforms_agree (profile, FLAM_BY_ADDRESS, less);
        }
    }
}

/* A node that its callers leave no room for is cut: also the nodes after it
 * are where they are on one core. */
static void
test_cut_rows (void)
{
  g_autoptr (FlamProfile) profile = profile_new (2000, 20, 3);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  View view = view_new (profile, selection, FLAM_ORDER_TOTAL, 0);
  g_autoptr (FlamRows) one = NULL;

  view.tree->total[0] = 100;
  view.tree->total[1] = G_MAXINT64;
  view.tree->total[view.tree->n / 2] = G_MAXINT64 - 5;
  view.tree->total[view.tree->n - 1] = G_MININT64;
  flam_cores_set (1, 1);
  one = flam_rows_new (view.tree);
  for (guint cores = 2; cores < 6; cores++)
    {
      g_autoptr (FlamRows) many = NULL;

      flam_cores_set (cores, 1);
      many = flam_rows_new (view.tree);
      assert_same_rows (one, many);
    }
  flam_cores_set (0, 0);
  view_clear (&view);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/cores/each-once", test_each_once);
  g_test_add_func ("/cores/number", test_number);
  g_test_add_func ("/cores/samples", test_samples);
  g_test_add_func ("/cores/views", test_views);
  g_test_add_func ("/cores/cut-rows", test_cut_rows);
  return g_test_run ();
}
