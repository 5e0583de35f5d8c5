/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERFETTO_H
#define FLAM_PERFETTO_H

/* The interned data of a Perfetto trace. A packet refers to strings, mappings,
 * frames and callstacks by numbers that are valid in its sequence, since the
 * sequence's state was last cleared:
 *
 *    sequence 7   string 1 "main"   frame 4 -> string 1, mapping 2
 *                 callstack 9 -> frames 5, 4     root first
 *
 * Everything is converted to the builder's ids as it is read. Source: the
 * comments of perfetto's protos, interned_data and profile_common. */

#include "flam-load.h"
#include "flam-proto.h"

typedef enum
{
  FLAM_PERFETTO_FUNCTION_NAME,
  FLAM_PERFETTO_MAPPING_PATH,
  FLAM_PERFETTO_BUILD_ID,
  FLAM_PERFETTO_SOURCE_PATH,
  FLAM_PERFETTO_EVENT_NAME,
  FLAM_PERFETTO_MAPPING,
  FLAM_PERFETTO_FRAME,
  FLAM_PERFETTO_CALLSTACK,
  FLAM_PERFETTO_LOCATION, /* a row of `locations` */
  FLAM_PERFETTO_CATEGORY,
} FlamPerfettoKind;

/* The location where an event was written. Strings of the builder, 0:
 * unknown. */
typedef struct
{
  FlamStringId function, file;
  guint32 line;
} FlamPerfettoLocation;

typedef struct
{
  FlamBuilder *builder;
  GHashTable *ids;   /* Key -> FlamId */
  GArray *numbers;   /* guint64: scratch */
  GArray *locations; /* FlamPerfettoLocation */
} FlamPerfettoNames;

void flam_perfetto_names_init (FlamPerfettoNames *names, FlamLoad *load);

/* FLAM_NONE: unknown. `sequence` is the sequence's state, which gets another
 * number when it is cleared. */
FlamId flam_perfetto_names_find (const FlamPerfettoNames *names,
                                 guint32 sequence,
                                 FlamPerfettoKind kind,
                                 guint64 iid);
/* The same as a text; "": unknown. */
const char *flam_perfetto_names_text (const FlamPerfettoNames *names,
                                      guint32 sequence,
                                      FlamPerfettoKind kind,
                                      guint64 iid);
/* Reads a SourceLocation message. */
FlamPerfettoLocation flam_perfetto_names_location (FlamPerfettoNames *names,
                                                   FlamProto proto);
/* Reads an InternedData message. */
void flam_perfetto_names_read (FlamPerfettoNames *names,
                               guint32 sequence,
                               FlamProto data);
/* The same for a ProfilePacket, which has separate fields. */
void flam_perfetto_names_read_profile (FlamPerfettoNames *names,
                                       guint32 sequence,
                                       FlamProto packet);

#endif
