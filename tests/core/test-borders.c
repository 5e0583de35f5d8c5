/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Literal values at the borders: ranges that begin or end exactly at a sample,
 * spans of 1 ns, blocks released at the end of a range, boxes exactly as wide
 * as the limit, figures just below the next unit. */
#include "flam-fixture.h"

#include "flam-core-picture.h"
#include "flam-test-trees.h"

static FlamId
stack_of (FlamBuilder *builder, const char *name)
{
  FlamFunctionId function = flam_builder_function_named (
      builder, flam_builder_string (builder, name, -1), FLAM_KIND_NATIVE);

  return flam_builder_stack (
      builder, FLAM_NONE, flam_builder_frame (builder, function, 0, 0, 0));
}

static FlamProfile *
finish (FlamBuilder *builder)
{
  g_autoptr (GError) error = NULL;
  FlamProfile *profile = flam_builder_finish (builder, &error);

  g_assert_no_error (error);
  return profile;
}

static gint64
weigh (const FlamProfile *profile, const FlamSelection *selection)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  g_assert_cmpint (weights->total, ==, flam_weights_total (profile, selection));
  return weights->total;
}

/* --- samples ----------------------------------------------------------------
 */

/* At 0, 10, 20 and 30 ns, with weights 1, 2, 4 and 8; the fractions are
 * tenths. */
static FlamProfile *
four_samples (gboolean spans)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamSample sample = { 0 };
  gint64 weight = 1;

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "time",
                            "Time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  if (spans)
    flam_builder_set_spans (builder, 0, FLAM_SPANS_CALLS);
  else
    flam_builder_set_denominator (builder, 0, 10);
  sample.thread = flam_builder_lone_thread (builder);
  sample.stack = stack_of (builder, "f");
  for (; sample.time <= 30; sample.time += 10, weight *= 2)
    flam_builder_add_sample (builder, &sample, &weight);
  flam_builder_facts (builder)->duration_ns = 40;
  return finish (builder);
}

static void
test_sample_ranges (void)
{
  static const struct
  {
    gint64 from, to, weight, count;
  } rows[] = {
    { G_MININT64, G_MAXINT64, 15, 40 },
    { 0, 40, 15, 40 },
    { 0, 30, 7, 30 },
    { 0, 31, 15, 40 },
    { 10, 20, 2, 10 },
    { 10, 21, 6, 20 },
    { 11, 20, 0, 0 },
    { 11, 21, 4, 10 },
    { 30, 31, 8, 10 },
    { 31, 40, 0, 0 },
    { 0, 0, 0, 0 },
    { 0, 1, 1, 10 },
  };
  g_autoptr (FlamProfile) profile = four_samples (FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    for (guint by_thread = 0; by_thread < 2; by_thread++)
      {
        g_autoptr (FlamSelection) selection = flam_selection_new ();

        g_test_message ("%u, by thread %u", i, by_thread);
        selection->from = rows[i].from;
        selection->to = rows[i].to;
        selection->by = by_thread ? FLAM_BY_THREAD : FLAM_BY_FUNCTION;
        g_assert_cmpint (weigh (profile, selection), ==, rows[i].weight);
        selection->count = TRUE;
        g_assert_cmpint (weigh (profile, selection), ==, rows[i].count);
      }
}

/* [0, 1), [10, 12), [20, 24) and [30, 38). */
static void
test_spans (void)
{
  static const struct
  {
    gint64 from, to, weight;
  } rows[] = {
    { G_MININT64, G_MAXINT64, 15 },
    { 0, 1, 1 },
    { 1, 2, 0 },
    { 10, 11, 1 },
    { 11, 12, 1 },
    { 12, 13, 0 },
    { 9, 13, 2 },
    { 11, 21, 2 },
    { 23, 31, 2 },
    { 31, 37, 6 },
    { 37, 39, 1 },
    { 38, 39, 0 },
    { 5, G_MAXINT64, 14 },
  };
  g_autoptr (FlamProfile) profile = four_samples (TRUE);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamSelection) selection = flam_selection_new ();

      g_test_message ("%u", i);
      selection->from = rows[i].from;
      selection->to = rows[i].to;
      g_assert_cmpint (weigh (profile, selection), ==, rows[i].weight);
    }
}

static void
test_order (void)
{
  static const gint64 times[] = { 5,          -1,   G_MAXINT64, 0,
                                  G_MININT64, -256, 255,        256 };
  static const guint32 wanted[] = { 4, 5, 1, 3, 0, 6, 7, 2 };
  guint32 order[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

  g_assert_true (flam_order_by_time (order, G_N_ELEMENTS (order), times));
  g_assert_cmpmem (order, sizeof order, wanted, sizeof wanted);
}

/* --- memory -----------------------------------------------------------------
 */

static void
add_block (FlamBuilder *builder,
           gint64 time,
           gint64 freed_at,
           gint64 size,
           guint distance)
{
  FlamAllocation allocation = {
    .time = time,
    .freed_at = freed_at,
    .thread = FLAM_NONE,
    .stack = stack_of (builder, "f"),
    .size = size,
    .count = 1,
    .at_peak = -1,
    .distance = (guint16)distance,
  };

  flam_builder_add_allocation (builder, &allocation);
}

/* 100 bytes live in [10, 20), 30 in [20, 30), 1 from 30 on. */
static FlamProfile *
three_blocks (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();

  flam_builder_set_origin (builder, 0);
  flam_builder_add_allocation_measures (builder);
  add_block (builder, 10, 20, 100, 0);
  add_block (builder, 20, 30, 30, 3);
  add_block (builder, 30, FLAM_NEVER, 1, G_MAXUINT16);
  flam_builder_facts (builder)->duration_ns = 50;
  return finish (builder);
}

static void
test_block_ranges (void)
{
  static const struct
  {
    const char *measure;
    gint64 from, to, value;
  } rows[] = {
    { "allocated", 0, 10, 0 },    { "allocated", 0, 11, 100 },
    { "allocated", 10, 20, 100 }, { "allocated", 10, 21, 130 },
    { "allocated", 11, 31, 31 },  { "allocated", 0, 50, 131 },
    { "leaked", 0, 20, 100 },     { "leaked", 0, 19, 100 },
    { "leaked", 0, 21, 30 },      { "leaked", 20, 30, 30 },
    { "leaked", 20, 31, 1 },      { "leaked", 0, 50, 1 },
    { "peak", 0, 10, 0 },         { "peak", 0, 11, 100 },
    { "peak", 1, 10, 0 },         { "peak", 19, 25, 100 },
    { "peak", 20, 25, 30 },       { "peak", 21, 30, 30 },
    { "peak", 29, 50, 30 },       { "peak", 30, 40, 1 },
    { "temporary", 0, 50, 1 },    { "temporary", 11, 50, 0 },
  };
  g_autoptr (FlamProfile) profile = three_blocks ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamSelection) selection = flam_selection_new ();

      g_test_message ("%u", i);
      selection->measure =
          (guint)flam_profile_find_measure (profile, rows[i].measure);
      selection->from = rows[i].from;
      selection->to = rows[i].to;
      g_assert_cmpint (weigh (profile, selection), ==, rows[i].value);
    }
}

static void
test_temporary_distances (void)
{
  static const struct
  {
    int distance;
    gint64 blocks;
  } rows[] = { { 0, 1 }, { 2, 1 }, { 3, 2 }, { 65534, 2 } };
  g_autoptr (FlamProfile) profile = three_blocks ();

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamSelection) selection = flam_selection_new ();

      selection->measure =
          (guint)flam_profile_find_measure (profile, "temporary");
      selection->temporary_distance = rows[i].distance;
      g_assert_cmpint (weigh (profile, selection), ==, rows[i].blocks);
    }
}

/* Each size is in the bin that flam_memory_summary_bin_range() gives. */
static void
test_bins_of_sizes (void)
{
  static const struct
  {
    gint64 size;
    guint bin;
  } rows[] = {
    { 0, 0 },     { 1, 1 },
    { 2, 2 },     { 3, 2 },
    { 4, 3 },     { 1023, 10 },
    { 1024, 11 }, { 1025, 11 },
    { 4096, 13 }, { (gint64)1 << 40, 41 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamBuilder) builder = flam_builder_new ();
      g_autoptr (FlamProfile) profile = NULL;
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamMemorySummary) memory = NULL;

      flam_builder_add_allocation_measures (builder);
      add_block (builder, 0, FLAM_NEVER, rows[i].size, 0);
      profile = finish (builder);
      memory = flam_memory_summary_new (
          profile, selection, NULL, NULL, 0, NULL, NULL);
      g_assert_cmpuint (memory->first_bin, ==, rows[i].bin);
      g_assert_cmpuint (memory->end_bin, ==, rows[i].bin + 1);
    }
}

/* --- the ledger -------------------------------------------------------------
 */

static FlamProfile *
end_ledger (FlamBuilder *builder, FlamLedger *ledger, gint64 ns)
{
  g_autoptr (GError) error = NULL;

  g_assert_true (flam_ledger_finish (ledger, ns, &error));
  g_assert_no_error (error);
  flam_builder_fold_memory (builder);
  return finish (builder);
}

static FlamBuilder *
begin_ledger (guint32 each, FlamLedger **ledger)
{
  FlamBuilder *builder = flam_builder_new ();
  FlamSiteKey key = { .size = 8,
                      .stack = stack_of (builder, "f"),
                      .thread = FLAM_NONE,
                      .each = each,
                      .allocator = FLAM_ALLOCATOR_MALLOC };

  flam_builder_set_has_times (builder);
  flam_builder_set_origin (builder, 0);
  flam_builder_add_allocation_measures (builder);
  *ledger = flam_ledger_new (builder);
  flam_ledger_add_site (*ledger, &key);
  return builder;
}

static gint64
total_of (const FlamProfile *profile, const char *measure)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  selection->measure = (guint)flam_profile_find_measure (profile, measure);
  return weigh (profile, selection);
}

/* Three blocks that represent 5 blocks of 8 bytes each; one is released at
 * once, one in the next tick. */
static void
test_sampled_blocks (void)
{
  g_autoptr (FlamLedger) ledger = NULL;
  g_autoptr (FlamBuilder) builder = begin_ledger (5, &ledger);
  g_autoptr (FlamProfile) profile = NULL;

  flam_ledger_set_time (ledger, 10);
  flam_ledger_allocate (ledger, 0);
  flam_ledger_allocate (ledger, 0);
  flam_ledger_allocate (ledger, 0);
  g_assert_true (flam_ledger_release_youngest (ledger, 0, TRUE));
  flam_ledger_set_time (ledger, 20);
  g_assert_true (flam_ledger_release_youngest (ledger, 0, FALSE));
  profile = end_ledger (builder, ledger, 30);
  g_assert_cmpint (total_of (profile, "allocations"), ==, 15);
  g_assert_cmpint (total_of (profile, "allocated"), ==, 120);
  g_assert_cmpint (total_of (profile, "temporary"), ==, 5);
  g_assert_cmpint (total_of (profile, "leaked-blocks"), ==, 5);
  g_assert_cmpint (total_of (profile, "leaked"), ==, 40);
  g_assert_cmpint (total_of (profile, "peak-blocks"), ==, 15);
  g_assert_cmpint (total_of (profile, "peak"), ==, 120);
}

/* The last event is the highest: no later event ends the rise. */
static void
test_peak_at_the_end (void)
{
  g_autoptr (FlamLedger) ledger = NULL;
  g_autoptr (FlamBuilder) builder = begin_ledger (1, &ledger);
  g_autoptr (FlamProfile) profile = NULL;

  flam_ledger_set_time (ledger, 10);
  flam_ledger_allocate (ledger, 0);
  g_assert_true (flam_ledger_release_youngest (ledger, 0, FALSE));
  flam_ledger_set_time (ledger, 20);
  flam_ledger_allocate (ledger, 0);
  flam_ledger_allocate (ledger, 0);
  flam_ledger_allocate (ledger, 0);
  profile = end_ledger (builder, ledger, 20);
  g_assert_cmpint (total_of (profile, "peak-blocks"), ==, 3);
  g_assert_cmpint (profile->allocations.peak_time, ==, 20);
}

/* A failed malloc() and free (NULL) are not events. */
static void
test_no_address (void)
{
  g_autoptr (FlamLedger) ledger = NULL;
  g_autoptr (FlamBuilder) builder = begin_ledger (1, &ledger);
  g_autoptr (FlamProfile) profile = NULL;

  flam_ledger_set_time (ledger, 10);
  flam_ledger_allocate_at (ledger, 0, 0);
  flam_ledger_allocate_at (ledger, 0, 64);
  g_assert_cmpuint (flam_ledger_release_at (ledger, 0, -1), ==, FLAM_NONE);
  profile = end_ledger (builder, ledger, 20);
  g_assert_cmpint (total_of (profile, "allocations"), ==, 1);
  g_assert_cmpint (total_of (profile, "leaked-blocks"), ==, 1);
}

/* --- the timeline -----------------------------------------------------------
 */

static char *
row_text (const FlamTimeline *timeline, const gint64 *row)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < timeline->n; i++)
    g_string_append_printf (
        text, "%s%" G_GINT64_FORMAT, i > 0 ? " " : "", row[i]);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* A sample of 18 ns at 20, in a thread whose previous sample is at 4, is spread
 * over the 16 ns after that one: over 5 to 20, both inclusive. Samples of
 * another thread, 1 ns apart, make the buckets 4 ns. */
static void
test_stretch (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = { 0 };
  gint64 weight = 0;
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTimeline) timeline = NULL;
  g_autofree char *text = NULL;

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  sample.stack = stack_of (builder, "f");
  sample.thread = flam_builder_thread (builder, process, 1, 0);
  for (; sample.time < 24; sample.time++)
    flam_builder_add_sample (builder, &sample, &weight);
  sample.thread = flam_builder_thread (builder, process, 2, 0);
  sample.time = 4;
  flam_builder_add_sample (builder, &sample, &weight);
  sample.time = 20;
  weight = 18;
  flam_builder_add_sample (builder, &sample, &weight);
  profile = finish (builder);
  timeline = flam_timeline_new (
      profile, selection, NULL, 100, FLAM_TIMELINE_ALL, NULL, NULL);
  text = row_text (timeline, flam_timeline_row (timeline, 0));
  g_assert_cmpstr (text, ==, "0 3 4 5 4 2");
}

/* A value counts from its own time on: that at 4 is in the bucket [4, 6). */
static void
test_counter (void)
{
  static const gint64 values[][2] = { { 0, 5 }, { 3, 9 }, { 4, 2 }, { 9, 7 } };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTimeline) timeline = NULL;
  guint counter = flam_builder_add_counter (builder, "rss", FLAM_UNIT_BYTES);
  g_autofree char *text = NULL;

  flam_builder_set_origin (builder, 0);
  flam_builder_add_allocation_measures (builder);
  add_block (builder, 0, FLAM_NEVER, 1, 0);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++)
    flam_builder_add_counter_value (
        builder, counter, values[i][0], values[i][1]);
  flam_builder_facts (builder)->duration_ns = 10;
  profile = finish (builder);
  timeline = flam_timeline_new (
      profile, selection, NULL, 5, FLAM_TIMELINE_ALL, NULL, NULL);
  text = row_text (timeline, timeline->counters[0].value);
  g_assert_cmpstr (text, ==, "5 9 2 2 7");
  g_assert_cmpint (timeline->counters[0].top, ==, 9);
}

/* Never more buckets than requested; the end is that of the last event,
 * including releases. */
static void
test_buckets (void)
{
  static const struct
  {
    gint64 freed_at;
    guint wanted, n;
    gint64 end;
  } rows[] = {
    { 3, 4, 4, 4 },       { 4, 4, 3, 5 },       { 7, 4, 4, 8 }, { 8, 4, 3, 9 },
    { 1023, 4, 4, 1024 }, { 1024, 4, 3, 1025 }, { 5, 1, 1, 6 }, { 5, 6, 6, 6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamBuilder) builder = flam_builder_new ();
      g_autoptr (FlamProfile) profile = NULL;
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamTimeline) timeline = NULL;

      g_test_message ("%u", i);
      flam_builder_set_origin (builder, 0);
      flam_builder_add_allocation_measures (builder);
      add_block (builder, 0, rows[i].freed_at, 1, 0);
      profile = finish (builder);
      timeline = flam_timeline_new (profile,
                                    selection,
                                    NULL,
                                    rows[i].wanted,
                                    FLAM_TIMELINE_ALL,
                                    NULL,
                                    NULL);
      g_assert_cmpint (timeline->end, ==, rows[i].end);
      g_assert_cmpuint (timeline->n, ==, rows[i].n);
    }
}

/* --- the layout -------------------------------------------------------------
 */

/* 100 pixels of 10 each: at 0.5 pixels, 5 is the smallest weight that is
 * drawn. */
static void
test_least_width (void)
{
  static const struct
  {
    const char *text, *layout;
  } rows[] = {
    { "a 995\nb 5\n",
      "x=0 y=0 width=100 node=0 all\n"
      "x=0 y=10 width=99.5 node=1 a\n"
      "x=99.5 y=10 width=0.5 node=2 b\n" },
    { "a 996\nb 4\n",
      "x=0 y=0 width=100 node=0 all\n"
      "x=0 y=10 width=99.6 node=1 a\n" },
    { "a 995\nb 3\nc 2\n",
      "x=0 y=0 width=100 node=0 all\n"
      "x=0 y=10 width=99.5 node=1 a\n"
      "x=99.5 y=10 width=0.5 node=2 strip=2 b\n" },
    { "a 991\nb 4\nc 4\nd 1\n",
      "x=0 y=0 width=100 node=0 all\n"
      "x=0 y=10 width=99.1 node=1 a\n"
      "x=99.1 y=10 width=0.9 node=2 strip=3 b\n" },
    { "a 996\nb 2\nc 2\n",
      "x=0 y=0 width=100 node=0 all\n"
      "x=0 y=10 width=99.6 node=1 a\n" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamTree) tree =
          flam_test_tree (rows[i].text, FLAM_ORDER_NAME);
      g_autoptr (FlamRows) cells = flam_rows_new (tree);
      FlamViewport viewport = flam_test_viewport (tree, 100, 100);

      g_test_message ("%u", i);
      viewport.min_width = 0.5;
      flam_test_assert_layout (cells, &viewport, rows[i].layout);
    }
}

/* A strip of ten nodes of 4 each; the view ends within the third. */
static void
test_hidden_in_view (void)
{
  g_autoptr (GString) text = g_string_new ("a 960\n");
  g_autoptr (FlamTree) tree = NULL;
  g_autoptr (FlamRows) rows = NULL;
  g_autoptr (FlamLayout) layout = NULL;
  FlamViewport viewport;

  for (guint i = 0; i < 10; i++)
    g_string_append_printf (text, "b%02u 4\n", i);
  tree = flam_test_tree (text->str, FLAM_ORDER_NAME);
  rows = flam_rows_new (tree);
  viewport = flam_test_viewport (tree, 97, 100);
  viewport.to = 970;
  layout = flam_layout_new (rows, &viewport);
  g_assert_cmpint (layout->hidden, ==, 10);
  g_assert_cmpint (layout->in_view, ==, 970);
}

/* A box includes its left edge; its right edge belongs to the next one. */
static void
test_hit (void)
{
  static const struct
  {
    double x, y;
    int node; /* -1: none */
  } rows[] = {
    { 0, 0, 0 },    { 799.9, 0, 0 }, { 800, 0, -1 },   { -0.1, 0, -1 },
    { 0, 9.9, 0 },  { 0, 10, 1 },    { 0, 20, 2 },     { 599.9, 20, 2 },
    { 600, 20, 4 }, { 0, 30, 3 },    { 499.9, 30, 3 }, { 500, 30, -1 },
    { 0, 39.9, 3 }, { 0, 40, -1 },
  };
  g_autoptr (FlamTree) tree =
      flam_test_tree ("main;a;c 5\nmain;a 1\nmain;b 2\n", FLAM_ORDER_TOTAL);
  g_autoptr (FlamRows) cells = flam_rows_new (tree);
  FlamViewport viewport = flam_test_viewport (tree, 800, 100);
  g_autoptr (FlamLayout) layout = flam_layout_new (cells, &viewport);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      const FlamBox *box = flam_layout_hit (layout, rows[i].x, rows[i].y);

      g_test_message ("%u", i);
      g_assert_cmpint (box != NULL ? (int)box->node : -1, ==, rows[i].node);
    }
}

/* --- figures ----------------------------------------------------------------
 */

#define NBSP "\u00a0"
#define THIN "\u202f"

static void
test_percents (void)
{
  static const struct
  {
    gint64 part, whole;
    const char *text;
  } rows[] = {
    { 0, 5, "0" NBSP "%" },
    { 0, 0, "0" NBSP "%" },
    { 1, 1001, "<" NBSP "0.1" NBSP "%" },
    { 99, 100000, "<" NBSP "0.1" NBSP "%" },
    { 60, 100000, "<" NBSP "0.1" NBSP "%" },
    { 1, 1000, "0.1" NBSP "%" },
    { 149, 100000, "0.1" NBSP "%" },
    { 999, 1000, "99.9" NBSP "%" },
    { 1, 1, "100.0" NBSP "%" },
    { 3, 2, "150.0" NBSP "%" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = flam_format_percent (rows[i].part, rows[i].whole);

      g_assert_cmpstr (text, ==, rows[i].text);
    }
}

/* From right to left, marks keep the number and its sign together. */
static void
test_marked_percents (void)
{
  g_autofree char *half = NULL, *few = NULL, *less = NULL, *same = NULL;

  flam_format_mark_figures (TRUE);
  half = flam_format_percent (-1, 2);
  few = flam_format_percent (1, 1001);
  less = flam_format_change (-3, "3" NBSP "s");
  flam_format_mark_figures (FALSE);
  same = flam_format_change (0, "0" NBSP "s");
  g_assert_cmpstr (half, ==, "\u200e−50.0" NBSP "%\u200e");
  g_assert_cmpstr (few, ==, "\u200e<" NBSP "0.1" NBSP "%\u200e");
  g_assert_cmpstr (less, ==, "\u200e−3" NBSP "s\u200e");
  g_assert_cmpstr (same, ==, "0" NBSP "s");
}

static void
test_values (void)
{
  static const struct
  {
    gint64 value;
    FlamUnit unit;
    const char *text;
  } rows[] = {
    { 999, FLAM_UNIT_NS, "999" NBSP "ns" },
    { 1000, FLAM_UNIT_NS, "1.00" NBSP "µs" },
    { 9994, FLAM_UNIT_NS, "9.99" NBSP "µs" },
    { 9996, FLAM_UNIT_NS, "10.0" NBSP "µs" },
    { 99940, FLAM_UNIT_NS, "99.9" NBSP "µs" },
    { 99960, FLAM_UNIT_NS, "100" NBSP "µs" },
    { 999499, FLAM_UNIT_NS, "999" NBSP "µs" },
    { 999500, FLAM_UNIT_NS, "1.00" NBSP "ms" },
    { 999600000, FLAM_UNIT_NS, "1.00" NBSP "s" },
    { 599000000000, FLAM_UNIT_NS, "599" NBSP "s" },
    { 600000000000, FLAM_UNIT_NS, "10.0" NBSP "min" },
    { 999, FLAM_UNIT_BYTES, "999" NBSP "B" },
    { 1023, FLAM_UNIT_BYTES, "1.02" NBSP "kB" },
    { 999700, FLAM_UNIT_BYTES, "1.00" NBSP "MB" },
    { -1500, FLAM_UNIT_BYTES, "−1.50" NBSP "kB" },
    { 0, FLAM_UNIT_COUNT, "0" },
    { 999, FLAM_UNIT_COUNT, "999" },
    { 1000, FLAM_UNIT_COUNT, "1" THIN "000" },
    { 12345, FLAM_UNIT_COUNT, "12" THIN "345" },
    { 1234567, FLAM_UNIT_COUNT, "1" THIN "234" THIN "567" },
    { -1000, FLAM_UNIT_COUNT, "−1" THIN "000" },
    { G_MININT64,
      FLAM_UNIT_COUNT,
      "−9" THIN "223" THIN "372" THIN "036" THIN "854" THIN "775" THIN "808" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autofree char *text = flam_format_value (rows[i].value, rows[i].unit);

      g_assert_cmpstr (text, ==, rows[i].text);
    }
}

/* --- names ------------------------------------------------------------------
 */

/* Functions with the same name are one row of a history, whatever their
 * modules. */
static void
test_figures (void)
{
  g_autoptr (FlamProfile) profile =
      flam_test_profile ("main;work@/lib/a.so;leaf 5\n"
                         "main;work@/lib/b.so 2\n"
                         "main;work@/lib/a.so 1\n");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  const FlamFiguresKeep keep = { 0, TRUE };
  g_autoptr (FlamFigures) figures =
      flam_figures_new ("x", profile, selection, &keep, NULL, NULL);
  const FlamFiguresMeasure *measure = flam_figures_selected (figures);
  const FlamFiguresFunction *work =
      flam_figures_find_function (measure, "work");

  g_assert_cmpint (measure->total, ==, 8);
  g_assert_nonnull (work);
  g_assert_cmpint (work->self, ==, 3);
  g_assert_cmpint (work->total, ==, 8);
  g_assert_null (flam_figures_find_function (measure, "wor"));
}

/* Two nodes with the same path divide the other side's value by their own
 * weights: 3 / 4 and 1 / 4 of 80. So each has twice its previous value. */
static void
test_siblings (void)
{
  g_autoptr (FlamTree) base = flam_test_tree (
      "main;work@/lib/a.so 30\nmain;work@/lib/b.so 10\n", FLAM_ORDER_TOTAL);
  g_autoptr (FlamTree) fresh =
      flam_test_tree ("main;work 80\n", FLAM_ORDER_TOTAL);
  g_autoptr (FlamTree) both =
      flam_diff_tree (base, fresh, FLAM_DIFF_BASE, FALSE, FLAM_DIFF_UNSCALED);
  static const gint64 was[] = { 40, 40, 30, 10 };

  g_assert_cmpuint (both->n, ==, 4);
  for (guint i = 0; i < 4; i++)
    {
      g_assert_cmpint (both->change->base[i], ==, was[i]);
      g_assert_cmpint (both->change->delta[i], ==, was[i]);
    }
}

static void
test_equal_selections (void)
{
  for (guint field = 0; field < 15; field++)
    {
      g_autoptr (FlamSelection) a = flam_selection_new ();
      g_autoptr (FlamSelection) b = flam_selection_copy (a);

      g_test_message ("%u", field);
      g_assert_true (flam_selection_equal (a, b));
      b->measure += field == 0;
      b->count ^= field == 1;
      b->from += field == 2;
      b->to -= field == 3;
      b->states ^= field == 4;
      b->recursion += field == 5;
      b->by += field == 6;
      b->allocators += field == 7;
      b->temporary_distance += field == 8;
      b->invert ^= field == 9;
      b->no_native ^= field == 10;
      b->no_inlines ^= field == 11;
      b->no_repl ^= field == 12;
      if (field == 13)
        flam_selection_add_thread (b, 0);
      if (field == 14)
        flam_selection_add_label (b, "a=b");
      g_assert_false (flam_selection_equal (a, b));
    }
}

static gboolean
has_text (const FlamBuilder *builder, const char *part)
{
  const FlamStrings *strings =
      &flam_builder_tables ((FlamBuilder *)builder)->strings;

  for (FlamId i = 0; i < strings->offsets.n; i++)
    if (strstr (flam_strings_get (strings, i), part) != NULL)
      return TRUE;
  return FALSE;
}

/* The degrees of shortening of names and paths. */
static void
test_anonymous (void)
{
  static const struct
  {
    FlamAnonymize degree;
    gboolean name, home;
  } rows[] = { { FLAM_ANONYMIZE_PATHS, TRUE, FALSE },
               { FLAM_ANONYMIZE_NAMES, FALSE, FALSE } };
  static const char *const words[] = { "ann", NULL };

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      g_autoptr (FlamProfile) profile =
          flam_test_profile ("secret_name@/home/ann/bin/prog 1\n");
      g_autoptr (FlamBuilder) builder = flam_builder_new_copy (profile);

      g_assert_true (has_text (builder, "secret_name"));
      g_assert_true (has_text (builder, "/home/ann"));
      flam_builder_anonymize (
          builder, rows[i].degree, "/home/ann", words, NULL);
      g_assert_cmpint (has_text (builder, "secret_name"), ==, rows[i].name);
      g_assert_cmpint (has_text (builder, "ann"), ==, rows[i].home);
    }
}

/* --- charts -----------------------------------------------------------------
 */

/* Spans [0, 1), [10, 12), [20, 24) and [30, 38): those that end at the
 * beginning of the view, or begin at its end, are outside. */
static void
test_chart_range (void)
{
  static const struct
  {
    double from, to;
    guint n;
  } rows[] = {
    { 0, 40, 4 },  { 1, 40, 3 },  { 0.5, 40, 4 }, { 12, 20, 0 },
    { 12, 21, 1 }, { 24, 30, 0 }, { 23, 31, 2 },  { 38, 40, 0 },
  };
  g_autoptr (FlamProfile) profile = four_samples (TRUE);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamChart) chart = flam_chart_new (profile, selection, NULL, NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rows); i++)
    {
      FlamChartView view = { .width = 1000,
                             .from = rows[i].from,
                             .to = rows[i].to,
                             .height = 1000,
                             .row_height = 20,
                             .head_height = 20,
                             .min_width = 0.5 };
      g_autoptr (FlamChartLayout) layout = flam_chart_layout_new (chart, &view);

      g_test_message ("%u", i);
      g_assert_cmpuint (layout->n, ==, rows[i].n);
    }
}

/* --- data that a builder keeps
 * --------------------------------------------------- */

/* At most 100 facts that this version does not describe, of at most 4095
 * bytes. */
static void
test_other_facts (void)
{
  static const guint written[] = { 0, 1, 99, 100, 101, 300 };
  g_autofree char *fits = g_strnfill (4095, 'a');
  g_autofree char *larger = g_strnfill (4096, 'a');

  for (guint i = 0; i < G_N_ELEMENTS (written); i++)
    {
      g_autoptr (FlamBuilder) builder = flam_builder_new ();
      g_autoptr (FlamProfile) profile = NULL;

      flam_builder_set_fact (builder, "larger", larger);
      for (guint k = 0; k < written[i]; k++)
        flam_builder_set_fact (builder, "another", fits);
      profile = finish (builder);
      g_assert_cmpuint (g_strv_length ((char **)profile->facts.others),
                        ==,
                        2 * MIN (written[i], 100));
    }
}

/* Processes and threads of equal numbers, one after the other: a part of the
 * profile still has two of each. */
static void
test_equal_numbers (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamProfile) part = NULL;

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  for (guint i = 0; i < 2; i++)
    {
      FlamId process = flam_builder_append_process (builder, 7, FLAM_NONE);
      FlamSample sample = {
        .time = i,
        .thread = flam_builder_append_thread (builder, process, 7),
        .stack = stack_of (builder, "f"),
      };

      flam_builder_add_sample (builder, &sample, NULL);
      sample.time = 5;
      flam_builder_add_sample (builder, &sample, NULL);
    }
  profile = finish (builder);
  selection->from = 0;
  selection->to = 2;
  part = flam_cut_new (profile, selection, NULL);
  g_assert_cmpuint (part->samples.n, ==, 2);
  g_assert_cmpuint (part->processes.n, ==, 2);
  g_assert_cmpuint (part->threads.n, ==, 2);
  for (FlamId i = 0; i < 2; i++)
    {
      g_assert_cmpint (part->processes.pid[i], ==, 7);
      g_assert_cmpuint (part->threads.process[i], ==, i);
    }
}

/* Snapshots of a recording of three threads, whose samples arrive in turn: each
 * thread has its own, in order, and a timeline that is continued equals one of
 * all samples. */
static void
test_snapshots (void)
{
  enum
  {
    THREADS = 3,
    ROUNDS = 6,
    MANY = 40
  };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamSnapshots) snapshots = flam_snapshots_new (builder);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamProfile) former = NULL;
  g_autoptr (FlamTimeline) before = NULL;
  FlamId process = flam_builder_append_process (builder, 7, FLAM_NONE);
  FlamId thread[THREADS], stack = stack_of (builder, "f");
  gint64 time = 0;

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "time",
                            "Time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  for (guint t = 0; t < THREADS; t++)
    thread[t] = flam_builder_append_thread (builder, process, 7 + (gint32)t);
  for (guint round = 1; round <= ROUNDS; round++)
    {
      g_autoptr (FlamProfile) profile = NULL;
      g_autoptr (FlamTimeline) timeline = NULL;
      g_autoptr (FlamTimeline) whole = NULL;

      for (guint i = 0; i < MANY * round; i++)
        {
          FlamSample sample = {
            .time = time,
            .thread = thread[time % THREADS],
            .stack = stack,
          };

          flam_builder_add_sample (builder, &sample, &time);
          time++;
        }
      flam_builder_facts (builder)->duration_ns = time;
      profile = flam_snapshots_take (snapshots, NULL);
      g_assert_cmpuint (profile->threads.n, ==, THREADS);
      for (FlamId t = 0; t < THREADS; t++)
        {
          guint32 first = profile->threads.first_sample[t];

          for (guint32 i = 0; i < profile->threads.n_samples[t]; i++)
            {
              g_assert_cmpint (
                  profile->samples.time[first + i] % THREADS, ==, t);
              g_assert_cmpint (profile->measures[0].weight[first + i],
                               ==,
                               profile->samples.time[first + i]);
              if (i > 0)
                g_assert_cmpint (profile->samples.time[first + i - 1],
                                 <,
                                 profile->samples.time[first + i]);
            }
        }
      timeline = flam_timeline_new (
          profile, selection, before, 8, FLAM_TIMELINE_ALL, NULL, NULL);
      whole = flam_timeline_new (
          profile, selection, NULL, 8, FLAM_TIMELINE_ALL, NULL, NULL);
      g_assert_cmpmem (flam_timeline_row (timeline, 0),
                       timeline->n * sizeof (gint64),
                       flam_timeline_row (whole, 0),
                       whole->n * sizeof (gint64));
      g_clear_pointer (&before, flam_timeline_unref);
      before = g_steal_pointer (&timeline);
      g_clear_pointer (&former, flam_profile_unref);
      former = g_steal_pointer (&profile);
    }
}

/* Between the samples of threads that go on are cells without a sample: most of
 * these samples are interpreted, in each snapshot. */
static void
test_interpreted_snapshots (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamSnapshots) snapshots = flam_snapshots_new (builder);
  FlamId process = flam_builder_append_process (builder, 7, FLAM_NONE);
  FlamFunction native = {
    .name = flam_builder_string (builder, "main", -1),
    .module = flam_builder_module (builder, "/m", "", FLAM_ADDRESS_VADDR),
  };
  FlamFunction script = {
    .name = flam_builder_string (builder, "work", -1),
    .kind = FLAM_KIND_INTERPRETED,
    .module = FLAM_NONE,
  };
  FlamFunctionId main = flam_builder_function (builder, &native);
  FlamFunctionId work = flam_builder_function (builder, &script);
  FlamStackId under = flam_builder_stack (
      builder, FLAM_NONE, flam_builder_frame (builder, main, 0, 0, 0));
  FlamStackId stack = flam_builder_stack (
      builder, under, flam_builder_frame (builder, work, 0, 0, 0));
  FlamId thread[3];
  gint64 time = 0;

  flam_builder_set_has_times (builder);
  for (guint t = 0; t < G_N_ELEMENTS (thread); t++)
    thread[t] = flam_builder_append_thread (builder, process, 7 + (gint32)t);
  for (guint round = 1; round <= 6; round++)
    {
      g_autoptr (FlamProfile) profile = NULL;

      for (guint i = 0; i < 45 * round; i++, time++)
        {
          FlamSample sample = {
            .time = time,
            .thread = thread[time % 3],
            .stack = time % 20 < 11 ? stack : under,
          };

          flam_builder_add_sample (builder, &sample, NULL);
        }
      profile = flam_snapshots_take (snapshots, NULL);
      g_assert_true (flam_frames_are_interpreted (profile));
    }
}

/* That of one capture, and those of merged ones. */
static void
test_counter_names (void)
{
  static const char *const names[][2] = {
    { "rss", "RSS" },
    { "rss run-1.flambeau", "RSS run-1.flambeau" },
    { "rssi", "rssi" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      g_autofree char *name = flam_format_counter_name (names[i][0]);

      g_assert_cmpstr (name, ==, names[i][1]);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/borders/sample-ranges", test_sample_ranges);
  g_test_add_func ("/borders/spans", test_spans);
  g_test_add_func ("/borders/order", test_order);
  g_test_add_func ("/borders/block-ranges", test_block_ranges);
  g_test_add_func ("/borders/temporary-distances", test_temporary_distances);
  g_test_add_func ("/borders/bins", test_bins_of_sizes);
  g_test_add_func ("/borders/sampled-blocks", test_sampled_blocks);
  g_test_add_func ("/borders/peak-at-the-end", test_peak_at_the_end);
  g_test_add_func ("/borders/no-address", test_no_address);
  g_test_add_func ("/borders/stretch", test_stretch);
  g_test_add_func ("/borders/counter", test_counter);
  g_test_add_func ("/borders/buckets", test_buckets);
  g_test_add_func ("/borders/least-width", test_least_width);
  g_test_add_func ("/borders/hidden", test_hidden_in_view);
  g_test_add_func ("/borders/hit", test_hit);
  g_test_add_func ("/borders/figures", test_figures);
  g_test_add_func ("/borders/siblings", test_siblings);
  g_test_add_func ("/borders/equal-selections", test_equal_selections);
  g_test_add_func ("/borders/anonymous", test_anonymous);
  g_test_add_func ("/borders/chart-range", test_chart_range);
  g_test_add_func ("/borders/percents", test_percents);
  g_test_add_func ("/borders/marked-percents", test_marked_percents);
  g_test_add_func ("/borders/values", test_values);
  g_test_add_func ("/borders/other-facts", test_other_facts);
  g_test_add_func ("/borders/equal-numbers", test_equal_numbers);
  g_test_add_func ("/borders/snapshots", test_snapshots);
  g_test_add_func ("/borders/snapshots/interpreted",
                   test_interpreted_snapshots);
  g_test_add_func ("/borders/counter-names", test_counter_names);
  return g_test_run ();
}
