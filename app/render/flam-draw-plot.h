/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DRAW_PLOT_H
#define FLAM_DRAW_PLOT_H

/* Draws a plot: its series, the lines and marks of its axes, its key and its
 * note. It draws no background. Selections, the hovered point and the focus are
 * the widget's. */

#include <pango/pangocairo.h>

#include "flam-core-picture.h"

G_BEGIN_DECLS

typedef struct
{
  gboolean dark; /* the background */
  struct
  {
    double red, green, blue;
  } ink;           /* of texts and rules */
  GTimeZone *zone; /* of dates */
} FlamPlotLook;

/* The plot's text_extra for the font of a context. */
double flam_draw_plot_text_extra (PangoContext *context);

/* At the origin of `cr`. `note`: gets the rectangle of the plot's note, an
 * empty one if it has none; or NULL. */
void flam_draw_plot (PangoContext *context,
                     cairo_t *cr,
                     const FlamPlot *plot,
                     double width,
                     double height,
                     const FlamPlotLook *look,
                     FlamRect *note);

/* A text that is readable over any series, centered at x, in the first row or,
 * without room beside `taken` (or NULL), in the second one. Returns its
 * rectangle. */
FlamRect flam_draw_plot_badge (PangoContext *context,
                               cairo_t *cr,
                               const char *text,
                               double x,
                               double width,
                               const FlamRect *taken,
                               const FlamPlotLook *look);

/* The surface below the plot, for veils over the unselected parts. */
static inline double
flam_draw_plot_paper (gboolean dark)
{
  return dark ? 0.12 : 0.98;
}

G_END_DECLS

#endif
