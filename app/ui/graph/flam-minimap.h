/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The whole flame graph in the size of a stamp, with a frame around the visible
 * part. It is shown only if not everything is visible; dragging or clicking
 * moves the view. Put it as an overlay over the flame graph's scrolled window;
 * it moves to the corner, far from the root, where it covers least. */

#include "flam-flame-graph.h"

G_BEGIN_DECLS

#define FLAM_TYPE_MINIMAP (flam_minimap_get_type ())
G_DECLARE_FINAL_TYPE (FlamMinimap, flam_minimap, FLAM, MINIMAP, GtkWidget)

GtkWidget *flam_minimap_new (FlamFlameGraph *graph);

/* Whether the window is so small that it would cover much of the graph; then it
 * is never shown. */
gboolean flam_minimap_is_cramped (FlamMinimap *self);

G_END_DECLS
