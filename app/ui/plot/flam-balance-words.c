/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-balance-words.h"

#include <glib/gi18n.h>

static char *
rank_text (const FlamBalanceRank *rank)
{
  g_autofree char *host = flam_format_visible (rank->host);

  if (*host == '\0')
    return g_strdup_printf (_ ("Rank %u"), rank->rank);
  /* Translators: a process of a parallel job, and its machine */
  return g_strdup_printf (_ ("Rank %u on %s"), rank->rank, host);
}

char *
flam_balance_words (const FlamPlot *plot,
                    FlamPlotSpot spot,
                    const char *separator)
{
  const FlamBalance *balance = flam_plot_get_balance (plot);
  guint column = spot.point / balance->n_ranks;
  const FlamBalanceSpread *spread = &balance->columns[column];
  g_autofree char *rank =
      rank_text (&balance->ranks[spot.point % balance->n_ranks]);
  g_autofree char *since =
      flam_format_value (column * balance->column, FLAM_UNIT_NS);
  g_autofree char *work =
      flam_format_weight (&balance->measure, balance->value[spot.point]);
  g_autofree char *median =
      flam_format_weight (&balance->measure, spread->median);
  g_autofree char *most = flam_format_weight (&balance->measure, spread->most);
  /* Translators: a time since the start of the capture */
  g_autofree char *time = g_strdup_printf (_ ("at %s"), since);
  /* Translators: of all ranks at this time: the median of their work, and the
   * most, with the rank that worked so much */
  g_autofree char *others =
      g_strdup_printf (_ ("median %s, most %s (rank %u)"),
                       median,
                       most,
                       balance->ranks[spread->slowest].rank);

  return g_strjoin (separator, rank, time, work, others, NULL);
}
