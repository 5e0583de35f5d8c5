/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HISTORY_WORDS_H
#define FLAM_HISTORY_WORDS_H

/* A history in words. g_free the results unless they are const. */

#include "flam-core-query.h"

G_BEGIN_DECLS

/* "CPU time", "Peak memory". */
const char *flam_history_words_choice (const FlamTrendChoice *choice);
/* The display name of a series; "" has one, too. */
const char *flam_history_words_series (const char *name);
/* "2026-11-23 14:05", with a note if it is the file's date. */
char *flam_history_words_short_date (const FlamFigures *figures);
/* "1.20 s", "at most 3". */
char *flam_history_words_value (const FlamTrend *trend,
                                const FlamTrendPoint *point);
/* "+1.20 s (+5.3 %)" since the previous point; "" for the first. */
char *flam_history_words_change (const FlamTrend *trend,
                                 const FlamTrendSeries *series,
                                 guint point);
/* All data of a point, one per line: capture, date, value and change, series,
 * command, build, host. */
char *flam_history_words_point (const FlamTrend *trend,
                                guint series,
                                guint point,
                                const char *separator);
/* The files that could not be read, one per line. */
char *flam_history_words_refused (const FlamHistory *history);
/* Pango markup: a series after the shape of its points, in its color. */
char *
flam_history_words_legend (const FlamTrend *trend, guint series, gboolean dark);

G_END_DECLS

#endif
