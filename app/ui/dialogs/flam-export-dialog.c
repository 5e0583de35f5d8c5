/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-export-dialog.h"

#include "flam-files.h"
#include "flam-format.h"
#include "flam-help.h"
#include "flam-message.h"
#include "flam-picture.h"
#include "flam-settings.h"

#include <glib/gi18n.h>

#define PICTURE_SCALE 2

struct _FlamExportDialog
{
  AdwWindow parent_instance;

  FlamWindow *window; /* transient for it */
  FlamSession *session;
  FlamJob *job;
  GBytes *document; /* NULL: not made, or it cannot be */

  GtkButton *export;
  AdwComboRow *format;
  AdwActionRow *size;
};

G_DEFINE_FINAL_TYPE (FlamExportDialog, flam_export_dialog, ADW_TYPE_WINDOW)

/* --- the document, made on a worker --------------------------------------- */

typedef struct
{
  FlamViewData *view_data;
  const FlamExporter *exporter; /* NULL: a picture as PNG */
  FlamPictureOptions picture;
  char *title;
} Input;

static Input *
input_new (FlamSession *session, const FlamExporter *exporter)
{
  Input *input = g_new0 (Input, 1);

  input->view_data = flam_view_data_ref (flam_session_get_view_data (session));
  input->exporter = exporter;
  input->title = g_strdup (flam_session_get_title (session));
  return input;
}

static void
input_free (gpointer data)
{
  Input *input = data;

  flam_view_data_unref (input->view_data);
  g_free (input->title);
  g_free (input);
}

/* Made in memory, so that its size is known before it is saved. */
static GBytes *
make_document (const Input *input, GError **error)
{
  const FlamViewData *view_data = input->view_data;
  const FlamExportOptions options = { .look.title = input->title };
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (FlamSink) sink = flam_sink_new (stream);

  if (!input->exporter->save (view_data->tree->profile,
                              view_data->selection,
                              &options,
                              sink,
                              error) ||
      !flam_sink_finish (sink, error) ||
      !g_output_stream_close (stream, NULL, error))
    return NULL;
  return g_memory_output_stream_steal_as_bytes (
      G_MEMORY_OUTPUT_STREAM (stream));
}

static gpointer
make (gpointer data, const FlamProgress *progress, GError **error)
{
  Input *input = data;
  GString *text;

  if (input->exporter != NULL)
    return make_document (input, error);
  text = g_string_new (NULL);
  input->picture.look.title = input->title;
  if (flam_picture_to_png (
          input->view_data->tree, &input->picture, text, error))
    return g_string_free_to_bytes (text);
  g_string_free (text, TRUE);
  return NULL;
}

static const FlamExporter *
chosen (FlamExportDialog *self)
{
  return flam_exporters[adw_combo_row_get_selected (self->format)];
}

static void
on_made (gpointer result, const GError *error, gpointer data)
{
  FlamExportDialog *self = data;
  g_autofree char *text = NULL;

  self->document = result;
  if (result != NULL)
    text =
        flam_format_value ((gint64)g_bytes_get_size (result), FLAM_UNIT_BYTES);
  else
    {
      g_autofree char *shown = flam_message_shown (error->message);

      text = g_markup_escape_text (shown, -1);
    }
  adw_action_row_set_subtitle (self->size, text);
  gtk_widget_set_sensitive (GTK_WIDGET (self->export), result != NULL);
}

static void
on_format (FlamExportDialog *self)
{
  g_clear_pointer (&self->document, g_bytes_unref);
  gtk_widget_set_sensitive (GTK_WIDGET (self->export), FALSE);
  adw_action_row_set_subtitle (self->size, "…");
  flam_job_start (self->job,
                  make,
                  input_new (self->session, chosen (self)),
                  input_free,
                  (GDestroyNotify)g_bytes_unref,
                  on_made,
                  self);
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
                                           G_FILE_CREATE_NONE,
                                           NULL,
                                           on_written,
                                           g_object_ref (self->window));
      gtk_window_close (GTK_WINDOW (self));
    }
  g_object_unref (chooser);
}

static void
on_export (FlamExportDialog *self)
{
  g_autofree char *name = g_strdup_printf (
      "%s.%s", flam_session_get_title (self->session), chosen (self)->suffix);
  GtkFileChooserNative *chooser =
      flam_files_chooser_save (GTK_WINDOW (self), name);

  g_signal_connect_object (
      chooser, "response", G_CALLBACK (on_response), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}

/* --- a picture ------------------------------------------------------------ */

static void
on_picture (gpointer result, const GError *error, gpointer data)
{
  g_autoptr (GBytes) png = result;
  g_autoptr (GdkTexture) texture = NULL;

  if (png != NULL)
    texture = gdk_texture_new_from_bytes (png, NULL);
  if (texture == NULL)
    {
      flam_window_toast (data,
                         error != NULL ? error->message
                                       : _ ("No picture could be made"));
      return;
    }
  gdk_clipboard_set_texture (gtk_widget_get_clipboard (GTK_WIDGET (data)),
                             texture);
  flam_window_toast (data, _ ("Picture copied"));
}

static void
end_job (gpointer job)
{
  flam_job_cancel (job);
  g_object_unref (job);
}

/* The window keeps the job, and ends it. */
static FlamJob *
picture_job (FlamWindow *window)
{
  FlamJob *job = g_object_get_data (G_OBJECT (window), "flam-picture-job");

  if (job == NULL)
    {
      job = flam_job_new ();
      g_object_set_data_full (
          G_OBJECT (window), "flam-picture-job", job, end_job);
    }
  return job;
}

void
flam_export_copy_picture (FlamWindow *window, FlamSession *session)
{
  Input *input;
  g_autofree char *direction =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_DIRECTION);

  if (flam_session_get_view_data (session) == NULL)
    return;
  input = input_new (session, NULL);
  input->picture.scale = PICTURE_SCALE;
  input->picture.zoom = flam_session_get_zoom (session);
  input->picture.look.direction = g_str_equal (direction, "icicle")
                                      ? FLAM_DIRECTION_ICICLE
                                      : FLAM_DIRECTION_FLAME;
  input->picture.dark =
      adw_style_manager_get_dark (adw_style_manager_get_default ());
  flam_job_start (picture_job (window),
                  make,
                  input,
                  input_free,
                  (GDestroyNotify)g_bytes_unref,
                  on_picture,
                  window);
}

/* --- object --------------------------------------------------------------- */

static void
flam_export_dialog_dispose (GObject *object)
{
  FlamExportDialog *self = FLAM_EXPORT_DIALOG (object);

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
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-export-dialog.ui");
  gtk_widget_class_bind_template_child (class, FlamExportDialog, export);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, format);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, size);
}

static void
flam_export_dialog_init (FlamExportDialog *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->job = flam_job_new ();
  flam_help_bind (GTK_WIDGET (self), "export");
  g_signal_connect_swapped (
      self->export, "clicked", G_CALLBACK (on_export), self);
}

FlamExportDialog *
flam_export_dialog_new (FlamWindow *window, FlamSession *session)
{
  FlamExportDialog *self =
      g_object_new (FLAM_TYPE_EXPORT_DIALOG, "transient-for", window, NULL);
  g_autoptr (GtkStringList) labels = gtk_string_list_new (NULL);

  self->window = g_object_ref (window);
  self->session = g_object_ref (session);
  for (guint i = 0; flam_exporters[i] != NULL; i++)
    gtk_string_list_append (labels, _ (flam_exporters[i]->label));
  adw_combo_row_set_model (self->format, G_LIST_MODEL (labels));
  g_signal_connect_swapped (
      self->format, "notify::selected", G_CALLBACK (on_format), self);
  on_format (self);
  return self;
}
