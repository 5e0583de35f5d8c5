/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SNAPSHOT_IMAGE_H
#define FLAM_SNAPSHOT_IMAGE_H

/* Turns an image that was drawn pixel by pixel into what a widget shows. A GPU
 * gets it as a texture, which is uploaded once. GTK's cairo renderer would
 * convert every pixel of a texture into four floats and back (12 ms per frame),
 * but paints a surface directly. It repaints the area in which the nodes of two
 * frames differ, and two separately created cairo nodes always differ. So the
 * node is kept as long as the image is the same, and only what is drawn over it
 * costs time. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Whether GTK's cairo renderer draws the widget's window. */
gboolean flam_snapshot_is_by_cpu (GtkWidget *widget);

/* `image` is an ARGB32 image surface that is no longer drawn to. `node`,
 * initially NULL, is kept with it: it is created once for the bounds and the
 * renderer. */
void flam_snapshot_append_image (GtkSnapshot *snapshot,
                                 GtkWidget *widget,
                                 cairo_surface_t *image,
                                 GskRenderNode **node,
                                 const graphene_rect_t *bounds);

G_END_DECLS

#endif
