/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-wrap-layout.h"

#define SPACING 6

struct _FlamWrapLayout
{
  GtkLayoutManager parent_instance;
};

G_DEFINE_FINAL_TYPE (FlamWrapLayout, flam_wrap_layout, GTK_TYPE_LAYOUT_MANAGER)

/* Those between two children, at their natural widths. */
typedef struct
{
  GtkWidget *end; /* the first one of the next line; NULL: none */
  int height;
  int spare;
  guint n_expanding;
} Line;

static GtkWidget *
first_of (GtkWidget *child)
{
  while (child != NULL && !gtk_widget_should_layout (child))
    child = gtk_widget_get_next_sibling (child);
  return child;
}

static gboolean
expands (GtkWidget *child)
{
  return gtk_widget_compute_expand (child, GTK_ORIENTATION_HORIZONTAL);
}

/* A child that is wider than the line takes all of it. */
static int
width_of (GtkWidget *child, int line)
{
  int least, wants;

  gtk_widget_measure (
      child, GTK_ORIENTATION_HORIZONTAL, -1, &least, &wants, NULL, NULL);
  return MAX (least, MIN (wants, line));
}

static Line
measure_line (GtkWidget *child, int width)
{
  Line line = { .spare = width };
  gboolean first = TRUE;

  for (; (child = first_of (child)) != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      int wants = width_of (child, width) + (first ? 0 : SPACING);
      int tall;

      if (!first && wants > line.spare)
        break;
      gtk_widget_measure (child,
                          GTK_ORIENTATION_VERTICAL,
                          width_of (child, width),
                          NULL,
                          &tall,
                          NULL,
                          NULL);
      line.height = MAX (line.height, tall);
      line.spare -= wants;
      line.n_expanding += expands (child);
      first = FALSE;
    }
  line.end = child;
  return line;
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

  for (; (child = first_of (child)) != NULL;
       child = gtk_widget_get_next_sibling (child))
    {
      int least, wants;

      gtk_widget_measure (
          child, GTK_ORIENTATION_HORIZONTAL, -1, &least, &wants, NULL, NULL);
      *minimum = MAX (*minimum, least);
      *natural += wants + (*natural > 0 ? SPACING : 0);
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
      Line line = measure_line (child, for_size < 0 ? G_MAXINT : for_size);

      sum += line.height + (sum > 0 ? SPACING : 0);
      child = line.end;
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
      Line line = measure_line (child, width);
      int x = 0;

      for (; child != line.end; child = gtk_widget_get_next_sibling (child))
        {
          int gets;

          if (!gtk_widget_should_layout (child))
            continue;
          gets = width_of (child, width);
          if (expands (child))
            gets += line.spare / (int)line.n_expanding;
          gtk_widget_size_allocate (
              child,
              &(GtkAllocation){
                  mirrored ? width - x - gets : x, y, gets, line.height },
              -1);
          x += gets + SPACING;
        }
      y += line.height + SPACING;
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
