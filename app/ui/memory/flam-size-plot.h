/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SIZE_PLOT_H
#define FLAM_SIZE_PLOT_H

/* Blocks by size, as a plot: one bar per power of two, as high as the bytes (or
 * blocks) of that size. */

#include "flam-core-picture.h"

G_BEGIN_DECLS

/* Takes a reference to the summary. */
FlamPlot *flam_size_plot_new (FlamMemorySummary *memory,
                              FlamMemoryPart part,
                              gboolean bytes);

G_END_DECLS

#endif
