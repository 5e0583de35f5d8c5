/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-notes-dialog.h"

#include "flam-field-row.h"
#include "flam-list-dialog.h"

#include <glib/gi18n.h>

/* The data of one dialog, freed with it. */
typedef struct
{
  FlamSession *session;
  GListStore *notes;
  GPtrArray
      *about; /* FlamNote without a text: the possible subjects of a new one */

  FlamListDialog *dialog; /* owns this */
  AdwComboRow *subject;
  AdwEntryRow *entry;
} Notes;

static void
notes_free (gpointer data)
{
  Notes *self = data;

  g_signal_handlers_disconnect_by_data (self->notes, self);
  g_object_unref (self->session);
  g_ptr_array_unref (self->about);
  g_free (self);
}

static void
fill (Notes *self)
{
  GListModel *model = G_LIST_MODEL (self->notes);

  flam_list_dialog_clear (self->dialog);
  for (guint i = 0; i < g_list_model_get_n_items (model); i++)
    {
      g_autoptr (FlamNote) note = g_list_model_get_item (model, i);
      g_autofree char *about = flam_note_describe (note);

      flam_list_dialog_add_row (self->dialog,
                                flam_note_get_text (note),
                                about,
                                TRUE,
                                _ ("Remove This Note"));
    }
}

static void
go (Notes *self, guint row)
{
  g_autoptr (FlamNote) note =
      g_list_model_get_item (G_LIST_MODEL (self->notes), row);
  const char *function = flam_note_get_function (note);
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamNodeId node;

  if (function == NULL)
    {
      FlamSelection *selection =
          flam_selection_copy (flam_session_get_selection (self->session));

      flam_note_get_range (note, &selection->from, &selection->to);
      flam_session_select (self->session, selection);
    }
  else if (tree != NULL)
    {
      node = flam_tree_find_name (tree, function);
      if (node != FLAM_NONE)
        flam_session_set_current_at (self->session, node, "", 0, TRUE);
    }
  flam_dialog_close (FLAM_DIALOG (self->dialog));
}

static void
on_remove (Notes *self, guint row)
{
  g_list_store_remove (self->notes, row);
}

static void
add_subjects (Notes *self)
{
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamId current = flam_session_get_current (self->session);
  const FlamSelection *selection = flam_session_get_selection (self->session);

  if (tree != NULL && current != 0)
    g_ptr_array_add (self->about,
                     flam_note_new ("", flam_tree_name (tree, current), 0, 0));
  if (selection != NULL &&
      (selection->from != G_MININT64 || selection->to != G_MAXINT64))
    {
      const FlamProfile *profile = flam_session_get_profile (self->session);

      g_ptr_array_add (
          self->about,
          flam_note_new ("",
                         NULL,
                         MAX (selection->from, 0),
                         MIN (selection->to, profile->facts.duration_ns + 1)));
    }
}

static void
on_apply (Notes *self)
{
  guint subject = adw_combo_row_get_selected (self->subject);
  const char *text = gtk_editable_get_text (GTK_EDITABLE (self->entry));
  g_autoptr (FlamNote) note = NULL;
  FlamNote *about;
  gint64 from, to;

  if (subject >= self->about->len || *text == '\0')
    return;
  about = self->about->pdata[subject];
  flam_note_get_range (about, &from, &to);
  note = flam_note_new (text, flam_note_get_function (about), from, to);
  g_list_store_append (self->notes, note);
  gtk_editable_set_text (GTK_EDITABLE (self->entry), "");
}

static GtkWidget *
top_of (Notes *self)
{
  GtkWidget *list = gtk_list_box_new ();
  g_autoptr (GtkStringList) names = gtk_string_list_new (NULL);

  for (guint i = 0; i < self->about->len; i++)
    {
      g_autofree char *about = flam_note_describe (self->about->pdata[i]);

      gtk_string_list_append (names, about);
    }
  gtk_list_box_set_selection_mode (GTK_LIST_BOX (list), GTK_SELECTION_NONE);
  gtk_widget_add_css_class (list, "boxed-list");
  self->subject = ADW_COMBO_ROW (adw_combo_row_new ());
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->subject),
                                 _ ("About"));
  adw_combo_row_set_model (self->subject, G_LIST_MODEL (names));
  self->entry = ADW_ENTRY_ROW (adw_entry_row_new ());
  adw_preferences_row_set_title (ADW_PREFERENCES_ROW (self->entry),
                                 _ ("New Note"));
  adw_entry_row_set_show_apply_button (self->entry, TRUE);
  flam_field_row_describe (self->entry);
  gtk_list_box_append (GTK_LIST_BOX (list), GTK_WIDGET (self->subject));
  gtk_list_box_append (GTK_LIST_BOX (list), GTK_WIDGET (self->entry));
  g_signal_connect_swapped (self->entry, "apply", G_CALLBACK (on_apply), self);
  return list;
}

void
flam_notes_dialog_present (GtkWindow *parent, FlamSession *session)
{
  Notes *self = g_new0 (Notes, 1);

  self->session = g_object_ref (session);
  self->notes = flam_session_get_notes (session);
  self->about = g_ptr_array_new_with_free_func (g_object_unref);
  add_subjects (self);
  self->dialog = flam_list_dialog_new (
      _ ("Notes"),
      self->about->len > 0
          ? _ ("No notes yet. They are kept with the capture.")
          : _ ("Select a function or a range of time to write a note about."),
      "notes");
  g_object_set_data_full (
      G_OBJECT (self->dialog), "flam-notes", self, notes_free);
  if (self->about->len > 0)
    {
      flam_list_dialog_add_top (self->dialog, top_of (self));
      flam_dialog_set_focus (FLAM_DIALOG (self->dialog),
                             GTK_WIDGET (self->entry));
    }
  g_signal_connect_swapped (self->dialog, "go", G_CALLBACK (go), self);
  g_signal_connect_swapped (
      self->dialog, "remove", G_CALLBACK (on_remove), self);
  g_signal_connect_swapped (
      self->notes, "items-changed", G_CALLBACK (fill), self);
  fill (self);
  flam_dialog_present (FLAM_DIALOG (self->dialog), parent);
}
