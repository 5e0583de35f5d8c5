/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PLOT_TREND_H
#define FLAM_PLOT_TREND_H

/* A trend as a plot: a line for each of its series, over the dates of their
 * captures. Captures of one date are placed side by side. */

#include "flam-plot.h"
#include "flam-trend.h"

G_BEGIN_DECLS

/* Takes ownership of the trend. */
FlamPlot *flam_plot_of_trend (FlamTrend *trend);

/* The capture of a point; G_MAXUINT: the plot has no such point. */
guint flam_plot_capture_at (const FlamPlot *plot, FlamPlotSpot spot);
/* The point of a capture of the history, or nowhere. */
FlamPlotSpot flam_plot_find_capture (const FlamPlot *plot, guint capture);
const FlamTrend *flam_plot_get_trend (const FlamPlot *plot);

G_END_DECLS

#endif
