/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-functions-view.h"

#include "flam-columns-view.h"
#include "flam-functions.h"
#include "flam-settings.h"

#include <glib/gi18n.h>

struct _FlamFunctionsView
{
  FlamPage parent_instance;

  FlamSession *session; /* the page's */
  FlamJob *job;
  GListStore *rows; /* FlamTreeRow */
  GtkCustomFilter *filter;
  GtkSingleSelection *selection;
  FlamExcerpt *shown; /* what the rows are of */
  gboolean stale;
  gboolean syncing;

  GtkDropDown *by;
  GtkButton *copy;
  GtkColumnView *view;
  GtkLabel *none;
  GtkColumnViewColumn *other; /* not referenced: the view's */
};

G_DEFINE_FINAL_TYPE (FlamFunctionsView, flam_functions_view, FLAM_TYPE_PAGE)

/* --- the list, made on a worker ------------------------------------------- */

typedef struct
{
  FlamExcerpt *excerpt;
  FlamExcerpt *upright; /* the same when it was not inverted */
  FlamFunctionRow *rows;
  guint n;
} List;

static void
list_free (gpointer data)
{
  List *list = data;

  g_clear_pointer (&list->excerpt, flam_excerpt_unref);
  g_clear_pointer (&list->upright, flam_excerpt_unref);
  g_free (list->rows);
  g_free (list);
}

static List *
list_new (FlamExcerpt *excerpt)
{
  List *list = g_new0 (List, 1);

  list->excerpt = flam_excerpt_ref (excerpt);
  return list;
}

static gpointer
list_work (gpointer data, const FlamProgress *progress, GError **error)
{
  List *input = data;
  List *list = list_new (input->excerpt);

  list->upright = flam_excerpt_upright (input->excerpt, progress, error);
  if (list->upright == NULL)
    {
      list_free (list);
      return NULL;
    }
  list->rows =
      flam_functions_new (list->upright->tree, FLAM_SORT_SELF, &list->n);
  return list;
}

/* --- the session's frame -------------------------------------------------- */

static gboolean
is_function (gpointer row, gpointer function)
{
  const FlamTree *tree = flam_tree_row_get_excerpt (row)->tree;

  return tree->function[flam_tree_row_get_node (row)] ==
         GPOINTER_TO_UINT (function);
}

static void
show_current (FlamFunctionsView *self)
{
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamId current = flam_session_get_current (self->session);

  if (self->syncing || tree == NULL ||
      self->shown != flam_session_get_excerpt (self->session))
    return;
  self->syncing = TRUE;
  flam_columns_show_row (self->view,
                         self->selection,
                         is_function,
                         GUINT_TO_POINTER (tree->function[current]));
  self->syncing = FALSE;
}

static void
list_done (gpointer result, const GError *error, gpointer data)
{
  FlamFunctionsView *self = data;
  List *list = result;
  g_autoptr (GPtrArray) rows = NULL;

  if (list == NULL)
    return;
  rows = g_ptr_array_new_full (list->n, g_object_unref);
  for (guint i = 0; i < list->n; i++)
    g_ptr_array_add (rows,
                     flam_tree_row_new_with (list->upright,
                                             list->rows[i].node,
                                             list->rows[i].self,
                                             list->rows[i].total,
                                             list->rows[i].other_total));
  self->syncing = TRUE;
  g_list_store_splice (self->rows,
                       0,
                       g_list_model_get_n_items (G_LIST_MODEL (self->rows)),
                       rows->pdata,
                       rows->len);
  gtk_single_selection_set_selected (self->selection,
                                     GTK_INVALID_LIST_POSITION);
  self->syncing = FALSE;
  g_clear_pointer (&self->shown, flam_excerpt_unref);
  self->shown = flam_excerpt_ref (list->excerpt);
  list_free (list);
  show_current (self);
}

static void
fill (FlamFunctionsView *self)
{
  FlamExcerpt *excerpt = flam_session_get_excerpt (self->session);

  flam_columns_update_other (self->other, excerpt);
  self->stale = FALSE;
  if (excerpt == NULL)
    {
      flam_job_cancel (self->job);
      g_list_store_remove_all (self->rows);
      return;
    }
  flam_job_start (self->job,
                  list_work,
                  list_new (excerpt),
                  list_free,
                  list_free,
                  list_done,
                  self);
}

static void
on_excerpt (FlamFunctionsView *self)
{
  self->stale = TRUE;
  if (gtk_widget_get_mapped (GTK_WIDGET (self)))
    fill (self);
}

/* --- search and selection ------------------------------------------------- */

static gboolean
row_matches (gpointer item, gpointer data)
{
  FlamFunctionsView *self = data;
  GRegex *regex = flam_session_get_search_regex (self->session);

  return regex == NULL ||
         g_regex_match (regex, flam_tree_row_get_name (item), 0, NULL);
}

static void
on_search (FlamFunctionsView *self)
{
  gtk_filter_changed (GTK_FILTER (self->filter), GTK_FILTER_CHANGE_DIFFERENT);
  show_current (self);
}

/* A function stands in many places of the tree: the heaviest is taken. */
static FlamId
heaviest_node (const FlamTree *tree, FlamTreeRow *row)
{
  const FlamTree *of = flam_tree_row_get_excerpt (row)->tree;

  return flam_tree_find_function (tree,
                                  of->function[flam_tree_row_get_node (row)]);
}

static void
on_selected (FlamFunctionsView *self)
{
  gpointer item = gtk_single_selection_get_selected_item (self->selection);
  const FlamTree *tree = flam_session_get_tree (self->session);

  if (self->syncing || item == NULL || tree == NULL ||
      self->shown != flam_session_get_excerpt (self->session))
    return;
  self->syncing = TRUE;
  flam_session_set_current (self->session, heaviest_node (tree, item));
  self->syncing = FALSE;
}

static void
on_activate (FlamFunctionsView *self, guint position)
{
  g_settings_set_boolean (flam_settings_get (), FLAM_KEY_SOURCE_SHOWN, TRUE);
}

/* --- what a row is, and rows as text -------------------------------------- */

static void
on_by (FlamFunctionsView *self)
{
  const FlamSelection *now = flam_session_get_selection (self->session);
  FlamSelection *selection;

  if (now == NULL || now->by == gtk_drop_down_get_selected (self->by))
    return;
  selection = flam_selection_copy (now);
  selection->by = gtk_drop_down_get_selected (self->by);
  flam_session_select (self->session, selection);
}

static void
show_by (FlamFunctionsView *self)
{
  const FlamSelection *selection = flam_session_get_selection (self->session);

  if (selection != NULL)
    gtk_drop_down_set_selected (self->by, selection->by);
}

static void
on_copy (FlamFunctionsView *self)
{
  flam_columns_copy_rows (self->view);
}

/* --- object --------------------------------------------------------------- */

static void
flam_functions_view_map (GtkWidget *widget)
{
  FlamFunctionsView *self = FLAM_FUNCTIONS_VIEW (widget);

  if (self->stale)
    fill (self);
  GTK_WIDGET_CLASS (flam_functions_view_parent_class)->map (widget);
}

static gboolean
flam_functions_view_grab_focus (GtkWidget *widget)
{
  return gtk_widget_grab_focus (
      GTK_WIDGET (FLAM_FUNCTIONS_VIEW (widget)->view));
}

static void
flam_functions_view_constructed (GObject *object)
{
  FlamFunctionsView *self = FLAM_FUNCTIONS_VIEW (object);

  G_OBJECT_CLASS (flam_functions_view_parent_class)->constructed (object);
  self->session = flam_page_get_session (FLAM_PAGE (self));
  flam_columns_set_session (self->view, self->session);
  g_signal_connect_object (self->session,
                           "notify::excerpt",
                           G_CALLBACK (on_excerpt),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session,
                           "notify::current",
                           G_CALLBACK (show_current),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session,
                           "notify::selection",
                           G_CALLBACK (show_by),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (self->session,
                           "notify::search",
                           G_CALLBACK (on_search),
                           self,
                           G_CONNECT_SWAPPED);
}

static void
flam_functions_view_dispose (GObject *object)
{
  FlamFunctionsView *self = FLAM_FUNCTIONS_VIEW (object);

  if (self->job != NULL)
    flam_job_cancel (self->job);
  g_clear_object (&self->job);
  G_OBJECT_CLASS (flam_functions_view_parent_class)->dispose (object);
  g_clear_object (&self->selection);
  g_clear_object (&self->filter);
  g_clear_object (&self->rows);
  g_clear_pointer (&self->shown, flam_excerpt_unref);
}

static void
flam_functions_view_class_init (FlamFunctionsViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = flam_functions_view_constructed;
  object_class->dispose = flam_functions_view_dispose;
  class->map = flam_functions_view_map;
  class->grab_focus = flam_functions_view_grab_focus;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-functions-view.ui");
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, by);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, copy);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, view);
  gtk_widget_class_bind_template_child (class, FlamFunctionsView, none);
}

/* An empty list says why it is empty. */
static void
update_none (FlamFunctionsView *self)
{
  gboolean found =
      g_list_model_get_n_items (G_LIST_MODEL (self->selection)) > 0;
  gboolean any = g_list_model_get_n_items (G_LIST_MODEL (self->rows)) > 0;

  gtk_label_set_label (self->none,
                       any ? _ ("No Matching Functions")
                           : flam_page_why_empty (FLAM_PAGE (self)));
  gtk_widget_set_visible (GTK_WIDGET (self->none), !found);
}

static void
fill_columns (FlamFunctionsView *self)
{
  GtkColumnViewColumn *own;

  flam_columns_prepare (self->view);
  own = flam_columns_add_cost (self->view, FLAM_COST_SELF, TRUE);
  flam_columns_add_cost (self->view, FLAM_COST_TOTAL, TRUE);
  self->other = flam_columns_add_other (self->view, TRUE);
  flam_columns_add_name (self->view, FALSE, TRUE);
  flam_columns_add_module (self->view, TRUE);
  flam_columns_sort (self->view, own);
}

static void
flam_functions_view_init (FlamFunctionsView *self)
{
  GtkFilterListModel *filtered;
  GtkSortListModel *sorted;

  gtk_widget_init_template (GTK_WIDGET (self));
  self->job = flam_job_new ();
  self->rows = g_list_store_new (FLAM_TYPE_TREE_ROW);
  self->filter = gtk_custom_filter_new (row_matches, self, NULL);
  fill_columns (self);
  filtered =
      gtk_filter_list_model_new (G_LIST_MODEL (g_object_ref (self->rows)),
                                 GTK_FILTER (g_object_ref (self->filter)));
  sorted = gtk_sort_list_model_new (
      G_LIST_MODEL (filtered),
      g_object_ref (gtk_column_view_get_sorter (self->view)));
  self->selection = gtk_single_selection_new (G_LIST_MODEL (sorted));
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
  g_signal_connect_swapped (
      self->rows, "items-changed", G_CALLBACK (update_none), self);
  g_signal_connect_swapped (
      self->selection, "items-changed", G_CALLBACK (update_none), self);
  g_signal_connect_swapped (
      self->selection, "notify::selected", G_CALLBACK (on_selected), self);
  g_signal_connect_swapped (
      self->view, "activate", G_CALLBACK (on_activate), self);
  g_signal_connect_swapped (
      self->by, "notify::selected", G_CALLBACK (on_by), self);
  g_signal_connect_swapped (self->copy, "clicked", G_CALLBACK (on_copy), self);
}
