/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COLUMNS_VIEW_H
#define FLAM_COLUMNS_VIEW_H

/* Columns that the call tree and the function list share, over FlamTreeRow
 * (or GtkTreeListRow of it). */

#include "flam-session.h"
#include "flam-source-costs.h"
#include "flam-table-shape.h"
#include "flam-tree-row.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The row of an item of either kind: a new reference, since the rows of a tree
 * are created each time that one is requested. */
FlamTreeRow *flam_columns_row (gpointer item);

/* With `sorted`, the table can be sorted by the column. */
GtkColumnViewColumn *
flam_columns_add_cost (GtkColumnView *view, FlamCost cost, gboolean sorted);
/* Blocks beside bytes, or bytes beside blocks. Visible for measures of memory,
 * so update it for new view data (or NULL). */
GtkColumnViewColumn *flam_columns_add_other (GtkColumnView *view,
                                             gboolean sorted);
void flam_columns_update_other (GtkColumnViewColumn *column,
                                const FlamViewData *view_data);
GtkColumnViewColumn *
flam_columns_add_name (GtkColumnView *view, gboolean expander, gboolean sorted);
GtkColumnViewColumn *flam_columns_add_module (GtkColumnView *view,
                                              gboolean sorted);
/* The source line of a row by line: "file.c:12". */
GtkColumnViewColumn *flam_columns_add_place (GtkColumnView *view);
/* A right click sets its current frame before it shows the menu. */
void flam_columns_set_session (GtkColumnView *view, FlamSession *session);

/* Copies all rows in their displayed order to the clipboard as text: self,
 * total, name and module, separated by tabs. */
void flam_columns_copy_rows (GtkColumnView *view);

G_END_DECLS

#endif
