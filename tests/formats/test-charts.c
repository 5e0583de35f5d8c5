/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The direction in which the weights of a format lie: a chart shows the calls
 * of a capture as its own tool draws them. */

#include "flam-core-picture.h"
#include "flam-formats.h"

typedef struct
{
  const char *capture;
  const char *chart;
} Row;

static const Row rows[] = {
  /* One call of 163 ms in a hundred samples; each lasts until the next one. */
  { "cpuprofile/call.cpuprofile",
    "all threads\n"
    "  0 main 0..163000000\n"
    "  1 work 0..163000000\n" },
  /* The collector runs within work, which continues afterwards. */
  { "cpuprofile/collector.cpuprofile",
    "all threads\n"
    "  0 running 0..400000\n"
    "  0 sleep 400000..500000\n"
    "  0 running 500000..600000\n"
    "  1 main 0..400000\n"
    "  1 (idle) 400000..500000\n"
    "  1 (garbage collector) 500000..600000\n"
    "  2 work 0..400000\n"
    "  3 (garbage collector) 100000..200000\n" },
  /* The samples of a sampled profile follow one another from its start on. */
  { "speedscope/sampled-time.speedscope.json",
    "t\n"
    "  0 main 0..70000000\n"
    "  1 work 0..50000000\n" },
};

static FlamProfile *
load (const char *name)
{
  g_autofree char *path =
      g_test_build_filename (G_TEST_DIST, "captures", name, NULL);
  g_autoptr (GError) error = NULL;
  FlamProfile *profile = flam_formats_load (path, NULL, &error);

  g_assert_no_error (error);
  return profile;
}

static void
test_chart (gconstpointer data)
{
  const Row *row = data;
  g_autoptr (FlamProfile) profile = load (row->capture);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamChart) chart = NULL;
  g_autofree char *dump = NULL;

  chart = flam_chart_new (profile, selection, NULL, NULL);
  g_assert_nonnull (chart);
  dump = flam_chart_dump (chart);
  g_assert_cmpstr (dump, ==, row->chart);
}

/* A time range inside a sample has a part of it. */
static void
test_range (void)
{
  g_autoptr (FlamProfile) profile = load ("cpuprofile/call.cpuprofile");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights = NULL;
  g_autoptr (FlamTree) tree = NULL;

  selection->from = 1000;
  selection->to = 5000;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
  g_assert_cmpint (tree->total[0], ==, 4000);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *name = g_strconcat ("/charts/", rows[i].capture, NULL);

      g_test_add_data_func (name, &rows[i], test_chart);
    }
  g_test_add_func ("/charts/range", test_range);
  return g_test_run ();
}
