/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Curves over time, as the overview and the sparklines draw them. */

#include <gtk/gtk.h>

#include "flam-core-query.h"

G_BEGIN_DECLS

/* Whether the widget is drawn in the dark style. */
gboolean flam_curve_is_dark (GtkWidget *widget);

/* A row of the timeline as a filled curve, or, where it has states, as stacked
 * areas in their colors, `top` being the value at the upper edge of the
 * area. */
void flam_curve_append (GtkSnapshot *snapshot,
                        const FlamTimeline *timeline,
                        guint row,
                        gint64 top,
                        const graphene_rect_t *area,
                        gboolean dark);

G_END_DECLS
