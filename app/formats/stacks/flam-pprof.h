/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PPROF_H
#define FLAM_PPROF_H

/* The parts of a pprof profile that its samples need: the tables of code,
 * converted to frames (flam-pprof-code.c), and the measures
 * (flam-pprof-measures.c). */

#include "flam-load.h"
#include "flam-proto.h"
#include "flam-text.h"

#define FLAM_PPROF_MAX_TYPES 64

typedef struct
{
  const guint8 *text;
  gsize length;
} FlamPprofText;

typedef struct
{
  guint64 id;
  guint first; /* of its chain in `frames`, caller first */
  guint n;
  gboolean prune, prune_beneath;
} FlamPprofLocation;

typedef struct
{
  gint64 type, unit; /* strings */
  FlamUnit as;
  gint64 scale;
  guint base; /* the column of its negative values, if it has any */
} FlamPprofType;

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  GArray *strings;  /* FlamPprofText */
  GArray *types;    /* FlamPprofType */
  GArray *mappings; /* used by flam-pprof-code.c */
  GArray *functions;
  GArray *raw_locations; /* FlamPprofText: messages, read after all tables */
  GArray *locations;     /* FlamPprofLocation */
  GArray *frames;        /* FlamId */
  GHashTable *mapping_ids, *function_ids, *location_ids; /* id -> row + 1 */
  GArray *values;   /* scratch: guint64, of a sample */
  guint64 negative; /* a bit for each type that has values below 0 */
  guint64 drop, keep, default_type;
  gint64 time, duration;
} FlamPprof;

/* Nearly all files number their rows 1, 2, 3: the row of an id without a lookup
 * in the table of ids; FLAM_NONE. */
#define flam_pprof_row(table, rows, type, wanted)                              \
  ((wanted)-1 < (rows)->len &&                                                 \
           g_array_index (rows, type, (wanted)-1).id == (wanted)               \
       ? (guint)((wanted)-1)                                                   \
       : GPOINTER_TO_UINT (g_hash_table_lookup (table, &(wanted))) - 1)

void flam_pprof_init (FlamPprof *file, FlamLoad *load);
/* Reads all but the samples, unconverted. FALSE with an error. */
gboolean flam_pprof_read_tables (FlamPprof *file, GError **error);
/* Then: adds names, modules, and the frames of each location. */
void flam_pprof_make_frames (FlamPprof *file);
/* Adds a measure of each type, in the column of its number, and one of the
 * subtracted values if there are negative ones. FALSE: there are none. */
gboolean flam_pprof_add_measures (FlamPprof *file, GError **error);
/* A string of the file; g_free. */
char *flam_pprof_text (const FlamPprof *file, guint64 string);

/* A unit by its name, and its size in our unit: "Milliseconds" are nanoseconds,
 * times 1,000,000. An unknown one is a count. */
FlamUnit flam_pprof_unit (const char *text, gint64 *scale);
gboolean flam_pprof_is_memory (const char *type, FlamUnit unit);

/* The maximum number of frames in the stacks of a file of this size: more than
 * in any real profile, and far fewer than a location with thousands of lines,
 * listed thousands of times, would make. */
guint64 flam_pprof_most_frames (gsize size);
/* Takes `n` of the remaining ones. FALSE, with a warning: not enough are left,
 * now or later. */
gboolean flam_pprof_take_frames (const FlamLoad *load, guint64 *left, guint n);

#endif
