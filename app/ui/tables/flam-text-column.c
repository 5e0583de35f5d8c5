/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-text-column.h"

#include "flam-widget.h"

#define FIGURE_WIDTH 104

typedef struct
{
  const FlamTextColumns *columns;
  guint column;
} Which;

static gboolean
is_name (const Which *which)
{
  return which->column == which->columns->name_column;
}

static gboolean
is_text (const Which *which)
{
  return is_name (which) || (which->columns->words & 1u << which->column) != 0;
}

static void
cell_setup (GtkListItemFactory *factory, GtkListItem *item, gpointer which)
{
  GtkWidget *label = gtk_label_new (NULL);

  if (is_text (which))
    gtk_label_set_xalign (GTK_LABEL (label), 0);
  else
    flam_widget_align_figure (GTK_LABEL (label));
  if (is_name (which))
    gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  else
    gtk_widget_add_css_class (label, "numeric");
  gtk_list_item_set_child (item, label);
}

static void
cell_bind (GtkListItemFactory *factory, GtkListItem *item, gpointer data)
{
  const Which *which = data;
  g_autofree char *tooltip = NULL;
  g_autofree char *text = which->columns->text (
      gtk_list_item_get_item (item), which->column, &tooltip);
  GtkWidget *label = gtk_list_item_get_child (item);

  /* AT-SPI calls an empty label by its type. */
  gtk_label_set_label (GTK_LABEL (label), *text != '\0' ? text : " ");
  gtk_widget_set_tooltip_text (label, tooltip);
  if (!is_name (which))
    flam_columns_need (factory, label, NULL);
}

static int
compare_rows (gconstpointer a, gconstpointer b, gpointer data)
{
  const Which *which = data;
  const FlamTextColumns *columns = which->columns;
  double x, y;

  if (is_name (which))
    return g_utf8_collate (columns->name ((gpointer)a),
                           columns->name ((gpointer)b));
  x = columns->figure ((gpointer)a, which->column);
  y = columns->figure ((gpointer)b, which->column);
  return (x > y) - (x < y);
}

GtkColumnViewColumn *
flam_text_column_add (GtkColumnView *view,
                      const FlamTextColumns *columns,
                      guint column,
                      const char *title,
                      int tight)
{
  GtkListItemFactory *factory = gtk_signal_list_item_factory_new ();
  g_autoptr (GtkColumnViewColumn) made =
      gtk_column_view_column_new (title, factory);
  Which *which = g_new (Which, 1);
  g_autoptr (GtkSorter) sorter =
      GTK_SORTER (gtk_custom_sorter_new (compare_rows, which, g_free));

  *which = (Which){ columns, column };
  g_signal_connect (factory, "setup", G_CALLBACK (cell_setup), which);
  g_signal_connect (factory, "bind", G_CALLBACK (cell_bind), which);
  gtk_column_view_column_set_resizable (made, TRUE);
  gtk_column_view_column_set_sorter (made, sorter);
  if (is_name (which))
    gtk_column_view_column_set_expand (made, TRUE);
  else
    {
      flam_columns_fit (made, FIGURE_WIDTH, tight);
      flam_columns_set_factory (made, factory);
      flam_columns_largest_first (made);
    }
  gtk_column_view_append_column (view, made);
  return made;
}
