/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Profile + selection -> weight per bucket of time, a row a thread; or the
 * memory in use at each bucket's worst moment.
 *
 *    row 0 (all)      |▁▃▇▇▇▂▁ ▁▃|     bucket i is the half open range
 *    row 1 (thread 0) |▁▂▅▅▇▂▁   |     [i * length, (i + 1) * length) of time
 *    row 2 (thread 1) | ▁▂▂     ▃|
 *
 * A sample of time is spread over the time it stands for. The selection's
 * measure, threads and states count; its time range does not
 * (the picture shows all of time) but for where the peak is, nor do its
 * transforms. */

#include "flam-weights.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_TIMELINE_ACTIVITY, /* weight of samples in a bucket */
  FLAM_TIMELINE_MEMORY,   /* live bytes (or blocks), the bucket's maximum */
} FlamTimelineKind;

typedef struct
{
  FlamTimelineKind kind;
  FlamUnit unit;
  gint64 start, end;     /* ns; end is after the last event */
  guint n;               /* buckets */
  guint n_rows;          /* 1 + threads */
  gint64 *value;         /* n_rows * n; row 0: all selected threads together,
                            row 1 + i: the i-th of `threads` */
  FlamStateSplit *split; /* the same, by state; NULL: all running */
  gint64 *top;           /* n_rows: the greatest value of the row */
  FlamId *threads;       /* n_rows - 1 */
  gint64 ceiling;   /* what a bucket can hold at most, 0: not known. CPU time
                       of one thread: the bucket's length */
  gint64 peak_time; /* memory: the moment of the peak measures; -1 otherwise */
  gint64 peak;      /* what the selected threads held then */
  guint n_counters; /* beside it: "rss", "heap" as the profile has them */
  struct FlamTimelineCounter
  {
    const char *id;
    FlamUnit unit;
    gint64 *value; /* n: the last value at or before the bucket's end */
    gint64 top;
  } * counters;
  FlamProfile *profile; /* a reference */
} FlamTimeline;

/* At most `n_buckets`: fewer where they would be shorter than 4 sampling
 * periods. NULL with an error when cancelled, NULL without one when the profile
 * has no times. `per_thread`: also a row for each thread that has weight,
 * heaviest first. */
FlamTimeline *flam_timeline_new (const FlamProfile *profile,
                                 const FlamSelection *selection,
                                 guint n_buckets,
                                 gboolean per_thread,
                                 const FlamProgress *progress,
                                 GError **error);
FlamTimeline *flam_timeline_ref (FlamTimeline *timeline);
void flam_timeline_unref (FlamTimeline *timeline);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamTimeline, flam_timeline_unref)

static inline const gint64 *
flam_timeline_row (const FlamTimeline *timeline, guint row)
{
  return timeline->value + (gsize)row * timeline->n;
}
gint64 flam_timeline_time_of (const FlamTimeline *timeline, double fraction);
static inline double
flam_timeline_fraction_of (const FlamTimeline *timeline, gint64 time)
{
  double span = (double)(timeline->end - timeline->start);

  time = CLAMP (time, timeline->start, timeline->end);
  return (double)(time - timeline->start) / span;
}

G_END_DECLS
