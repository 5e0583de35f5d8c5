/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* An image that was drawn pixel by pixel -> what a widget shows.
 *
 * To a GPU it goes as a texture, uploaded once however often it is shown. GTK's
 * cairo renderer would turn every pixel of a texture into four floats and back
 * (12 ms a frame), and paints a surface as it is. What it paints again is where
 * the nodes of two frames differ, and two that are made by cairo always do: so
 * the node is kept as long as the image is the same, and only what is drawn
 * over it costs. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Whether GTK's cairo renderer draws the widget's window. */
gboolean flam_snapshot_is_by_cpu (GtkWidget *widget);

/* `image` is an image surface in ARGB32 that is no longer drawn to. `node` is
 * kept with it, NULL at first: it is made once for the bounds and the
 * renderer. */
void flam_snapshot_append_image (GtkSnapshot *snapshot,
                                 GtkWidget *widget,
                                 cairo_surface_t *image,
                                 GskRenderNode **node,
                                 const graphene_rect_t *bounds);

G_END_DECLS
