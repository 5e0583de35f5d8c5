/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CTF_STREAM_H
#define FLAM_CTF_STREAM_H

/* A file of packets in the Common Trace Format -> its events, in its order:
 *
 *    packet   header    magic, uuid, stream_id
 *             context   timestamp_begin, content_size, packet_size, cpu_id, …
 *             event     header  id, timestamp
 *                       context of the stream, of the event
 *                       fields
 *             event     …
 *
 * Nothing is copied; the values of an event are valid while it is reported. */

#include "flam-ctf-metadata.h"

/* A value with a name, in the order of the file. */
typedef struct
{
  guint32 name;
  const FlamCtfType *type; /* of an integer; NULL: a text or bytes */
  guint64 number;          /* sign-extended */
  const guint8 *data;      /* text or bytes */
  gsize length;            /* without a text's NUL */
} FlamCtfValue;

typedef struct _FlamCtfReader FlamCtfReader;

struct _FlamCtfReader
{
  const FlamCtf *ctf;
  const FlamSource *source;
  /* FALSE: stop. */
  gboolean (*event) (FlamCtfReader *reader,
                     const FlamCtfEvent *event,
                     gpointer data);
  gpointer data;
  GArray *values;    /* FlamCtfValue: of the packet, then of the event */
  GHashTable *kinds; /* FlamCtfEvent, by id: of the current stream */
  const FlamCtfStream *stream; /* NULL: the file has no valid packet */
  guint64 at, end;             /* bits */
  guint steps;                 /* fields of this event */
  guint64 ticks;               /* of `clock` */
  const FlamCtfClock *clock;
  gint64 time;       /* ns since 1970, of this event */
  guint32 cpu;       /* FLAM_NONE: unknown */
  guint64 discarded; /* events that the tracer dropped */
  gboolean damaged;  /* the rest of the file was left out */
  gsize offset;      /* bytes: of the damage */
  /* Names of values. */
  guint32 id, magic, stream_id, content_size, packet_size, begin, cpu_id,
      events_discarded;
};

void flam_ctf_reader_init (FlamCtfReader *reader, FlamCtf *ctf);
/* Reads a file. FALSE: event() stopped. */
gboolean flam_ctf_reader_read (FlamCtfReader *reader, const FlamSource *source);
/* The last value with this name, NULL: none. */
const FlamCtfValue *flam_ctf_reader_value (const FlamCtfReader *reader,
                                           guint32 name);
/* Of an integer; FALSE: none. */
gboolean flam_ctf_reader_number (const FlamCtfReader *reader,
                                 guint32 name,
                                 guint64 *number);

#endif
