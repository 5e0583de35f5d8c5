/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-overview-private.h"

#include <glib/gi18n.h>
#include <math.h>

#include "flam-accent.h"
#include "flam-core-picture.h"

#define HEIGHT 64
#define HANDLE 6.0   /* pixels around an edge in which it can be grabbed */
#define LEAST 2.0    /* pixels: a shorter drag is a click */
#define THROTTLE 100 /* ms */

G_DEFINE_FINAL_TYPE (FlamOverview, flam_overview, GTK_TYPE_WIDGET)

enum
{
  RANGE_CHANGED,
  PEAK_ACTIVATED,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

/* --- range --------------------------------------------------------------- */

gboolean
flam_overview_has_range (FlamOverview *self)
{
  return self->from != G_MININT64 || self->to != G_MAXINT64;
}

double
flam_overview_pixel_of (FlamOverview *self, gint64 time)
{
  return flam_timeline_fraction_of (self->timeline, time) *
         gtk_widget_get_width (GTK_WIDGET (self));
}

static gint64
time_at (FlamOverview *self, double x)
{
  int width = gtk_widget_get_width (GTK_WIDGET (self));

  return flam_timeline_time_of (self->timeline, width > 0 ? x / width : 0);
}

static void
announce (FlamOverview *self)
{
  g_autofree char *label = NULL;

  if (self->timeline == NULL || !flam_overview_has_range (self))
    label = g_strdup (_ ("Overview, whole time"));
  else
    {
      g_autofree char *from = flam_format_value (self->from, FLAM_UNIT_NS);
      g_autofree char *to = flam_format_value (self->to, FLAM_UNIT_NS);

      /* Translators: two times */
      label = g_strdup_printf (_ ("Overview, from %s to %s"), from, to);
    }
  gtk_accessible_update_property (
      GTK_ACCESSIBLE (self), GTK_ACCESSIBLE_PROPERTY_LABEL, label, -1);
}

static void
tell (FlamOverview *self)
{
  g_clear_handle_id (&self->throttle, g_source_remove);
  if (self->from == self->told_from && self->to == self->told_to)
    return;
  self->told_from = self->from;
  self->told_to = self->to;
  announce (self);
  g_signal_emit (self, signals[RANGE_CHANGED], 0, self->from, self->to);
}

static gboolean
tell_now (gpointer data)
{
  FlamOverview *self = data;

  self->throttle = 0;
  tell (self);
  return G_SOURCE_REMOVE;
}

static void
tell_soon (FlamOverview *self)
{
  if (self->throttle == 0)
    self->throttle = g_timeout_add (THROTTLE, tell_now, self);
}

static void
change_range (FlamOverview *self, gint64 from, gint64 to)
{
  if (from <= self->timeline->start && to >= self->timeline->end)
    {
      from = G_MININT64;
      to = G_MAXINT64;
    }
  self->from = from;
  self->to = to;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

void
flam_overview_set_range (FlamOverview *self, gint64 from, gint64 to)
{
  g_return_if_fail (FLAM_IS_OVERVIEW (self));
  if (self->grab != FLAM_GRAB_NONE || (from == self->from && to == self->to))
    return;
  self->from = self->told_from = from;
  self->to = self->told_to = to;
  announce (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

FlamTimeline *
flam_overview_get_timeline (FlamOverview *self)
{
  g_return_val_if_fail (FLAM_IS_OVERVIEW (self), NULL);
  return self->timeline;
}

void
flam_overview_set_timeline (FlamOverview *self, FlamTimeline *timeline)
{
  g_return_if_fail (FLAM_IS_OVERVIEW (self));
  if (timeline != NULL)
    flam_timeline_ref (timeline);
  g_clear_pointer (&self->timeline, flam_timeline_unref);
  self->timeline = timeline;
  g_clear_pointer (&self->curve, gsk_render_node_unref);
  announce (self);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

/* --- pointer ------------------------------------------------------------- */

static FlamGrab
grab_at (FlamOverview *self, double x)
{
  double from, to;

  if (!flam_overview_has_range (self))
    return FLAM_GRAB_NEW;
  from = flam_overview_pixel_of (self, self->from);
  to = flam_overview_pixel_of (self, self->to);
  if (fabs (x - from) <= HANDLE && fabs (x - from) <= fabs (x - to))
    return FLAM_GRAB_FROM;
  if (fabs (x - to) <= HANDLE)
    return FLAM_GRAB_TO;
  return x > from && x < to ? FLAM_GRAB_RANGE : FLAM_GRAB_NEW;
}

static gboolean
is_peak (FlamOverview *self, double x, double y)
{
  graphene_point_t point = GRAPHENE_POINT_INIT ((float)x, (float)y);

  return graphene_rect_contains_point (&self->peak, &point);
}

static void
update_cursor (FlamOverview *self, double x, double y)
{
  static const char *const names[] = {
    [FLAM_GRAB_NONE] = "default",   [FLAM_GRAB_NEW] = "text",
    [FLAM_GRAB_FROM] = "ew-resize", [FLAM_GRAB_TO] = "ew-resize",
    [FLAM_GRAB_RANGE] = "grab",
  };

  gtk_widget_set_cursor_from_name (GTK_WIDGET (self),
                                   self->timeline == NULL ? NULL
                                   : is_peak (self, x, y)
                                       ? "pointer"
                                       : names[grab_at (self, x)]);
}

static void
on_drag_begin (GtkGestureDrag *drag, double x, double y, FlamOverview *self)
{
  if (self->timeline == NULL)
    return;
  gtk_widget_grab_focus (GTK_WIDGET (self));
  self->grab = grab_at (self, x);
  self->grab_x = x;
  self->grab_y = y;
  self->grab_from = flam_overview_has_range (self)
                        ? flam_overview_pixel_of (self, self->from)
                        : x;
  self->grab_to = flam_overview_has_range (self)
                      ? flam_overview_pixel_of (self, self->to)
                      : x;
  gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_CLAIMED);
}

static void
drag_to (FlamOverview *self, double dx)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double from = self->grab_from, to = self->grab_to, swap;

  switch (self->grab)
    {
    case FLAM_GRAB_NEW:
      from = self->grab_x;
      to = self->grab_x + dx;
      break;
    case FLAM_GRAB_FROM:
      from += dx;
      break;
    case FLAM_GRAB_TO:
      to += dx;
      break;
    case FLAM_GRAB_RANGE:
      dx = CLAMP (dx, -from, width - to);
      from += dx;
      to += dx;
      break;
    case FLAM_GRAB_NONE:
      return;
    }
  if (from > to)
    {
      swap = from;
      from = to;
      to = swap;
    }
  if (to - from < LEAST)
    return;
  change_range (self, time_at (self, from), time_at (self, to));
  tell_soon (self);
}

static void
on_drag_update (GtkGestureDrag *drag, double dx, double dy, FlamOverview *self)
{
  if (self->timeline != NULL)
    drag_to (self, dx);
}

/* A click outside of the range removes it. */
static void
on_drag_end (GtkGestureDrag *drag, double dx, double dy, FlamOverview *self)
{
  if (self->timeline == NULL)
    return;
  if (fabs (dx) < LEAST && is_peak (self, self->grab_x, self->grab_y))
    g_signal_emit (self, signals[PEAK_ACTIVATED], 0);
  else if (self->grab == FLAM_GRAB_NEW && fabs (dx) < LEAST)
    change_range (self, G_MININT64, G_MAXINT64);
  self->grab = FLAM_GRAB_NONE;
  tell (self);
}

static void
on_pressed (
    GtkGestureClick *click, int n_press, double x, double y, FlamOverview *self)
{
  if (n_press != 2 || self->timeline == NULL || is_peak (self, x, y))
    return;
  change_range (self, G_MININT64, G_MAXINT64);
  self->grab = FLAM_GRAB_NONE;
  tell (self);
}

static void
on_motion (GtkEventControllerMotion *motion,
           double x,
           double y,
           FlamOverview *self)
{
  self->pointer = x;
  update_cursor (self, x, y);
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
on_leave (GtkEventControllerMotion *motion, FlamOverview *self)
{
  self->pointer = -1;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static gboolean
on_query_tooltip (GtkWidget *widget,
                  int x,
                  int y,
                  gboolean by_keyboard,
                  GtkTooltip *tooltip,
                  gpointer data)
{
  FlamOverview *self = FLAM_OVERVIEW (widget);
  const FlamTimeline *timeline = self->timeline;
  double fraction;
  gint64 at;
  guint bucket;
  g_autofree char *time = NULL;
  g_autofree char *value = NULL;
  g_autoptr (GString) text = NULL;

  if (timeline == NULL || by_keyboard || self->grab != FLAM_GRAB_NONE)
    return FALSE;
  fraction = CLAMP ((double)x / MAX (gtk_widget_get_width (widget), 1), 0, 1);
  at = flam_timeline_time_of (timeline, fraction);
  bucket = flam_timeline_bucket_of (timeline, at);
  time = flam_format_value (at, FLAM_UNIT_NS);
  value = flam_format_value (timeline->value[bucket], timeline->unit);
  /* Translators: a time, and the activity at that time */
  text = g_string_new (NULL);
  g_string_printf (text, _ ("at %s: %s"), time, value);
  for (guint i = 0; i < timeline->n_counters; i++)
    if (flam_overview_has_counter (timeline, i))
      {
        g_autofree char *name =
            flam_overview_counter_name (timeline->counters[i].id);
        g_autofree char *also = flam_format_value (
            timeline->counters[i].value[bucket], timeline->counters[i].unit);

        g_string_append_printf (text, ", %s %s", name, also);
      }
  gtk_tooltip_set_text (tooltip, text->str);
  gtk_tooltip_set_tip_area (tooltip, &(GdkRectangle){ x, y, 1, 1 });
  return TRUE;
}

/* --- keys ---------------------------------------------------------------- */

static void
nudge (FlamOverview *self, int direction, GdkModifierType state)
{
  const FlamTimeline *timeline = self->timeline;
  gint64 span = timeline->end - timeline->start;
  gint64 step = MAX (span / 100, 1) * direction;
  gint64 from = MAX (self->from, timeline->start);
  gint64 to = MIN (self->to, timeline->end);

  if (!flam_overview_has_range (self) &&
      !(state & (GDK_SHIFT_MASK | GDK_CONTROL_MASK)))
    {
      from = timeline->start + span * 2 / 5;
      to = timeline->start + span * 3 / 5;
    }
  else if (state & GDK_SHIFT_MASK)
    to = CLAMP (to + step, from + 1, timeline->end);
  else if (state & GDK_CONTROL_MASK)
    from = CLAMP (from + step, timeline->start, to - 1);
  else
    {
      step = CLAMP (step, timeline->start - from, timeline->end - to);
      from += step;
      to += step;
    }
  change_range (self, from, to);
  tell (self);
}

static void
widen (FlamOverview *self, double factor)
{
  const FlamTimeline *timeline = self->timeline;
  gint64 from = MAX (self->from, timeline->start);
  gint64 to = MIN (self->to, timeline->end);
  gint64 middle = from + (to - from) / 2;
  gint64 half = MAX ((gint64)((double)(to - from) / 2 * factor), 1);

  change_range (self,
                MAX (middle - half, timeline->start),
                MIN (middle + half, timeline->end));
  tell (self);
}

static gboolean
on_key (GtkEventControllerKey *keys,
        guint key,
        guint code,
        GdkModifierType state,
        FlamOverview *self)
{
  if (self->timeline == NULL || state & (GDK_ALT_MASK | GDK_SUPER_MASK))
    return FALSE;
  switch (key)
    {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
      nudge (self, -1, state);
      return TRUE;
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
      nudge (self, 1, state);
      return TRUE;
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add:
      widen (self, 0.5);
      return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract:
      widen (self, 2);
      return TRUE;
    case GDK_KEY_Escape:
      if (!flam_overview_has_range (self))
        return FALSE;
      change_range (self, G_MININT64, G_MAXINT64);
      tell (self);
      return TRUE;
    default:
      return FALSE;
    }
}

/* --- the object ---------------------------------------------------------- */

static void
flam_overview_measure (GtkWidget *widget,
                       GtkOrientation orientation,
                       int for_size,
                       int *minimum,
                       int *natural,
                       int *minimum_baseline,
                       int *natural_baseline)
{
  gboolean across = orientation == GTK_ORIENTATION_HORIZONTAL;

  *minimum = across ? 100 : HEIGHT;
  *natural = across ? 600 : HEIGHT;
}

static void
flam_overview_size_allocate (GtkWidget *widget,
                             int width,
                             int height,
                             int baseline)
{
  g_clear_pointer (&FLAM_OVERVIEW (widget)->curve, gsk_render_node_unref);
}

static void
flam_overview_css_changed (GtkWidget *widget, GtkCssStyleChange *change)
{
  GTK_WIDGET_CLASS (flam_overview_parent_class)->css_changed (widget, change);
  g_clear_pointer (&FLAM_OVERVIEW (widget)->curve, gsk_render_node_unref);
}

static void
flam_overview_dispose (GObject *object)
{
  FlamOverview *self = FLAM_OVERVIEW (object);

  g_clear_handle_id (&self->throttle, g_source_remove);
  g_clear_pointer (&self->curve, gsk_render_node_unref);
  g_clear_pointer (&self->timeline, flam_timeline_unref);
  G_OBJECT_CLASS (flam_overview_parent_class)->dispose (object);
}

static void
flam_overview_class_init (FlamOverviewClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->dispose = flam_overview_dispose;
  widget_class->measure = flam_overview_measure;
  widget_class->size_allocate = flam_overview_size_allocate;
  widget_class->css_changed = flam_overview_css_changed;
  widget_class->snapshot = flam_overview_snapshot;
  signals[RANGE_CHANGED] = g_signal_new ("range-changed",
                                         FLAM_TYPE_OVERVIEW,
                                         G_SIGNAL_RUN_LAST,
                                         0,
                                         NULL,
                                         NULL,
                                         NULL,
                                         G_TYPE_NONE,
                                         2,
                                         G_TYPE_INT64,
                                         G_TYPE_INT64);
  signals[PEAK_ACTIVATED] = g_signal_new ("peak-activated",
                                          FLAM_TYPE_OVERVIEW,
                                          G_SIGNAL_RUN_LAST,
                                          0,
                                          NULL,
                                          NULL,
                                          NULL,
                                          G_TYPE_NONE,
                                          0);
  gtk_widget_class_set_css_name (widget_class, "overview");
  gtk_widget_class_set_accessible_role (widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
add_controllers (FlamOverview *self)
{
  GtkWidget *widget = GTK_WIDGET (self);
  GtkGesture *drag = gtk_gesture_drag_new ();
  GtkGesture *click = gtk_gesture_click_new ();
  GtkEventController *motion = gtk_event_controller_motion_new ();
  GtkEventController *keys = gtk_event_controller_key_new ();

  g_signal_connect (drag, "drag-begin", G_CALLBACK (on_drag_begin), self);
  g_signal_connect (drag, "drag-update", G_CALLBACK (on_drag_update), self);
  g_signal_connect (drag, "drag-end", G_CALLBACK (on_drag_end), self);
  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  g_signal_connect (motion, "motion", G_CALLBACK (on_motion), self);
  g_signal_connect (motion, "leave", G_CALLBACK (on_leave), self);
  g_signal_connect (keys, "key-pressed", G_CALLBACK (on_key), self);
  gtk_gesture_group (click, drag);
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (drag));
  gtk_widget_add_controller (widget, GTK_EVENT_CONTROLLER (click));
  gtk_widget_add_controller (widget, motion);
  gtk_widget_add_controller (widget, keys);
}

static void
flam_overview_init (FlamOverview *self)
{
  self->from = self->told_from = G_MININT64;
  self->to = self->told_to = G_MAXINT64;
  self->pointer = -1;
  gtk_widget_set_focusable (GTK_WIDGET (self), TRUE);
  gtk_widget_set_has_tooltip (GTK_WIDGET (self), TRUE);
  g_signal_connect (
      self, "notify::has-focus", G_CALLBACK (gtk_widget_queue_draw), NULL);
  g_signal_connect (self, "query-tooltip", G_CALLBACK (on_query_tooltip), NULL);
  flam_accent_watch (G_OBJECT (self), G_CALLBACK (gtk_widget_queue_draw));
  add_controllers (self);
  announce (self);
}

GtkWidget *
flam_overview_new (void)
{
  return g_object_new (FLAM_TYPE_OVERVIEW, NULL);
}
