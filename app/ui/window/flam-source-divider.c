/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-source-divider.h"

#include "flam-settings.h"

#define LEAST_WIDTH 160
#define MOST_WIDTH 860 /* lines of 80 characters */

struct _FlamSourceDivider
{
  GtkWidget parent_instance;

  gboolean narrow;
  gboolean small;
  gboolean place; /* when the space is known */
};

G_DEFINE_FINAL_TYPE (FlamSourceDivider, flam_source_divider, GTK_TYPE_WIDGET)

static GtkPaned *
paned_of (FlamSourceDivider *self)
{
  return GTK_PANED (gtk_widget_get_first_child (GTK_WIDGET (self)));
}

/* A scrolled window beside the divider may ask for another size in the middle
 * of its allocation, as its scroll bars come and go. GTK 4.8 loses that request
 * if a widget around the divider is allocated in the same frame for its own
 * sake, such as for a toast, and draws the tab blank ("without a current
 * allocation") until the window's size changes. It does not if all of them are
 * to be allocated. */
static void
place_later (FlamSourceDivider *self)
{
  self->place = TRUE;
  gtk_widget_queue_resize (GTK_WIDGET (paned_of (self)));
}

/* The user's width, or a share of the space: 460 pixels in a window of 1280. */
static int
wanted_width (FlamSourceDivider *self, int width)
{
  GSettings *settings = flam_settings_get ();
  g_autoptr (GVariant) chosen =
      g_settings_get_user_value (settings, FLAM_KEY_SOURCE_WIDTH);
  int most = self->narrow ? width * 2 / 5 : width / 2;

  if (chosen != NULL)
    return MIN (g_settings_get_int (settings, FLAM_KEY_SOURCE_WIDTH), most);
  return self->narrow ? most : MIN (width * 29 / 80, MOST_WIDTH);
}

static void
place (FlamSourceDivider *self, int width, int height)
{
  self->place = FALSE;
  if (self->small)
    gtk_paned_set_position (paned_of (self), height * 6 / 10);
  else
    gtk_paned_set_position (paned_of (self),
                            width - wanted_width (self, width));
}

/* The handle's width as well, since the position is counted without it. */
static void
keep (FlamSourceDivider *self)
{
  GtkWidget *source = gtk_paned_get_end_child (paned_of (self));
  int whole = gtk_widget_get_width (GTK_WIDGET (self));
  int width = whole - gtk_paned_get_position (paned_of (self));

  if (!self->narrow && !self->small && !self->place &&
      width != wanted_width (self, whole) &&
      gtk_widget_get_width (source) > 1 && gtk_widget_get_visible (source))
    g_settings_set_int (
        flam_settings_get (), FLAM_KEY_SOURCE_WIDTH, MAX (width, LEAST_WIDTH));
}

void
flam_source_divider_set_narrow (FlamSourceDivider *self,
                                gboolean narrow,
                                gboolean small)
{
  g_return_if_fail (FLAM_IS_SOURCE_DIVIDER (self));
  if (narrow == self->narrow && small == self->small)
    return;
  keep (self);
  self->narrow = narrow;
  self->small = small;
  gtk_orientable_set_orientation (GTK_ORIENTABLE (paned_of (self)),
                                  small ? GTK_ORIENTATION_VERTICAL
                                        : GTK_ORIENTATION_HORIZONTAL);
  place_later (self);
}

/* --- object --------------------------------------------------------------- */

static GtkSizeRequestMode
flam_source_divider_get_request_mode (GtkWidget *widget)
{
  return gtk_widget_get_request_mode (gtk_widget_get_first_child (widget));
}

static void
flam_source_divider_measure (GtkWidget *widget,
                             GtkOrientation orientation,
                             int for_size,
                             int *minimum,
                             int *natural,
                             int *minimum_baseline,
                             int *natural_baseline)
{
  gtk_widget_measure (gtk_widget_get_first_child (widget),
                      orientation,
                      for_size,
                      minimum,
                      natural,
                      minimum_baseline,
                      natural_baseline);
}

static void
flam_source_divider_size_allocate (GtkWidget *widget,
                                   int width,
                                   int height,
                                   int baseline)
{
  FlamSourceDivider *self = FLAM_SOURCE_DIVIDER (widget);

  if (self->place)
    place (self, width, height);
  gtk_widget_allocate (
      gtk_widget_get_first_child (widget), width, height, baseline, NULL);
}

static void
flam_source_divider_map (GtkWidget *widget)
{
  GTK_WIDGET_CLASS (flam_source_divider_parent_class)->map (widget);
  place_later (FLAM_SOURCE_DIVIDER (widget));
}

static void
flam_source_divider_unmap (GtkWidget *widget)
{
  keep (FLAM_SOURCE_DIVIDER (widget));
  GTK_WIDGET_CLASS (flam_source_divider_parent_class)->unmap (widget);
}

static void
flam_source_divider_dispose (GObject *object)
{
  GtkWidget *paned = gtk_widget_get_first_child (GTK_WIDGET (object));

  g_clear_pointer (&paned, gtk_widget_unparent);
  G_OBJECT_CLASS (flam_source_divider_parent_class)->dispose (object);
}

static void
flam_source_divider_class_init (FlamSourceDividerClass *klass)
{
  GtkWidgetClass *class = GTK_WIDGET_CLASS (klass);

  G_OBJECT_CLASS (klass)->dispose = flam_source_divider_dispose;
  class->get_request_mode = flam_source_divider_get_request_mode;
  class->measure = flam_source_divider_measure;
  class->size_allocate = flam_source_divider_size_allocate;
  class->map = flam_source_divider_map;
  class->unmap = flam_source_divider_unmap;
}

static void
flam_source_divider_init (FlamSourceDivider *self)
{
}
