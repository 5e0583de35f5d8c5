/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-heat-strip.h"

#define WIDTH 12
#define MARK_HEIGHT 3.0f

struct _FlamHeatStrip
{
  GtkWidget parent_instance;
  FlamSourceCosts *costs;
  guint n_lines;
};

static guint picked_signal;

G_DEFINE_FINAL_TYPE (FlamHeatStrip, flam_heat_strip, GTK_TYPE_WIDGET)

/* Self is hotter than total: a loop's line, whose total includes its callees,
 * must not look hotter than the line that does the work. */
static float
heat_of (const FlamSourceCosts *costs, guint row)
{
  double self = (double)costs->rows[row].self / (double)costs->whole;
  double total = (double)costs->rows[row].total / (double)costs->whole;

  return 0.2f + 0.8f * (float)CLAMP (MAX (self, total * 0.4), 0, 1);
}

static void
flam_heat_strip_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamHeatStrip *self = FLAM_HEAT_STRIP (widget);
  float width = (float)gtk_widget_get_width (widget);
  float height = (float)gtk_widget_get_height (widget);

  if (self->costs == NULL || self->n_lines == 0)
    return;
  for (guint i = 0; i < self->costs->n; i++)
    {
      guint32 line = self->costs->rows[i].line;
      float y;

      if (line == 0 || line > self->n_lines)
        continue;
      y = (height - MARK_HEIGHT) * (float)(line - 1) /
          (float)MAX (self->n_lines - 1, 1);
      gtk_snapshot_append_color (
          snapshot,
          &(GdkRGBA){ 0.90f, 0.38f, 0.0f, heat_of (self->costs, i) },
          &GRAPHENE_RECT_INIT (2, y, width - 4, MARK_HEIGHT));
    }
}

static void
flam_heat_strip_measure (GtkWidget *widget,
                         GtkOrientation orientation,
                         int for_size,
                         int *minimum,
                         int *natural,
                         int *minimum_baseline,
                         int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL ? WIDTH : 0;
}

static void
on_pressed (GtkGestureClick *click,
            int n_press,
            double x,
            double y,
            FlamHeatStrip *self)
{
  int height = gtk_widget_get_height (GTK_WIDGET (self));
  double fraction = height > 0 ? CLAMP (y / height, 0, 1) : 0;

  if (self->n_lines > 0)
    g_signal_emit (self,
                   picked_signal,
                   0,
                   1 + (guint)(fraction * (self->n_lines - 1) + 0.5));
}

void
flam_heat_strip_set_costs (FlamHeatStrip *self,
                           FlamSourceCosts *costs,
                           guint n_lines)
{
  g_return_if_fail (FLAM_IS_HEAT_STRIP (self));
  if (costs != NULL)
    flam_source_costs_ref (costs);
  g_clear_pointer (&self->costs, flam_source_costs_unref);
  self->costs = costs;
  self->n_lines = n_lines;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}

static void
flam_heat_strip_dispose (GObject *object)
{
  g_clear_pointer (&FLAM_HEAT_STRIP (object)->costs, flam_source_costs_unref);
  G_OBJECT_CLASS (flam_heat_strip_parent_class)->dispose (object);
}

static void
flam_heat_strip_class_init (FlamHeatStripClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_heat_strip_dispose;
  class->snapshot = flam_heat_strip_snapshot;
  class->measure = flam_heat_strip_measure;
  gtk_widget_class_set_accessible_role (class, GTK_ACCESSIBLE_ROLE_IMG);
  picked_signal = g_signal_new ("line-picked",
                                FLAM_TYPE_HEAT_STRIP,
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
flam_heat_strip_init (FlamHeatStrip *self)
{
  GtkGesture *click = gtk_gesture_click_new ();

  g_signal_connect (click, "pressed", G_CALLBACK (on_pressed), self);
  gtk_widget_add_controller (GTK_WIDGET (self), GTK_EVENT_CONTROLLER (click));
}
