/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-side-by-side.h"

#include "flam-core-picture.h"

#include <glib/gi18n.h>

#define NARROW 640 /* pixels: below this width they are stacked */
#define GAP 6
#define N_PANELS 3

struct _FlamSideBySide
{
  GtkWidget parent_instance;

  /* In the order of `panels`. */
  GtkWidget *panel[N_PANELS]; /* caption and graph */
  GtkLabel *caption[N_PANELS];
  FlamFlameGraph *graph[N_PANELS];
  GtkLabel *figures;
  gboolean syncing;
};

static guint chosen_signal;

G_DEFINE_FINAL_TYPE (FlamSideBySide, flam_side_by_side, GTK_TYPE_WIDGET)

/* From left to right, then downwards. */
enum
{
  BEFORE,
  NOW,
  CHANGES,
};

static const struct
{
  FlamDiffShape shape;
  const char *title;
} panels[N_PANELS] = {
  [BEFORE] = { FLAM_DIFF_BASE, N_ ("Before") },
  [NOW] = { FLAM_DIFF_FRESH, N_ ("Now") },
  [CHANGES] = { FLAM_DIFF_CHANGED, N_ ("Difference") },
};

/* --- the same frame in all -------------------------------------------------
 */

/* FLAM_NONE: it has no such path. */
static FlamId
find_same (const FlamTree *from, FlamNodeId node, const FlamTree *to)
{
  FlamId found;

  if (from == NULL || to == NULL || node >= from->n)
    return FLAM_NONE;
  found = flam_tree_find_path (from, node, to);
  return to->depth[found] == from->depth[node] ? found : FLAM_NONE;
}

static FlamId
same_in (FlamSideBySide *self, FlamFlameGraph *graph, FlamNodeId node, guint i)
{
  const FlamTree *from = flam_flame_graph_get_tree (graph);
  const FlamTree *to = flam_flame_graph_get_tree (self->graph[i]);

  return from == to ? node : find_same (from, node, to);
}

/* The figures of a node of one graph; FLAM_NONE: of the selected one. */
static void
show_figures (FlamSideBySide *self, FlamFlameGraph *graph, FlamNodeId node)
{
  g_autofree char *text = NULL;

  for (guint i = N_PANELS; i-- > 0 && node == FLAM_NONE;)
    {
      graph = self->graph[i];
      node = flam_flame_graph_get_selected (graph);
    }
  text = node != FLAM_NONE ? flam_flame_graph_describe (graph, node)
                           : g_strdup ("");
  gtk_label_set_label (self->figures, text);
  gtk_widget_set_tooltip_text (GTK_WIDGET (self->figures), text);
}

static void
on_hovered (FlamFlameGraph *graph, guint node, FlamSideBySide *self)
{
  FlamNodeId changed;

  for (guint i = 0; i < N_PANELS; i++)
    if (self->graph[i] != graph)
      flam_flame_graph_point_at (self->graph[i],
                                 same_in (self, graph, node, i));
  changed = same_in (self, graph, node, CHANGES);
  if (changed != FLAM_NONE)
    show_figures (self, self->graph[CHANGES], changed);
  else
    show_figures (self, graph, node);
}

static void
on_selected (FlamFlameGraph *graph, guint node, FlamSideBySide *self)
{
  if (self->syncing)
    return;
  self->syncing = TRUE;
  for (guint i = 0; i < N_PANELS; i++)
    if (self->graph[i] != graph)
      flam_flame_graph_select_node (self->graph[i],
                                    same_in (self, graph, node, i));
  self->syncing = FALSE;
  show_figures (self, NULL, FLAM_NONE);
  g_signal_emit (self, chosen_signal, 0, graph, node);
}

/* If a graph has no such frame, its nearest caller is used. */
static void
on_zoomed (FlamFlameGraph *graph, guint node, FlamSideBySide *self)
{
  const FlamTree *from = flam_flame_graph_get_tree (graph);

  if (self->syncing || from == NULL)
    return;
  self->syncing = TRUE;
  for (guint i = 0; i < N_PANELS; i++)
    {
      const FlamTree *to = flam_flame_graph_get_tree (self->graph[i]);

      if (self->graph[i] != graph && to != NULL)
        flam_flame_graph_zoom_to (self->graph[i],
                                  flam_tree_find_path (from, node, to));
    }
  self->syncing = FALSE;
}

void
flam_side_by_side_select (FlamSideBySide *self,
                          const FlamTree *tree,
                          FlamNodeId node)
{
  g_return_if_fail (FLAM_IS_SIDE_BY_SIDE (self));
  self->syncing = TRUE;
  for (guint i = 0; i < N_PANELS; i++)
    flam_flame_graph_select_node (
        self->graph[i],
        find_same (tree, node, flam_flame_graph_get_tree (self->graph[i])));
  self->syncing = FALSE;
  show_figures (self, NULL, FLAM_NONE);
}

/* --- shown data -------------------------------------------------------------
 */

static void
show_caption (FlamSideBySide *self, guint i, const FlamViewData *side)
{
  const FlamMeasure measure = flam_tree_measure (side->tree);
  g_autofree char *weight = flam_format_weight (&measure, side->tree->total[0]);
  /* Translators: "Before" or "Now", and a total */
  g_autofree char *text =
      g_strdup_printf (_ ("%s: %s"), _ (panels[i].title), weight);

  gtk_label_set_label (self->caption[i], text);
}

void
flam_side_by_side_set_comparison (FlamSideBySide *self,
                                  FlamComparison *comparison)
{
  g_return_if_fail (FLAM_IS_SIDE_BY_SIDE (self));
  self->syncing = TRUE;
  for (guint i = 0; i < N_PANELS; i++)
    {
      FlamViewData *shown =
          comparison != NULL ? comparison->changed[panels[i].shape] : NULL;

      flam_flame_graph_point_at (self->graph[i], FLAM_NONE);
      flam_flame_graph_set_tree (self->graph[i],
                                 shown != NULL ? shown->tree : NULL,
                                 shown != NULL ? shown->rows : NULL);
    }
  self->syncing = FALSE;
  if (comparison != NULL)
    {
      show_caption (self, BEFORE, comparison->base);
      show_caption (self, NOW, comparison->fresh);
    }
  show_figures (self, NULL, FLAM_NONE);
}

FlamFlameGraph *
flam_side_by_side_get_graph (FlamSideBySide *self, guint i)
{
  g_return_val_if_fail (FLAM_IS_SIDE_BY_SIDE (self), NULL);
  return i < N_PANELS ? self->graph[i] : NULL;
}

/* --- the widget --------------------------------------------------------------
 */

static int
figures_height (FlamSideBySide *self)
{
  int height;

  gtk_widget_measure (GTK_WIDGET (self->figures),
                      GTK_ORIENTATION_VERTICAL,
                      -1,
                      &height,
                      NULL,
                      NULL,
                      NULL);
  return height;
}

static void
flam_side_by_side_measure (GtkWidget *widget,
                           GtkOrientation orientation,
                           int for_size,
                           int *minimum,
                           int *natural,
                           int *minimum_baseline,
                           int *natural_baseline)
{
  FlamSideBySide *self = FLAM_SIDE_BY_SIDE (widget);

  *minimum = *natural = 0;
  for (guint i = 0; i < N_PANELS; i++)
    {
      int least;

      gtk_widget_measure (
          self->panel[i], orientation, -1, &least, NULL, NULL, NULL);
      *minimum = MAX (*minimum, least);
    }
  if (orientation == GTK_ORIENTATION_VERTICAL)
    {
      *minimum = 3 * *minimum + 2 * GAP + figures_height (self);
      *natural = *minimum;
    }
  *natural = MAX (*natural, *minimum);
}

static void
place (GtkWidget *panel, int x, int y, int width, int height)
{
  gtk_widget_size_allocate (panel, &(GtkAllocation){ x, y, width, height }, -1);
}

static void
flam_side_by_side_size_allocate (GtkWidget *widget,
                                 int width,
                                 int height,
                                 int baseline)
{
  FlamSideBySide *self = FLAM_SIDE_BY_SIDE (widget);
  int figures = figures_height (self);
  gboolean narrow = width < NARROW;
  int rows = narrow ? 3 : 2;
  int row = (height - figures - (rows - 1) * GAP) / rows;
  int half = (width - GAP) / 2;

  if (narrow)
    for (int i = 0; i < N_PANELS; i++)
      place (self->panel[i], 0, i * (row + GAP), width, row);
  else
    {
      place (self->panel[BEFORE], 0, 0, half, row);
      place (self->panel[NOW], half + GAP, 0, half, row);
      place (self->panel[CHANGES], 0, row + GAP, width, row);
    }
  place (GTK_WIDGET (self->figures), 0, height - figures, width, figures);
}

static void
flam_side_by_side_dispose (GObject *object)
{
  FlamSideBySide *self = FLAM_SIDE_BY_SIDE (object);
  GtkWidget *child;

  for (guint i = 0; i < N_PANELS; i++)
    if (self->graph[i] != NULL)
      g_signal_handlers_disconnect_by_data (self->graph[i], self);
  while ((child = gtk_widget_get_first_child (GTK_WIDGET (self))) != NULL)
    gtk_widget_unparent (child);
  G_OBJECT_CLASS (flam_side_by_side_parent_class)->dispose (object);
}

static void
flam_side_by_side_class_init (FlamSideBySideClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_side_by_side_dispose;
  class->measure = flam_side_by_side_measure;
  class->size_allocate = flam_side_by_side_size_allocate;
  chosen_signal = g_signal_new ("chosen",
                                FLAM_TYPE_SIDE_BY_SIDE,
                                G_SIGNAL_RUN_LAST,
                                0,
                                NULL,
                                NULL,
                                NULL,
                                G_TYPE_NONE,
                                2,
                                FLAM_TYPE_FLAME_GRAPH,
                                G_TYPE_UINT);
  gtk_widget_class_set_accessible_role (class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
add_panel (FlamSideBySide *self, guint i)
{
  GtkWidget *panel = gtk_box_new (GTK_ORIENTATION_VERTICAL, 2);
  GtkWidget *caption = gtk_label_new (_ (panels[i].title));
  GtkWidget *scroller = gtk_scrolled_window_new ();
  GtkWidget *graph = flam_flame_graph_new ();

  gtk_label_set_xalign (GTK_LABEL (caption), 0);
  gtk_label_set_ellipsize (GTK_LABEL (caption), PANGO_ELLIPSIZE_END);
  gtk_widget_set_margin_start (caption, GAP);
  gtk_widget_add_css_class (caption, "heading");
  gtk_scrolled_window_set_policy (
      GTK_SCROLLED_WINDOW (scroller), GTK_POLICY_NEVER, GTK_POLICY_AUTOMATIC);
  gtk_scrolled_window_set_child (GTK_SCROLLED_WINDOW (scroller), graph);
  gtk_widget_set_vexpand (scroller, TRUE);
  gtk_box_append (GTK_BOX (panel), caption);
  gtk_box_append (GTK_BOX (panel), scroller);
  gtk_widget_set_parent (panel, GTK_WIDGET (self));
  self->panel[i] = panel;
  self->caption[i] = GTK_LABEL (caption);
  self->graph[i] = FLAM_FLAME_GRAPH (graph);
  flam_flame_graph_set_title (self->graph[i], _ (panels[i].title));
  g_signal_connect (graph, "node-hovered", G_CALLBACK (on_hovered), self);
  g_signal_connect (graph, "node-selected", G_CALLBACK (on_selected), self);
  g_signal_connect (graph, "zoom-changed", G_CALLBACK (on_zoomed), self);
}

static void
flam_side_by_side_init (FlamSideBySide *self)
{
  GtkWidget *figures = gtk_label_new ("");

  for (guint i = 0; i < N_PANELS; i++)
    add_panel (self, i);
  gtk_label_set_xalign (GTK_LABEL (figures), 0);
  gtk_label_set_ellipsize (GTK_LABEL (figures), PANGO_ELLIPSIZE_MIDDLE);
  gtk_widget_set_margin_start (figures, GAP);
  gtk_widget_add_css_class (figures, "numeric");
  gtk_widget_add_css_class (figures, "caption");
  gtk_widget_set_parent (figures, GTK_WIDGET (self));
  self->figures = GTK_LABEL (figures);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Side by Side"),
                                  -1);
}
