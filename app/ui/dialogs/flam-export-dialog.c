/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-export-dialog.h"

#include "flam-files.h"
#include "flam-format.h"
#include "flam-help.h"
#include "flam-message.h"
#include "flam-note.h"
#include "flam-picture.h"
#include "flam-settings.h"
#include "flam-share.h"

#include <glib/gi18n.h>

#define PICTURE_SCALE 2

struct _FlamExportDialog
{
  FlamSheet parent_instance;

  FlamWindow *window; /* transient for it */
  FlamSession *session;
  FlamJob *job;
  GBytes *document; /* NULL: not made, or it cannot be */
  gboolean share;

  GtkButton *export;
  AdwComboRow *format;
  AdwActionRow *size;
  AdwActionRow *losses;
  AdwPreferencesGroup *sharing;
  AdwComboRow *names; /* FlamAnonymize */
  GtkSwitch *sources;
  AdwActionRow *sources_row;
  AdwActionRow *remains;
};

G_DEFINE_FINAL_TYPE (FlamExportDialog, flam_export_dialog, FLAM_TYPE_SHEET)

/* --- the document, made on a worker --------------------------------------- */

typedef struct
{
  FlamViewData *view_data;
  const FlamExporter *exporter; /* NULL: a picture as PNG */
  FlamPictureOptions picture;
  char *title;
  FlamShape shape; /* as the window has it */
  FlamAnonymize anonymize;
  GPtrArray *notes;   /* FlamShareNote */
  GVariant *mappings; /* with sources; NULL: without */
} Input;

typedef struct
{
  GBytes *document;
  char *losses;  /* NULL: all is in it */
  char *remains; /* what it tells, a line each; NULL: of others than captures */
} Made;

static void
note_free (gpointer data)
{
  FlamShareNote *note = data;

  g_free (note->text);
  g_free (note->function);
  g_free (note);
}

static GPtrArray *
list_notes (FlamSession *session)
{
  GListModel *model = G_LIST_MODEL (flam_session_get_notes (session));
  GPtrArray *list = g_ptr_array_new_with_free_func (note_free);

  for (guint i = 0; i < g_list_model_get_n_items (model); i++)
    {
      g_autoptr (FlamNote) from = g_list_model_get_item (model, i);
      FlamShareNote *note = g_new0 (FlamShareNote, 1);

      note->text = g_strdup (flam_note_get_text (from));
      note->function = g_strdup (flam_note_get_function (from));
      flam_note_get_range (from, &note->from, &note->to);
      g_ptr_array_add (list, note);
    }
  return list;
}

static void
made_free (gpointer data)
{
  Made *made = data;

  g_clear_pointer (&made->document, g_bytes_unref);
  g_free (made->losses);
  g_free (made->remains);
  g_free (made);
}

static Input *
input_new (FlamSession *session, const FlamExporter *exporter)
{
  Input *input = g_new0 (Input, 1);

  input->view_data = flam_view_data_ref (flam_session_get_view_data (session));
  input->exporter = exporter;
  input->title = g_strdup (flam_session_get_title (session));
  input->shape = flam_settings_get_shape ();
  input->notes = list_notes (session);
  return input;
}

static void
input_free (gpointer data)
{
  Input *input = data;

  flam_view_data_unref (input->view_data);
  g_ptr_array_unref (input->notes);
  g_clear_pointer (&input->mappings, g_variant_unref);
  g_free (input->title);
  g_free (input);
}

/* "Functions: 5, and 12 hashed", a line each. */
static char *
describe_remains (const FlamRemains *remains)
{
  GString *text = g_string_new (NULL);
  const char *label;

  for (guint row = 0;; row++)
    {
      g_autofree char *value = flam_share_describe (remains, row, &label);
      g_autofree char *shown =
          value != NULL ? flam_message_shown (value) : NULL;

      if (value == NULL)
        return g_string_free (text, FALSE);
      g_string_append_printf (
          text, "%s%s: %s", row > 0 ? "\n" : "", _ (label), shown);
    }
}

static char *
describe_losses (const Input *input)
{
  const FlamViewData *view_data = input->view_data;
  g_autofree char *losses = flam_exporter_losses (
      input->exporter, view_data->tree->profile, view_data->selection);
  g_auto (GStrv) names = NULL;

  if (losses == NULL)
    return NULL;
  names = g_strsplit (losses, ", ", -1);
  for (guint i = 0; names[i] != NULL; i++)
    {
      g_autofree char *name = names[i];

      names[i] = g_strdup (_ (name));
    }
  return g_strjoinv (", ", names);
}

/* Made in memory, so that its size is known before it is saved. */
static gboolean
make_document (const Input *input, Made *made, GError **error)
{
  const FlamViewData *view_data = input->view_data;
  const FlamProfile *profile = view_data->tree->profile;
  FlamExportOptions options = { .look.title = input->title };
  g_autoptr (GPtrArray) sources = NULL;
  FlamRemains remains;
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  g_autoptr (FlamSink) sink = flam_sink_new (stream);

  if (input->exporter->look & FLAM_LOOK_SHAPE)
    options.look.shape = input->shape;
  if (input->exporter->shares)
    {
      if (input->mappings != NULL)
        {
          g_autoptr (FlamSourcePaths) paths =
              flam_settings_source_paths (input->mappings, NULL);

          sources = flam_share_list_sources (profile, paths);
        }
      options.share = (FlamShare){ .anonymize = input->anonymize,
                                   .sources = sources,
                                   .notes = input->notes,
                                   .remains = &remains };
    }
  if (!input->exporter->save (
          profile, view_data->selection, &options, sink, error) ||
      !flam_sink_finish (sink, error) ||
      !g_output_stream_close (stream, NULL, error))
    return FALSE;
  made->document =
      g_memory_output_stream_steal_as_bytes (G_MEMORY_OUTPUT_STREAM (stream));
  made->losses = describe_losses (input);
  if (input->exporter->shares)
    made->remains = describe_remains (&remains);
  return TRUE;
}

static gpointer
make (gpointer data, const FlamProgress *progress, GError **error)
{
  const Input *input = data;
  Made *made = g_new0 (Made, 1);

  if (make_document (input, made, error))
    return made;
  made_free (made);
  return NULL;
}

static gpointer
make_picture (gpointer data, const FlamProgress *progress, GError **error)
{
  Input *input = data;
  GString *text = g_string_new (NULL);

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

/* A row that is there if there is something to say. */
static void
say (AdwActionRow *row, const char *text)
{
  g_autofree char *markup =
      text != NULL ? g_markup_escape_text (text, -1) : NULL;

  gtk_widget_set_visible (GTK_WIDGET (row), text != NULL);
  adw_action_row_set_subtitle (row, markup != NULL ? markup : "");
}

static void
on_made (gpointer result, const GError *error, gpointer data)
{
  FlamExportDialog *self = data;
  Made *made = result;
  g_autofree char *text = NULL;

  if (made != NULL)
    {
      self->document = g_steal_pointer (&made->document);
      text = flam_format_value ((gint64)g_bytes_get_size (self->document),
                                FLAM_UNIT_BYTES);
    }
  else
    text = flam_message_shown (error->message);
  say (self->size, text);
  say (self->losses, made != NULL ? made->losses : NULL);
  say (self->remains, made != NULL ? made->remains : NULL);
  g_clear_pointer (&made, made_free);
  gtk_widget_set_sensitive (GTK_WIDGET (self->export), self->document != NULL);
}

static void
on_choice (FlamExportDialog *self)
{
  const FlamExporter *exporter = chosen (self);
  Input *input = input_new (self->session, exporter);

  input->anonymize = adw_combo_row_get_selected (self->names);
  /* Sources have the names that are to be hashed. */
  gtk_widget_set_sensitive (GTK_WIDGET (self->sources_row),
                            input->anonymize != FLAM_ANONYMIZE_NAMES);
  if (input->anonymize != FLAM_ANONYMIZE_NAMES &&
      gtk_switch_get_active (self->sources))
    input->mappings =
        g_settings_get_value (flam_settings_get (), FLAM_KEY_PATH_MAPPINGS);
  gtk_widget_set_visible (GTK_WIDGET (self->sharing), exporter->shares);
  g_clear_pointer (&self->document, g_bytes_unref);
  gtk_widget_set_sensitive (GTK_WIDGET (self->export), FALSE);
  adw_action_row_set_subtitle (self->size, "…");
  flam_job_start (self->job, make, input, input_free, made_free, on_made, self);
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
      if (!self->share)
        g_settings_set_string (
            flam_settings_get (), FLAM_KEY_EXPORT, chosen (self)->id);
      flam_sheet_close (FLAM_SHEET (self));
    }
  g_object_unref (chooser);
}

static void
on_export (FlamExportDialog *self)
{
  g_autofree char *name = g_strdup_printf (
      "%s.%s", flam_session_get_title (self->session), chosen (self)->suffix);
  GtkFileChooserNative *chooser =
      flam_files_chooser_save (flam_sheet_get_window (FLAM_SHEET (self)), name);

  gtk_native_dialog_set_title (GTK_NATIVE_DIALOG (chooser),
                               gtk_window_get_title (GTK_WINDOW (self)));
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
  input->picture.look.shape = input->shape;
  input->picture.look.direction = g_str_equal (direction, "icicle")
                                      ? FLAM_DIRECTION_ICICLE
                                      : FLAM_DIRECTION_FLAME;
  input->picture.dark =
      adw_style_manager_get_dark (adw_style_manager_get_default ());
  flam_job_start (picture_job (window),
                  make_picture,
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
  gtk_widget_class_bind_template_child (class, FlamExportDialog, losses);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, sharing);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, names);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, sources);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, sources_row);
  gtk_widget_class_bind_template_child (class, FlamExportDialog, remains);
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
flam_export_dialog_new (FlamWindow *window,
                        FlamSession *session,
                        gboolean share)
{
  FlamExportDialog *self = g_object_new (FLAM_TYPE_EXPORT_DIALOG, NULL);
  g_autoptr (GtkStringList) labels = gtk_string_list_new (NULL);
  g_autofree char *latest =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_EXPORT);
  guint sharing = 0;
  guint format = 0;

  self->window = g_object_ref (window);
  self->session = g_object_ref (session);
  self->share = share;
  for (guint i = 0; flam_exporters[i] != NULL; i++)
    {
      gtk_string_list_append (labels, _ (flam_exporters[i]->label));
      if (flam_exporters[i]->shares)
        sharing = i;
      if (strcmp (flam_exporters[i]->id, latest) == 0)
        format = i;
    }
  adw_combo_row_set_model (self->format, G_LIST_MODEL (labels));
  adw_combo_row_set_selected (self->format, format);
  /* Not Cancel, which comes first: Return would press it. */
  flam_sheet_set_focus (FLAM_SHEET (self), GTK_WIDGET (self->format));
  if (share)
    {
      g_object_set (self, "title", _ ("Save for Sharing"), NULL);
      adw_combo_row_set_selected (self->format, sharing);
      adw_combo_row_set_selected (self->names, FLAM_ANONYMIZE_PATHS);
    }
  g_signal_connect_swapped (
      self->format, "notify::selected", G_CALLBACK (on_choice), self);
  g_signal_connect_swapped (
      self->names, "notify::selected", G_CALLBACK (on_choice), self);
  g_signal_connect_swapped (
      self->sources, "notify::active", G_CALLBACK (on_choice), self);
  on_choice (self);
  return self;
}
