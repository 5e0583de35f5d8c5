/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GECKO_TABLES_H
#define FLAM_GECKO_TABLES_H

/* The tables of the Firefox Profiler's files, read column by column.
 *
 * Processed: {"length":n,"prefix":[…],"frame":[…]}. Gecko (as Firefox itself
 * dumps): {"schema":{"prefix":0,"frame":1},"data":[[null,0],…]}. Both become
 * the same columns of numbers; columns without use are left out. Until 2020 a
 * marker had its phase, start and end not in columns but as members of its
 * "data", the phase as a word; these become the same columns. A source's file
 * is the number of a string in the processed form, and the name itself in the
 * Gecko form. */

#include "flam-gecko-arrays.h"

G_BEGIN_DECLS

#define FLAM_GECKO_MICRO 1000000 /* ms -> ns; weights are stored times this */
#define FLAM_GECKO_MILLI 1000    /* so are counts of counters */

typedef enum
{
  FLAM_GECKO_STACK_PREFIX,
  FLAM_GECKO_STACK_BACK,
  FLAM_GECKO_STACK_FRAME,
  FLAM_GECKO_FRAME_FUNC,
  FLAM_GECKO_FRAME_LINE,
  FLAM_GECKO_FRAME_LOCATION,
  FLAM_GECKO_FRAME_CATEGORY,
  FLAM_GECKO_FRAME_DEPTH,
  FLAM_GECKO_FRAME_ADDRESS,
  FLAM_GECKO_FRAME_LIB,
  FLAM_GECKO_FUNC_NAME,
  FLAM_GECKO_FUNC_JS,
  FLAM_GECKO_FUNC_FILE,
  FLAM_GECKO_FUNC_LINE,
  FLAM_GECKO_FUNC_SOURCE,
  FLAM_GECKO_FUNC_RESOURCE,
  FLAM_GECKO_RESOURCE_NAME,
  FLAM_GECKO_SOURCE_FILE,
  FLAM_GECKO_SAMPLE_STACK,
  FLAM_GECKO_SAMPLE_TIME,
  FLAM_GECKO_SAMPLE_DELTA,
  FLAM_GECKO_SAMPLE_WEIGHT,
  FLAM_GECKO_SAMPLE_COUNT, /* of counters */
  FLAM_GECKO_MARK_NAME,
  FLAM_GECKO_MARK_START,
  FLAM_GECKO_MARK_END,
  FLAM_GECKO_MARK_TIME, /* of older versions, without ends */
  FLAM_GECKO_MARK_PHASE,
  FLAM_GECKO_N_COLUMNS
} FlamGeckoColumn;

/* Phases of markers. */
#define FLAM_GECKO_MARK_WHOLE 1
#define FLAM_GECKO_MARK_BEGINS 2
#define FLAM_GECKO_MARK_ENDS 3

typedef enum
{
  FLAM_GECKO_IS_COUNT,
  FLAM_GECKO_IS_TIME,
  FLAM_GECKO_IS_SIZE,
  FLAM_GECKO_N_MEASURES
} FlamGeckoMeasure;

G_STATIC_ASSERT (FLAM_GECKO_N_COLUMNS <= FLAM_GECKO_MAX_PLACES);

typedef struct
{
  const FlamSource *source;
  const FlamLoadOptions *options;
  FlamGeckoCells column[FLAM_GECKO_N_COLUMNS];
  GArray *strings; /* FlamId */
  GArray *frames;  /* FlamId: the caller's */
  GArray *stacks;  /* FlamId: the caller's */
} FlamGeckoTables;

/* `source` and `options` give the number of cores. */
FlamGeckoTables *flam_gecko_tables_new (const FlamLoad *load);
void flam_gecko_tables_free (FlamGeckoTables *tables);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamGeckoTables, flam_gecko_tables_free)

/* Reads a member of a thread or of "shared". TRUE: it was a table; `measure`
 * (may be NULL) becomes the type of its weights, if given. */
gboolean flam_gecko_tables_read (FlamGeckoTables *tables,
                                 FlamJson *json,
                                 FlamBuilder *builder,
                                 FlamGeckoMeasure *measure);

/* "pid" and "tid": a number, or a string with a number. */
gint64 flam_gecko_get_id (FlamJson *json);

G_END_DECLS

#endif
