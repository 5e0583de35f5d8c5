/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-jump-cell.h"

#define LANE 7
#define ARROW 8
#define HEAD 3

struct _FlamJumpCell
{
  GtkWidget parent_instance;
  FlamArrows arrows;
};

G_DEFINE_FINAL_TYPE (FlamJumpCell, flam_jump_cell, GTK_TYPE_WIDGET)

static void
rectangle (GtkSnapshot *snapshot,
           const GdkRGBA *color,
           float x,
           float y,
           float width,
           float height)
{
  gtk_snapshot_append_color (
      snapshot, color, &GRAPHENE_RECT_INIT (x, y, width, height));
}

static void
draw_head (GtkSnapshot *snapshot, const GdkRGBA *color, float x, float y)
{
  for (int i = 0; i <= HEAD; i++)
    rectangle (
        snapshot, color, x - (float)i, y - (float)i + 0.5f, 1, 2 * (float)i);
}

static void
flam_jump_cell_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  const FlamArrows *arrows = &FLAM_JUMP_CELL (widget)->arrows;
  float width = (float)gtk_widget_get_width (widget);
  float height = (float)gtk_widget_get_height (widget);
  float middle = (float)(int)(height / 2);
  GdkRGBA color;

  gtk_style_context_get_color (gtk_widget_get_style_context (widget), &color);
  color.alpha = 0.55f;
  for (guint lane = 0; lane < FLAM_ARROW_LANES; lane++)
    {
      guint8 bit = (guint8)(1u << lane);
      float x = width - ARROW - (float)LANE * (float)(lane + 1);

      if (arrows->above & bit)
        rectangle (snapshot, &color, x, 0, 1, middle);
      if (arrows->below & bit)
        rectangle (snapshot, &color, x, middle, 1, height - middle);
      if ((arrows->from | arrows->to) & bit)
        rectangle (snapshot, &color, x, middle, width - 2 - x, 1);
      if (arrows->to & bit)
        draw_head (snapshot, &color, width - 2, middle);
    }
}

static void
flam_jump_cell_measure (GtkWidget *widget,
                        GtkOrientation orientation,
                        int for_size,
                        int *minimum,
                        int *natural,
                        int *minimum_baseline,
                        int *natural_baseline)
{
  *minimum = *natural = orientation == GTK_ORIENTATION_HORIZONTAL
                            ? LANE * FLAM_ARROW_LANES + ARROW
                            : 12;
}

static void
flam_jump_cell_class_init (FlamJumpCellClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  class->snapshot = flam_jump_cell_snapshot;
  class->measure = flam_jump_cell_measure;
  gtk_widget_class_set_accessible_role (class,
                                        GTK_ACCESSIBLE_ROLE_PRESENTATION);
}

static void
flam_jump_cell_init (FlamJumpCell *self)
{
  gtk_widget_set_vexpand (GTK_WIDGET (self), TRUE);
}

GtkWidget *
flam_jump_cell_new (void)
{
  return g_object_new (FLAM_TYPE_JUMP_CELL, NULL);
}

void
flam_jump_cell_set (FlamJumpCell *self,
                    const FlamArrows *arrows,
                    gboolean is_line)
{
  g_return_if_fail (FLAM_IS_JUMP_CELL (self));
  self->arrows = *arrows;
  if (is_line)
    self->arrows = (FlamArrows){ arrows->above, arrows->above, 0, 0 };
  gtk_widget_queue_draw (GTK_WIDGET (self));
}
