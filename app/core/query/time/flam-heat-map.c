/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-heat-map.h"

#include "flam-sample-filter.h"
#include "flam-shown.h"

#define SECOND G_GINT64_CONSTANT (1000000000)
#define COLUMNS_MAX 20000
#define STEP_ROWS (1 << 14)

gint64
flam_heat_map_time_of (const FlamHeatMap *map, guint cell)
{
  guint column = cell / map->n_rows;
  guint row = cell % map->n_rows;

  return MAX (map->from + (gint64)column * map->column +
                  (gint64)((double)map->column * row / map->n_rows),
              0);
}

guint
flam_heat_map_cell_of (const FlamHeatMap *map, gint64 time)
{
  gint64 since = MIN (MAX (time, 0), G_MAXINT64 + map->from) - map->from;
  gint64 column = since / map->column;
  gint64 offset = since % map->column;
  guint cell;

  if (column >= map->n_columns)
    return map->n_columns * map->n_rows - 1;
  cell = (guint)column * map->n_rows +
         MIN ((guint)((double)offset * map->n_rows / (double)map->column),
              map->n_rows - 1);
  /* Borders are rounded: a time is in the last cell that begins at or before
     it. */
  if (flam_heat_map_time_of (map, cell) > time)
    return cell - 1;
  if (cell + 1 < map->n_columns * map->n_rows &&
      flam_heat_map_time_of (map, cell + 1) <= time)
    return cell + 1;
  return cell;
}

static gboolean
fill (FlamHeatMap *map,
      const FlamProfile *profile,
      const FlamSelection *selection,
      const FlamShown *shown,
      const FlamProgress *progress,
      GError **error)
{
  const FlamMeasure *measure = &profile->measures[selection->measure];
  const FlamSamples *samples = &profile->samples;
  const FlamThreads *threads = &profile->threads;
  const gint64 *weight = selection->count ? NULL : measure->weight;
  gint64 one = selection->count ? measure->denominator : 1;
  g_auto (FlamSampleFilter) filter = { NULL };

  flam_sample_filter_init (&filter, profile, selection, measure->event);
  for (FlamId t = 0; t < threads->n; t++)
    for (guint32 k = 0; k < threads->n_samples[t]; k++)
      {
        guint32 i = threads->first_sample[t] + k;
        guint cell;

        if (!flam_selection_has_thread (selection, t))
          break;
        if (k % STEP_ROWS == 0 &&
            !flam_progress_step (progress, (double)i / samples->n, error))
          return FALSE;
        if (!flam_sample_filter_has (&filter, i) ||
            flam_shown_of (shown, samples->stack[i]) == FLAM_NONE)
          continue;
        cell = flam_heat_map_cell_of (map, samples->time[i]);
        map->value[cell] += weight != NULL ? weight[i] : one;
        map->samples[cell]++;
      }
  return TRUE;
}

FlamHeatMap *
flam_heat_map_new (const FlamProfile *profile,
                   const FlamSelection *selection,
                   guint n_rows,
                   const FlamProgress *progress,
                   GError **error)
{
  g_autoptr (FlamHeatMap) map = NULL;
  g_auto (FlamShown) shown = { 0 };
  gint64 start = MAX (profile->facts.start_unix_ns, 0);
  gint64 length;

  if (selection->measure >= profile->n_measures ||
      profile->samples.time == NULL ||
      profile->measures[selection->measure].source != FLAM_FROM_SAMPLES)
    return NULL;
  map = g_new0 (FlamHeatMap, 1);
  map->unit = selection->count ? FLAM_UNIT_COUNT
                               : profile->measures[selection->measure].unit;
  length = profile->facts.duration_ns;
  map->column = SECOND * (length / SECOND / (COLUMNS_MAX - 1) + 1);
  map->from = -(start % map->column);
  map->clock = start + map->from;
  map->n_columns = (guint)((length - map->from) / map->column + 1);
  map->n_rows = CLAMP (n_rows, 1, FLAM_HEAT_MAP_ROWS_MAX);
  map->value = g_new0 (gint64, (gsize)map->n_columns * map->n_rows);
  map->samples = g_new0 (guint32, (gsize)map->n_columns * map->n_rows);
  if (!flam_shown_init (&shown, profile, selection, progress, error) ||
      !fill (map, profile, selection, &shown, progress, error))
    return NULL;
  for (guint i = 0; i < map->n_columns * map->n_rows; i++)
    {
      map->total += map->value[i];
      map->top = MAX (map->top, map->value[i]);
    }
  return g_steal_pointer (&map);
}

void
flam_heat_map_free (FlamHeatMap *map)
{
  g_free (map->value);
  g_free (map->samples);
  g_free (map);
}
