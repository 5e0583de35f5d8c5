/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_INTERVALS_H
#define FLAM_INTERVALS_H

/* Address ranges that may nest and overlap, flattened into one sorted array,
 * so that a look-up is one binary search:
 *
 *    ranges   0 ├────────────── A ──────────────┤ 100
 *                  10 ├──── B ────┤ 40
 *                       20 ├─ C ─┤ 40           120 ├ D ┤ 130
 *
 *    start    0   10   20   40   100   120   130
 *    value    A   B    C    A    -     D     -
 *
 * At each address the range that starts last wins; of ranges that start
 * together the shortest; of equal ones the one with the greater value. So with
 * values assigned to parents first the innermost range wins. */

#include "flam-core-profile.h"

typedef struct
{
  guint64 start;
  guint64 end; /* exclusive; ranges with end <= start are ignored */
  guint32 value;
} FlamInterval;

typedef struct
{
  guint32 n;
  guint64 *start;
  guint32 *value; /* FLAM_NONE: no range up to the next start */
} FlamIntervals;

/* Sorts `ranges` in place; keeps no reference to it. */
void
flam_intervals_init (FlamIntervals *intervals, FlamInterval *ranges, gsize n);
/* The same, but at each address the range with the greatest value wins: code
 * that was written later replaces older code. */
void flam_intervals_init_latest (FlamIntervals *intervals,
                                 FlamInterval *ranges,
                                 gsize n);
void flam_intervals_clear (FlamIntervals *intervals);

/* The slice that contains `address`; G_MAXUINT32 if it is before the first. */
static inline guint32
flam_intervals_slice (const FlamIntervals *intervals, guint64 address)
{
  guint32 low = 0;
  guint32 high = intervals->n;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;
      if (intervals->start[middle] <= address)
        low = middle + 1;
      else
        high = middle;
    }
  return low - 1;
}

static inline guint32
flam_intervals_find (const FlamIntervals *intervals, guint64 address)
{
  guint32 slice = flam_intervals_slice (intervals, address);
  return slice == G_MAXUINT32 ? FLAM_NONE : intervals->value[slice];
}

#endif
