/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-chart-private.h"

#include "flam-format.h"

#include <adwaita.h>
#include <glib/gi18n.h>
#include <math.h>

#define WHEEL_FACTOR 0.8
#define KEY_FACTOR 0.7
#define NARROWEST_NS 10.0 /* across the view */

enum
{
  SPAN_SELECTED,
  SPAN_ACTIVATED,
  CONTEXT_MENU,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

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

FlamChartView
flam_flame_chart_view (FlamFlameChart *self)
{
  double row = row_height (self);
  double all = gtk_widget_get_height (GTK_WIDGET (self));
  double top = self->vadjustment != NULL
                   ? gtk_adjustment_get_value (self->vadjustment)
                   : 0;
  double page = self->vadjustment != NULL
                    ? gtk_adjustment_get_page_size (self->vadjustment)
                    : all;

  return (FlamChartView){
    .width = MAX (gtk_widget_get_width (GTK_WIDGET (self)), 1),
    .from = self->from,
    .to = self->to,
    .top = floor (top),
    .height = MAX (page - FLAM_CHART_RULER, 1),
    .row_height = row,
    .head_height = row + 4,
    .state_height = 5,
    .counter_height = 36,
    .gap = 6,
  };
}

const FlamChartLayout *
flam_flame_chart_layout (FlamFlameChart *self)
{
  FlamChartView view = flam_flame_chart_view (self);

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

static void
scroll_to (FlamFlameChart *self, guint span)
{
  FlamChartView view = flam_flame_chart_view (self);
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
  look_at (self, (double)one->from - length, (double)one->to + length);
  scroll_to (self, span);
  flam_flame_chart_select (self, span);
}

/* --- what is selected ----------------------------------------------------- */

FlamId
flam_flame_chart_node_of (FlamFlameChart *self, guint span)
{
  FlamShownKey key;
  guint32 row;
  guint lane = flam_chart_lane_of (self->chart, span, &row);

  if (self->chart->lanes[lane].kind != FLAM_LANE_THREAD ||
      (self->chart->lanes[lane].is_states && row == 0))
    return 0;
  key = flam_shown_key (
      self->chart->profile, self->chart->by, self->chart->spans[span].what);
  return key.thing < self->n_things ? self->node_of[key.thing] : 0;
}

char *
flam_flame_chart_describe (FlamFlameChart *self, guint span)
{
  const FlamChartSpan *one;
  const FlamChartLane *lane;
  g_autofree char *length = NULL;
  g_autofree char *from = NULL;
  guint32 row;
  const char *name;

  g_return_val_if_fail (FLAM_IS_FLAME_CHART (self), NULL);
  if (self->chart == NULL || span >= self->chart->n_spans)
    return g_strdup (_ ("Flame chart"));
  one = &self->chart->spans[span];
  lane = &self->chart->lanes[flam_chart_lane_of (self->chart, span, &row)];
  name = lane->is_states && row == 0
             ? _ (flam_state_to_title (one->what))
             : flam_chart_name (self->chart, lane, span);
  length = flam_format_value (one->to - one->from, FLAM_UNIT_NS);
  from = flam_format_value (one->from, FLAM_UNIT_NS);
  /* Translators: a function, how long its call was, and when it began */
  return g_strdup_printf (_ ("%s, %s, from %s on"), name, length, from);
}

static void
announce (FlamFlameChart *self)
{
  g_autofree char *text = flam_flame_chart_describe (self, self->selected);

  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

guint
flam_flame_chart_get_selected (FlamFlameChart *self)
{
  return self->selected;
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
  g_signal_emit (self, signals[SPAN_SELECTED], 0, span);
}

/* --- pointer -------------------------------------------------------------- */

static const FlamChartBox *
box_at (FlamFlameChart *self, double x, double y)
{
  const FlamChartLayout *layout;

  if (self->chart == NULL)
    return NULL;
  layout = flam_flame_chart_layout (self);
  y -= layout->view.top + FLAM_CHART_RULER;
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
    flam_flame_chart_select (self, span_at (self, x, y));
  else if (n_press == 2 && box != NULL)
    {
      flam_flame_chart_go_to (self, box->span);
      g_signal_emit (self, signals[SPAN_ACTIVATED], 0, box->span);
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
  flam_flame_chart_select (self, span);
  g_signal_emit (self, signals[CONTEXT_MENU], 0, span, x, y);
}

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, FlamFlameChart *self)
{
  self->drag_from = self->from;
}

/* The widget itself moves with what is scrolled, and its coordinates do. */
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
      by_keyboard || self->dragging ? NULL : box_at (self, x, y);
  g_autofree char *text = NULL;

  if (box == NULL)
    return FALSE;
  if (box->flags & FLAM_CHART_BOX_STRIP)
    text = g_strdup (_ ("Calls too short to draw: click to zoom in"));
  else
    text = flam_flame_chart_describe (self, box->span);
  gtk_tooltip_set_text (tooltip, text);
  gtk_tooltip_set_tip_area (tooltip, &(GdkRectangle){ x, y, 1, 1 });
  return TRUE;
}

/* --- keys ----------------------------------------------------------------- */

/* The span of a lane's row that holds a time, or the next one; G_MAXUINT. */
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

/* Up, down: the caller, what it called first; left, right: the call before
 * and after it in its row. */
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
  scroll_to (self, selected);
  flam_flame_chart_select (self, selected);
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

/* --- object --------------------------------------------------------------- */

static void
restyle (FlamFlameChart *self)
{
  g_clear_pointer (&self->palette, flam_palette_free);
  if (self->chart != NULL)
    self->palette = flam_palette_new (
        self->chart->profile,
        FLAM_PALETTE_CODE,
        adw_style_manager_get_dark (adw_style_manager_get_default ()));
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* The heaviest node of each thing. */
static void
index_nodes (FlamFlameChart *self)
{
  const FlamTree *tree = self->tree;

  g_clear_pointer (&self->node_of, g_free);
  self->n_things = 0;
  if (tree == NULL)
    return;
  self->n_things = MAX (tree->profile->functions.n, tree->profile->modules.n);
  self->n_things = MAX (self->n_things, flam_profile_n_strings (tree->profile));
  self->node_of = g_new0 (FlamId, self->n_things + 1);
  for (FlamId i = 1; i < tree->n; i++)
    {
      FlamId *node;

      if (tree->function[i] >= self->n_things || flam_tree_is_thread (tree, i))
        continue;
      node = &self->node_of[tree->function[i]];
      if (*node == 0 || tree->total[i] > tree->total[*node])
        *node = i;
    }
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
  if (tree != NULL)
    flam_tree_ref (tree);
  g_clear_pointer (&self->chart, flam_chart_unref);
  g_clear_pointer (&self->tree, flam_tree_unref);
  self->chart = chart;
  self->tree = tree;
  self->hovered = self->selected = G_MAXUINT;
  if (chart != NULL && !same)
    {
      self->from = (double)chart->from;
      self->to = (double)chart->to;
    }
  index_nodes (self);
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
  FlamChartView view = flam_flame_chart_view (self);
  double height = FLAM_CHART_RULER;

  if (self->chart != NULL)
    height += flam_chart_height (self->chart, &view);
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
flam_flame_chart_dispose (GObject *object)
{
  FlamFlameChart *self = FLAM_FLAME_CHART (object);

  g_clear_object (&self->vadjustment);
  g_clear_pointer (&self->layout, flam_chart_layout_free);
  g_clear_pointer (&self->palette, flam_palette_free);
  g_clear_pointer (&self->chart, flam_chart_unref);
  g_clear_pointer (&self->tree, flam_tree_unref);
  g_clear_pointer (&self->node_of, g_free);
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
  signals[SPAN_SELECTED] = new_signal ("span-selected");
  signals[SPAN_ACTIVATED] = new_signal ("span-activated");
  signals[CONTEXT_MENU] = g_signal_new ("context-menu",
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
add_click (FlamFlameChart *self, guint button, const char *signal, GCallback f)
{
  GtkGesture *click = gtk_gesture_click_new ();

  gtk_gesture_single_set_button (GTK_GESTURE_SINGLE (click), button);
  g_signal_connect (click, signal, f, self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
}

static void
flam_flame_chart_init (FlamFlameChart *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkEventController *scroll =
      gtk_event_controller_scroll_new (GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);

  self->selected = self->hovered = G_MAXUINT;
  self->to = 1;
  gtk_widget_set_focusable (widget, TRUE);
  gtk_widget_set_has_tooltip (widget, TRUE);
  gtk_widget_set_overflow (widget, GTK_OVERFLOW_HIDDEN);
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
  g_signal_connect_object (adw_style_manager_get_default (),
                           "notify::dark",
                           G_CALLBACK (restyle),
                           self,
                           G_CONNECT_SWAPPED);
  announce (self);
}
