/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Rows in order of time, compared with a sort that uses a comparison
 * function. */

#include "flam-core-profile.h"

static int
compare (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 *times = data;
  gint64 x = times[*(const guint32 *)a];
  gint64 y = times[*(const guint32 *)b];

  return (x > y) - (x < y);
}

static gint64
draw (GRand *lot, guint kind)
{
  gint64 wide = (gint64)((guint64)g_rand_int (lot) << 32 | g_rand_int (lot));

  switch (kind)
    {
    case 0:
      return wide; /* also negative ones */
    case 1:
      return g_rand_int_range (lot, -3, 3); /* ties */
    case 2:
      return wide & ~G_GINT64_CONSTANT (0xffff00);
    default:
      return g_rand_boolean (lot) ? G_MININT64 : G_MAXINT64;
    }
}

static void
assert_sorted (GRand *lot, guint32 n, guint kind)
{
  g_autofree gint64 *times = g_new (gint64, n + 1);
  g_autofree guint32 *order = g_new (guint32, n + 1);
  g_autofree guint32 *expected = g_new (guint32, n + 1);
  gboolean ascends = TRUE;

  /* From the last row to the first. */
  for (guint32 i = 0; i < n; i++)
    {
      times[i] = draw (lot, kind);
      order[i] = expected[i] = n - 1 - i;
    }
  for (guint32 i = 1; i < n; i++)
    ascends &= times[order[i - 1]] <= times[order[i]];
  g_qsort_with_data (expected, (int)n, sizeof *expected, compare, times);
  g_assert_cmpint (flam_order_by_time (order, n, times), ==, !ascends);
  g_assert_cmpmem (order, n * sizeof *order, expected, n * sizeof *expected);
  g_assert_false (flam_order_by_time (order, n, times));
}

static void
test_times (void)
{
  g_autoptr (GRand) lot = g_rand_new_with_seed (11);

  for (guint kind = 0; kind < 4; kind++)
    {
      for (guint32 n = 0; n < 40; n++)
        assert_sorted (lot, n, kind);
      assert_sorted (lot, 5000, kind);
    }
}

static void
test_take (void)
{
  static const guint sizes[] = { 1, 2, 4, 8, 24 };
  const guint32 order[] = { 3, 0, 4, 4, 1 };
  guint8 from[5 * 24], to[5 * 24];

  for (guint i = 0; i < sizeof from; i++)
    from[i] = (guint8)(i * 7);
  for (guint k = 0; k < G_N_ELEMENTS (sizes); k++)
    {
      guint size = sizes[k];

      flam_order_take (to, from, size, G_N_ELEMENTS (order), order);
      for (guint i = 0; i < G_N_ELEMENTS (order); i++)
        g_assert_cmpmem (to + i * size, size, from + order[i] * size, size);
    }
}

int
main (int argc, char **argv)
{
  g_test_init (&argc, &argv, NULL);
  g_test_add_func ("/order/times", test_times);
  g_test_add_func ("/order/take", test_take);
  return g_test_run ();
}
