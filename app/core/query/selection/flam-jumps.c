/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-jumps.h"

#include <stdlib.h>
#include <string.h>

/* Values of a capture may be anything. */
static gint64
sum_of (gint64 a, gint64 b)
{
  gint64 sum;

  return __builtin_add_overflow (a, MAX (b, 0), &sum) ? G_MAXINT64 : sum;
}

static void
add_count (FlamJumpCount *count, gint64 taken, gint64 reached)
{
  count->taken = sum_of (count->taken, taken);
  if (reached >= 0)
    count->reached = sum_of (MAX (count->reached, 0), reached);
}

/* --- lines ---------------------------------------------------------------- */

static guint32
compare_ids (guint32 a, guint32 b, int *order)
{
  *order = (a > b) - (a < b);
  return a != b;
}

/* FLAM_NONE: the jump stays in its function. */
static FlamId
other_function (const FlamJumpRow *row, const FlamFrames *frames)
{
  FlamId to = frames->function[row->to];

  return to != frames->function[row->from] ? to : FLAM_NONE;
}

/* By line; then by whether it is conditional, and by target. */
static int
compare_rows (const void *a, const void *b, gpointer data)
{
  const FlamJumpRow *x = a, *y = b;
  const FlamFrames *frames = data;
  int order;

  if (compare_ids (x->line, y->line, &order) ||
      compare_ids (x->count.reached >= 0, y->count.reached >= 0, &order) ||
      compare_ids (frames->file[x->to], frames->file[y->to], &order) ||
      compare_ids (frames->line[x->to], frames->line[y->to], &order))
    return order;
  compare_ids (other_function (x, frames), other_function (y, frames), &order);
  return order;
}

FlamJumpRow *
flam_jumps_of_lines (const FlamProfile *profile,
                     const char *file,
                     FlamFunctionId function,
                     guint *n)
{
  const FlamJumps *jumps = &profile->jumps;
  const FlamFrames *frames = &profile->frames;
  GArray *rows = g_array_new (FALSE, FALSE, sizeof (FlamJumpRow));
  FlamJumpRow *all;

  for (guint32 i = 0; i < jumps->n; i++)
    {
      FlamId from = jumps->from[i];
      FlamJumpRow row = { frames->line[from], jumps->to[i], from, { 0, -1 } };

      if (row.line == 0 ||
          (function != FLAM_NONE && frames->function[from] != function) ||
          strcmp (flam_profile_string (profile, frames->file[from]), file) != 0)
        continue;
      add_count (&row.count, jumps->taken[i], jumps->reached[i]);
      g_array_append_val (rows, row);
    }
  g_array_sort_with_data (rows, compare_rows, (gpointer)frames);
  *n = 0;
  all = (FlamJumpRow *)(void *)rows->data;
  for (guint i = 0; i < rows->len; i++)
    if (*n > 0 && compare_rows (&all[*n - 1], &all[i], (gpointer)frames) == 0)
      add_count (&all[*n - 1].count, all[i].count.taken, all[i].count.reached);
    else
      all[(*n)++] = all[i];
  return (FlamJumpRow *)(void *)g_array_free (rows, FALSE);
}

const FlamJumpRow *
flam_jumps_find (const FlamJumpRow *rows, guint n, guint32 line, guint *n_found)
{
  guint low = 0, high = n;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (rows[middle].line < line)
        low = middle + 1;
      else
        high = middle;
    }
  for (*n_found = 0; low + *n_found < n && rows[low + *n_found].line == line;)
    ++*n_found;
  return rows + low;
}

/* --- instructions --------------------------------------------------------- */

void
flam_jumps_of_addresses (const FlamProfile *profile,
                         FlamModuleId module,
                         FlamRowOfAddress find_row,
                         gpointer data,
                         FlamJumpCount *counts)
{
  const FlamJumps *jumps = &profile->jumps;

  for (guint32 i = 0; i < jumps->n; i++)
    {
      FlamFrameId from = jumps->from[i];
      guint64 address = profile->frames.address[from];
      guint32 row;

      if (address == 0 ||
          profile->functions.module[profile->frames.function[from]] != module)
        continue;
      row = find_row (data, address);
      if (row != FLAM_NONE)
        add_count (&counts[row], jumps->taken[i], jumps->reached[i]);
    }
}
