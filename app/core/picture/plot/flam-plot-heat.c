/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-plot-heat.h"

static gint64
cell_time (const FlamPlot *plot, guint cell)
{
  return flam_heat_map_time_of (plot->data, cell);
}

const FlamHeatMap *
flam_plot_get_heat (const FlamPlot *plot)
{
  return plot->data;
}

FlamPlot *
flam_plot_of_heat (const FlamProfile *profile,
                   const FlamSelection *selection,
                   const FlamWeights *weights,
                   guint n_rows,
                   const FlamProgress *progress,
                   GError **error)
{
  FlamHeatMap *map =
      flam_heat_map_new (profile, selection, n_rows, progress, error);
  FlamPlot *plot;

  if (map == NULL)
    return NULL;
  plot = flam_plot_new (map->clock > 0 ? FLAM_PLOT_DATE : FLAM_PLOT_TIME,
                        1,
                        map->unit,
                        map,
                        (GDestroyNotify)flam_heat_map_free);
  plot->from = map->clock;
  plot->to = map->clock + map->column * map->n_columns;
  plot->top = MAX (map->top, 1);
  plot->n_rows = map->n_rows;
  plot->series[0] = (FlamPlotSeries){
    .shape = FLAM_PLOT_CELLS,
    .n = map->n_columns * map->n_rows,
    .value = map->value,
  };
  plot->cell_time = cell_time;
  return plot;
}
