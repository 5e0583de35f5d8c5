/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-minimap.h"

#include <glib/gi18n.h>
#include <math.h>

#include "flam-flame-graph-private.h"

#define WIDTH 168
#define HEIGHT 84
#define PADDING 4
#define MARGIN 12
#define LABEL_WIDTH 24 /* a narrower box has none */

struct _FlamMinimap
{
  GtkWidget parent_instance;
  FlamFlameGraph *graph;
  GdkTexture *picture;
  FlamTree *pictured; /* the tree of the picture; not a reference */
  gboolean pictured_dark;
  int pictured_mode, pictured_direction;
  FlamColorRules *pictured_rules;
  FlamView grabbed; /* the view when the drag began */
  int covered;      /* pixels at the top that something else covers */
};

G_DEFINE_FINAL_TYPE (FlamMinimap, flam_minimap, GTK_TYPE_WIDGET)

/* --- picture ------------------------------------------------------------- */

static gboolean
is_current (FlamMinimap *self)
{
  FlamFlameGraph *graph = self->graph;

  return self->picture != NULL && self->pictured == graph->tree &&
         self->pictured_dark == graph->dark &&
         self->pictured_mode == (int)graph->palette_mode &&
         self->pictured_rules == graph->rules &&
         self->pictured_direction == (int)graph->direction;
}

static FlamLayout *
layout_new (FlamMinimap *self)
{
  FlamFlameGraph *graph = self->graph;
  FlamViewport viewport = {
    .width = WIDTH,
    .height = HEIGHT,
    .row_height = (double)HEIGHT / flam_graph_whole_rows (graph),
    .to = (double)graph->tree->total[0],
    .min_width = 0.5,
    .direction = graph->direction,
  };

  viewport.row_height = MIN (viewport.row_height, 6);
  return flam_layout_new (graph->rows, &viewport);
}

static void
make_picture (FlamMinimap *self)
{
  FlamFlameGraph *graph = self->graph;
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  g_autoptr (FlamLayout) layout = layout_new (self);
  FlamScene scene = { graph->tree, flam_graph_palette (graph), NULL, TRUE };
  cairo_surface_t *surface = cairo_image_surface_create (
      CAIRO_FORMAT_ARGB32, WIDTH * scale, HEIGHT * scale);
  cairo_t *cr;
  g_autoptr (GBytes) bytes = NULL;
  int stride = cairo_image_surface_get_stride (surface);

  cairo_surface_set_device_scale (surface, scale, scale);
  cr = cairo_create (surface);
  flam_draw_layout (flam_graph_draw (graph), cr, layout, &scene);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  bytes = g_bytes_new (cairo_image_surface_get_data (surface),
                       (gsize)stride * HEIGHT * scale);
  cairo_surface_destroy (surface);
  g_clear_object (&self->picture);
  self->picture = gdk_memory_texture_new (
      WIDTH * scale, HEIGHT * scale, GDK_MEMORY_DEFAULT, bytes, stride);
  self->pictured = graph->tree;
  self->pictured_dark = graph->dark;
  self->pictured_mode = graph->palette_mode;
  g_clear_pointer (&self->pictured_rules, flam_color_rules_unref);
  if (graph->rules != NULL)
    self->pictured_rules = flam_color_rules_ref (graph->rules);
  self->pictured_direction = graph->direction;
}

static void
append_frame (FlamMinimap *self, GtkSnapshot *snapshot)
{
  gboolean dark = self->graph->dark;
  GdkRGBA veil = dark ? (GdkRGBA){ 0.12f, 0.12f, 0.12f, 0.55f }
                      : (GdkRGBA){ 1, 1, 1, 0.6f };
  GdkRGBA ink = dark ? (GdkRGBA){ 1, 1, 1, 0.9f } : (GdkRGBA){ 0, 0, 0, 0.8f };
  const float widths[4] = { 1, 1, 1, 1 };
  const GdkRGBA colors[4] = { ink, ink, ink, ink };
  GskRoundedRect outline;
  FlamView view;
  float left, top, right, bottom;

  flam_flame_graph_get_view (self->graph, &view);
  left = (float)floor (view.x * WIDTH);
  top = (float)floor (view.y * HEIGHT);
  right = (float)MIN (ceil ((view.x + view.width) * WIDTH), WIDTH);
  bottom = (float)MIN (ceil ((view.y + view.height) * HEIGHT), HEIGHT);
  right = MAX (right, left + 4);
  bottom = MAX (bottom, top + 4);
  gtk_snapshot_append_color (
      snapshot, &veil, &GRAPHENE_RECT_INIT (0, 0, WIDTH, top));
  gtk_snapshot_append_color (
      snapshot, &veil, &GRAPHENE_RECT_INIT (0, bottom, WIDTH, HEIGHT - bottom));
  gtk_snapshot_append_color (
      snapshot, &veil, &GRAPHENE_RECT_INIT (0, top, left, bottom - top));
  gtk_snapshot_append_color (
      snapshot,
      &veil,
      &GRAPHENE_RECT_INIT (right, top, WIDTH - right, bottom - top));
  gsk_rounded_rect_init_from_rect (
      &outline, &GRAPHENE_RECT_INIT (left, top, right - left, bottom - top), 2);
  gtk_snapshot_append_border (snapshot, &outline, widths, colors);
}

static void
flam_minimap_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamMinimap *self = FLAM_MINIMAP (widget);
  GdkRGBA paper = self->graph->dark ? (GdkRGBA){ 0.12f, 0.12f, 0.12f, 1 }
                                    : (GdkRGBA){ 1, 1, 1, 1 };
  const float shade = self->graph->dark ? 1 : 0;
  const GdkRGBA line = { shade, shade, shade, 0.18f };
  const float widths[4] = { 1, 1, 1, 1 };
  const GdkRGBA colors[4] = { line, line, line, line };
  GskRoundedRect outline;

  if (flam_graph_is_empty (self->graph))
    return;
  if (!is_current (self))
    make_picture (self);
  gsk_rounded_rect_init_from_rect (
      &outline,
      &GRAPHENE_RECT_INIT (0, 0, WIDTH + 2 * PADDING, HEIGHT + 2 * PADDING),
      6);
  gtk_snapshot_append_outset_shadow (
      snapshot, &outline, &(GdkRGBA){ 0, 0, 0, 0.35f }, 0, 1, 1, 4);
  gtk_snapshot_push_rounded_clip (snapshot, &outline);
  gtk_snapshot_append_color (snapshot, &paper, &outline.bounds);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (PADDING, PADDING));
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, WIDTH, HEIGHT));
  gtk_snapshot_append_texture (
      snapshot, self->picture, &GRAPHENE_RECT_INIT (0, 0, WIDTH, HEIGHT));
  append_frame (self, snapshot);
  gtk_snapshot_pop (snapshot);
  gtk_snapshot_translate (snapshot, &GRAPHENE_POINT_INIT (-PADDING, -PADDING));
  gtk_snapshot_append_border (snapshot, &outline, widths, colors);
  gtk_snapshot_pop (snapshot);
}

/* --- position ------------------------------------------------------------ */

/* Whether it would cover no box with a label at the left or right. */
static gboolean
is_free (FlamMinimap *self, gboolean right)
{
  const FlamLayout *layout = flam_graph_layout (self->graph);
  const FlamViewport *view = &layout->viewport;
  double reach = WIDTH + 2 * PADDING + MARGIN;
  double top = self->covered;
  double height = HEIGHT + 2 * PADDING + MARGIN;

  for (guint32 i = 0; i < layout->n; i++)
    {
      const FlamBox *box = &layout->boxes[i];
      gboolean across =
          right ? box->x + box->width > view->width - reach : box->x < reach;
      double bottom = box->y + view->row_height;
      gboolean along = view->direction == FLAM_DIRECTION_FLAME
                           ? box->y < top + height && bottom > top
                           : bottom > view->height - height;

      if (across && along && box->width >= LABEL_WIDTH)
        return FALSE;
    }
  return TRUE;
}

/* The corner is kept while it is free, so that it seldom moves during
 * scrolling. FALSE: neither is free. */
static gboolean
choose_corner (FlamMinimap *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  gboolean flame = self->graph->direction == FLAM_DIRECTION_FLAME;
  gboolean right = gtk_widget_get_halign (widget) != GTK_ALIGN_START;

  gtk_widget_set_valign (widget, flame ? GTK_ALIGN_START : GTK_ALIGN_END);
  if (flam_graph_is_moving (self->graph))
    return gtk_widget_get_visible (widget);
  if (!is_free (self, right))
    {
      if (!is_free (self, !right))
        return FALSE;
      gtk_widget_set_halign (widget, right ? GTK_ALIGN_START : GTK_ALIGN_END);
    }
  return TRUE;
}

/* --- visible part -------------------------------------------------------- */

static gboolean
is_cramped (FlamMinimap *self)
{
  return gtk_widget_get_width (GTK_WIDGET (self->graph)) < 3 * WIDTH ||
         gtk_widget_get_height (GTK_WIDGET (self->graph)) <
             2 * HEIGHT + self->covered;
}

static void
on_drawn_changed (FlamMinimap *self)
{
  FlamView view;
  gboolean all;

  flam_flame_graph_get_view (self->graph, &view);
  all = flam_graph_is_empty (self->graph) ||
        (view.width > 0.98 && view.height > 0.98) || is_cramped (self);
  gtk_widget_set_visible (GTK_WIDGET (self), !all && choose_corner (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
flam_minimap_set_covered (FlamMinimap *self, int height)
{
  g_return_if_fail (FLAM_IS_MINIMAP (self));
  self->covered = height;
  gtk_widget_set_margin_top (GTK_WIDGET (self), height + MARGIN);
  on_drawn_changed (self);
}

static void
center_on (FlamMinimap *self, double x, double y)
{
  FlamView view;

  flam_flame_graph_get_view (self->graph, &view);
  view.x = (x - PADDING) / WIDTH - view.width / 2;
  view.y = (y - PADDING) / HEIGHT - view.height / 2;
  flam_flame_graph_set_view (self->graph, &view);
}

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, FlamMinimap *self)
{
  FlamView view;
  double at_x = (x - PADDING) / WIDTH, at_y = (y - PADDING) / HEIGHT;

  flam_flame_graph_get_view (self->graph, &view);
  if (at_x < view.x || at_x > view.x + view.width || at_y < view.y ||
      at_y > view.y + view.height)
    center_on (self, x, y);
  flam_flame_graph_get_view (self->graph, &self->grabbed);
  gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_CLAIMED);
}

static void
on_drag_update (GtkGestureDrag *drag, double dx, double dy, FlamMinimap *self)
{
  FlamView view = self->grabbed;

  view.x += dx / WIDTH;
  view.y += dy / HEIGHT;
  flam_flame_graph_set_view (self->graph, &view);
}

/* --- the object ---------------------------------------------------------- */

static void
flam_minimap_measure (GtkWidget *widget,
                      GtkOrientation orientation,
                      int for_size,
                      int *minimum,
                      int *natural,
                      int *minimum_baseline,
                      int *natural_baseline)
{
  *minimum = *natural =
      (orientation == GTK_ORIENTATION_HORIZONTAL ? WIDTH : HEIGHT) +
      2 * PADDING;
}

static void
flam_minimap_dispose (GObject *object)
{
  FlamMinimap *self = FLAM_MINIMAP (object);

  g_clear_object (&self->picture);
  g_clear_pointer (&self->pictured_rules, flam_color_rules_unref);
  g_clear_object (&self->graph);
  G_OBJECT_CLASS (flam_minimap_parent_class)->dispose (object);
}

static void
flam_minimap_class_init (FlamMinimapClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = flam_minimap_dispose;
  widget_class->measure = flam_minimap_measure;
  widget_class->snapshot = flam_minimap_snapshot;
  gtk_widget_class_set_css_name (widget_class, "minimap");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
flam_minimap_init (FlamMinimap *self)
{
  GtkGesture *drag = gtk_gesture_drag_new ();

  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (drag));
  gtk_widget_set_visible (GTK_WIDGET (self), FALSE);
  gtk_widget_set_margin_top (GTK_WIDGET (self), MARGIN);
  gtk_widget_set_margin_bottom (GTK_WIDGET (self), MARGIN);
  gtk_widget_set_margin_start (GTK_WIDGET (self), MARGIN);
  gtk_widget_set_margin_end (GTK_WIDGET (self), MARGIN);
  gtk_accessible_update_property (GTK_ACCESSIBLE (self),
                                  GTK_ACCESSIBLE_PROPERTY_LABEL,
                                  _ ("Part of the flame graph in view"),
                                  -1);
}

GtkWidget *
flam_minimap_new (FlamFlameGraph *graph)
{
  FlamMinimap *self = g_object_new (FLAM_TYPE_MINIMAP, NULL);

  self->graph = g_object_ref (graph);
  g_signal_connect_object (graph,
                           "drawn-changed",
                           G_CALLBACK (on_drawn_changed),
                           self,
                           G_CONNECT_SWAPPED);
  return GTK_WIDGET (self);
}
