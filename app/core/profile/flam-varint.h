/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_VARINT_H
#define FLAM_VARINT_H

/* Unsigned LEB128: seven bits per byte, the lowest first; the top bit means
 * that more bytes follow. Zigzag makes small numbers of either sign short. For
 * DWARF, the unwinder has its own reader without GLib (flam-unwind-bytes.c). */

#include <glib.h>

G_BEGIN_DECLS

#define FLAM_VARINT_MAX 10 /* bytes */

/* Moves `at` past it. FALSE if the number does not end before `end`, or does
 * not fit into 64 bits. */
static inline gboolean
flam_varint_get (const guint8 **at, const guint8 *end, guint64 *value)
{
  guint64 result = 0;

  for (guint shift = 0; shift < 64 && *at < end; shift += 7)
    {
      guint8 byte = *(*at)++;

      if (shift == 63 && byte > 1)
        return FALSE;
      result |= (guint64)(byte & 0x7f) << shift;
      if (byte < 0x80)
        {
          *value = result;
          return TRUE;
        }
    }
  return FALSE;
}

/* Its number of bytes. */
static inline guint
flam_varint_put (guint8 bytes[FLAM_VARINT_MAX], guint64 value)
{
  guint n = 0;

  for (; value >= 0x80; value >>= 7)
    bytes[n++] = (guint8)(value | 0x80);
  bytes[n++] = (guint8)value;
  return n;
}

static inline guint64
flam_varint_zigzag (gint64 value)
{
  return ((guint64)value << 1) ^ (guint64)(value >> 63);
}

static inline gint64
flam_varint_unzigzag (guint64 value)
{
  return (gint64)(value >> 1) ^ -(gint64)(value & 1);
}

G_END_DECLS

#endif
