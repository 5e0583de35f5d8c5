/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-files.h"

#include "flam-formats.h"
#include "flam-settings.h"

#include <glib/gi18n.h>

#define RECENT_IN_MENU 10
#define FOLDERS_MAX 50
/* The group of the recent files that are captures: GTK's chooser also remembers
 * folders, programs and exported files. */
#define CAPTURES "Flambeau captures"

static void
add_suffixes (GtkFileFilter *filter, const char *const *suffixes)
{
  static const char *const wrappers[] = { "",    "gz",  "xz",  "bz2",
                                          "zst", "lz4", "zip", NULL };

  for (guint i = 0; suffixes != NULL && suffixes[i] != NULL; i++)
    for (guint w = 0; wrappers[w] != NULL; w++)
      {
        g_autofree char *suffix =
            g_strdup_printf ("%s%s%s",
                             suffixes[i],
                             *wrappers[w] != '\0' ? "." : "",
                             wrappers[w]);
        gtk_file_filter_add_suffix (filter, suffix);
      }
}

static void
add_filters (GtkFileChooser *chooser)
{
  g_autoptr (GtkFileFilter) all = gtk_file_filter_new ();
  g_autoptr (GtkFileFilter) known = gtk_file_filter_new ();

  gtk_file_filter_set_name (known, _ ("All captures"));
  for (guint i = 0; flam_importers[i] != NULL; i++)
    add_suffixes (known, flam_importers[i]->suffixes);
  gtk_file_filter_set_name (all, _ ("All files"));
  gtk_file_filter_add_pattern (all, "*");
  gtk_file_chooser_add_filter (chooser, all);
  gtk_file_chooser_add_filter (chooser, known);
  for (guint i = 0; flam_importers[i] != NULL; i++)
    {
      g_autoptr (GtkFileFilter) one = gtk_file_filter_new ();
      gtk_file_filter_set_name (one, _ (flam_importers[i]->label));
      add_suffixes (one, flam_importers[i]->suffixes);
      gtk_file_chooser_add_filter (chooser, one);
    }
}

GtkFileChooserNative *
flam_files_chooser_open (GtkWindow *parent)
{
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (_ ("Open a Capture"),
                                   parent,
                                   GTK_FILE_CHOOSER_ACTION_OPEN,
                                   _ ("_Open"),
                                   NULL);

  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  gtk_file_chooser_set_select_multiple (GTK_FILE_CHOOSER (dialog), TRUE);
  add_filters (GTK_FILE_CHOOSER (dialog));
  return dialog;
}

GtkFileChooserNative *
flam_files_chooser_save (GtkWindow *parent, const char *name)
{
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (_ ("Save a Copy"),
                                   parent,
                                   GTK_FILE_CHOOSER_ACTION_SAVE,
                                   _ ("_Save"),
                                   NULL);

  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  gtk_file_chooser_set_current_name (GTK_FILE_CHOOSER (dialog), name);
  return dialog;
}

static void
on_response (GtkNativeDialog *dialog, int response, GObject *object)
{
  FlamFilesChosen chosen =
      (FlamFilesChosen)g_object_get_data (G_OBJECT (dialog), "chosen");
  g_autoptr (GFile) file = NULL;
  g_autofree char *path = NULL;

  if (response == GTK_RESPONSE_ACCEPT)
    file = gtk_file_chooser_get_file (GTK_FILE_CHOOSER (dialog));
  if (file != NULL)
    path = g_file_get_path (file);
  if (path != NULL)
    chosen (path, object);
  g_object_unref (dialog);
}

void
flam_files_choose (GtkWindow *parent,
                   GtkFileChooserAction action,
                   const char *title,
                   const char *accept,
                   FlamFilesChosen chosen,
                   GObject *object)
{
  GtkFileChooserNative *dialog =
      gtk_file_chooser_native_new (title, parent, action, accept, NULL);

  gtk_native_dialog_set_modal (GTK_NATIVE_DIALOG (dialog), TRUE);
  g_object_set_data (G_OBJECT (dialog), "chosen", (gpointer)chosen);
  g_signal_connect_object (
      dialog, "response", G_CALLBACK (on_response), object, 0);
  gtk_native_dialog_show (GTK_NATIVE_DIALOG (dialog));
}

static void
binaries_chosen (const char *path, gpointer from)
{
  flam_settings_push_string (FLAM_KEY_BINARIES, path, FOLDERS_MAX);
}

void
flam_files_choose_binaries (GtkWidget *from)
{
  flam_files_choose (GTK_WINDOW (gtk_widget_get_root (from)),
                     GTK_FILE_CHOOSER_ACTION_SELECT_FOLDER,
                     _ ("Choose the Folder of the Programs"),
                     _ ("_Choose"),
                     binaries_chosen,
                     G_OBJECT (from));
}

void
flam_files_remember (const char *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  g_autofree char *uri = g_file_get_uri (file);
  GtkRecentManager *manager = gtk_recent_manager_get_default ();
  char *groups[] = { (char *)CAPTURES, NULL };
  GtkRecentData data = {
    .mime_type = (char *)"application/octet-stream",
    .app_name = (char *)"Flambeau",
    .app_exec = (char *)"flambeau %u",
    .groups = groups,
  };

  gtk_recent_manager_add_full (manager, uri, &data);
  /* Writes the file now, not a moment later: the program may exit. */
  g_signal_emit_by_name (manager, "changed");
}

static int
compare_visits (gconstpointer a, gconstpointer b)
{
  GtkRecentInfo *one = *(GtkRecentInfo *const *)a;
  GtkRecentInfo *two = *(GtkRecentInfo *const *)b;

  return g_date_time_compare (gtk_recent_info_get_visited (two),
                              gtk_recent_info_get_visited (one));
}

GPtrArray *
flam_files_recent (guint max)
{
  GPtrArray *recent =
      g_ptr_array_new_with_free_func ((GDestroyNotify)gtk_recent_info_unref);
  GList *items =
      gtk_recent_manager_get_items (gtk_recent_manager_get_default ());

  for (GList *l = items; l != NULL; l = l->next)
    if (gtk_recent_info_has_group (l->data, CAPTURES) &&
        gtk_recent_info_is_local (l->data) && gtk_recent_info_exists (l->data))
      g_ptr_array_add (recent, gtk_recent_info_ref (l->data));
  g_list_free_full (items, (GDestroyNotify)gtk_recent_info_unref);
  g_ptr_array_sort (recent, compare_visits);
  if (recent->len > max)
    g_ptr_array_set_size (recent, max);
  return recent;
}

GMenuModel *
flam_files_recent_menu (void)
{
  g_autoptr (GPtrArray) recent = flam_files_recent (RECENT_IN_MENU);
  GMenu *menu = g_menu_new ();
  g_autoptr (GMenu) other = g_menu_new ();
  g_autoptr (GMenu) files = g_menu_new ();

  for (guint i = 0; i < recent->len; i++)
    {
      g_autoptr (GMenuItem) item = g_menu_item_new (NULL, NULL);
      g_auto (GStrv) parts = g_strsplit (
          gtk_recent_info_get_display_name (recent->pdata[i]), "_", -1);
      g_autofree char *label = g_strjoinv ("__", parts);
      g_menu_item_set_label (item, label);
      g_menu_item_set_action_and_target (
          item,
          "win.open-uri",
          "s",
          gtk_recent_info_get_uri (recent->pdata[i]));
      g_menu_append_item (files, item);
    }
  if (recent->len == 0)
    g_menu_append (files, _ ("No recent captures"), "win.none");
  g_menu_append (other, _ ("Open _Location…"), "win.open-location");
  g_menu_append_section (menu, NULL, G_MENU_MODEL (files));
  g_menu_append_section (menu, NULL, G_MENU_MODEL (other));
  return G_MENU_MODEL (menu);
}

void
flam_files_save_async (GFile *from,
                       GFile *to,
                       GAsyncReadyCallback done,
                       gpointer data)
{
  g_file_copy_async (from,
                     to,
                     G_FILE_COPY_OVERWRITE,
                     G_PRIORITY_DEFAULT,
                     NULL,
                     NULL,
                     NULL,
                     done,
                     data);
}

gboolean
flam_files_save_finish (GAsyncResult *result, GError **error)
{
  g_autoptr (GObject) source = g_async_result_get_source_object (result);

  return g_file_copy_finish (G_FILE (source), result, error);
}
