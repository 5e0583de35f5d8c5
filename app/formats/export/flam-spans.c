/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-spans.h"

typedef struct
{
  const FlamPart *part;
  const FlamSpanCalls *calls;
  GArray *open; /* FlamId: frames */
  GArray *path;
} Walk;

/* Whether two frames belong to the same call. */
static gboolean
is_same (const FlamPart *part, FlamBy by, FlamId a, FlamId b)
{
  const FlamFrames *frames = &part->profile->frames;

  return a == b ||
         (a != FLAM_NONE && b != FLAM_NONE &&
          frames->function[a] == frames->function[b] &&
          (by != FLAM_BY_LINE || (frames->line[a] == frames->line[b] &&
                                  frames->file[a] == frames->file[b])));
}

static FlamId
frame_at (const GArray *frames, guint i)
{
  return g_array_index (frames, FlamId, i);
}

static void
close_to (Walk *walk, guint depth, gint64 time)
{
  while (walk->open->len > depth)
    {
      walk->calls->end (
          walk->calls->data, frame_at (walk->open, walk->open->len - 1), time);
      g_array_set_size (walk->open, walk->open->len - 1);
    }
}

static void
open_path (Walk *walk, FlamStackId stack, gint64 time)
{
  guint same = 0;

  FlamId none = FLAM_NONE;

  flam_part_path (walk->part, stack, walk->path);
  if (stack == FLAM_NONE)
    g_array_append_val (walk->path, none);
  while (same < walk->open->len && same < walk->path->len &&
         is_same (walk->part,
                  walk->calls->by,
                  frame_at (walk->open, same),
                  frame_at (walk->path, same)))
    same++;
  close_to (walk, same, time);
  for (guint i = same; i < walk->path->len; i++)
    {
      FlamFrameId frame = frame_at (walk->path, i);

      walk->calls->begin (walk->calls->data, frame, time);
      g_array_append_val (walk->open, frame);
    }
}

/* Nine of ten rows end where the next one begins, to the µs, and do not also
 * begin where the previous one ends; rows of equal weights do both. */
gboolean
flam_spans_begin_at_times (const FlamPart *part, guint32 lane)
{
  g_auto (FlamPartRows) rows = flam_part_rows (part, part->measure, lane);
  FlamPartRow row, last;
  guint64 n = 0, after = 0, before = 0;

  if (part->profile->samples.time == NULL)
    return FALSE;
  if (flam_part_measure (part)->spans)
    return TRUE;
  if (!flam_part_rows_next (&rows, &last))
    return FALSE;
  for (; flam_part_rows_next (&rows, &row); last = row, n++)
    {
      gint64 gap = row.time - last.time;

      after += ABS (gap - last.weight) < 1000;
      before += ABS (gap - row.weight) < 1000;
    }
  return n > 0 && after * 10 >= n * 9 && before < after;
}

gint64
flam_spans_start (gboolean at_times,
                  const FlamPart *part,
                  const FlamPartRow *row,
                  gint64 end)
{
  gint64 late;

  if (part->profile->samples.time == NULL)
    return end;
  if (at_times)
    return MAX (row->time, end);
  late = row->time - row->weight;
  return late - end > row->weight ? late : end;
}

void
flam_spans_walk (const FlamPart *part, guint32 lane, const FlamSpanCalls *calls)
{
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (FlamId));
  g_autoptr (GArray) path = g_array_new (FALSE, FALSE, sizeof (FlamId));
  Walk walk = { part, calls, open, path };
  g_auto (FlamPartRows) rows = flam_part_rows (part, part->measure, lane);
  gboolean at_times = flam_spans_begin_at_times (part, lane);
  FlamPartRow row;
  gint64 end = 0;

  while (flam_part_rows_next (&rows, &row))
    {
      gint64 start = flam_spans_start (at_times, part, &row, end);

      if (start > end)
        close_to (&walk, 0, end);
      open_path (&walk, row.stack, start);
      end = start + row.weight;
    }
  close_to (&walk, 0, end);
}

gboolean
flam_spans_check (const FlamPart *part, GError **error)
{
  const FlamMeasure *measure = flam_part_measure (part);

  if (measure->unit == FLAM_UNIT_NS && measure->denominator == 1 &&
      measure->source == FLAM_FROM_SAMPLES)
    return TRUE;
  return flam_error_set (error,
                         FLAM_ERROR_UNSUPPORTED,
                         N_ ("this format holds only times, and “%s” is not a "
                             "time; choose another measure"),
                         flam_profile_string (part->profile, measure->id));
}
