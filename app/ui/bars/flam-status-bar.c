/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-status-bar.h"

#include "flam-core-picture.h"
#include "flam-legend.h"
#include "flam-value-text.h"
#include "flam-widget.h"

#include <glib/gi18n.h>

#define GAP 12
#define LINE_GAP 3

struct _FlamStatusBar
{
  GtkWidget parent_instance;

  FlamSession *session;
  FlamGraphView *graph_view;
  gboolean narrow;
  FlamNodeId hovered; /* FLAM_NONE: the pointer is elsewhere */

  GtkLabel *name;
  GtkLabel *place;
  GtkLabel *costs;
  GtkInscription *hidden;
  GtkBox *legend_box;
};

G_DEFINE_FINAL_TYPE (FlamStatusBar, flam_status_bar, GTK_TYPE_WIDGET)

static char *
location_text (FlamSession *session, FlamNodeId node)
{
  const FlamTree *tree = flam_session_get_tree (session);
  FlamFunctionId function = flam_tree_function (tree, node);
  const char *module = flam_profile_module_name (tree->profile, function);
  const char *file = "";
  guint32 line = flam_session_get_source_line (session, node, &file);
  g_autofree char *base = *file != '\0' ? g_path_get_basename (file) : NULL;
  GString *text = g_string_new (module);

  if (base != NULL)
    g_string_append_printf (text, "%s%s", text->len > 0 ? "  " : "", base);
  if (base != NULL && line != 0)
    g_string_append_printf (text, ":%u", line);
  if (flam_tree_address (tree, node) != 0)
    {
      g_autofree char *address = flam_tree_detail (tree, node);

      g_string_append_printf (text, "  %s", address + 1);
    }
  return g_string_free (text, FALSE);
}

/* What is shown: a node of the session's tree, its function in all stacks, or a
 * node of another tree in which several paths are one. */
typedef struct
{
  FlamNodeId node; /* of the session's tree */
  gboolean whole;
  const FlamTree *of; /* NULL: no other tree */
  FlamNodeId merged;
} Shown;

static FlamFunctionRow
figures_of (const FlamTree *tree, const Shown *shown)
{
  if (shown->of != NULL)
    return shown->of->measure == tree->measure
               ? flam_functions_row_of_node (shown->of, shown->merged)
               : (FlamFunctionRow){ 0 };
  return shown->whole ? flam_functions_row_of (tree, shown->node)
                      : flam_functions_row_of_node (tree, shown->node);
}

static gboolean
has_self (const FlamTree *tree, const Shown *shown)
{
  if (shown->of != NULL)
    return flam_functions_has_self (shown->of, shown->merged);
  return shown->whole || flam_functions_has_self (tree, shown->node);
}

/* Where the figures were counted, if not in one path of the session's tree. */
static char *
where_text (const FlamTree *tree,
            const Shown *shown,
            gint64 total,
            const char *figures)
{
  if (shown->of != NULL && shown->of->rooted)
    {
      g_autofree char *middle =
          flam_format_folded_name (flam_tree_name (shown->of, 0));

      /* Translators: the figures of a caller or a callee, and the function that
       * is called, or that calls */
      return g_strdup_printf (shown->of->inverted ? _ ("%s in calls to %s")
                                                  : _ ("%s in calls from %s"),
                              figures,
                              middle);
    }
  if (shown->node != 0 && total != tree->total[shown->node])
    /* Translators: what a function has in all stacks: "self 1 s (5 %)   total
     * 2 s (10 %)" */
    return g_strdup_printf (_ ("%s in all stacks"), figures);
  return g_strdup (figures);
}

static char *
costs_text (FlamViewData *view_data, const Shown *shown)
{
  const FlamTree *tree = view_data->tree;
  const FlamFunctionRow row = figures_of (tree, shown);
  const FlamMeasure *measure = flam_view_data_get_measure (view_data);
  gboolean all = shown->node == 0 && !shown->whole && shown->of == NULL;
  g_autofree char *self = NULL;
  g_autofree char *self_share = NULL;
  g_autofree char *total = NULL;
  g_autofree char *total_share = NULL;
  g_autofree char *also = NULL;
  g_autofree char *text = NULL;
  g_autofree char *figures = NULL;

  if (measure == NULL)
    return g_strdup ("");
  self = flam_format_self (tree, &row);
  self_share = flam_format_percent (row.self, tree->total[0]);
  total = flam_format_total (tree, &row);
  total_share = flam_format_percent (row.total, tree->total[0]);
  also = flam_value_text_other (tree, flam_functions_total (tree, &row));
  if (all && flam_value_text_is_samples (view_data->profile, measure))
    text = g_strdup_printf (
        ngettext ("total %s sample", "total %s samples", (gulong)row.total),
        total);
  else if (all && measure->unit == FLAM_UNIT_COUNT)
    /* Translators: a number and what it counts: "total 82 (Page faults)" */
    text =
        g_strdup_printf (_ ("total %s (%s)"),
                         total,
                         flam_value_text_measure (view_data->profile, measure));
  else if (all)
    text = g_strdup_printf (_ ("total %s"), total);
  else if (!has_self (tree, shown))
    /* Translators: an amount and its share */
    text = g_strdup_printf (_ ("total %s (%s)"), total, total_share);
  else
    text = g_strdup_printf (_ ("self %s (%s)   total %s (%s)"),
                            self,
                            self_share,
                            total,
                            total_share);
  figures = where_text (tree, shown, row.total, text);
  return also != NULL ? g_strdup_printf ("%s, %s", figures, also)
                      : g_steal_pointer (&figures);
}

/* The hovered frame, otherwise the selected one. */
static Shown
shown_now (FlamStatusBar *self, const FlamTree *tree)
{
  Shown shown = { .node = self->hovered };
  const FlamViewData *of;

  if (self->hovered != FLAM_NONE && self->hovered < tree->n)
    return shown;
  of = flam_session_get_current_of (self->session, &shown.merged);
  shown.node = flam_session_get_current (self->session);
  shown.whole = flam_session_is_current_whole (self->session);
  shown.of = of != NULL ? of->tree : NULL;
  return shown;
}

static const char *
shown_name (const FlamTree *tree, const Shown *shown)
{
  if (shown->of != NULL)
    return flam_tree_name (shown->of, shown->merged);
  if (shown->node == 0)
    return shown->whole ? flam_functions_name (tree, 0) : _ ("All");
  return flam_tree_name (tree, shown->node);
}

/* The tooltip is queried on demand: GTK asks the display server for the
 * pointer's position whenever a tooltip is set, and this name changes with each
 * hovered box. */
static gboolean
on_query_name (GtkWidget *label,
               int x,
               int y,
               gboolean by_keyboard,
               GtkTooltip *tooltip,
               FlamStatusBar *self)
{
  const FlamTree *tree =
      self->session != NULL ? flam_session_get_tree (self->session) : NULL;
  g_autofree char *name = NULL;
  Shown shown;

  if (tree == NULL)
    return FALSE;
  shown = shown_now (self, tree);
  name = flam_format_visible (shown_name (tree, &shown));
  gtk_tooltip_set_text (tooltip, name);
  return TRUE;
}

static void
update (FlamStatusBar *self)
{
  FlamViewData *view_data = flam_session_get_view_data (self->session);
  g_autofree char *name = NULL;
  g_autofree char *place = NULL;
  g_autofree char *costs = NULL;
  Shown shown;

  if (view_data == NULL)
    {
      self->hovered = FLAM_NONE;
      return;
    }
  shown = shown_now (self, view_data->tree);
  name = flam_format_folded_name (shown_name (view_data->tree, &shown));
  place = shown.node == 0 ? g_strdup ("")
                          : location_text (self->session, shown.node);
  costs = costs_text (view_data, &shown);
  gtk_label_set_label (self->name, name);
  gtk_label_set_label (self->place, place);
  gtk_widget_set_visible (GTK_WIDGET (self->place),
                          *place != '\0' && !self->narrow);
  gtk_label_set_label (self->costs, costs);
}

/* A step of the wheel or a zoom changes the text without a new layout of the
 * window, so the width is that of the longest text so far. */
static void
set_hidden (FlamStatusBar *self, const char *text)
{
  guint length = flam_widget_count_columns (text);

  if (length > gtk_inscription_get_nat_chars (self->hidden))
    gtk_inscription_set_nat_chars (self->hidden, length);
  gtk_inscription_set_text (self->hidden, text);
}

static void
update_hidden (FlamStatusBar *self)
{
  FlamFlameGraph *graph = flam_graph_view_get_graph (self->graph_view);
  gint64 in_view = 0;
  gint64 hidden;
  g_autofree char *share = NULL;
  g_autofree char *text = NULL;

  if (flam_flame_graph_is_moving (graph))
    return;
  hidden = flam_flame_graph_get_hidden (graph, &in_view);
  gtk_widget_set_visible (GTK_WIDGET (self->hidden),
                          hidden > 0 && !self->narrow &&
                              gtk_widget_get_mapped (GTK_WIDGET (graph)));
  if (hidden <= 0)
    return;
  share = flam_format_percent (hidden, in_view);
  text = g_strdup_printf (_ ("%s too small to draw"), share);
  set_hidden (self, text);
}

static void
on_hovered (FlamFlameGraph *graph, guint node, FlamStatusBar *self)
{
  self->hovered = node;
  update (self);
}

static void
on_view_data (FlamStatusBar *self)
{
  self->hovered = FLAM_NONE;
  update (self);
}

void
flam_status_bar_set_legend (FlamStatusBar *self, gboolean shown)
{
  g_return_if_fail (FLAM_IS_STATUS_BAR (self));
  gtk_widget_set_visible (GTK_WIDGET (self->legend_box), shown);
}

void
flam_status_bar_set_narrow (FlamStatusBar *self, gboolean narrow)
{
  GtkBoxLayout *layout =
      GTK_BOX_LAYOUT (gtk_widget_get_layout_manager (GTK_WIDGET (self)));

  g_return_if_fail (FLAM_IS_STATUS_BAR (self));
  self->narrow = narrow;
  /* The legend gets the space that the costs leave, or a line of its own. */
  gtk_orientable_set_orientation (GTK_ORIENTABLE (layout),
                                  narrow ? GTK_ORIENTATION_VERTICAL
                                         : GTK_ORIENTATION_HORIZONTAL);
  gtk_box_layout_set_spacing (layout, narrow ? LINE_GAP : GAP);
  gtk_label_set_ellipsize (self->costs,
                           narrow ? PANGO_ELLIPSIZE_END : PANGO_ELLIPSIZE_NONE);
  gtk_widget_set_visible (GTK_WIDGET (self->hidden), FALSE);
  gtk_widget_set_visible (GTK_WIDGET (self->place), FALSE);
  if (self->session != NULL)
    update (self);
}

void
flam_status_bar_set_session (FlamStatusBar *self,
                             FlamSession *session,
                             FlamGraphView *graph_view)
{
  static const char *const signals[] = { "drawn-changed", "map", "unmap" };
  FlamFlameGraph *graph = flam_graph_view_get_graph (graph_view);

  g_return_if_fail (FLAM_IS_STATUS_BAR (self));
  self->session = g_object_ref (session);
  self->graph_view = graph_view;
  g_signal_connect_object (session,
                           "notify::view-data",
                           G_CALLBACK (on_view_data),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (
      session, "notify::current", G_CALLBACK (update), self, G_CONNECT_SWAPPED);
  g_signal_connect_object (
      graph, "node-hovered", G_CALLBACK (on_hovered), self, 0);
  for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
    g_signal_connect_object (graph,
                             signals[i],
                             G_CALLBACK (update_hidden),
                             self,
                             G_CONNECT_SWAPPED | G_CONNECT_AFTER);
  gtk_box_append (self->legend_box, flam_legend_new (graph));
}

static void
flam_status_bar_dispose (GObject *object)
{
  FlamStatusBar *self = FLAM_STATUS_BAR (object);

  flam_widget_dispose_template (GTK_WIDGET (self), FLAM_TYPE_STATUS_BAR);
  g_clear_object (&self->session);
  G_OBJECT_CLASS (flam_status_bar_parent_class)->dispose (object);
}

static void
flam_status_bar_class_init (FlamStatusBarClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_status_bar_dispose;
  gtk_widget_class_set_css_name (class, "flamstatus");
  gtk_widget_class_set_template_from_resource (
      class, "/dev/flambeau/Flambeau/ui/flam-status-bar.ui");
  gtk_widget_class_bind_template_child (class, FlamStatusBar, name);
  gtk_widget_class_bind_template_child (class, FlamStatusBar, place);
  gtk_widget_class_bind_template_child (class, FlamStatusBar, costs);
  gtk_widget_class_bind_template_child (class, FlamStatusBar, hidden);
  gtk_widget_class_bind_template_child (class, FlamStatusBar, legend_box);
}

static void
flam_status_bar_init (FlamStatusBar *self)
{
  self->hovered = FLAM_NONE;
  gtk_widget_init_template (GTK_WIDGET (self));
  gtk_widget_set_has_tooltip (GTK_WIDGET (self->name), TRUE);
  g_signal_connect (
      self->name, "query-tooltip", G_CALLBACK (on_query_name), self);
}
