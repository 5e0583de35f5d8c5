/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-path-entry.h"

#define CANDIDATES_MAX 12

typedef struct
{
  AdwEntryRow *row, *folder; /* not referenced: belongs to a dialog */
  FlamCompleteWhat what;
  GtkPopover *candidates;
} PathEntry;

static void
show_candidates (PathEntry *self, GPtrArray *names)
{
  g_autoptr (GString) text = g_string_new (NULL);
  GtkWidget *label;

  for (guint i = 0; i < MIN (names->len, CANDIDATES_MAX); i++)
    g_string_append_printf (
        text, "%s%s", i > 0 ? "\n" : "", (const char *)names->pdata[i]);
  if (names->len > CANDIDATES_MAX)
    g_string_append (text, "\n…");
  label = gtk_label_new (text->str);
  gtk_label_set_xalign (GTK_LABEL (label), 0);
  gtk_label_set_ellipsize (GTK_LABEL (label), PANGO_ELLIPSIZE_MIDDLE);
  gtk_label_set_max_width_chars (GTK_LABEL (label), 60);
  gtk_popover_set_child (self->candidates, label);
  gtk_popover_popup (self->candidates);
}

/* Completes the text before the cursor. FALSE if there is nothing to complete:
 * then the key moves to the next field, as usual. */
static gboolean
complete (PathEntry *self)
{
  GtkEditable *editable = GTK_EDITABLE (self->row);
  int at = gtk_editable_get_position (editable);
  g_autofree char *before = gtk_editable_get_chars (editable, 0, at);
  g_autofree char *here = g_get_current_dir ();
  const char *folder = self->folder != NULL
                           ? gtk_editable_get_text (GTK_EDITABLE (self->folder))
                           : "";
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *inserted = flam_path_complete (
      before, *folder != '\0' ? folder : here, self->what, names);

  if (gtk_editable_get_selection_bounds (editable, NULL, NULL) ||
      names->len == 0)
    return FALSE;
  gtk_editable_insert_text (editable, inserted, -1, &at);
  gtk_editable_set_position (editable, at);
  if (names->len > 1)
    show_candidates (self, names);
  return names->len > 1 || *inserted != '\0';
}

static gboolean
on_key (GtkEventControllerKey *keys,
        guint key,
        guint code,
        GdkModifierType state,
        PathEntry *self)
{
  gtk_popover_popdown (self->candidates);
  if (key != GDK_KEY_Tab ||
      (state & (GDK_CONTROL_MASK | GDK_ALT_MASK | GDK_SHIFT_MASK)) != 0)
    return FALSE;
  return complete (self);
}

static void
on_destroy (GtkWidget *row, PathEntry *self)
{
  g_clear_pointer ((GtkWidget **)&self->candidates, gtk_widget_unparent);
}

void
flam_path_entry_complete (AdwEntryRow *row,
                          FlamCompleteWhat what,
                          AdwEntryRow *folder)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  PathEntry *self = g_new0 (PathEntry, 1);

  self->row = row;
  self->folder = folder;
  self->what = what;
  self->candidates = GTK_POPOVER (gtk_popover_new ());
  gtk_popover_set_autohide (self->candidates, FALSE);
  gtk_popover_set_position (self->candidates, GTK_POS_BOTTOM);
  gtk_widget_set_parent (GTK_WIDGET (self->candidates), GTK_WIDGET (row));
  g_object_set_data_full (G_OBJECT (row), "flam-path-entry", self, g_free);
  g_signal_connect (row, "destroy", G_CALLBACK (on_destroy), self);
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (GTK_WIDGET (row), keys);
}
