/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A history in words. g_free the results but where they are const. */

#include "flam-core-query.h"

G_BEGIN_DECLS

/* "CPU time", "Peak memory". */
const char *flam_history_words_choice (const FlamPlotChoice *choice);
/* The name of a series, for people; "" has a name as well. */
const char *flam_history_words_series (const char *name);
/* "2026-11-23 14:05", and a word where it is the file's. */
char *flam_history_words_short_date (const FlamFigures *figures);
/* "1.20 s", "at most 3". */
char *flam_history_words_value (const FlamPlot *plot,
                                const FlamPlotPoint *point);
/* "+1.20 s (+5.3 %)" since the point before; "" of the first. */
char *flam_history_words_change (const FlamPlot *plot,
                                 const FlamPlotSeries *series,
                                 guint point);
/* All data of a point, a line each: capture, date, value and change, series,
 * command, build, host. */
char *flam_history_words_point (const FlamPlot *plot,
                                guint series,
                                guint point,
                                const char *separator);
/* The files that could not be read, a line each. */
char *flam_history_words_refused (const FlamHistory *history);
/* Pango's markup: the series in their colors, after the shapes of their
 * points. */
char *flam_history_words_legend (const FlamPlot *plot, gboolean dark);

G_END_DECLS
