/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-intervals.h"

#include <stdlib.h>

/* The sweep keeps a stack of the ranges that are open at the current address,
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

static void
sweep_begin (Sweep *sweep)
{
  sweep->starts = g_array_new (FALSE, FALSE, sizeof (guint64));
  sweep->values = g_array_new (FALSE, FALSE, sizeof (guint32));
  sweep->open = g_array_new (FALSE, FALSE, sizeof (FlamInterval));
}

static void
sweep_end (Sweep *sweep, FlamIntervals *intervals)
{
  intervals->n = sweep->starts->len;
  intervals->start = (guint64 *)g_array_free (sweep->starts, FALSE);
  intervals->value = (guint32 *)g_array_free (sweep->values, FALSE);
  g_array_free (sweep->open, TRUE);
}

void
flam_intervals_init (FlamIntervals *intervals, FlamInterval *ranges, gsize n)
{
  Sweep sweep;

  sweep_begin (&sweep);
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
  sweep_end (&sweep, intervals);
}

/* `open` is a heap here, the greatest value on top; a range that has ended is
 * removed when it gets to the top. */
static void
heap_push (GArray *heap, const FlamInterval *range)
{
  guint i = heap->len;
  FlamInterval *rows;

  g_array_append_vals (heap, range, 1);
  rows = (FlamInterval *)heap->data;
  for (; i > 0 && rows[(i - 1) / 2].value < range->value; i = (i - 1) / 2)
    rows[i] = rows[(i - 1) / 2];
  rows[i] = *range;
}

static void
heap_pop (GArray *heap)
{
  FlamInterval *rows = (FlamInterval *)heap->data;
  FlamInterval last = rows[heap->len - 1];
  guint n = heap->len - 1;
  guint i = 0;

  g_array_set_size (heap, n);
  for (guint child = 1; child < n; child = 2 * i + 1)
    {
      if (child + 1 < n && rows[child + 1].value > rows[child].value)
        child++;
      if (rows[child].value <= last.value)
        break;
      rows[i] = rows[child];
      i = child;
    }
  if (n > 0)
    rows[i] = last;
}

static void
expire_until (Sweep *sweep, guint64 address)
{
  GArray *open = sweep->open;

  while (open->len > 0)
    {
      guint64 end = g_array_index (open, FlamInterval, 0).end;

      if (end > address)
        return;
      while (open->len > 0 && g_array_index (open, FlamInterval, 0).end <= end)
        heap_pop (open);
      emit (sweep,
            end,
            open->len > 0 ? g_array_index (open, FlamInterval, 0).value
                          : FLAM_NONE);
    }
}

void
flam_intervals_init_latest (FlamIntervals *intervals,
                            FlamInterval *ranges,
                            gsize n)
{
  Sweep sweep;

  sweep_begin (&sweep);
  if (n > 1)
    qsort (ranges, n, sizeof *ranges, compare);
  for (gsize i = 0; i < n; i++)
    {
      if (ranges[i].end <= ranges[i].start)
        continue;
      expire_until (&sweep, ranges[i].start);
      heap_push (sweep.open, &ranges[i]);
      emit (&sweep,
            ranges[i].start,
            g_array_index (sweep.open, FlamInterval, 0).value);
    }
  expire_until (&sweep, G_MAXUINT64);
  sweep_end (&sweep, intervals);
}

void
flam_intervals_clear (FlamIntervals *intervals)
{
  g_clear_pointer (&intervals->start, g_free);
  g_clear_pointer (&intervals->value, g_free);
  intervals->n = 0;
}
