/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Heat maps: no weight is lost in them, and their cells tile the time. */

#include "flam-fixture.h"

#include "flam-core-query.h"

static const guint rows[] = { 10, 20, 25, 49, 50, 99, 100 };

static void
test_cells (void)
{
  for (guint r = 0; r < G_N_ELEMENTS (rows); r++)
    {
      FlamHeatMap map = { .n_columns = 3,
                          .n_rows = rows[r],
                          .column = 1000000000 };

      g_assert_cmpint (flam_heat_map_time_of (&map, 0), ==, 0);
      g_assert_cmpint (
          flam_heat_map_time_of (&map, 2 * rows[r]), ==, 2000000000);
      for (guint cell = 0; cell < 3 * rows[r]; cell++)
        {
          gint64 from = flam_heat_map_time_of (&map, cell);
          gint64 to = flam_heat_map_time_of (&map, cell + 1);

          g_assert_cmpint (from, <, to);
          g_assert_cmpuint (flam_heat_map_cell_of (&map, from), ==, cell);
          g_assert_cmpuint (flam_heat_map_cell_of (&map, to - 1), ==, cell);
        }
      g_assert_cmpuint (
          flam_heat_map_cell_of (&map, G_MAXINT64), ==, 3 * rows[r] - 1);
    }
}

/* Samples at the given times, ms, of a capture that began at 14:05:07.3. */
static FlamProfile *
dated_profile (const guint *times, guint n)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  FlamProcessId process = flam_builder_process (builder, 1, 0);
  FlamSample sample = { 0 };
  FlamFunctionId function = flam_builder_function_named (
      builder, flam_builder_string (builder, "f", -1), FLAM_KIND_NATIVE);
  gint64 weight = 7;

  flam_builder_set_has_times (builder);
  flam_builder_add_measure (builder,
                            "cpu-time",
                            "CPU time",
                            FLAM_UNIT_NS,
                            FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (builder),
                            FLAM_NONE);
  sample.stack = flam_builder_stack (
      builder, FLAM_NONE, flam_builder_frame (builder, function, 0, 0, 0));
  sample.thread = flam_builder_thread (builder, process, 1, 0);
  for (guint i = 0; i < n; i++)
    {
      sample.time = times[i] * G_GINT64_CONSTANT (1000000);
      flam_builder_add_sample (builder, &sample, &weight);
    }
  flam_builder_facts (builder)->start_unix_ns =
      G_GINT64_CONSTANT (1793541907300000000);
  return flam_builder_finish (builder, NULL);
}

/* Columns begin at the seconds of the clock: 0.7 s after the start is the next
 * one. */
static void
test_clock (void)
{
  static const guint times[] = { 0, 650, 699, 700, 1700, 1710 };
  g_autoptr (FlamProfile) profile = dated_profile (times, G_N_ELEMENTS (times));
  g_autoptr (FlamSelection) selection = flam_selection_new ();
  g_autoptr (FlamHeatMap) map = NULL;
  static const guint32 samples[3][10] = {
    { 0, 0, 0, 1, 0, 0, 0, 0, 0, 2 },
    { 1 },
    { 2 },
  };

  map = flam_heat_map_new (profile, selection, 10, NULL, NULL);
  g_assert_cmpint (map->clock, ==, G_GINT64_CONSTANT (1793541907000000000));
  g_assert_cmpint (map->from, ==, -300000000);
  g_assert_cmpuint (map->n_columns, ==, 3);
  for (guint cell = 0; cell < 30; cell++)
    {
      g_assert_cmpuint (map->samples[cell], ==, samples[cell / 10][cell % 10]);
      g_assert_cmpint (map->value[cell], ==, 7 * map->samples[cell]);
    }
  g_assert_cmpint (flam_heat_map_time_of (map, 0), ==, 0);
  g_assert_cmpint (flam_heat_map_time_of (map, 3), ==, 0);
  g_assert_cmpint (flam_heat_map_time_of (map, 4), ==, 100000000);
  g_assert_cmpint (flam_heat_map_time_of (map, 10), ==, 700000000);
  g_assert_cmpint (flam_heat_map_time_of (map, 30), ==, 2700000000);
  g_assert_cmpuint (flam_heat_map_cell_of (map, 0), ==, 3);
}

/* The sum of all cells is the weight of the selection; a range made of cells
 * has the weight of these cells. */
static void
test_sums (void)
{
  for (guint round = 0; round < 100; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      g_autoptr (FlamSelection) selection = flam_selection_new ();
      g_autoptr (FlamHeatMap) map = NULL;
      gint64 sum = 0;
      guint first, end;

      selection->states = (guint)g_test_rand_int_range (1, 1 << FLAM_N_STATES);
      selection->count = g_test_rand_bit ();
      if (g_test_rand_bit ())
        flam_selection_add_transform (
            selection, FLAM_TRANSFORM_FILTER, "f[1-4]", NULL);
      map = flam_heat_map_new (profile, selection, 50, NULL, NULL);
      if (map == NULL)
        continue;
      /* The fixture's times are short, so choose the length of a column. */
      g_assert_cmpint (map->total, ==, flam_weights_total (profile, selection));
      g_free (map->value);
      first = (guint)g_test_rand_int_range (
          0, (gint32)(map->n_columns * map->n_rows));
      end = (guint)g_test_rand_int_range (
          (gint32)first, (gint32)(map->n_columns * map->n_rows));
      map->value = NULL;
      selection->from = flam_heat_map_time_of (map, first);
      selection->to = flam_heat_map_time_of (map, end + 1);
      {
        g_autoptr (FlamHeatMap) again =
            flam_heat_map_new (profile, selection, 50, NULL, NULL);

        for (guint i = first; i <= end; i++)
          sum += again->value[i];
        g_assert_cmpint (sum, ==, flam_weights_total (profile, selection));
      }
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/heat-map/cells", test_cells);
  g_test_add_func ("/heat-map/clock", test_clock);
  g_test_add_func ("/heat-map/sums", test_sums);
  return g_test_run ();
}
