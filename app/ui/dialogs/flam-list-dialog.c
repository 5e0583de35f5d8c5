/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-list-dialog.h"

#include "flam-help.h"

#include <glib/gi18n.h>
#include <string.h>

struct _FlamListDialog
{
  FlamDialog parent_instance;

  guint n_rows;

  AdwHeaderBar *header;
  GtkBox *box;
  GtkListBox *list;
  GtkLabel *none;
  GtkWidget *search; /* NULL: none; not referenced */
};

enum
{
  SIGNAL_GO,
  SIGNAL_REMOVE,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE (FlamListDialog, flam_list_dialog, FLAM_TYPE_DIALOG)

static guint
index_of (gpointer row)
{
  return GPOINTER_TO_UINT (g_object_get_data (G_OBJECT (row), "flam-row"));
}

static void
on_activated (GtkListBox *list, gpointer row, FlamListDialog *self)
{
  g_signal_emit (self, signals[SIGNAL_GO], 0, index_of (row));
}

static void
on_remove (GtkWidget *button, FlamListDialog *self)
{
  g_signal_emit (
      self,
      signals[SIGNAL_REMOVE],
      0,
      index_of (gtk_widget_get_ancestor (button, GTK_TYPE_LIST_BOX_ROW)));
}

static void
update_none (FlamListDialog *self)
{
  gtk_widget_set_visible (GTK_WIDGET (self->list), self->n_rows > 0);
  gtk_widget_set_visible (GTK_WIDGET (self->none), self->n_rows == 0);
}

void
flam_list_dialog_clear (FlamListDialog *self)
{
  GtkWidget *row;

  g_return_if_fail (FLAM_IS_LIST_DIALOG (self));
  while ((row = gtk_widget_get_first_child (GTK_WIDGET (self->list))) != NULL)
    gtk_list_box_remove (self->list, row);
  self->n_rows = 0;
  update_none (self);
}

static void
add_remove (FlamListDialog *self, AdwActionRow *row, const char *words)
{
  GtkWidget *button = gtk_button_new_from_icon_name ("user-trash-symbolic");

  gtk_widget_set_valign (button, GTK_ALIGN_CENTER);
  gtk_widget_add_css_class (button, "flat");
  gtk_widget_set_tooltip_text (button, words);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (button), GTK_ACCESSIBLE_PROPERTY_LABEL, words, -1);
  g_signal_connect (button, "clicked", G_CALLBACK (on_remove), self);
  adw_action_row_add_suffix (row, button);
}

void
flam_list_dialog_add_row (FlamListDialog *self,
                          const char *title,
                          const char *subtitle,
                          gboolean goes,
                          const char *remove)
{
  GtkWidget *row = adw_action_row_new ();
  g_autofree char *title_markup = g_markup_escape_text (title, -1);
  g_autofree char *subtitle_markup = g_markup_escape_text (subtitle, -1);

  g_return_if_fail (FLAM_IS_LIST_DIALOG (self));
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (row), title_markup);
  adw_action_row_set_subtitle (ADW_ACTION_ROW (row), subtitle_markup);
  gtk_list_box_row_set_activatable (GTK_LIST_BOX_ROW (row), goes);
  g_object_set_data (
      G_OBJECT (row), "flam-row", GUINT_TO_POINTER (self->n_rows));
  if (remove != NULL)
    add_remove (self, ADW_ACTION_ROW (row), remove);
  gtk_list_box_append (self->list, row);
  self->n_rows++;
  update_none (self);
}

void
flam_list_dialog_add_top (FlamListDialog *self, GtkWidget *widget)
{
  g_return_if_fail (FLAM_IS_LIST_DIALOG (self));
  gtk_box_prepend (self->box, widget);
}

/* --- the search ----------------------------------------------------------- */

static gboolean
is_found (GtkListBoxRow *row, gpointer data)
{
  FlamListDialog *self = data;
  g_autofree char *text =
      g_utf8_casefold (gtk_editable_get_text (GTK_EDITABLE (self->search)), -1);
  g_autofree char *title = g_utf8_casefold (
      adw_preferences_row_get_title (ADW_PREFERENCES_ROW (row)), -1);

  return strstr (title, text) != NULL;
}

static void
on_search (FlamListDialog *self)
{
  gtk_list_box_invalidate_filter (self->list);
}

static void
on_search_activate (FlamListDialog *self)
{
  GtkListBoxRow *row;

  /* A fast typist is ahead of "search-changed". */
  gtk_list_box_invalidate_filter (self->list);
  for (int i = 0; (row = gtk_list_box_get_row_at_index (self->list, i)) != NULL;
       i++)
    if (gtk_widget_get_child_visible (GTK_WIDGET (row)))
      {
        g_signal_emit (self, signals[SIGNAL_GO], 0, index_of (row));
        return;
      }
}

void
flam_list_dialog_add_search (FlamListDialog *self, const char *name)
{
  GtkWidget *none = gtk_label_new (_ ("No matches"));

  g_return_if_fail (FLAM_IS_LIST_DIALOG (self));
  gtk_widget_add_css_class (none, "flam-no-match");
  gtk_widget_add_css_class (none, "dim-label");
  gtk_list_box_set_placeholder (self->list, none);
  self->search = gtk_search_entry_new ();
  g_object_set (self->search, "placeholder-text", name, NULL);
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self->search), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
  gtk_list_box_set_filter_func (self->list, is_found, self, NULL);
  g_signal_connect_swapped (
      self->search, "search-changed", G_CALLBACK (on_search), self);
  g_signal_connect_swapped (
      self->search, "activate", G_CALLBACK (on_search_activate), self);
  /* The entry takes the Escape key for itself. */
  g_signal_connect_swapped (
      self->search, "stop-search", G_CALLBACK (flam_dialog_close), self);
  flam_list_dialog_add_top (self, self->search);
  flam_dialog_set_focus (FLAM_DIALOG (self), self->search);
}

void
flam_list_dialog_add_button (FlamListDialog *self, GtkWidget *button)
{
  g_return_if_fail (FLAM_IS_LIST_DIALOG (self));
  adw_header_bar_pack_end (self->header, button);
}

static void
flam_list_dialog_dispose (GObject *object)
{
  gtk_widget_dispose_template (GTK_WIDGET (object), FLAM_TYPE_LIST_DIALOG);
  G_OBJECT_CLASS (flam_list_dialog_parent_class)->dispose (object);
}

static guint
row_signal (const char *name)
{
  return g_signal_new (name,
                       FLAM_TYPE_LIST_DIALOG,
                       G_SIGNAL_RUN_LAST,
                       0,
                       NULL,
                       NULL,
                       NULL,
                       G_TYPE_NONE,
                       1,
                       G_TYPE_UINT);
}

static void
flam_list_dialog_class_init (FlamListDialogClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_list_dialog_dispose;
  signals[SIGNAL_GO] = row_signal ("go");
  signals[SIGNAL_REMOVE] = row_signal ("remove");
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-list-dialog.ui");
  gtk_widget_class_bind_template_child (class, FlamListDialog, header);
  gtk_widget_class_bind_template_child (class, FlamListDialog, box);
  gtk_widget_class_bind_template_child (class, FlamListDialog, list);
  gtk_widget_class_bind_template_child (class, FlamListDialog, none);
}

static void
flam_list_dialog_init (FlamListDialog *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  g_signal_connect (
      self->list, "row-activated", G_CALLBACK (on_activated), self);
  update_none (self);
}

FlamListDialog *
flam_list_dialog_new (const char *title, const char *none, const char *topic)
{
  FlamListDialog *self =
      g_object_new (FLAM_TYPE_LIST_DIALOG, "title", title, NULL);

  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self->list), GTK_ACCESSIBLE_PROPERTY_LABEL, title, -1);
  gtk_label_set_label (self->none, none);
  flam_help_bind (GTK_WIDGET (self), topic);
  return self;
}
