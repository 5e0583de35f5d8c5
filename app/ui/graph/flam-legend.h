/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LEGEND_H
#define FLAM_LEGEND_H

/* The meaning of the colors of a flame graph: a row of swatches with names, the
 * heaviest in view first. It does not wrap: entries that do not fit are only in
 * the tooltip. */

#include "flam-flame-graph.h"

G_BEGIN_DECLS

#define FLAM_TYPE_LEGEND (flam_legend_get_type ())
G_DECLARE_FINAL_TYPE (FlamLegend, flam_legend, FLAM, LEGEND, GtkWidget)

GtkWidget *flam_legend_new (FlamFlameGraph *graph);

G_END_DECLS

#endif
