/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_OVERVIEW_H
#define FLAM_OVERVIEW_H

/* How busy the selected threads were over time, or how much memory was in use,
 * as a plot. It takes a reference to the timeline, which should have about as
 * many buckets as the widget has pixels (2000 are enough). */

#include "flam-core-picture.h"

G_BEGIN_DECLS

FlamPlot *flam_overview_plot (FlamTimeline *timeline);
/* Whether a counter is neither in that plot nor its curve. In a capture of
 * memory, the plot of CPU time leaves heap and RSS to that of memory. */
gboolean flam_overview_leaves_counter (const FlamTimeline *timeline,
                                       guint counter);
/* One row of the timeline (the thread's position among the requested ones),
 * without an axis, for a list. */
FlamPlot *flam_overview_row_plot (FlamTimeline *timeline, guint row);

G_END_DECLS

#endif
