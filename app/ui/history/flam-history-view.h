/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HISTORY_VIEW_H
#define FLAM_HISTORY_VIEW_H

/* The captures of a folder, or of a store, over their dates: the choice of the
 * figure, the chart, and the same as a table.
 *
 *   open ─▶ job ─▶ history ─┬─ what, function, key ─▶ plot ─▶ chart, table
 *                           └─ what could not be read
 *
 * A capture is opened by win.open-uri, two are compared by win.compare-uris. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_HISTORY_VIEW (flam_history_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamHistoryView, flam_history_view, FLAM, HISTORY_VIEW, GtkWidget)

/* Signals: "changed" (its title, or whether it is busy), "given-up" (it was
 * cancelled while empty). */

void flam_history_view_open (FlamHistoryView *view, const char *path);
/* Files that have not changed are not read again. */
void flam_history_view_reload (FlamHistoryView *view);
void flam_history_view_cancel (FlamHistoryView *view);
gboolean flam_history_view_is_busy (FlamHistoryView *view);
/* The folder or the store; NULL: none was opened. */
const char *flam_history_view_get_path (FlamHistoryView *view);

G_END_DECLS

#endif
