/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-swatch.h"

#define SWATCH 12

struct _FlamSwatch
{
  GtkWidget parent_instance;
  FlamColor color;
};

G_DEFINE_FINAL_TYPE (FlamSwatch, flam_swatch, GTK_TYPE_WIDGET)

static void
flam_swatch_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamColor color = FLAM_SWATCH (widget)->color;
  GdkRGBA rgba = {
    (float)(color >> 16 & 255) / 255,
    (float)(color >> 8 & 255) / 255,
    (float)(color & 255) / 255,
    1,
  };
  float y = (float)(gtk_widget_get_height (widget) - SWATCH) / 2;
  GskRoundedRect outline;

  gsk_rounded_rect_init_from_rect (
      &outline, &GRAPHENE_RECT_INIT (0, y, SWATCH, SWATCH), 3);
  gtk_snapshot_push_rounded_clip (snapshot, &outline);
  gtk_snapshot_append_color (snapshot, &rgba, &outline.bounds);
  gtk_snapshot_pop (snapshot);
}

static void
flam_swatch_measure (GtkWidget *widget,
                     GtkOrientation orientation,
                     int for_size,
                     int *minimum,
                     int *natural,
                     int *minimum_baseline,
                     int *natural_baseline)
{
  *minimum = *natural = SWATCH;
}

static void
flam_swatch_class_init (FlamSwatchClass *class)
{
  GtkWidgetClass *widget_class = GTK_WIDGET_CLASS (class);

  widget_class->snapshot = flam_swatch_snapshot;
  widget_class->measure = flam_swatch_measure;
  gtk_widget_class_set_accessible_role (widget_class,
                                        GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
flam_swatch_init (FlamSwatch *self)
{
}

GtkWidget *
flam_swatch_new (FlamColor color)
{
  FlamSwatch *self = g_object_new (FLAM_TYPE_SWATCH, NULL);

  self->color = color;
  return GTK_WIDGET (self);
}

void
flam_swatch_set_color (FlamSwatch *self, FlamColor color)
{
  g_return_if_fail (FLAM_IS_SWATCH (self));
  if (color == self->color)
    return;
  self->color = color;
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
