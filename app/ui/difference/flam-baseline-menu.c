/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-baseline-menu.h"

#include "flam-core-picture.h"
#include "flam-files.h"
#include "flam-list-dialog.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>

#define RECENT_MAX 8

static FlamSession *
session_of (FlamWindow *window)
{
  return flam_tab_get_session (flam_window_get_tab (window));
}

static FlamTab *
tab_at (FlamWindow *window, int place)
{
  AdwTabView *tabs = flam_window_get_tabs (window);

  return place >= 0 && place < adw_tab_view_get_n_pages (tabs)
             ? FLAM_TAB (adw_tab_page_get_child (
                   adw_tab_view_get_nth_page (tabs, place)))
             : NULL;
}

/* --- captures ---------------------------------------------------------------
 */

static void
on_compare_tab (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  FlamTab *tab = tab_at (window, g_variant_get_int32 (parameter));
  FlamSession *other = tab != NULL ? flam_tab_get_session (tab) : NULL;

  if (other != NULL && flam_session_get_profile (other) != NULL)
    flam_baseline_take (flam_session_get_baseline (session_of (window)),
                        flam_session_get_profile (other),
                        flam_session_get_title (other));
}

static void
on_compare_uri (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  g_autofree char *path =
      g_filename_from_uri (g_variant_get_string (parameter, NULL), NULL, NULL);

  if (path != NULL && flam_session_get_profile (session_of (window)) != NULL)
    flam_baseline_open (flam_session_get_baseline (session_of (window)), path);
}

/* --- threads ----------------------------------------------------------------
 */

typedef struct
{
  FlamSession *session;
  FlamListDialog *dialog; /* owns this */
  GPtrArray *sets;        /* GArray of FlamId, one per row */
} Threads;

static void
threads_free (gpointer data)
{
  Threads *self = data;

  g_object_unref (self->session);
  g_ptr_array_unref (self->sets);
  g_free (self);
}

static void
on_go (FlamListDialog *dialog, guint row, Threads *self)
{
  const GArray *set = g_ptr_array_index (self->sets, row);

  flam_baseline_set_threads (flam_session_get_baseline (self->session),
                             (const FlamId *)(const void *)set->data,
                             set->len);
  flam_dialog_close (FLAM_DIALOG (dialog));
}

static void
add_row (Threads *self, GArray *set, const char *name, gint64 weight)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  const FlamMeasure *measure = flam_view_data_get_measure (view_data);
  g_autofree char *text = flam_format_weight (measure, weight);

  g_ptr_array_add (self->sets, set);
  flam_list_dialog_add_row (self->dialog, name, text, TRUE, NULL);
}

/* All other threads, which is what a single thread is most often compared
 * with. */
static void
add_others (Threads *self, const FlamViewData *view_data)
{
  const FlamSelection *selection = view_data->selection;
  GArray *set = g_array_new (FALSE, FALSE, sizeof (FlamId));
  gint64 weight = 0;

  for (FlamId t = 0; t < view_data->profile->threads.n; t++)
    if (selection->threads != NULL && !flam_selection_has_thread (selection, t))
      {
        g_array_append_val (set, t);
        weight += view_data->by_thread[t];
      }
  if (set->len > 0)
    add_row (self, set, _ ("All Other Threads"), weight);
  else
    g_array_unref (set);
}

static int
compare_weights (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 *weight = data;
  FlamId x = *(const FlamId *)a, y = *(const FlamId *)b;

  if (weight[x] != weight[y])
    return weight[x] > weight[y] ? -1 : 1;
  return (x > y) - (x < y);
}

/* A longer list would be hard to choose from; sets of threads are chosen in the
 * thread selector and then made the baseline. */
#define THREADS_MAX 200

static void
add_threads (Threads *self, const FlamViewData *view_data)
{
  const FlamThreads *threads = &view_data->profile->threads;
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (FlamId));

  for (FlamId t = 0; t < threads->n; t++)
    if (view_data->by_thread[t] != 0)
      g_array_append_val (all, t);
  g_array_sort_with_data (all, compare_weights, view_data->by_thread);
  for (guint i = 0; i < MIN (all->len, THREADS_MAX); i++)
    {
      FlamThreadId thread = g_array_index (all, FlamId, i);
      const char *name =
          flam_profile_string (view_data->profile, threads->name[thread]);
      g_autofree char *numbered =
          flam_value_text_task (name, threads->tid[thread], "");
      GArray *set = g_array_new (FALSE, FALSE, sizeof (FlamId));

      g_array_append_val (set, thread);
      add_row (self, set, numbered, view_data->by_thread[thread]);
    }
}

static void
on_compare_threads (GSimpleAction *action, GVariant *parameter, gpointer window)
{
  FlamSession *session = session_of (window);
  FlamViewData *view_data = flam_session_get_view_data (session);
  Threads *self;

  if (view_data == NULL || flam_view_data_get_measure (view_data) == NULL)
    return;
  self = g_new0 (Threads, 1);
  self->session = g_object_ref (session);
  self->sets = g_ptr_array_new_with_free_func ((GDestroyNotify)g_array_unref);
  self->dialog =
      flam_list_dialog_new (_ ("Compare With Other Threads"),
                            _ ("The capture does not distinguish threads."),
                            "difference");
  g_object_set_data_full (
      G_OBJECT (self->dialog), "flam-threads", self, threads_free);
  add_others (self, view_data);
  add_threads (self, view_data);
  g_signal_connect (self->dialog, "go", G_CALLBACK (on_go), self);
  flam_dialog_present (FLAM_DIALOG (self->dialog), window);
}

gboolean
flam_baseline_menu_set_selection (FlamSession *session)
{
  const FlamSelection *selection = flam_session_get_selection (session);
  FlamBaseline *baseline = flam_session_get_baseline (session);

  if (selection->from != G_MININT64 || selection->to != G_MAXINT64)
    flam_baseline_set_range (baseline, selection->from, selection->to);
  else if (selection->threads != NULL && selection->threads->len > 0)
    flam_baseline_set_threads (
        baseline,
        (const FlamId *)(const void *)selection->threads->data,
        selection->threads->len);
  else
    return FALSE;
  return TRUE;
}

/* --- the menu ----------------------------------------------------------------
 */

/* An underscore would become a mnemonic. */
static void
append (GMenu *menu, const char *label, const char *action, GVariant *target)
{
  g_auto (GStrv) parts = g_strsplit (label, "_", -1);
  g_autofree char *shown = g_strjoinv ("__", parts);
  g_autoptr (GMenuItem) item = g_menu_item_new (shown, NULL);

  g_menu_item_set_action_and_target_value (item, action, target);
  g_menu_append_item (menu, item);
}

static void
append_tabs (GMenu *menu, FlamWindow *window)
{
  FlamSession *own = session_of (window);

  for (int i = 0; tab_at (window, i) != NULL; i++)
    {
      FlamSession *session = flam_tab_get_session (tab_at (window, i));

      if (session != own && flam_session_get_profile (session) != NULL)
        append (menu,
                flam_session_get_title (session),
                "win.compare-tab",
                g_variant_new_int32 (i));
    }
}

static void
append_recent (GMenu *menu, FlamWindow *window)
{
  const char *own = flam_session_get_path (session_of (window));
  g_autoptr (GPtrArray) recent = flam_files_recent (RECENT_MAX);

  for (guint i = 0; i < recent->len; i++)
    {
      const char *uri = gtk_recent_info_get_uri (recent->pdata[i]);
      g_autofree char *path = g_filename_from_uri (uri, NULL, NULL);

      if (g_strcmp0 (path, own) != 0)
        append (menu,
                gtk_recent_info_get_display_name (recent->pdata[i]),
                "win.compare-uri",
                g_variant_new_string (uri));
    }
}

static void
append_section (GMenu *menu, const char *title, GMenu *section)
{
  if (g_menu_model_get_n_items (G_MENU_MODEL (section)) > 0)
    g_menu_append_section (menu, title, G_MENU_MODEL (section));
}

static const GActionEntry entries[] = {
  { "compare-tab", on_compare_tab, "i" },
  { "compare-uri", on_compare_uri, "s" },
  { "compare-threads", on_compare_threads },
};

void
flam_baseline_menu_enable (FlamWindow *window, gboolean capture)
{
  for (guint i = 0; i < G_N_ELEMENTS (entries); i++)
    g_simple_action_set_enabled (G_SIMPLE_ACTION (g_action_map_lookup_action (
                                     G_ACTION_MAP (window), entries[i].name)),
                                 capture);
}

void
flam_baseline_menu_update (FlamWindow *window, GMenu *menu)
{
  FlamTab *tab = flam_window_get_tab (window);
  gboolean capture = tab != NULL && flam_tab_shows_capture (tab);
  g_autoptr (GMenu) tabs = g_menu_new ();
  g_autoptr (GMenu) recent = g_menu_new ();

  g_menu_remove_all (menu);
  append (menu, _ ("Other Threads…"), "win.compare-threads", NULL);
  if (!capture)
    return;
  append_tabs (tabs, window);
  append_recent (recent, window);
  append_section (menu, _ ("Open Captures"), tabs);
  append_section (menu, _ ("Recent Captures"), recent);
}

void
flam_baseline_menu_install (FlamWindow *window)
{
  g_action_map_add_action_entries (
      G_ACTION_MAP (window), entries, G_N_ELEMENTS (entries), window);
}
