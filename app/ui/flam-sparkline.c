/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-overview-private.h"

#include <adwaita.h>

struct _FlamSparkline
{
  GtkWidget parent_instance;
  FlamTimeline *timeline;
  guint row;
};

G_DEFINE_FINAL_TYPE (FlamSparkline, flam_sparkline, GTK_TYPE_WIDGET)

/* --- curves -------------------------------------------------------------- */

GdkRGBA
flam_curve_color (const FlamTimeline *timeline, gboolean dark)
{
  if (timeline->kind == FLAM_TIMELINE_MEMORY)
    return dark ? (GdkRGBA){ 0.34f, 0.81f, 0.52f, 1 }
                : (GdkRGBA){ 0.15f, 0.60f, 0.36f, 1 };
  return dark ? (GdkRGBA){ 1, 0.56f, 0.30f, 1 }
              : (GdkRGBA){ 0.87f, 0.37f, 0.08f, 1 };
}

gboolean
flam_curve_is_dark (GtkWidget *widget)
{
  return adw_is_initialized () &&
         adw_style_manager_get_dark (adw_style_manager_get_default ());
}

/* The greatest value of the buckets that share a pixel. */
static double
value_at (const FlamTimeline *timeline, guint row, int pixel, int pixels)
{
  const gint64 *value = flam_timeline_row (timeline, row);
  guint first = (guint)((gint64)pixel * timeline->n / pixels);
  guint end = (guint)((gint64)(pixel + 1) * timeline->n / pixels);
  gint64 most = 0;

  end = CLAMP (end, first + 1, timeline->n);
  for (guint i = first; i < end; i++)
    most = MAX (most, value[i]);
  return (double)most;
}

static void
trace (cairo_t *cr,
       const FlamTimeline *timeline,
       guint row,
       gint64 top,
       const graphene_rect_t *area)
{
  int pixels = (int)area->size.width;
  double bottom = area->origin.y + area->size.height;
  double scale = area->size.height / (double)MAX (top, 1);

  for (int i = 0; i < pixels; i++)
    {
      double y = bottom - value_at (timeline, row, i, pixels) * scale;

      cairo_line_to (cr, area->origin.x + i, y);
      cairo_line_to (cr, area->origin.x + i + 1, y);
    }
}

void
flam_curve_append (GtkSnapshot *snapshot,
                   const FlamTimeline *timeline,
                   guint row,
                   gint64 top,
                   const graphene_rect_t *area,
                   const GdkRGBA *color)
{
  double left = area->origin.x;
  double bottom = area->origin.y + area->size.height;
  GdkRGBA fill = *color;
  cairo_t *cr = gtk_snapshot_append_cairo (snapshot, area);

  fill.alpha = 0.35f;
  cairo_move_to (cr, left, bottom);
  trace (cr, timeline, row, top, area);
  cairo_line_to (cr, left + (int)area->size.width, bottom);
  cairo_close_path (cr);
  gdk_cairo_set_source_rgba (cr, &fill);
  cairo_fill (cr);
  cairo_new_path (cr);
  trace (cr, timeline, row, top, area);
  gdk_cairo_set_source_rgba (cr, color);
  cairo_set_line_width (cr, 1);
  cairo_stroke (cr);
  cairo_destroy (cr);
}

/* --- the object ---------------------------------------------------------- */

static void
flam_sparkline_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamSparkline *self = FLAM_SPARKLINE (widget);
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);
  GdkRGBA color;

  if (self->timeline == NULL || self->row >= self->timeline->n_rows ||
      width <= 0 || height <= 0)
    return;
  color = flam_curve_color (self->timeline, flam_curve_is_dark (widget));
  flam_curve_append (snapshot,
                     self->timeline,
                     self->row,
                     self->timeline->top[self->row],
                     &GRAPHENE_RECT_INIT (0, 1, width, height - 1),
                     &color);
}

static void
flam_sparkline_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  gboolean across = orientation == GTK_ORIENTATION_HORIZONTAL;

  *minimum = across ? 40 : 16;
  *natural = across ? 90 : 18;
}

static void
flam_sparkline_finalize (GObject *object)
{
  FlamSparkline *self = FLAM_SPARKLINE (object);

  g_clear_pointer (&self->timeline, flam_timeline_unref);
  G_OBJECT_CLASS (flam_sparkline_parent_class)->finalize (object);
}

static void
flam_sparkline_class_init (FlamSparklineClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  G_OBJECT_CLASS (class)->finalize = flam_sparkline_finalize;
  widget_class->snapshot = flam_sparkline_snapshot;
  widget_class->measure = flam_sparkline_measure;
  gtk_widget_class_set_css_name (widget_class, "sparkline");
  gtk_widget_class_set_accessible_role (widget_class,
                                        GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
flam_sparkline_init (FlamSparkline *self)
{
}

GtkWidget *
flam_sparkline_new (void)
{
  return g_object_new (FLAM_TYPE_SPARKLINE, NULL);
}

void
flam_sparkline_set_row (FlamSparkline *self, FlamTimeline *timeline, guint row)
{
  g_return_if_fail (FLAM_IS_SPARKLINE (self));
  if (timeline != NULL)
    flam_timeline_ref (timeline);
  g_clear_pointer (&self->timeline, flam_timeline_unref);
  self->timeline = timeline;
  self->row = row;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
