/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MINIMAP_H
#define FLAM_MINIMAP_H

/* The whole flame graph in the size of a stamp, with a frame around the visible
 * part. It is shown only if not everything is visible; dragging or clicking
 * moves the view. Put it as an overlay over the flame graph's scrolled window;
 * it moves to the corner, far from the root, where it covers least. */

#include "flam-flame-graph.h"

G_BEGIN_DECLS

#define FLAM_TYPE_MINIMAP (flam_minimap_get_type ())
G_DECLARE_FINAL_TYPE (FlamMinimap, flam_minimap, FLAM, MINIMAP, GtkWidget)

/* Visible while a part of the graph is out of view, if there is room for it and
 * a corner where it covers no label. */
GtkWidget *flam_minimap_new (FlamFlameGraph *graph);
/* The height in pixels of what is drawn over the top of the graph, such as the
 * search bar; 0: nothing. */
void flam_minimap_set_covered (FlamMinimap *minimap, int height);

G_END_DECLS

#endif
