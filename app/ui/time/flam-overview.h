/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Time from left to right: how busy the selected threads were, or how much
 * memory was in use, with the selected range. Dragging selects; the handles
 * and the range itself can be dragged; double click and Escape take it back.
 * Keys: Left and Right move the range (or its end with Shift, its start with
 * Ctrl), + and - narrow and widen it.
 *
 * Signals
 *   range-changed (gint64 from, gint64 to)   half open, ns; G_MININT64 and
 *                                            G_MAXINT64 when all is selected
 *   peak-activated ()                        the written peak was clicked
 * While dragging, range-changed is emitted at most every 100 ms, and at the
 * end.
 */

#include <gtk/gtk.h>

#include "flam-core-query.h"

G_BEGIN_DECLS

#define FLAM_TYPE_OVERVIEW (flam_overview_get_type ())
G_DECLARE_FINAL_TYPE (FlamOverview, flam_overview, FLAM, OVERVIEW, GtkWidget)

GtkWidget *flam_overview_new (void);

FlamTimeline *flam_overview_get_timeline (FlamOverview *overview);
/* Takes a reference; NULL empties it. The timeline should have about as many
 * buckets as the widget has pixels (2000 are enough). */
void flam_overview_set_timeline (FlamOverview *self, FlamTimeline *timeline);
void flam_overview_set_range (FlamOverview *self, gint64 from, gint64 to);

/* A thread's strip in a list: the same picture, small and without input.
 * `row` is the row of the timeline (the thread's position among the requested
 * ones). */
#define FLAM_TYPE_SPARKLINE (flam_sparkline_get_type ())
G_DECLARE_FINAL_TYPE (FlamSparkline, flam_sparkline, FLAM, SPARKLINE, GtkWidget)

GtkWidget *flam_sparkline_new (void);
void
flam_sparkline_set_row (FlamSparkline *self, FlamTimeline *timeline, guint row);

G_END_DECLS
