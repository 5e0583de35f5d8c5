/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-application.h"

#include "flam-bundle.h"
#include "flam-config.h"
#include "flam-core-picture.h"
#include "flam-ranks.h"
#include "flam-names.h"
#include "flam-platform.h"
#include "flam-preferences.h"
#include "flam-renderer.h"
#include "flam-settings.h"
#include "flam-window-tabs.h"

#include <glib-unix.h>
#include <glib/gi18n.h>

struct _FlamApplication
{
  AdwApplication parent_instance;
  int ended_by; /* signal; 0: none */
};

G_DEFINE_FINAL_TYPE (FlamApplication, flam_application, ADW_TYPE_APPLICATION)

static const struct
{
  const char *action;
  const char *accels[4];
} accels[] = {
  { "app.quit", { "<Control>q" } },
  { "app.new-window", { "<Control>n" } },
  { "app.preferences", { "<Control>comma" } },
  { "win.new-tab", { "<Control>t" } },
  { "win.close-tab", { "<Control>w" } },
  { "win.open", { "<Control>o" } },
  { "win.open-location", { "<Control>l" } },
  { "win.record", { "<Control>r" } },
  { "win.reload", { "F5" } },
  { "win.save-as", { "<Control><Shift>s" } },
  { "win.export", { "<Control>e" } },
  { "win.copy-picture", { "<Control><Shift>c" } },
  { "win.compare", { "<Control>d" } },
  { "win.set-baseline", { "<Control>b" } },
  { "win.notes", { "<Control><Shift>n" } },
  { "win.search", { "<Control>f" } },
  { "win.search-next", { "<Control>g", "F3" } },
  { "win.search-previous", { "<Control><Shift>g", "<Shift>F3" } },
  { "win.source-pane", { "F9" } },
  { "win.menu", { "F10" } },
  { "win.help", { "F1" } },
  { "win.shortcuts", { "<Control>question" } },
  { "win.undo", { "<Control>z" } },
  { "win.threads", { "<Control><Shift>t" } },
  { "win.back", { "<Alt>Left" } },
  { "win.forward", { "<Alt>Right" } },
  { "win.page(1)", { "<Control>1" } },
  { "win.page(2)", { "<Control>2" } },
  { "win.page(3)", { "<Control>3" } },
  { "win.page(4)", { "<Control>4" } },
  { "win.page(5)", { "<Control>5" } },
  { "win.page(6)", { "<Control>6" } },
  { "win.page(7)", { "<Control>7" } },
  { "win.page(8)", { "<Control>8" } },
  { "win.page(9)", { "<Control>9" } },
  { "win.page(10)", { "<Control>0" } },
};

static const GOptionEntry options[] = {
  { "record",
    'r',
    G_OPTION_FLAG_NONE,
    G_OPTION_ARG_NONE,
    NULL,
    N_ ("Record the given program, or choose one"),
    NULL },
  { "version",
    0,
    G_OPTION_FLAG_NONE,
    G_OPTION_ARG_NONE,
    NULL,
    N_ ("Show the version"),
    NULL },
  { G_OPTION_REMAINING,
    0,
    G_OPTION_FLAG_NONE,
    G_OPTION_ARG_FILENAME_ARRAY,
    NULL,
    NULL,
    N_ ("[FILE…] | --record -- PROGRAM [ARGUMENT…]") },
  { NULL },
};

static FlamWindow *
present_new_window (FlamApplication *self)
{
  FlamWindow *window = flam_window_new (GTK_APPLICATION (self));

  flam_window_vacant_tab (window);
  gtk_window_present (GTK_WINDOW (window));
  return window;
}

/* The window that was used last, or a new one, which is presented once its
 * content is known. */
static FlamWindow *
some_window (FlamApplication *self)
{
  for (GList *l = gtk_application_get_windows (GTK_APPLICATION (self));
       l != NULL;
       l = l->next)
    if (FLAM_IS_WINDOW (l->data))
      return l->data;
  return flam_window_new (GTK_APPLICATION (self));
}

/* The window that shows the file, and is not presented again by this. */
static GtkWindow *
open_file (FlamApplication *self, GtkWindow *window, GFile *file)
{
  for (GList *l = gtk_application_get_windows (GTK_APPLICATION (self));
       l != NULL;
       l = l->next)
    if (FLAM_IS_WINDOW (l->data) && flam_window_tabs_show_file (l->data, file))
      return l->data;
  if (!FLAM_IS_WINDOW (window))
    window = GTK_WINDOW (some_window (self));
  flam_tab_open (flam_window_vacant_tab (FLAM_WINDOW (window)), file);
  return window;
}

void
flam_application_open_file (FlamApplication *self,
                            GtkWindow *window,
                            GFile *file)
{
  g_return_if_fail (FLAM_IS_APPLICATION (self));
  flam_window_present_ready (FLAM_WINDOW (open_file (self, window, file)));
}

/* The files of a job, and how many it has; NULL: they are something else. */
static GFile *
job_of (GListModel *files, guint *n_all)
{
  g_autoptr (GPtrArray) paths = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *pattern = NULL;

  for (guint i = 0; i < g_list_model_get_n_items (files); i++)
    {
      g_autoptr (GFile) file = g_list_model_get_item (files, i);
      char *path = g_file_get_path (file);

      if (path == NULL)
        return NULL;
      g_ptr_array_add (paths, path);
    }
  g_ptr_array_add (paths, NULL);
  pattern = flam_ranks_pattern_of ((const char *const *)paths->pdata, n_all);
  return pattern != NULL ? g_file_new_for_path (pattern) : NULL;
}

/* A part of a job is not shown as if it were the whole. */
static void
tell_of_job (FlamWindow *window, guint n, guint n_all)
{
  g_autofree char *text = g_strdup_printf (
      _ ("These are %u of the %u captures of a job. Open all of them together "
         "to see the job as a whole."),
      n,
      n_all);

  flam_window_toast (window, text);
}

void
flam_application_open_files (FlamApplication *self,
                             GtkWindow *window,
                             GListModel *files)
{
  g_autoptr (GFile) job = NULL;
  GtkWindow *last = NULL;
  guint n = g_list_model_get_n_items (files), n_all = 0;

  g_return_if_fail (FLAM_IS_APPLICATION (self));
  job = job_of (files, &n_all);
  if (job != NULL && n == n_all)
    {
      flam_application_open_file (self, window, job);
      return;
    }
  for (guint i = 0; i < n; i++)
    {
      g_autoptr (GFile) file = g_list_model_get_item (files, i);

      last = open_file (self, window, file);
    }
  if (last == NULL)
    return;
  flam_window_present_ready (FLAM_WINDOW (last));
  if (job != NULL)
    tell_of_job (FLAM_WINDOW (last), n, n_all);
}

/* With the settings last chosen in the dialog. */
static void
record (FlamApplication *self,
        const char *const *argv,
        GApplicationCommandLine *line)
{
  g_autoptr (FlamRecordOptions) wanted = flam_recording_options_new ();
  FlamWindow *window = some_window (self);

  wanted->argv = g_strdupv ((char **)argv);
  wanted->directory = g_strdup (g_application_command_line_get_cwd (line));
  flam_tab_record (flam_window_vacant_tab (window),
                   wanted,
                   NULL,
                   g_application_command_line_get_environ (line));
  gtk_window_present (GTK_WINDOW (window));
}

static void
flam_application_activate (GApplication *application)
{
  GtkWindow *window =
      gtk_application_get_active_window (GTK_APPLICATION (application));

  if (window != NULL)
    gtk_window_present (window);
  else
    present_new_window (FLAM_APPLICATION (application));
}

static void
flam_application_open (GApplication *application,
                       GFile **files,
                       int n_files,
                       const char *hint)
{
  g_autoptr (GListStore) list = g_list_store_new (G_TYPE_FILE);

  for (int i = 0; i < n_files; i++)
    g_list_store_append (list, files[i]);
  flam_application_open_files (
      FLAM_APPLICATION (application),
      gtk_application_get_active_window (GTK_APPLICATION (application)),
      G_LIST_MODEL (list));
}

static int
flam_application_handle_local_options (GApplication *application,
                                       GVariantDict *dict)
{
  if (!g_variant_dict_contains (dict, "version"))
    return -1;
  g_print ("flambeau %s\n", FLAM_VERSION);
  return 0;
}

static int
flam_application_command_line (GApplication *application,
                               GApplicationCommandLine *line)
{
  FlamApplication *self = FLAM_APPLICATION (application);
  GVariantDict *dict = g_application_command_line_get_options_dict (line);
  gboolean wants_record = g_variant_dict_contains (dict, "record");
  g_autofree const char **rest = NULL;

  g_variant_dict_lookup (dict, G_OPTION_REMAINING, "^a&ay", &rest);
  if (rest == NULL || rest[0] == NULL)
    {
      g_application_activate (application);
      if (wants_record)
        gtk_widget_activate_action (
            GTK_WIDGET (
                gtk_application_get_active_window (GTK_APPLICATION (self))),
            "win.record",
            NULL);
    }
  else if (wants_record)
    record (self, rest, line);
  else
    {
      g_autoptr (GListStore) files = g_list_store_new (G_TYPE_FILE);

      for (guint i = 0; rest[i] != NULL; i++)
        {
          g_autoptr (GFile) file =
              g_application_command_line_create_file_for_arg (line, rest[i]);
          g_list_store_append (files, file);
        }
      flam_application_open_files (self, NULL, G_LIST_MODEL (files));
    }
  return 0;
}

/* The most recently used window comes last: its tabs are the ones to reopen. */
static GList *
windows_to_close (gpointer application)
{
  return g_list_reverse (
      g_list_copy (gtk_application_get_windows (application)));
}

static void
on_quit (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  g_autoptr (GList) windows = windows_to_close (data);

  for (GList *l = windows; l != NULL; l = l->next)
    gtk_window_close (l->data);
}

/* A logout sends such a signal. Nobody is there to answer a question;
 * recordings end, and the state of each tab is kept. */
static gboolean
quit_now (gpointer data, int number)
{
  FlamApplication *self = data;
  g_autoptr (GList) windows = windows_to_close (self);

  self->ended_by = number;
  for (GList *l = windows; l != NULL; l = l->next)
    if (FLAM_IS_WINDOW (l->data))
      flam_window_tabs_close (l->data);
  g_application_quit (G_APPLICATION (self));
  return G_SOURCE_CONTINUE;
}

static gboolean
on_terminate (gpointer data)
{
  return quit_now (data, SIGTERM);
}

static gboolean
on_hangup (gpointer data)
{
  return quit_now (data, SIGHUP);
}

int
flam_application_get_signal (FlamApplication *self)
{
  g_return_val_if_fail (FLAM_IS_APPLICATION (self), 0);
  return self->ended_by;
}

static void
on_new_window (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  present_new_window (data);
}

static void
on_show_tab (GSimpleAction *action, GVariant *number, gpointer data)
{
  for (GList *l = gtk_application_get_windows (data); l != NULL; l = l->next)
    if (FLAM_IS_WINDOW (l->data) &&
        flam_window_tabs_show_number (l->data, g_variant_get_uint32 (number)))
      return;
}

static void
on_preferences (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  GtkWindow *window = gtk_application_get_active_window (data);

  flam_preferences_show (window);
}

static void
on_about (GSimpleAction *action, GVariant *parameter, gpointer data)
{
  static const char *developers[] = { "Flambeau developers", NULL };

  flam_platform_show_about (gtk_application_get_active_window (data),
                            "application-name",
                            _ ("Flambeau"),
                            "application-icon",
                            FLAM_APP_ID,
                            "version",
                            FLAM_VERSION,
                            "developer-name",
                            _ ("Flambeau developers"),
                            "developers",
                            developers,
                            "comments",
                            _ ("See where time and memory go"),
                            "license-type",
                            GTK_LICENSE_GPL_3_0,
                            NULL);
}

static const GActionEntry actions[] = {
  { "quit", on_quit },
  { "new-window", on_new_window },
  { "show-tab", on_show_tab, "u" },
  { "preferences", on_preferences },
  { "about", on_about },
};

static void
apply_color_scheme (GSettings *settings, const char *key, gpointer data)
{
  g_autofree char *scheme = g_settings_get_string (settings, key);
  AdwColorScheme value = ADW_COLOR_SCHEME_DEFAULT;

  if (strcmp (scheme, "light") == 0)
    value = ADW_COLOR_SCHEME_FORCE_LIGHT;
  else if (strcmp (scheme, "dark") == 0)
    value = ADW_COLOR_SCHEME_FORCE_DARK;
  adw_style_manager_set_color_scheme (adw_style_manager_get_default (), value);
}

/* The library that queries the servers reads the environment. An existing value
 * takes precedence. */
static void
apply_debuginfod_urls (GSettings *settings)
{
  g_autofree char *urls =
      g_settings_get_string (settings, FLAM_KEY_DEBUGINFOD_URLS);

  if (*urls != '\0')
    g_setenv ("DEBUGINFOD_URLS", urls, FALSE);
}

/* GTK takes the direction from the locale, not from LANGUAGE, which the texts
 * follow and which needs no locale of its own to be installed. */
static GtkTextDirection
language_direction (void)
{
  PangoLanguage *language =
      pango_language_from_string (g_get_language_names ()[0]);
  const PangoScript *scripts;
  int n = 0;

  scripts = pango_language_get_scripts (language, &n);
  for (int i = 0; i < n; i++)
    if (scripts[i] == PANGO_SCRIPT_ARABIC ||
        scripts[i] == PANGO_SCRIPT_HEBREW ||
        scripts[i] == PANGO_SCRIPT_SYRIAC ||
        scripts[i] == PANGO_SCRIPT_THAANA || scripts[i] == PANGO_SCRIPT_NKO)
      return GTK_TEXT_DIR_RTL;
  return GTK_TEXT_DIR_LTR;
}

static void
flam_application_startup (GApplication *application)
{
  GtkApplication *self = GTK_APPLICATION (application);
  GSettings *settings;

  flam_renderer_before_init ();
  G_APPLICATION_CLASS (flam_application_parent_class)->startup (application);
  gtk_widget_set_default_direction (language_direction ());
  flam_format_mark_figures (language_direction () == GTK_TEXT_DIR_RTL);
  flam_renderer_after_init ();
  flam_bundle_find_words ();
  g_action_map_add_action_entries (
      G_ACTION_MAP (self), actions, G_N_ELEMENTS (actions), self);
  for (guint i = 0; i < G_N_ELEMENTS (accels); i++)
    gtk_application_set_accels_for_action (
        self, accels[i].action, accels[i].accels);

  flam_renderer_choose (gdk_display_get_default ());
  flam_names_mend ();
  settings = flam_settings_get ();
  g_signal_connect_object (settings,
                           "changed::" FLAM_KEY_COLOR_SCHEME,
                           G_CALLBACK (apply_color_scheme),
                           self,
                           0);
  apply_color_scheme (settings, FLAM_KEY_COLOR_SCHEME, NULL);
  apply_debuginfod_urls (settings);
  g_unix_signal_add (SIGTERM, on_terminate, self);
  g_unix_signal_add (SIGHUP, on_hangup, self);
}

static void
flam_application_class_init (FlamApplicationClass *klass)
{
  GApplicationClass *class = G_APPLICATION_CLASS (klass);

  class->startup = flam_application_startup;
  class->activate = flam_application_activate;
  class->open = flam_application_open;
  class->handle_local_options = flam_application_handle_local_options;
  class->command_line = flam_application_command_line;
}

static void
flam_application_init (FlamApplication *self)
{
  g_application_add_main_option_entries (G_APPLICATION (self), options);
  g_application_set_option_context_parameter_string (G_APPLICATION (self), "");
  g_application_set_option_context_summary (
      G_APPLICATION (self),
      _ ("Shows where programs spend time and memory: opens captures or "
         "records a program."));
}

FlamApplication *
flam_application_new (void)
{
  return g_object_new (FLAM_TYPE_APPLICATION,
                       "application-id",
                       FLAM_APP_ID,
                       "flags",
                       G_APPLICATION_HANDLES_OPEN |
                           G_APPLICATION_HANDLES_COMMAND_LINE |
                           G_APPLICATION_SEND_ENVIRONMENT,
                       "resource-base-path",
                       "/dev/flambeau/Flambeau",
                       NULL);
}
