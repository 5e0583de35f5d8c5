/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-difference-view.h"

#include "flam-difference-table.h"
#include "flam-difference-words.h"
#include "flam-flame-graph.h"
#include "flam-format.h"
#include "flam-legend.h"
#include "flam-settings.h"
#include "flam-transforms.h"

#include <adwaita.h>
#include <glib/gi18n.h>

struct _FlamDifferenceView
{
  FlamTablePage parent_instance;

  FlamSession *session;   /* the page's */
  FlamBaseline *baseline; /* the session's */
  FlamComparison *shown;  /* NULL: nothing */
  gboolean syncing;       /* the graph has chosen, or is told */

  GtkStack *stack;
  AdwStatusPage *busy;
  GtkProgressBar *busy_bar;
  GtkButton *busy_cancel;
  AdwStatusPage *refused;
  GtkLabel *summary;
  GtkLabel *notes;
  GtkToggleButton *graph_button;
  GtkToggleButton *table_button;
  GtkDropDown *shape;
  GtkDropDown *cost;
  GtkDropDown *scale;
  GtkStack *forms;
  GtkBox *graph_box;
  FlamFlameGraph *graph;
  GtkColumnView *table;
};

G_DEFINE_FINAL_TYPE (FlamDifferenceView,
                     flam_difference_view,
                     FLAM_TYPE_TABLE_PAGE)

/* --- showing it ----------------------------------------------------------- */

static FlamViewData *
shown_view_data (FlamDifferenceView *self)
{
  FlamDiffShape shape = gtk_drop_down_get_selected (self->shape) == 1
                            ? FLAM_DIFF_BASE
                            : FLAM_DIFF_FRESH;

  return self->shown != NULL ? self->shown->changed[shape] : NULL;
}

static void
show_current (FlamDifferenceView *self)
{
  FlamViewData *view_data = shown_view_data (self);
  const FlamTree *tree = flam_session_get_tree (self->session);
  FlamId current = flam_session_get_current (self->session);
  FlamId node = FLAM_NONE;

  if (self->syncing || view_data == NULL || tree == NULL)
    return;
  if (current != 0)
    node = flam_tree_find_path (tree, current, view_data->tree);
  self->syncing = TRUE;
  flam_flame_graph_select_node (self->graph, node != 0 ? node : FLAM_NONE);
  self->syncing = FALSE;
}

static void
show_graph (FlamDifferenceView *self)
{
  FlamViewData *view_data = shown_view_data (self);

  self->syncing = TRUE;
  if (view_data == NULL)
    flam_flame_graph_set_tree (self->graph, NULL, NULL);
  else
    {
      flam_flame_graph_set_palette (self->graph, FLAM_PALETTE_CHANGE);
      flam_flame_graph_set_tree (self->graph, view_data->tree, view_data->rows);
    }
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
name_range (const FlamViewData *view_data)
{
  gint64 begin = MAX (view_data->selection->from, 0);
  gint64 length =
      flam_selection_get_length (view_data->selection, view_data->profile);
  g_autofree char *from = flam_format_value (begin, FLAM_UNIT_NS);
  g_autofree char *to = flam_format_value (begin + length, FLAM_UNIT_NS);

  return g_strdup_printf ("%s – %s", from, to);
}

static void
show_words (FlamDifferenceView *self)
{
  FlamBaselineKind kind = flam_baseline_get_kind (self->baseline);
  gboolean ranges = kind == FLAM_BASELINE_RANGE;
  g_autofree char *before =
      ranges ? name_range (self->shown->base)
             : g_strdup (flam_baseline_get_title (self->baseline));
  g_autofree char *now =
      ranges ? name_range (self->shown->fresh)
             : g_strdup (flam_session_get_title (self->session));
  g_autofree char *summary = flam_difference_summary (self->shown, before, now);
  g_autofree char *notes = flam_difference_notes (self->shown, kind);

  gtk_label_set_label (self->summary, summary);
  gtk_label_set_label (self->notes, notes);
  gtk_widget_set_visible (GTK_WIDGET (self->notes), *notes != '\0');
}

static void
take (FlamDifferenceView *self, FlamComparison *comparison)
{
  FlamComparison *before = self->shown;

  self->shown = comparison;
  show_graph (self);
  show_rows (self);
  /* The graph and the rows have let go of it. */
  g_clear_pointer (&before, flam_comparison_unref);
}

static void
on_made (gpointer result, const GError *error, gpointer data)
{
  FlamDifferenceView *self = data;
  g_autoptr (FlamComparison) comparison = result;

  if (comparison == NULL)
    return;
  if (comparison->base == NULL)
    {
      g_autofree char *why = flam_difference_refusal (
          comparison, flam_baseline_get_profile (self->baseline));

      take (self, NULL);
      adw_status_page_set_description (self->refused, why);
      gtk_stack_set_visible_child_name (self->stack, "refused");
      return;
    }
  take (self, g_steal_pointer (&comparison));
  show_words (self);
  gtk_stack_set_visible_child_name (self->stack, "difference");
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
  input = flam_comparison_input_new (
      view_data,
      self->baseline,
      (FlamScale)gtk_drop_down_get_selected (self->scale),
      gtk_drop_down_get_selected (self->cost) == 1);
  flam_page_start (page,
                   flam_comparison_work,
                   input,
                   flam_comparison_input_free,
                   (GDestroyNotify)flam_comparison_unref,
                   on_made);
}

/* Ranges are compared as if they were as long as one another, files as they
 * are, until somebody chooses otherwise. */
static void
on_baseline (FlamDifferenceView *self)
{
  gboolean ranges =
      flam_baseline_get_kind (self->baseline) == FLAM_BASELINE_RANGE;
  const FlamTree *tree = flam_session_get_tree (self->session);
  gboolean of_memory =
      tree != NULL &&
      tree->profile->measures[tree->measure].kind == FLAM_MEASURE_ALLOC;

  gtk_drop_down_set_selected (
      self->scale, ranges && !of_memory ? FLAM_SCALE_TIME : FLAM_SCALE_NONE);
  flam_page_queue_fill (FLAM_PAGE (self));
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

/* --- what is chosen in here ----------------------------------------------- */

static void
choose_in_graph (FlamDifferenceView *self, guint node)
{
  FlamViewData *view_data = shown_view_data (self);
  const FlamTree *tree = flam_session_get_tree (self->session);

  if (self->syncing || view_data == NULL || tree == NULL)
    return;
  self->syncing = TRUE;
  flam_session_set_current (
      self->session,
      node < view_data->tree->n
          ? flam_tree_find_path (view_data->tree, node, tree)
          : 0);
  self->syncing = FALSE;
}

static void
on_node_selected (FlamFlameGraph *graph, guint node, FlamDifferenceView *self)
{
  choose_in_graph (self, node);
}

static void
on_node_activated (FlamFlameGraph *graph, guint node, FlamDifferenceView *self)
{
  choose_in_graph (self, node);
  g_settings_set_boolean (flam_settings_get (), FLAM_KEY_SOURCE_SHOWN, TRUE);
}

static void
on_context_menu (FlamFlameGraph *graph,
                 guint node,
                 double x,
                 double y,
                 FlamDifferenceView *self)
{
  choose_in_graph (self, node);
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

  gtk_stack_set_visible_child_name (self->forms, table ? "table" : "graph");
  gtk_widget_set_visible (GTK_WIDGET (self->shape), !table);
}

static const char *
get_name (gpointer row)
{
  return flam_difference_row_get_name (row);
}

static gboolean
is_of (gpointer row, const FlamTree *tree, FlamId node)
{
  return strcmp (get_name (row), flam_tree_name (tree, node)) == 0;
}

static FlamId
find (gpointer row, const FlamTree *tree)
{
  return flam_tree_find_name (tree, get_name (row));
}

static void
on_search (FlamDifferenceView *self)
{
  flam_flame_graph_set_search (self->graph,
                               flam_session_get_search_regex (self->session));
}

/* --- object --------------------------------------------------------------- */

static gboolean
flam_difference_view_begin (GtkWidget *widget)
{
  FlamDifferenceView *self = FLAM_DIFFERENCE_VIEW (widget);

  if (gtk_toggle_button_get_active (self->table_button))
    return gtk_widget_grab_focus (GTK_WIDGET (self->table));
  return gtk_widget_grab_focus (GTK_WIDGET (self->graph));
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
      page, self->baseline, "started", G_CALLBACK (flam_page_queue_fill));
  flam_page_follow (page, self->baseline, "changed", G_CALLBACK (on_baseline));
  flam_page_follow (
      page, self->baseline, "failed", G_CALLBACK (flam_page_queue_fill));
  flam_page_follow (page, job, "notify::fraction", G_CALLBACK (on_progress));
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
  BIND (summary);
  BIND (notes);
  BIND (graph_button);
  BIND (table_button);
  BIND (shape);
  BIND (cost);
  BIND (scale);
  BIND (forms);
  BIND (graph_box);
  BIND (graph);
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
  table_class->get_name = get_name;
  table_class->is_of = is_of;
  table_class->find = find;
  FLAM_PAGE_CLASS (klass)->begin = flam_difference_view_begin;
  g_type_ensure (FLAM_TYPE_FLAME_GRAPH);
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
flam_difference_view_init (FlamDifferenceView *self)
{
  GtkWidget *legend;

  gtk_widget_init_template (GTK_WIDGET (self));
  legend = flam_legend_new (self->graph);
  gtk_widget_add_css_class (legend, "flam-part");
  gtk_box_append (self->graph_box, legend);
  flam_difference_table_prepare (self->table);
  flam_table_page_set_table (FLAM_TABLE_PAGE (self), self->table, NULL);
  g_signal_connect (
      self->graph, "node-selected", G_CALLBACK (on_node_selected), self);
  g_signal_connect (
      self->graph, "node-activated", G_CALLBACK (on_node_activated), self);
  g_signal_connect (
      self->graph, "context-menu", G_CALLBACK (on_context_menu), self);
  on (self, self->table_button, "toggled", G_CALLBACK (on_form));
  on (self, self->shape, "notify::selected", G_CALLBACK (show_graph));
  on (self, self->cost, "notify::selected", G_CALLBACK (flam_page_queue_fill));
  on (self, self->scale, "notify::selected", G_CALLBACK (flam_page_queue_fill));
  on (self, self->busy_cancel, "clicked", G_CALLBACK (on_cancel));
}
