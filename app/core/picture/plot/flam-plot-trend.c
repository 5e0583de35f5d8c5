/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-plot-trend.h"

typedef struct
{
  FlamTrend *trend;
  /* The points of all series, one series after the other. */
  gint64 *value;
  double *x;
  gboolean *hollow;
  gint64 *error;
} Data;

static void
data_free (gpointer owner)
{
  Data *data = owner;

  flam_trend_free (data->trend);
  g_free (data->value);
  g_free (data->x);
  g_free (data->hollow);
  g_free (data->error);
  g_free (data);
}

static double
x_of (const FlamTrend *trend, guint capture)
{
  guint last = trend->history->captures->len - 1;
  gint64 date = flam_history_get (trend->history, capture)->date;

  if (trend->to > trend->from)
    return (double)(date - trend->from) / (double)(trend->to - trend->from);
  return last > 0 ? (double)capture / last : 0.5;
}

FlamPlot *
flam_plot_of_trend (FlamTrend *trend)
{
  Data *data = g_new (Data, 1);
  FlamPlot *plot = flam_plot_new (
      FLAM_PLOT_DATE, trend->n, trend->measure.unit, data, data_free);
  guint at = 0;

  *data = (Data){ trend,
                  g_new (gint64, trend->n_points),
                  g_new (double, trend->n_points),
                  g_new (gboolean, trend->n_points),
                  g_new (gint64, trend->n_points) };
  plot->from = trend->from;
  plot->to = trend->to;
  plot->measure = trend->measure;
  plot->top = flam_plot_round_top (trend->greatest, trend->measure.denominator);
  plot->has_values = TRUE;
  for (guint s = 0; s < trend->n; s++)
    {
      const FlamTrendSeries *from = &trend->series[s];

      plot->series[s] = (FlamPlotSeries){
        .shape = FLAM_PLOT_LINE,
        .color = { flam_plot_color (s, FALSE), flam_plot_color (s, TRUE) },
        .n = from->n,
        .value = data->value + at,
        .x = data->x + at,
        .hollow = data->hollow + at,
        .error = data->error + at,
      };
      for (guint p = 0; p < from->n; p++, at++)
        {
          data->value[at] = from->points[p].value;
          data->x[at] = x_of (trend, from->points[p].capture);
          data->hollow[at] = from->points[p].at_most;
          data->error[at] = from->points[p].estimate.error;
        }
    }
  return plot;
}

const FlamTrend *
flam_plot_get_trend (const FlamPlot *plot)
{
  return ((const Data *)plot->data)->trend;
}

guint
flam_plot_capture_at (const FlamPlot *plot, FlamPlotSpot spot)
{
  const FlamTrend *trend = flam_plot_get_trend (plot);

  return flam_plot_is_spot (plot, spot)
             ? trend->series[spot.series].points[spot.point].capture
             : G_MAXUINT;
}

FlamPlotSpot
flam_plot_find_capture (const FlamPlot *plot, guint capture)
{
  for (guint s = 0; s < plot->n; s++)
    for (guint p = 0; p < plot->series[s].n; p++)
      if (flam_plot_capture_at (plot, (FlamPlotSpot){ s, p }) == capture)
        return (FlamPlotSpot){ s, p };
  return FLAM_PLOT_NOWHERE;
}
