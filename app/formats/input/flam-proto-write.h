/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PROTO_WRITE_H
#define FLAM_PROTO_WRITE_H

/* The counterpart of flam-proto.h: writes fields into a message. */

#include "flam-core-profile.h"

static inline void
flam_proto_put_varint (GString *out, guint64 value)
{
  guint8 bytes[FLAM_VARINT_MAX];

  g_string_append_len (
      out, (const char *)bytes, flam_varint_put (bytes, value));
}

/* Zero is the default of a missing field, and is not written. */
static inline void
flam_proto_put_number (GString *out, guint number, guint64 value)
{
  if (value == 0)
    return;
  flam_proto_put_varint (out, number << 3);
  flam_proto_put_varint (out, value);
}

static inline void
flam_proto_put_bytes (GString *out,
                      guint number,
                      const void *bytes,
                      gsize length)
{
  flam_proto_put_varint (out, number << 3 | 2);
  flam_proto_put_varint (out, length);
  g_string_append_len (out, bytes, length);
}

#endif
