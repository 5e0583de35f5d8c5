/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BALANCE_WORDS_H
#define FLAM_BALANCE_WORDS_H

#include "flam-core-picture.h"

G_BEGIN_DECLS

/* FlamPlot.describe of flam_plot_of_balance(): the rank, the time, its work,
 * and the work of the other ranks. */
char *flam_balance_words (const FlamPlot *plot,
                          FlamPlotSpot spot,
                          const char *separator);

G_END_DECLS

#endif
