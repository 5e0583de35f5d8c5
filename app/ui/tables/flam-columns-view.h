/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Columns that the call tree and the function list share, over FlamTreeRow
 * (or GtkTreeListRow of it). */

#include "flam-session.h"
#include "flam-source-costs.h"
#include "flam-tree-row.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* The row of an item of either kind; not a new reference. */
FlamTreeRow *flam_columns_row (gpointer item);

/* With `sorted`, the column can be sorted by. */
GtkColumnViewColumn *
flam_columns_add_cost (GtkColumnView *view, FlamCost cost, gboolean sorted);
/* Blocks beside bytes, or bytes beside blocks; there while memory is measured,
 * for which it asks to be told of a new excerpt (or NULL). */
GtkColumnViewColumn *flam_columns_add_other (GtkColumnView *view,
                                             gboolean sorted);
void flam_columns_update_other (GtkColumnViewColumn *column,
                                const FlamExcerpt *excerpt);
GtkColumnViewColumn *
flam_columns_add_name (GtkColumnView *view, gboolean expander, gboolean sorted);
GtkColumnViewColumn *flam_columns_add_module (GtkColumnView *view,
                                              gboolean sorted);
/* Whose current frame a right click sets before it shows the menu. */
void flam_columns_set_session (GtkColumnView *view, FlamSession *session);

/* What all tables have: columns that fit their width, and a first click on a
 * figure's title that puts the largest on top. */
void flam_columns_prepare (GtkColumnView *view);
/* As wide as `wide`, or as `tight` where the names would have too little room
 * (0: it is not shown then). */
void flam_columns_fit (GtkColumnViewColumn *column, int wide, int tight);
void flam_columns_set_wanted (GtkColumnViewColumn *column, gboolean wanted);
void flam_columns_largest_first (GtkColumnViewColumn *column);
/* By this column, the largest first. */
void flam_columns_sort (GtkColumnView *view, GtkColumnViewColumn *column);

/* Brings a row into view, once the table has a size. */
void flam_columns_scroll_to (GtkColumnView *view, guint position);
/* Selects the first row for which `is` holds, and shows it; none: no row is
 * selected. */
void flam_columns_show_row (GtkColumnView *view,
                            GtkSingleSelection *selection,
                            gboolean (*is) (gpointer item, gpointer data),
                            gpointer data);

/* All rows in the order they are shown in, as text: self, total, name and
 * module with tabs between, onto the clipboard. */
void flam_columns_copy_rows (GtkColumnView *view);

G_END_DECLS
