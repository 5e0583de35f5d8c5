/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PLOT_BALANCE_H
#define FLAM_PLOT_BALANCE_H

/* The work of a job's ranks as a plot: a row for each rank, the first one at
 * the bottom, over the capture's time. */

#include "flam-balance.h"
#include "flam-plot.h"

G_BEGIN_DECLS

/* NULL with an error: cancelled. NULL without one: the profile has no ranks or
 * no times. The weights do not matter. */
FlamPlot *flam_plot_of_balance (const FlamProfile *profile,
                                const FlamSelection *selection,
                                const FlamWeights *weights,
                                guint n_columns,
                                const FlamProgress *progress,
                                GError **error);

const FlamBalance *flam_plot_get_balance (const FlamPlot *plot);

G_END_DECLS

#endif
