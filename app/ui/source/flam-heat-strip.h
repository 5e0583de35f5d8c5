/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HEAT_STRIP_H
#define FLAM_HEAT_STRIP_H

/* The whole file as a strip beside the scroll bar, with its hot places. */

#include "flam-source-costs.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_HEAT_STRIP (flam_heat_strip_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamHeatStrip, flam_heat_strip, FLAM, HEAT_STRIP, GtkWidget)

/* `n_lines` of the file. Signal "line-picked" (guint line, from 1). */
void flam_heat_strip_set_costs (FlamHeatStrip *strip,
                                FlamSourceCosts *costs,
                                guint n_lines);

G_END_DECLS

#endif
