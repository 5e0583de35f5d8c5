/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-callers-view.h"

#include "flam-columns-view.h"
#include "flam-core-picture.h"
#include "flam-flame-graph.h"
#include "flam-frame-drag.h"
#include "flam-legend.h"
#include "flam-settings.h"
#include "flam-transforms.h"
#include "flam-user-colors.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

/* One side of the function: its graph and its table. */
typedef struct
{
  FlamFlameGraph *graph;
  GtkColumnView *table;
  GtkSingleSelection *selection;
  GtkColumnViewColumn *other; /* not referenced: the table's */
  FlamViewData *view_data;
} Side;

struct _FlamCallersView
{
  FlamPage parent_instance;

  FlamSession *session; /* the page's */
  FlamTree *middle_of;  /* the tree that `middle` belongs to, or NULL */
  FlamId middle;
  gconstpointer none_of; /* the view data in which the function has no frame */
  Side sides[2];         /* callers, callees */
  gboolean syncing;      /* the current frame was selected in this view */
  FlamViewData *lines; /* for places: the upright selection by line, or NULL */
  FlamViewData *lines_of; /* the view data that they belong to */
  GListStore *place_rows; /* FlamTreeRow of `lines` */
  GtkSingleSelection *place_selection;

  GtkLabel *name;
  GtkLabel *costs;
  GtkToggleButton *graph_button;
  GtkToggleButton *places_button;
  GtkToggleButton *table_button;
  GtkStack *stack;
  AdwStatusPage *empty;
  GtkBox *caller_legend, *callee_legend;
  GtkPaned *tables;
  GtkColumnView *places;
  FlamFlameGraph *callers;
  FlamFlameGraph *callees;
  GtkColumnView *caller_table;
  GtkColumnView *callee_table;
};

G_DEFINE_FINAL_TYPE (FlamCallersView, flam_callers_view, FLAM_TYPE_PAGE)

static guint centered_signal;

/* --- both trees, made on a worker ----------------------------------------- */

typedef struct
{
  FlamViewData *view_data;
  FlamTree *middle_of;
  FlamId middle;
  gboolean none;       /* the chosen function has no frame */
  gboolean places;     /* are wanted */
  FlamViewData *lines; /* known already, or NULL */
} Input;

typedef struct
{
  FlamViewData *upright; /* the selection's tree, if it is not inverted */
  FlamId middle;         /* a function of that tree; FLAM_NONE: none */
  FlamViewData *sides[2];
  FlamFunctionRow figures; /* of the middle */
  FlamViewData *lines;     /* NULL: places are not wanted */
  FlamFunctionRow *row;    /* the places */
  guint n_rows;
} Result;

static void
input_free (gpointer data)
{
  Input *input = data;

  flam_view_data_unref (input->view_data);
  g_clear_pointer (&input->middle_of, flam_tree_unref);
  g_clear_pointer (&input->lines, flam_view_data_unref);
  g_free (input);
}

static void
result_free (gpointer data)
{
  Result *result = data;

  g_clear_pointer (&result->upright, flam_view_data_unref);
  for (guint i = 0; i < 2; i++)
    g_clear_pointer (&result->sides[i], flam_view_data_unref);
  g_clear_pointer (&result->lines, flam_view_data_unref);
  g_free (result->row);
  g_free (result);
}

/* The previous function in the middle, otherwise the most expensive one. */
static FlamId
find_middle (const Input *input, const FlamTree *tree)
{
  g_autofree FlamFunctionRow *rows = NULL;
  FlamId found = FLAM_NONE;
  guint n;

  if (input->none)
    return FLAM_NONE;
  if (input->middle_of != NULL && input->middle_of->profile == tree->profile)
    found = flam_sandwich_find (input->middle_of, input->middle, tree);
  else if (input->middle_of != NULL)
    found = flam_tree_find_name (
        tree, flam_tree_name (input->middle_of, input->middle));
  if (found != FLAM_NONE)
    return found;
  rows = flam_functions_new (tree, FLAM_SORT_SELF, &n);
  return n > 0 ? rows[0].node : FLAM_NONE;
}

/* The lines of the function in the middle, as rows of the whole selection by
 * line. Threads and labels are not code. */
static gboolean
find_places (const Input *input,
             Result *result,
             const FlamProgress *progress,
             GError **error)
{
  const FlamTree *tree = result->upright->tree;
  g_autoptr (FlamSelection) selection = NULL;
  FlamShownKey middle;
  guint n = 0;

  if (!input->places || flam_tree_is_top (tree, result->middle))
    return TRUE;
  selection = flam_selection_copy (result->upright->selection);
  selection->by = FLAM_BY_LINE;
  result->lines = input->lines != NULL
                      ? flam_view_data_ref (input->lines)
                      : flam_view_data_new (input->view_data->profile,
                                            selection,
                                            FLAM_ORDER_TOTAL,
                                            result->upright,
                                            progress,
                                            error);
  if (result->lines == NULL)
    return FALSE;
  middle = flam_tree_key (tree, result->middle);
  result->row = flam_functions_new (result->lines->tree, FLAM_SORT_TOTAL, &n);
  for (guint i = 0; i < n; i++)
    {
      FlamFrameId frame = result->lines->tree->frame[result->row[i].node];
      FlamShownKey key = flam_shown_key (tree->profile, tree->by, frame);

      if (flam_shown_key_equal (&key, &middle))
        result->row[result->n_rows++] = result->row[i];
    }
  return TRUE;
}

static gpointer
make_sides (gpointer data, const FlamProgress *progress, GError **error)
{
  const Input *input = data;
  Result *result = g_new0 (Result, 1);
  gboolean done = FALSE;

  result->upright = flam_view_data_upright (input->view_data, progress, error);
  if (result->upright != NULL)
    {
      const FlamTree *tree = result->upright->tree;
      FlamTree *side[2] = { NULL, NULL };

      result->middle = find_middle (input, tree);
      if (result->middle == FLAM_NONE)
        return result;
      result->figures = flam_functions_row_of (tree, result->middle);
      side[0] = flam_sandwich_callers (tree, result->middle, progress, error);
      if (side[0] != NULL)
        side[1] = flam_sandwich_callees (tree, result->middle, progress, error);
      done = side[1] != NULL && find_places (input, result, progress, error);
      for (guint i = 0; i < 2; i++)
        if (side[i] != NULL)
          result->sides[i] = flam_view_data_new_of (result->upright, side[i]);
    }
  if (done)
    return result;
  result_free (result);
  return NULL;
}

/* --- showing them --------------------------------------------------------- */

static void
take_middle (FlamCallersView *self, FlamTree *tree, FlamNodeId node)
{
  FlamTree *before = self->middle_of;

  self->middle_of = tree != NULL ? flam_tree_ref (tree) : NULL;
  self->middle = node;
  self->none_of = NULL;
  g_clear_pointer (&before, flam_tree_unref);
}

static void
show_words (FlamCallersView *self, const Result *result)
{
  const FlamTree *tree = result->upright->tree;
  const FlamFunctionRow *row = &result->figures;
  g_autofree char *total = flam_format_total (tree, row);
  g_autofree char *share = flam_format_percent (row->total, tree->total[0]);
  g_autofree char *own = flam_format_self (tree, row);
  g_autofree char *own_share = flam_format_percent (row->self, tree->total[0]);
  g_autofree char *text = g_strdup_printf (
      _ ("self %s (%s)\ntotal %s (%s)"), own, own_share, total, share);

  flam_widget_show_name (
      self->name, flam_tree_name (tree, result->middle), NULL);
  gtk_label_set_label (self->costs, text);
}

static void
show_side (FlamCallersView *self, Side *side, FlamViewData *view_data)
{
  FlamViewData *before = side->view_data;
  g_autoptr (GListModel) rows = NULL;

  side->view_data = view_data != NULL ? flam_view_data_ref (view_data) : NULL;
  self->syncing = TRUE;
  if (view_data != NULL)
    {
      flam_flame_graph_set_palette (
          side->graph, flam_settings_get_palette (view_data->tree));
      rows = flam_tree_row_children (view_data, 0);
    }
  flam_flame_graph_set_tree (side->graph, NULL, NULL);
  if (view_data != NULL)
    flam_flame_graph_set_tree (side->graph, view_data->tree, view_data->rows);
  flam_columns_update_other (side->other, view_data);
  flam_columns_forget_needs (side->table);
  gtk_single_selection_set_model (side->selection, rows);
  gtk_single_selection_set_selected (side->selection,
                                     GTK_INVALID_LIST_POSITION);
  self->syncing = FALSE;
  g_clear_pointer (&before, flam_view_data_unref);
}

static void
update_form (FlamCallersView *self)
{
  const char *form = gtk_toggle_button_get_active (self->table_button) ? "table"
                     : gtk_toggle_button_get_active (self->places_button)
                         ? "places"
                         : "graph";

  adw_status_page_set_description (
      self->empty,
      self->none_of != NULL
          ? _ ("The chosen row has no stacks that count for this measure.")
          : _ ("The selection has no functions."));
  gtk_stack_set_visible_child_name (
      self->stack, self->sides[0].view_data != NULL ? form : "empty");
}

/* Places are only computed when they are to be shown. */
static void
on_form (FlamCallersView *self)
{
  update_form (self);
  if (gtk_toggle_button_get_active (self->places_button) && self->lines == NULL)
    flam_page_queue_fill (FLAM_PAGE (self));
}

static void
take_lines (FlamCallersView *self, FlamViewData *lines, FlamViewData *of)
{
  FlamViewData *before = self->lines, *before_of = self->lines_of;

  self->lines = lines != NULL ? flam_view_data_ref (lines) : NULL;
  self->lines_of = lines != NULL ? flam_view_data_ref (of) : NULL;
  g_clear_pointer (&before, flam_view_data_unref);
  g_clear_pointer (&before_of, flam_view_data_unref);
}

static void
show_places (FlamCallersView *self, const Result *result)
{
  g_autoptr (GPtrArray) rows = g_ptr_array_new_with_free_func (g_object_unref);

  for (guint i = 0; i < result->n_rows; i++)
    g_ptr_array_add (
        rows, flam_tree_row_new_function (result->lines, &result->row[i]));
  self->syncing = TRUE;
  flam_columns_forget_needs (self->places);
  g_list_store_splice (
      self->place_rows,
      0,
      g_list_model_get_n_items (G_LIST_MODEL (self->place_rows)),
      rows->pdata,
      rows->len);
  gtk_single_selection_set_selected (self->place_selection,
                                     GTK_INVALID_LIST_POSITION);
  self->syncing = FALSE;
}

static void
on_made (gpointer data, const GError *error, gpointer user_data)
{
  FlamCallersView *self = user_data;
  Result *result = data;

  if (result == NULL)
    return;
  for (guint i = 0; i < 2; i++)
    show_side (self, &self->sides[i], result->sides[i]);
  show_places (self, result);
  if (result->lines != NULL)
    take_lines (
        self, result->lines, flam_session_get_view_data (self->session));
  gtk_label_set_label (self->name, "");
  gtk_label_set_label (self->costs, "");
  if (result->sides[0] != NULL)
    {
      take_middle (self, result->upright->tree, result->middle);
      show_words (self, result);
    }
  update_form (self);
  result_free (result);
}

static void
fill (FlamPage *page)
{
  FlamCallersView *self = FLAM_CALLERS_VIEW (page);
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  Input *input;

  if (self->lines_of != view_data)
    take_lines (self, NULL, NULL);
  if (view_data == NULL)
    {
      take_middle (self, NULL, FLAM_NONE);
      return;
    }
  input = g_new0 (Input, 1);
  input->view_data = flam_view_data_ref (view_data);
  input->middle = self->middle;
  input->none = self->none_of == view_data;
  if (self->middle_of != NULL)
    input->middle_of = flam_tree_ref (self->middle_of);
  input->places = gtk_toggle_button_get_active (self->places_button);
  if (self->lines != NULL)
    input->lines = flam_view_data_ref (self->lines);
  flam_page_start (page, make_sides, input, input_free, result_free, on_made);
}

/* --- current function ----------------------------------------------------- */

static void
on_current (FlamCallersView *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  FlamId current = flam_session_get_current (self->session);

  if (self->syncing || view_data == NULL || current == 0)
    return;
  take_middle (self, view_data->tree, current);
  flam_page_queue_fill (FLAM_PAGE (self));
}

static void
update_palettes (FlamCallersView *self)
{
  for (guint i = 0; i < G_N_ELEMENTS (self->sides); i++)
    if (self->sides[i].view_data != NULL)
      flam_flame_graph_set_palette (
          self->sides[i].graph,
          flam_settings_get_palette (self->sides[i].view_data->tree));
}

void
flam_callers_view_show_current (FlamCallersView *self)
{
  g_return_if_fail (FLAM_IS_CALLERS_VIEW (self));
  on_current (self);
}

void
flam_callers_view_show_none (FlamCallersView *self)
{
  g_return_if_fail (FLAM_IS_CALLERS_VIEW (self));
  self->none_of = flam_session_get_view_data (self->session);
  flam_page_queue_fill (FLAM_PAGE (self));
}

gboolean
flam_callers_view_is_choosing (FlamCallersView *self)
{
  g_return_val_if_fail (FLAM_IS_CALLERS_VIEW (self), FALSE);
  return self->syncing;
}

void
flam_callers_view_set_wide (FlamCallersView *self, gboolean wide)
{
  g_return_if_fail (FLAM_IS_CALLERS_VIEW (self));
  gtk_orientable_set_orientation (GTK_ORIENTABLE (self->tables),
                                  wide ? GTK_ORIENTATION_HORIZONTAL
                                       : GTK_ORIENTATION_VERTICAL);
}

void
flam_callers_view_show_figures (FlamCallersView *self, gboolean shown)
{
  g_return_if_fail (FLAM_IS_CALLERS_VIEW (self));
  gtk_widget_set_visible (GTK_WIDGET (self->costs), shown);
}

static void
centre (FlamCallersView *self, const Side *side, FlamNodeId node)
{
  if (side->view_data == NULL || node == FLAM_NONE || node == 0)
    return;
  take_middle (self, side->view_data->tree, node);
  flam_page_queue_fill (FLAM_PAGE (self));
  g_signal_emit (self, centered_signal, 0);
}

/* Selecting a frame here sets the session's current frame, with the figures it
 * has here, so its source is shown, but keeps the middle. */
static void
choose (FlamCallersView *self, const Side *side, FlamNodeId node)
{
  FlamTree *tree = (FlamTree *)flam_session_get_tree (self->session);
  FlamId found;

  if (self->syncing || tree == NULL || side->view_data == NULL ||
      node >= side->view_data->tree->n)
    return;
  found = flam_sandwich_find_call (side->view_data->tree, node, tree);
  if (found == FLAM_NONE)
    found = 0;
  self->syncing = TRUE;
  /* The function itself, not one of its callers or callees. */
  if (node == 0)
    flam_session_set_current_at (self->session, found, "", 0, found != 0);
  else
    flam_session_set_current_of (self->session, found, side->view_data, node);
  self->syncing = FALSE;
}

static Side *
side_of (FlamCallersView *self, gpointer widget)
{
  return &self->sides[widget == self->callees || widget == self->callee_table];
}

static void
on_node_selected (FlamFlameGraph *graph, guint node, FlamCallersView *self)
{
  choose (self, side_of (self, graph), node);
}

static void
on_node_activated (FlamFlameGraph *graph, guint node, FlamCallersView *self)
{
  centre (self, side_of (self, graph), node);
}

static void
on_context_menu (FlamFlameGraph *graph,
                 guint node,
                 double x,
                 double y,
                 FlamCallersView *self)
{
  choose (self, side_of (self, graph), node);
  self->syncing = TRUE;
  flam_transforms_popup (GTK_WIDGET (graph),
                         self->session,
                         flam_session_get_current (self->session),
                         x,
                         y);
  self->syncing = FALSE;
}

static void
on_row_selected (GtkSingleSelection *selection,
                 GParamSpec *pspec,
                 FlamCallersView *self)
{
  gpointer item = gtk_single_selection_get_selected_item (selection);

  if (item != NULL)
    choose (self,
            &self->sides[selection == self->sides[1].selection],
            flam_tree_row_get_node (item));
}

static void
on_row_activated (GtkColumnView *table, guint position, FlamCallersView *self)
{
  Side *side = side_of (self, table);
  g_autoptr (FlamTreeRow) row =
      g_list_model_get_item (G_LIST_MODEL (side->selection), position);

  if (row != NULL)
    centre (self, side, flam_tree_row_get_node (row));
}

static void
on_place_selected (FlamCallersView *self)
{
  FlamTreeRow *row =
      gtk_single_selection_get_selected_item (self->place_selection);
  const FlamTree *tree = flam_session_get_tree (self->session);
  const char *file;
  guint32 line;
  FlamId found;

  if (self->syncing || row == NULL || tree == NULL || self->middle_of == NULL)
    return;
  line = flam_tree_source_line (flam_tree_row_get_view_data (row)->tree,
                                flam_tree_row_get_node (row),
                                &file);
  found = self->middle_of->profile == tree->profile
              ? flam_sandwich_find (self->middle_of, self->middle, tree)
              : FLAM_NONE;
  self->syncing = TRUE;
  flam_session_set_current_at (
      self->session, found != FLAM_NONE ? found : 0, file, line, TRUE);
  self->syncing = FALSE;
}

static void
on_search (FlamCallersView *self)
{
  for (guint i = 0; i < 2; i++)
    flam_flame_graph_set_search (self->sides[i].graph,
                                 flam_session_get_search_regex (self->session));
}

/* --- object --------------------------------------------------------------- */

static gboolean
flam_callers_view_begin (GtkWidget *widget)
{
  FlamCallersView *self = FLAM_CALLERS_VIEW (widget);

  if (gtk_toggle_button_get_active (self->table_button))
    return gtk_widget_grab_focus (GTK_WIDGET (self->caller_table));
  if (gtk_toggle_button_get_active (self->places_button))
    return gtk_widget_grab_focus (GTK_WIDGET (self->places));
  return gtk_widget_grab_focus (GTK_WIDGET (self->callees));
}

static void
flam_callers_view_constructed (GObject *object)
{
  FlamCallersView *self = FLAM_CALLERS_VIEW (object);
  FlamPage *page = FLAM_PAGE (self);

  G_OBJECT_CLASS (flam_callers_view_parent_class)->constructed (object);
  self->session = flam_page_get_session (page);
  for (guint i = 0; i < 2; i++)
    flam_columns_set_session (self->sides[i].table, self->session);
  flam_columns_set_session (self->places, self->session);
  flam_page_follow (
      page, self->session, "notify::current", G_CALLBACK (on_current));
  flam_page_follow (
      page, self->session, "notify::search", G_CALLBACK (on_search));
  flam_page_follow (page,
                    flam_settings_get (),
                    "changed::" FLAM_KEY_COLORS,
                    G_CALLBACK (update_palettes));
  on_search (self);
  on_current (self);
}

static void
flam_callers_view_dispose (GObject *object)
{
  FlamCallersView *self = FLAM_CALLERS_VIEW (object);

  G_OBJECT_CLASS (flam_callers_view_parent_class)->dispose (object);
  for (guint i = 0; i < 2; i++)
    {
      g_clear_object (&self->sides[i].selection);
      g_clear_pointer (&self->sides[i].view_data, flam_view_data_unref);
    }
  g_clear_pointer (&self->middle_of, flam_tree_unref);
  g_clear_object (&self->place_selection);
  g_clear_object (&self->place_rows);
  take_lines (self, NULL, NULL);
}

static void
flam_callers_view_class_init (FlamCallersViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  object_class->constructed = flam_callers_view_constructed;
  object_class->dispose = flam_callers_view_dispose;
  FLAM_PAGE_CLASS (klass)->fill = fill;
  FLAM_PAGE_CLASS (klass)->begin = flam_callers_view_begin;
  centered_signal = g_signal_new ("centered",
                                  FLAM_TYPE_CALLERS_VIEW,
                                  G_SIGNAL_RUN_LAST,
                                  0,
                                  NULL,
                                  NULL,
                                  NULL,
                                  G_TYPE_NONE,
                                  0);
  g_type_ensure (FLAM_TYPE_FLAME_GRAPH);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-callers-view.ui");
  gtk_widget_class_bind_template_child (class, FlamCallersView, name);
  gtk_widget_class_bind_template_child (class, FlamCallersView, costs);
  gtk_widget_class_bind_template_child (class, FlamCallersView, graph_button);
  gtk_widget_class_bind_template_child (class, FlamCallersView, places_button);
  gtk_widget_class_bind_template_child (class, FlamCallersView, table_button);
  gtk_widget_class_bind_template_child (class, FlamCallersView, caller_legend);
  gtk_widget_class_bind_template_child (class, FlamCallersView, callee_legend);
  gtk_widget_class_bind_template_child (class, FlamCallersView, tables);
  gtk_widget_class_bind_template_child (class, FlamCallersView, places);
  gtk_widget_class_bind_template_child (class, FlamCallersView, stack);
  gtk_widget_class_bind_template_child (class, FlamCallersView, empty);
  gtk_widget_class_bind_template_child (class, FlamCallersView, callers);
  gtk_widget_class_bind_template_child (class, FlamCallersView, callees);
  gtk_widget_class_bind_template_child (class, FlamCallersView, caller_table);
  gtk_widget_class_bind_template_child (class, FlamCallersView, callee_table);
}

static void
side_init (FlamCallersView *self,
           Side *side,
           FlamFlameGraph *graph,
           GtkColumnView *table,
           FlamDirection direction)
{
  side->graph = graph;
  side->table = table;
  side->selection = gtk_single_selection_new (NULL);
  flam_flame_graph_set_direction (graph, direction);
  flam_frame_drag_add_graph (graph);
  flam_user_colors_follow (graph);
  gtk_single_selection_set_autoselect (side->selection, FALSE);
  gtk_single_selection_set_can_unselect (side->selection, TRUE);
  gtk_column_view_set_model (table, GTK_SELECTION_MODEL (side->selection));
  flam_columns_prepare (table);
  flam_columns_add_cost (table, FLAM_COST_TOTAL, FALSE);
  side->other = flam_columns_add_other (table, FALSE);
  flam_columns_add_name (table, FALSE, FALSE);
  flam_columns_add_module (table, FALSE);
  g_signal_connect (
      graph, "node-selected", G_CALLBACK (on_node_selected), self);
  g_signal_connect (
      graph, "node-activated", G_CALLBACK (on_node_activated), self);
  g_signal_connect (graph, "context-menu", G_CALLBACK (on_context_menu), self);
  g_signal_connect (
      side->selection, "notify::selected", G_CALLBACK (on_row_selected), self);
  g_signal_connect (table, "activate", G_CALLBACK (on_row_activated), self);
}

static void
places_init (FlamCallersView *self)
{
  self->place_rows = g_list_store_new (FLAM_TYPE_TREE_ROW);
  self->place_selection =
      gtk_single_selection_new (G_LIST_MODEL (g_object_ref (self->place_rows)));
  gtk_single_selection_set_autoselect (self->place_selection, FALSE);
  gtk_single_selection_set_can_unselect (self->place_selection, TRUE);
  gtk_column_view_set_model (self->places,
                             GTK_SELECTION_MODEL (self->place_selection));
  flam_columns_prepare (self->places);
  flam_columns_add_cost (self->places, FLAM_COST_SELF, FALSE);
  flam_columns_add_cost (self->places, FLAM_COST_TOTAL, FALSE);
  flam_columns_add_place (self->places);
  g_signal_connect_swapped (self->place_selection,
                            "notify::selected",
                            G_CALLBACK (on_place_selected),
                            self);
}

static void
flam_callers_view_init (FlamCallersView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  self->middle = FLAM_NONE;
  side_init (self,
             &self->sides[0],
             self->callers,
             self->caller_table,
             FLAM_DIRECTION_FLAME);
  side_init (self,
             &self->sides[1],
             self->callees,
             self->callee_table,
             FLAM_DIRECTION_ICICLE);
  gtk_box_append (self->caller_legend, flam_legend_new (self->callers));
  gtk_box_append (self->callee_legend, flam_legend_new (self->callees));
  places_init (self);
  g_signal_connect_swapped (
      self->table_button, "toggled", G_CALLBACK (on_form), self);
  g_signal_connect_swapped (
      self->places_button, "toggled", G_CALLBACK (on_form), self);
}
