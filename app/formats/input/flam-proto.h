/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROTO_H
#define FLAM_PROTO_H

/* Protocol buffers, as far as profiles use them: a message is a row of fields
 *
 *    varint number << 3 | wire type, then
 *      0  varint              1  8 bytes
 *      2  varint length, bytes (text, a message, packed varints)
 *      5  4 bytes
 *
 * Source: developers' guide of Protocol Buffers, "Encoding". */

#include "flam-bytes.h"
#include "flam-core-profile.h"

typedef struct
{
  const guint8 *at;
  const guint8 *end;
  gboolean bad; /* the data is not a valid message */

  guint64 number; /* of the current field */
  guint wire;
  guint64 value;       /* wire 0, 1, 5 */
  const guint8 *bytes; /* wire 2 */
  gsize length;
} FlamProto;

static inline FlamProto
flam_proto_init (const guint8 *bytes, gsize length)
{
  /* An empty message may have no bytes: NULL + 0 is undefined. */
  return (FlamProto){ .at = bytes, .end = length > 0 ? bytes + length : bytes };
}

/* The message in the current field. */
static inline FlamProto
flam_proto_inner (const FlamProto *proto)
{
  return flam_proto_init (proto->bytes, proto->wire == 2 ? proto->length : 0);
}

static inline gboolean
flam_proto_varint (FlamProto *proto, guint64 *value)
{
  if (flam_varint_get (&proto->at, proto->end, value))
    return TRUE;
  proto->bad = TRUE;
  proto->at = proto->end;
  return FALSE;
}

static inline gboolean
flam_proto_fixed (FlamProto *proto, guint size)
{
  proto->value = 0;
  if ((gsize)(proto->end - proto->at) < size)
    {
      proto->bad = TRUE;
      proto->at = proto->end;
      return FALSE;
    }
  proto->value = flam_bytes_get (proto->at, size);
  proto->at += size;
  return TRUE;
}

/* Reads the next field; FALSE at the end, or if the data is invalid (`bad`). */
static inline gboolean
flam_proto_next (FlamProto *proto)
{
  guint64 tag;

  if (proto->at == proto->end || !flam_proto_varint (proto, &tag))
    return FALSE;
  proto->number = tag >> 3;
  proto->wire = tag & 7;
  switch (proto->wire)
    {
    case 0:
      return flam_proto_varint (proto, &proto->value);
    case 1:
      return flam_proto_fixed (proto, 8);
    case 5:
      return flam_proto_fixed (proto, 4);
    case 2:
      if (!flam_proto_varint (proto, &proto->value))
        return FALSE;
      if (proto->value <= (gsize)(proto->end - proto->at))
        {
          proto->bytes = proto->at;
          proto->length = proto->value;
          proto->at += proto->length;
          return TRUE;
        }
      break;
    default:
      break;
    }
  proto->bad = TRUE;
  proto->at = proto->end;
  return FALSE;
}

/* Appends the current field's numbers, packed or alone, to a GArray of
 * guint64. */
static inline void
flam_proto_numbers (FlamProto *proto, GArray *into)
{
  FlamProto packed = flam_proto_inner (proto);
  guint64 some[32];
  guint n = 0;

  if (proto->wire != 2)
    {
      g_array_append_val (into, proto->value);
      return;
    }
  while (packed.at < packed.end && flam_proto_varint (&packed, &some[n]))
    if (++n == G_N_ELEMENTS (some))
      {
        g_array_append_vals (into, some, n);
        n = 0;
      }
  g_array_append_vals (into, some, n);
  proto->bad |= packed.bad;
}

/* The values of its fields 1 to `n` - 1, in `values` by their numbers; values
 * of missing fields are left unchanged. */
static inline void
flam_proto_read (FlamProto message, guint64 *values, guint n)
{
  while (flam_proto_next (&message))
    if (message.number < n)
      values[message.number] = message.value;
}

/* The value of the message's field `number`; 0 if it is missing. */
static inline guint64
flam_proto_number_in (FlamProto message, guint64 number)
{
  guint64 value = 0;

  while (flam_proto_next (&message))
    if (message.number == number && message.wire == 0)
      value = message.value;
  return value;
}

/* The message in its field `number`; an empty one if it is missing. */
static inline FlamProto
flam_proto_message_in (FlamProto message, guint64 number)
{
  FlamProto found = flam_proto_init (message.at, 0);

  while (flam_proto_next (&message))
    if (message.number == number && message.wire == 2)
      found = flam_proto_inner (&message);
  return found;
}

/* NULL: there is none. */
static inline char *
flam_proto_text_in (FlamProto message, guint64 number)
{
  while (flam_proto_next (&message))
    if (message.number == number && message.wire == 2 && message.length > 0)
      return g_strndup ((const char *)message.bytes, message.length);
  return NULL;
}

#endif
