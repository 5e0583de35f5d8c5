/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-intervals.h"
#include "flam-mapping.h"
#include "flam-ranges.h"

#include <stdio.h>
#include <string.h>

/* The diagram in the header. */
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

/* The header's guarantees, computed slowly. */
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

/* Every address by itself: later mappings replace earlier ones. */
static void
test_ranges (void)
{
  for (guint round = 0; round < 500; round++)
    {
      g_autoptr (FlamRanges) ranges = flam_ranges_new ();
      FlamRange slow[64] = { 0 };

      for (guint i = 1; i < 24; i++)
        {
          FlamRange range = { .start = (guint64)g_test_rand_int_range (0, 60),
                              .end = (guint64)g_test_rand_int_range (0, 64),
                              .offset = 1000 * i,
                              .value = i };

          if (i % 4 == 0)
            flam_ranges_remove (ranges, range.start, range.end);
          else
            flam_ranges_add (ranges, &range);
          for (guint64 at = range.start; at < range.end; at++)
            slow[at] = i % 4 == 0 ? (FlamRange){ 0 } : range;
        }
      for (guint64 at = 0, next = 0; at < 64; at++)
        {
          const FlamRange *found = flam_ranges_find (ranges, at);

          g_assert_cmpuint (found ? found->value : 0, ==, slow[at].value);
          if (found)
            g_assert_cmpuint (at - found->start + found->offset,
                              ==,
                              at - slow[at].start + slow[at].offset);
          for (next = at; next < 64 && slow[next].value == 0;)
            next++;
          found = flam_ranges_next (ranges, at);
          g_assert_cmpuint (found ? MAX (found->start, at) : 64, ==, next);
        }
    }
}

/* Our own map, as the C library's scanf() reads it. */
static void
test_mapping (void)
{
  g_autofree char *text = NULL;
  g_auto (GStrv) lines = NULL;
  gsize size;
  const char *at;
  FlamMapping mapping;
  guint n = 0;

  g_assert_true (g_file_get_contents ("/proc/self/maps", &text, &size, NULL));
  lines = g_strsplit (text, "\n", -1);
  for (at = text; flam_mapping_next (&at, text + size, &mapping); n++)
    {
      unsigned long long start, end, offset, inode;
      char perms[8];
      int path = 0;

      g_assert_cmpint (sscanf (lines[n],
                               "%llx-%llx %7s %llx %*s %llu %n",
                               &start,
                               &end,
                               perms,
                               &offset,
                               &inode,
                               &path),
                       ==,
                       5);
      g_assert_cmphex (mapping.start, ==, start);
      g_assert_cmphex (mapping.end, ==, end);
      g_assert_cmphex (mapping.offset, ==, offset);
      g_assert_cmpuint (mapping.inode, ==, inode);
      g_assert_cmpint (mapping.readable, ==, perms[0] == 'r');
      g_assert_cmpint (mapping.executable, ==, perms[2] == 'x');
      g_assert_cmpmem (mapping.path,
                       mapping.length,
                       lines[n] + path,
                       strlen (lines[n] + path));
    }
  g_assert_cmpuint (n + 1, ==, g_strv_length (lines));
}

static void
test_no_mapping (void)
{
  static const char *const wrong[] = {
    "",
    "1000",
    "1000-",
    "1000-2000",
    "1000-2000 r-x",
    "1000-2000: /lib/x",
    "x-2000 r-xp 0 0:0 0",
    "1000-2000 r-xp z 0:0 0",
    "fffffffffffffffff-2 r-xp 0 0:0 0",
  };
  const char *cut = "1000-2000 r-xp 0 fd:01 7 /lib/x y (deleted)\n3000-4000 r-";
  FlamMapping mapping;
  const char *at = cut;

  for (guint i = 0; i < G_N_ELEMENTS (wrong); i++)
    g_assert_false (
        flam_mapping_parse (wrong[i], wrong[i] + strlen (wrong[i]), &mapping));
  g_assert_true (flam_mapping_next (&at, cut + strlen (cut), &mapping));
  g_assert_true (g_str_has_prefix (mapping.path, "/lib/x y (deleted)\n"));
  g_assert_cmpuint (mapping.length, ==, strlen ("/lib/x y (deleted)"));
  g_assert_false (flam_mapping_next (&at, cut + strlen (cut), &mapping));
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/intervals/picture", test_picture);
  g_test_add_func ("/intervals/empty", test_empty);
  g_test_add_func ("/intervals/random", test_random);
  g_test_add_func ("/ranges/random", test_ranges);
  g_test_add_func ("/mapping/own", test_mapping);
  g_test_add_func ("/mapping/none", test_no_mapping);
  return g_test_run ();
}
