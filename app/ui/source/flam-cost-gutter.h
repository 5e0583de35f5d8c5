/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COST_GUTTER_H
#define FLAM_COST_GUTTER_H

/* The cost of each line, beside the line: self and total, each as a number and
 * a bar; during a comparison, before, now and the change. */

#include <gtksourceview/gtksource.h>

#include "flam-source-costs.h"

G_BEGIN_DECLS

#define FLAM_TYPE_COST_GUTTER (flam_cost_gutter_get_type ())
G_DECLARE_FINAL_TYPE (FlamCostGutter,
                      flam_cost_gutter,
                      FLAM,
                      COST_GUTTER,
                      GtkSourceGutterRenderer)

GtkSourceGutterRenderer *flam_cost_gutter_new (void);
/* NULL empties it. */
void flam_cost_gutter_set_costs (FlamCostGutter *gutter,
                                 FlamSourceCosts *costs);
/* The width of the source view. If the figures took more than two thirds of it,
 * there are the shares of the total instead; during a comparison, only the
 * change. */
void flam_cost_gutter_set_room (FlamCostGutter *gutter, int room);
/* The cost of a line (from 1), in words. */
char *flam_cost_gutter_describe (FlamCostGutter *gutter, guint line);

G_END_DECLS

#endif
