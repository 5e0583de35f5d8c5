/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-difference-export.h"

#include "flam-core-picture.h"
#include "flam-files.h"
#include "flam-pages.h"
#include "flam-window.h"

#include <glib/gi18n.h>

typedef struct
{
  FlamComparison *comparison;
  char *before, *now;
  FlamPaletteMode colors;
  GFile *file;
} Export;

static void
export_free (gpointer data)
{
  Export *export = data;

  flam_comparison_unref (export->comparison);
  g_free (export->before);
  g_free (export->now);
  g_clear_object (&export->file);
  g_free (export);
}

static void
put_folded (FlamSink *out, const FlamComparison *comparison)
{
  g_autofree char *text = flam_dump_folded_diff (comparison->base->tree,
                                                 comparison->fresh->tree,
                                                 comparison->factor,
                                                 FALSE);

  flam_sink_put (out, text);
}

static void
put (FlamSink *out, const Export *export)
{
  const FlamComparison *comparison = export->comparison;
  FlamCompared before = { export->before, comparison->base->tree };
  FlamCompared now = { export->now, comparison->fresh->tree };
  FlamPictureStyle look = { .colors.mode = export->colors };
  g_autofree char *name = g_file_get_basename (export->file);

  if (g_str_has_suffix (name, ".folded"))
    put_folded (out, comparison);
  else if (g_str_has_suffix (name, ".svg"))
    flam_diff_picture (out,
                       &before,
                       &now,
                       FLAM_DIFF_BOTH,
                       comparison->self,
                       comparison->factor,
                       &look);
  else
    flam_diff_page (
        out, &before, &now, comparison->self, comparison->factor, &look);
}

static void
work (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  const Export *export = data;
  g_autoptr (GOutputStream) stream = g_memory_output_stream_new_resizable ();
  FlamSink *out = flam_sink_new (stream);
  g_autoptr (GBytes) bytes = NULL;
  GError *error = NULL;
  gboolean good;

  put (out, export);
  good = flam_sink_finish (out, &error);
  flam_sink_free (out);
  if (good && g_output_stream_close (stream, NULL, &error))
    {
      gsize size;
      const char *text;

      bytes = g_memory_output_stream_steal_as_bytes (
          G_MEMORY_OUTPUT_STREAM (stream));
      text = g_bytes_get_data (bytes, &size);
      good = g_file_replace_contents (export->file,
                                      text,
                                      size,
                                      NULL,
                                      FALSE,
                                      G_FILE_CREATE_PRIVATE,
                                      NULL,
                                      NULL,
                                      &error);
    }
  if (error != NULL)
    g_task_return_error (task, error);
  else
    g_task_return_boolean (task, good);
}

static void
on_done (GObject *window, GAsyncResult *result, gpointer data)
{
  g_autoptr (GError) error = NULL;

  if (g_task_propagate_boolean (G_TASK (result), &error))
    flam_window_toast (FLAM_WINDOW (window), _ ("Exported"));
  else if (error != NULL)
    flam_window_toast (FLAM_WINDOW (window), error->message);
}

static void
on_response (GtkNativeDialog *chooser, int response, gpointer window)
{
  Export *export = g_object_steal_data (G_OBJECT (chooser), "export");
  g_autoptr (GTask) task = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      task = g_task_new (window, NULL, on_done, NULL);
      export->file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (chooser));
      g_task_set_task_data (task, export, export_free);
      g_task_run_in_thread (task, work);
    }
  else
    export_free (export);
  g_object_unref (chooser);
}

void
flam_difference_export (GtkWindow *window,
                        FlamComparison *comparison,
                        const char *before,
                        const char *now,
                        FlamPaletteMode colors)
{
  GtkFileChooserNative *chooser =
      flam_files_chooser_save (window, "difference.html");
  Export *export = g_new0 (Export, 1);

  export->comparison = flam_comparison_ref (comparison);
  export->before = g_strdup (before);
  export->now = g_strdup (now);
  export->colors = colors;
  gtk_native_dialog_set_title (GTK_NATIVE_DIALOG (chooser),
                               _ ("Export Difference (.html, .svg, .folded)"));
  g_object_set_data_full (G_OBJECT (chooser), "export", export, export_free);
  g_signal_connect_object (
      chooser, "response", G_CALLBACK (on_response), window, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (chooser));
}
