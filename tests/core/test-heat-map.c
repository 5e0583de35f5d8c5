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
  g_test_add_func ("/heat-map/sums", test_sums);
  return g_test_run ();
}
