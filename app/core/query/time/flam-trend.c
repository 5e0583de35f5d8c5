/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-trend.h"

#include "flam-rescale.h"

#include <string.h>

typedef struct
{
  FlamMeasure measure;
  gint64 value;
  FlamEstimate estimate;
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
                const FlamTrendWhat *what,
                Value *value)
{
  gboolean self = what->kind == FLAM_TREND_FUNCTION_SELF;
  const FlamFiguresFunction *function =
      flam_figures_find_function (measure, what->function);

  if (measure->functions == NULL)
    return FALSE;
  if (function != NULL)
    {
      value->value = self ? function->self : function->total;
      value->estimate =
          self ? function->self_estimate : function->total_estimate;
    }
  else
    {
      value->value = self ? measure->least_self : measure->least_total;
      value->at_most = value->value > 0;
    }
  return TRUE;
}

static gboolean
value_of (const FlamFigures *figures, const FlamTrendWhat *what, Value *value)
{
  const FlamFiguresMeasure *measure =
      what->measure != NULL ? flam_figures_find (figures, what->measure)
                            : flam_figures_selected (figures);

  *value = (Value){ .measure = plain };
  if (what->kind == FLAM_TREND_DURATION)
    return plain_value (figures->duration_ns > 0 ? figures->duration_ns : -1,
                        FLAM_UNIT_NS,
                        FLAM_MEASURE_CPU,
                        value);
  if (what->kind == FLAM_TREND_PEAK_MEMORY)
    return plain_value (
        figures->peak_bytes, FLAM_UNIT_BYTES, FLAM_MEASURE_ALLOC, value);
  if (measure == NULL)
    return FALSE;
  value->measure = measure->measure;
  if (what->kind != FLAM_TREND_MEASURE)
    return function_value (measure, what, value);
  value->value = measure->left;
  value->estimate = measure->left_estimate;
  return TRUE;
}

/* The unit is that of the last capture that has one; the denominator holds the
 * values of all captures with that unit. */
static void
choose_measure (FlamTrend *trend, const FlamTrendWhat *what)
{
  gboolean found = FALSE;

  trend->measure = plain;
  for (guint i = trend->history->captures->len; i-- > 0;)
    {
      Value value;

      if (!value_of (flam_history_get (trend->history, i), what, &value))
        continue;
      if (!found)
        trend->measure = value.measure;
      else if (flam_measure_is_like (&trend->measure, &value.measure))
        trend->measure = flam_rescale_measure (&value.measure, &trend->measure);
      found = TRUE;
    }
}

static gboolean
point_of (FlamTrend *trend,
          guint capture,
          const FlamTrendWhat *what,
          FlamTrendPoint *point)
{
  Value value;

  if (!value_of (flam_history_get (trend->history, capture), what, &value) ||
      !flam_measure_is_like (&trend->measure, &value.measure))
    return FALSE;
  *point = (FlamTrendPoint){
    capture,
    flam_rescale_weight (
        value.value, value.measure.denominator, trend->measure.denominator),
    value.estimate,
    value.at_most,
  };
  return TRUE;
}

static void
add_point (FlamTrend *trend, const FlamTrendPoint *point)
{
  gint64 date = flam_history_get (trend->history, point->capture)->date;

  trend->from = trend->n_points > 0 ? MIN (trend->from, date) : date;
  trend->to = trend->n_points > 0 ? MAX (trend->to, date) : date;
  trend->greatest =
      MAX (trend->greatest,
           point->value +
               MIN (point->estimate.error, G_MAXINT64 - MAX (point->value, 0)));
  trend->n_points++;
}

FlamTrend *
flam_trend_new (const FlamHistory *history,
                const FlamHistoryKey *key,
                const FlamTrendWhat *what)
{
  FlamTrend *trend = g_new0 (FlamTrend, 1);

  trend->history = flam_history_ref (history);
  trend->owner = flam_history_series (history, key);
  trend->n = trend->owner->len;
  trend->series = g_new0 (FlamTrendSeries, MAX (trend->n, 1));
  choose_measure (trend, what);
  for (guint i = 0; i < trend->n; i++)
    {
      const FlamHistorySeries *from =
          &g_array_index (trend->owner, FlamHistorySeries, i);
      FlamTrendPoint *points = g_new (FlamTrendPoint, from->n);
      guint n = 0;

      for (guint k = 0; k < from->n; k++)
        if (point_of (trend, from->captures[k], what, &points[n]))
          add_point (trend, &points[n++]);
      trend->missing += from->n - n;
      trend->series[i] = (FlamTrendSeries){ from->name, n, points };
    }
  return trend;
}

void
flam_trend_hide (FlamTrend *trend, guint series)
{
  trend->series[series].n = 0;
  trend->n_points = 0;
  trend->greatest = trend->from = trend->to = 0;
  for (guint i = 0; i < trend->n; i++)
    for (guint k = 0; k < trend->series[i].n; k++)
      add_point (trend, &trend->series[i].points[k]);
}

void
flam_trend_free (FlamTrend *trend)
{
  for (guint i = 0; i < trend->n; i++)
    g_free ((gpointer)trend->series[i].points);
  g_free (trend->series);
  g_array_unref (trend->owner);
  flam_history_unref (trend->history);
  g_free (trend);
}

static gboolean
is_chosen (const GArray *choices, const char *id)
{
  for (guint i = 0; i < choices->len; i++)
    if (strcmp (g_array_index (choices, FlamTrendChoice, i).measure, id) == 0)
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
      FlamTrendChoice choice = { FLAM_TREND_MEASURE,
                                 measure->id,
                                 measure->name };

      if (measure->total != 0 && !is_chosen (choices, measure->id))
        g_array_append_val (choices, choice);
    }
}

GArray *
flam_trend_choices (const FlamHistory *history)
{
  GArray *choices = g_array_new (FALSE, FALSE, sizeof (FlamTrendChoice));
  FlamTrendChoice peak = { FLAM_TREND_PEAK_MEMORY, NULL, NULL };
  FlamTrendChoice duration = { FLAM_TREND_DURATION, NULL, NULL };
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
