/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CTF_METADATA_H
#define FLAM_CTF_METADATA_H

/* The description of a trace in the Common Trace Format, version 1.8, in its
 * language TSDL -> the layout of its packets and events:
 *
 *    stream { id = 0;  event.header := struct { … };  packet.context := … };
 *    event { name = "lib:load";  id = 6;  stream_id = 0;
 *            fields := struct { uint64_t _baddr;  string _path; }; };
 *
 * The file `metadata` is that text, or packets of it. Source of facts: the
 * specification of CTF 1.8.3. */

#include "flam-load.h"

typedef enum
{
  FLAM_CTF_INTEGER, /* also enumerations */
  FLAM_CTF_FLOAT,
  FLAM_CTF_STRING,
  FLAM_CTF_STRUCT,
  FLAM_CTF_VARIANT,
  FLAM_CTF_ARRAY, /* also sequences */
} FlamCtfKind;

typedef enum
{
  FLAM_CTF_NATIVE, /* the trace's */
  FLAM_CTF_LITTLE,
  FLAM_CTF_BIG,
} FlamCtfOrder;

typedef struct _FlamCtfType FlamCtfType;

#define FLAM_CTF_DEPTH 32

typedef struct
{
  guint32 name; /* FlamCtf.names, without one leading underscore; 0: none */
  const FlamCtfType *type;
} FlamCtfField;

/* Of an enumeration: values from `from` to `to`, compared as the integer's
 * own type. */
typedef struct
{
  guint64 from, to;
  guint32 name;
} FlamCtfLabel;

typedef struct
{
  guint32 name;
  guint64 frequency; /* per second */
  gint64 seconds;    /* of the beginning since 1970 */
  guint64 offset;    /* and ticks in addition */
} FlamCtfClock;

struct _FlamCtfType
{
  FlamCtfKind kind;
  guint depth;        /* of the types in it: at most FLAM_CTF_DEPTH */
  guint align;        /* bits, a power of two */
  guint size;         /* INTEGER, FLOAT: bits; an integer has at most 64 */
  FlamCtfOrder order; /* INTEGER */
  gboolean is_signed;
  const FlamCtfClock *clock;  /* that counts it, or NULL */
  GArray *labels;             /* FlamCtfLabel, or NULL: not an enumeration */
  GArray *fields;             /* FlamCtfField, of STRUCT and VARIANT */
  guint32 tag;                /* VARIANT: the name of the enumeration */
  const FlamCtfType *element; /* ARRAY */
  guint64 n;                  /* its length, */
  guint32 n_name;             /* or the name of the integer with it, or 0 */
};

typedef struct
{
  guint64 id, stream;
  const char *name;                    /* "lib:load" */
  const FlamCtfType *context, *fields; /* or NULL */
} FlamCtfEvent;

typedef struct
{
  guint64 id;
  const FlamCtfType *packet_context;
  const FlamCtfType *event_header, *event_context; /* or NULL */
} FlamCtfStream;

typedef struct
{
  FlamLoad *load;
  GPtrArray *names; /* char *, from 1 */
  GHashTable *by_name;
  GPtrArray *clocks;  /* FlamCtfClock */
  GPtrArray *streams; /* FlamCtfStream */
  GPtrArray *events;  /* FlamCtfEvent */
  gboolean big_endian;
  const FlamCtfType *packet_header;
  const char *host;   /* env: may be "" */
  const char *domain; /* "ust", "kernel" or "" */
} FlamCtf;

/* Everything lives as long as the load. NULL, with an error that names the
 * file and the line. */
FlamCtf *
flam_ctf_read (FlamLoad *load, const FlamSource *metadata, GError **error);
/* The row of a name in `names`. */
guint32 flam_ctf_name (FlamCtf *ctf, const char *text, gsize length);
/* NULL: the trace has none with this id. */
const FlamCtfStream *flam_ctf_stream (const FlamCtf *ctf, guint64 id);

#endif
