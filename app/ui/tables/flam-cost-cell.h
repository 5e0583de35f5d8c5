/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COST_CELL_H
#define FLAM_COST_CELL_H

/* A weight as number, share and bar: the cell of the cost columns in the call
 * tree and the function list. */

#include "flam-view-data.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_COST_CELL (flam_cost_cell_get_type ())
G_DECLARE_FINAL_TYPE (FlamCostCell, flam_cost_cell, FLAM, COST_CELL, GtkWidget)

GtkWidget *flam_cost_cell_new (void);
void flam_cost_cell_set (FlamCostCell *cell,
                         const FlamViewData *view_data,
                         FlamFigure figure);

/* Width of the number alone, in pixels. */
int flam_cost_cell_get_value_width (GtkWidget *cell);

G_END_DECLS

#endif
