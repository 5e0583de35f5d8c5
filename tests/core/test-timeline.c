/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-core-query.h"

#include <math.h>

static FlamStackId
a_stack (FlamBuilder *builder)
{
  FlamStringId name = flam_builder_string (builder, "f", -1);
  FlamFunctionId function =
      flam_builder_function_named (builder, name, FLAM_KIND_NATIVE);

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

/* Thread 1: two samples of 1 each ns from 0 to 9; thread 2: one of 100 at 5. */
static FlamProfile *
cpu_profile (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = { 0 };
  gint64 weight = 1;

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  sample.stack = a_stack (builder);
  sample.thread = flam_builder_thread (builder, process, 1, 0);
  for (sample.time = 0; sample.time < 10; sample.time++)
    for (guint i = 0; i < 2; i++)
      flam_builder_add_sample (builder, &sample, &weight);
  sample.thread = flam_builder_thread (builder, process, 2, 0);
  sample.time = 5;
  weight = 100;
  flam_builder_add_sample (builder, &sample, &weight);
  return finish (builder);
}

static void
assert_row (const FlamTimeline *timeline, guint row, const char *expected)
{
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint i = 0; i < timeline->n; i++)
    g_string_append_printf (text,
                            "%s%" G_GINT64_FORMAT,
                            i > 0 ? " " : "",
                            flam_timeline_row (timeline, row)[i]);
  g_assert_cmpstr (text->str, ==, expected);
}

/* A thread that is sampled every ns while it runs and once after it slept for
 * 70 ns; a sample weighs the time since the previous one, or until the next
 * one. */
static FlamProfile *
sleeper (gboolean after)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = { 0 };

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "wall-time",
                            "Wall time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  sample.stack = a_stack (builder);
  sample.thread = flam_builder_thread (builder, process, 1, 0);
  for (guint i = 0; i < 31; i++)
    {
      gint64 gap = i == 15 ? 70 : 1;
      gint64 end = sample.time + gap;

      sample.time = after ? sample.time : end;
      flam_builder_add_sample (builder, &sample, &gap);
      sample.time = end;
    }
  return finish (builder);
}

/* A thread that existed all the time is in every bucket. */
static void
test_stretches (void)
{
  for (guint after = 0; after < 2; after++)
    {
      g_autoptr (FlamProfile) profile = sleeper (after);
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamTimeline) timeline = flam_timeline_new (
          profile, selection, NULL, 1000, FLAM_TIMELINE_THREADS, NULL, NULL);
      const gint64 *row = flam_timeline_row (timeline, 1);
      gint64 sum = 0;

      g_assert_cmpuint (timeline->n, ==, 25);
      for (guint i = 0; i < timeline->n; i++)
        {
          g_assert_cmpint (row[i], >=, 3);
          g_assert_cmpint (row[i], <=, 5);
          sum += row[i];
        }
      g_assert_cmpint (sum, ==, 100);
    }
}

/* A thread that runs all the time, sampled at random; half of the time between
 * two samples goes to each. No thread ever runs on two CPUs. */
static void
test_halves (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = { 0 };
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTimeline) timeline = NULL;
  gint64 gap = 1000, next;

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  sample.stack = a_stack (builder);
  sample.thread = flam_builder_thread (builder, process, 1, 0);
  for (guint i = 0; i < 1000; i++, gap = next)
    {
      gint64 weight;

      /* The length of the last sample is unknown, so it keeps its place and
       * represents next to nothing. */
      next = i + 2 < 1000
                 ? (gint64)(-1000 * log (1 - g_test_rand_double ())) + 2
                 : 2;
      weight = (gap + next) / 2;
      sample.time += gap;
      flam_builder_add_sample (builder, &sample, &weight);
    }
  profile = finish (builder);
  timeline = flam_timeline_new (
      profile, selection, NULL, 100, FLAM_TIMELINE_THREADS, NULL, NULL);
  g_assert_cmpuint (timeline->n, >, 50);
  for (guint i = 1; i + 1 < timeline->n; i++)
    g_assert_cmpfloat_with_epsilon ((double)flam_timeline_row (timeline, 1)[i] /
                                        (double)timeline->ceiling,
                                    1,
                                    0.02);
}

static void
test_activity (void)
{
  g_autoptr (FlamProfile) profile = cpu_profile ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTimeline) timeline = flam_timeline_new (
      profile, selection, NULL, 5, FLAM_TIMELINE_THREADS, NULL, NULL);

  g_assert_nonnull (timeline);
  g_assert_cmpint (timeline->end, ==, 10);
  g_assert_cmpuint (timeline->n_rows, ==, 3);
  assert_row (timeline, 0, "4 4 104 4 4");
  assert_row (timeline, 1, "0 0 100 0 0");
  assert_row (timeline, 2, "4 4 4 4 4");
  g_assert_cmpint (timeline->top[0], ==, 104);
  g_assert_cmpint (timeline->top[2], ==, 4);
  g_assert_cmpfloat (flam_timeline_fraction_of (timeline, 5), ==, 0.5);
  g_assert_cmpfloat (flam_timeline_fraction_of (timeline, 500), ==, 1);
}

/* 100 samples, 10 ns apart: buckets of 64 ns, and a last one of 40. */
static void
test_period (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTimeline) timeline = NULL;
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = { 0 };

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  sample.stack = a_stack (builder);
  sample.thread = flam_builder_thread (builder, process, 1, 0);
  for (sample.time = 0; sample.time < 1000; sample.time += 10)
    flam_builder_add_sample (builder, &sample, NULL);
  flam_builder_facts (builder)->duration_ns = 1000;
  profile = finish (builder);
  timeline = flam_timeline_new (
      profile, selection, NULL, 900, FLAM_TIMELINE_ALL, NULL, NULL);
  assert_row (timeline, 0, "7 6 7 6 6 7 6 7 6 6 7 6 7 6 6 4");
}

static void
test_selected_threads (void)
{
  g_autoptr (FlamProfile) profile = cpu_profile ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTimeline) timeline = NULL;

  flam_selection_add_thread (selection, 0);
  selection->from = 3;
  selection->to = 4;
  timeline = flam_timeline_new (
      profile, selection, NULL, 5, FLAM_TIMELINE_ALL, NULL, NULL);
  g_assert_cmpuint (timeline->n_rows, ==, 1);
  assert_row (timeline, 0, "4 4 4 4 4");
}

static void
allocate (
    FlamBuilder *builder, FlamStackId stack, gint64 from, gint64 to, gint64 n)
{
  FlamAllocation allocation = {
    .time = from,
    .freed_at = to,
    .thread = FLAM_NONE,
    .stack = stack,
    .size = n,
    .count = 1,
    .at_peak = -1,
    .distance = G_MAXUINT16,
  };

  flam_builder_add_allocation (builder, &allocation);
}

/* live:  0-1: 10, 2: 10 + 50 (born and dead within bucket 1), 3-5: 10,
 * 6-9: 30 */
static void
test_memory (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTimeline) timeline = NULL;
  FlamStackId stack = a_stack (builder);

  flam_builder_set_has_times (builder);
  flam_builder_add_allocation_measures (builder);
  allocate (builder, stack, 0, 6, 10);
  allocate (builder, stack, 2, 3, 50);
  allocate (builder, stack, 6, FLAM_NEVER, 30);
  flam_builder_facts (builder)->duration_ns = 10;
  profile = finish (builder);
  timeline = flam_timeline_new (
      profile, selection, NULL, 5, FLAM_TIMELINE_ALL, NULL, NULL);
  g_assert_cmpint (timeline->kind, ==, FLAM_TIMELINE_MEMORY);
  assert_row (timeline, 0, "10 60 10 30 30");
  g_assert_cmpint (timeline->peak_time, ==, 2);
}

static void
test_without_times (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) profile = finish (builder);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GError) error = NULL;

  g_assert_null (flam_timeline_new (
      profile, selection, NULL, 5, FLAM_TIMELINE_ALL, NULL, &error));
  g_assert_no_error (error);
}

static gboolean
refuse (gpointer data, double fraction)
{
  return FALSE;
}

static void
test_cancelled (void)
{
  g_autoptr (FlamProfile) profile = cpu_profile ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (GError) error = NULL;
  FlamProgress progress = { refuse, NULL };

  g_assert_null (flam_timeline_new (
      profile, selection, NULL, 5, FLAM_TIMELINE_THREADS, &progress, &error));
  g_assert_error (error, FLAM_ERROR, FLAM_ERROR_CANCELLED);
}

/* One thread moves from CPU 10 to CPU 2; events are counted. */
static FlamProfile *
counted_profile (void)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = { 0 };
  guint32 labels[2];
  guint column;

  flam_builder_set_has_times (builder);
  column = flam_builder_add_column (builder);
  for (guint event = 0; event < 2; event++)
    flam_builder_add_event_measure (builder,
                                    event == 0 ? "cycles" : "misses",
                                    FLAM_UNIT_COUNT,
                                    (int)column,
                                    event);
  labels[0] = flam_builder_add_labels (
      builder, &(FlamSampleLabel){ FLAM_LABEL_CPU, "10", 10, "" }, 1);
  labels[1] = flam_builder_add_labels (
      builder, &(FlamSampleLabel){ FLAM_LABEL_CPU, "2", 2, "" }, 1);
  sample.stack = a_stack (builder);
  sample.thread = flam_builder_thread (builder, process, 1, 0);
  for (guint i = 0; i < 8; i++)
    {
      gint64 weight = i % 2 == 0 ? 100 : 3;

      sample.time = (gint64)i << 28;
      sample.event = i % 2;
      sample.labels = i == 7 ? 0 : labels[i / 4];
      flam_builder_add_sample (builder, &sample, &weight);
    }
  return finish (builder);
}

/* By number, not by name; a sample without a CPU is in the sum alone. */
static void
test_cpus (void)
{
  g_autoptr (FlamProfile) profile = counted_profile ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTimeline) timeline = NULL;

  selection->measure = 1;
  timeline = flam_timeline_new (
      profile, selection, NULL, 2, FLAM_TIMELINE_CPUS, NULL, NULL);
  g_assert_cmpuint (timeline->n_rows, ==, 3);
  g_assert_null (timeline->threads);
  g_assert_cmpstr (flam_profile_string (profile, timeline->cpus[0]), ==, "2");
  g_assert_cmpstr (flam_profile_string (profile, timeline->cpus[1]), ==, "10");
  assert_row (timeline, 0, "6 6");
  assert_row (timeline, 1, "0 3");
  assert_row (timeline, 2, "6 0");
}

/* A bucket has 2^30 ns. */
static void
test_rates (void)
{
  g_autoptr (FlamProfile) profile = counted_profile ();
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamTimeline) timeline = flam_timeline_new (
      profile, selection, NULL, 2, FLAM_TIMELINE_ALL, NULL, NULL);

  g_assert_cmpuint (timeline->n, ==, 2);
  assert_row (timeline, 0, "200 200");
  g_assert_cmpuint (timeline->n_counters, ==, 1);
  g_assert_cmpstr (timeline->counters[0].id, ==, "misses");
  g_assert_true (timeline->counters[0].is_rate);
  g_assert_cmpint (timeline->counters[0].value[0], ==, 5);
  g_assert_cmpint (timeline->counters[0].top, ==, 5);
  g_clear_pointer (&timeline, flam_timeline_unref);
  selection->measure = 1;
  timeline = flam_timeline_new (
      profile, selection, NULL, 2, FLAM_TIMELINE_ALL, NULL, NULL);
  g_assert_cmpstr (timeline->counters[0].id, ==, "cycles");
  g_assert_cmpint (timeline->counters[0].value[1], ==, 186);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/timeline/activity", test_activity);
  g_test_add_func ("/timeline/stretches", test_stretches);
  g_test_add_func ("/timeline/halves", test_halves);
  g_test_add_func ("/timeline/period", test_period);
  g_test_add_func ("/timeline/selected-threads", test_selected_threads);
  g_test_add_func ("/timeline/memory", test_memory);
  g_test_add_func ("/timeline/without-times", test_without_times);
  g_test_add_func ("/timeline/cancelled", test_cancelled);
  g_test_add_func ("/timeline/cpus", test_cpus);
  g_test_add_func ("/timeline/rates", test_rates);
  return g_test_run ();
}
