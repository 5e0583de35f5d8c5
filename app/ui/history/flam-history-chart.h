/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One figure over the dates of captures: one line per series, one point per
 * capture.
 *
 *   Left, Right      to the capture before or after in the series
 *   Up, Down         to the series above or below, at about the same date
 *   Home, End        to the first, the last capture of the series
 *   Enter            opens the capture
 *   Space, click     marks it, and the next one is compared with it
 *   Escape           removes the mark */

#include "flam-core-query.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_HISTORY_NONE G_MAXUINT

#define FLAM_TYPE_HISTORY_CHART (flam_history_chart_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamHistoryChart, flam_history_chart, FLAM, HISTORY_CHART, GtkWidget)

/* Signals: "current-changed"; "open" (a capture of the history); "compare" (the
 * earlier one, the later one). */

/* Takes ownership of it; NULL empties the chart. `title` names the plotted
 * figure. The current capture is kept. */
void flam_history_chart_set_plot (FlamHistoryChart *chart,
                                  FlamPlot *plot,
                                  const char *title);
/* The capture that has the keyboard focus, or FLAM_HISTORY_NONE. */
guint flam_history_chart_get_current (FlamHistoryChart *chart);
void flam_history_chart_set_current (FlamHistoryChart *chart, guint capture);
/* A description of the hovered or current capture; or ""; g_free. */
char *flam_history_chart_describe (FlamHistoryChart *chart);

G_END_DECLS
