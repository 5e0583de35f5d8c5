/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-history-words.h"

#include "flam-core-picture.h"
#include "flam-value-text.h"

#include <glib/gi18n.h>
#include <math.h>

#define BUILD_SHOWN 12
#define REFUSED_SHOWN 50

const char *
flam_history_words_choice (const FlamTrendChoice *choice)
{
  switch (choice->kind)
    {
    case FLAM_TREND_PEAK_MEMORY:
      return _ ("Peak memory");
    case FLAM_TREND_DURATION:
      return _ ("Duration");
    case FLAM_TREND_MEASURE:
    case FLAM_TREND_FUNCTION_TOTAL:
    case FLAM_TREND_FUNCTION_SELF:
      break;
    }
  return *choice->name != '\0' ? _ (choice->name) : choice->measure;
}

const char *
flam_history_words_series (const char *name)
{
  return name != NULL ? name : _ ("Other captures");
}

static char *
local_date (const FlamFigures *figures)
{
  g_autoptr (GTimeZone) here = g_time_zone_new_local ();

  return flam_dates_text (figures->date, here, FALSE);
}

char *
flam_history_words_short_date (const FlamFigures *figures)
{
  g_autofree char *date = local_date (figures);

  /* Translators: a date, taken from the file */
  return figures->of_file ? g_strdup_printf (_ ("%s (file)"), date)
                          : g_steal_pointer (&date);
}

static char *
date_text (const FlamFigures *figures)
{
  g_autofree char *date = local_date (figures);

  /* Translators: a date; the capture contains none */
  return figures->of_file ? g_strdup_printf (_ ("%s (date of the file)"), date)
                          : g_steal_pointer (&date);
}

char *
flam_history_words_value (const FlamTrend *trend, const FlamTrendPoint *point)
{
  g_autofree char *value =
      flam_format_estimated (&point->estimate, &trend->measure, point->value);

  return point->at_most ? g_strdup_printf (_ ("at most %s"), value)
                        : g_steal_pointer (&value);
}

char *
flam_history_words_change (const FlamTrend *trend,
                           const FlamTrendSeries *series,
                           guint point)
{
  const FlamTrendPoint *now = &series->points[point];
  const FlamTrendPoint *before = point > 0 ? now - 1 : NULL;
  FlamEstimate estimate;
  gint64 delta;
  g_autofree char *change = NULL;
  g_autofree char *part = NULL;
  g_autofree char *share = NULL;

  if (before == NULL || before->at_most || now->at_most)
    return g_strdup ("");
  estimate = flam_estimate_of_sum (before->estimate, now->estimate);
  delta = now->value - before->value;
  change = flam_value_text_change (&trend->measure, delta, &estimate);
  if (before->value == 0)
    return g_steal_pointer (&change);
  part = flam_format_percent (ABS (delta), before->value);
  share = flam_format_change (delta, part);
  /* Translators: a change, and the change in per cent */
  return g_strdup_printf (_ ("%s (%s)"), change, share);
}

static void
add_line (GPtrArray *lines, char *line)
{
  if (line != NULL && *line != '\0')
    g_ptr_array_add (lines, line);
  else
    g_free (line);
}

/* "label: text"; no line if it is unknown. */
static void
add_fact (GPtrArray *lines, const char *format, const char *text)
{
  g_autofree char *visible = flam_format_visible (text);

  if (*text != '\0')
    {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
      add_line (lines, g_strdup_printf (format, visible));
#pragma GCC diagnostic pop
    }
}

char *
flam_history_words_point (const FlamTrend *trend,
                          guint i,
                          guint point,
                          const char *separator)
{
  const FlamTrendSeries *series = &trend->series[i];
  const FlamFigures *figures =
      flam_history_get (trend->history, series->points[point].capture);
  g_autoptr (GPtrArray) lines = g_ptr_array_new_with_free_func (g_free);
  g_autofree char *value =
      flam_history_words_value (trend, &series->points[point]);
  g_autofree char *change = flam_history_words_change (trend, series, point);
  g_autofree char *build = g_strndup (figures->build, BUILD_SHOWN);

  add_line (lines, flam_format_visible (figures->name));
  add_line (lines, date_text (figures));
  /* Translators: a value, and its change since the previous capture */
  add_line (
      lines,
      *change != '\0'
          ? g_strdup_printf (_ ("%s, %s since the one before"), value, change)
          : g_strdup (value));
  if (trend->n > 1)
    add_fact (
        lines, _ ("Series: %s"), flam_history_words_series (series->name));
  add_fact (lines, _ ("Command: %s"), figures->command);
  add_fact (lines, _ ("Build: %s"), build);
  add_fact (lines, _ ("Host: %s"), figures->host);
  add_fact (lines, _ ("Commit: %s"), figures->commit);
  add_fact (lines, _ ("Job: %s"), figures->job);
  g_ptr_array_add (lines, NULL);
  return g_strjoinv (separator, (char **)lines->pdata);
}

char *
flam_history_words_refused (const FlamHistory *history)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < MIN (history->refused->len, REFUSED_SHOWN); i++)
    {
      const FlamRefusal *refusal = history->refused->pdata[i];
      g_autofree char *why = flam_message_shown (refusal->why);

      g_string_append_printf (
          text, "%s%s: %s", i > 0 ? "\n" : "", refusal->name, why);
    }
  if (history->refused->len > REFUSED_SHOWN)
    g_string_append (text, "\n…");
  return g_string_free (text, FALSE);
}

char *
flam_history_words_legend (const FlamTrend *trend, guint series, gboolean dark)
{
  static const char *const shapes[] = { "●", "■", "◆", "▲" };
  const char *name = flam_history_words_series (trend->series[series].name);
  g_autofree char *visible = flam_format_visible (name);
  g_autofree char *escaped = g_markup_escape_text (visible, -1);

  return g_strdup_printf ("<span foreground=\"#%06x\">%s</span>\u00a0%s",
                          flam_plot_color (series, dark),
                          shapes[series % G_N_ELEMENTS (shapes)],
                          escaped);
}
