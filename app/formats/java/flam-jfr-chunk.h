/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_JFR_CHUNK_H
#define FLAM_JFR_CHUNK_H

/* The parts of a chunk of a flight recording, and its values: numbers, texts
 * and constants. See flam-jfr.h. */

#include "flam-core-profile.h"
#include "flam-source.h"

/* The roles of fields, and the classes of constants that are looked up. */
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
  guint32 class; /* its index, or FLAM_NONE */
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
  FlamId made;      /* the importer's value for it, once `known` */
  gboolean known;
  gboolean truncated; /* a stack: it is truncated */
} FlamJfrConstant;

typedef struct
{
  FlamInterner index;
  FlamColumn constants; /* FlamJfrConstant */
  guint32 class;        /* of the chunk's, or FLAM_NONE */
} FlamJfrPool;

/* An object's fields by their role: numbers, keys of constants, or the offset
 * in the file of a text or an array; 0 if it has none. */
typedef struct
{
  guint64 value[FLAM_JFR_N_ROLES];
} FlamJfrObject;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  const guint8 *start;
  const guint8 *end;
  gboolean cut; /* its end is missing, or beyond the file's */
  gint64 unix_ns;
  gint64 ticks;
  gint64 ticks_per_second;

  GArray *classes; /* FlamJfrClass */
  GArray *fields;  /* FlamJfrField */
  GHashTable *class_index;
  FlamJfrPool pools[FLAM_JFR_N_POOLS];
  guint64 steps; /* remaining; a chunk that needs more is hostile */
  const char *problem;
  const guint8 *problem_at;
} FlamJfrChunk;

/* The place of an event's bytes, after its type. */
typedef struct
{
  guint64 type;
  const guint8 *at;
  const guint8 *end;
} FlamJfrEvent;

/* Encodings of values that are not objects. */
enum
{
  FLAM_JFR_OBJECT,
  FLAM_JFR_BYTES_1,
  FLAM_JFR_BYTES_4,
  FLAM_JFR_BYTES_8,
  FLAM_JFR_VARINT,
  FLAM_JFR_TEXT,
};

/* FALSE: `problem` of the chunk is set. */
gboolean
flam_jfr_fail (FlamJfrChunk *chunk, const guint8 *at, const char *problem);

gboolean flam_jfr_varint (const guint8 **at, const guint8 *end, guint64 *value);
gboolean flam_jfr_skip_bytes (const guint8 **at, const guint8 *end, guint64 n);

/* NULL: not there. */
FlamJfrConstant *
flam_jfr_find (FlamJfrChunk *chunk, FlamJfrPoolKind pool, guint64 key);
void flam_jfr_add_constant (FlamJfrPool *pool, guint64 key, const guint8 *at);

gboolean flam_jfr_skip_text (const guint8 **at, const guint8 *end);
/* The text of skipped data; NULL: none. At a depth of 1, constants are not
 * followed. */
char *flam_jfr_decode_text (FlamJfrChunk *chunk, const guint8 *at, guint depth);
/* The text at the offset in an object's field; NULL for none. */
char *flam_jfr_text (FlamJfrChunk *chunk, guint64 place);

#endif
