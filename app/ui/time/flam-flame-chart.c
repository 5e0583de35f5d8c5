/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-chart-private.h"

#include "flam-core-picture.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#define NARROWEST_NS 10.0 /* across the view */

static guint span_selected;

G_DEFINE_FINAL_TYPE (FlamFlameChart, flam_flame_chart, GTK_TYPE_WIDGET)

/* --- view ----------------------------------------------------------------- */

static double
row_height (FlamFlameChart *self)
{
  PangoContext *context = gtk_widget_get_pango_context (GTK_WIDGET (self));
  PangoFontMetrics *metrics = pango_context_get_metrics (context, NULL, NULL);
  int height = pango_font_metrics_get_height (metrics);

  pango_font_metrics_unref (metrics);
  return ceil ((double)height / PANGO_SCALE) + 4;
}

static FlamChartView
chart_view (FlamFlameChart *self)
{
  FlamChartView view;
  double row = row_height (self);
  double all = gtk_widget_get_height (GTK_WIDGET (self));
  double top = self->vadjustment != NULL
                   ? gtk_adjustment_get_value (self->vadjustment)
                   : 0;
  double page = self->vadjustment != NULL
                    ? gtk_adjustment_get_page_size (self->vadjustment)
                    : all;

  flam_chart_view_init (
      &view, self->chart, gtk_widget_get_width (GTK_WIDGET (self)), row);
  view.from = self->from;
  view.to = self->to;
  view.top = floor (top);
  view.height = MAX (page - FLAM_DRAW_RULER, 1);
  return view;
}

const FlamChartLayout *
flam_flame_chart_layout (FlamFlameChart *self)
{
  FlamChartView view = chart_view (self);

  if (self->layout == NULL)
    self->layout = flam_chart_layout_new (self->chart, &view);
  return self->layout;
}

static void
look_again (FlamFlameChart *self)
{
  g_clear_pointer (&self->layout, flam_chart_layout_free);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
flam_flame_chart_look_at (FlamFlameChart *self, double from, double to)
{
  double all_from = (double)self->chart->from;
  double all_to = (double)self->chart->to;
  double span = CLAMP (
      to - from, MIN (NARROWEST_NS, all_to - all_from), all_to - all_from);

  from = CLAMP (from, all_from, all_to - span);
  self->from = from;
  self->to = from + span;
  look_again (self);
}

void
flam_flame_chart_show_span (FlamFlameChart *self, guint span)
{
  FlamChartView view = chart_view (self);
  guint32 row;
  guint lane = flam_chart_lane_of (self->chart, span, &row);
  double y = flam_chart_lane_y (self->chart, &view, lane, row);

  if (self->vadjustment == NULL)
    return;
  if (y < view.top)
    gtk_adjustment_set_value (self->vadjustment, y);
  else if (y + view.row_height > view.top + view.height)
    gtk_adjustment_set_value (self->vadjustment,
                              y + view.row_height - view.height);
}

void
flam_flame_chart_go_to (FlamFlameChart *self, guint span)
{
  const FlamChartSpan *one;
  double length;

  g_return_if_fail (FLAM_IS_FLAME_CHART (self));
  if (self->chart == NULL || span >= self->chart->n_spans)
    return;
  one = &self->chart->spans[span];
  length = MAX ((double)(one->to - one->from), NARROWEST_NS);
  flam_flame_chart_look_at (
      self, (double)one->from - length, (double)one->to + length);
  flam_flame_chart_show_span (self, span);
  flam_flame_chart_select (self, span);
}

/* --- selection ------------------------------------------------------------ */

FlamId
flam_flame_chart_node_of (FlamFlameChart *self, guint span)
{
  return self->nodes != NULL
             ? flam_chart_nodes_of (self->nodes, self->chart, span)
             : 0;
}

char *
flam_flame_chart_describe (FlamFlameChart *self, guint span)
{
  const FlamChartSpan *one;
  const FlamChartLane *lane;
  g_autofree char *length = NULL;
  g_autofree char *from = NULL;
  guint32 row;
  g_autofree char *name = NULL;

  g_return_val_if_fail (FLAM_IS_FLAME_CHART (self), NULL);
  if (self->chart == NULL || span >= self->chart->n_spans)
    return g_strdup (_ ("Flame chart"));
  one = &self->chart->spans[span];
  lane = &self->chart->lanes[flam_chart_lane_of (self->chart, span, &row)];
  name = lane->is_states && row == 0
             ? g_strdup (_ (flam_state_to_title (one->what)))
             : flam_format_visible (flam_chart_name (self->chart, lane, span));
  length = flam_format_value (one->to - one->from, FLAM_UNIT_NS);
  from = flam_format_value (one->from, FLAM_UNIT_NS);
  /* Translators: a function, the duration of its call, and its start */
  return g_strdup_printf (_ ("%s, %s, from %s on"), name, length, from);
}

static void
announce (FlamFlameChart *self)
{
  g_autofree char *text = flam_flame_chart_describe (self, self->selected);

  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

void
flam_flame_chart_select (FlamFlameChart *self, guint span)
{
  g_return_if_fail (FLAM_IS_FLAME_CHART (self));
  if (self->chart == NULL || span >= self->chart->n_spans)
    span = G_MAXUINT;
  if (span == self->selected)
    return;
  self->selected = span;
  announce (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, span_selected, 0, span);
}

/* --- object --------------------------------------------------------------- */

static void
restyle (FlamFlameChart *self)
{
  const FlamColors colors = { .mode = self->palette_mode,
                              .rules = self->rules };
  gboolean dark = adw_style_manager_get_dark (adw_style_manager_get_default ());

  g_clear_pointer (&self->palette, flam_palette_free);
  if (self->nodes != NULL)
    self->palette = flam_palette_new_for (self->nodes->tree, &colors, dark);
  else if (self->chart != NULL)
    self->palette =
        flam_palette_new (self->chart->profile, self->palette_mode, dark);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
flam_flame_chart_set_palette (FlamFlameChart *self, FlamPaletteMode mode)
{
  self->palette_mode = mode;
  restyle (self);
}

void
flam_flame_chart_set_rules (FlamFlameChart *self, FlamColorRules *rules)
{
  FlamColorRules *before;

  g_return_if_fail (FLAM_IS_FLAME_CHART (self));
  before = self->rules;
  self->rules = rules != NULL ? flam_color_rules_ref (rules) : NULL;
  restyle (self);
  g_clear_pointer (&before, flam_color_rules_unref);
}

FlamChart *
flam_flame_chart_get_chart (FlamFlameChart *self)
{
  return self->chart;
}

void
flam_flame_chart_set_chart (FlamFlameChart *self,
                            FlamChart *chart,
                            FlamTree *tree)
{
  gboolean same;

  g_return_if_fail (FLAM_IS_FLAME_CHART (self));
  same = self->chart != NULL && chart != NULL &&
         self->chart->from == chart->from && self->chart->to == chart->to;
  if (chart != NULL)
    flam_chart_ref (chart);
  g_clear_pointer (&self->chart, flam_chart_unref);
  g_clear_pointer (&self->nodes, flam_chart_nodes_free);
  self->chart = chart;
  if (chart != NULL && tree != NULL)
    self->nodes = flam_chart_nodes_new (tree);
  self->hovered = self->selected = G_MAXUINT;
  if (chart != NULL && !same)
    {
      self->from = (double)chart->from;
      self->to = (double)chart->to;
    }
  restyle (self);
  look_again (self);
  announce (self);
  gtk_widget_queue_resize (GTK_WIDGET (self));
}

void
flam_flame_chart_set_vadjustment (FlamFlameChart *self,
                                  GtkAdjustment *adjustment)
{
  g_return_if_fail (FLAM_IS_FLAME_CHART (self));
  g_set_object (&self->vadjustment, adjustment);
  g_signal_connect_object (adjustment,
                           "value-changed",
                           G_CALLBACK (look_again),
                           self,
                           G_CONNECT_SWAPPED);
  g_signal_connect_object (
      adjustment, "changed", G_CALLBACK (look_again), self, G_CONNECT_SWAPPED);
}

static void
flam_flame_chart_measure (GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  FlamFlameChart *self = FLAM_FLAME_CHART (widget);
  double height = FLAM_DRAW_RULER;

  if (self->chart != NULL)
    {
      FlamChartView view = chart_view (self);

      height += flam_chart_height (self->chart, &view);
    }
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL
                            ? 100
                            : (int)MIN (height, 1 << 28);
}

static void
flam_flame_chart_size_allocate (GtkWidget *widget,
                                int width,
                                int height,
                                int baseline)
{
  g_clear_pointer (&FLAM_FLAME_CHART (widget)->layout, flam_chart_layout_free);
}

static void
flam_flame_chart_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  FlamFlameChart *self = FLAM_FLAME_CHART (widget);

  GTK_WIDGET_CLASS (flam_flame_chart_parent_class)
      ->css_changed (widget, change);
  g_clear_pointer (&self->draw, flam_draw_free);
  look_again (self);
}

static void
flam_flame_chart_dispose (GObject *object)
{
  FlamFlameChart *self = FLAM_FLAME_CHART (object);

  g_clear_object (&self->vadjustment);
  g_clear_pointer (&self->layout, flam_chart_layout_free);
  g_clear_pointer (&self->palette, flam_palette_free);
  g_clear_pointer (&self->rules, flam_color_rules_unref);
  g_clear_pointer (&self->chart, flam_chart_unref);
  g_clear_pointer (&self->nodes, flam_chart_nodes_free);
  g_clear_pointer (&self->draw, flam_draw_free);
  G_OBJECT_CLASS (flam_flame_chart_parent_class)->dispose (object);
}

static guint
new_signal (const char *name)
{
  return g_signal_new (name,
                       FLAM_TYPE_FLAME_CHART,
                       G_SIGNAL_RUN_LAST,
                       0,
                       NULL,
                       NULL,
                       NULL,
                       G_TYPE_NONE,
                       1,
                       G_TYPE_UINT);
}

static void
flam_flame_chart_class_init (FlamFlameChartClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = flam_flame_chart_dispose;
  widget_class->measure = flam_flame_chart_measure;
  widget_class->size_allocate = flam_flame_chart_size_allocate;
  widget_class->snapshot = flam_flame_chart_snapshot;
  widget_class->css_changed = flam_flame_chart_css_changed;
  span_selected = new_signal ("span-selected");
  new_signal ("span-activated");
  g_signal_new ("context-menu",
                FLAM_TYPE_FLAME_CHART,
                G_SIGNAL_RUN_LAST,
                0,
                NULL,
                NULL,
                NULL,
                G_TYPE_NONE,
                3,
                G_TYPE_UINT,
                G_TYPE_DOUBLE,
                G_TYPE_DOUBLE);
  gtk_widget_class_set_css_name (widget_class, "flamechart");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
flam_flame_chart_init (FlamFlameChart *self)
{
  GtkWidget *widget = GTK_WIDGET (self);

  self->selected = self->hovered = G_MAXUINT;
  self->to = 1;
  self->palette_mode = FLAM_PALETTE_CODE;
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_has_tooltip (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);
  flam_flame_chart_take_input (self);
  g_signal_connect_object (adw_style_manager_get_default (),
                           "notify::dark",
                           G_CALLBACK (restyle),
                           self,
                           G_CONNECT_SWAPPED);
  announce (self);
}
