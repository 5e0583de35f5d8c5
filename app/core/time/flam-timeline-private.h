/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the timelines of activity and of memory share. */

#include "flam-sample-filter.h"
#include "flam-timeline.h"

G_BEGIN_DECLS

#define FLAM_TIMELINE_STEP (1 << 16) /* rows between two looks at progress */

/* Where the weight of a sample lies beside its time (flam-timeline-activity.c).
 */
typedef enum
{
  FLAM_STRETCH_NONE, /* not time, or nobody knows of which stretch */
  FLAM_STRETCH_BEFORE,
  FLAM_STRETCH_AFTER,
  FLAM_STRETCH_AROUND,
  FLAM_STRETCH_SPAN, /* the capture says: its own time and no other */
} FlamStretch;

/* The samples of a thread that were added: how many, and as what. */
typedef struct FlamTimelineThread
{
  guint32 n;
  FlamStretch stretch;
  gint64 before, after, around; /* how much of their weight would fit */
  gint64 weight;                /* for rows a thread */
} FlamTimelineThread;

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  const FlamMeasure *measure;
  const FlamTimeline *before; /* NULL: from the start */
  const FlamProgress *progress;
  FlamTimeline *timeline;
  FlamSampleFilter filter;
  guint *row_of; /* row of each thread; 0: none of its own */
} FlamTimelineFill;

static inline gint64 *
flam_timeline_cell (FlamTimeline *timeline, guint row, guint bucket)
{
  return &timeline->value[(gsize)row * timeline->n + bucket];
}

/* The weight of samples, bucket by bucket. */
gboolean flam_timeline_fill_activity (FlamTimelineFill *fill, GError **error);

/* The memory in use, bucket by bucket, and its peak. */
gboolean flam_timeline_fill_memory (FlamTimelineFill *fill, GError **error);

G_END_DECLS
