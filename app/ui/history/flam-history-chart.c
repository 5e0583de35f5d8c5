/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-history-chart-private.h"

#include "flam-history-words.h"
#include "flam-widget.h"

#include <glib/gi18n.h>
#include <math.h>

#define NEAR 24.0 /* pixels: the largest distance to hit a point */

enum
{
  CURRENT_CHANGED,
  OPEN,
  COMPARE,
  N_SIGNALS
};

static guint signals[N_SIGNALS];

static const FlamHistorySpot nowhere = { FLAM_HISTORY_NONE, 0 };

G_DEFINE_FINAL_TYPE (FlamHistoryChart, flam_history_chart, GTK_TYPE_WIDGET)

/* --- points --------------------------------------------------------------- */

static gboolean
is_spot (FlamHistorySpot spot)
{
  return spot.series != FLAM_HISTORY_NONE;
}

static const FlamPlotPoint *
point_of (FlamHistoryChart *self, FlamHistorySpot spot)
{
  return &self->plot->series[spot.series].points[spot.point];
}

static guint
capture_of (FlamHistoryChart *self, FlamHistorySpot spot)
{
  return is_spot (spot) ? point_of (self, spot)->capture : FLAM_HISTORY_NONE;
}

static FlamHistorySpot
spot_of (FlamHistoryChart *self, guint capture)
{
  for (guint s = 0; self->plot != NULL && s < self->plot->n; s++)
    for (guint p = 0; p < self->plot->series[s].n; p++)
      if (self->plot->series[s].points[p].capture == capture)
        return (FlamHistorySpot){ s, p };
  return nowhere;
}

graphene_point_t
flam_history_chart_place (FlamHistoryChart *self, FlamHistorySpot spot)
{
  const FlamPlotPoint *point = point_of (self, spot);
  double width =
      gtk_widget_get_width (GTK_WIDGET (self)) - 2 * FLAM_HISTORY_SIDE;
  double height = gtk_widget_get_height (GTK_WIDGET (self)) -
                  FLAM_HISTORY_HEAD - FLAM_HISTORY_FOOT;
  double share =
      (double)point->value / (double)MAX (flam_plot_top (self->plot), 1);

  return GRAPHENE_POINT_INIT (
      (float)(FLAM_HISTORY_SIDE +
              width * flam_plot_place (self->plot, point->capture)),
      (float)(FLAM_HISTORY_HEAD + height * (1 - share)));
}

static FlamHistorySpot
nearest (FlamHistoryChart *self, double x, double y)
{
  FlamHistorySpot best = nowhere;
  double least = NEAR * NEAR;

  for (guint s = 0; self->plot != NULL && s < self->plot->n; s++)
    for (guint p = 0; p < self->plot->series[s].n; p++)
      {
        FlamHistorySpot spot = { s, p };
        graphene_point_t at = flam_history_chart_place (self, spot);
        double distance = (at.x - x) * (at.x - x) + (at.y - y) * (at.y - y);

        if (distance < least)
          {
            least = distance;
            best = spot;
          }
      }
  return best;
}

/* --- words ---------------------------------------------------------------- */

static char *
describe (FlamHistoryChart *self, FlamHistorySpot spot, const char *separator)
{
  g_autofree char *text = NULL;
  guint capture = capture_of (self, spot);

  if (!is_spot (spot))
    return g_strdup ("");
  text =
      flam_history_words_point (self->plot, spot.series, spot.point, separator);
  if (capture != self->marked)
    return g_steal_pointer (&text);
  return g_strjoin (
      separator, text, _ ("Marked. Click another one to compare it"), NULL);
}

char *
flam_history_chart_describe (FlamHistoryChart *self)
{
  g_return_val_if_fail (FLAM_IS_HISTORY_CHART (self), NULL);
  return describe (
      self, is_spot (self->hovered) ? self->hovered : self->current, " · ");
}

static void
announce (FlamHistoryChart *self)
{
  g_autofree char *point = describe (self, self->current, ", ");
  g_autofree char *text = *point != '\0'
                              ? g_strdup_printf ("%s: %s", self->title, point)
                              : g_strdup (self->title);

  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, text, -1);
}

static void
changed (FlamHistoryChart *self)
{
  announce (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, signals[CURRENT_CHANGED], 0);
}

/* --- current and marked points -------------------------------------------- */

guint
flam_history_chart_get_current (FlamHistoryChart *self)
{
  g_return_val_if_fail (FLAM_IS_HISTORY_CHART (self), FLAM_HISTORY_NONE);
  return capture_of (self, self->current);
}

void
flam_history_chart_set_current (FlamHistoryChart *self, guint capture)
{
  g_return_if_fail (FLAM_IS_HISTORY_CHART (self));
  if (capture == capture_of (self, self->current))
    return;
  self->current = spot_of (self, capture);
  changed (self);
}

void
flam_history_chart_set_plot (FlamHistoryChart *self,
                             FlamPlot *plot,
                             const char *title)
{
  guint current;

  g_return_if_fail (FLAM_IS_HISTORY_CHART (self));
  current = capture_of (self, self->current);
  if (self->plot != NULL &&
      (plot == NULL || plot->history != self->plot->history))
    current = self->marked = FLAM_HISTORY_NONE;
  g_clear_pointer (&self->plot, flam_plot_free);
  self->plot = plot;
  g_free (self->title);
  self->title = g_strdup (title);
  self->current = spot_of (self, current);
  self->hovered = nowhere;
  changed (self);
}

static void
set_current (FlamHistoryChart *self, FlamHistorySpot spot)
{
  self->current = spot;
  changed (self);
}

/* The first point is marked; the second is compared with it, the earlier one as
 * the baseline. */
static void
choose (FlamHistoryChart *self)
{
  guint capture = capture_of (self, self->current);
  guint marked = self->marked;

  if (capture == FLAM_HISTORY_NONE)
    return;
  self->marked = marked == FLAM_HISTORY_NONE ? capture : FLAM_HISTORY_NONE;
  changed (self);
  if (marked != FLAM_HISTORY_NONE && marked != capture)
    g_signal_emit (self,
                   signals[COMPARE],
                   0,
                   MIN (marked, capture),
                   MAX (marked, capture));
}

static gboolean
unmark (FlamHistoryChart *self)
{
  if (self->marked == FLAM_HISTORY_NONE)
    return FALSE;
  self->marked = FLAM_HISTORY_NONE;
  changed (self);
  return TRUE;
}

static void
open_current (FlamHistoryChart *self)
{
  guint capture = capture_of (self, self->current);

  if (capture != FLAM_HISTORY_NONE)
    g_signal_emit (self, signals[OPEN], 0, capture);
}

/* --- keys ----------------------------------------------------------------- */

static FlamHistorySpot
first_spot (FlamHistoryChart *self)
{
  for (guint s = 0; self->plot != NULL && s < self->plot->n; s++)
    if (self->plot->series[s].n > 0)
      return (FlamHistorySpot){ s, 0 };
  return nowhere;
}

static void
walk (FlamHistoryChart *self, int step)
{
  FlamHistorySpot spot = self->current;
  gint64 to;

  if (!is_spot (spot))
    {
      set_current (self, first_spot (self));
      return;
    }
  to = (gint64)spot.point + step;
  spot.point = (guint)CLAMP (to, 0, self->plot->series[spot.series].n - 1);
  set_current (self, spot);
}

/* The series with the nearest line on that side of the current point, among all
 * points of other series. */
static void
change_series (FlamHistoryChart *self, gboolean up)
{
  FlamHistorySpot best = nowhere;
  graphene_point_t here;
  double least = INFINITY;

  if (!is_spot (self->current))
    {
      set_current (self, first_spot (self));
      return;
    }
  here = flam_history_chart_place (self, self->current);
  for (guint s = 0; s < self->plot->n; s++)
    {
      FlamHistorySpot near = nowhere;
      double width = INFINITY;
      double rise;

      for (guint p = 0;
           p < self->plot->series[s].n && s != self->current.series;
           p++)
        {
          FlamHistorySpot spot = { s, p };
          double off = fabs (flam_history_chart_place (self, spot).x - here.x);

          if (off < width)
            {
              width = off;
              near = spot;
            }
        }
      if (!is_spot (near))
        continue;
      rise = here.y - flam_history_chart_place (self, near).y;
      /* Points at the same height are ordered by index. */
      if (rise == 0)
        rise = s < self->current.series ? 0.01 : -0.01;
      rise = up ? rise : -rise;
      if (rise > 0 && rise < least)
        {
          least = rise;
          best = near;
        }
    }
  if (is_spot (best))
    set_current (self, best);
}

static gboolean
on_key (GtkEventControllerKey *keys,
        guint key,
        guint code,
        GdkModifierType state,
        FlamHistoryChart *self)
{
  if (self->plot == NULL || self->plot->n_points == 0 ||
      state & (GDK_ALT_MASK | GDK_SUPER_MASK | GDK_CONTROL_MASK))
    return FALSE;
  switch (key)
    {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      walk (self, -1);
      return TRUE;
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      walk (self, 1);
      return TRUE;
    case GDK_KEY_Home:
    case GDK_KEY_KP_Home:
      walk (self, G_MININT);
      return TRUE;
    case GDK_KEY_End:
    case GDK_KEY_KP_End:
      walk (self, G_MAXINT);
      return TRUE;
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
      change_series (self, TRUE);
      return TRUE;
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
      change_series (self, FALSE);
      return TRUE;
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
      open_current (self);
      return TRUE;
    case GDK_KEY_space:
      choose (self);
      return TRUE;
    case GDK_KEY_Escape:
      return unmark (self);
    default:
      return FALSE;
    }
}

/* The focus begins at the last capture, which is usually the most
 * interesting. */
static void
on_focus (GtkEventControllerFocus *focus, FlamHistoryChart *self)
{
  FlamHistorySpot spot = first_spot (self);

  if (!is_spot (self->current) && is_spot (spot))
    {
      spot.point = self->plot->series[spot.series].n - 1;
      set_current (self, spot);
    }
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
on_unfocus (GtkEventControllerFocus *focus, FlamHistoryChart *self)
{
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- pointer -------------------------------------------------------------- */

/* The second click of a double click opens the capture that the first one
 * marked. */
static void
on_pressed (GtkGestureClick *click,
            int n_press,
            double x,
            double y,
            FlamHistoryChart *self)
{
  FlamHistorySpot spot = nearest (self, x, y);

  gtk_widget_grab_focus (GTK_WIDGET (self));
  if (!is_spot (spot))
    return;
  set_current (self, spot);
  choose (self);
  if (n_press == 2)
    open_current (self);
}

static void
hover (FlamHistoryChart *self, FlamHistorySpot spot)
{
  if (spot.series == self->hovered.series && spot.point == self->hovered.point)
    return;
  self->hovered = spot;
  gtk_widget_queue_draw (GTK_WIDGET (self));
  g_signal_emit (self, signals[CURRENT_CHANGED], 0);
}

static void
on_motion (GtkEventControllerMotion *motion,
           double x,
           double y,
           FlamHistoryChart *self)
{
  hover (self, nearest (self, x, y));
}

static void
on_leave (GtkEventControllerMotion *motion, FlamHistoryChart *self)
{
  hover (self, nowhere);
}

static gboolean
on_query_tooltip (GtkWidget *widget,
                  int x,
                  int y,
                  gboolean by_keyboard,
                  GtkTooltip *tooltip,
                  gpointer data)
{
  FlamHistoryChart *self = FLAM_HISTORY_CHART (widget);
  FlamHistorySpot spot = by_keyboard ? self->current : nearest (self, x, y);
  g_autofree char *text = NULL;
  graphene_point_t at;

  if (!is_spot (spot) || flam_widget_is_below_menu (widget))
    return FALSE;
  text = describe (self, spot, "\n");
  at = flam_history_chart_place (self, spot);
  gtk_tooltip_set_text (tooltip, text);
  gtk_tooltip_set_tip_area (
      tooltip, &(GdkRectangle){ (int)at.x - 6, (int)at.y - 6, 12, 12 });
  return TRUE;
}

/* --- the object ----------------------------------------------------------- */

static void
flam_history_chart_measure (GtkWidget *widget,
                            GtkOrientation orientation,
                            int for_size,
                            int *minimum,
                            int *natural,
                            int *minimum_baseline,
                            int *natural_baseline)
{
  gboolean across = orientation == GTK_ORIENTATION_HORIZONTAL;

  *minimum = across ? 200 : 140;
  *natural = across ? 640 : 260;
}

static void
flam_history_chart_finalize (GObject *object)
{
  FlamHistoryChart *self = FLAM_HISTORY_CHART (object);

  g_clear_pointer (&self->plot, flam_plot_free);
  g_free (self->title);
  G_OBJECT_CLASS (flam_history_chart_parent_class)->finalize (object);
}

static guint
add_signal (const char *name, guint n_params)
{
  return g_signal_new (name,
                       FLAM_TYPE_HISTORY_CHART,
                       G_SIGNAL_RUN_LAST,
                       0,
                       NULL,
                       NULL,
                       NULL,
                       G_TYPE_NONE,
                       n_params,
                       G_TYPE_UINT,
                       G_TYPE_UINT);
}

static void
flam_history_chart_class_init (FlamHistoryChartClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->finalize = flam_history_chart_finalize;
  class->measure = flam_history_chart_measure;
  class->snapshot = flam_history_chart_snapshot;
  signals[CURRENT_CHANGED] = add_signal ("current-changed", 0);
  signals[OPEN] = add_signal ("open", 1);
  signals[COMPARE] = add_signal ("compare", 2);
  gtk_widget_class_set_accessible_role (class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
flam_history_chart_init (FlamHistoryChart *self)
{
  GtkEventController *keys = gtk_event_controller_key_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *focus = gtk_event_controller_focus_new ();
  GtkGesture *click = gtk_gesture_click_new ();

  self->current = self->hovered = nowhere;
  self->marked = FLAM_HISTORY_NONE;
  self->title = g_strdup ("");
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  gtk_widget_set_overflow (GTK_WIDGET (self), GTK_OVERFLOW_HIDDEN);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (on_query_tooltip), NULL);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (focus, "enter", G_CALLBACK (on_focus), self);
  g_signal_connect (focus, "leave", G_CALLBACK (on_unfocus), self);
  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self), keys);
  gtk_widget_add_controller (GTK_WIDGET (self), motion);
  gtk_widget_add_controller (GTK_WIDGET (self), focus);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
}
