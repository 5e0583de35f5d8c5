/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HISTORY_TABLE_H
#define FLAM_HISTORY_TABLE_H

/* The points of a trend as rows: value, change since the previous point, date,
 * series, capture. */

#include "flam-core-query.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_HISTORY_ROW (flam_history_row_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamHistoryRow, flam_history_row, FLAM, HISTORY_ROW, GObject)

guint flam_history_row_get_capture (FlamHistoryRow *row);

/* Adds the columns, and a row selection that is sorted by them; returns the
 * rows' store. */
GListStore *flam_history_table_prepare (GtkColumnView *view);
/* Rows of the trend, by date; they copy their data. */
void flam_history_table_fill (GListStore *store, const FlamTrend *trend);
/* All rows in their displayed order, separated by tabs, with a line of titles;
 * g_free. */
char *flam_history_table_text (GtkColumnView *view);

G_END_DECLS

#endif
