/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TABLE_SHAPE_H
#define FLAM_TABLE_SHAPE_H

/* The common parts of all tables, whatever their columns contain: width, order,
 * the visible row. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Common to all tables: columns that fit their width, a first click on the
 * title of figures that puts the largest on top, and Tab that leaves the
 * table. */
void flam_columns_prepare (GtkColumnView *view);
/* The width is `wide`, or `tight` if the names would have too little room (0:
 * then it is hidden). */
void flam_columns_fit (GtkColumnViewColumn *column, int wide, int tight);
/* The column grows with the figures that its cells show: its factory calls
 * flam_columns_need() whenever it has bound a cell, whose child is `child`;
 * `part`: the part of the child's width that is needed in any case, NULL: all
 * of it. They are forgotten when there are other rows. */
void flam_columns_set_factory (GtkColumnViewColumn *column,
                               GtkListItemFactory *factory);
void flam_columns_need (GtkListItemFactory *factory,
                        GtkWidget *child,
                        int (*part) (GtkWidget *child));
void flam_columns_forget_needs (GtkColumnView *view);
void flam_columns_set_wanted (GtkColumnViewColumn *column, gboolean wanted);
/* The tooltip of the column's title. */
void flam_columns_set_meaning (GtkColumnViewColumn *column,
                               const char *meaning);
void flam_columns_largest_first (GtkColumnViewColumn *column);
/* Sorts by this column, the largest first. */
void flam_columns_sort (GtkColumnView *view, GtkColumnViewColumn *column);

/* Selects and shows the first row for which `is` returns TRUE; if there is
 * none, selects none. */
void flam_columns_show_row (GtkColumnView *view,
                            GtkSingleSelection *selection,
                            gboolean (*is) (gpointer item, gpointer data),
                            gpointer data);

G_END_DECLS

#endif
