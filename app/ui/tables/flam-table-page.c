/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-table-page.h"

#include "flam-settings.h"
#include "flam-table-shape.h"
#include "flam-why-empty.h"

#include <glib/gi18n.h>

typedef struct
{
  GListStore *rows;
  GtkCustomFilter *filter;
  GtkSingleSelection *selection;
  FlamTree *shown; /* the tree of the rows */
  gboolean syncing;

  GtkColumnView *view; /* not referenced: owned by the template */
  GtkLabel *none;      /* likewise; or NULL */
} FlamTablePagePrivate;

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE (FlamTablePage,
                                     flam_table_page,
                                     FLAM_TYPE_PAGE)

/* --- the session's frame -------------------------------------------------- */

/* The session's tree, if the rows belong to it. */
static const FlamTree *
shown_tree (FlamTablePage *self)
{
  FlamTablePagePrivate *private = flam_table_page_get_instance_private (self);
  const FlamTree *tree =
      flam_session_get_tree (flam_page_get_session (FLAM_PAGE (self)));

  return private->shown == NULL || private->shown == tree ? tree : NULL;
}

static guint32
place_of (FlamTablePage *self, gpointer row, const char **file)
{
  FlamTablePageClass *class = FLAM_TABLE_PAGE_GET_CLASS (self);

  *file = "";
  return class->get_place != NULL ? class->get_place (row, file) : 0;
}

static gboolean
is_current (gpointer row, gpointer data)
{
  FlamTablePage *self = data;
  FlamSession *session = flam_page_get_session (FLAM_PAGE (self));
  FlamId current = flam_session_get_current (session);
  const char *file, *here;
  guint32 line = place_of (self, row, &file);
  guint32 at = flam_session_get_current_line (session, &here);

  if (line != 0 && at != 0)
    return line == at && strcmp (file, here) == 0;
  return (current != 0 || flam_session_is_current_whole (session)) &&
         FLAM_TABLE_PAGE_GET_CLASS (self)->is_of (
             row, flam_session_get_tree (session), current);
}

void
flam_table_page_show_current (FlamTablePage *self)
{
  FlamTablePagePrivate *private = flam_table_page_get_instance_private (self);

  g_return_if_fail (FLAM_IS_TABLE_PAGE (self));
  if (private->syncing || shown_tree (self) == NULL)
    return;
  private->syncing = TRUE;
  flam_columns_show_row (private->view, private->selection, is_current, self);
  private->syncing = FALSE;
}

static void
on_current (FlamTablePage *self)
{
  FlamTablePageClass *class = FLAM_TABLE_PAGE_GET_CLASS (self);

  if (class->keeps_row == NULL || !class->keeps_row (self))
    flam_table_page_show_current (self);
}

static void
on_selected (FlamTablePage *self)
{
  FlamTablePagePrivate *private = flam_table_page_get_instance_private (self);
  FlamTablePageClass *class = FLAM_TABLE_PAGE_GET_CLASS (self);
  FlamSession *session = flam_page_get_session (FLAM_PAGE (self));
  gpointer row = gtk_single_selection_get_selected_item (private->selection);
  const FlamTree *tree = shown_tree (self);
  const char *file;
  guint32 line;
  FlamNodeId node;

  if (private->syncing || row == NULL || tree == NULL)
    return;
  node = class->find (row, tree);
  line = place_of (self, row, &file);
  private->syncing = TRUE;
  flam_session_set_current_at (session,
                               node != FLAM_NONE ? node : 0,
                               file,
                               line,
                               line == 0 && node != FLAM_NONE);
  if ((node == 0 || node == FLAM_NONE) && class->chose_none != NULL)
    class->chose_none (self, row);
  private->syncing = FALSE;
}

static gboolean
choose_again (gpointer self)
{
  if (gtk_widget_get_mapped (self))
    on_selected (FLAM_TABLE_PAGE (self));
  return G_SOURCE_REMOVE;
}

/* A row selected because of one of its stacks: a click chooses the whole
 * function. Called after GTK has selected the row. */
static void
on_clicked (FlamTablePage *self)
{
  g_idle_add_full (
      G_PRIORITY_HIGH_IDLE, choose_again, g_object_ref (self), g_object_unref);
}

static void
on_activate (FlamTablePage *self, guint position)
{
  g_settings_set_boolean (flam_settings_get (), FLAM_KEY_SOURCE_SHOWN, TRUE);
}

/* --- rows ----------------------------------------------------------------- */

static gboolean
is_slow (FlamTablePage *self)
{
  FlamRegex *regex =
      flam_session_get_search_regex (flam_page_get_session (FLAM_PAGE (self)));

  return regex != NULL && flam_regex_get_slow (regex) != NULL;
}

/* An expression that took too long on a row's name matches no rows, not even
 * earlier ones. */
static void
filter_again (FlamTablePage *self)
{
  FlamTablePagePrivate *private = flam_table_page_get_instance_private (self);

  if (is_slow (self) &&
      g_list_model_get_n_items (G_LIST_MODEL (private->selection)) > 0)
    gtk_filter_changed (GTK_FILTER (private->filter),
                        GTK_FILTER_CHANGE_MORE_STRICT);
}

void
flam_table_page_set_rows (FlamTablePage *self,
                          GPtrArray *rows,
                          const FlamTree *tree)
{
  FlamTablePagePrivate *private = flam_table_page_get_instance_private (self);
  FlamTree *before = private->shown;

  g_return_if_fail (FLAM_IS_TABLE_PAGE (self));
  private->shown = tree != NULL ? flam_tree_ref ((FlamTree *)tree) : NULL;
  g_clear_pointer (&before, flam_tree_unref);
  private->syncing = TRUE;
  flam_columns_forget_needs (private->view);
  g_list_store_splice (private->rows,
                       0,
                       g_list_model_get_n_items (G_LIST_MODEL (private->rows)),
                       rows->pdata,
                       rows->len);
  filter_again (self);
  gtk_single_selection_set_selected (private->selection,
                                     GTK_INVALID_LIST_POSITION);
  private->syncing = FALSE;
  flam_table_page_show_current (self);
}

static gboolean
matches (gpointer row, gpointer data)
{
  FlamTablePage *self = data;
  FlamTablePageClass *class = FLAM_TABLE_PAGE_GET_CLASS (self);
  FlamSession *session = flam_page_get_session (FLAM_PAGE (self));
  FlamRegex *regex = flam_session_get_search_regex (session);

  return class->get_name == NULL || regex == NULL ||
         flam_regex_match (regex, class->get_name (row));
}

static void
on_search (FlamTablePage *self)
{
  FlamTablePagePrivate *private = flam_table_page_get_instance_private (self);

  gtk_filter_changed (GTK_FILTER (private->filter),
                      GTK_FILTER_CHANGE_DIFFERENT);
  filter_again (self);
  flam_table_page_show_current (self);
}

/* An empty table shows why it is empty. */
static void
update_none (FlamTablePage *self)
{
  FlamTablePagePrivate *private = flam_table_page_get_instance_private (self);
  gboolean found =
      g_list_model_get_n_items (G_LIST_MODEL (private->selection)) > 0;
  gboolean any = g_list_model_get_n_items (G_LIST_MODEL (private->rows)) > 0;

  if (private->none == NULL)
    return;
  gtk_label_set_label (
      private->none,
      !any ? flam_why_empty (flam_page_get_session (FLAM_PAGE (self)))
      : is_slow (self) ? _ ("The regular expression takes too long.")
                       : _ ("No function matches the search."));
  gtk_widget_set_visible (GTK_WIDGET (private->none), !found);
}

static void
on (FlamTablePage *self, gpointer of, const char *signal, GCallback callback)
{
  g_signal_connect_swapped (of, signal, callback, self);
}

void
flam_table_page_set_table (FlamTablePage *self,
                           GtkColumnView *view,
                           GtkLabel *none)
{
  FlamTablePagePrivate *private = flam_table_page_get_instance_private (self);
  GtkGesture *click = gtk_gesture_click_new ();
  GtkFilterListModel *filtered;
  GtkSortListModel *sorted;

  g_return_if_fail (FLAM_IS_TABLE_PAGE (self));
  private->view = view;
  private->none = none;
  filtered =
      gtk_filter_list_model_new (G_LIST_MODEL (g_object_ref (private->rows)),
                                 GTK_FILTER (g_object_ref (private->filter)));
  sorted = gtk_sort_list_model_new (
      G_LIST_MODEL (filtered),
      g_object_ref (gtk_column_view_get_sorter (view)));
  private->selection = gtk_single_selection_new (G_LIST_MODEL (sorted));
  gtk_single_selection_set_autoselect (private->selection, FALSE);
  gtk_single_selection_set_can_unselect (private->selection, TRUE);
  gtk_column_view_set_model (view, GTK_SELECTION_MODEL (private->selection));
  on (self, private->rows, "items-changed", G_CALLBACK (update_none));
  on (self, private->selection, "items-changed", G_CALLBACK (update_none));
  on (self, private->selection, "notify::selected", G_CALLBACK (on_selected));
  on (self, view, "activate", G_CALLBACK (on_activate));
  gtk_event_controller_set_propagation_phase (GTK_EVENT_CONTROLLER (click),
                                              GTK_PHASE_CAPTURE);
  on (self, click, "released", G_CALLBACK (on_clicked));
  gtk_widget_add_controller (GTK_WIDGET (view), GTK_EVENT_CONTROLLER (click));
}

/* --- object --------------------------------------------------------------- */

static gboolean
flam_table_page_begin (GtkWidget *widget)
{
  FlamTablePagePrivate *private =
      flam_table_page_get_instance_private (FLAM_TABLE_PAGE (widget));

  return gtk_widget_grab_focus (GTK_WIDGET (private->view));
}

static void
flam_table_page_constructed (GObject *object)
{
  FlamPage *page = FLAM_PAGE (object);
  FlamSession *session = flam_page_get_session (page);

  G_OBJECT_CLASS (flam_table_page_parent_class)->constructed (object);
  flam_page_follow (page, session, "notify::current", G_CALLBACK (on_current));
  flam_page_follow (page, session, "notify::search", G_CALLBACK (on_search));
}

static void
flam_table_page_dispose (GObject *object)
{
  FlamTablePage *self = FLAM_TABLE_PAGE (object);
  FlamTablePagePrivate *private = flam_table_page_get_instance_private (self);

  if (private->selection != NULL)
    g_signal_handlers_disconnect_by_data (private->selection, self);
  g_signal_handlers_disconnect_by_data (private->rows, self);
  G_OBJECT_CLASS (flam_table_page_parent_class)->dispose (object);
  g_clear_object (&private->selection);
  g_clear_pointer (&private->shown, flam_tree_unref);
}

static void
flam_table_page_finalize (GObject *object)
{
  FlamTablePagePrivate *private =
      flam_table_page_get_instance_private (FLAM_TABLE_PAGE (object));

  g_object_unref (private->filter);
  g_object_unref (private->rows);
  G_OBJECT_CLASS (flam_table_page_parent_class)->finalize (object);
}

static void
flam_table_page_class_init (FlamTablePageClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);

  object_class->constructed = flam_table_page_constructed;
  object_class->dispose = flam_table_page_dispose;
  object_class->finalize = flam_table_page_finalize;
  FLAM_PAGE_CLASS (klass)->begin = flam_table_page_begin;
}

static void
flam_table_page_init (FlamTablePage *self)
{
  FlamTablePagePrivate *private = flam_table_page_get_instance_private (self);

  private->rows = g_list_store_new (G_TYPE_OBJECT);
  private->filter = gtk_custom_filter_new (matches, self, NULL);
}
