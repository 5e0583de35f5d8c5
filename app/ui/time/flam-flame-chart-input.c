/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-chart-private.h"

#include "flam-widget.h"

#include <glib/gi18n.h>
#include <math.h>

#define WHEEL_FACTOR 0.8
#define KEY_FACTOR 0.7

/* --- view ----------------------------------------------------------------- */

static void
zoom_by (FlamFlameChart *self, double x, double factor)
{
  double width = MAX (gtk_widget_get_width (GTK_WIDGET (self)), 1);
  double span = (self->to - self->from) * factor;
  double at = self->from + (self->to - self->from) * x / width;

  flam_flame_chart_look_at (
      self, at - span * x / width, at - span * x / width + span);
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
  layout = flam_flame_chart_layout (self);
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
    flam_flame_chart_select (self, span_at (self, x, y));
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
  flam_flame_chart_select (self, span);
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
  flam_flame_chart_look_at (self,
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
  flam_flame_chart_look_at (
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
    text = flam_flame_chart_describe (self, box->span);
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
    flam_flame_chart_look_at (
        self,
        (double)chart->spans[selected].from - (self->to - self->from) / 2,
        (double)chart->spans[selected].from + (self->to - self->from) / 2);
  flam_flame_chart_show_span (self, selected);
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
      flam_flame_chart_look_at (
          self, (double)self->chart->from, (double)self->chart->to);
      return TRUE;
    case GDK_KEY_Escape:
    case GDK_KEY_BackSpace:
      if (is_whole (self))
        return FALSE;
      flam_flame_chart_look_at (
          self, (double)self->chart->from, (double)self->chart->to);
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

void
flam_flame_chart_take_input (FlamFlameChart *self)
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
