/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PLOT_WIDGET_H
#define FLAM_PLOT_WIDGET_H

/* A plot on the screen, with its pointer, keys, tooltips and accessible text.
 * What they do follows from the shape of the plot's first series:
 *
 *              area                    line, bars, cells
 *   drag       selects a range; its
 *              edges and the range
 *              can be dragged
 *   click      outside: no range;      current; lines and cells: marks the
 *              the note: activated     point, and the next one makes a pair
 *   2 clicks   no range                lines: opened
 *   arrows     move the range, with    walk from point to point
 *              Shift its end, with
 *              Ctrl its start
 *   + -        narrow and widen it
 *   Home, End                          the first, the last point of the series
 *   Return                             lines: opened; cells: as a click
 *   Space                              as a click
 *   Escape     no range                no mark, no range
 *
 * A pair of cells is a range of time. A plot without an axis has no input.
 *
 * Signals
 *   range-changed (gint64 from, gint64 to)   a FlamPlotRange; while dragging,
 *                                            at most every 100 ms
 *   note-activated ()
 *   current-changed ()                       also of the hovered point
 *   opened (guint series, guint point)
 *   pair-chosen (guint series, guint point, guint series, guint point)
 *                                            of lines: the marked one first
 */

#include <gtk/gtk.h>

#include "flam-core-picture.h"

G_BEGIN_DECLS

#define FLAM_TYPE_PLOT_WIDGET (flam_plot_widget_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamPlotWidget, flam_plot_widget, FLAM, PLOT_WIDGET, GtkWidget)

GtkWidget *flam_plot_widget_new (void);
/* For a plot without an axis, beside a text with the same content. */
GtkWidget *flam_plot_widget_new_small (void);

/* Takes ownership; NULL empties it. Points stay current and marked if the plot
 * has as many as the one before. */
void flam_plot_widget_set_plot (FlamPlotWidget *self, FlamPlot *plot);
/* From outside: no signal. */
void flam_plot_widget_set_range (FlamPlotWidget *self, gint64 from, gint64 to);

FlamPlotSpot flam_plot_widget_get_current (FlamPlotWidget *self);
void flam_plot_widget_set_current (FlamPlotWidget *self, FlamPlotSpot current);
FlamPlotSpot flam_plot_widget_get_marked (FlamPlotWidget *self);
void flam_plot_widget_set_marked (FlamPlotWidget *self, FlamPlotSpot marked);

/* The texts of the hovered or the current point; or ""; g_free. */
char *flam_plot_widget_describe (FlamPlotWidget *self);

G_END_DECLS

#endif
