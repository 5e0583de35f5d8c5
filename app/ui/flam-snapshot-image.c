/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-snapshot-image.h"

static void
surface_release (gpointer data)
{
  cairo_surface_destroy (data);
}

static GdkTexture *
texture_of (cairo_surface_t *surface)
{
  int width = cairo_image_surface_get_width (surface);
  int height = cairo_image_surface_get_height (surface);
  gsize stride = (gsize)cairo_image_surface_get_stride (surface);
  g_autoptr (GBytes) bytes =
      g_bytes_new_with_free_func (cairo_image_surface_get_data (surface),
                                  stride * height,
                                  surface_release,
                                  cairo_surface_reference (surface));

  return gdk_memory_texture_new (
      width, height, GDK_MEMORY_DEFAULT, bytes, stride);
}

void
flam_snapshot_append_image (GtkSnapshot *snapshot,
                            GtkWidget *widget,
                            cairo_surface_t *image,
                            GdkTexture **texture,
                            const graphene_rect_t *bounds)
{
  GtkNative *native = gtk_widget_get_native (widget);
  GskRenderer *renderer =
      native != NULL ? gtk_native_get_renderer (native) : NULL;
  cairo_t *cr;

  if (renderer != NULL && !GSK_IS_CAIRO_RENDERER (renderer))
    {
      if (*texture == NULL)
        *texture = texture_of (image);
      gtk_snapshot_append_texture (snapshot, *texture, bounds);
      return;
    }
  cr = gtk_snapshot_append_cairo (snapshot, bounds);
  cairo_set_source_surface (cr, image, bounds->origin.x, bounds->origin.y);
  cairo_set_operator (cr, CAIRO_OPERATOR_SOURCE);
  cairo_paint (cr);
  cairo_destroy (cr);
}
