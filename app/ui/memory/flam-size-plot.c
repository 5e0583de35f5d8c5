/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-size-plot.h"

#include <glib/gi18n.h>

typedef struct
{
  FlamMemorySummary *memory; /* a reference */
  FlamMemoryPart part;
  gint64 *value; /* one per bar */
} Data;

static void
data_free (gpointer owner)
{
  Data *data = owner;

  flam_memory_summary_unref (data->memory);
  g_free (data->value);
  g_free (data);
}

static char *
low_text (const FlamPlot *plot, guint bar)
{
  const Data *data = plot->data;
  gint64 low, high;

  flam_memory_summary_bin_range (data->memory->first_bin + bar, &low, &high);
  return flam_format_power (low);
}

static char *
range_text (const FlamMemorySummary *memory, guint bar)
{
  g_autofree char *from = NULL;
  g_autofree char *to = NULL;
  gint64 low, high;

  flam_memory_summary_bin_range (memory->first_bin + bar, &low, &high);
  from = flam_format_power (low);
  if (low == high)
    return g_steal_pointer (&from);
  to = high < G_MAXINT64 ? flam_format_power (high + 1) : g_strdup ("8 EiB");
  /* Translators: sizes of blocks of memory */
  return g_strdup_printf (_ ("%s to less than %s"), from, to);
}

static char *
describe (const FlamPlot *plot, FlamPlotSpot spot, const char *separator)
{
  const Data *data = plot->data;
  const FlamMemorySummary *memory = data->memory;
  const FlamAmounts *amounts = &memory->size[memory->first_bin + spot.point];
  const FlamAmount *amount = &amounts->part[data->part];
  const FlamAmount *all = &memory->all.part[data->part];
  g_autofree char *range = range_text (memory, spot.point);
  FlamEstimate of_bytes =
      flam_amounts_estimate (memory, amounts, data->part, TRUE);
  FlamEstimate of_blocks =
      flam_amounts_estimate (memory, amounts, data->part, FALSE);
  g_autofree char *bytes =
      flam_format_with_error (&of_bytes, amount->bytes, FLAM_UNIT_BYTES);
  g_autofree char *blocks =
      flam_format_with_error (&of_blocks, amount->blocks, FLAM_UNIT_COUNT);
  g_autofree char *share = flam_format_percent (amount->bytes, all->bytes);
  g_autofree char *block_share =
      flam_format_percent (amount->blocks, all->blocks);

  /* Translators: a size; bytes and their share; blocks and their share */
  return flam_format_from_few (
      g_strdup_printf (_ ("%s: %s (%s) in %s blocks (%s)"),
                       range,
                       bytes,
                       share,
                       blocks,
                       block_share),
      flam_estimate_is_few (&of_bytes) ? &of_bytes : &of_blocks);
}

FlamPlot *
flam_size_plot_new (FlamMemorySummary *memory,
                    FlamMemoryPart part,
                    gboolean bytes)
{
  Data *data = g_new0 (Data, 1);
  guint n = memory->end_bin - memory->first_bin;
  FlamPlot *plot = flam_plot_new (FLAM_PLOT_SLOTS,
                                  1,
                                  bytes ? FLAM_UNIT_BYTES : FLAM_UNIT_COUNT,
                                  data,
                                  data_free);

  data->memory = flam_memory_summary_ref (memory);
  data->part = part;
  data->value = g_new (gint64, MAX (n, 1));
  for (guint bar = 0; bar < n; bar++)
    {
      const FlamAmount *amount =
          &memory->size[memory->first_bin + bar].part[part];

      data->value[bar] = bytes ? amount->bytes : amount->blocks;
      plot->top = MAX (plot->top, data->value[bar]);
    }
  plot->series[0] = (FlamPlotSeries){
    .shape = FLAM_PLOT_BARS,
    .color = { FLAM_PLOT_MEMORY_LIGHT, FLAM_PLOT_MEMORY_DARK },
    .n = n,
    .value = data->value,
  };
  plot->title = g_strdup (_ ("Sizes of blocks"));
  plot->describe = describe;
  plot->slot_text = low_text;
  return plot;
}
