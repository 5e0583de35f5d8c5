/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What a profile of pprof holds, as far as its samples need it: the tables of
 * code, made into frames (flam-pprof-code.c), and what is measured
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
  gboolean below; /* it has values below zero, */
  guint base;     /* whose column this is */
} FlamPprofType;

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  GArray *strings;  /* FlamPprofText */
  GArray *types;    /* FlamPprofType */
  GArray *mappings; /* flam-pprof-code.c has these */
  GArray *functions;
  GArray *raw_locations; /* FlamPprofText: messages, read when all tables are
                            known */
  GArray *locations;     /* FlamPprofLocation */
  GArray *frames;        /* FlamId */
  GHashTable *mapping_ids, *function_ids, *location_ids; /* id -> row + 1 */
  guint64 drop, keep, default_type;
  gint64 time, duration;
} FlamPprof;

/* Files number their rows 1, 2, 3 nearly always: the row of an id, without
 * asking the table of ids; FLAM_NONE. */
#define flam_pprof_row(table, rows, type, wanted)                              \
  ((wanted)-1 < (rows)->len &&                                                 \
           g_array_index (rows, type, (wanted)-1).id == (wanted)               \
       ? (guint)((wanted)-1)                                                   \
       : GPOINTER_TO_UINT (g_hash_table_lookup (table, &(wanted))) - 1)

void flam_pprof_init (FlamPprof *file, FlamLoad *load);
/* All but the samples, as the wire has it. FALSE with an error. */
gboolean flam_pprof_read_tables (FlamPprof *file, GError **error);
/* Then: names, modules, and the frames of each location. */
void flam_pprof_make_frames (FlamPprof *file);
/* A measure of each type, in the column of its number, and one of what is taken
 * away where values are below zero. FALSE: there are none. */
gboolean flam_pprof_add_measures (FlamPprof *file, GError **error);
/* A string of the file; g_free. */
char *flam_pprof_text (const FlamPprof *file, guint64 string);
