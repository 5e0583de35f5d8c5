/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "flam-heat-words.h"

#include <glib/gi18n.h>

#define SECOND G_GINT64_CONSTANT (1000000000)

/* "14:05:07.25" */
static char *
clock_text (const FlamHeatMap *map, gint64 time)
{
  gint64 clock = map->clock - map->from + time;
  g_autoptr (GDateTime) date = g_date_time_new_from_unix_local (clock / SECOND);
  g_autofree char *text = NULL;

  if (date == NULL)
    return g_strdup ("");
  text = g_date_time_format (date, "%H:%M:%S");
  return g_strdup_printf (
      "%s.%02d", text, (int)(clock % SECOND / (SECOND / 100)));
}

static char *
time_text (const FlamHeatMap *map, guint cell, const char *separator)
{
  gint64 time = flam_heat_map_time_of (map, cell);
  g_autofree char *since = flam_format_value (time, FLAM_UNIT_NS);
  /* Translators: a time since the start of the capture */
  g_autofree char *text = g_strdup_printf (_ ("at %s"), since);
  g_autofree char *clock = NULL;

  if (map->clock == 0)
    return g_steal_pointer (&text);
  clock = clock_text (map, time);
  return g_strjoin (separator, text, clock, NULL);
}

char *
flam_heat_words (const FlamPlot *plot, FlamPlotSpot spot, const char *separator)
{
  const FlamHeatMap *map = flam_plot_get_heat (plot);
  guint n = map->samples[spot.point];
  g_autofree char *time = time_text (map, spot.point, separator);
  g_autofree char *samples =
      n == 0 ? g_strdup (_ ("no samples"))
             : g_strdup_printf (ngettext ("%u sample", "%u samples", n), n);
  g_autofree char *value = NULL;

  if (n == 0 || map->unit == FLAM_UNIT_COUNT)
    return g_strjoin (separator, time, samples, NULL);
  value = flam_format_weight (&plot->measure, map->value[spot.point]);
  return g_strjoin (separator, time, value, samples, NULL);
}
