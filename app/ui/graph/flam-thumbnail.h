/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_THUMBNAIL_H
#define FLAM_THUMBNAIL_H

/* Small pictures of flame graphs for the start page, kept in the user's cache
 * folder under a hash of the capture's path. They are made when a capture is
 * shown; captures are never opened to make one. */

#include "flam-view-data.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_THUMBNAIL_WIDTH 240
#define FLAM_THUMBNAIL_HEIGHT 134

/* NULL when there is none. */
GdkPaintable *flam_thumbnail_find (const char *path);
/* Draws and writes it on a worker. */
void flam_thumbnail_save_async (const char *path, FlamViewData *view_data);

G_END_DECLS

#endif
