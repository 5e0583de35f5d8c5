/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The measures derived from allocations, against a ledger kept the slow way. */

#include "flam-fixture.h"

#include "flam-weights.h"

static gint64
total_of (const FlamProfile *profile,
          const char *measure,
          gint64 from,
          gint64 to)
{
  g_autoptr (FlamSelection) selection = flam_selection_new ();

  selection->measure = flam_profile_find_measure (profile, measure);
  selection->from = from;
  selection->to = to;
  return flam_weights_total (profile, selection);
}

static gint64
live_at (const FlamAllocations *a, gint64 time)
{
  gint64 live = 0;

  for (FlamId i = 0; i < a->n; i++)
    if (a->time[i] <= time && time < a->freed_at[i])
      live += a->size[i] * a->count[i];
  return live;
}

static void
test_against_ledger (void)
{
  for (guint round = 0; round < 50; round++)
    {
      g_autoptr (FlamProfile) profile = flam_fixture_random ();
      const FlamAllocations *a = &profile->allocations;
      gint64 from = g_test_rand_int_range (0, 500);
      gint64 to = from + g_test_rand_int_range (1, 700);
      gint64 peak = 0, peak_in = 0, leaked = 0, allocated = 0, temporary = 0;

      for (gint64 t = 0; t < 1400; t++)
        {
          gint64 live = live_at (a, t);

          peak = MAX (peak, live);
          if (t >= from && t < to)
            peak_in = MAX (peak_in, live);
        }
      for (FlamId i = 0; i < a->n; i++)
        {
          gboolean in = a->time[i] >= from && a->time[i] < to;

          allocated += in ? a->size[i] * a->count[i] : 0;
          temporary += in && a->distance[i] == 0 ? a->count[i] : 0;
          leaked += in && a->freed_at[i] >= to ? a->size[i] * a->count[i] : 0;
        }
      g_assert_cmpint (
          total_of (profile, "peak", G_MININT64, G_MAXINT64), ==, peak);
      g_assert_cmpint (total_of (profile, "peak", from, to), ==, peak_in);
      g_assert_cmpint (total_of (profile, "leaked", from, to), ==, leaked);
      g_assert_cmpint (
          total_of (profile, "allocated", from, to), ==, allocated);
      g_assert_cmpint (
          total_of (profile, "temporary", from, to), ==, temporary);
      g_assert_cmpint (total_of (profile, "leaked", G_MININT64, G_MAXINT64),
                       ==,
                       live_at (a, FLAM_NEVER - 1));
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/memory/ledger", test_against_ledger);
  return g_test_run ();
}
