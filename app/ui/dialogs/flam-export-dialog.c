/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-export-dialog.h"

#include "flam-core-picture.h"
#include "flam-export-document.h"
#include "flam-export-preview.h"
#include "flam-export-rows.h"
#include "flam-files.h"
#include "flam-help.h"
#include "flam-location-dialog.h"
#include "flam-settings.h"

#include <glib/gi18n.h>

#define TYPING_MS 300

struct _FlamExportDialog
{
  FlamDialog parent_instance;

  FlamWindow *window; /* transient for it */
  FlamSession *session;
  FlamJob *job;
  GBytes *document;    /* NULL: not made yet, or failed */
  guint format_before; /* for the other position of the switch for sharing */
  guint typing_id;     /* the typed text is not applied yet */

  GtkButton *export;
  AdwComboRow *format;
  FlamExportRows *options;
  FlamExportPreview *preview;
  AdwActionRow *size;
  AdwActionRow *losses;
  GtkSwitch *share;
  AdwComboRow *names; /* FlamAnonymize */
  GtkSwitch *sources;
  AdwActionRow *sources_row;
  AdwActionRow *remains;
  AdwActionRow *send;
};

G_DEFINE_FINAL_TYPE (FlamExportDialog, flam_export_dialog, FLAM_TYPE_DIALOG)

/* --- the document --------------------------------------------------------- */

static const FlamExporter *
chosen (FlamExportDialog *self)
{
  return flam_exporters[adw_combo_row_get_selected (self->format)];
}

static gboolean
is_for_sharing (FlamExportDialog *self)
{
  return gtk_switch_get_active (self->share);
}

static guint
sharing_format (void)
{
  guint i = 0;

  while (flam_exporters[i] != NULL && !flam_exporters[i]->shares)
    i++;
  return i;
}

/* A row that is visible if it has text. */
static void
say (AdwActionRow *row, const char *text)
{
  g_autofree char *markup =
      text != NULL ? g_markup_escape_text (text, -1) : NULL;

  gtk_widget_set_visible (GTK_WIDGET (row), text != NULL);
  adw_action_row_set_subtitle (row, markup != NULL ? markup : "");
}

static char *
file_name (FlamExportDialog *self)
{
  return g_strdup_printf (
      "%s.%s", flam_session_get_title (self->session), chosen (self)->suffix);
}

static void
show_preview (FlamExportDialog *self, GdkTexture *picture)
{
  g_autofree char *name = file_name (self);

  flam_export_preview_set (
      self->preview, chosen (self), name, self->document, picture);
}

static void
on_made (gpointer result, const GError *error, gpointer data)
{
  FlamExportDialog *self = data;
  FlamExportMade *made = result;
  g_autofree char *text = NULL;

  if (made != NULL)
    {
      self->document = g_steal_pointer (&made->document);
      text = flam_format_value ((gint64)g_bytes_get_size (self->document),
                                FLAM_UNIT_BYTES);
    }
  else
    text = flam_message_sentence (error->message);
  say (self->size, text);
  say (self->losses, made != NULL ? made->losses : NULL);
  say (self->remains, made != NULL ? made->remains : NULL);
  show_preview (self, made != NULL ? made->picture : NULL);
  g_clear_pointer (&made, flam_export_made_free);
  gtk_widget_set_sensitive (GTK_WIDGET (self->export), self->document != NULL);
}

static void
begin (FlamExportDialog *self)
{
  const FlamExporter *exporter = chosen (self);
  FlamExportAsked *asked = flam_export_asked_new (self->session, exporter);

  g_clear_handle_id (&self->typing_id, g_source_remove);
  asked->words = flam_export_rows_get_words (self->options);
  asked->anonymize = is_for_sharing (self)
                         ? adw_combo_row_get_selected (self->names)
                         : FLAM_ANONYMIZE_NOTHING;
  /* Sources contain the names that are hashed. */
  gtk_widget_set_sensitive (GTK_WIDGET (self->sources_row),
                            asked->anonymize != FLAM_ANONYMIZE_NAMES);
  if (is_for_sharing (self) && asked->anonymize != FLAM_ANONYMIZE_NAMES &&
      gtk_switch_get_active (self->sources))
    asked->mappings =
        g_settings_get_value (flam_settings_get (), FLAM_KEY_PATH_MAPPINGS);
  g_clear_pointer (&self->document, g_bytes_unref);
  gtk_widget_set_sensitive (GTK_WIDGET (self->export), FALSE);
  adw_action_row_set_subtitle (self->size, "…");
  show_preview (self, NULL);
  flam_job_start (self->job,
                  flam_export_make,
                  asked,
                  flam_export_asked_free,
                  flam_export_made_free,
                  on_made,
                  self);
}

static gboolean
on_typed (gpointer data)
{
  FlamExportDialog *self = data;

  self->typing_id = 0;
  begin (self);
  return G_SOURCE_REMOVE;
}

/* Each letter of a title is a change: applied when typing has paused. */
static void
on_option (FlamExportDialog *self)
{
  g_clear_handle_id (&self->typing_id, g_source_remove);
  gtk_widget_set_sensitive (GTK_WIDGET (self->export), FALSE);
  self->typing_id = g_timeout_add (TYPING_MS, on_typed, self);
}

/* Formats other than Flambeau's are not for sharing. */
static void
on_choice (FlamExportDialog *self)
{
  const FlamExporter *exporter = chosen (self);

  if (is_for_sharing (self) && !exporter->shares)
    {
      self->format_before = adw_combo_row_get_selected (self->format);
      gtk_switch_set_active (self->share, FALSE);
      return;
    }
  flam_export_rows_set_parts (self->options, flam_exporter_parts (exporter));
  begin (self);
}

static void
on_sharing (FlamExportDialog *self)
{
  guint before = adw_combo_row_get_selected (self->format);
  guint format =
      is_for_sharing (self) ? sharing_format () : self->format_before;

  self->format_before = before;
  if (format != before)
    adw_combo_row_set_selected (self->format, format);
  else
    on_choice (self);
}

/* --- saving --------------------------------------------------------------- */

static void
on_written (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (FlamWindow) window = data;
  g_autoptr (GError) error = NULL;

  if (g_file_replace_contents_finish (G_FILE (source), result, NULL, &error))
    flam_window_toast (window, _ ("Exported"));
  else
    flam_window_toast (window, error->message);
}

static void
on_response (GtkNativeDialog *chooser, int response, gpointer data)
{
  FlamExportDialog *self = data;

  if (response == GTK_RESPONSE_ACCEPT && self->document != NULL)
    {
      g_autoptr (GFile) file =
          gtk_file_chooser_get_file (GTK_FILE_CHOOSER (chooser));

      g_file_replace_contents_bytes_async (file,
                                           self->document,
                                           NULL,
                                           FALSE,
                                           G_FILE_CREATE_PRIVATE,
                                           NULL,
                                           on_written,
                                           g_object_ref (self->window));
      if (!is_for_sharing (self))
        g_settings_set_string (
            flam_settings_get (), FLAM_KEY_EXPORT, chosen (self)->id);
      flam_dialog_close (FLAM_DIALOG (self));
    }
  g_object_unref (chooser);
}

static void
on_export (FlamExportDialog *self)
{
  g_autofree char *name = file_name (self);
  GtkFileChooserNative *chooser = flam_files_chooser_save (
      flam_dialog_get_window (FLAM_DIALOG (self)), name);

  gtk_native_dialog_set_title (GTK_NATIVE_DIALOG (chooser), _ ("Export"));
  g_signal_connect_object (
      chooser, "response", G_CALLBACK (on_response), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

static void
on_send (FlamExportDialog *self)
{
  flam_location_dialog_present_to_send (GTK_WINDOW (self->window),
                                        self->session);
  flam_dialog_close (FLAM_DIALOG (self));
}

/* --- object --------------------------------------------------------------- */

static void
flam_export_dialog_dispose (GObject *object)
{
  FlamExportDialog *self = FLAM_EXPORT_DIALOG (object);

  g_clear_handle_id (&self->typing_id, g_source_remove);
  if (self->job != NULL)
    flam_job_cancel (self->job);
  g_clear_object (&self->job);
  g_clear_object (&self->session);
  g_clear_object (&self->window);
  g_clear_pointer (&self->document, g_bytes_unref);
  G_OBJECT_CLASS (flam_export_dialog_parent_class)->dispose (object);
}

static void
flam_export_dialog_class_init (FlamExportDialogClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_export_dialog_dispose;
  g_type_ensure (FLAM_TYPE_EXPORT_ROWS);
  g_type_ensure (FLAM_TYPE_EXPORT_PREVIEW);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-export-dialog.ui");
  gtk_widget_class_bind_template_child (class, FlamExportDialog, export);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, format);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, options);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, preview);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, size);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, losses);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, share);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, names);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, sources);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, sources_row);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, remains);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, send);
}

static void
flam_export_dialog_init (FlamExportDialog *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->job = flam_job_new ();
  flam_help_bind (GTK_WIDGET (self), "export");
  g_signal_connect_swapped (
      self->export, "clicked", G_CALLBACK (on_export), self);
  g_signal_connect_swapped (
      self->send, "activated", G_CALLBACK (on_send), self);
}

/* The window's current look. */
static void
set_options (FlamExportDialog *self)
{
  GSettings *settings = flam_settings_get ();
  FlamExportRows *options = self->options;
  g_autofree char *direction =
      g_settings_get_string (settings, FLAM_KEY_DIRECTION);
  g_autofree char *order = g_settings_get_string (settings, FLAM_KEY_ORDER);
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamPaletteMode mode = flam_settings_get_palette (tree);

  flam_export_rows_set_word (
      options, "title", flam_session_get_title (self->session));
  flam_export_rows_set_word (
      options, "shape", flam_shape_to_string (flam_settings_get_shape ()));
  flam_export_rows_set_word (options, "direction", direction);
  flam_export_rows_set_word (
      options, "order", g_str_equal (order, "name") ? "name" : "weight");
  if (mode != flam_palette_mode_of (tree, FLAM_PALETTE_AUTO))
    flam_export_rows_set_word (
        options, "palette", flam_palette_mode_to_string (mode));
}

FlamExportDialog *
flam_export_dialog_new (FlamWindow *window, FlamSession *session)
{
  FlamExportDialog *self = g_object_new (FLAM_TYPE_EXPORT_DIALOG, NULL);
  g_autoptr (GtkStringList) labels = gtk_string_list_new (NULL);
  g_autofree char *latest =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_EXPORT);
  guint format = 0;

  self->window = g_object_ref (window);
  self->session = g_object_ref (session);
  for (guint i = 0; flam_exporters[i] != NULL; i++)
    {
      gtk_string_list_append (labels, _ (flam_exporters[i]->label));
      if (strcmp (flam_exporters[i]->id, latest) == 0)
        format = i;
    }
  set_options (self);
  adw_combo_row_set_model (self->format, G_LIST_MODEL (labels));
  adw_combo_row_set_selected (self->format, format);
  /* Not Cancel, which comes first and which Return would activate. */
  flam_dialog_set_focus (FLAM_DIALOG (self), GTK_WIDGET (self->format));
  adw_combo_row_set_selected (self->names, FLAM_ANONYMIZE_PATHS);
  g_signal_connect_swapped (
      self->format, "notify::selected", G_CALLBACK (on_choice), self);
  g_signal_connect_swapped (
      self->options, "changed", G_CALLBACK (on_option), self);
  g_signal_connect_swapped (
      self->share, "notify::active", G_CALLBACK (on_sharing), self);
  g_signal_connect_swapped (
      self->names, "notify::selected", G_CALLBACK (begin), self);
  g_signal_connect_swapped (
      self->sources, "notify::active", G_CALLBACK (begin), self);
  on_choice (self);
  return self;
}
