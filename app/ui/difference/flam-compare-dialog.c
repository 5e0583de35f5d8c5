/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-compare-dialog.h"

#include "flam-core-picture.h"
#include "flam-files.h"
#include "flam-list-dialog.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>

#define RECENT_MAX 8
/* A longer list would be hard to choose from; sets of threads are chosen in the
 * thread selector and then made the baseline. */
#define THREADS_MAX 200

typedef enum
{
  CHOICE_FILE,
  CHOICE_TAB,
  CHOICE_RECENT,
  CHOICE_SELECTION,
  CHOICE_THREADS,
} ChoiceKind;

/* A row of the dialog. */
typedef struct
{
  ChoiceKind kind;
  char *path;         /* CHOICE_RECENT */
  FlamSession *other; /* CHOICE_TAB */
  GArray *threads;    /* CHOICE_THREADS: FlamId */
} Choice;

typedef struct
{
  FlamWindow *window;
  FlamSession *session;
  FlamListDialog *dialog; /* owns this */
  GPtrArray *choices;     /* Choice, in the order of the rows */
} Compare;

static void
choice_free (gpointer data)
{
  Choice *choice = data;

  g_free (choice->path);
  g_clear_object (&choice->other);
  g_clear_pointer (&choice->threads, g_array_unref);
  g_free (choice);
}

static void
compare_free (gpointer data)
{
  Compare *self = data;

  g_object_unref (self->session);
  g_object_unref (self->window);
  g_ptr_array_unref (self->choices);
  g_free (self);
}

static Choice *
add_row (Compare *self, ChoiceKind kind, const char *title, const char *what)
{
  Choice *choice = g_new0 (Choice, 1);

  choice->kind = kind;
  g_ptr_array_add (self->choices, choice);
  flam_list_dialog_add_row (self->dialog, title, what, TRUE, NULL);
  return choice;
}

/* --- other captures ------------------------------------------------------- */

static void
add_tabs (Compare *self)
{
  AdwTabView *tabs = flam_window_get_tabs (self->window);

  for (int i = 0; i < adw_tab_view_get_n_pages (tabs); i++)
    {
      AdwTabPage *page = adw_tab_view_get_nth_page (tabs, i);
      FlamSession *other =
          flam_tab_get_session (FLAM_TAB (adw_tab_page_get_child (page)));

      if (other == self->session || flam_session_get_profile (other) == NULL)
        continue;
      add_row (self,
               CHOICE_TAB,
               adw_tab_page_get_title (page),
               _ ("Open in another tab"))
          ->other = g_object_ref (other);
    }
}

/* Those have a row of their own. */
static gboolean
is_in_tab (Compare *self, const char *path)
{
  for (guint i = 0; i < self->choices->len; i++)
    {
      const Choice *choice = self->choices->pdata[i];

      if (choice->kind == CHOICE_TAB &&
          g_strcmp0 (flam_session_get_path (choice->other), path) == 0)
        return TRUE;
    }
  return FALSE;
}

static void
add_recent (Compare *self)
{
  const char *own = flam_session_get_path (self->session);
  g_autoptr (GPtrArray) recent = flam_files_recent (RECENT_MAX);

  for (guint i = 0; i < recent->len; i++)
    {
      const char *uri = gtk_recent_info_get_uri (recent->pdata[i]);
      g_autofree char *path = g_filename_from_uri (uri, NULL, NULL);
      g_autofree char *folder = NULL;

      if (path == NULL || g_strcmp0 (path, own) == 0 || is_in_tab (self, path))
        continue;
      folder = g_path_get_dirname (path);
      add_row (self,
               CHOICE_RECENT,
               gtk_recent_info_get_display_name (recent->pdata[i]),
               folder)
          ->path = g_steal_pointer (&path);
    }
}

/* --- parts of the capture itself ------------------------------------------ */

static gboolean
has_range (const FlamSelection *selection)
{
  return selection->from != G_MININT64 || selection->to != G_MAXINT64;
}

static void
add_selection (Compare *self)
{
  const FlamSelection *selection = flam_session_get_selection (self->session);

  if (has_range (selection))
    add_row (self,
             CHOICE_SELECTION,
             _ ("Selected Time Range"),
             _ ("The baseline for what you select next"));
  else if (selection->threads != NULL && selection->threads->len > 0)
    add_row (self,
             CHOICE_SELECTION,
             _ ("Selected Threads"),
             _ ("The baseline for what you select next"));
}

static void
add_set (Compare *self, GArray *set, const char *name, gint64 weight)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  g_autofree char *text =
      flam_format_weight (flam_view_data_get_measure (view_data), weight);
  /* Translators: a thread of this capture, and its total */
  g_autofree char *what =
      g_strdup_printf (_ ("Thread of this capture, %s"), text);

  add_row (self, CHOICE_THREADS, name, what)->threads = set;
}

/* All other threads, which is what a single thread is most often compared
 * with. */
static void
add_others (Compare *self, const FlamViewData *view_data)
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
    add_set (self, set, _ ("All Other Threads"), weight);
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

static void
add_threads (Compare *self, const FlamViewData *view_data)
{
  const FlamThreads *threads = &view_data->profile->threads;
  g_autoptr (GArray) all = g_array_new (FALSE, FALSE, sizeof (FlamId));

  for (FlamId t = 0; t < threads->n; t++)
    if (view_data->by_thread[t] != 0)
      g_array_append_val (all, t);
  if (all->len < 2)
    return;
  add_others (self, view_data);
  g_array_sort_with_data (all, compare_weights, view_data->by_thread);
  for (guint i = 0; i < MIN (all->len, THREADS_MAX); i++)
    {
      FlamThreadId thread = g_array_index (all, FlamId, i);
      g_autofree char *numbered =
          flam_value_text_thread (view_data->profile, thread);
      GArray *set = g_array_new (FALSE, FALSE, sizeof (FlamId));

      g_array_append_val (set, thread);
      add_set (self, set, numbered, view_data->by_thread[thread]);
    }
}

gboolean
flam_compare_set_selection (FlamSession *session)
{
  const FlamSelection *selection = flam_session_get_selection (session);
  FlamBaseline *baseline = flam_session_get_baseline (session);

  if (has_range (selection))
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

/* --- the dialog ----------------------------------------------------------- */

static void
take (Compare *self, const Choice *choice)
{
  FlamBaseline *baseline = flam_session_get_baseline (self->session);

  switch (choice->kind)
    {
    case CHOICE_FILE:
      gtk_widget_activate_action (
          GTK_WIDGET (self->window), "win.compare-file", NULL);
      break;
    case CHOICE_TAB:
      if (flam_session_get_profile (choice->other) != NULL)
        flam_baseline_take (baseline,
                            flam_session_get_profile (choice->other),
                            flam_session_get_title (choice->other));
      break;
    case CHOICE_RECENT:
      flam_baseline_open (baseline, choice->path);
      break;
    case CHOICE_SELECTION:
      flam_compare_set_selection (self->session);
      break;
    case CHOICE_THREADS:
    default:
      flam_baseline_set_threads (
          baseline,
          (const FlamId *)(const void *)choice->threads->data,
          choice->threads->len);
      break;
    }
}

static void
on_go (FlamListDialog *dialog, guint row, Compare *self)
{
  g_object_ref (dialog);
  flam_dialog_close (FLAM_DIALOG (dialog));
  take (self, g_ptr_array_index (self->choices, row));
  g_object_unref (dialog);
}

void
flam_compare_dialog_present (FlamWindow *window)
{
  FlamSession *session = flam_tab_get_session (flam_window_get_tab (window));
  FlamViewData *view_data = flam_session_get_view_data (session);
  Compare *self;

  if (view_data == NULL)
    return;
  self = g_new0 (Compare, 1);
  self->window = g_object_ref (window);
  self->session = g_object_ref (session);
  self->choices = g_ptr_array_new_with_free_func (choice_free);
  self->dialog = flam_list_dialog_new (_ ("Compare With"), "", "difference");
  g_object_set_data_full (
      G_OBJECT (self->dialog), "flam-compare", self, compare_free);
  add_row (self, CHOICE_FILE, _ ("Choose a File…"), _ ("Any capture on disk"));
  add_selection (self);
  add_tabs (self);
  add_recent (self);
  if (flam_view_data_get_measure (view_data) != NULL)
    add_threads (self, view_data);
  flam_list_dialog_add_search (self->dialog, _ ("Search what to compare with"));
  g_signal_connect (self->dialog, "go", G_CALLBACK (on_go), self);
  flam_dialog_present (FLAM_DIALOG (self->dialog), GTK_WINDOW (window));
}
