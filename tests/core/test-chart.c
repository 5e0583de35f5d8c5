/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Flame charts: from samples in time to spans; and properties that always
 * hold. */

#include "flam-fixture.h"

#include "flam-core-picture.h"

#include <math.h>
#include <string.h>

typedef struct
{
  gint64 time;
  gint64 weight;
  const char *stack; /* "A;B" */
  gint64 calls;
} Sample;

static FlamId
stack_of (FlamBuilder *builder, const char *text)
{
  g_auto (GStrv) names = g_strsplit (text, ";", -1);
  FlamStackId stack = FLAM_NONE;

  for (guint i = 0; names[i] != NULL && *names[i] != '\0'; i++)
    {
      FlamFunctionId function = flam_builder_function_named (
          builder,
          flam_builder_string (builder, names[i], -1),
          FLAM_KIND_NATIVE);

      stack = flam_builder_stack (
          builder, stack, flam_builder_frame (builder, function, 0, 0, 0));
    }
  return stack;
}

static FlamProfile *
profile_with (const Sample *samples, guint n, gboolean spans, gboolean calls)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamThreadId thread = flam_builder_thread (builder, process, 7, 0);
  guint column = flam_builder_add_column (builder);
  guint measure = flam_builder_add_measure (builder,
                                            "wall-time",
                                            "Wall time",
                                            FLAM_UNIT_NS,
                                            FLAM_MEASURE_CPU,
                                            (int)column,
                                            FLAM_NONE);

  flam_builder_add_column (builder);
  if (calls)
    flam_builder_add_standard_measure (
        builder, FLAM_STANDARD_CALLS, 1, FLAM_NONE);
  if (spans)
    flam_builder_set_spans (builder, measure, FLAM_SPANS_CALLS);
  flam_builder_set_has_times (builder);
  flam_builder_set_thread_name (builder, thread, "main");
  for (guint i = 0; i < n; i++)
    {
      FlamSample sample = { .thread = thread,
                            .stack = stack_of (builder, samples[i].stack),
                            .time = samples[i].time };

      const gint64 weights[] = { samples[i].weight, samples[i].calls };

      flam_builder_add_sample (builder, &sample, weights);
    }
  return flam_builder_finish (builder, NULL);
}

static FlamProfile *
profile_of (const Sample *samples, guint n, gboolean spans)
{
  return profile_with (samples, n, spans, FALSE);
}

static char *
chart_text (const Sample *samples, guint n, gboolean spans)
{
  g_autoptr (FlamProfile) profile = profile_of (samples, n, spans);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamChart) chart = flam_chart_new (profile, selection, NULL, NULL);

  return flam_chart_dump (chart);
}

/* Events: each call has its exact duration; the same stack again is another
 * call of the innermost function. */
static void
test_spans (void)
{
  const Sample samples[] = {
    { 0, 2, "A;B;C" }, { 2, 3, "A;B" }, { 5, 4, "A;D" },
    { 9, 1, "A;D" },   { 20, 5, "A" },
  };
  g_autofree char *text = chart_text (samples, G_N_ELEMENTS (samples), TRUE);

  g_assert_cmpstr (text,
                   ==,
                   "main (7)\n"
                   "  0 A 0..10\n"
                   "  0 A 20..25\n"
                   "  1 B 0..5\n"
                   "  1 D 5..9\n"
                   "  1 D 9..10\n"
                   "  2 C 0..2\n");
}

/* Samples: each represents the time since the previous one, or only its weight
 * in a thread that has slept. */
static void
test_samples (void)
{
  const Sample samples[] = {
    { 0, 10, "A;B" },  { 10, 10, "A;B" },  { 20, 10, "A;C" },
    { 30, 10, "A;C" }, { 100, 10, "A;C" }, { 110, 10, "A;C" },
  };
  g_autofree char *text = chart_text (samples, G_N_ELEMENTS (samples), FALSE);

  g_assert_cmpstr (text,
                   ==,
                   "main (7)\n"
                   "  0 A 0..30\n"
                   "  0 A 90..110\n"
                   "  1 B 0..10\n"
                   "  1 C 10..30\n"
                   "  1 C 90..110\n");
}

static void
test_range_and_calls (void)
{
  const Sample samples[] = {
    { 0, 4, "A;B" }, { 4, 6, "A" },    { 10, 9, "A;B" },
    { 19, 1, "A" },  { 20, 2, "A;B" },
  };
  g_autoptr (FlamProfile) profile =
      profile_of (samples, G_N_ELEMENTS (samples), TRUE);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamChart) chart = flam_chart_new (profile, selection, NULL, NULL);
  g_autoptr (FlamChartCalls) calls = NULL;
  g_autoptr (FlamChart) part = NULL;
  g_autofree char *text = NULL;
  guint32 row;

  g_assert_cmpuint (flam_chart_lane_of (chart, chart->n_spans - 1, &row),
                    ==,
                    chart->n_lanes - 1);
  g_assert_cmpuint (row, ==, 1);
  calls = flam_chart_calls_new (chart, chart->n_spans - 1);
  g_assert_cmpuint (calls->durations.n, ==, 3);
  g_assert_cmpint (calls->durations.longest, ==, 9);
  g_assert_cmpint (calls->durations.median, ==, 4);
  g_assert_cmpint (calls->durations.total, ==, 15);

  selection->from = 2;
  selection->to = 12;
  part = flam_chart_new (profile, selection, NULL, NULL);
  text = flam_chart_dump (part);
  g_assert_cmpstr (text,
                   ==,
                   "main (7)\n"
                   "  0 A 2..12\n"
                   "  1 B 2..4\n"
                   "  1 B 10..12\n");
}

/* A calls B twice without any time between; each call of B calls C at once;
 * then a B without C, for no time; and A is called again. */
static const Sample called[] = {
  { 0, 2, "A", 1 },   { 2, 0, "A;B", 1 }, { 2, 1, "A;B;C", 1 },
  { 3, 2, "A;B", 0 }, { 5, 0, "A;B", 1 }, { 5, 4, "A;B;C", 1 },
  { 9, 3, "A;B", 0 }, { 12, 1, "A", 0 },  { 13, 0, "A;B", 1 },
  { 13, 1, "A", 0 },  { 14, 6, "A", 1 },
};

static void
test_counted_calls (void)
{
  g_autoptr (FlamProfile) profile =
      profile_with (called, G_N_ELEMENTS (called), TRUE, TRUE);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamChart) chart = flam_chart_new (profile, selection, NULL, NULL);
  g_autoptr (FlamChart) hidden = NULL;
  g_autofree char *text = flam_chart_dump (chart);
  g_autofree char *without = NULL;

  g_assert_cmpstr (text,
                   ==,
                   "main (7)\n"
                   "  0 A 0..14\n"
                   "  0 A 14..20\n"
                   "  1 B 2..5\n"
                   "  1 B 5..12\n"
                   "  1 B 13..13\n"
                   "  2 C 2..3\n"
                   "  2 C 5..9\n");

  /* The calls of a hidden function are not its caller's. */
  flam_selection_add_transform (selection, FLAM_TRANSFORM_HIDE, "B", NULL);
  hidden = flam_chart_new (profile, selection, NULL, NULL);
  without = flam_chart_dump (hidden);
  g_assert_cmpstr (without,
                   ==,
                   "main (7)\n"
                   "  0 A 0..14\n"
                   "  0 A 14..20\n"
                   "  1 C 2..3\n"
                   "  1 C 5..9\n");
}

static const FlamFunctionCalls *
calls_of (const FlamCallTable *table,
          const FlamTree *tree,
          const FlamFunctionRow *rows,
          guint n,
          const char *name)
{
  for (guint i = 0; i < n; i++)
    if (strcmp (flam_functions_name (tree, rows[i].node), name) == 0)
      return &table->row[i];
  g_assert_not_reached ();
}

static void
test_call_table (void)
{
  g_autoptr (FlamProfile) profile =
      profile_with (called, G_N_ELEMENTS (called), TRUE, TRUE);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  g_autoptr (FlamTree) tree =
      flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  guint n;
  g_autofree FlamFunctionRow *rows =
      flam_functions_new_whole (tree, FLAM_SORT_SELF, &n);
  g_autoptr (FlamCallTable) table =
      flam_call_table_new (tree, selection, rows, n, NULL, NULL);
  const FlamFunctionCalls *calls = calls_of (table, tree, rows, n, "B");

  g_assert_true (table->has_durations);
  g_assert_cmpint (calls->count, ==, 3);
  g_assert_cmpint (calls->durations.n, ==, 3);
  g_assert_cmpint (calls->durations.shortest, ==, 0);
  g_assert_cmpint (calls->durations.median, ==, 3);
  g_assert_cmpint (calls->durations.p99, ==, 7);
  g_assert_cmpint (calls->durations.longest, ==, 7);
  /* 3, 7, 0: the mean is 10/3, the variance 58/3 - 100/9. */
  g_assert_cmpfloat_with_epsilon (calls->durations.mean, 10.0 / 3, 1e-9);
  g_assert_cmpfloat_with_epsilon (
      calls->durations.deviation, sqrt (74.0 / 9), 1e-9);
  calls = calls_of (table, tree, rows, n, "A");
  g_assert_cmpint (calls->count, ==, 2);
  g_assert_cmpint (calls->durations.total, ==, 20);

  /* Without a count, calls without a time between are one. */
  g_clear_pointer (&table, flam_call_table_free);
  g_clear_pointer (&tree, flam_tree_unref);
  g_clear_pointer (&weights, flam_weights_free);
  g_clear_pointer (&profile, flam_profile_unref);
  g_clear_pointer (&rows, g_free);
  profile = profile_with (called, G_N_ELEMENTS (called), TRUE, FALSE);
  weights = flam_weights_new (profile, selection, NULL, NULL);
  tree = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  rows = flam_functions_new_whole (tree, FLAM_SORT_SELF, &n);
  table = flam_call_table_new (tree, selection, rows, n, NULL, NULL);
  calls = calls_of (table, tree, rows, n, "C");
  g_assert_cmpint (calls->count, ==, 2);
}

/* The rows of one measure also find the rows of another one. */
static void
test_match (void)
{
  g_autoptr (FlamProfile) profile =
      profile_with (called, G_N_ELEMENTS (called), TRUE, TRUE);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  FlamTree *tree[2];
  FlamFunctionRow *rows[2];
  guint n[2];
  g_autofree FlamId *match = NULL;

  for (guint i = 0; i < 2; i++)
    {
      g_autoptr (FlamWeights) weights = NULL;

      selection->measure = i;
      selection->from = i == 0 ? 13 : G_MININT64; /* only A has time there */
      weights = flam_weights_new (profile, selection, NULL, NULL);
      tree[i] = flam_tree_new (weights, selection, FLAM_ORDER_NAME, NULL, NULL);
      rows[i] = flam_functions_new (tree[i], FLAM_SORT_SELF, &n[i]);
    }
  g_assert_cmpuint (n[0], ==, 1);
  g_assert_cmpuint (n[1], ==, 3);
  match = flam_functions_match (tree[1], rows[1], n[1], tree[0], rows[0], n[0]);
  for (guint i = 0; i < n[1]; i++)
    g_assert_cmpuint (match[i],
                      ==,
                      strcmp (flam_tree_name (tree[1], rows[1][i].node), "A") ==
                              0
                          ? 0
                          : FLAM_NONE);
  for (guint i = 0; i < 2; i++)
    {
      flam_tree_unref (tree[i]);
      g_free (rows[i]);
    }
}

static void
check_rows (const FlamChart *chart)
{
  for (guint l = 0; l < chart->n_lanes; l++)
    {
      const FlamChartLane *lane = &chart->lanes[l];

      if (lane->kind != FLAM_LANE_THREAD)
        continue;
      for (guint32 r = lane->first_row; r < lane->first_row + lane->n_rows; r++)
        for (guint32 i = chart->row[r]; i < chart->row[r + 1]; i++)
          {
            g_assert_cmpint (chart->spans[i].from, <=, chart->spans[i].to);
            if (i > chart->row[r])
              g_assert_cmpint (
                  chart->spans[i - 1].to, <=, chart->spans[i].from);
          }
    }
}

/* The list of all functions matches the list of each one's calls. */
static void
check_functions (const FlamChart *chart)
{
  g_autoptr (GArray) functions = flam_chart_functions (chart);
  guint n = 0;

  for (guint i = 0; i < functions->len; i++)
    {
      const FlamChartFunction *function =
          &g_array_index (functions, FlamChartFunction, i);
      g_autoptr (FlamChartCalls) calls =
          flam_chart_calls_new (chart, function->span);

      g_assert_cmpint (calls->durations.n, ==, function->durations.n);
      g_assert_cmpint (calls->durations.median, ==, function->durations.median);
      g_assert_cmpint (calls->durations.p99, ==, function->durations.p99);
      g_assert_cmpint (
          calls->durations.longest, ==, function->durations.longest);
      g_assert_cmpint (calls->durations.total, ==, function->durations.total);
      g_assert_cmpuint (calls->spans[0], ==, function->span);
      n += calls->durations.n;
    }
  for (guint l = 0; l < chart->n_lanes; l++)
    {
      const FlamChartLane *lane = &chart->lanes[l];

      if (lane->kind == FLAM_LANE_THREAD && lane->n_rows > 0)
        n -= chart->row[lane->first_row + lane->n_rows] -
             chart->row[lane->first_row + (lane->is_states ? 1 : 0)];
    }
  g_assert_cmpuint (n, ==, 0);
}

/* Whatever the view, every pixel that a span covers has a box, and boxes of a
 * row do not overlap. */
static void
check_layout (const FlamChart *chart)
{
  FlamChartView view = {
    .width = 100,
    .from = (double)chart->from,
    .to = (double)chart->to,
    .height = 1e6,
    .row_height = 10,
    .head_height = 10,
    .state_height = 4,
    .counter_height = 20,
    .min_width = g_test_rand_double_range (0, 3),
  };
  g_autoptr (FlamChartLayout) layout = NULL;

  if (g_test_rand_bit ())
    {
      view.from = g_test_rand_double_range (chart->from, chart->to - 0.5);
      view.to = view.from + 1 + g_test_rand_double_range (0, 300);
    }
  layout = flam_chart_layout_new (chart, &view);
  for (guint32 i = 1; i < layout->n; i++)
    {
      const FlamChartBox *a = &layout->boxes[i - 1];
      const FlamChartBox *b = &layout->boxes[i];

      g_assert_cmpfloat (a->y, <=, b->y);
      if (a->lane == b->lane && (float)a->y == (float)b->y)
        g_assert_cmpfloat (a->x, <=, b->x);
    }
  for (guint32 s = 0; s < chart->n_spans; s++)
    {
      double x = ((double)chart->spans[s].from - view.from) * view.width /
                 (view.to - view.from);
      guint32 row;
      guint lane = flam_chart_lane_of (chart, s, &row);
      double y = flam_chart_lane_y (chart, &view, lane, row);
      gboolean seen = x <= 0 || x >= view.width ||
                      chart->lanes[lane].kind != FLAM_LANE_THREAD;

      for (guint32 i = 0; !seen && i < layout->n; i++)
        seen = (float)y == layout->boxes[i].y &&
               x + 1.01 >= layout->boxes[i].x &&
               x <= layout->boxes[i].x + layout->boxes[i].width + 0.01;
      g_assert_true (seen);
    }
}

static void
test_properties (void)
{
  for (guint round = 0; round < 100; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamChart) chart = NULL;

      selection->by = g_test_rand_int_range (0, FLAM_N_BY);
      if (g_test_rand_bit ())
        flam_selection_add_transform (
            selection, FLAM_TRANSFORM_HIDE, "f[1-3]", NULL);
      chart = flam_chart_new (profile, selection, NULL, NULL);
      if (chart == NULL)
        continue;
      check_rows (chart);
      check_layout (chart);
      check_functions (chart);
    }
}

/* A counter's curve has its maximum in each pixel. */
static void
test_levels (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamThreadId thread = flam_builder_thread (builder, process, 7, 0);
  const gint64 counted[][2] = { { 0, 3 }, { 21, 9 }, { 22, 1 }, { 50, -4 } };
  FlamSample sample = { .thread = thread, .stack = FLAM_NONE, .time = 79 };
  gint64 weight = 79;
  guint counter = flam_builder_add_counter (builder, "c", FLAM_UNIT_COUNT);
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamChart) chart = NULL;
  g_autofree gint64 *levels = NULL;
  FlamChartView view;
  gint64 top;

  flam_builder_add_measure (builder,
                            "wall-time",
                            "Wall time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  flam_builder_set_has_times (builder);
  for (guint i = 0; i < G_N_ELEMENTS (counted); i++)
    flam_builder_add_counter_value (
        builder, counter, counted[i][0], counted[i][1]);
  flam_builder_add_sample (builder, &sample, &weight);
  profile = flam_builder_finish (builder, NULL);
  chart = flam_chart_new (profile, selection, NULL, NULL);
  flam_chart_view_init (&view, chart, 8, 10);
  view.from = 0;
  view.to = 80;
  levels = flam_chart_levels (chart, &chart->lanes[0], &view, 8, &top);
  g_assert_cmpint (top, ==, 9);
  g_assert_cmpint (levels[0], ==, 3);
  g_assert_cmpint (levels[1], ==, 3);
  g_assert_cmpint (levels[2], ==, 9);
  g_assert_cmpint (levels[3], ==, 1);
  g_assert_cmpint (levels[4], ==, 1);
  g_assert_cmpint (
      levels[5], ==, 1); /* it still had this value at the beginning */
  g_assert_cmpint (levels[7], ==, 0);
}

/* A thread of any name, with a call that Julia compiled. */
static FlamProfile *
compiling (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamFunction function = { .name = flam_builder_string (builder, "f", -1),
                            .module = FLAM_NONE };
  FlamSample sample = { .thread =
                            flam_builder_thread (builder, process, 7, 0) };
  const gint64 weight = 10;

  flam_builder_set_thread_name (builder, sample.thread, "a\u202eb");
  flam_builder_add_measure (builder,
                            "wall-time",
                            "Wall time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  flam_builder_set_has_times (builder);
  sample.stack = flam_builder_stack (
      builder,
      FLAM_NONE,
      flam_builder_frame_of_status (
          builder, &function, 0, 0, 0, FLAM_STATUS_COMPILATION));
  flam_builder_add_sample (builder, &sample, &weight);
  return flam_builder_finish (builder, NULL);
}

/* Labels are readable on the darkest color, and invisible characters are made
 * visible. */
static void
test_look (void)
{
  g_autoptr (FlamProfile) profile = compiling ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  g_autoptr (FlamTree) tree =
      flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  g_autoptr (FlamChart) chart = flam_chart_new (profile, selection, NULL, NULL);
  g_autoptr (FlamChartNodes) nodes = flam_chart_nodes_new (tree);
  g_autofree char *head = flam_chart_head_text (chart, 0, tree->total[0]);
  const FlamColors colors = { .mode = FLAM_PALETTE_JULIA };
  const FlamChartBox box = { .span = 0 };

  g_assert_true (g_str_has_prefix (head, "a\\u202eb (7) "));
  for (guint dark = 0; dark < 2; dark++)
    {
      g_autoptr (FlamPalette) palette =
          flam_palette_new_for (tree, &colors, dark);
      FlamColor color =
          flam_chart_box_color (chart, &box, nodes, palette, dark);
      FlamColorState state =
          flam_chart_box_label_state (chart, &box, nodes, palette);

      g_assert_cmphex (color, ==, 0x646464);
      g_assert_cmpfloat (
          flam_color_contrast (color, flam_palette_text (palette, state)),
          >=,
          4.5);
    }
}

/* A call's node is the one on its path, not the heaviest of its function. */
static void
test_nodes (void)
{
  const Sample samples[] = {
    { 0, 6, "A;gc" },
    { 6, 1, "A" },
    { 7, 2, "B;gc" },
    { 9, 1, "gc" },
  };
  static const struct
  {
    gboolean invert;
    gint64 total[3];
  } cases[] = { { FALSE, { 1, 6, 2 } }, { TRUE, { 9, 9, 9 } } };
  g_autoptr (FlamProfile) profile =
      profile_of (samples, G_N_ELEMENTS (samples), TRUE);

  for (guint c = 0; c < G_N_ELEMENTS (cases); c++)
    {
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamWeights) weights = NULL;
      g_autoptr (FlamTree) tree = NULL;
      g_autoptr (FlamChart) chart = NULL;
      g_autoptr (FlamChartNodes) nodes = NULL;
      guint seen = 0;

      selection->invert = cases[c].invert;
      weights = flam_weights_new (profile, selection, NULL, NULL);
      tree = flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
      chart = flam_chart_new (profile, selection, NULL, NULL);
      nodes = flam_chart_nodes_new (tree);
      for (guint s = 0; s < chart->n_spans; s++)
        {
          FlamNodeId node = flam_chart_nodes_of (nodes, chart, s);
          gint64 from = chart->spans[s].from;

          if (strcmp (flam_tree_name (tree, node), "gc") != 0)
            continue;
          g_assert_cmpint (tree->total[node],
                           ==,
                           cases[c].total[from == 9   ? 0
                                          : from == 0 ? 1
                                                      : 2]);
          seen++;
        }
      g_assert_cmpuint (seen, ==, 3);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/chart/spans", test_spans);
  g_test_add_func ("/chart/samples", test_samples);
  g_test_add_func ("/chart/range-and-calls", test_range_and_calls);
  g_test_add_func ("/chart/counted-calls", test_counted_calls);
  g_test_add_func ("/chart/call-table", test_call_table);
  g_test_add_func ("/chart/match", test_match);
  g_test_add_func ("/chart/properties", test_properties);
  g_test_add_func ("/chart/levels", test_levels);
  g_test_add_func ("/chart/look", test_look);
  g_test_add_func ("/chart/nodes", test_nodes);
  return g_test_run ();
}
