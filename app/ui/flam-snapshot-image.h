/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* An image that was drawn pixel by pixel -> what a widget shows.
 *
 * To a GPU it goes as a texture, uploaded once however often it is shown. GTK's
 * cairo renderer would turn every pixel of a texture into four floats and back
 * (12 ms a frame), and paints a surface as it is. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* `image` is an image surface in ARGB32 that is no
 * longer drawn to. `texture` is kept with it, NULL at
 * first: it is made once, where the renderer needs
 * one. */
void flam_snapshot_append_image (GtkSnapshot *snapshot,
                                 GtkWidget *widget,
                                 cairo_surface_t *image,
                                 GdkTexture **texture,
                                 const graphene_rect_t *bounds);

G_END_DECLS
