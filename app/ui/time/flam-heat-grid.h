/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The cells of a heat map. The first click begins a range, the second ends it;
 * a third begins another one, Escape clears it. Keys: arrows walk from cell to
 * cell, Return and space act as a click.
 *
 * Signals
 *   range-changed (gint64 from, gint64 to)   half open, ns; G_MININT64 and
 *                                            G_MAXINT64: the whole time */

#include <gtk/gtk.h>

#include "flam-core-query.h"

G_BEGIN_DECLS

#define FLAM_TYPE_HEAT_GRID (flam_heat_grid_get_type ())
G_DECLARE_FINAL_TYPE (FlamHeatGrid, flam_heat_grid, FLAM, HEAT_GRID, GtkWidget)

/* Takes ownership of the map; NULL empties it. */
void flam_heat_grid_set_map (FlamHeatGrid *self, FlamHeatMap *map);
void flam_heat_grid_set_range (FlamHeatGrid *self, gint64 from, gint64 to);

G_END_DECLS
