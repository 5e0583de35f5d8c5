/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-field-row.h"

/* Titles are markup. */
static void
on_title (GObject *row)
{
  GtkEditable *field = gtk_editable_get_delegate (GTK_EDITABLE (row));
  const char *title = adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row));
  g_autofree char *text = NULL;

  if (!pango_parse_markup (title, -1, 0, NULL, &text, NULL, NULL))
    text = g_strdup (title);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (field), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

void
flam_field_row_describe (gpointer row)
{
  GtkEditable *field = gtk_editable_get_delegate (GTK_EDITABLE (row));
  const char *tooltip = gtk_widget_get_tooltip_text (row);

  g_object_set (field, "accessible-role", GTK_ACCESSIBLE_ROLE_TEXT_BOX, NULL);
  if (tooltip != NULL)
    gtk_accessible_update_property (GTK_ACCESSIBLE (field),
                                    GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
                                    tooltip,
                                    -1);
  g_signal_connect (row, "notify::title", G_CALLBACK (on_title), NULL);
  on_title (G_OBJECT (row));
}
