/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HEAT_MAP_H
#define FLAM_HEAT_MAP_H

/* Profile + selection -> FlameScope's heat map: one column per second of the
 * clock, or of the capture if it has no date; the offset within the second from
 * the bottom up, and the weight of the samples in each cell.
 *
 *      14:05 second 7   8   9  10
 *    row 3   .75     ░   ▓   ░   ░
 *    row 2   .50     ░   ▓   ░   ▓     what happens once a second is a line,
 *    row 1   .25     ▓   ░   ░   ░     what happens now and then, a dot
 *    row 0   .00     ░   ░   ▓   ░
 *
 * It covers all of time, whatever range is selected. */

#include "flam-weights.h"

G_BEGIN_DECLS

#define FLAM_HEAT_MAP_ROWS_MAX 100

typedef struct
{
  FlamUnit unit;
  guint n_columns;
  guint n_rows;
  gint64 column;    /* ns: a second, or several for captures of many hours */
  gint64 from;      /* the time of the first column's start, at most 0 */
  gint64 clock;     /* the same since 1970; 0: unknown */
  gint64 *value;    /* n_columns * n_rows: column by column, upwards */
  guint32 *samples; /* likewise */
  gint64 top;       /* the greatest */
  gint64 total;
} FlamHeatMap;

/* NULL with an error when cancelled, NULL without one when the capture has no
 * times or its measure is not one of samples. */
FlamHeatMap *flam_heat_map_new (const FlamProfile *profile,
                                const FlamSelection *selection,
                                guint n_rows,
                                const FlamProgress *progress,
                                GError **error);
void flam_heat_map_free (FlamHeatMap *map);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamHeatMap, flam_heat_map_free)

/* The times of a cell, half open: cells follow one another upwards and then to
 * the right. Cells before the capture's start have no length. */
gint64 flam_heat_map_time_of (const FlamHeatMap *map, guint cell);
guint flam_heat_map_cell_of (const FlamHeatMap *map, gint64 time);

G_END_DECLS

#endif
