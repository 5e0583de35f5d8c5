/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-intervals.h"

#include <stdlib.h>

/* The sweep keeps the ranges that are open at the current address on a stack,
 * the winning one on top. */
typedef struct
{
  GArray *starts;
  GArray *values;
  GArray *open; /* FlamInterval */
} Sweep;

static int
compare (gconstpointer a, gconstpointer b)
{
  const FlamInterval *x = a;
  const FlamInterval *y = b;

  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  if (x->end != y->end)
    return x->end > y->end ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

static void
emit (Sweep *sweep, guint64 start, guint32 value)
{
  guint n = sweep->starts->len;

  if (n > 0 && g_array_index (sweep->starts, guint64, n - 1) == start)
    {
      g_array_index (sweep->values, guint32, n - 1) = value;
      return;
    }
  if (n > 0 && g_array_index (sweep->values, guint32, n - 1) == value)
    return;
  g_array_append_val (sweep->starts, start);
  g_array_append_val (sweep->values, value);
}

static void
close_until (Sweep *sweep, guint64 address)
{
  GArray *open = sweep->open;

  while (open->len > 0)
    {
      guint64 end = g_array_index (open, FlamInterval, open->len - 1).end;

      if (end > address)
        return;
      while (open->len > 0 &&
             g_array_index (open, FlamInterval, open->len - 1).end <= end)
        g_array_set_size (open, open->len - 1);
      emit (sweep,
            end,
            open->len > 0
                ? g_array_index (open, FlamInterval, open->len - 1).value
                : FLAM_NONE);
    }
}

void
flam_intervals_init (FlamIntervals *intervals, FlamInterval *ranges, gsize n)
{
  Sweep sweep = {
    .starts = g_array_new (FALSE, FALSE, sizeof (guint64)),
    .values = g_array_new (FALSE, FALSE, sizeof (guint32)),
    .open = g_array_new (FALSE, FALSE, sizeof (FlamInterval)),
  };

  if (n > 1)
    qsort (ranges, n, sizeof *ranges, compare);
  for (gsize i = 0; i < n; i++)
    {
      if (ranges[i].end <= ranges[i].start)
        continue;
      close_until (&sweep, ranges[i].start);
      emit (&sweep, ranges[i].start, ranges[i].value);
      g_array_append_val (sweep.open, ranges[i]);
    }
  close_until (&sweep, G_MAXUINT64);
  intervals->n = sweep.starts->len;
  intervals->start = (guint64 *)g_array_free (sweep.starts, FALSE);
  intervals->value = (guint32 *)g_array_free (sweep.values, FALSE);
  g_array_free (sweep.open, TRUE);
}

void
flam_intervals_clear (FlamIntervals *intervals)
{
  g_clear_pointer (&intervals->start, g_free);
  g_clear_pointer (&intervals->value, g_free);
  intervals->n = 0;
}
