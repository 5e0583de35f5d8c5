/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Labels of samples: the samples that conditions select, parts that are cut
 * out, and a label's values on top of the tree. */

#include "flam-core-query.h"

#include <string.h>

/* One stack per sample; every second one has a tenant, every third a size. */
static FlamProfile *
labelled_profile (void)
{
  static const char *const tenants[] = { "red", "green", "blue" };
  static const gint64 sizes[] = { 512, 1024, 4096, 5000 };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamThreadId thread = flam_builder_thread (builder, process, 1, 0);
  int column = (int)flam_builder_add_column (builder);

  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            column,
                            FLAM_NONE);
  for (guint i = 0; i < 60; i++)
    {
      g_autofree char *name = g_strdup_printf ("f%u", i % 7);
      g_autofree char *text =
          flam_sample_labels_number_text (sizes[i % 4], "bytes");
      FlamSampleLabel labels[2];
      FlamFunction function = { .name = flam_builder_string (builder, name, -1),
                                .module = FLAM_NONE };
      FlamFrameId frame = flam_builder_frame (
          builder, flam_builder_function (builder, &function), 0, 0, 0);
      FlamSample sample = { .thread = thread };
      gint64 weight = i;
      guint n = 0;

      if (i % 2 == 0)
        labels[n++] = (FlamSampleLabel){ "tenant", tenants[i % 3] };
      if (i % 3 == 0)
        labels[n++] = (FlamSampleLabel){ "bytes", text, sizes[i % 4], "bytes" };
      sample.labels = flam_builder_add_labels (builder, labels, n);
      sample.stack = flam_builder_stack (builder, FLAM_NONE, frame);
      flam_builder_add_sample (builder, &sample, &weight);
    }
  return flam_builder_finish (builder, NULL);
}

/* Equal labels are one set, in whatever order they are given. */
static void
test_interned (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  const FlamSampleLabel red = { "tenant", "red" };
  const FlamSampleLabel small = { "bytes", "512 B", 512, "bytes" };
  const FlamSampleLabel bare = { "bytes", "512 B" };

  g_assert_cmpuint (flam_builder_add_labels (builder, NULL, 0), ==, 0);
  g_assert_cmpuint (
      flam_builder_add_labels (builder, (FlamSampleLabel[]){ red, small }, 2),
      ==,
      1);
  g_assert_cmpuint (
      flam_builder_add_labels (builder, (FlamSampleLabel[]){ small, red }, 2),
      ==,
      1);
  g_assert_cmpuint (flam_builder_add_labels (builder, &red, 1), ==, 2);
  g_assert_cmpuint (
      flam_builder_add_labels (builder, (FlamSampleLabel[]){ red, bare }, 2),
      ==,
      3);
  g_assert_cmpuint (flam_builder_add_labels (builder, &red, 1), ==, 2);
}

static gint64
total_with (const FlamProfile *profile, const char *a, const char *b)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) cut = NULL;
  gint64 total;

  flam_selection_add_label (selection, a);
  if (b != NULL)
    flam_selection_add_label (selection, b);
  total = flam_weights_total (profile, selection);
  /* A part that was cut out has kept its labels. */
  cut = flam_cut_new (profile, selection, NULL);
  g_assert_cmpint (flam_weights_total (cut, selection), ==, total);
  return total;
}

static void
test_labels (void)
{
  g_autoptr (FlamProfile) profile = labelled_profile ();
  gint64 sum[3] = { 0 };

  for (guint i = 0; i < 60; i++)
    {
      gint64 size = ((gint64[]){ 512, 1024, 4096, 5000 })[i % 4];

      if (i % 2 == 0 && i % 3 == 0)
        sum[0] += i;
      if (i % 3 == 0 && size >= 1024 && size <= 4096)
        sum[1] += i;
      if (i % 6 == 0 && size <= 512)
        sum[2] += i;
    }
  g_assert_cmpint (total_with (profile, "tenant=red", NULL), ==, sum[0]);
  g_assert_cmpint (total_with (profile, "bytes=1kb:4kb", NULL), ==, sum[1]);
  g_assert_cmpint (total_with (profile, "bytes=1024:4096", NULL), ==, sum[1]);
  g_assert_cmpint (
      total_with (profile, "tenant=red", "bytes=:512bytes"), ==, sum[2]);
  g_assert_cmpint (total_with (profile, "bytes=4kb:1kb", NULL), ==, 0);
  for (const char *const *bad =
           (const char *const[]){
               "bytes=", "bytes=:", "bytes=1s", "byte=512", "tenant=", NULL };
       *bad != NULL;
       bad++)
    g_assert_false (flam_sample_labels_any (profile, *bad));
}

/* The values on top divide the whole, upright and inverted. */
static void
test_by_label (void)
{
  g_autoptr (FlamProfile) profile = labelled_profile ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (FlamTree) inverted = NULL;
  guint values = 0;

  selection->by = FLAM_BY_LABEL;
  selection->by_label = "tenant";
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  g_assert_cmpint (tree->total[0], ==, 59 * 60 / 2);
  for (FlamNodeId node = 1; node < tree->n; node = tree->subtree_end[node])
    {
      g_autofree char *condition =
          g_strdup_printf ("tenant=%s", flam_tree_name (tree, node));

      g_assert_true (flam_tree_is_top (tree, node));
      if (strcmp (flam_tree_name (tree, node), "[no label]") != 0)
        g_assert_cmpint (
            tree->total[node], ==, total_with (profile, condition, NULL));
      values++;
    }
  g_assert_cmpuint (values, ==, 4);
  selection->invert = TRUE;
  inverted = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  g_assert_cmpint (inverted->total[0], ==, tree->total[0]);
  g_assert_cmpuint (inverted->max_depth, ==, 2);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/labels/interned", test_interned);
  g_test_add_func ("/labels/conditions", test_labels);
  g_test_add_func ("/labels/tree", test_by_label);
  return g_test_run ();
}
