/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-window-files.h"

#include "flam-application.h"
#include "flam-files.h"
#include "flam-window-tabs.h"

#include <glib/gi18n.h>

static void
open_response (GtkNativeDialog *dialog, int response, gpointer data)
{
  FlamWindow *self = data;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      g_autoptr (GListModel) files =
          gtk_file_chooser_get_files (GTK_FILE_CHOOSER (dialog));

      flam_application_open_files (
          FLAM_APPLICATION (g_application_get_default ()),
          GTK_WINDOW (self),
          files);
    }
  g_object_unref (dialog);
}

void
flam_window_choose_files (FlamWindow *self)
{
  GtkFileChooserNative *dialog = flam_files_chooser_open (GTK_WINDOW (self));

  g_signal_connect_object (
      dialog, "response", G_CALLBACK (open_response), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
folder_chosen (const char *path, gpointer window)
{
  g_autoptr (GFile) folder = g_file_new_for_path (path);

  flam_application_open_file (
      FLAM_APPLICATION (g_application_get_default ()), window, folder);
}

void
flam_window_choose_folder (FlamWindow *self)
{
  flam_files_choose (GTK_WINDOW (self),
                     GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
                     _ ("History of a Folder"),
                     _ ("_Open"),
                     folder_chosen,
                     G_OBJECT (self));
}

void
flam_window_compare (FlamWindow *self, const char *base_uri, const char *uri)
{
  g_autoptr (GFile) base = g_file_new_for_uri (base_uri);
  g_autoptr (GFile) file = g_file_new_for_uri (uri);
  g_autofree char *path = g_file_get_path (base);

  if (!flam_window_tabs_show_file (self, file))
    flam_tab_open (flam_window_vacant_tab (self), file);
  flam_tab_compare_with (flam_window_get_tab (self), path);
}

static void
baseline_response (GtkNativeDialog *dialog, int response, gpointer session)
{
  g_autoptr (GFile) file = NULL;
  g_autofree char *path = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  if (file != NULL)
    path = g_file_get_path (file);
  if (path != NULL)
    flam_baseline_open (flam_session_get_baseline (session), path);
  g_object_unref (dialog);
}

void
flam_window_choose_baseline (FlamWindow *self, FlamSession *session)
{
  GtkFileChooserNative *dialog = flam_files_chooser_open (GTK_WINDOW (self));

  gtk_native_dialog_set_title (GTK_NATIVE_DIALOG (dialog), _ ("Compare With"));
  gtk_file_chooser_set_select_multiple (GTK_FILE_CHOOSER (dialog), FALSE);
  g_signal_connect_object (
      dialog, "response", G_CALLBACK (baseline_response), session, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static gboolean
on_drop (GtkDropTarget *target,
         const GValue *value,
         double x,
         double y,
         gpointer data)
{
  g_autoptr (GListStore) files = g_list_store_new (G_TYPE_FILE);

  for (GSList *l = g_value_get_boxed (value); l != NULL; l = l->next)
    g_list_store_append (files, l->data);
  flam_application_open_files (FLAM_APPLICATION (g_application_get_default ()),
                               data,
                               G_LIST_MODEL (files));
  return TRUE;
}

void
flam_window_accept_drops (FlamWindow *self)
{
  GtkDropTarget *drop =
      gtk_drop_target_new (GDK_TYPE_FILE_LIST, GDK_ACTION_COPY);

  g_signal_connect (drop, "drop", G_CALLBACK (on_drop), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drop));
}

static void
save_done (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (FlamWindow) self = data;
  g_autoptr (GError) error = NULL;

  if (flam_files_save_finish (result, &error))
    flam_window_toast (self, _ ("Saved"));
  else
    flam_window_toast (self, error->message);
}

static void
save_response (GtkNativeDialog *dialog, int response, gpointer data)
{
  FlamWindow *self = data;

  if (response == GTK_RESPONSE_ACCEPT)
    {
      g_autoptr (GFile) to =
          gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
      flam_files_save_async (g_object_get_data (G_OBJECT (dialog), "from"),
                             to,
                             save_done,
                             g_object_ref (self));
    }
  g_object_unref (dialog);
}

void
flam_window_choose_copy (FlamWindow *self, const char *path)
{
  g_autofree char *name = g_filename_display_basename (path);
  GtkFileChooserNative *dialog =
      flam_files_chooser_save (GTK_WINDOW (self), name);

  g_object_set_data_full (
      G_OBJECT (dialog), "from", g_file_new_for_path (path), g_object_unref);
  g_signal_connect_object (
      dialog, "response", G_CALLBACK (save_response), self, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}
