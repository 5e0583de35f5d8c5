/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-shortcuts.h"

#include <adwaita.h>
#include <glib/gi18n.h>

#define OVERLAY "/dev/flambeau/Flambeau/ui/help-overlay.ui"

#if ADW_CHECK_VERSION(1, 8, 0)

/* Parses the description of GTK's window: its groups become the dialog's
 * sections. */
typedef struct
{
  AdwShortcutsDialog *dialog;
  AdwShortcutsSection *section; /* owned; NULL: none yet */
  gboolean in_group; /* inside a group but not yet inside a shortcut */
  gboolean in_shortcut;
  char *property; /* whose text follows; NULL: none */
  GString *text;
  char *title;
} Reader;

static void
finish_section (Reader *reader)
{
  if (reader->section != NULL)
    adw_shortcuts_dialog_add (reader->dialog,
                              g_steal_pointer (&reader->section));
}

static void
on_start (GMarkupParseContext *context,
          const char *element,
          const char **names,
          const char **values,
          gpointer data,
          GError **error)
{
  Reader *reader = data;
  gboolean is_object = strcmp (element, "object") == 0;
  const char *key = is_object ? "class" : "name";
  const char *value = NULL;

  for (guint i = 0; names[i] != NULL; i++)
    if (strcmp (names[i], key) == 0)
      value = values[i];
  if (is_object)
    {
      reader->in_group = g_strcmp0 (value, "GtkShortcutsGroup") == 0;
      reader->in_shortcut = g_strcmp0 (value, "GtkShortcutsShortcut") == 0;
    }
  else if (strcmp (element, "property") == 0)
    {
      g_free (reader->property);
      reader->property = g_strdup (value);
      g_string_truncate (reader->text, 0);
    }
}

static void
on_text (GMarkupParseContext *context,
         const char *text,
         gsize length,
         gpointer data,
         GError **error)
{
  g_string_append_len (((Reader *)data)->text, text, (gssize)length);
}

static void
on_end (GMarkupParseContext *context,
        const char *element,
        gpointer data,
        GError **error)
{
  Reader *reader = data;
  gboolean is_title = g_strcmp0 (reader->property, "title") == 0;

  if (strcmp (element, "property") != 0)
    return;
  if (reader->in_group && is_title)
    {
      finish_section (reader);
      reader->section = adw_shortcuts_section_new (_ (reader->text->str));
    }
  else if (reader->in_shortcut && is_title)
    {
      g_free (reader->title);
      reader->title = g_strdup (_ (reader->text->str));
    }
  else if (reader->in_shortcut && reader->section != NULL)
    adw_shortcuts_section_add (
        reader->section,
        adw_shortcuts_item_new (reader->title, reader->text->str));
  g_clear_pointer (&reader->property, g_free);
}

static AdwDialog *
dialog_new (void)
{
  static const GMarkupParser parser = { on_start, on_end, on_text, NULL, NULL };
  g_autoptr (GBytes) overlay =
      g_resources_lookup_data (OVERLAY, G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);
  AdwDialog *dialog = adw_shortcuts_dialog_new ();
  Reader reader = { .dialog = ADW_SHORTCUTS_DIALOG (dialog),
                    .text = g_string_new (NULL) };
  g_autoptr (GMarkupParseContext) context =
      g_markup_parse_context_new (&parser, 0, &reader, NULL);
  gsize size;
  const char *text = g_bytes_get_data (overlay, &size);

  g_markup_parse_context_parse (context, text, (gssize)size, NULL);
  finish_section (&reader);
  g_string_free (reader.text, TRUE);
  g_free (reader.property);
  g_free (reader.title);
  return dialog;
}

#endif

void
flam_shortcuts_show (GtkWindow *parent)
{
#if ADW_CHECK_VERSION(1, 8, 0)
  adw_dialog_present (dialog_new (), GTK_WIDGET (parent));
#else
  g_autoptr (GtkBuilder) builder = gtk_builder_new_from_resource (OVERLAY);
  GtkWindow *window =
      GTK_WINDOW (gtk_builder_get_object (builder, "help_overlay"));

  gtk_window_set_transient_for (window, parent);
  gtk_window_set_modal (window, TRUE);
  gtk_window_set_destroy_with_parent (window, TRUE);
  gtk_window_present (window);
#endif
}
