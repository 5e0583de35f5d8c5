/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PLOT_RANGE_H
#define FLAM_PLOT_RANGE_H

/* A range of time on an axis, and how the pointer and keys change it. Half
 * open, in ns; G_MININT64 and G_MAXINT64: all of the time. */

#include "flam-plot.h"

G_BEGIN_DECLS

typedef struct
{
  gint64 from, to;
} FlamPlotRange;

#define FLAM_PLOT_ALL ((FlamPlotRange){ G_MININT64, G_MAXINT64 })

static inline gboolean
flam_plot_range_is_all (FlamPlotRange range)
{
  return range.from == G_MININT64 && range.to == G_MAXINT64;
}

/* The part of a range that a drag moves. */
typedef enum
{
  FLAM_PLOT_GRAB_NONE,
  FLAM_PLOT_GRAB_NEW, /* a new range begins */
  FLAM_PLOT_GRAB_FROM,
  FLAM_PLOT_GRAB_TO,
  FLAM_PLOT_GRAB_RANGE,
} FlamPlotGrab;

/* The part at a position. */
FlamPlotGrab flam_plot_range_grab (const FlamPlot *plot,
                                   const FlamRect *area,
                                   FlamPlotRange range,
                                   double x);
/* A shorter drag is a click. */
#define FLAM_PLOT_DRAG_LEAST 2.0
/* Drags a part from `x` on by `dx` pixels. FALSE: that would leave nothing of
 * the range. */
gboolean flam_plot_range_drag (const FlamPlot *plot,
                               const FlamRect *area,
                               FlamPlotRange before,
                               FlamPlotGrab grab,
                               double x,
                               double dx,
                               FlamPlotRange *range);

typedef enum
{
  FLAM_PLOT_EDGE_BOTH,
  FLAM_PLOT_EDGE_FROM,
  FLAM_PLOT_EDGE_TO,
} FlamPlotEdge;

/* One hundredth of the axis to the left (-1) or to the right (1). Where nothing
 * was selected, the fifth in the middle. */
FlamPlotRange flam_plot_range_nudge (const FlamPlot *plot,
                                     FlamPlotRange range,
                                     FlamPlotEdge edge,
                                     int direction);
/* Around its middle. */
FlamPlotRange flam_plot_range_widen (const FlamPlot *plot,
                                     FlamPlotRange range,
                                     double factor);

G_END_DECLS

#endif
