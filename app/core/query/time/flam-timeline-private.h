/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Declarations that the timelines of activity and of memory share. */

#include "flam-sample-filter.h"
#include "flam-timeline.h"

G_BEGIN_DECLS

#define FLAM_TIMELINE_STEP (1 << 16) /* rows between two progress reports */

/* The position of a sample's stretch relative to its time (flam-timeline-
 * activity.c). */
typedef enum
{
  FLAM_STRETCH_NONE, /* not a time, or an unknown stretch */
  FLAM_STRETCH_BEFORE,
  FLAM_STRETCH_AFTER,
  FLAM_STRETCH_AROUND,
  FLAM_STRETCH_SPAN, /* given by the capture: exactly its own time */
} FlamStretch;

/* The samples of a thread that were added: how many, and with which stretch. */
typedef struct FlamTimelineThread
{
  guint32 n;
  FlamStretch stretch;
  gint64 before, after, around; /* the part of their weight that fits */
  gint64 weight;                /* to choose the threads with rows */
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
