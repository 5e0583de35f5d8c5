/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-plot-range.h"

#include <math.h>

#define HANDLE 6.0 /* pixels around an edge in which it can be grabbed */

/* The whole axis is not a range. */
static FlamPlotRange
within (const FlamPlot *plot, gint64 from, gint64 to)
{
  if (from <= plot->from && to >= plot->to)
    return FLAM_PLOT_ALL;
  return (FlamPlotRange){ from, to };
}

FlamPlotGrab
flam_plot_range_grab (const FlamPlot *plot,
                      const FlamRect *area,
                      FlamPlotRange range,
                      double x)
{
  double from = flam_plot_x_of (plot, area, range.from);
  double to = flam_plot_x_of (plot, area, range.to);

  if (flam_plot_range_is_all (range))
    return FLAM_PLOT_GRAB_NEW;
  if (fabs (x - from) <= HANDLE && fabs (x - from) <= fabs (x - to))
    return FLAM_PLOT_GRAB_FROM;
  if (fabs (x - to) <= HANDLE)
    return FLAM_PLOT_GRAB_TO;
  return x > from && x < to ? FLAM_PLOT_GRAB_RANGE : FLAM_PLOT_GRAB_NEW;
}

gboolean
flam_plot_range_drag (const FlamPlot *plot,
                      const FlamRect *area,
                      FlamPlotRange before,
                      FlamPlotGrab grab,
                      double x,
                      double dx,
                      FlamPlotRange *range)
{
  double from = flam_plot_x_of (plot, area, before.from);
  double to = flam_plot_x_of (plot, area, before.to);

  switch (grab)
    {
    case FLAM_PLOT_GRAB_NEW:
      from = x;
      to = x + dx;
      break;
    case FLAM_PLOT_GRAB_FROM:
      from += dx;
      break;
    case FLAM_PLOT_GRAB_TO:
      to += dx;
      break;
    case FLAM_PLOT_GRAB_RANGE:
      dx = CLAMP (dx, area->x - from, area->x + area->width - to);
      from += dx;
      to += dx;
      break;
    case FLAM_PLOT_GRAB_NONE:
      return FALSE;
    }
  if (fabs (to - from) < FLAM_PLOT_DRAG_LEAST)
    return FALSE;
  *range = within (plot,
                   flam_plot_time_at (plot, area, MIN (from, to)),
                   flam_plot_time_at (plot, area, MAX (from, to)));
  return TRUE;
}

FlamPlotRange
flam_plot_range_nudge (const FlamPlot *plot,
                       FlamPlotRange range,
                       FlamPlotEdge edge,
                       int direction)
{
  gint64 span = plot->to - plot->from;
  gint64 step = MAX (span / 100, 1) * direction;
  gint64 from = MAX (range.from, plot->from);
  gint64 to = MIN (range.to, plot->to);

  if (flam_plot_range_is_all (range) && edge == FLAM_PLOT_EDGE_BOTH)
    {
      from = plot->from + span * 2 / 5;
      to = plot->from + span * 3 / 5;
    }
  else if (edge == FLAM_PLOT_EDGE_TO)
    to = CLAMP (to + step, from + 1, plot->to);
  else if (edge == FLAM_PLOT_EDGE_FROM)
    from = CLAMP (from + step, plot->from, to - 1);
  else
    {
      step = CLAMP (step, plot->from - from, plot->to - to);
      from += step;
      to += step;
    }
  return within (plot, from, to);
}

FlamPlotRange
flam_plot_range_widen (const FlamPlot *plot, FlamPlotRange range, double factor)
{
  gint64 from = MAX (range.from, plot->from);
  gint64 to = MIN (range.to, plot->to);
  gint64 middle = from + (to - from) / 2;
  gint64 half = MAX ((gint64)((double)(to - from) / 2 * factor), 1);

  return within (
      plot, MAX (middle - half, plot->from), MIN (middle + half, plot->to));
}
