/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The other half of flam-proto.h: fields into a document. */

#include <glib.h>

G_BEGIN_DECLS

static inline void
flam_proto_put_varint (GString *out, guint64 value)
{
  for (; value >= 0x80; value >>= 7)
    g_string_append_c (out, (char)(value | 0x80));
  g_string_append_c (out, (char)value);
}

/* Zero is what a missing field means, and is not written. */
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

G_END_DECLS
