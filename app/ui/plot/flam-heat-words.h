/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HEAT_WORDS_H
#define FLAM_HEAT_WORDS_H

#include "flam-core-picture.h"

G_BEGIN_DECLS

/* A cell of a heat map: its time, also by the clock, its weight and the number
 * of its samples, joined by `separator`; g_free. */
char *flam_heat_words (const FlamPlot *plot,
                       FlamPlotSpot spot,
                       const char *separator);

G_END_DECLS

#endif
