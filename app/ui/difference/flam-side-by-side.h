/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SIDE_BY_SIDE_H
#define FLAM_SIDE_BY_SIDE_H

/* Three linked graphs of a comparison: before and now side by side, each with
 * its own widths, and below only what changed, as wide as in the wider of both.
 * Without enough room they are stacked. Pointing at, selecting or zooming to a
 * frame in one applies to all that contain it, and its figures from all of them
 * are shown below.
 *
 * Signal "chosen" (FlamFlameGraph *graph, guint node): the user selected it in
 * that graph; FLAM_NONE: nothing. */

#include "flam-comparison.h"
#include "flam-flame-graph.h"

G_BEGIN_DECLS

#define FLAM_TYPE_SIDE_BY_SIDE (flam_side_by_side_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamSideBySide, flam_side_by_side, FLAM, SIDE_BY_SIDE, GtkWidget)

/* NULL empties it. */
void flam_side_by_side_set_comparison (FlamSideBySide *self,
                                       FlamComparison *comparison);
/* Before, now, and the changes; NULL from there on. */
FlamFlameGraph *flam_side_by_side_get_graph (FlamSideBySide *self, guint i);
/* Selects the frame with the path of this one; FLAM_NONE: none. */
void flam_side_by_side_select (FlamSideBySide *self,
                               const FlamTree *tree,
                               FlamNodeId node);

G_END_DECLS

#endif
