/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-order.h"

#include <string.h>

#define BYTES 8
#define VALUES 256

static gboolean
ascends (const guint32 *order, guint32 n, const gint64 *times)
{
  for (guint32 i = 1; i < n; i++)
    if (times[order[i - 1]] > times[order[i]])
      return FALSE;
  return TRUE;
}

/* The sign bit is flipped, so that negative times sort first. */
static guint64
key_of (gint64 time)
{
  return (guint64)time ^ (G_GUINT64_CONSTANT (1) << 63);
}

static guint
byte_of (gint64 time, guint byte)
{
  return key_of (time) >> (8 * byte) & 0xff;
}

/* The number of rows for each value of each byte. */
static void
count_bytes (const guint32 *order,
             guint32 n,
             const gint64 *times,
             guint32 (*counts)[VALUES])
{
  for (guint32 i = 0; i < n; i++)
    for (guint b = 0; b < BYTES; b++)
      counts[b][byte_of (times[order[i]], b)]++;
}

/* `counts` become the positions of the next row for each value. */
static void
distribute (const guint32 *from,
            guint32 *to,
            guint32 n,
            const gint64 *times,
            guint byte,
            guint32 *counts)
{
  guint32 at = 0;

  for (guint v = 0; v < VALUES; v++)
    {
      guint32 count = counts[v];

      counts[v] = at;
      at += count;
    }
  for (guint32 i = 0; i < n; i++)
    to[counts[byte_of (times[from[i]], byte)]++] = from[i];
}

gboolean
flam_order_by_time (guint32 *order, guint32 n, const gint64 *times)
{
  guint32 counts[BYTES][VALUES] = { 0 };
  g_autofree guint32 *other = NULL;
  guint32 *from = order;

  if (ascends (order, n, times))
    return FALSE;
  other = g_new (guint32, n);
  count_bytes (order, n, times, counts);
  for (guint b = 0; b < BYTES; b++)
    {
      guint32 *to = from == order ? other : order;

      if (counts[b][byte_of (times[order[0]], b)] == n)
        continue;
      distribute (from, to, n, times, b, counts[b]);
      from = to;
    }
  if (from != order)
    memcpy (order, from, n * sizeof *order);
  return TRUE;
}

/* The usual sizes are compile-time constants; other sizes cost a call for each
 * row. */
void
flam_order_take (gpointer to,
                 gconstpointer from,
                 guint size,
                 guint32 n,
                 const guint32 *order)
{
  const char *row = from;
  char *at = to;

  if (size == sizeof (guint64))
    for (guint32 i = 0; i < n; i++)
      ((guint64 *)to)[i] = ((const guint64 *)from)[order[i]];
  else if (size == sizeof (guint32))
    for (guint32 i = 0; i < n; i++)
      ((guint32 *)to)[i] = ((const guint32 *)from)[order[i]];
  else
    for (guint32 i = 0; i < n; i++)
      memcpy (at + (gsize)i * size, row + (gsize)order[i] * size, size);
}
