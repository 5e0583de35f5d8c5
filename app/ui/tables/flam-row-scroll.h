/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ROW_SCROLL_H
#define FLAM_ROW_SCROLL_H

/* The row that a list or a table brings into view. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Brings a row of a GtkColumnView or GtkListView into view, to the middle if it
 * is outside, as soon as the list is visible and laid out with its rows. Can be
 * called at any time; the last call counts. GTK_INVALID_LIST_POSITION: the list
 * stays where it is. */
void flam_rows_scroll_to (GtkWidget *list, guint position);

G_END_DECLS

#endif
