/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-plot-balance.h"

static gint64
cell_time (const FlamPlot *plot, guint cell)
{
  const FlamBalance *balance = plot->data;

  return (gint64)(cell / balance->n_ranks) * balance->column;
}

static char *
row_text (const FlamPlot *plot, guint row)
{
  const FlamBalance *balance = plot->data;

  return g_strdup_printf ("%u", balance->ranks[row].rank);
}

const FlamBalance *
flam_plot_get_balance (const FlamPlot *plot)
{
  return plot->data;
}

FlamPlot *
flam_plot_of_balance (const FlamProfile *profile,
                      const FlamSelection *selection,
                      const FlamWeights *weights,
                      guint n_columns,
                      const FlamProgress *progress,
                      GError **error)
{
  const FlamBalanceWanted wanted = { .columns = n_columns };
  g_autoptr (FlamSelection) whole = flam_selection_copy (selection);
  g_autoptr (FlamBalance) balance = NULL;
  FlamPlot *plot;

  /* All of time is shown, whatever range is selected. */
  whole->from = G_MININT64;
  whole->to = G_MAXINT64;
  balance = flam_balance_new (profile, whole, &wanted, progress, error);
  if (balance == NULL || balance->n_columns == 0)
    return NULL;
  plot = flam_plot_new (FLAM_PLOT_TIME,
                        1,
                        balance->measure.unit,
                        balance,
                        (GDestroyNotify)flam_balance_free);
  plot->to = balance->column * balance->n_columns;
  plot->top = MAX (balance->top, 1);
  plot->measure.denominator = balance->measure.denominator;
  plot->n_rows = balance->n_ranks;
  plot->same_times = TRUE;
  plot->series[0] = (FlamPlotSeries){
    .shape = FLAM_PLOT_CELLS,
    .n = balance->n_columns * balance->n_ranks,
    .value = balance->value,
  };
  plot->cell_time = cell_time;
  plot->row_text = row_text;
  g_steal_pointer (&balance);
  return plot;
}
