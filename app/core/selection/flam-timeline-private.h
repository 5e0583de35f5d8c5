/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the timelines of activity and of memory share. */

#include "flam-timeline.h"

G_BEGIN_DECLS

#define FLAM_TIMELINE_STEP (1 << 16) /* rows between two looks at progress */

typedef struct
{
  const FlamProfile *profile;
  const FlamSelection *selection;
  const FlamMeasure *measure;
  const FlamProgress *progress;
  FlamTimeline *timeline;
  guint *row_of; /* row of each thread; 0: none of its own */
} FlamTimelineFill;

static inline guint
flam_timeline_bucket_of (const FlamTimeline *timeline, gint64 time)
{
  double at = flam_timeline_fraction_of (timeline, time) * timeline->n;

  return MIN ((guint)at, timeline->n - 1);
}

static inline gint64 *
flam_timeline_cell (FlamTimeline *timeline, guint row, guint bucket)
{
  return &timeline->value[(gsize)row * timeline->n + bucket];
}

/* The memory in use, bucket by bucket, and its peak. */
gboolean flam_timeline_fill_memory (FlamTimelineFill *fill, GError **error);

G_END_DECLS
