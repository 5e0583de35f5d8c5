/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-chart-private.h"
#include "flam-snapshot-image.h"
#include "flam-user-colors.h"

#include <adwaita.h>
#include <math.h>

static FlamDraw *
get_draw (FlamFlameChart *self)
{
  PangoContext *context;

  if (self->draw != NULL)
    return self->draw;
  context = gtk_widget_create_pango_context (GTK_WIDGET (self));
  pango_context_set_round_glyph_positions (context, TRUE);
  self->draw = flam_draw_new (context, NULL);
  g_object_unref (context);
  return self->draw;
}

/* Drawn as pixels: as drawing operations, tens of thousands of boxes would be
 * stored and drawn one by one. */
static cairo_surface_t *
draw_image (FlamFlameChart *self, int width)
{
  const FlamChartLayout *layout = flam_flame_chart_layout (self);
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  int height = (int)ceil (layout->view.height + FLAM_DRAW_RULER);
  FlamChartScene scene = {
    .chart = self->chart,
    .nodes = self->nodes,
    .palette = self->palette,
    .dark = adw_style_manager_get_dark (adw_style_manager_get_default ()),
    .hovered = self->hovered,
    .selected = self->selected,
  };
  cairo_surface_t *image = cairo_image_surface_create (
      CAIRO_FORMAT_ARGB32, width * scale, height * scale);
  cairo_t *cr = cairo_create (image);

  cairo_surface_set_device_scale (image, scale, scale);
  flam_draw_chart (get_draw (self), cr, layout, &scene);
  cairo_destroy (cr);
  cairo_surface_flush (image);
  flam_user_colors_look (flam_user_colors_get ());
  return image;
}

void
flam_flame_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamFlameChart *self = FLAM_FLAME_CHART (widget);
  int width = gtk_widget_get_width (widget);
  g_autoptr (GskRenderNode) node = NULL;
  const FlamChartView *view;
  cairo_surface_t *image;

  if (self->chart == NULL || self->nodes == NULL || width <= 0)
    return;
  view = &flam_flame_chart_layout (self)->view;
  image = draw_image (self, width);
  flam_snapshot_append_image (
      snapshot,
      widget,
      image,
      &node,
      &GRAPHENE_RECT_INIT (0,
                           (float)view->top,
                           (float)width,
                           (float)ceil (view->height + FLAM_DRAW_RULER)));
  cairo_surface_destroy (image);
}
