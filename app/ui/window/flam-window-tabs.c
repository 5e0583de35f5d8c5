/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-window-tabs.h"

#include "flam-application.h"
#include "flam-saved-state.h"
#include "flam-platform.h"
#include "flam-settings.h"

#include <glib/gi18n.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Once the jobs of a closed tab have ended. */
#define TRIM_AFTER_S 2

static FlamTab *
tab_of (AdwTabPage *page)
{
  return FLAM_TAB (adw_tab_page_get_child (page));
}

/* --- titles of tabs ------------------------------------------------------ */

static void
set_name (GtkWidget *widget, const char *name)
{
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
}

/* libadwaita's tabs contain a label but have no accessible name; neither have
 * their buttons (close, and the indicator's). */
static void
name_tabs (GtkWidget *widget)
{
  GtkWidget *parent = gtk_widget_get_parent (widget);
  const char *tooltip = gtk_widget_get_tooltip_text (widget);
  GtkWidget *child = gtk_widget_get_first_child (widget);
  g_autoptr (AdwTabPage) page = NULL;

  for (; child != NULL; child = gtk_widget_get_next_sibling (child))
    name_tabs (child);
  if (GTK_IS_BUTTON (widget) &&
      strcmp (G_OBJECT_TYPE_NAME (parent), "AdwTab") == 0)
    set_name (widget, tooltip != NULL ? tooltip : _ ("Recording"));
  if (strcmp (G_OBJECT_TYPE_NAME (widget), "AdwTab") != 0 ||
      g_object_class_find_property (G_OBJECT_GET_CLASS (widget), "page") ==
          NULL)
    return;
  g_object_get (widget, "page", &page, NULL);
  if (page != NULL)
    set_name (widget, adw_tab_page_get_title (page));
}

/* The folder in which two paths differ; NULL: they are the same. g_free. */
static char *
differing_folder (const char *path, const char *other)
{
  g_autofree char *folder = g_path_get_dirname (path);
  g_autofree char *other_folder = g_path_get_dirname (other);
  g_autofree char *name = g_path_get_basename (folder);
  g_autofree char *other_name = g_path_get_basename (other_folder);

  if (strcmp (folder, other_folder) == 0)
    return NULL;
  if (strcmp (name, other_name) != 0)
    return g_steal_pointer (&name);
  return differing_folder (folder, other_folder);
}

/* Tabs of the same name have their folders, too. */
static char *
title_among (AdwTabView *tabs, FlamTab *tab)
{
  const char *title = flam_tab_get_title (tab);
  const char *path = flam_session_get_path (flam_tab_get_session (tab));

  for (int i = 0; path != NULL && i < adw_tab_view_get_n_pages (tabs); i++)
    {
      FlamTab *other = tab_of (adw_tab_view_get_nth_page (tabs, i));
      const char *its_path =
          flam_session_get_path (flam_tab_get_session (other));
      g_autofree char *folder = NULL;

      if (other != tab && its_path != NULL &&
          strcmp (flam_tab_get_title (other), title) == 0)
        folder = differing_folder (path, its_path);
      if (folder != NULL)
        /* Translators: a file, and its folder */
        return g_strdup_printf (_ ("%s (%s)"), title, folder);
    }
  return g_strdup (title);
}

/* Of each title, the number of tabs. */
static GHashTable *
count_titles (AdwTabView *tabs)
{
  GHashTable *counts = g_hash_table_new (g_str_hash, g_str_equal);

  for (int i = 0; i < adw_tab_view_get_n_pages (tabs); i++)
    {
      const char *title =
          flam_tab_get_title (tab_of (adw_tab_view_get_nth_page (tabs, i)));
      gsize n = GPOINTER_TO_SIZE (g_hash_table_lookup (counts, title));

      g_hash_table_insert (counts, (gpointer)title, GSIZE_TO_POINTER (n + 1));
    }
  return counts;
}

static gboolean
update_titles (gpointer window)
{
  AdwTabView *tabs = flam_window_get_tabs (window);
  g_autoptr (GHashTable) counts = NULL;

  g_object_set_data (window, "flam-titles", NULL);
  if (tabs == NULL)
    return G_SOURCE_REMOVE;
  counts = count_titles (tabs);
  for (int i = 0; i < adw_tab_view_get_n_pages (tabs); i++)
    {
      AdwTabPage *page = adw_tab_view_get_nth_page (tabs, i);
      const char *title = flam_tab_get_title (tab_of (page));
      g_autofree char *longer =
          GPOINTER_TO_SIZE (g_hash_table_lookup (counts, title)) > 1
              ? title_among (tabs, tab_of (page))
              : NULL;

      adw_tab_page_set_title (page, longer != NULL ? longer : title);
    }
  name_tabs (GTK_WIDGET (flam_window_get_tab_bar (window)));
  return G_SOURCE_REMOVE;
}

/* Once for all files that are opened together. */
static void
update_titles_soon (FlamWindow *window)
{
  if (g_object_get_data (G_OBJECT (window), "flam-titles") != NULL)
    return;
  g_object_set_data (G_OBJECT (window), "flam-titles", window);
  g_idle_add_full (G_PRIORITY_HIGH_IDLE,
                   update_titles,
                   g_object_ref (window),
                   g_object_unref);
}

static void
update_page (AdwTabView *tabs, FlamTab *tab)
{
  AdwTabPage *page = adw_tab_view_get_page (tabs, GTK_WIDGET (tab));
  FlamRecording *recording = flam_tab_get_recording (tab);
  const char *path = flam_session_get_path (flam_tab_get_session (tab));
  gboolean recorded = adw_tab_page_get_indicator_icon (page) != NULL;
  g_autofree char *tooltip =
      g_markup_escape_text (path != NULL ? path : "", -1);
  g_autoptr (GIcon) icon = NULL;

  if (recording != NULL)
    icon = g_themed_icon_new ("media-record-symbolic");
  adw_tab_page_set_tooltip (page, tooltip);
  adw_tab_page_set_loading (page, flam_tab_is_busy (tab));
  adw_tab_page_set_indicator_icon (page, icon);
  /* A recording ended while another tab was in front. */
  if (recorded && recording == NULL && !adw_tab_page_get_selected (page))
    adw_tab_page_set_needs_attention (page, TRUE);
}

static void
on_tab_changed (FlamTab *tab, FlamWindow *window)
{
  update_page (flam_window_get_tabs (window), tab);
  update_titles_soon (window);
  if (tab == flam_window_get_tab (window))
    flam_window_update (window);
}

static void
on_selected (FlamWindow *window)
{
  AdwTabPage *page =
      adw_tab_view_get_selected_page (flam_window_get_tabs (window));

  if (page != NULL)
    adw_tab_page_set_needs_attention (page, FALSE);
  flam_window_update (window);
}

/* --- coming and going ----------------------------------------------------- */

static void
on_attached (AdwTabView *tabs,
             AdwTabPage *page,
             int position,
             FlamWindow *window)
{
  g_signal_connect_object (
      tab_of (page), "changed", G_CALLBACK (on_tab_changed), window, 0);
  update_page (tabs, tab_of (page));
  update_titles_soon (window);
}

/* A capture is many small blocks on the heaps of several threads. The C library
 * keeps them for later unless it is told to give them back. */
static gboolean
give_back (gpointer data)
{
#ifdef __GLIBC__
  malloc_trim (0);
#endif
  return G_SOURCE_REMOVE;
}

static void
on_detached (AdwTabView *tabs,
             AdwTabPage *page,
             int position,
             FlamWindow *window)
{
  g_signal_handlers_disconnect_by_func (tab_of (page), on_tab_changed, window);
  g_timeout_add_seconds (TRIM_AFTER_S, give_back, NULL);
}

/* A window without tabs is closed, but not in the middle of a drag. */
static void
on_emptied (AdwTabView *tabs, GParamSpec *pspec, FlamWindow *window)
{
  if (adw_tab_view_get_n_pages (tabs) == 0 &&
      !adw_tab_view_get_is_transferring_page (tabs))
    gtk_window_destroy (GTK_WINDOW (window));
}

/* A window without open captures keeps the previously stored tabs. */
static void
keep_tabs (AdwTabView *tabs)
{
  g_autoptr (GPtrArray) uris = g_ptr_array_new_with_free_func (g_free);

  if (!g_settings_get_boolean (flam_settings_get (), FLAM_KEY_REMEMBER))
    return;
  for (int i = 0; i < adw_tab_view_get_n_pages (tabs); i++)
    {
      FlamTab *tab = tab_of (adw_tab_view_get_nth_page (tabs, i));
      const char *path = flam_session_get_path (flam_tab_get_session (tab));

      if (path != NULL && flam_tab_shows_capture (tab))
        {
          g_autoptr (GFile) file = g_file_new_for_path (path);

          g_ptr_array_add (uris, g_file_get_uri (file));
        }
    }
  if (uris->len > 0)
    flam_saved_state_set_tabs ((const char *const *)uris->pdata, uris->len);
}

/* --- recordings that would end -------------------------------------------- */

/* The tabs to close if the user agrees. */
typedef struct
{
  FlamWindow *window;
  AdwTabPage *page; /* NULL: the window */
} Closing;

static void
closing_free (gpointer data, GClosure *closure)
{
  Closing *closing = data;

  g_object_unref (closing->window);
  g_clear_object (&closing->page);
  g_free (closing);
}

static void
close_page (AdwTabView *tabs, AdwTabPage *page)
{
  flam_tab_leave_recording (tab_of (page));
  if (adw_tab_view_get_n_pages (tabs) == 1)
    keep_tabs (tabs);
  adw_tab_view_close_page_finish (tabs, page, TRUE);
}

static void
on_answer (FlamAlert *alert, const char *response, Closing *closing)
{
  AdwTabView *tabs = flam_window_get_tabs (closing->window);
  gboolean agreed = strcmp (response, "stop") == 0;

  if (closing->page == NULL && agreed)
    flam_window_tabs_close (closing->window);
  else if (closing->page != NULL && agreed)
    close_page (tabs, closing->page);
  else if (closing->page != NULL)
    adw_tab_view_close_page_finish (tabs, closing->page, FALSE);
}

static void
ask_first (FlamWindow *window, AdwTabPage *page, FlamTab *tab)
{
  g_autofree char *text = g_strdup_printf (
      _ ("%s is being recorded. What was recorded until now is kept, and is "
         "among the recent captures."),
      flam_recording_get_title (flam_tab_get_recording (tab)));
  FlamAlert *alert = g_object_new (
      FLAM_TYPE_ALERT, "heading", _ ("Stop Recording?"), "body", text, NULL);
  Closing *closing = g_new0 (Closing, 1);

  closing->window = g_object_ref (window);
  if (page != NULL)
    closing->page = g_object_ref (page);
  flam_alert_add_responses (alert,
                            "keep",
                            _ ("_Keep Recording"),
                            "stop",
                            _ ("_Stop and Close"),
                            NULL);
  flam_alert_set_response_appearance (alert, "stop", ADW_RESPONSE_DESTRUCTIVE);
  flam_alert_set_default_response (alert, "keep");
  flam_alert_set_close_response (alert, "keep");
  g_signal_connect_data (
      alert, "response", G_CALLBACK (on_answer), closing, closing_free, 0);
  flam_alert_present (alert, GTK_WINDOW (window));
}

static gboolean
on_close_page (AdwTabView *tabs, AdwTabPage *page, FlamWindow *window)
{
  if (flam_tab_can_stop (tab_of (page)))
    ask_first (window, page, tab_of (page));
  else
    close_page (tabs, page);
  return GDK_EVENT_STOP;
}

static FlamWindow *
new_window (FlamWindow *like)
{
  FlamWindow *window =
      flam_window_new (gtk_window_get_application (GTK_WINDOW (like)));

  gtk_window_present (GTK_WINDOW (window));
  return window;
}

static AdwTabView *
on_create_window (AdwTabView *tabs, FlamWindow *window)
{
  return flam_window_get_tabs (new_window (window));
}

FlamTab *
flam_window_tabs_add (FlamWindow *window)
{
  AdwTabView *tabs = flam_window_get_tabs (window);
  FlamTab *tab = flam_tab_new ();

  adw_tab_view_set_selected_page (tabs,
                                  adw_tab_view_append (tabs, GTK_WIDGET (tab)));
  return tab;
}

/* The first tab for which that is true. */
static gboolean
show_tab (FlamWindow *window,
          gboolean (*is_it) (FlamTab *tab, gpointer data),
          gpointer data)
{
  AdwTabView *tabs = flam_window_get_tabs (window);

  for (int i = 0; i < adw_tab_view_get_n_pages (tabs); i++)
    {
      AdwTabPage *page = adw_tab_view_get_nth_page (tabs, i);

      if (!is_it (tab_of (page), data))
        continue;
      adw_tab_view_set_selected_page (tabs, page);
      gtk_window_present (GTK_WINDOW (window));
      return TRUE;
    }
  return FALSE;
}

static gboolean
shows_file (FlamTab *tab, gpointer file)
{
  return flam_tab_shows_file (tab, file);
}

gboolean
flam_window_tabs_show_file (FlamWindow *window, GFile *file)
{
  return show_tab (window, shows_file, file);
}

static gboolean
has_number (FlamTab *tab, gpointer number)
{
  return flam_tab_get_number (tab) == GPOINTER_TO_UINT (number);
}

gboolean
flam_window_tabs_show_number (FlamWindow *window, guint number)
{
  return show_tab (window, has_number, GUINT_TO_POINTER (number));
}

void
flam_window_tabs_close (FlamWindow *window)
{
  g_object_set_data (G_OBJECT (window), "flam-agreed", window);
  gtk_window_close (GTK_WINDOW (window));
}

gboolean
flam_window_tabs_stop (FlamWindow *window)
{
  AdwTabView *tabs = flam_window_get_tabs (window);
  gboolean agreed =
      g_object_get_data (G_OBJECT (window), "flam-agreed") != NULL;
  int n = adw_tab_view_get_n_pages (tabs);

  for (int i = 0; i < n && !agreed; i++)
    {
      FlamTab *tab = tab_of (adw_tab_view_get_nth_page (tabs, i));

      if (!flam_tab_can_stop (tab))
        continue;
      ask_first (window, NULL, tab);
      return FALSE;
    }
  keep_tabs (tabs);
  for (int i = 0; i < n; i++)
    flam_tab_leave_recording (tab_of (adw_tab_view_get_nth_page (tabs, i)));
  return TRUE;
}

/* --- actions -------------------------------------------------------------- */

/* The menu of a tab applies to that tab, a key to the one in front. */
static AdwTabPage *
meant_page (FlamWindow *window)
{
  AdwTabPage *page = g_object_get_data (G_OBJECT (window), "flam-menu-page");

  return page != NULL
             ? page
             : adw_tab_view_get_selected_page (flam_window_get_tabs (window));
}

static void
on_setup_menu (AdwTabView *tabs, AdwTabPage *page, FlamWindow *window)
{
  g_object_set_data (G_OBJECT (window), "flam-menu-page", page);
}

static void
on_new_tab (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  flam_window_tabs_add (window);
}

static void
on_close_tab (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  adw_tab_view_close_page (flam_window_get_tabs (window), meant_page (window));
}

static void
on_close_others (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  adw_tab_view_close_other_pages (flam_window_get_tabs (window),
                                  meant_page (window));
}

static void
on_move_tab (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  AdwTabView *tabs = flam_window_get_tabs (window);
  AdwTabPage *page = meant_page (window);

  if (adw_tab_view_get_n_pages (tabs) > 1)
    adw_tab_view_transfer_page (
        tabs, page, flam_window_get_tabs (new_window (window)), 0);
}

static void
on_reopen_tabs (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  g_auto (GStrv) uris = flam_saved_state_get_tabs ();

  for (guint i = 0; uris[i] != NULL; i++)
    {
      g_autoptr (GFile) file = g_file_new_for_uri (uris[i]);

      flam_application_open_file (
          FLAM_APPLICATION (g_application_get_default ()), window, file);
    }
}

static const GActionEntry entries[] = {
  { "new-tab", on_new_tab },
  { "close-tab", on_close_tab },
  { "close-other-tabs", on_close_others },
  { "move-tab", on_move_tab },
  { "reopen-tabs", on_reopen_tabs },
};

void
flam_window_tabs_install (FlamWindow *window)
{
  AdwTabView *tabs = flam_window_get_tabs (window);

  g_action_map_add_action_entries (
      G_ACTION_MAP (window), entries, G_N_ELEMENTS (entries), window);
  g_signal_connect (tabs, "page-attached", G_CALLBACK (on_attached), window);
  g_signal_connect (tabs, "page-detached", G_CALLBACK (on_detached), window);
  g_signal_connect (tabs, "close-page", G_CALLBACK (on_close_page), window);
  g_signal_connect (
      tabs, "create-window", G_CALLBACK (on_create_window), window);
  g_signal_connect (tabs, "setup-menu", G_CALLBACK (on_setup_menu), window);
  g_signal_connect (tabs, "notify::n-pages", G_CALLBACK (on_emptied), window);
  g_signal_connect (
      tabs, "notify::is-transferring-page", G_CALLBACK (on_emptied), window);
  g_signal_connect_swapped (
      tabs, "notify::selected-page", G_CALLBACK (on_selected), window);
}
