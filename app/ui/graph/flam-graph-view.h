/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GRAPH_VIEW_H
#define FLAM_GRAPH_VIEW_H

/* The flame graph as a page: the widget, its minimap, its legend, and the text
 * for an empty graph. */

#include "flam-flame-graph.h"
#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_GRAPH_VIEW (flam_graph_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamGraphView, flam_graph_view, FLAM, GRAPH_VIEW, FlamPage)

FlamFlameGraph *flam_graph_view_get_graph (FlamGraphView *view);
/* Weight under the search's matches; property "matched" notifies. */
gint64 flam_graph_view_get_matched (FlamGraphView *view);
void flam_graph_view_next_match (FlamGraphView *view, gboolean backward);
/* See flam_minimap_set_covered(). */
void flam_graph_view_set_covered (FlamGraphView *view, int height);

G_END_DECLS

#endif
