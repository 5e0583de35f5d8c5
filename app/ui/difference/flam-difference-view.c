/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-difference-view.h"

#include "flam-core-picture.h"
#include "flam-difference-export.h"
#include "flam-difference-table.h"
#include "flam-difference-words.h"
#include "flam-flame-graph.h"
#include "flam-frame-drag.h"
#include "flam-headline-link.h"
#include "flam-legend.h"
#include "flam-settings.h"
#include "flam-side-by-side.h"
#include "flam-transforms.h"
#include "flam-wrap-layout.h"

#include <adwaita.h>
#include <glib/gi18n.h>

struct _FlamDifferenceView
{
  FlamTablePage parent_instance;

  FlamSession *session;   /* the page's */
  FlamBaseline *baseline; /* the session's */
  FlamComparison *shown;  /* NULL: nothing */
  gboolean syncing;       /* a selection is being passed to or from the graph */

  GtkStack *stack;
  AdwStatusPage *busy;
  GtkProgressBar *busy_bar;
  GtkButton *busy_cancel;
  AdwStatusPage *refused;
  GtkBox *choices; /* comparable measures */
  GtkLabel *headline;
  GtkLabel *summary;
  GtkLabel *notes;
  GtkToggleButton *graph_button;
  GtkToggleButton *side_button;
  GtkToggleButton *table_button;
  GtkDropDown *shape;
  GtkDropDown *color;
  GtkDropDown *rows;
  GtkDropDown *cost;
  GtkDropDown *scale;
  GtkButton *export_button;
  GtkStack *forms;
  GtkBox *graph_box;
  GtkBox *side_box;
  FlamFlameGraph *graph;
  FlamSideBySide *side;
  GtkColumnView *table;
};

G_DEFINE_FINAL_TYPE (FlamDifferenceView,
                     flam_difference_view,
                     FLAM_TYPE_TABLE_PAGE)

/* --- showing it ----------------------------------------------------------- */

/* The menu lists the shapes in this order. */
static FlamViewData *
shown_view_data (FlamDifferenceView *self)
{
  guint shape = gtk_drop_down_get_selected (self->shape);

  return self->shown != NULL && shape < FLAM_N_DIFF_SHAPES
             ? self->shown->changed[shape]
             : NULL;
}

static void
show_current (FlamDifferenceView *self)
{
  FlamViewData *view_data = shown_view_data (self);
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamId current = flam_session_get_current (self->session);
  FlamNodeId node = FLAM_NONE;

  if (self->syncing || view_data == NULL || tree == NULL)
    return;
  if (current != 0)
    node = flam_tree_find_path (tree, current, view_data->tree);
  self->syncing = TRUE;
  flam_flame_graph_select_node (self->graph, node != 0 ? node : FLAM_NONE);
  flam_side_by_side_select (
      self->side, tree, current != 0 ? current : FLAM_NONE);
  self->syncing = FALSE;
}

static void
show_color (FlamDifferenceView *self)
{
  FlamPaletteMode mode = gtk_drop_down_get_selected (self->color) == 1
                             ? FLAM_PALETTE_CHANGE_SHARE
                             : FLAM_PALETTE_CHANGE;

  flam_flame_graph_set_palette (self->graph, mode);
  for (guint i = 0; flam_side_by_side_get_graph (self->side, i) != NULL; i++)
    flam_flame_graph_set_palette (flam_side_by_side_get_graph (self->side, i),
                                  mode);
}

static void
show_graph (FlamDifferenceView *self)
{
  FlamViewData *view_data = shown_view_data (self);

  self->syncing = TRUE;
  flam_flame_graph_set_tree (self->graph,
                             view_data != NULL ? view_data->tree : NULL,
                             view_data != NULL ? view_data->rows : NULL);
  self->syncing = FALSE;
  show_current (self);
}

static void
show_rows (FlamDifferenceView *self)
{
  guint n = self->shown != NULL ? self->shown->n_rows : 0;
  g_autoptr (GPtrArray) rows = g_ptr_array_new_full (n, g_object_unref);

  for (guint i = 0; i < n; i++)
    g_ptr_array_add (rows, flam_difference_row_new (self->shown, i));
  flam_table_page_set_rows (FLAM_TABLE_PAGE (self), rows, NULL);
}

static char *
name_before (FlamDifferenceView *self)
{
  return flam_difference_side (flam_baseline_get_kind (self->baseline),
                               self->shown->base,
                               flam_baseline_get_title (self->baseline));
}

static char *
name_now (FlamDifferenceView *self)
{
  return flam_difference_side (flam_baseline_get_kind (self->baseline),
                               self->shown->fresh,
                               flam_session_get_title (self->session));
}

static void
show_headline (FlamDifferenceView *self)
{
  const FlamHeadline *headline = self->shown->headline;
  gboolean has_one = headline != NULL && headline->n > 0;
  g_autofree char *markup =
      has_one ? flam_headline_link_markup (headline) : g_strdup ("");

  gtk_label_set_markup (self->headline, markup);
  gtk_widget_set_visible (GTK_WIDGET (self->headline), has_one);
}

static void
show_words (FlamDifferenceView *self)
{
  FlamBaselineKind kind = flam_baseline_get_kind (self->baseline);
  g_autofree char *before = name_before (self);
  g_autofree char *now = name_now (self);
  g_autofree char *summary = flam_difference_summary (self->shown, before, now);
  g_autofree char *notes = flam_difference_notes (self->shown, kind);

  show_headline (self);
  gtk_label_set_label (self->summary, summary);
  gtk_label_set_label (self->notes, notes);
  gtk_widget_set_visible (GTK_WIDGET (self->notes), *notes != '\0');
}

static void
take (FlamDifferenceView *self, FlamComparison *comparison)
{
  FlamComparison *before = self->shown;

  self->shown = comparison;
  flam_side_by_side_set_comparison (self->side, comparison);
  show_graph (self);
  show_rows (self);
  /* Afterwards the graph and the rows no longer refer to it. */
  g_clear_pointer (&before, flam_comparison_unref);
}

/* --- incomparable captures ------------------------------------------------ */

static void
on_choice (GtkButton *button, FlamDifferenceView *self)
{
  gpointer measure = g_object_get_data (G_OBJECT (button), "measure");

  flam_session_set_measure (self->session, GPOINTER_TO_UINT (measure));
}

static void
refuse (FlamDifferenceView *self, const char *why)
{
  g_autofree char *markup = g_markup_escape_text (why, -1);
  GtkWidget *child;

  take (self, NULL);
  adw_status_page_set_description (self->refused, markup);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self->choices))) !=
         NULL)
    gtk_box_remove (self->choices, child);
  gtk_stack_set_visible_child_name (self->stack, "refused");
}

static void
show_refusal (FlamDifferenceView *self, const FlamComparison *comparison)
{
  const FlamProfile *own = comparison->fresh->profile;
  const FlamProfile *profile = flam_baseline_get_profile (self->baseline);

  if (profile == NULL)
    profile = own;
  g_autofree char *why = flam_difference_refusal (comparison, profile);
  refuse (self, why);
  for (guint i = 0; i < comparison->pairs->len; i++)
    {
      const FlamMeasurePair *pair =
          &g_array_index (comparison->pairs, FlamMeasurePair, i);
      g_autofree char *label = flam_difference_pair (own, profile, pair);
      GtkWidget *button = gtk_button_new_with_label (label);

      gtk_widget_add_css_class (button, "pill");
      g_object_set_data (
          G_OBJECT (button), "measure", GUINT_TO_POINTER (pair->now));
      g_signal_connect (button, "clicked", G_CALLBACK (on_choice), self);
      gtk_box_append (self->choices, button);
    }
}

static gboolean
focus_difference (FlamDifferenceView *self)
{
  if (gtk_toggle_button_get_active (self->table_button))
    return gtk_widget_grab_focus (GTK_WIDGET (self->table));
  if (gtk_toggle_button_get_active (self->side_button))
    return gtk_widget_grab_focus (
        GTK_WIDGET (flam_side_by_side_get_graph (self->side, 0)));
  return gtk_widget_grab_focus (GTK_WIDGET (self->graph));
}

/* Moves the keyboard focus from a widget that is hidden now to the difference,
 * before that is visible: otherwise GTK would move it to the text and select
 * that. */
static void
show_difference (FlamDifferenceView *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkRoot *root = gtk_widget_get_root (widget);
  GtkWidget *focus = root != NULL ? gtk_root_get_focus (root) : NULL;
  gboolean first = g_strcmp0 (gtk_stack_get_visible_child_name (self->stack),
                              "difference") != 0;

  if (first && gtk_widget_get_mapped (widget) &&
      (focus == NULL || gtk_widget_is_ancestor (focus, widget)))
    focus_difference (self);
  gtk_stack_set_visible_child_name (self->stack, "difference");
}

static void
on_made (gpointer result, const GError *error, gpointer data)
{
  FlamDifferenceView *self = data;
  g_autoptr (FlamComparison) comparison = result;

  if (comparison == NULL)
    {
      /* A regular expression may take too long on a name of the other
       * capture. */
      g_autofree char *why = flam_message_sentence (error->message);

      refuse (self, why);
      return;
    }
  if (comparison->base == NULL)
    {
      show_refusal (self, comparison);
      return;
    }
  take (self, g_steal_pointer (&comparison));
  show_words (self);
  show_difference (self);
}

/* --- making it ------------------------------------------------------------ */

static void
show_busy (FlamDifferenceView *self)
{
  g_autofree char *title = g_strdup_printf (
      _ ("Opening %s"), flam_baseline_get_title (self->baseline));

  adw_status_page_set_title (self->busy, title);
  gtk_stack_set_visible_child_name (self->stack, "busy");
}

static void
fill (FlamPage *page)
{
  FlamDifferenceView *self = FLAM_DIFFERENCE_VIEW (page);
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  FlamComparisonInput *input;

  if (flam_job_is_busy (flam_baseline_get_job (self->baseline)))
    {
      show_busy (self);
      return;
    }
  if (view_data == NULL ||
      flam_baseline_get_kind (self->baseline) == FLAM_BASELINE_NONE)
    {
      take (self, NULL);
      gtk_stack_set_visible_child_name (self->stack, "none");
      return;
    }
  input =
      flam_comparison_input_new (view_data,
                                 flam_baseline_copy_new (self->baseline),
                                 gtk_drop_down_get_selected (self->rows) == 1);
  flam_page_start (page,
                   flam_comparison_work,
                   input,
                   flam_comparison_input_free,
                   (GDestroyNotify)flam_comparison_unref,
                   on_made);
}

static void
on_scaled (FlamDifferenceView *self)
{
  gtk_drop_down_set_selected (self->scale,
                              flam_baseline_get_scale (self->baseline));
  gtk_drop_down_set_selected (self->cost,
                              flam_baseline_get_self (self->baseline) ? 1 : 0);
  flam_page_queue_fill (FLAM_PAGE (self));
}

/* Memory in use does not depend on duration, so it is not scaled. */
static void
on_baseline (FlamDifferenceView *self)
{
  const FlamTree *tree = flam_session_get_tree (self->session);

  if (tree != NULL &&
      flam_baseline_get_scale (self->baseline) == FLAM_SCALE_TIME &&
      tree->profile->measures[tree->measure].kind == FLAM_MEASURE_ALLOC)
    flam_baseline_set_scale (self->baseline, FLAM_SCALE_NONE);
  on_scaled (self);
}

static void
on_scale (FlamDifferenceView *self)
{
  flam_baseline_set_scale (self->baseline,
                           (FlamScale)gtk_drop_down_get_selected (self->scale));
}

static void
on_cost (FlamDifferenceView *self)
{
  flam_baseline_set_self (self->baseline,
                          gtk_drop_down_get_selected (self->cost) == 1);
}

static void
on_progress (FlamDifferenceView *self)
{
  gtk_progress_bar_set_fraction (
      self->busy_bar,
      flam_job_get_fraction (flam_baseline_get_job (self->baseline)));
}

static void
on_cancel (FlamDifferenceView *self)
{
  flam_baseline_cancel (self->baseline);
  flam_page_queue_fill (FLAM_PAGE (self));
}

/* --- choices on this page ----------------------------------------------- */

static void
choose_in_graph (FlamFlameGraph *graph, guint node, FlamDifferenceView *self)
{
  const FlamTree *shown = flam_flame_graph_get_tree (graph);
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamNodeId found = 0;

  if (self->syncing || shown == NULL || tree == NULL)
    return;
  if (node < shown->n)
    found = flam_tree_find_path (shown, node, tree);
  /* What is gone is not in the current capture: its caller is not what was
   * chosen. */
  if (found != 0 && tree->depth[found] != shown->depth[node])
    found = 0;
  self->syncing = TRUE;
  flam_session_set_current (self->session, found);
  self->syncing = FALSE;
}

static void
on_chosen (FlamSideBySide *side,
           FlamFlameGraph *graph,
           guint node,
           FlamDifferenceView *self)
{
  choose_in_graph (graph, node, self);
}

static void
on_node_activated (FlamFlameGraph *graph, guint node, FlamDifferenceView *self)
{
  choose_in_graph (graph, node, self);
  g_settings_set_boolean (flam_settings_get (), FLAM_KEY_SOURCE_SHOWN, TRUE);
}

static void
on_context_menu (FlamFlameGraph *graph,
                 guint node,
                 double x,
                 double y,
                 FlamDifferenceView *self)
{
  choose_in_graph (graph, node, self);
  flam_transforms_popup (GTK_WIDGET (graph),
                         self->session,
                         flam_session_get_current (self->session),
                         x,
                         y);
}

static void
on_form (FlamDifferenceView *self)
{
  gboolean table = gtk_toggle_button_get_active (self->table_button);
  gboolean side = gtk_toggle_button_get_active (self->side_button);

  gtk_stack_set_visible_child_name (self->forms,
                                    table  ? "table"
                                    : side ? "side"
                                           : "graph");
  gtk_widget_set_visible (GTK_WIDGET (self->shape), !table && !side);
  gtk_widget_set_visible (GTK_WIDGET (self->color), !table);
  gtk_widget_set_visible (GTK_WIDGET (self->rows), table);
}

/* The function is not in the current capture: only the graphs that contain the
 * previous one have its box. */
static void
show_gone (FlamDifferenceView *self, const FlamTree *base, FlamNodeId node)
{
  if (gtk_toggle_button_get_active (self->table_button))
    gtk_toggle_button_set_active (self->graph_button, TRUE);
  gtk_drop_down_set_selected (self->shape, FLAM_DIFF_BASE);
  flam_flame_graph_select_node (self->graph, node);
  flam_side_by_side_select (self->side, base, node);
}

static gboolean
on_link (GtkLabel *label, const char *uri, FlamDifferenceView *self)
{
  const FlamHeadlinePart *part =
      flam_headline_link_find (self->shown->headline, uri);
  const FlamTree *of = self->shown->headline_of;
  const FlamTree *tree = flam_session_get_tree (self->session);
  const char *file = flam_profile_string (of->profile, part->file);
  FlamNodeId node = flam_tree_find_function (of, part->function);
  FlamId here = tree != NULL
                    ? flam_tree_find_name (tree, flam_functions_name (of, node))
                    : FLAM_NONE;

  if (part->line > 0)
    g_settings_set_boolean (flam_settings_get (), FLAM_KEY_SOURCE_SHOWN, TRUE);
  flam_session_set_current_at (self->session,
                               here != FLAM_NONE ? here : 0,
                               file,
                               part->line,
                               here != FLAM_NONE);
  if (here == FLAM_NONE)
    show_gone (self, of, node);
  return TRUE;
}

static void
on_show_changes (FlamDifferenceView *self)
{
  gtk_toggle_button_set_active (self->table_button, TRUE);
  gtk_drop_down_set_selected (self->rows, 0);
}

static void
on_export (FlamDifferenceView *self)
{
  g_autofree char *before = NULL;
  g_autofree char *now = NULL;

  if (self->shown == NULL)
    return;
  before = name_before (self);
  now = name_now (self);
  flam_difference_export (GTK_WINDOW (gtk_widget_get_root (GTK_WIDGET (self))),
                          self->shown,
                          before,
                          now,
                          gtk_drop_down_get_selected (self->color) == 1
                              ? FLAM_PALETTE_CHANGE_SHARE
                              : FLAM_PALETTE_CHANGE);
}

static void
on_search (FlamDifferenceView *self)
{
  FlamRegex *regex = flam_session_get_search_regex (self->session);

  flam_flame_graph_set_search (self->graph, regex);
  for (guint i = 0; flam_side_by_side_get_graph (self->side, i) != NULL; i++)
    flam_flame_graph_set_search (flam_side_by_side_get_graph (self->side, i),
                                 regex);
}

/* --- object --------------------------------------------------------------- */

static gboolean
flam_difference_view_begin (GtkWidget *widget)
{
  FlamDifferenceView *self = FLAM_DIFFERENCE_VIEW (widget);
  GtkWidget *shown = gtk_stack_get_visible_child (self->stack);

  if (g_strcmp0 (gtk_stack_get_visible_child_name (self->stack),
                 "difference") != 0)
    return gtk_widget_child_focus (shown, GTK_DIR_TAB_FORWARD);
  return focus_difference (self);
}

static void
flam_difference_view_constructed (GObject *object)
{
  FlamDifferenceView *self = FLAM_DIFFERENCE_VIEW (object);
  FlamPage *page = FLAM_PAGE (self);
  FlamJob *job;

  G_OBJECT_CLASS (flam_difference_view_parent_class)->constructed (object);
  self->session = flam_page_get_session (FLAM_PAGE (self));
  self->baseline = flam_session_get_baseline (self->session);
  job = flam_baseline_get_job (self->baseline);
  flam_page_follow (
      page, self->session, "notify::current", G_CALLBACK (show_current));
  flam_page_follow (
      page, self->session, "notify::search", G_CALLBACK (on_search));
  flam_page_follow (
      page, self->session, "show-changes", G_CALLBACK (on_show_changes));
  flam_page_follow (
      page, self->baseline, "started", G_CALLBACK (flam_page_queue_fill));
  flam_page_follow (page, self->baseline, "changed", G_CALLBACK (on_baseline));
  flam_page_follow (page, self->baseline, "scaled", G_CALLBACK (on_scaled));
  flam_page_follow (
      page, self->baseline, "failed", G_CALLBACK (flam_page_queue_fill));
  flam_page_follow (page, job, "notify::fraction", G_CALLBACK (on_progress));
  on_search (self);
  on_baseline (self);
}

static void
flam_difference_view_dispose (GObject *object)
{
  FlamDifferenceView *self = FLAM_DIFFERENCE_VIEW (object);

  G_OBJECT_CLASS (flam_difference_view_parent_class)->dispose (object);
  g_clear_pointer (&self->shown, flam_comparison_unref);
}

static void
bind_children (GtkWidgetClass *class)
{
#define BIND(child)                                                            \
  gtk_widget_class_bind_template_child (class, FlamDifferenceView, child)
  BIND (stack);
  BIND (busy);
  BIND (busy_bar);
  BIND (busy_cancel);
  BIND (refused);
  BIND (choices);
  BIND (headline);
  BIND (summary);
  BIND (notes);
  BIND (graph_button);
  BIND (side_button);
  BIND (table_button);
  BIND (shape);
  BIND (color);
  BIND (rows);
  BIND (export_button);
  BIND (cost);
  BIND (scale);
  BIND (forms);
  BIND (graph_box);
  BIND (side_box);
  BIND (graph);
  BIND (side);
  BIND (table);
#undef BIND
}

static void
flam_difference_view_class_init (FlamDifferenceViewClass *klass)
{
  GObjectClass *object_class = G_OBJECT_CLASS (klass);
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);
  FlamTablePageClass *table_class = FLAM_TABLE_PAGE_CLASS (klass);

  object_class->constructed = flam_difference_view_constructed;
  object_class->dispose = flam_difference_view_dispose;
  FLAM_PAGE_CLASS (klass)->fill = fill;
  table_class->get_name = flam_difference_row_get_name;
  table_class->is_of = flam_difference_row_is_of;
  table_class->find = flam_difference_row_find;
  table_class->get_place = flam_difference_row_get_place;
  FLAM_PAGE_CLASS (klass)->begin = flam_difference_view_begin;
  g_type_ensure (FLAM_TYPE_FLAME_GRAPH);
  g_type_ensure (FLAM_TYPE_SIDE_BY_SIDE);
  g_type_ensure (FLAM_TYPE_WRAP_LAYOUT);
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-difference-view.ui");
  bind_children (class);
}

static void
on (FlamDifferenceView *self, gpointer of, const char *signal, GCallback f)
{
  g_signal_connect_swapped (of, signal, f, self);
}

static void
add_legend (GtkBox *box, FlamFlameGraph *graph)
{
  GtkWidget *legend = flam_legend_new (graph);

  gtk_widget_add_css_class (legend, "flam-part");
  gtk_box_append (box, legend);
}

static void
follow_graph (FlamDifferenceView *self, FlamFlameGraph *graph)
{
  g_signal_connect (
      graph, "node-activated", G_CALLBACK (on_node_activated), self);
  g_signal_connect (graph, "context-menu", G_CALLBACK (on_context_menu), self);
  flam_frame_drag_add_graph (graph);
}

static void
flam_difference_view_init (FlamDifferenceView *self)
{
  gtk_widget_init_template (GTK_WIDGET (self));
  add_legend (self->graph_box, self->graph);
  add_legend (self->side_box, flam_side_by_side_get_graph (self->side, 2));
  flam_difference_table_prepare (self->table);
  flam_table_page_set_table (FLAM_TABLE_PAGE (self), self->table, NULL);
  show_color (self);
  g_signal_connect (
      self->graph, "node-selected", G_CALLBACK (choose_in_graph), self);
  g_signal_connect (self->side, "chosen", G_CALLBACK (on_chosen), self);
  follow_graph (self, self->graph);
  for (guint i = 0; flam_side_by_side_get_graph (self->side, i) != NULL; i++)
    follow_graph (self, flam_side_by_side_get_graph (self->side, i));
  g_signal_connect (
      self->headline, "activate-link", G_CALLBACK (on_link), self);
  on (self, self->side_button, "toggled", G_CALLBACK (on_form));
  on (self, self->table_button, "toggled", G_CALLBACK (on_form));
  on (self, self->shape, "notify::selected", G_CALLBACK (show_graph));
  on (self, self->color, "notify::selected", G_CALLBACK (show_color));
  on (self, self->rows, "notify::selected", G_CALLBACK (flam_page_queue_fill));
  on (self, self->cost, "notify::selected", G_CALLBACK (on_cost));
  on (self, self->scale, "notify::selected", G_CALLBACK (on_scale));
  on (self, self->export_button, "clicked", G_CALLBACK (on_export));
  on (self, self->busy_cancel, "clicked", G_CALLBACK (on_cancel));
  on_form (self);
}
