/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-cost-gutter.h"

#define WIDTH_CHARS 8
#define PADDING 4
#define BAR_ALPHA 0.30f

struct _FlamCostGutter
{
  GtkSourceGutterRenderer parent_instance;
  FlamSourceCosts *costs;
  FlamCost cost;
  PangoLayout *layout;
};

G_DEFINE_FINAL_TYPE (FlamCostGutter,
                     flam_cost_gutter,
                     GTK_SOURCE_TYPE_GUTTER_RENDERER)

static PangoLayout *
ensure_layout (FlamCostGutter *self)
{
  if (self->layout == NULL)
    self->layout = gtk_widget_create_pango_layout (GTK_WIDGET (self), NULL);
  return self->layout;
}

static void
flam_cost_gutter_snapshot_line (GtkSourceGutterRenderer *renderer,
                                GtkSnapshot *snapshot,
                                GtkSourceGutterLines *lines,
                                guint line)
{
  FlamCostGutter *self = FLAM_COST_GUTTER (renderer);
  int row =
      self->costs != NULL ? flam_source_costs_find (self->costs, line + 1) : -1;
  float width = (float)gtk_widget_get_width (GTK_WIDGET (self));
  GdkRGBA color;
  gint64 value;
  float bar;
  int y, height, text_width, text_height;
  PangoLayout *layout;

  if (row < 0)
    return;
  value = flam_source_costs_value (self->costs, (guint)row, self->cost);
  if (value <= 0)
    return;
  gtk_source_gutter_lines_get_line_yrange (
      lines, line, GTK_SOURCE_GUTTER_RENDERER_ALIGNMENT_MODE_CELL, &y, &height);
  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                               &color);

  bar = (float)value / (float)MAX (self->costs->top[self->cost], 1);
  bar = MAX (1, bar * (width - PADDING));
  gtk_snapshot_append_color (
      snapshot,
      &(GdkRGBA){ self->cost == FLAM_COST_SELF ? 0.90f : 0.95f,
                  self->cost == FLAM_COST_SELF ? 0.38f : 0.65f,
                  0.0f,
                  BAR_ALPHA },
      &GRAPHENE_RECT_INIT (
          width - bar - PADDING / 2, (float)y + 1, bar, (float)height - 2));

  layout = ensure_layout (self);
  pango_layout_set_text (layout,
                         self->cost == FLAM_COST_SELF
                             ? self->costs->self_text[row]
                             : self->costs->total_text[row],
                         -1);
  pango_layout_get_pixel_size (layout, &text_width, &text_height);
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot,
      &GRAPHENE_POINT_INIT (width - (float)text_width - PADDING,
                            (float)y + (float)(height - text_height) / 2));
  gtk_snapshot_append_layout (snapshot, layout, &color);
  gtk_snapshot_restore (snapshot);
}

static void
flam_cost_gutter_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  FlamCostGutter *self = FLAM_COST_GUTTER (widget);
  int width = 0;

  if (orientation == GTK_ORIENTATION_HORIZONTAL && self->costs != NULL)
    {
      PangoLayout *layout = ensure_layout (self);
      pango_layout_set_text (layout, "00000000", WIDTH_CHARS);
      pango_layout_get_pixel_size (layout, &width, NULL);
      width += 2 * PADDING;
    }
  *minimum = *natural = width;
  *minimum_baseline = *natural_baseline = -1;
}

static void
flam_cost_gutter_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  FlamCostGutter *self = FLAM_COST_GUTTER (widget);

  GTK_WIDGET_CLASS (flam_cost_gutter_parent_class)
      ->css_changed (widget, change);
  g_clear_object (&self->layout);
  gtk_widget_queue_resize (widget);
}

void
flam_cost_gutter_set_costs (FlamCostGutter *self, FlamSourceCosts *costs)
{
  g_return_if_fail (FLAM_IS_COST_GUTTER (self));
  if (costs != NULL)
    flam_source_costs_ref (costs);
  g_clear_pointer (&self->costs, flam_source_costs_unref);
  self->costs = costs;
  gtk_widget_queue_resize (GTK_WIDGET (self));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
flam_cost_gutter_dispose (GObject *object)
{
  FlamCostGutter *self = FLAM_COST_GUTTER (object);

  g_clear_pointer (&self->costs, flam_source_costs_unref);
  g_clear_object (&self->layout);
  G_OBJECT_CLASS (flam_cost_gutter_parent_class)->dispose (object);
}

static void
flam_cost_gutter_class_init (FlamCostGutterClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_cost_gutter_dispose;
  GTK_SOURCE_GUTTER_RENDERER_CLASS (klass)->snapshot_line =
      flam_cost_gutter_snapshot_line;
  class->measure = flam_cost_gutter_measure;
  class->css_changed = flam_cost_gutter_css_changed;
}

static void
flam_cost_gutter_init (FlamCostGutter *self)
{
}

GtkSourceGutterRenderer *
flam_cost_gutter_new (FlamCost cost)
{
  FlamCostGutter *self = g_object_new (FLAM_TYPE_COST_GUTTER, NULL);

  self->cost = cost;
  return GTK_SOURCE_GUTTER_RENDERER (self);
}
