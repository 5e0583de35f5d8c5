/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_THREAD_ROW_H
#define FLAM_THREAD_ROW_H

/* A row of the thread selector. */

#include "flam-core-query.h"
#include "flam-thread-item.h"
#include "flam-view-data.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_THREAD_ROW (flam_thread_row_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamThreadRow, flam_thread_row, FLAM, THREAD_ROW, GtkWidget)

GtkWidget *flam_thread_row_new (void);
void flam_thread_row_set (FlamThreadRow *row,
                          FlamThreadItem *item,
                          const FlamViewData *view_data,
                          gint64 whole);
/* Signal "toggled": only when the user toggled it. */
void flam_thread_row_set_active (FlamThreadRow *row, gboolean active);
/* NULL: not available yet, or without times. */
void flam_thread_row_set_timeline (FlamThreadRow *row, FlamTimeline *timeline);
FlamThreadItem *flam_thread_row_get_item (FlamThreadRow *row);

G_END_DECLS

#endif
