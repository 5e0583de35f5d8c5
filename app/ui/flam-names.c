/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-names.h"

#include <adwaita.h>
#include <glib/gi18n.h>

static void
name_by (GtkWidget *widget, GtkWidget *label)
{
  gtk_accessible_update_relation (GTK_ACCESSIBLE (widget),
                                  GTK_ACCESSIBLE_RELATION_LABELLED_BY,
                                  label,
                                  NULL,
                                  -1);
}

static gboolean
is_name (GtkWidget *widget)
{
  return GTK_IS_LABEL (widget) && !gtk_widget_has_css_class (widget, "numeric");
}

/* The first text below `top` that is not a figure; a figure may come first. */
static GtkWidget *
find_name (GtkWidget *top)
{
  GtkWidget *widget = top;

  while (widget != NULL && !is_name (widget))
    {
      GtkWidget *next = gtk_widget_get_first_child (widget);

      while (next == NULL && widget != top)
        {
          next = gtk_widget_get_next_sibling (widget);
          if (next == NULL)
            widget = gtk_widget_get_parent (widget);
        }
      widget = next;
    }
  return widget;
}

/* It is named by the label whose mnemonic widget it is. A button that gets
 * another child briefly claims to have a label still. */
static void
drop_raw_text (GtkButton *button)
{
  if (gtk_button_get_use_underline (button) &&
      GTK_IS_LABEL (gtk_button_get_child (button)))
    gtk_accessible_reset_property (GTK_ACCESSIBLE (button),
                                   GTK_ACCESSIBLE_PROPERTY_LABEL);
}

static void
mend_button (GtkButton *button)
{
  GtkWidget *widget = GTK_WIDGET (button);
  GtkWidget *parent = gtk_widget_get_parent (widget);

  drop_raw_text (button);
  g_signal_handlers_disconnect_by_func (button, drop_raw_text, NULL);
  g_signal_connect (button, "notify::label", G_CALLBACK (drop_raw_text), NULL);
  if (g_str_equal (G_OBJECT_TYPE_NAME (parent), "AdwToastWidget") &&
      gtk_button_get_icon_name (button) != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (button),
                                    GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    _ ("Dismiss"),
                                    -1);
  if (GTK_IS_DROP_DOWN (parent) || GTK_IS_FONT_BUTTON (parent))
    name_by (widget, parent);
  else if (GTK_IS_STACK_SWITCHER (parent) && find_name (widget) != NULL)
    {
      gtk_accessible_reset_property (GTK_ACCESSIBLE (button),
                                     GTK_ACCESSIBLE_PROPERTY_LABEL);
      name_by (widget, find_name (widget));
    }
}

static void
mend_check_button (GtkCheckButton *button)
{
  GtkWidget *label = find_name (GTK_WIDGET (button));

  if (!gtk_check_button_get_use_underline (button) || label == NULL)
    return;
  gtk_accessible_reset_property (GTK_ACCESSIBLE (button),
                                 GTK_ACCESSIBLE_PROPERTY_LABEL);
  name_by (GTK_WIDGET (button), label);
}

/* The half of a split button that opens the menu, and the title of the
 * shortcuts window, whose label GTK sets later. Other widgets have a label. */
static void
mend_menu_button (GtkMenuButton *button)
{
  GtkWidget *widget = GTK_WIDGET (button);
  const char *tooltip = gtk_widget_get_tooltip_text (widget);

  if (GTK_IS_SHORTCUTS_WINDOW (gtk_widget_get_root (widget)))
    gtk_accessible_update_property (GTK_ACCESSIBLE (button),
                                    GTK_ACCESSIBLE_PROPERTY_LABEL,
                                    _ ("Section"),
                                    -1);
  else if (tooltip != NULL &&
           ADW_IS_SPLIT_BUTTON (gtk_widget_get_parent (widget)))
    gtk_accessible_update_property (
        GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, tooltip, -1);
}

/* The figures of a row, in their order. */
static GList *
append_figures (GList *labels, GtkWidget *widget)
{
  if (GTK_IS_LABEL (widget) && !is_name (widget))
    return g_list_append (labels, widget);
  for (GtkWidget *child = gtk_widget_get_first_child (widget); child != NULL;
       child = gtk_widget_get_next_sibling (child))
    labels = append_figures (labels, child);
  return labels;
}

/* A list or table row has its contents as its name, valid as long as the row
 * exists: first the text, then the figures. The title row, which may be hidden,
 * has the name of the table. */
static void
mend_row (GtkWidget *row)
{
  GtkWidget *parent = gtk_widget_get_parent (row);
  GtkWidget *name = GTK_IS_COLUMN_VIEW (parent) ? parent : find_name (row);
  GtkAccessibleRelation relation = GTK_ACCESSIBLE_RELATION_LABELLED_BY;
  GValue labels = G_VALUE_INIT;
  GList *list;

  if (name == NULL)
    return;
  list = g_list_append (NULL, name);
  if (name != parent)
    list = append_figures (list, row);
  g_value_init (&labels, G_TYPE_POINTER);
  g_value_set_pointer (&labels, list);
  gtk_accessible_update_relation_value (
      GTK_ACCESSIBLE (row), 1, &relation, &labels);
  g_value_unset (&labels);
  g_object_set_data (G_OBJECT (row), "flam-mended", row);
}

static gboolean
mend_row_again (gpointer row)
{
  g_object_set_data (G_OBJECT (row), "flam-mending", NULL);
  if (gtk_widget_get_mapped (row))
    mend_row (row);
  return G_SOURCE_REMOVE;
}

/* A column that is shown later adds a figure to a row that has its name. */
static void
mend_cell (GtkWidget *cell)
{
  GtkWidget *row = gtk_widget_get_parent (cell);

  if (g_object_get_data (G_OBJECT (row), "flam-mended") == NULL ||
      g_object_get_data (G_OBJECT (row), "flam-mending") != NULL)
    return;
  g_object_set_data (G_OBJECT (row), "flam-mending", row);
  g_idle_add_full (
      G_PRIORITY_LOW, mend_row_again, g_object_ref (row), g_object_unref);
}

static gboolean
on_map (GSignalInvocationHint *hint,
        guint n_params,
        const GValue *params,
        gpointer data)
{
  GtkWidget *widget = g_value_get_object (params);

  if (GTK_IS_BUTTON (widget))
    mend_button (GTK_BUTTON (widget));
  else if (GTK_IS_CHECK_BUTTON (widget))
    mend_check_button (GTK_CHECK_BUTTON (widget));
  else if (GTK_IS_MENU_BUTTON (widget))
    mend_menu_button (GTK_MENU_BUTTON (widget));
  else if (g_str_equal (G_OBJECT_TYPE_NAME (widget), "GtkListItemWidget"))
    mend_row (widget);
  else if (g_str_equal (G_OBJECT_TYPE_NAME (widget), "GtkColumnViewCell"))
    mend_cell (widget);
  else if (g_str_equal (G_OBJECT_TYPE_NAME (widget), "GtkColumnListView"))
    name_by (widget, gtk_widget_get_parent (widget));
  return TRUE;
}

void
flam_names_mend (void)
{
  g_autoptr (GTypeClass) widgets = NULL;

  if (gtk_check_version (4, 10, 0) == NULL)
    return;
  widgets = g_type_class_ref (GTK_TYPE_WIDGET);
  g_signal_add_emission_hook (
      g_signal_lookup ("map", GTK_TYPE_WIDGET), 0, on_map, NULL, NULL);
}
