/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-overview.h"

#include <glib/gi18n.h>
#include <math.h>

#include "flam-accent.h"
#include "flam-core-picture.h"
#include "flam-curve.h"

#define HEIGHT 64
#define HANDLE 6.0   /* pixels around an edge in which it can be grabbed */
#define LEAST 2.0    /* pixels: a shorter drag is a click */
#define THROTTLE 100 /* ms */
#define AXIS 16.0    /* room for the times below the curve */

typedef enum
{
  GRAB_NONE,
  GRAB_NEW,
  GRAB_FROM,
  GRAB_TO,
  GRAB_RANGE,
} Grab;

struct _FlamOverview
{
  GtkWidget parent_instance;
  FlamTimeline *timeline;
  GskRenderNode *curve; /* the picture below the selection; NULL: stale */
  gint64 from, to;      /* G_MININT64, G_MAXINT64: all */
  Grab grab;
  double grab_x, grab_y, grab_from, grab_to; /* pixels */
  double pointer;                            /* pixels; < 0: outside */
  graphene_rect_t peak; /* where the peak is written; empty: nowhere */
  guint throttle;
  gint64 told_from, told_to;
};

G_DEFINE_FINAL_TYPE (FlamOverview, flam_overview, GTK_TYPE_WIDGET)

enum
{
  RANGE_CHANGED,
  PEAK_ACTIVATED,
  N_SIGNALS
};
static guint signals[N_SIGNALS];

/* --- range --------------------------------------------------------------- */

static gboolean
has_range (FlamOverview *self)
{
  return self->from != G_MININT64 || self->to != G_MAXINT64;
}

static double
pixel_of (FlamOverview *self, gint64 time)
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

/* --- drawing ------------------------------------------------------------- */

static GdkRGBA
ink_of (FlamOverview *self, float alpha)
{
  GdkRGBA ink;

  gtk_style_context_get_color (gtk_widget_get_style_context (GTK_WIDGET (self)),
                               &ink);
  ink.alpha = alpha;
  return ink;
}

static GdkRGBA
paper_of (FlamOverview *self, float alpha)
{
  float shade = flam_curve_is_dark (GTK_WIDGET (self)) ? 0.12f : 0.98f;

  return (GdkRGBA){ shade, shade, shade, alpha };
}

static PangoLayout *
small_text (FlamOverview *self, const char *text)
{
  PangoLayout *layout =
      gtk_widget_create_pango_layout (GTK_WIDGET (self), text);
  PangoAttrList *attributes = pango_attr_list_new ();

  pango_attr_list_insert (attributes, pango_attr_scale_new (0.78));
  pango_attr_list_insert (attributes, pango_attr_font_features_new ("tnum=1"));
  pango_layout_set_attributes (layout, attributes);
  pango_attr_list_unref (attributes);
  return layout;
}

/* Returns the width. `align`: 0 left of x, 0.5 centered, 1 right of it. */
static double
append_text (FlamOverview *self,
             GtkSnapshot *snapshot,
             const char *text,
             double x,
             double y,
             double align,
             const GdkRGBA *color)
{
  g_autoptr (PangoLayout) layout = small_text (self, text);
  int width, height;
  double room = gtk_widget_get_width (GTK_WIDGET (self));

  pango_layout_get_pixel_size (layout, &width, &height);
  x = CLAMP (x - width * (1 - align), 2, MAX (room - width - 2, 2));
  gtk_snapshot_save (snapshot);
  gtk_snapshot_translate (
      snapshot, &GRAPHENE_POINT_INIT ((float)round (x), (float)round (y)));
  gtk_snapshot_append_layout (snapshot, layout, color);
  gtk_snapshot_restore (snapshot);
  return width;
}

/* Text centered at x, readable over any curve: beside `taken` or, without room,
 * below it; NULL: in the first row. Returns its rectangle. */
static graphene_rect_t
append_badge (FlamOverview *self,
              GtkSnapshot *snapshot,
              const char *text,
              double x,
              const graphene_rect_t *taken,
              const GdkRGBA *paper,
              const GdkRGBA *ink)
{
  g_autoptr (PangoLayout) layout = small_text (self, text);
  double room = gtk_widget_get_width (GTK_WIDGET (self));
  graphene_rect_t bounds;
  GskRoundedRect pill;
  int width, height;

  pango_layout_get_pixel_size (layout, &width, &height);
  x = round (CLAMP (x - width / 2.0, 7, MAX (room - width - 7, 7)));
  bounds = GRAPHENE_RECT_INIT (
      (float)x - 5, 3, (float)width + 10, (float)height + 2);
  if (taken != NULL && graphene_rect_intersection (taken, &bounds, NULL))
    bounds.origin.y = taken->origin.y + taken->size.height + 1;
  gsk_rounded_rect_init_from_rect (&pill, &bounds, (float)(height + 2) / 2);
  gtk_snapshot_push_rounded_clip (snapshot, &pill);
  gtk_snapshot_append_color (snapshot, paper, &bounds);
  gtk_snapshot_pop (snapshot);
  append_text (self, snapshot, text, x, bounds.origin.y + 1, 1, ink);
  return bounds;
}

static void
append_axis (FlamOverview *self, GtkSnapshot *snapshot, double top)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double span = (double)(self->timeline->end - self->timeline->start);
  double step = flam_ticks_step (span, width);
  GdkRGBA line = ink_of (self, 0.18f);
  GdkRGBA text = ink_of (self, 0.72f);

  gtk_snapshot_append_color (
      snapshot, &line, &GRAPHENE_RECT_INIT (0, (float)top, (float)width, 1));
  for (double time = 0; time < span; time += step)
    {
      double x = round (time / span * width);
      g_autofree char *label = flam_ticks_text (time, step);

      gtk_snapshot_append_color (
          snapshot, &line, &GRAPHENE_RECT_INIT ((float)x, (float)top, 1, 4));
      if (x + 40 < width)
        append_text (self, snapshot, label, x + 3, top + 1, 1, &text);
    }
}

/* Whether the curve already shows the heap. */
static gboolean
has_counter (const FlamTimeline *timeline, guint counter)
{
  return timeline->kind == FLAM_TIMELINE_MEMORY &&
         timeline->counters[counter].unit == timeline->unit &&
         timeline->counters[counter].top > 0 &&
         strcmp (timeline->counters[counter].id, "heap") != 0;
}

static char *
counter_name (const char *id)
{
  /* Translators: resident set size, as the system reports it */
  return flam_format_visible (strcmp (id, "rss") == 0 ? _ ("RSS") : id);
}

static gint64
top_of (FlamOverview *self)
{
  const FlamTimeline *timeline = self->timeline;
  gint64 top = timeline->top[0];

  for (guint i = 0; i < timeline->n_counters; i++)
    if (has_counter (timeline, i))
      top = MAX (top, timeline->counters[i].top);
  return MAX (top, 1);
}

static void
append_counter (FlamOverview *self,
                GtkSnapshot *snapshot,
                const struct FlamTimelineCounter *counter,
                gint64 top,
                const graphene_rect_t *area)
{
  GdkRGBA color = ink_of (self, 0.5f);
  guint n = self->timeline->n;
  const double dashes[] = { 3, 2 };
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, area);

  for (guint i = 0; i < n; i++)
    cairo_line_to (
        cr,
        area->origin.x +
            flam_timeline_middle_of (self->timeline, i) * area->size.width,
        area->origin.y +
            area->size.height * (1 - (double)counter->value[i] / (double)top));
  gdk_cairo_set_source_rgba (cr, &color);
  cairo_set_line_width (cr, 1);
  cairo_set_dash (cr, dashes, 2, 0);
  cairo_stroke (cr);
  cairo_destroy (cr);
}

static void
append_peak (FlamOverview *self,
             GtkSnapshot *snapshot,
             const graphene_rect_t *key,
             double height)
{
  g_autofree char *value =
      flam_format_value (self->timeline->peak, self->timeline->unit);
  /* Translators: the maximum of the memory in use */
  g_autofree char *text = g_strdup_printf (_ ("peak %s"), value);
  GdkRGBA line = ink_of (self, 0.45f);
  GdkRGBA ink = ink_of (self, 0.9f);
  GdkRGBA paper = paper_of (self, 0.85f);
  double x = round (pixel_of (self, self->timeline->peak_time));
  float below;

  /* The line begins below the text, so that the text stays readable. */
  self->peak = append_badge (self, snapshot, text, x, key, &paper, &ink);
  below = self->peak.origin.y + self->peak.size.height;
  if (below < (float)height)
    gtk_snapshot_append_color (
        snapshot,
        &line,
        &GRAPHENE_RECT_INIT ((float)x, below, 1, (float)height - below));
}

/* The legend of the lines, with the maximum of each, which is the picture's
 * scale. Returns its rectangle. */
static graphene_rect_t
append_key (FlamOverview *self, GtkSnapshot *snapshot)
{
  const FlamTimeline *timeline = self->timeline;
  g_autofree char *most = flam_format_value (timeline->top[0], timeline->unit);
  g_autoptr (GString) text = g_string_new (NULL);
  GdkRGBA ink = ink_of (self, 0.85f);
  GdkRGBA paper = paper_of (self, 0.7f);

  /* Translators: memory; the maximum of the curve */
  g_string_printf (text, _ ("— in use, up to %s"), most);
  for (guint i = 0; i < timeline->n_counters; i++)
    if (has_counter (timeline, i))
      {
        g_autofree char *name = counter_name (timeline->counters[i].id);
        g_autofree char *top = flam_format_value (timeline->counters[i].top,
                                                  timeline->counters[i].unit);

        g_string_append (text, "   ");
        /* Translators: the name and the maximum of a dashed line */
        g_string_append_printf (text, _ ("- - %s, up to %s"), name, top);
      }
  return append_badge (self, snapshot, text->str, 0, NULL, &paper, &ink);
}

static GskRenderNode *
curve_new (FlamOverview *self, double width, double height)
{
  GtkSnapshot *snapshot = gtk_snapshot_new ();
  double base = height - AXIS;
  graphene_rect_t area =
      GRAPHENE_RECT_INIT (0, 3, (float)width, (float)base - 3);
  gint64 top = top_of (self);
  graphene_rect_t key;

  self->peak = GRAPHENE_RECT_INIT (0, 0, 0, 0);
  flam_curve_append (snapshot,
                     self->timeline,
                     0,
                     top,
                     &area,
                     flam_curve_is_dark (GTK_WIDGET (self)));
  if (self->timeline->kind == FLAM_TIMELINE_MEMORY)
    {
      for (guint i = 0; i < self->timeline->n_counters; i++)
        if (has_counter (self->timeline, i))
          append_counter (
              self, snapshot, &self->timeline->counters[i], top, &area);
      key = append_key (self, snapshot);
      if (self->timeline->peak_time >= 0)
        append_peak (self, snapshot, &key, base);
    }
  append_axis (self, snapshot, base);
  return gtk_snapshot_free_to_node (snapshot);
}

static void
append_edge (GtkSnapshot *snapshot, double x, double base, const GdkRGBA *color)
{
  GskRoundedRect grip;

  gtk_snapshot_append_color (
      snapshot, color, &GRAPHENE_RECT_INIT ((float)x - 1, 0, 2, (float)base));
  gsk_rounded_rect_init_from_rect (
      &grip, &GRAPHENE_RECT_INIT ((float)x - 3, (float)base / 2 - 8, 6, 16), 3);
  gtk_snapshot_push_rounded_clip (snapshot, &grip);
  gtk_snapshot_append_color (snapshot, color, &grip.bounds);
  gtk_snapshot_pop (snapshot);
}

static void
append_selection (FlamOverview *self, GtkSnapshot *snapshot, double height)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double base = height - AXIS;
  double from = round (pixel_of (self, self->from));
  double to = round (pixel_of (self, self->to));
  GdkRGBA veil = paper_of (self, 0.68f);
  GdkRGBA accent = flam_accent (flam_curve_is_dark (GTK_WIDGET (self)), 1);
  GdkRGBA ink = ink_of (self, 1);
  GdkRGBA paper = paper_of (self, 0.85f);
  g_autofree char *length =
      flam_format_value (self->to - self->from, FLAM_UNIT_NS);

  gtk_snapshot_append_color (
      snapshot, &veil, &GRAPHENE_RECT_INIT (0, 0, (float)from, (float)base));
  gtk_snapshot_append_color (
      snapshot,
      &veil,
      &GRAPHENE_RECT_INIT ((float)to, 0, (float)(width - to), (float)base));
  append_edge (snapshot, from, base, &accent);
  append_edge (snapshot, to, base, &accent);
  append_badge (self, snapshot, length, (from + to) / 2, NULL, &paper, &ink);
}

static void
append_focus (FlamOverview *self, GtkSnapshot *snapshot, int width, int height)
{
  GdkRGBA ink = ink_of (self, 0.6f);
  const float widths[4] = { 1, 1, 1, 1 };
  const GdkRGBA colors[4] = { ink, ink, ink, ink };
  GskRoundedRect outline;

  gsk_rounded_rect_init_from_rect (
      &outline, &GRAPHENE_RECT_INIT (0, 0, width, height), 4);
  gtk_snapshot_append_border (snapshot, &outline, widths, colors);
}

static void
flam_overview_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamOverview *self = FLAM_OVERVIEW (widget);
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);
  GdkRGBA line;

  if (self->timeline == NULL || width <= 0 || height <= AXIS)
    return;
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  if (self->curve == NULL)
    self->curve = curve_new (self, width, height);
  if (self->curve != NULL)
    gtk_snapshot_append_node (snapshot, self->curve);
  if (has_range (self))
    append_selection (self, snapshot, height);
  line = ink_of (self, 0.35f);
  if (self->pointer >= 0 && self->grab == GRAB_NONE)
    gtk_snapshot_append_color (
        snapshot,
        &line,
        &GRAPHENE_RECT_INIT (
            (float)floor (self->pointer), 0, 1, (float)(height - AXIS)));
  if (gtk_widget_has_visible_focus (widget))
    append_focus (self, snapshot, width, height);
  gtk_snapshot_pop (snapshot);
}

static void
announce (FlamOverview *self)
{
  g_autofree char *label = NULL;

  if (self->timeline == NULL || !has_range (self))
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
  if (self->grab != GRAB_NONE || (from == self->from && to == self->to))
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

static Grab
grab_at (FlamOverview *self, double x)
{
  double from, to;

  if (!has_range (self))
    return GRAB_NEW;
  from = pixel_of (self, self->from);
  to = pixel_of (self, self->to);
  if (fabs (x - from) <= HANDLE && fabs (x - from) <= fabs (x - to))
    return GRAB_FROM;
  if (fabs (x - to) <= HANDLE)
    return GRAB_TO;
  return x > from && x < to ? GRAB_RANGE : GRAB_NEW;
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
    [GRAB_NONE] = "default", [GRAB_NEW] = "text",   [GRAB_FROM] = "ew-resize",
    [GRAB_TO] = "ew-resize", [GRAB_RANGE] = "grab",
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
  self->grab_from = has_range (self) ? pixel_of (self, self->from) : x;
  self->grab_to = has_range (self) ? pixel_of (self, self->to) : x;
  gtk_gesture_set_state (GTK_GESTURE (drag), GTK_EVENT_SEQUENCE_CLAIMED);
}

static void
drag_to (FlamOverview *self, double dx)
{
  double width = gtk_widget_get_width (GTK_WIDGET (self));
  double from = self->grab_from, to = self->grab_to, swap;

  switch (self->grab)
    {
    case GRAB_NEW:
      from = self->grab_x;
      to = self->grab_x + dx;
      break;
    case GRAB_FROM:
      from += dx;
      break;
    case GRAB_TO:
      to += dx;
      break;
    case GRAB_RANGE:
      dx = CLAMP (dx, -from, width - to);
      from += dx;
      to += dx;
      break;
    case GRAB_NONE:
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
  else if (self->grab == GRAB_NEW && fabs (dx) < LEAST)
    change_range (self, G_MININT64, G_MAXINT64);
  self->grab = GRAB_NONE;
  tell (self);
}

static void
on_pressed (
    GtkGestureClick *click, int n_press, double x, double y, FlamOverview *self)
{
  if (n_press != 2 || self->timeline == NULL || is_peak (self, x, y))
    return;
  change_range (self, G_MININT64, G_MAXINT64);
  self->grab = GRAB_NONE;
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

  if (timeline == NULL || by_keyboard || self->grab != GRAB_NONE)
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
    if (has_counter (timeline, i))
      {
        g_autofree char *name = counter_name (timeline->counters[i].id);
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

  if (!has_range (self) && !(state & (GDK_SHIFT_MASK | GDK_CONTROL_MASK)))
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
      if (!has_range (self))
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
