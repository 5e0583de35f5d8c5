/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GECKO_ARRAYS_H
#define FLAM_GECKO_ARRAYS_H

/* Long arrays of numbers, or of rows of them, into columns of cells.
 *
 *    [[12,1.5,0],[7,2.5,0],…]      places 0, 1, 2 -> two columns
 *    [12,7,…]                      place 0 -> one column
 *
 * An array that is longer than a first piece is read in windows, each core
 * reads a part of the window into separate cells, and these are appended in the
 * order of the parts. A part begins where a row or a number seems to begin, and
 * is used only if the reader of the one before reaches that place between two
 * elements (see flam-trace-events.h).
 */

#include "flam-core-profile.h"
#include "flam-formats.h"
#include "flam-json.h"

G_BEGIN_DECLS

#define FLAM_GECKO_NOTHING G_MININT64 /* null, or not a number */
/* The greatest number of places in a row that any table needs. */
#define FLAM_GECKO_MAX_PLACES 28
/* A column of cells in a list of chunks: it grows without being copied. */
#define FLAM_GECKO_CHUNK ((gsize)1 << 16)

typedef struct
{
  FlamColumn chunks; /* gpointer */
  gsize n, room;
  guint size;    /* of a cell: rows and lines as gint32, the others as gint64 */
  guint32 scale; /* cells are numbers times this */
} FlamGeckoCells;

void flam_gecko_cells_init (FlamGeckoCells *cells, guint size, guint32 scale);
void flam_gecko_cells_clear (FlamGeckoCells *cells);
void flam_gecko_cells_grow (FlamGeckoCells *cells);
/* The cells of a full chunk are not needed any more: their memory is freed. */
void flam_gecko_cells_leave (FlamGeckoCells *cells, gsize chunk);

static inline gpointer
flam_gecko_cells_at (const FlamGeckoCells *cells, gsize row)
{
  char *chunk = flam_column_at (&cells->chunks, char *, row / FLAM_GECKO_CHUNK);

  return chunk + row % FLAM_GECKO_CHUNK * cells->size;
}

/* Missing rows and lines are -1. */
static inline void
flam_gecko_cells_append (FlamGeckoCells *cells, gint64 value)
{
  gpointer at;

  if (G_UNLIKELY (cells->n == cells->room))
    flam_gecko_cells_grow (cells);
  at = flam_gecko_cells_at (cells, cells->n++);
  if (cells->size == sizeof (gint64))
    *(gint64 *)at = value;
  else
    *(gint32 *)at = value == FLAM_GECKO_NOTHING
                        ? G_MININT32
                        : (gint32)CLAMP (value, -1, G_MAXINT32);
}

static inline gint64
flam_gecko_cell (const FlamGeckoCells *cells, gint64 row)
{
  gint32 narrow;

  if (row < 0 || (guint64)row >= cells->n)
    return FLAM_GECKO_NOTHING;
  if (cells->size == sizeof (gint64))
    return *(const gint64 *)flam_gecko_cells_at (cells, row);
  narrow = *(const gint32 *)flam_gecko_cells_at (cells, row);
  return narrow == G_MININT32 ? FLAM_GECKO_NOTHING : narrow;
}

/* The columns of a row's places, or -1. */
typedef struct
{
  int column[FLAM_GECKO_MAX_PLACES];
  guint n;
} FlamGeckoSchema;

/* Reads the array whose "[" is the current token: an array of rows, or with
 * `flat` of the first place's values. */
void flam_gecko_array_read (FlamGeckoCells *columns,
                            FlamJson *json,
                            const FlamGeckoSchema *schema,
                            gboolean flat,
                            const FlamSource *source,
                            const FlamLoadOptions *options);

G_END_DECLS

#endif
