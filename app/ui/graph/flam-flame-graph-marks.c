/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include <gsk/gsk.h>
#include <math.h>

#define VEIL 0.12f  /* over the hovered box */
#define FAINT 0.55f /* its outline */

static GdkRGBA
ink_of (FlamFlameGraph *self)
{
  return self->dark ? (GdkRGBA){ 1, 1, 1, 1 } : (GdkRGBA){ 0, 0, 0, 1 };
}

static void
append_frame (GtkSnapshot *snapshot,
              const graphene_rect_t *bounds,
              float line,
              const GdkRGBA *color)
{
  const float widths[4] = { line, line, line, line };
  const GdkRGBA colors[4] = { *color, *color, *color, *color };
  GskRoundedRect outline;

  gsk_rounded_rect_init_from_rect (&outline, bounds, FLAM_DRAW_RADIUS);
  gtk_snapshot_append_border (snapshot, &outline, widths, colors);
}

/* The part of a box that is in view, at least 3 pixels wide. */
static gboolean
rect_of (const FlamViewport *viewport,
         const FlamBox *box,
         graphene_rect_t *rect)
{
  double left = MAX (box->x, 0);
  double right = MIN (box->x + box->width, viewport->width);

  if (box->x > viewport->width || box->x + box->width < 0 ||
      box->y > viewport->height || box->y + box->height < 0)
    return FALSE;
  *rect = GRAPHENE_RECT_INIT ((float)round (left),
                              (float)round (box->y),
                              (float)MAX (round (right) - round (left), 3),
                              (float)(box->height - FLAM_DRAW_GAP));
  return TRUE;
}

static void
mark_sector (FlamFlameGraph *self,
             GtkSnapshot *snapshot,
             const FlamBox *box,
             gboolean selected,
             const GdkRGBA *ink)
{
  const FlamLayout *layout = flam_graph_layout (self);
  FlamRect bounds = flam_layout_bounds (layout, box);
  cairo_t *cr = gtk_snapshot_append_cairo (
      snapshot,
      &GRAPHENE_RECT_INIT ((float)bounds.x - 2,
                           (float)bounds.y - 2,
                           (float)bounds.width + 4,
                           (float)bounds.height + 4));

  flam_draw_append_sector (cr, layout, box);
  if (!selected)
    {
      cairo_set_source_rgba (cr, 0, 0, 0, VEIL);
      cairo_fill_preserve (cr);
    }
  gdk_cairo_set_source_rgba (cr, ink);
  cairo_set_line_width (cr, selected ? 2 : 1);
  cairo_stroke (cr);
  cairo_destroy (cr);
}

static void
mark_box (FlamFlameGraph *self,
          GtkSnapshot *snapshot,
          const FlamBox *box,
          gboolean selected,
          const GdkRGBA *ink)
{
  FlamViewport viewport = flam_graph_viewport (self);
  graphene_rect_t rect;

  if (!rect_of (&viewport, box, &rect))
    return;
  if (selected)
    graphene_rect_inset (&rect, -1, -1);
  else
    gtk_snapshot_append_color (snapshot, &(GdkRGBA){ 0, 0, 0, VEIL }, &rect);
  append_frame (snapshot, &rect, selected ? 2 : 1, ink);
}

static void
append_mark (FlamFlameGraph *self,
             GtkSnapshot *snapshot,
             FlamId node,
             gboolean selected)
{
  GdkRGBA ink = ink_of (self);
  FlamBox box;

  if (node == FLAM_NONE || node >= self->tree->n ||
      !flam_graph_find_box (self, node, &box))
    return;
  if (!selected)
    ink.alpha = FAINT;
  if (self->shape == FLAM_SHAPE_SUNBURST)
    mark_sector (self, snapshot, &box, selected, &ink);
  else
    mark_box (self, snapshot, &box, selected, &ink);
}

void
flam_graph_append_marks (FlamFlameGraph *self, GtkSnapshot *snapshot)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GdkRGBA ink = ink_of (self);

  if (self->hovered != self->selected)
    append_mark (self, snapshot, self->hovered, FALSE);
  if (self->pointed != self->selected && self->pointed != self->hovered)
    append_mark (self, snapshot, self->pointed, FALSE);
  append_mark (self, snapshot, self->selected, TRUE);
  if (self->selected == FLAM_NONE && gtk_widget_has_visible_focus (widget))
    append_frame (snapshot,
                  &GRAPHENE_RECT_INIT (0,
                                       0,
                                       (float)gtk_widget_get_width (widget),
                                       (float)gtk_widget_get_height (widget)),
                  2,
                  &ink);
}

void
flam_flame_graph_point_at (FlamFlameGraph *self, FlamId node)
{
  g_return_if_fail (FLAM_IS_FLAME_GRAPH (self));
  if (self->pointed == node)
    return;
  self->pointed = node;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
