/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TIMELINE_H
#define FLAM_TIMELINE_H

/* Profile + selection -> weight per bucket of time, one row per thread; or the
 * maximum of the memory in use in each bucket.
 *
 *    row 0 (all)      |▁▃▇▇▇▂▁ ▁▃|     bucket i is the half open range
 *    row 1 (thread 0) |▁▂▅▅▇▂▁   |     [i << shift, (i + 1) << shift) of time;
 *    row 2 (thread 1) | ▁▂▂     ▃|     the last one may end after `end`
 *
 * Lengths are powers of two, so that the buckets of a growing recording keep
 * their place, and are merged in pairs when they become too many: new data is
 * added to the previous timeline.
 *
 * A sample of time is spread over the time that it represents. The selection's
 * measure, threads and states count; its time range does not, except for the
 * peak (the picture shows all of time), nor do its transforms. */

#include "flam-weights.h"

G_BEGIN_DECLS

typedef enum
{
  FLAM_TIMELINE_ACTIVITY, /* weight of samples in a bucket */
  FLAM_TIMELINE_MEMORY,   /* live bytes (or blocks), the bucket's maximum */
} FlamTimelineKind;

/* The rows except the one of all threads. */
typedef enum
{
  FLAM_TIMELINE_ALL, /* nothing */
  FLAM_TIMELINE_THREADS,
  FLAM_TIMELINE_CPUS, /* by the label FLAM_LABEL_CPU; memory has none */
} FlamTimelineRows;

typedef struct
{
  FlamTimelineKind kind;
  FlamUnit unit;
  gint64 start, end;     /* ns; end is after the last event */
  guint shift;           /* length of the buckets: 2^shift ns */
  guint n;               /* buckets */
  guint n_rows;          /* 1 + threads or CPUs */
  gint64 *value;         /* n_rows * n; row 0: all selected threads together,
                            row 1 + i: the i-th of `threads` or `cpus` */
  FlamStateSplit *split; /* the same, by state; NULL: all running */
  gint64 *top;           /* n_rows: the greatest value of the row */
  FlamThreadId *threads; /* n_rows - 1; NULL: the rows are not threads */
  FlamStringId *cpus;    /* n_rows - 1, ascending: labels; NULL: not CPUs */
  gint64 ceiling; /* the maximum that a bucket can hold, 0: unknown. CPU time of
                     one thread: the bucket's length */
  gint64 peak_time; /* memory: the time of the peak measures; -1 otherwise */
  gint64 peak;      /* the memory of the selected threads at that time */
  guint n_counters; /* counters of the capture: "rss", "heap"; then its other
                       events that are counted */
  struct FlamTimelineCounter
  {
    const char *id; /* of an event its name */
    FlamUnit unit;
    gboolean is_rate; /* an event: its count per second in the bucket */
    gint64 *value;    /* n: the last value at or before the bucket's end */
    gint64 top;
  } * counters;
  FlamProfile *profile; /* a reference */

  /* The selection that it was made for, and the samples of each thread in it:
   * the next timeline is based on them. */
  FlamSelection *selection;
  guint wanted;
  FlamTimelineRows rows;
  struct FlamTimelineThread *filled; /* one per thread of the profile */
} FlamTimeline;

/* At most `n_buckets`, and more than half as many where these are not shorter
 * than 4 sampling periods. NULL with an error when cancelled, NULL without one
 * when the profile has no times. `rows`: one for each thread with weight,
 * heaviest first, or for each CPU, as far as memory allows. `before`: NULL, or
 * a timeline of an earlier snapshot: if it was made for the same selection its
 * samples are not added again; the result is the same. */
FlamTimeline *flam_timeline_new (const FlamProfile *profile,
                                 const FlamSelection *selection,
                                 const FlamTimeline *before,
                                 guint n_buckets,
                                 FlamTimelineRows rows,
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
static inline double
flam_timeline_fraction_of (const FlamTimeline *timeline, gint64 time)
{
  double span = (double)(timeline->end - timeline->start);

  time = CLAMP (time, timeline->start, timeline->end);
  return (double)(time - timeline->start) / span;
}
static inline guint
flam_timeline_bucket_of (const FlamTimeline *timeline, gint64 time)
{
  return (guint)MIN (MAX (time, 0) >> timeline->shift, timeline->n - 1);
}

G_END_DECLS

#endif
