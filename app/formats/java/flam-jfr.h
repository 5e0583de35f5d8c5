/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Recordings of Java's flight recorder (JFR), as the JDK and async-profiler
 * write them: one chunk after the other, each complete in itself.
 *
 *    0  "FLR\0"    4 u16 2, u16 minor    8 i64 size        16 i64 checkpoint
 *    24 i64 metadata    32 i64 start, ns since 1970    40 i64 duration, ns
 *    48 i64 start, ticks    56 i64 ticks a second    64 u32 flags: 1 varints
 *    68 events: varint size, varint type, …
 *
 * all of it big-endian; varints have the lowest bits first and nine bytes at
 * most. Two types of event say what the others are:
 *
 *    0  metadata   classes, each a list of fields, which are numbers, texts,
 *                  objects of a class, or keys of constants of a class; or an
 *                  array of those
 *    1  checkpoint constants: a class, and keys with an object each
 *
 * A chunk's constants may stand behind the events that name them, so it is read
 * twice: first where its constants are, then its events. A constant is decoded
 * when it is asked for.
 *
 * Fields are known by what they are for, by name; the others are skipped.
 * Source of facts: OpenJDK's jdk.jfr (metadata.xml, jdk.jfr.internal.consumer),
 * async-profiler's JfrReader. */

#include "flam-builder.h"
#include "flam-columns.h"
#include "flam-source.h"

G_BEGIN_DECLS

/* What fields are for, and what classes of constants are asked for. */
typedef enum
{
  FLAM_JFR_START,
  FLAM_JFR_DURATION,
  FLAM_JFR_THREAD,
  FLAM_JFR_STACK,
  FLAM_JFR_STATE,
  FLAM_JFR_OBJECT_CLASS,
  FLAM_JFR_SAMPLES,
  FLAM_JFR_WEIGHT,
  FLAM_JFR_ALLOCATION_SIZE,
  FLAM_JFR_TLAB_SIZE,
  FLAM_JFR_SIZE,
  FLAM_JFR_ADDRESS,
  FLAM_JFR_PERIOD,
  FLAM_JFR_HEAP_USED,
  FLAM_JFR_TRUNCATED,
  FLAM_JFR_FRAMES,
  FLAM_JFR_METHOD,
  FLAM_JFR_LINE,
  FLAM_JFR_TYPE,
  FLAM_JFR_NAME,
  FLAM_JFR_STRING,
  FLAM_JFR_DESCRIPTION,
  FLAM_JFR_DESCRIPTOR,
  FLAM_JFR_OS_NAME,
  FLAM_JFR_OS_ID,
  FLAM_JFR_JAVA_NAME,
  FLAM_JFR_JAVA_ID,
  FLAM_JFR_JAVA_ARGUMENTS,
  FLAM_JFR_PID,
  FLAM_JFR_N_ROLES
} FlamJfrRole;

typedef enum
{
  FLAM_JFR_STACKS,
  FLAM_JFR_METHODS,
  FLAM_JFR_CLASSES,
  FLAM_JFR_SYMBOLS,
  FLAM_JFR_THREADS,
  FLAM_JFR_STATES,
  FLAM_JFR_FRAME_TYPES,
  FLAM_JFR_STRINGS,
  FLAM_JFR_N_POOLS
} FlamJfrPoolKind;

typedef struct
{
  guint64 type;  /* id of its class */
  guint32 class; /* index of that, or FLAM_NONE */
  guint8 role;
  gboolean constant, array;
} FlamJfrField;

typedef struct
{
  guint64 id;
  char *name;
  guint first, n; /* of the chunk's fields */
  guint form;     /* of a plain value: see the .c */
} FlamJfrClass;

typedef struct
{
  guint64 key;
  const guint8 *at; /* its object */
  FlamId made;      /* what the importer made of it, once `known` */
  gboolean known;
  gboolean truncated; /* a stack: it does not reach its root */
} FlamJfrConstant;

typedef struct
{
  FlamInterner index;
  FlamColumn constants; /* FlamJfrConstant */
  guint32 class;        /* of the chunk's, or FLAM_NONE */
} FlamJfrPool;

/* An object's fields by their role: numbers, keys of constants, or where in the
 * file a text or an array begins; 0 where it has none. */
typedef struct
{
  guint64 value[FLAM_JFR_N_ROLES];
} FlamJfrObject;

typedef struct
{
  const FlamSource *source;
  const guint8 *start;
  const guint8 *end;
  gboolean cut; /* it has no end, or one beyond the file's */
  gint64 unix_ns;
  gint64 ticks;
  gint64 ticks_per_second;

  GArray *classes; /* FlamJfrClass */
  GArray *fields;  /* FlamJfrField */
  GHashTable *class_index;
  FlamJfrPool pools[FLAM_JFR_N_POOLS];
  guint64 steps; /* left; a chunk that takes more is made to do harm */
  const char *problem;
  const guint8 *problem_at;
} FlamJfrChunk;

/* Where an event's bytes are, after its type. */
typedef struct
{
  guint64 type;
  const guint8 *at;
  const guint8 *end;
} FlamJfrEvent;

/* The chunk at `at`: its header, metadata and constants. FALSE: it is none, or
 * nothing of it can be read; `problem` says why. Clear it in either case. */
gboolean flam_jfr_chunk_init (FlamJfrChunk *chunk,
                              const FlamSource *source,
                              const guint8 *at);
void flam_jfr_chunk_clear (FlamJfrChunk *chunk);

/* From `*at`, at first flam_jfr_first_event(), which moves behind it. FALSE at
 * the end. */
const guint8 *flam_jfr_first_event (const FlamJfrChunk *chunk);
gboolean flam_jfr_next_event (FlamJfrChunk *chunk,
                              const guint8 **at,
                              FlamJfrEvent *event);

/* NULL: there is none of that id. */
const FlamJfrClass *flam_jfr_class (const FlamJfrChunk *chunk, guint64 id);

/* Reads an object of the class at `*at`, which moves behind it. */
gboolean flam_jfr_read_object (FlamJfrChunk *chunk,
                               const FlamJfrClass *class,
                               const guint8 **at,
                               const guint8 *end,
                               FlamJfrObject *object);
/* NULL: not there. */
FlamJfrConstant *
flam_jfr_find (FlamJfrChunk *chunk, FlamJfrPoolKind pool, guint64 key);
gboolean flam_jfr_read_constant (FlamJfrChunk *chunk,
                                 FlamJfrPoolKind pool,
                                 const FlamJfrConstant *constant,
                                 FlamJfrObject *object);

/* The text whose place a field of an object gave; NULL for none. */
char *flam_jfr_text (FlamJfrChunk *chunk, guint64 place);

/* The frames whose place the field of a stack gave: how many, and the class to
 * read each with. */
guint32 flam_jfr_frames (FlamJfrChunk *chunk,
                         guint64 place,
                         const guint8 **at,
                         const FlamJfrClass **class);

gboolean flam_jfr_varint (const guint8 **at, const guint8 *end, guint64 *value);

/* ns since 1970, or of a span, for ticks. */
gint64 flam_jfr_time (const FlamJfrChunk *chunk, guint64 ticks);
gint64 flam_jfr_span (const FlamJfrChunk *chunk, guint64 ticks);

G_END_DECLS
