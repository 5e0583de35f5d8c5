/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-history-plot.h"

#include "flam-rescale.h"

#include <string.h>

/* --- values --------------------------------------------------------------- */

typedef struct
{
  FlamMeasure measure;
  gint64 value;
  gboolean at_most;
} Value;

static const FlamMeasure plain = {
  .id = FLAM_NONE,
  .name = FLAM_NONE,
  .kind = FLAM_MEASURE_CPU,
  .source = FLAM_FROM_SAMPLES,
  .event = FLAM_NONE,
  .denominator = 1,
};

static gboolean
plain_value (gint64 amount, FlamUnit unit, FlamMeasureKind kind, Value *value)
{
  value->measure = plain;
  value->measure.unit = unit;
  value->measure.kind = kind;
  value->value = amount;
  return amount >= 0;
}

static gboolean
function_value (const FlamFiguresMeasure *measure,
                const FlamPlotWhat *what,
                Value *value)
{
  gboolean self = what->kind == FLAM_PLOT_FUNCTION_SELF;
  const FlamFiguresFunction *function =
      flam_figures_find_function (measure, what->function);

  if (measure->functions == NULL)
    return FALSE;
  if (function != NULL)
    value->value = self ? function->self : function->total;
  else
    {
      value->value = self ? measure->least_self : measure->least_total;
      value->at_most = value->value > 0;
    }
  return TRUE;
}

static gboolean
value_of (const FlamFigures *figures, const FlamPlotWhat *what, Value *value)
{
  const FlamFiguresMeasure *measure =
      what->measure != NULL ? flam_figures_find (figures, what->measure)
                            : flam_figures_selected (figures);

  *value = (Value){ .measure = plain };
  if (what->kind == FLAM_PLOT_DURATION)
    return plain_value (figures->duration_ns > 0 ? figures->duration_ns : -1,
                        FLAM_UNIT_NS,
                        FLAM_MEASURE_CPU,
                        value);
  if (what->kind == FLAM_PLOT_PEAK_MEMORY)
    return plain_value (
        figures->peak_bytes, FLAM_UNIT_BYTES, FLAM_MEASURE_ALLOC, value);
  if (measure == NULL)
    return FALSE;
  value->measure = measure->measure;
  if (what->kind != FLAM_PLOT_MEASURE)
    return function_value (measure, what, value);
  value->value = measure->left;
  return TRUE;
}

/* The unit is that of the last capture that has one; the denominator holds the
 * values of all captures with that unit. */
static void
choose_measure (FlamPlot *plot, const FlamPlotWhat *what)
{
  gboolean found = FALSE;

  plot->measure = plain;
  for (guint i = plot->history->captures->len; i-- > 0;)
    {
      Value value;

      if (!value_of (flam_history_get (plot->history, i), what, &value))
        continue;
      if (!found)
        plot->measure = value.measure;
      else if (flam_measure_is_like (&plot->measure, &value.measure))
        plot->measure = flam_rescale_measure (&value.measure, &plot->measure);
      found = TRUE;
    }
}

/* --- points --------------------------------------------------------------- */

static gboolean
point_of (FlamPlot *plot,
          guint capture,
          const FlamPlotWhat *what,
          FlamPlotPoint *point)
{
  Value value;

  if (!value_of (flam_history_get (plot->history, capture), what, &value) ||
      !flam_measure_is_like (&plot->measure, &value.measure))
    return FALSE;
  *point = (FlamPlotPoint){
    capture,
    flam_rescale_weight (
        value.value, value.measure.denominator, plot->measure.denominator),
    value.at_most,
  };
  return TRUE;
}

static void
add_point (FlamPlot *plot, const FlamPlotPoint *point)
{
  gint64 date = flam_history_get (plot->history, point->capture)->date;

  plot->from = plot->n_points > 0 ? MIN (plot->from, date) : date;
  plot->to = plot->n_points > 0 ? MAX (plot->to, date) : date;
  plot->greatest = MAX (plot->greatest, point->value);
  plot->n_points++;
}

FlamPlot *
flam_plot_new (const FlamHistory *history,
               const FlamHistoryKey *key,
               const FlamPlotWhat *what)
{
  FlamPlot *plot = g_new0 (FlamPlot, 1);

  plot->history = flam_history_ref (history);
  plot->owner = flam_history_series (history, key);
  plot->n = plot->owner->len;
  plot->series = g_new0 (FlamPlotSeries, MAX (plot->n, 1));
  choose_measure (plot, what);
  for (guint i = 0; i < plot->n; i++)
    {
      const FlamHistorySeries *from =
          &g_array_index (plot->owner, FlamHistorySeries, i);
      FlamPlotPoint *points = g_new (FlamPlotPoint, from->n);
      guint n = 0;

      for (guint k = 0; k < from->n; k++)
        if (point_of (plot, from->captures[k], what, &points[n]))
          add_point (plot, &points[n++]);
      plot->missing += from->n - n;
      plot->series[i] = (FlamPlotSeries){ from->name, n, points };
    }
  return plot;
}

void
flam_plot_free (FlamPlot *plot)
{
  for (guint i = 0; i < plot->n; i++)
    g_free ((gpointer)plot->series[i].points);
  g_free (plot->series);
  g_array_unref (plot->owner);
  flam_history_unref (plot->history);
  g_free (plot);
}

/* --- axes ----------------------------------------------------------------- */

double
flam_plot_place (const FlamPlot *plot, guint capture)
{
  guint last = plot->history->captures->len - 1;
  gint64 date = flam_history_get (plot->history, capture)->date;

  if (plot->to > plot->from)
    return (double)(date - plot->from) / (double)(plot->to - plot->from);
  return last > 0 ? (double)capture / last : 0.5;
}

gint64
flam_plot_top (const FlamPlot *plot)
{
  gint64 denominator = plot->measure.denominator;
  gint64 greatest =
      plot->greatest / denominator + (plot->greatest % denominator != 0);
  gint64 power = 1;

  while (power <= G_MAXINT64 / 100 && power * 10 <= greatest)
    power *= 10;
  for (gint64 lead = 10; lead <= 100; lead += lead < 20   ? 2
                                              : lead < 50 ? 5
                                                          : 10)
    if (power >= 10 && power / 10 * lead >= greatest)
      return power / 10 * lead * denominator;
  for (gint64 lead = 1; lead < 10; lead++)
    if (power * lead >= greatest)
      return power * lead * denominator;
  return MAX (plot->greatest, 1);
}

/* Each color has a contrast of at least 4.5 with its background; neighbours in
 * the list differ in lightness too. */
guint32
flam_plot_color (guint series, gboolean dark)
{
  static const guint32 colors[FLAM_PLOT_COLORS][2] = {
    { 0x1a5fb4, 0x78aeed }, { 0xb5521b, 0xffb27a }, { 0x1c7a4e, 0x57e389 },
    { 0x813d9c, 0xd9a6ea }, { 0x0b7285, 0x4fd0d8 }, { 0xc01c28, 0xff8a80 },
    { 0x7a5230, 0xcdab8f }, { 0x5e5c64, 0xc0bfbc },
  };

  return colors[series % FLAM_PLOT_COLORS][dark != FALSE];
}

/* --- candidates ----------------------------------------------------------- */

static gboolean
is_chosen (const GArray *choices, const char *id)
{
  for (guint i = 0; i < choices->len; i++)
    if (strcmp (g_array_index (choices, FlamPlotChoice, i).measure, id) == 0)
      return TRUE;
  return FALSE;
}

/* The selected measure of each capture comes first, as the most relevant of its
 * kind. */
static void
add_measures (GArray *choices, const FlamFigures *figures)
{
  for (guint i = 0; i < figures->n_measures; i++)
    {
      guint at = i == 0 ? figures->measure : i <= figures->measure ? i - 1 : i;
      const FlamFiguresMeasure *measure = &figures->measures[at];
      FlamPlotChoice choice = { FLAM_PLOT_MEASURE, measure->id, measure->name };

      if (measure->total != 0 && !is_chosen (choices, measure->id))
        g_array_append_val (choices, choice);
    }
}

GArray *
flam_plot_choices (const FlamHistory *history)
{
  GArray *choices = g_array_new (FALSE, FALSE, sizeof (FlamPlotChoice));
  FlamPlotChoice peak = { FLAM_PLOT_PEAK_MEMORY, NULL, NULL };
  FlamPlotChoice duration = { FLAM_PLOT_DURATION, NULL, NULL };
  gboolean memory = FALSE, time = FALSE;

  for (guint i = history->captures->len; i-- > 0;)
    {
      const FlamFigures *figures = flam_history_get (history, i);
      const FlamFiguresMeasure *measure = flam_figures_find (figures, "peak");

      add_measures (choices, figures);
      memory |= figures->peak_bytes > 0 && measure == NULL;
      time |= figures->duration_ns > 0;
    }
  if (memory)
    g_array_append_val (choices, peak);
  if (time)
    g_array_append_val (choices, duration);
  return choices;
}
