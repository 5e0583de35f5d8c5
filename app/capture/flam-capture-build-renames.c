/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-build.h"

#include <stdlib.h>

/* Generated code: an address means one function, and another later. The frame
 * of the address is recorded once; SYMBOLS say what it was at first, RENAMES
 * what it was from then on:
 *
 *   time      ----- 20 ------------- 50 ------>
 *   frame 7   parse | render                        RENAMES (7, 20, render)
 *   frame 9   loop                   | sort         RENAMES (9, 50, sort)
 *   epoch       0   |       1        |    2
 *
 * A stack with such frames becomes one builder stack for each epoch that it was
 * sampled in, or allocated in; where nothing of it was renamed, those are the
 * same again. Allocations have the time of the recorder's tick (10 ms). */

#define STACKS_MAX (4u << 20)

struct _FlamCaptureRenames
{
  GArray *rows;       /* guint32: rows of RENAMES, by frame, then time */
  GArray *times;      /* gint64: where epochs begin, ascending */
  guint32 *first;     /* of a frame: its first in `rows`, or FLAM_NONE */
  guint8 *changes;    /* of a stack: it has such a frame */
  GHashTable *stacks; /* stack << 32 | epoch -> builder's stack + 1 */
  guint32 n_made;
};

static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamCaptureTable t = FLAM_CAPTURE_RENAMES;
  const FlamCaptureBuild *build = data;
  guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
  guint32 frame_x = flam_build_u32 (build, t, 0, x);
  guint32 frame_y = flam_build_u32 (build, t, 0, y);
  gint64 time_x = flam_build_i64 (build, t, 1, x);
  gint64 time_y = flam_build_i64 (build, t, 1, y);

  if (frame_x != frame_y)
    return frame_x < frame_y ? -1 : 1;
  if (time_x != time_y)
    return time_x < time_y ? -1 : 1;
  return x < y ? -1 : x > y;
}

static int
compare_times (gconstpointer a, gconstpointer b)
{
  gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;

  return x < y ? -1 : x > y;
}

static void
find_stacks (const FlamCaptureBuild *build, FlamCaptureRenames *renames)
{
  const FlamCaptureTable t = FLAM_CAPTURE_STACKS;
  guint32 n = flam_build_table (build, t)->n;

  renames->changes = g_new0 (guint8, MAX (n, 1));
  for (guint32 i = 0; i < n; i++)
    {
      guint32 prefix = flam_build_u32 (build, t, 0, i);
      guint32 frame = flam_build_u32 (build, t, 1, i);

      renames->changes[i] = renames->first[frame] != FLAM_NONE ||
                            (prefix != FLAM_NONE && renames->changes[prefix]);
    }
}

void
flam_capture_build_renames (FlamCaptureBuild *build)
{
  const FlamCaptureTable t = FLAM_CAPTURE_RENAMES;
  guint32 n = flam_build_table (build, t)->n;
  guint32 n_frames = flam_build_table (build, FLAM_CAPTURE_FRAMES)->n;
  FlamCaptureRenames *renames;

  if (n == 0)
    return;
  renames = build->renames = g_new0 (FlamCaptureRenames, 1);
  renames->rows = g_array_new (FALSE, FALSE, sizeof (guint32));
  renames->times = g_array_new (FALSE, FALSE, sizeof (gint64));
  renames->first = g_new (guint32, n_frames);
  renames->stacks =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  for (guint32 i = 0; i < n_frames; i++)
    renames->first[i] = FLAM_NONE;
  for (guint32 i = 0; i < n; i++)
    {
      gint64 time = flam_build_i64 (build, t, 1, i);
      g_array_append_val (renames->rows, i);
      g_array_append_val (renames->times, time);
    }
  g_array_sort_with_data (renames->rows, compare_rows, build);
  g_array_sort (renames->times, compare_times);
  for (guint32 i = n; i-- > 0;)
    renames->first[flam_build_u32 (
        build, t, 0, g_array_index (renames->rows, guint32, i))] = i;
  find_stacks (build, renames);
}

void
flam_capture_renames_free (FlamCaptureRenames *renames)
{
  if (renames == NULL)
    return;
  g_array_unref (renames->rows);
  g_array_unref (renames->times);
  g_hash_table_unref (renames->stacks);
  g_free (renames->first);
  g_free (renames->changes);
  g_free (renames);
}

/* How many of the times are not after `time`. */
static guint32
epoch_of (const FlamCaptureRenames *renames, gint64 time)
{
  guint low = 0, high = renames->times->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;
      if (g_array_index (renames->times, gint64, middle) <= time)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

/* The row of RENAMES that holds for a frame at a time, or FLAM_NONE. */
static guint32
last_rename (const FlamCaptureBuild *build, guint32 frame, gint64 time)
{
  const FlamCaptureTable t = FLAM_CAPTURE_RENAMES;
  const FlamCaptureRenames *renames = build->renames;
  guint32 low = renames->first[frame], first = low;
  guint32 high = renames->rows->len;

  if (first == FLAM_NONE)
    return FLAM_NONE;
  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;
      guint32 row = g_array_index (renames->rows, guint32, middle);
      if (flam_build_u32 (build, t, 0, row) == frame &&
          flam_build_i64 (build, t, 1, row) <= time)
        low = middle + 1;
      else
        high = middle;
    }
  return low > first ? g_array_index (renames->rows, guint32, low - 1)
                     : FLAM_NONE;
}

static FlamId
push_frame_at (FlamCaptureBuild *build,
               FlamId prefix,
               guint32 frame,
               gint64 time)
{
  const FlamCaptureTable t = FLAM_CAPTURE_RENAMES;
  guint32 found = last_rename (build, frame, time);

  if (found == FLAM_NONE)
    return flam_capture_build_push_frame (build, prefix, frame);
  return flam_builder_stack (
      build->builder,
      prefix,
      flam_builder_frame (
          build->builder,
          flam_build_id (build, t, 2, found),
          (guint64)flam_build_i64 (build, FLAM_CAPTURE_FRAMES, 1, frame),
          flam_build_u32 (build, t, 3, found),
          0));
}

FlamId
flam_capture_build_stack_at (FlamCaptureBuild *build,
                             guint32 stack,
                             gint64 time)
{
  const FlamCaptureTable t = FLAM_CAPTURE_STACKS;
  FlamCaptureRenames *renames = build->renames;
  guint32 epoch = renames != NULL ? epoch_of (renames, time) : 0;
  g_autoptr (GArray) path = NULL;
  FlamId made = FLAM_NONE;

  if (stack == FLAM_NONE)
    return FLAM_NONE;
  if (epoch == 0 || !renames->changes[stack] || renames->n_made > STACKS_MAX)
    return build->map[t][stack];
  path = g_array_new (FALSE, FALSE, sizeof (guint32));
  while (stack != FLAM_NONE)
    {
      gint64 key = (gint64)((guint64)stack << 32 | epoch);
      gpointer known = g_hash_table_lookup (renames->stacks, &key);

      if (known != NULL || !renames->changes[stack])
        {
          made = known != NULL ? GPOINTER_TO_UINT (known) - 1
                               : build->map[t][stack];
          break;
        }
      g_array_append_val (path, stack);
      stack = flam_build_u32 (build, t, 0, stack);
    }
  for (guint i = path->len; i-- > 0;)
    {
      guint32 here = g_array_index (path, guint32, i);
      gint64 key = (gint64)((guint64)here << 32 | epoch);

      made =
          push_frame_at (build, made, flam_build_u32 (build, t, 1, here), time);
      g_hash_table_insert (renames->stacks,
                           g_memdup2 (&key, sizeof key),
                           GUINT_TO_POINTER (made + 1));
      renames->n_made++;
    }
  return made;
}
