/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-wrap-layout.h"

#define SPACING 6

struct _FlamWrapLayout
{
  GtkLayoutManager parent_instance;
};

G_DEFINE_FINAL_TYPE (FlamWrapLayout, flam_wrap_layout, GTK_TYPE_LAYOUT_MANAGER)

static GtkWidget *
first_of (GtkWidget *child)
{
  while (child != NULL && !gtk_widget_should_layout (child))
    child = gtk_widget_get_next_sibling (child);
  return child;
}

/* The children of the line that begins with `child`; the next line begins with
 * the result. */
static GtkWidget *
measure_line (GtkWidget *child, int width, int *height)
{
  int x = 0;

  *height = 0;
  while ((child = first_of (child)) != NULL)
    {
      int wants, tall;

      gtk_widget_measure (
          child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &wants, NULL, NULL);
      if (x > 0 && x + wants > width)
        break;
      gtk_widget_measure (
          child, GTK_ORIENTATION_VERTICAL, wants, NULL, &tall, NULL, NULL);
      *height = MAX (*height, tall);
      x += wants + SPACING;
      child = gtk_widget_get_next_sibling (child);
    }
  return child;
}

static GtkSizeRequestMode
flam_wrap_layout_get_request_mode (GtkLayoutManager *manager, GtkWidget *widget)
{
  return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
measure_widths (GtkWidget *widget, int *minimum, int *natural)
{
  GtkWidget *child = gtk_widget_get_first_child (widget);

  while ((child = first_of (child)) != NULL)
    {
      int wants;

      gtk_widget_measure (
          child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &wants, NULL, NULL);
      *minimum = MAX (*minimum, wants);
      *natural += wants + (*natural > 0 ? SPACING : 0);
      child = gtk_widget_get_next_sibling (child);
    }
}

static void
flam_wrap_layout_measure (GtkLayoutManager *manager,
                          GtkWidget *widget,
                          GtkOrientation orientation,
                          int for_size,
                          int *minimum,
                          int *natural,
                          int *minimum_baseline,
                          int *natural_baseline)
{
  GtkWidget *child = first_of (gtk_widget_get_first_child (widget));
  int sum = 0;

  *minimum = *natural = 0;
  if (orientation == GTK_ORIENTATION_HORIZONTAL)
    {
      measure_widths (widget, minimum, natural);
      return;
    }
  while (child != NULL)
    {
      int height;

      child = measure_line (child, for_size < 0 ? G_MAXINT : for_size, &height);
      sum += height + (sum > 0 ? SPACING : 0);
    }
  *minimum = *natural = sum;
}

static void
flam_wrap_layout_allocate (GtkLayoutManager *manager,
                           GtkWidget *widget,
                           int width,
                           int height,
                           int baseline)
{
  gboolean mirrored = gtk_widget_get_direction (widget) == GTK_TEXT_DIR_RTL;
  GtkWidget *child = first_of (gtk_widget_get_first_child (widget));
  int y = 0;

  while (child != NULL)
    {
      int tall;
      int x = 0;
      GtkWidget *end = measure_line (child, width, &tall);

      for (; child != end; child = gtk_widget_get_next_sibling (child))
        {
          int wants;

          if (!gtk_widget_should_layout (child))
            continue;
          gtk_widget_measure (
              child, GTK_ORIENTATION_HORIZONTAL, -1, NULL, &wants, NULL, NULL);
          gtk_widget_size_allocate (
              child,
              &(GtkAllocation){
                  mirrored ? width - x - wants : x, y, wants, tall },
              -1);
          x += wants + SPACING;
        }
      y += tall + SPACING;
    }
}

static void
flam_wrap_layout_class_init (FlamWrapLayoutClass *klass)
{
  GtkLayoutManagerClass *class = GTK_LAYOUT_MANAGER_CLASS (klass);

  class->get_request_mode = flam_wrap_layout_get_request_mode;
  class->measure = flam_wrap_layout_measure;
  class->allocate = flam_wrap_layout_allocate;
}

static void
flam_wrap_layout_init (FlamWrapLayout *self)
{
}
