/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-graph-private.h"

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
draw_on (FlamFlameGraph *self, cairo_surface_t *surface)
{
  const FlamLayout *layout = flam_graph_layout (self);
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

static void
make_picture (FlamFlameGraph *self)
{
  int scale = gtk_widget_get_scale_factor (GTK_WIDGET (self));
  int width = gtk_widget_get_width (GTK_WIDGET (self)) * scale;
  int height = gtk_widget_get_height (GTK_WIDGET (self)) * scale;
  Pixels *pixels = pixels_take (self, (gsize)width * height * 4);
  static const cairo_user_data_key_t key;

  self->picture = cairo_image_surface_create_for_data (
      (guchar *)(pixels + 1), CAIRO_FORMAT_ARGB32, width, height, width * 4);
  cairo_surface_set_user_data (self->picture, &key, pixels, pixels_release);
  cairo_surface_set_device_scale (self->picture, scale, scale);
  draw_on (self, self->picture);
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
