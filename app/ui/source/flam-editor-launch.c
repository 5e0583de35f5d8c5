/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-editor-launch.h"

#include "flam-editor.h"
#include "flam-flatpak.h"
#include "flam-platform.h"
#include "flam-settings.h"

#include <glib/gi18n.h>

static void
on_answer (FlamAlert *alert, const char *response, gpointer widget)
{
  if (strcmp (response, "preferences") == 0)
    gtk_widget_activate_action (widget, "app.preferences", NULL);
}

static void
say_no_editor (GtkWidget *widget, const GError *error)
{
  g_autofree char *body = g_strdup_printf (
      _ ("%s\n\nYou can set the editor’s command in the preferences."),
      error->message);
  FlamAlert *alert = g_object_new (FLAM_TYPE_ALERT,
                                   "heading",
                                   _ ("No Editor Could Be Opened"),
                                   "body",
                                   body,
                                   NULL);

  flam_alert_add_responses (
      alert, "close", _ ("_Close"), "preferences", _ ("_Preferences"), NULL);
  flam_alert_set_close_response (alert, "close");
  flam_alert_set_default_response (alert, "preferences");
  g_signal_connect_object (
      alert, "response", G_CALLBACK (on_answer), widget, 0);
  flam_alert_present (alert, GTK_WINDOW (gtk_widget_get_root (widget)));
}

static void
opened_by_desktop (GObject *source, GAsyncResult *result, gpointer data)
{
  g_autoptr (GtkWidget) widget = data;
  g_autoptr (GError) error = NULL;

  if (!g_app_info_launch_default_for_uri_finish (result, &error) &&
      gtk_widget_get_root (widget) != NULL)
    say_no_editor (widget, error);
}

static char **
command_of (const char *path, guint line, GError **error)
{
  g_autofree char *wanted =
      g_settings_get_string (flam_settings_get (), FLAM_KEY_EDITOR);

  /* A sandbox contains no editors: the portal opens the file. */
  if (g_file_test (FLAM_FLATPAK_INFO, G_FILE_TEST_EXISTS))
    return NULL;
  return flam_editor_command (
      wanted, g_getenv ("VISUAL"), g_getenv ("EDITOR"), path, line, error);
}

void
flam_editor_open (GtkWidget *widget, const char *path, guint line)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) command = command_of (path, line, &error);
  g_autofree char *uri = g_filename_to_uri (path, NULL, NULL);

  if (command != NULL)
    g_spawn_async (
        NULL, command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &error);
  if (error != NULL)
    say_no_editor (widget, error);
  else if (command == NULL && uri != NULL)
    g_app_info_launch_default_for_uri_async (
        uri, NULL, NULL, opened_by_desktop, g_object_ref (widget));
}
