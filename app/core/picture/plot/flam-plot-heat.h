/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PLOT_HEAT_H
#define FLAM_PLOT_HEAT_H

/* A heat map as a plot: cells over the time of day, or over the capture's time
 * if it has no date. */

#include "flam-heat-map.h"
#include "flam-plot.h"

G_BEGIN_DECLS

/* As flam_heat_map_new(); the weights do not matter. */
FlamPlot *flam_plot_of_heat (const FlamProfile *profile,
                             const FlamSelection *selection,
                             const FlamWeights *weights,
                             guint n_rows,
                             const FlamProgress *progress,
                             GError **error);

const FlamHeatMap *flam_plot_get_heat (const FlamPlot *plot);

G_END_DECLS

#endif
