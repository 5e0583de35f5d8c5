/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-overview.h"

#include "flam-curve.h"

struct _FlamSparkline
{
  GtkWidget parent_instance;
  FlamTimeline *timeline;
  guint row;
};

G_DEFINE_FINAL_TYPE (FlamSparkline, flam_sparkline, GTK_TYPE_WIDGET)

/* --- the object ---------------------------------------------------------- */

static void
flam_sparkline_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamSparkline *self = FLAM_SPARKLINE (widget);
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);

  if (self->timeline == NULL || self->row >= self->timeline->n_rows ||
      width <= 0 || height <= 0)
    return;
  flam_curve_append (snapshot,
                     self->timeline,
                     self->row,
                     self->timeline->top[self->row],
                     &GRAPHENE_RECT_INIT (0, 1, width, height - 1),
                     flam_curve_is_dark (widget));
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
