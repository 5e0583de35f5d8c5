/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GPERFTOOLS_H
#define FLAM_GPERFTOOLS_H

/* The common form of the files of gperftools and jemalloc: samples, each a
 * list of addresses with up to four values. Two parsers read it: flam-
 * gperftools- cpu.c and flam-gperftools-text.c (with flam-gperftools-go.c for
 * Go's texts). */

#include "flam-core-profile.h"
#include "flam-ranges.h"
#include "flam-text.h"

typedef struct
{
  guint first; /* its addresses, leaf first */
  guint n;
  gint64 values[4];
} FlamGperftoolsSample;

/* A line in Go's texts that names a frame; both texts point into the source. */
typedef struct
{
  guint64 address;
  const char *name;
  const char *place; /* "file:line" */
  guint16 name_length;
  guint16 place_length;
} FlamGperftoolsComment;

/* The frames of an address, leaf first. */
typedef struct
{
  guint n;
  FlamFrameId frame[];
} FlamGperftoolsFrames;

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
  GArray *comments;     /* FlamGperftoolsComment: of the current sample */
  GHashTable *frames;   /* guint64 -> FlamGperftoolsFrames: of Go's comments */
  gboolean java;     /* addresses are numbers of names, which are at the end */
  gboolean jemalloc; /* stacks begin in the allocator itself */
  FlamId allocator;  /* its module, or FLAM_NONE */
} FlamGperftools;

static inline const char *
flam_gperftools_skip (const char *p, const char *end)
{
  while (p < end && flam_text_is_space (*p))
    p++;
  return p;
}

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

/* "#  0x4b3c3d  main.bake+0x5d  /home/me/main.go:12", of the last sample. */
void flam_gperftools_read_comment (FlamGperftools *reader,
                                   const char *p,
                                   const char *end);
/* After the last such line: the last sample gets these frames, without the ones
 * that Go leaves out at both ends. */
void flam_gperftools_take_comments (FlamGperftools *reader);

#endif
