/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-help.h"

#include "flam-config.h"
#include "flam-core-profile.h"
#include "flam-platform.h"

#include <glib/gi18n.h>

/* Other programs register for "help:", too, but cannot read Mallard. */
static gboolean
yelp_is_here (void)
{
  g_autoptr (GAppInfo) reader = g_app_info_get_default_for_uri_scheme ("help");
  const char *program =
      reader != NULL ? g_app_info_get_executable (reader) : NULL;
  g_autofree char *name =
      program != NULL ? g_path_get_basename (program) : NULL;

  return g_strcmp0 (name, "yelp") == 0;
}

/* Yelp's search path, which does not cover every installation. */
static gboolean
yelp_finds_pages (void)
{
  const char *const *folders = g_get_system_data_dirs ();
  gboolean found = FALSE;

  for (guint i = 0; folders[i] != NULL && !found; i++)
    {
      g_autofree char *page = g_build_filename (
          folders[i], "help", "C", "flambeau", "index.page", NULL);

      found = g_file_test (page, G_FILE_TEST_EXISTS);
    }
  return found;
}

/* The given HTML page; NULL: the installed one. */
static const char *
page_given (void)
{
  const char *given = g_getenv ("FLAMBEAU_HELP");

  return given != NULL && *given != '\0' ? given : NULL;
}

static char *
page_path (void)
{
  const char *given = page_given ();

  return given != NULL ? g_strdup (given)
                       : flam_installed_or_built (FLAM_DOCDIR "/help.html",
                                                  "data/help/help.html");
}

/* NULL: not found. */
static char *
uri_of (const char *topic)
{
  g_autofree char *path = page_path ();
  g_autofree char *uri = NULL;

  if (page_given () == NULL && yelp_is_here () && yelp_finds_pages ())
    return g_strconcat ("help:flambeau/", topic, NULL);
  if (!g_file_test (path, G_FILE_TEST_EXISTS))
    return NULL;
  uri = g_filename_to_uri (path, NULL, NULL);
  return uri != NULL ? g_strconcat (uri, "#", topic, NULL) : NULL;
}

static void
say (GtkWindow *parent, const char *text)
{
  FlamAlert *alert = g_object_new (
      FLAM_TYPE_ALERT, "heading", _ ("No Help"), "body", text, NULL);

  flam_alert_add_responses (alert, "close", _ ("_Close"), NULL);
  flam_alert_set_close_response (alert, "close");
  flam_alert_present (alert, parent);
}

static void
on_shown (GObject *source, GAsyncResult *result, gpointer unused)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *path = NULL;
  g_autofree char *text = NULL;

  if (gtk_show_uri_full_finish (GTK_WINDOW (source), result, &error))
    return;
  path = page_path ();
  /* Translators: the error message, and a file name */
  text = g_strdup_printf (_ ("%s\n\nA web browser, on this or another "
                             "computer, is needed to read %s"),
                          error->message,
                          path);
  say (GTK_WINDOW (source), text);
}

void
flam_help_show (GtkWindow *parent, const char *topic)
{
  g_autofree char *uri = uri_of (topic);
  g_autofree char *path = page_path ();
  g_autofree char *text = NULL;

  if (uri != NULL)
    {
      gtk_show_uri_full (parent, uri, GDK_CURRENT_TIME, NULL, on_shown, NULL);
      return;
    }
  text = g_strdup_printf (_ ("The file %s does not exist. For the command "
                             "line, see man flambeau-cli"),
                          path);
  say (parent, text);
}

static gboolean
on_f1 (GtkWidget *widget, GVariant *args, gpointer topic)
{
  flam_help_show (GTK_WINDOW (gtk_widget_get_root (widget)), topic);
  return TRUE;
}

void
flam_help_bind (GtkWidget *widget, const char *topic)
{
  GtkEventController *keys = gtk_shortcut_controller_new ();

  gtk_shortcut_controller_add_shortcut (
      GTK_SHORTCUT_CONTROLLER (keys),
      gtk_shortcut_new (
          gtk_keyval_trigger_new (GDK_KEY_F1, 0),
          gtk_callback_action_new (on_f1, g_strdup (topic), g_free)));
  gtk_widget_add_controller (widget, keys);
}
