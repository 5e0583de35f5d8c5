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

static GskRenderer *
renderer_of (GtkWidget *widget)
{
  GtkNative *native = gtk_widget_get_native (widget);

  return native != NULL ? gtk_native_get_renderer (native) : NULL;
}

gboolean
flam_snapshot_is_by_cpu (GtkWidget *widget)
{
  GskRenderer *renderer = renderer_of (widget);

  return renderer != NULL && GSK_IS_CAIRO_RENDERER (renderer);
}

/* A cairo node keeps its sources. When a surface is freed, the node would keep
 * a copy of it: all pixels of a picture, for each one shown. A raster source is
 * called instead, and refers to the surface while it exists. */

static cairo_surface_t *
source_acquire (cairo_pattern_t *pattern,
                gpointer image,
                cairo_surface_t *target,
                const cairo_rectangle_int_t *extents)
{
  return cairo_surface_reference (image);
}

static void
source_release (cairo_pattern_t *pattern,
                gpointer image,
                cairo_surface_t *surface)
{
  cairo_surface_destroy (surface);
}

static cairo_status_t
source_copy (cairo_pattern_t *pattern,
             gpointer image,
             const cairo_pattern_t *other)
{
  cairo_surface_reference (image);
  return CAIRO_STATUS_SUCCESS;
}

static void
source_finish (cairo_pattern_t *pattern, gpointer image)
{
  cairo_surface_destroy (image);
}

static cairo_pattern_t *
source_new (cairo_surface_t *image, double x, double y)
{
  cairo_pattern_t *source = cairo_pattern_create_raster_source (
      cairo_surface_reference (image),
      CAIRO_CONTENT_COLOR_ALPHA,
      cairo_image_surface_get_width (image),
      cairo_image_surface_get_height (image));
  cairo_matrix_t matrix;
  double scale_x, scale_y;

  cairo_raster_source_pattern_set_acquire (
      source, source_acquire, source_release);
  cairo_raster_source_pattern_set_copy (source, source_copy);
  cairo_raster_source_pattern_set_finish (source, source_finish);
  cairo_surface_get_device_scale (image, &scale_x, &scale_y);
  cairo_matrix_init_scale (&matrix, scale_x, scale_y);
  cairo_matrix_translate (&matrix, -x, -y);
  cairo_pattern_set_matrix (source, &matrix);
  return source;
}

static GskRenderNode *
node_new (cairo_surface_t *image,
          gboolean by_cpu,
          const graphene_rect_t *bounds)
{
  g_autoptr (GdkTexture) texture = NULL;
  cairo_pattern_t *source;
  GskRenderNode *node;
  cairo_t *cr;

  if (!by_cpu)
    {
      texture = texture_of (image);
      return gsk_texture_node_new (texture, bounds);
    }
  node = gsk_cairo_node_new (bounds);
  cr = gsk_cairo_node_get_draw_context (node);
  source = source_new (image, bounds->origin.x, bounds->origin.y);
  cairo_set_source (cr, source);
  cairo_pattern_destroy (source);
  cairo_set_operator (cr, CAIRO_OPERATOR_SOURCE);
  cairo_paint (cr);
  cairo_destroy (cr);
  return node;
}

static gboolean
is_for (GskRenderNode *node, gboolean by_cpu, const graphene_rect_t *bounds)
{
  graphene_rect_t made_for;

  gsk_render_node_get_bounds (node, &made_for);
  return graphene_rect_equal (&made_for, bounds) &&
         gsk_render_node_get_node_type (node) ==
             (by_cpu ? GSK_CAIRO_NODE : GSK_TEXTURE_NODE);
}

void
flam_snapshot_append_image (GtkSnapshot *snapshot,
                            GtkWidget *widget,
                            cairo_surface_t *image,
                            GskRenderNode **node,
                            const graphene_rect_t *bounds)
{
  GskRenderer *renderer = renderer_of (widget);
  gboolean by_cpu = renderer == NULL || GSK_IS_CAIRO_RENDERER (renderer);

  if (*node != NULL && !is_for (*node, by_cpu, bounds))
    g_clear_pointer (node, gsk_render_node_unref);
  if (*node == NULL)
    *node = node_new (image, by_cpu, bounds);
  gtk_snapshot_append_node (snapshot, *node);
}
