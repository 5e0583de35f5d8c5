/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BYTES_H
#define FLAM_BYTES_H

#include <glib.h>

/* The little-endian number of `size` bytes, 8 at most, at `at`. */
static inline guint64
flam_bytes_get (const guint8 *at, guint size)
{
  guint64 value = 0;

  for (guint i = 0; i < size; i++)
    value |= (guint64)at[i] << (8 * i);
  return value;
}

#endif
