/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

#include <math.h>
#include <string.h>

#include "flam-snapshot-image.h"

/* The pixels of former pictures are used again: a fresh page of memory costs
 * more than filling it. There are two, for what GTK shows is kept until the
 * next is shown. */
typedef struct
{
  gsize size;
  gint busy;
} Pixels;

static void
pixels_release (gpointer data)
{
  Pixels *pixels = data;

  g_atomic_int_set (&pixels->busy, 0);
  g_atomic_rc_box_release (pixels);
}

static Pixels *
pixels_take (FlamFlameGraph *self, gsize size)
{
  void **spare = &self->spares[0];
  Pixels *pixels = *spare;

  if (pixels != NULL && g_atomic_int_get (&pixels->busy))
    {
      spare = &self->spares[1];
      pixels = *spare;
    }
  if (pixels == NULL || pixels->size != size ||
      g_atomic_int_get (&pixels->busy))
    {
      g_clear_pointer (spare, g_atomic_rc_box_release);
      pixels = g_atomic_rc_box_alloc (sizeof *pixels + size);
      pixels->size = size;
      *spare = pixels;
    }
  pixels->busy = 1;
  return g_atomic_rc_box_acquire (pixels);
}

static void
draw_on (FlamFlameGraph *self,
         cairo_surface_t *surface,
         const FlamLayout *layout)
{
  FlamScene scene = { .tree = self->tree,
                      .palette = flam_graph_palette (self),
                      .matched = self->matched,
                      .root = flam_graph_name (self->tree, 0) };
  cairo_t *cr = cairo_create (surface);

  flam_draw_layout (flam_graph_draw (self), cr, layout, &scene);
  cairo_destroy (cr);
  cairo_surface_flush (surface);
  if (self->rules != NULL)
    g_signal_emit (self, flam_graph_signals[FLAM_GRAPH_RULES_TRIED], 0);
}

static cairo_surface_t *
surface_new (guchar *pixels, int width, int height, int scale)
{
  cairo_surface_t *surface =
      cairo_image_surface_create_for_data (pixels,
                                           CAIRO_FORMAT_ARGB32,
                                           width * scale,
                                           height * scale,
                                           width * scale * 4);

  cairo_surface_set_device_scale (surface, scale, scale);
  return surface;
}

/* --- a picture that has been scrolled ------------------------------------ */

/* Lines of pixels that the last picture and this one share are copied, and the
 * others are drawn as a picture of their own, of the rows that they cut:
 *
 *    last       this
 *             +-------+
 *             | drawn |  by = 2: further from the root
 *    +-------+|       |
 *    |   a   ||   a   |
 *    |   b   ||   b   |
 *    |   c   |+-------+
 *    +-------+
 *
 * It is the same as if all were drawn, to the byte, as long as no label
 * reaches out of its row (flam_draw_is_in_rows()). */

static void
draw_lines (FlamFlameGraph *self, guchar *pixels, int top, int bottom)
{
  const FlamLayout *layout = flam_graph_layout (self);
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  FlamViewport view = layout->viewport;
  g_autoptr (FlamLayout) lines = NULL;
  cairo_surface_t *surface;

  view.scroll +=
      view.direction == FLAM_DIRECTION_ICICLE ? top : view.height - bottom;
  view.height = bottom - top;
  lines = flam_layout_new_after (self->rows, &view, layout);
  surface = surface_new (pixels + (gsize)width * scale * 4 * top * scale,
                         width,
                         bottom - top,
                         scale);
  draw_on (self, surface, lines);
  cairo_surface_destroy (surface);
}

/* By how many pixels the last picture is further down in this one; FALSE: they
 * have nothing in common. */
static gboolean
find_shift (FlamFlameGraph *self, int *shift)
{
  const FlamViewport *view = &flam_graph_layout (self)->viewport;
  const FlamViewport *last = &self->pictured;
  double by;

  if (self->last_picture == NULL || view->height != last->height ||
      !flam_viewport_is_scrolled (view, last) ||
      !flam_draw_is_in_rows (flam_graph_draw (self)))
    return FALSE;
  by = view->direction == FLAM_DIRECTION_ICICLE ? last->scroll - view->scroll
                                                : view->scroll - last->scroll;
  *shift = (int)CLAMP (by, -view->height, view->height);
  return fabs (by) < view->height;
}

/* FALSE: nothing, or not all of it, is taken from the last picture. */
static gboolean
move_last_picture (FlamFlameGraph *self, guchar *pixels)
{
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  int height = gtk_widget_get_height (GTK_WIDGET (self));
  gsize line = (gsize)gtk_widget_get_width (GTK_WIDGET (self)) * scale * 4;
  const guchar *last;
  int shift;

  if (!find_shift (self, &shift))
    return FALSE;
  last = cairo_image_surface_get_data (self->last_picture);
  memcpy (pixels + line * scale * MAX (shift, 0),
          last + line * scale * MAX (-shift, 0),
          line * scale * (height - ABS (shift)));
  if (shift > 0)
    draw_lines (self, pixels, 0, shift);
  else if (shift < 0)
    draw_lines (self, pixels, height + shift, height);
  return flam_draw_is_in_rows (flam_graph_draw (self));
}

/* --- the picture --------------------------------------------------------- */

static void
make_picture (FlamFlameGraph *self)
{
  const FlamLayout *layout = flam_graph_layout (self);
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  int width = gtk_widget_get_width (GTK_WIDGET (self));
  int height = gtk_widget_get_height (GTK_WIDGET (self));
  Pixels *pixels =
      pixels_take (self, (gsize)width * height * scale * scale * 4);
  static const cairo_user_data_key_t key;

  self->picture = surface_new ((guchar *)(pixels + 1), width, height, scale);
  cairo_surface_set_user_data (self->picture, &key, pixels, pixels_release);
  if (!move_last_picture (self, (guchar *)(pixels + 1)))
    draw_on (self, self->picture, layout);
  self->pictured = layout->viewport;
  g_clear_pointer (&self->last_picture, cairo_surface_destroy);
}

void
flam_graph_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamFlameGraph *self = FLAM_FLAME_GRAPH (widget);
  int width = gtk_widget_get_width (widget);
  int height = gtk_widget_get_height (widget);

  if (flam_graph_is_empty (self) || width <= 0 || height <= 0)
    return;
  if (self->picture == NULL)
    make_picture (self);
  gtk_snapshot_push_clip (snapshot, &GRAPHENE_RECT_INIT (0, 0, width, height));
  flam_snapshot_append_image (snapshot,
                              widget,
                              self->picture,
                              &self->image,
                              &GRAPHENE_RECT_INIT (0, 0, width, height));
  flam_graph_append_marks (self, snapshot);
  gtk_snapshot_pop (snapshot);
}
