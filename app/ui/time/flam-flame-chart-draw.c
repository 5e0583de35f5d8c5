/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-chart-private.h"

#include <adwaita.h>

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

void
flam_flame_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamFlameChart *self = FLAM_FLAME_CHART (widget);
  const FlamChartLayout *layout;
  FlamChartScene scene = {
    .chart = self->chart,
    .nodes = self->nodes,
    .palette = self->palette,
    .dark = adw_style_manager_get_dark (adw_style_manager_get_default ()),
    .hovered = self->hovered,
    .selected = self->selected,
  };
  cairo_t *cr;

  if (self->chart == NULL || self->nodes == NULL)
    return;
  layout = flam_flame_chart_layout (self);
  cr = gtk_snapshot_append_cairo (
      snapshot,
      &GRAPHENE_RECT_INIT (0,
                           (float)layout->view.top,
                           (float)gtk_widget_get_width (widget),
                           (float)(layout->view.height + FLAM_DRAW_RULER)));
  cairo_translate (cr, 0, layout->view.top);
  flam_draw_chart (get_draw (self), cr, layout, &scene);
  cairo_destroy (cr);
}
