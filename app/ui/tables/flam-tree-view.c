/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-tree-view.h"

#include "flam-columns-view.h"
#include "flam-row-scroll.h"
#include "flam-settings.h"
#include "flam-why-empty.h"

#define UNFOLD_MAX 200
#define HOT_SHARE 0.5

struct _FlamTreeView
{
  FlamPage parent_instance;

  FlamSession *session; /* the page's */
  GtkTreeListModel *model;
  GtkSingleSelection *selection;
  gboolean syncing;

  GtkColumnView *view;
  GtkLabel *none;
  GtkColumnViewColumn *other; /* not referenced: the view's */
};

G_DEFINE_FINAL_TYPE (FlamTreeView, flam_tree_view, FLAM_TYPE_PAGE)

static GListModel *
create_children (gpointer item, gpointer data)
{
  return flam_tree_row_children (flam_tree_row_get_view_data (item),
                                 flam_tree_row_get_node (item));
}

static guint
sibling_index (const FlamTree *tree, FlamNodeId node)
{
  FlamNodeId sibling = flam_tree_first_child (tree, tree->parent[node]);
  guint index = 0;

  for (; sibling != node; sibling = flam_tree_next_sibling (tree, sibling))
    index++;
  return index;
}

/* The list row of `node`, with all rows above it unfolded; NULL if it is too
 * deep for that. */
static GtkTreeListRow *
unfold_to (FlamTreeView *self, const FlamTree *tree, FlamNodeId node)
{
  FlamId path[UNFOLD_MAX];
  guint n = 0;
  GtkTreeListRow *row = NULL;

  if (tree->depth[node] > UNFOLD_MAX)
    return NULL;
  for (; node != 0; node = tree->parent[node])
    path[n++] = node;
  while (n-- > 0)
    {
      guint index = sibling_index (tree, path[n]);
      GtkTreeListRow *child;

      if (row == NULL)
        child = gtk_tree_list_model_get_child_row (self->model, index);
      else
        {
          gtk_tree_list_row_set_expanded (row, TRUE);
          child = gtk_tree_list_row_get_child_row (row, index);
        }
      g_clear_object (&row);
      row = child;
      if (row == NULL)
        return NULL;
    }
  return row;
}

static void
show_current (FlamTreeView *self)
{
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamId current = flam_session_get_current (self->session);
  g_autoptr (GtkTreeListRow) row = NULL;

  if (self->syncing || flam_page_is_stale (FLAM_PAGE (self)) || tree == NULL ||
      current == 0)
    return;
  self->syncing = TRUE;
  row = unfold_to (self, tree, current);
  if (row != NULL)
    {
      guint position = gtk_tree_list_row_get_position (row);
      gtk_single_selection_set_selected (self->selection, position);
      flam_rows_scroll_to (GTK_WIDGET (self->view), position);
    }
  self->syncing = FALSE;
}

static FlamNodeId
hottest_child (const FlamTree *tree, FlamNodeId node)
{
  FlamId hottest = FLAM_NONE;
  FlamNodeId child = flam_tree_first_child (tree, node);

  for (; child != FLAM_NONE; child = flam_tree_next_sibling (tree, child))
    if (hottest == FLAM_NONE || tree->total[child] > tree->total[hottest])
      hottest = child;
  return hottest;
}

static void
unfold_hottest (FlamTreeView *self, const FlamTree *tree)
{
  FlamNodeId node = 0;
  FlamNodeId child;

  while ((child = hottest_child (tree, node)) != FLAM_NONE &&
         (double)tree->total[child] >= HOT_SHARE * (double)tree->total[0] &&
         tree->depth[child] < UNFOLD_MAX)
    node = child;
  if (node != 0)
    {
      g_autoptr (GtkTreeListRow) row = unfold_to (self, tree, node);
      if (row != NULL)
        gtk_tree_list_row_set_expanded (row, TRUE);
    }
}

static void
fill (FlamPage *page)
{
  FlamTreeView *self = FLAM_TREE_VIEW (page);
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  GListModel *roots = NULL;

  flam_columns_update_other (self->other, view_data);
  flam_columns_forget_needs (self->view);
  self->syncing = TRUE;
  g_clear_object (&self->model);
  if (view_data != NULL)
    roots = flam_tree_row_children (view_data, 0);
  if (roots != NULL)
    self->model = gtk_tree_list_model_new (
        roots, FALSE, FALSE, create_children, NULL, NULL);
  gtk_single_selection_set_model (self->selection, G_LIST_MODEL (self->model));
  if (self->model != NULL && flam_session_get_current (self->session) == 0)
    unfold_hottest (self, view_data->tree);
  gtk_single_selection_set_selected (self->selection,
                                     GTK_INVALID_LIST_POSITION);
  self->syncing = FALSE;
  gtk_label_set_label (self->none, flam_why_empty (self->session));
  gtk_widget_set_visible (GTK_WIDGET (self->none),
                          view_data != NULL && roots == NULL);
  if (self->model != NULL)
    show_current (self);
}

static void
on_selected (FlamTreeView *self)
{
  gpointer item = gtk_single_selection_get_selected_item (self->selection);
  g_autoptr (FlamTreeRow) row = NULL;

  if (self->syncing || item == NULL)
    return;
  row = flam_columns_row (item);
  self->syncing = TRUE;
  flam_session_set_current (self->session, flam_tree_row_get_node (row));
  self->syncing = FALSE;
}

static void
on_activate (FlamTreeView *self, guint position)
{
  g_autoptr (GtkTreeListRow) row =
      gtk_tree_list_model_get_row (self->model, position);

  if (row != NULL && gtk_tree_list_row_is_expandable (row))
    gtk_tree_list_row_set_expanded (row, !gtk_tree_list_row_get_expanded (row));
  g_settings_set_boolean (flam_settings_get (), FLAM_KEY_SOURCE_SHOWN, TRUE);
}

/* Right unfolds the selected row, Left folds it. */
static gboolean
on_key (FlamTreeView *self, guint key)
{
  gpointer item = gtk_single_selection_get_selected_item (self->selection);
  gboolean unfold = key == GDK_KEY_Right;

  if (item == NULL || (key != GDK_KEY_Left && !unfold) ||
      !gtk_tree_list_row_is_expandable (item) ||
      gtk_tree_list_row_get_expanded (item) == unfold)
    return FALSE;
  gtk_tree_list_row_set_expanded (item, unfold);
  return TRUE;
}

static gboolean
flam_tree_view_begin (GtkWidget *widget)
{
  return gtk_widget_grab_focus (GTK_WIDGET (FLAM_TREE_VIEW (widget)->view));
}

static void
flam_tree_view_constructed (GObject *object)
{
  FlamTreeView *self = FLAM_TREE_VIEW (object);

  G_OBJECT_CLASS (flam_tree_view_parent_class)->constructed (object);
  self->session = flam_page_get_session (FLAM_PAGE (self));
  flam_columns_set_session (self->view, self->session);
  flam_page_follow (FLAM_PAGE (self),
                    self->session,
                    "notify::current",
                    G_CALLBACK (show_current));
}

static void
flam_tree_view_dispose (GObject *object)
{
  FlamTreeView *self = FLAM_TREE_VIEW (object);

  G_OBJECT_CLASS (flam_tree_view_parent_class)->dispose (object);
  g_clear_object (&self->selection);
  g_clear_object (&self->model);
}

static void
flam_tree_view_class_init (FlamTreeViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = flam_tree_view_constructed;
  object_class->dispose = flam_tree_view_dispose;
  FLAM_PAGE_CLASS (klass)->fill = fill;
  FLAM_PAGE_CLASS (klass)->begin = flam_tree_view_begin;
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-tree-view.ui");
  gtk_widget_class_bind_template_child (class, FlamTreeView, view);
  gtk_widget_class_bind_template_child (class, FlamTreeView, none);
}

static void
flam_tree_view_init (FlamTreeView *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();

  gtk_widget_init_template (GTK_WIDGET (self));
  /* Before the list moves the focus. */
  gtk_event_controller_set_propagation_phase (keys, GTK_PHASE_CAPTURE);
  g_signal_connect_swapped (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_widget_add_controller (GTK_WIDGET (self->view), keys);
  self->selection = gtk_single_selection_new (NULL);
  gtk_single_selection_set_autoselect (self->selection, FALSE);
  gtk_single_selection_set_can_unselect (self->selection, TRUE);
  gtk_column_view_set_model (self->view, GTK_SELECTION_MODEL (self->selection));
  flam_columns_prepare (self->view);
  flam_columns_add_cost (self->view, FLAM_COST_SELF, FALSE);
  flam_columns_add_cost (self->view, FLAM_COST_TOTAL, FALSE);
  self->other = flam_columns_add_other (self->view, FALSE);
  flam_columns_add_name (self->view, TRUE, FALSE);
  flam_columns_add_module (self->view, FALSE);
  g_signal_connect_swapped (
      self->selection, "notify::selected", G_CALLBACK (on_selected), self);
  g_signal_connect_swapped (
      self->view, "activate", G_CALLBACK (on_activate), self);
}
