/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-intervals.h"

/* The picture in the header. */
static void
test_picture (void)
{
  FlamInterval ranges[] = {
    { 120, 130, 3 },
    { 20, 40, 2 },
    { 0, 100, 0 },
    { 10, 40, 1 },
  };
  static const guint64 starts[] = { 0, 10, 20, 40, 100, 120, 130 };
  static const guint32 values[] = { 0, 1, 2, 0, FLAM_NONE, 3, FLAM_NONE };
  FlamIntervals intervals;

  flam_intervals_init (&intervals, ranges, 4);
  g_assert_cmpuint (intervals.n, ==, G_N_ELEMENTS (starts));
  for (guint i = 0; i < intervals.n; i++)
    {
      g_assert_cmpuint (intervals.start[i], ==, starts[i]);
      g_assert_cmpuint (intervals.value[i], ==, values[i]);
    }
  flam_intervals_clear (&intervals);
}

static void
test_empty (void)
{
  FlamInterval ranges[] = { { 5, 5, 0 }, { 9, 3, 1 } };
  FlamIntervals intervals;

  flam_intervals_init (&intervals, ranges, 2);
  g_assert_cmpuint (intervals.n, ==, 0);
  g_assert_cmpuint (flam_intervals_find (&intervals, 5), ==, FLAM_NONE);
  flam_intervals_clear (&intervals);
  flam_intervals_init (&intervals, NULL, 0);
  g_assert_cmpuint (flam_intervals_find (&intervals, 0), ==, FLAM_NONE);
  flam_intervals_clear (&intervals);
}

/* What the header promises, said slowly. */
static guint32
slow_find (const FlamInterval *ranges, guint n, guint64 address)
{
  const FlamInterval *best = NULL;

  for (guint i = 0; i < n; i++)
    {
      const FlamInterval *r = &ranges[i];

      if (address < r->start || address >= r->end)
        continue;
      if (!best || r->start > best->start ||
          (r->start == best->start &&
           (r->end < best->end ||
            (r->end == best->end && r->value > best->value))))
        best = r;
    }
  return best ? best->value : FLAM_NONE;
}

static guint32
slow_latest (const FlamInterval *ranges, guint n, guint64 address)
{
  guint32 best = FLAM_NONE;

  for (guint i = 0; i < n; i++)
    if (address >= ranges[i].start && address < ranges[i].end &&
        (best == FLAM_NONE || ranges[i].value > best))
      best = ranges[i].value;
  return best;
}

static void
test_random (void)
{
  for (guint round = 0; round < 2000; round++)
    {
      FlamInterval ranges[24];
      FlamIntervals intervals;
      guint n = (guint)g_test_rand_int_range (1, 25);

      for (guint i = 0; i < n; i++)
        {
          ranges[i].start = (guint64)g_test_rand_int_range (0, 60);
          ranges[i].end = (guint64)g_test_rand_int_range (0, 64);
          ranges[i].value = i;
        }
      flam_intervals_init (&intervals, ranges, n);
      for (guint64 at = 0; at < 70; at++)
        g_assert_cmpuint (flam_intervals_find (&intervals, at),
                          ==,
                          slow_find (ranges, n, at));
      flam_intervals_clear (&intervals);
      flam_intervals_init_latest (&intervals, ranges, n);
      for (guint64 at = 0; at < 70; at++)
        g_assert_cmpuint (flam_intervals_find (&intervals, at),
                          ==,
                          slow_latest (ranges, n, at));
      flam_intervals_clear (&intervals);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/intervals/picture", test_picture);
  g_test_add_func ("/intervals/empty", test_empty);
  g_test_add_func ("/intervals/random", test_random);
  return g_test_run ();
}
