/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-chart.h"

#include "flam-core-picture.h"
#include "flam-draw.h"
#include "flam-snapshot-image.h"
#include "flam-user-colors.h"
#include "flam-widget.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#define NARROWEST_NS 10.0 /* across the view */
#define WHEEL_FACTOR 0.8
#define KEY_FACTOR 0.7

struct _FlamFlameChart
{
  GtkWidget parent_instance;

  FlamChart *chart;
  FlamChartNodes *nodes; /* NULL: no chart */
  FlamPaletteMode palette_mode;
  FlamPalette *palette;
  FlamColorRules *rules; /* or NULL */
  FlamDraw *draw;        /* NULL: not made yet */
  double from, to;
  GtkAdjustment *vadjustment;
  FlamChartLayout *layout; /* of the visible part; NULL: not made yet */
  guint selected, hovered;
  double pointer_x, pointer_y;
  double drag_from;
  gboolean dragging;
};

static guint span_selected;

G_DEFINE_FINAL_TYPE (FlamFlameChart, flam_flame_chart, GTK_TYPE_WIDGET)

/* --- view ----------------------------------------------------------------- */

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

static FlamChartView
chart_view (FlamFlameChart *self)
{
  FlamChartView view;
  double row = flam_draw_row_height (get_draw (self));
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

static const FlamChartLayout *
layout_of (FlamFlameChart *self)
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

static void
look_at (FlamFlameChart *self, double from, double to)
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

static void
show_span (FlamFlameChart *self, guint span)
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

/* --- selection ------------------------------------------------------------ */

FlamId
flam_flame_chart_node_of (FlamFlameChart *self, guint span)
{
  return self->nodes != NULL
             ? flam_chart_nodes_of (self->nodes, self->chart, span)
             : 0;
}

/* "escape_time, 12.3 ms, from 1.2 s on"; g_free. */
static char *
describe (FlamFlameChart *self, guint span)
{
  const FlamChartSpan *one;
  const FlamChartLane *lane;
  g_autofree char *length = NULL;
  g_autofree char *from = NULL;
  guint32 row;
  g_autofree char *name = NULL;

  if (self->chart == NULL || span >= self->chart->n_spans)
    return g_strdup (_ ("Chart"));
  one = &self->chart->spans[span];
  lane = &self->chart->lanes[flam_chart_lane_of (self->chart, span, &row)];
  name = lane->is_states && row == 0
             ? g_strdup (_ (flam_state_to_title (one->what)))
             : flam_format_visible (flam_chart_name (self->chart, lane, span));
  length = flam_chart_text (self->chart, one->to - one->from);
  from = flam_chart_text (self->chart, one->from);
  /* Translators: a function, the duration of its call, and its start */
  return g_strdup_printf (_ ("%s, %s, from %s on"), name, length, from);
}

static void
announce (FlamFlameChart *self)
{
  g_autofree char *text = describe (self, self->selected);

  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

/* G_MAXUINT: nothing. */
static void
select_span (FlamFlameChart *self, guint span)
{
  if (self->chart == NULL || span >= self->chart->n_spans)
    span = G_MAXUINT;
  if (span == self->selected)
    return;
  self->selected = span;
  announce (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, span_selected, 0, span);
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
  look_at (self, (double)one->from - length, (double)one->to + length);
  show_span (self, span);
  select_span (self, span);
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

/* --- picture -------------------------------------------------------------- */

/* Drawn as pixels: as drawing operations, tens of thousands of boxes would be
 * stored and drawn one by one. */
static cairo_surface_t *
draw_image (FlamFlameChart *self, int width)
{
  const FlamChartLayout *layout = layout_of (self);
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

static void
flam_flame_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamFlameChart *self = FLAM_FLAME_CHART (widget);
  int width = gtk_widget_get_width (widget);
  g_autoptr (GskRenderNode) node = NULL;
  const FlamChartView *view;
  cairo_surface_t *image;

  if (self->chart == NULL || self->nodes == NULL || width <= 0)
    return;
  view = &layout_of (self)->view;
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

/* --- view ----------------------------------------------------------------- */

static void
zoom_by (FlamFlameChart *self, double x, double factor)
{
  double width = MAX (gtk_widget_get_width (GTK_WIDGET (self)), 1);
  double span = (self->to - self->from) * factor;
  double at = self->from + (self->to - self->from) * x / width;

  look_at (self, at - span * x / width, at - span * x / width + span);
}

static gboolean
is_whole (FlamFlameChart *self)
{
  return self->to - self->from >=
         (double)(self->chart->to - self->chart->from) * 0.999;
}

/* --- pointer -------------------------------------------------------------- */

static const FlamChartBox *
box_at (FlamFlameChart *self, double x, double y)
{
  const FlamChartLayout *layout;

  if (self->chart == NULL)
    return NULL;
  layout = layout_of (self);
  y -= layout->view.top + FLAM_DRAW_RULER;
  return y < 0 ? NULL : flam_chart_layout_hit (layout, x, y);
}

static guint
span_at (FlamFlameChart *self, double x, double y)
{
  const FlamChartBox *box = box_at (self, x, y);

  return box == NULL || box->flags & FLAM_CHART_BOX_STRIP ? G_MAXUINT
                                                          : box->span;
}

static void
on_motion (GtkEventControllerMotion *controller,
           double x,
           double y,
           FlamFlameChart *self)
{
  guint hovered = span_at (self, x, y);

  self->pointer_x = x;
  self->pointer_y = y;
  if (hovered == self->hovered)
    return;
  self->hovered = hovered;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
on_leave (GtkEventControllerMotion *controller, FlamFlameChart *self)
{
  self->hovered = G_MAXUINT;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
on_released (GtkGestureClick *click,
             int n_press,
             double x,
             double y,
             FlamFlameChart *self)
{
  const FlamChartBox *box = box_at (self, x, y);

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (box != NULL && box->flags & FLAM_CHART_BOX_STRIP)
    zoom_by (self, x, 0.1);
  else if (n_press == 1)
    select_span (self, span_at (self, x, y));
  else if (n_press == 2 && box != NULL)
    {
      flam_flame_chart_go_to (self, box->span);
      g_signal_emit_by_name (self, "span-activated", box->span);
    }
}

static void
on_secondary (GtkGestureClick *click,
              int n_press,
              double x,
              double y,
              FlamFlameChart *self)
{
  guint span = span_at (self, x, y);

  gtk_gesture_set_state (GTK_GESTURE (click), GTK_EVENT_SEQUENCE_CLAIMED);
  if (span == G_MAXUINT)
    return;
  select_span (self, span);
  g_signal_emit_by_name (self, "context-menu", span, x, y);
}

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, FlamFlameChart *self)
{
  self->drag_from = self->from;
}

/* Scrolling moves the widget itself, and with it the coordinates. */
static void
on_drag_update (GtkGestureDrag *drag,
                double dx,
                double dy,
                FlamFlameChart *self)
{
  double width = MAX (gtk_widget_get_width (GTK_WIDGET (self)), 1);
  double span = self->to - self->from;

  if (self->chart == NULL)
    return;
  if (!self->dragging &&
      !gtk_drag_check_threshold (GTK_WIDGET (self), 0, 0, (int)dx, (int)dy))
    return;
  gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_CLAIMED);
  self->dragging = TRUE;
  look_at (self,
           self->drag_from - dx / width * span,
           self->drag_from - dx / width * span + span);
}

static void
on_drag_end (GtkGestureDrag *drag, double dx, double dy, FlamFlameChart *self)
{
  self->dragging = FALSE;
}

static gboolean
on_scroll (GtkEventControllerScroll *controller,
           double dx,
           double dy,
           FlamFlameChart *self)
{
  GdkModifierType state = gtk_event_controller_get_current_event_state (
      GTK_EVENT_CONTROLLER (controller));
  double span = self->to - self->from;

  if (self->chart == NULL)
    return FALSE;
  if (state & GDK_CONTROL_MASK)
    {
      zoom_by (self, self->pointer_x, pow (WHEEL_FACTOR, -dy));
      return TRUE;
    }
  if (state & GDK_SHIFT_MASK && dx == 0)
    dx = dy;
  else if (dx == 0)
    return FALSE;
  look_at (
      self, self->from + dx * span * 0.1, self->from + dx * span * 0.1 + span);
  return TRUE;
}

static gboolean
on_query_tooltip (GtkWidget *widget,
                  int x,
                  int y,
                  gboolean by_keyboard,
                  GtkTooltip *tooltip,
                  gpointer data)
{
  FlamFlameChart *self = FLAM_FLAME_CHART (widget);
  const FlamChartBox *box =
      by_keyboard || self->dragging || flam_widget_is_below_menu (widget)
          ? NULL
          : box_at (self, x, y);
  g_autofree char *text = NULL;

  if (box == NULL)
    return FALSE;
  if (box->flags & FLAM_CHART_BOX_STRIP)
    text = g_strdup (_ ("Calls too short to draw: click to zoom in"));
  else
    text = describe (self, box->span);
  gtk_tooltip_set_text (tooltip, text);
  gtk_tooltip_set_tip_area (tooltip, &(GdkRectangle){ x, y, 1, 1 });
  return TRUE;
}

/* --- keys ----------------------------------------------------------------- */

/* The span in a lane's row at a time, or the next one; G_MAXUINT. */
static guint
span_of (FlamFlameChart *self, guint lane, guint32 row, gint64 time)
{
  const FlamChart *chart = self->chart;
  guint32 at = chart->lanes[lane].first_row + row;

  for (guint32 i = chart->row[at]; i < chart->row[at + 1]; i++)
    if (chart->spans[i].to > time)
      return i;
  return G_MAXUINT;
}

static guint
first_span (FlamFlameChart *self)
{
  const FlamChart *chart = self->chart;

  for (guint l = 0; l < chart->n_lanes; l++)
    if (chart->lanes[l].kind == FLAM_LANE_THREAD &&
        chart->lanes[l].n_rows > (chart->lanes[l].is_states ? 1u : 0u))
      return span_of (
          self, l, chart->lanes[l].is_states ? 1 : 0, (gint64)self->from);
  return G_MAXUINT;
}

/* Up, down: the caller, the first callee; left, right: the previous and next
 * call in the row. */
static void
walk (FlamFlameChart *self, int down, int right)
{
  const FlamChart *chart = self->chart;
  guint selected = self->selected;
  const FlamChartLane *lane;
  guint32 row;
  guint at;

  if (selected == G_MAXUINT)
    selected = first_span (self);
  else
    {
      at = flam_chart_lane_of (chart, selected, &row);
      lane = &chart->lanes[at];
      if (down < 0 && row > (lane->is_states ? 1u : 0u))
        selected = span_of (self, at, row - 1, chart->spans[selected].from);
      else if (down > 0 && row + 1 < lane->n_rows)
        selected = span_of (self, at, row + 1, chart->spans[selected].from);
      else if (right < 0 && selected > chart->row[lane->first_row + row])
        selected--;
      else if (right > 0 &&
               selected + 1 < chart->row[lane->first_row + row + 1])
        selected++;
    }
  if (selected == G_MAXUINT)
    return;
  if ((double)chart->spans[selected].from >= self->to ||
      (double)chart->spans[selected].to <= self->from)
    look_at (self,
             (double)chart->spans[selected].from - (self->to - self->from) / 2,
             (double)chart->spans[selected].from + (self->to - self->from) / 2);
  show_span (self, selected);
  select_span (self, selected);
}

static gboolean
on_key (GtkEventControllerKey *keys,
        guint key,
        guint code,
        GdkModifierType state,
        FlamFlameChart *self)
{
  double middle = gtk_widget_get_width (GTK_WIDGET (self)) / 2.0;

  if (self->chart == NULL ||
      state & (GDK_ALT_MASK | GDK_SUPER_MASK | GDK_CONTROL_MASK))
    return FALSE;
  switch (key)
    {
    case GDK_KEY_Up:
      walk (self, -1, 0);
      return TRUE;
    case GDK_KEY_Down:
      walk (self, 1, 0);
      return TRUE;
    case GDK_KEY_Left:
      walk (self, 0, -1);
      return TRUE;
    case GDK_KEY_Right:
      walk (self, 0, 1);
      return TRUE;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
      flam_flame_chart_go_to (self, self->selected);
      return TRUE;
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add:
      zoom_by (self, middle, KEY_FACTOR);
      return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract:
      zoom_by (self, middle, 1 / KEY_FACTOR);
      return TRUE;
    case GDK_KEY_Home:
      look_at (self, (double)self->chart->from, (double)self->chart->to);
      return TRUE;
    case GDK_KEY_Escape:
    case GDK_KEY_BackSpace:
      if (is_whole (self))
        return FALSE;
      look_at (self, (double)self->chart->from, (double)self->chart->to);
      return TRUE;
    default:
      return FALSE;
    }
}

/* --- controllers ---------------------------------------------------------- */

static void
add_click (FlamFlameChart *self, guint button, const char *signal, GCallback f)
{
  GtkGesture *click = gtk_gesture_click_new ();

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), button);
  g_signal_connect (click, signal, f, self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
}

static void
take_input (FlamFlameChart *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkEventController *scroll =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);

  add_click (self, GDK_BUTTON_PRIMARY, "released", G_CALLBACK (on_released));
  add_click (self, GDK_BUTTON_SECONDARY, "pressed", G_CALLBACK (on_secondary));
  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (on_drag_end), self);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  g_signal_connect (scroll, "scroll", G_CALLBACK (on_scroll), self);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (on_query_tooltip), NULL);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, keys);
  gtk_widget_add_controller (widget, scroll);
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
  take_input (self);
  g_signal_connect_object (adw_style_manager_get_default (),
                           "notify::dark",
                           G_CALLBACK (restyle),
                           self,
                           G_CONNECT_SWAPPED);
  announce (self);
}
