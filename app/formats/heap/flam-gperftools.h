/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The common form of the files of gperftools: samples, each a list of addresses
 * with up to four values. Two parsers read it: flam-gperftools-cpu.c,
 * flam-gperftools-text.c. */

#include "flam-builder.h"
#include "flam-ranges.h"
#include "flam-text.h"

typedef struct
{
  guint first; /* of its addresses, leaf first */
  guint n;
  gint64 values[4];
} FlamGperftoolsSample;

typedef struct
{
  const FlamSource *source;
  FlamLoad *load;
  FlamBuilder *builder;
  GArray *addresses;    /* guint64: all but a CPU profile's leaves one less than
                           in the file: the call, not the return address */
  GArray *samples;      /* FlamGperftoolsSample */
  FlamRanges *mappings; /* value: module */
  GHashTable *names;    /* guint64 -> text of a line; may be NULL */
  gboolean java; /* addresses are numbers of names, which are at the end */
} FlamGperftools;

/* Measures of the samples' values. */
void flam_gperftools_add_measures (FlamGperftools *reader,
                                   const FlamMeasureRow *rows,
                                   guint n);

/* Both read the part before the map, and leave `text` at the map's start. */
gboolean flam_gperftools_is_cpu (const FlamSource *source);
void flam_gperftools_read_cpu (FlamGperftools *reader, FlamText *text);
gboolean flam_gperftools_read_text (FlamGperftools *reader,
                                    FlamText *text,
                                    GError **error);
