/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WIRE_H
#define FLAM_WIRE_H

/* The connection between the recorder here and its relay on the target's
 * machine: messages over one pair of descriptors, which never wait.
 *
 *   kind     u8, FlamWireKind
 *   size     unsigned LEB128 of at most 3 bytes, at most FLAM_WIRE_MAX
 *   data
 *
 * Most messages are short pieces of a capture, so their heads have 2 or 3
 * bytes.
 *
 * A lost connection can be replaced, by other descriptors: each end counts
 * what it has received and confirms it from time to time, and the other keeps
 * what is not confirmed and sends it again. So every byte arrives once.
 *
 *   kept   | sent, not confirmed   | not sent |
 *          first                   first + sent
 *
 * Both ends treat the other's messages as hostile. */

#include <glib.h>

#define FLAM_WIRE_MAX 65536
#define FLAM_WIRE_STATUS 3 /* of FLAM_WIRE_SHUT */

typedef enum
{
  /* to the target's machine */
  FLAM_WIRE_ARGUMENT = 'A', /* of the recorder; an empty one ends them */
  FLAM_WIRE_INPUT = 'I',    /* for the program; empty: its end */
  FLAM_WIRE_SIGNAL = 'S',   /* u8 */
  FLAM_WIRE_SHUT = 'P',     /* u8: nobody reads the program's output 1 or 2, or
                               the recorder's status (FLAM_WIRE_STATUS) */
  FLAM_WIRE_KEPT = 'K',     /* all of the capture has been written */
  FLAM_WIRE_LEFT = 'L',     /* the recorder here was killed, or cannot write the
                               capture: nobody will ask for it again */
  /* in both directions */
  FLAM_WIRE_CONTROL = 'C', /* a line of flam-control.h */
  FLAM_WIRE_CONFIRM = 'Y', /* u64: so many bytes have arrived */
  /* from there */
  FLAM_WIRE_FILE = 'F',    /* the capture's name there */
  FLAM_WIRE_CAPTURE = 'D', /* its next bytes */
  FLAM_WIRE_OUTPUT = 'O',  /* the program's standard output */
  FLAM_WIRE_ERROR = 'E',   /* and standard error */
  FLAM_WIRE_ROOM = 'W', /* u32: the number of bytes of INPUT that may be sent */
  FLAM_WIRE_END = 'X',  /* u32 exit status, u64 size of the capture */
} FlamWireKind;

typedef struct
{
  int in, out;
  GByteArray *unread;
  gsize at;          /* of unread */
  guint64 received;  /* in all */
  guint64 confirmed; /* of them */
  GByteArray *kept;
  guint64 first; /* its place in all that was sent */
  gsize sent;    /* of it */
} FlamWire;

typedef struct
{
  FlamWireKind kind;
  const guint8 *data; /* valid until the next call */
  gsize size;
} FlamWireMessage;

/* Does not close the descriptors. */
void flam_wire_init (FlamWire *wire, int in, int out);
void flam_wire_clear (FlamWire *wire);

/* Queues a message; more than FLAM_WIRE_MAX bytes as several. */
void flam_wire_put (FlamWire *wire,
                    FlamWireKind kind,
                    gconstpointer data,
                    gsize size);
void flam_wire_put_number (FlamWire *wire, FlamWireKind kind, guint32 number);
/* Whether enough is queued: do not read more data to send. */
gboolean flam_wire_is_full (const FlamWire *wire);
gboolean flam_wire_has_unsent (const FlamWire *wire);
/* Sends as much as possible at once. FALSE: the connection is lost. */
gboolean flam_wire_send (FlamWire *wire);

/* Reads received data. FALSE: nothing more will follow. */
gboolean flam_wire_receive (FlamWire *wire);
/* FALSE: no whole message; with an error: not one of these messages. */
gboolean
flam_wire_next (FlamWire *wire, FlamWireMessage *message, GError **error);
guint32 flam_wire_number (const FlamWireMessage *message);

/* Goes on with other descriptors; `received`: what the other end has received
 * before. FALSE: it cannot have. */
gboolean flam_wire_rejoin (FlamWire *wire, int in, int out, guint64 received);

/* Sets O_NONBLOCK. */
void flam_wire_never_wait (int fd);

#endif
