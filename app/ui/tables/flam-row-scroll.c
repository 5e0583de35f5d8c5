/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-row-scroll.h"

/* A list has a size, and heights for its rows, only once GTK has laid it out
 * with these rows. One that was empty or hidden until now has neither, and GTK
 * 4.8 then divides by its height, 0, and shows no rows until somebody scrolls.
 * The wanted row therefore waits for the end of a layout. */
typedef struct
{
  guint position; /* GTK_INVALID_LIST_POSITION: none */
  gboolean moved; /* to about where it is: the next layout makes it exact */
} Wanted;

static void
activate_scroll (GtkWidget *list, guint position)
{
  GtkWidget *rows = list;

  if (GTK_IS_COLUMN_VIEW (list))
    for (rows = gtk_widget_get_first_child (list);
         rows != NULL && !GTK_IS_LIST_VIEW (rows);
         rows = gtk_widget_get_next_sibling (rows))
      ;
  if (rows != NULL)
    gtk_widget_activate_action (rows, "list.scroll-to-item", "u", position);
}

static guint
n_rows (GtkWidget *list)
{
  g_autoptr (GListModel) rows = NULL;

  g_object_get (list, "model", &rows, NULL);
  return rows != NULL ? g_list_model_get_n_items (rows) : 0;
}

/* Most rows have the same height. Where they do not, GTK finds the exact place
 * of the row afterwards, and keeps it in view when the rows change. */
static void
on_layout (GtkWidget *list)
{
  Wanted *wanted = g_object_get_data (G_OBJECT (list), "flam-wanted");
  GtkAdjustment *down = gtk_scrollable_get_vadjustment (GTK_SCROLLABLE (list));
  double page, value, height, top;
  guint n;

  if (wanted->position == GTK_INVALID_LIST_POSITION ||
      !gtk_widget_get_mapped (list))
    return;
  n = n_rows (list);
  page = gtk_adjustment_get_page_size (down);
  if (n == 0 || page <= 0)
    return;
  if (wanted->position >= n)
    {
      wanted->position = GTK_INVALID_LIST_POSITION;
      return;
    }
  value = gtk_adjustment_get_value (down);
  height = gtk_adjustment_get_upper (down) / n;
  top = height * wanted->position;
  if (!wanted->moved && (top < value || top + height > value + page))
    {
      wanted->moved = TRUE;
      gtk_adjustment_set_value (down, top + height / 2 - page / 2);
      gtk_widget_queue_allocate (list);
      return;
    }
  activate_scroll (list, wanted->position);
  wanted->position = GTK_INVALID_LIST_POSITION;
}

static void
on_realize (GtkWidget *list)
{
  GdkSurface *surface = gtk_native_get_surface (gtk_widget_get_native (list));

  g_signal_connect_object (surface,
                           "layout",
                           G_CALLBACK (on_layout),
                           list,
                           G_CONNECT_AFTER | G_CONNECT_SWAPPED);
}

static void
on_unrealize (GtkWidget *list)
{
  GdkSurface *surface = gtk_native_get_surface (gtk_widget_get_native (list));

  g_signal_handlers_disconnect_by_func (surface, on_layout, list);
}

void
flam_rows_scroll_to (GtkWidget *list, guint position)
{
  Wanted *wanted = g_object_get_data (G_OBJECT (list), "flam-wanted");

  g_return_if_fail (GTK_IS_COLUMN_VIEW (list) || GTK_IS_LIST_VIEW (list));
  if (wanted == NULL)
    {
      wanted = g_new (Wanted, 1);
      g_object_set_data_full (G_OBJECT (list), "flam-wanted", wanted, g_free);
      g_signal_connect (list, "realize", G_CALLBACK (on_realize), NULL);
      g_signal_connect (list, "unrealize", G_CALLBACK (on_unrealize), NULL);
      if (gtk_widget_get_realized (list))
        on_realize (list);
    }
  *wanted = (Wanted){ .position = position };
  gtk_widget_queue_allocate (list);
}
