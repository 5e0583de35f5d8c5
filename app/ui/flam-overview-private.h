/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the overview and the sparkline draw alike. */

#include "flam-overview.h"

G_BEGIN_DECLS

GdkRGBA flam_curve_color (const FlamTimeline *timeline, gboolean dark);
gboolean flam_curve_is_dark (GtkWidget *widget);

/* A row of the timeline as a filled curve, `top` being the value at the upper
 * edge of the area. */
void flam_curve_append (GtkSnapshot *snapshot,
                        const FlamTimeline *timeline,
                        guint row,
                        gint64 top,
                        const graphene_rect_t *area,
                        const GdkRGBA *color);

G_END_DECLS
