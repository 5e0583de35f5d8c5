/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The equivalent selection for another capture. */

#include "flam-fixture.h"

#include "flam-core-query.h"

static FlamId
thread_named (const FlamProfile *profile, const char *name)
{
  for (FlamId t = 0; t < profile->threads.n; t++)
    if (g_str_equal (flam_profile_string (profile, profile->threads.name[t]),
                     name))
      return t;
  g_assert_not_reached ();
}

static void
test_carry_threads (void)
{
  g_autoptr (FlamProfile) now =
      flam_fixture_profile ("b:main 5\na:main 3\nnew:main 1\n");
  g_autoptr (FlamProfile) before =
      flam_fixture_profile ("z:main 1\na:main 2\nb:main 4\n");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamSelection) carried = NULL;
  g_autoptr (FlamSelection) some = NULL;
  g_autoptr (FlamSelection) none = NULL;
  guint without;

  flam_selection_add_thread (selection, thread_named (now, "a"));
  carried = flam_transfer_selection (now, selection, before, &without);
  g_assert_cmpuint (without, ==, 0);
  g_assert_cmpuint (carried->threads->len, ==, 1);
  g_assert_cmpuint (g_array_index (carried->threads, FlamId, 0),
                    ==,
                    thread_named (before, "a"));

  flam_selection_add_thread (selection, thread_named (now, "new"));
  some = flam_transfer_selection (now, selection, before, &without);
  g_assert_cmpuint (without, ==, FLAM_TRANSFER_THREADS);
  g_assert_true (flam_selection_equal (some, carried));

  flam_selection_no_threads (selection);
  flam_selection_add_thread (selection, thread_named (now, "new"));
  none = flam_transfer_selection (now, selection, before, &without);
  g_assert_cmpuint (without, ==, FLAM_TRANSFER_ALL_THREADS);
  g_assert_null (none->threads);
}

static FlamProfile *
profile_of (const char *id, FlamUnit unit, gint64 duration)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = {
    .thread = flam_builder_thread (builder, process, 1, 0),
    .stack = FLAM_NONE,
  };

  flam_builder_add_measure (builder,
                            id,
                            id,
                            unit,
                            g_str_equal (id, "blocks") ? FLAM_MEASURE_ALLOC
                                                       : FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  flam_builder_facts (builder)->duration_ns = duration;
  flam_builder_add_sample (builder, &sample, NULL);
  if (duration > 0)
    flam_builder_set_has_times (builder);
  return flam_builder_finish (builder, NULL);
}

/* A range becomes the same seconds, if there are that many. */
static void
test_carry_measure_and_time (void)
{
  g_autoptr (FlamProfile) now = profile_of ("cpu-clock", FLAM_UNIT_NS, 1000);
  g_autoptr (FlamProfile) other = profile_of ("task", FLAM_UNIT_NS, 500);
  g_autoptr (FlamProfile) bytes = profile_of ("heap", FLAM_UNIT_BYTES, 1000);
  g_autoptr (FlamProfile) samples = profile_of ("samples", FLAM_UNIT_COUNT, 9);
  g_autoptr (FlamProfile) blocks = profile_of ("blocks", FLAM_UNIT_COUNT, 9);
  g_autoptr (FlamProfile) timeless = profile_of ("cpu-clock", FLAM_UNIT_NS, 0);
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamSelection) a = NULL;
  g_autoptr (FlamSelection) b = NULL;
  g_autoptr (FlamSelection) c = NULL;
  guint without;

  /* Blocks are counted like samples, but cannot be compared with them. */
  g_assert_null (
      flam_transfer_selection (samples, selection, blocks, &without));
  selection->from = 400;
  selection->to = 600;
  g_assert_null (flam_transfer_selection (now, selection, bytes, &without));
  a = flam_transfer_selection (now, selection, other, &without);
  g_assert_cmpuint (without, ==, FLAM_TRANSFER_MEASURE);
  g_assert_cmpint (a->from, ==, 400);
  g_assert_cmpint (flam_selection_get_length (a, other), ==, 100);

  selection->from = 500;
  b = flam_transfer_selection (now, selection, other, &without);
  g_assert_cmpuint (without, ==, FLAM_TRANSFER_MEASURE | FLAM_TRANSFER_TIME);
  g_assert_cmpint (b->from, ==, G_MININT64);
  c = flam_transfer_selection (now, selection, timeless, &without);
  g_assert_cmpuint (without, ==, FLAM_TRANSFER_TIME);
  g_assert_cmpint (flam_selection_get_length (c, timeless), ==, 0);
}

static FlamProfile *
labelled (const char *value)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSampleLabel label = { "tenant", value };
  FlamSample sample = {
    .thread = flam_builder_thread (builder, process, 1, 0),
    .stack = FLAM_NONE,
    .labels = flam_builder_add_labels (builder, &label, 1),
  };

  flam_builder_add_measure (builder,
                            "samples",
                            "samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            -1,
                            FLAM_NONE);
  flam_builder_add_sample (builder, &sample, NULL);
  return flam_builder_finish (builder, NULL);
}

/* A filter that would leave nothing of the other capture is not carried
 * over. */
static void
test_carry_labels (void)
{
  g_autoptr (FlamProfile) now = labelled ("red");
  g_autoptr (FlamProfile) alike = labelled ("red");
  g_autoptr (FlamProfile) other = labelled ("green");
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamSelection) a = NULL;
  g_autoptr (FlamSelection) b = NULL;
  guint without;

  flam_selection_add_label (selection, "tenant=red");
  a = flam_transfer_selection (now, selection, alike, &without);
  g_assert_cmpuint (without, ==, 0);
  g_assert_true (flam_selection_equal (a, selection));
  b = flam_transfer_selection (now, selection, other, &without);
  g_assert_cmpuint (without, ==, FLAM_TRANSFER_LABELS);
  g_assert_null (b->labels);
  g_assert_cmpint (flam_weights_total (other, b), ==, 1);
}

/* A capture that is itself a difference names the measure with the previous
 * values. */
static void
test_find_before (void)
{
  static const char *const ids[] = { "cpu", "alloc", "base", "alloc-base" };
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  g_autoptr (FlamProfile) plain = flam_fixture_profile ("a 1\n");
  g_autoptr (FlamProfile) profile = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (ids); i++)
    flam_builder_add_measure (builder,
                              ids[i],
                              ids[i],
                              i % 2 ? FLAM_UNIT_BYTES : FLAM_UNIT_COUNT,
                              i % 2 ? FLAM_MEASURE_ALLOC : FLAM_MEASURE_CPU,
                              -1,
                              FLAM_NONE);
  profile = flam_builder_finish (builder, NULL);
  g_assert_cmpint (flam_transfer_find_before (profile, 0), ==, 2);
  g_assert_cmpint (flam_transfer_find_before (profile, 1), ==, 3);
  g_assert_cmpint (flam_transfer_find_before (profile, 2), ==, -1);
  g_assert_cmpint (flam_transfer_find_before (profile, 3), ==, -1);
  g_assert_cmpint (flam_transfer_find_before (plain, 0), ==, -1);
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/carry/threads", test_carry_threads);
  g_test_add_func ("/carry/measure-and-time", test_carry_measure_and_time);
  g_test_add_func ("/carry/labels", test_carry_labels);
  g_test_add_func ("/carry/find-before", test_find_before);
  return g_test_run ();
}
