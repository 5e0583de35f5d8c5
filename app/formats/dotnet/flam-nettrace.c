/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-bytes.h"
#include "flam-core-profile.h"
#include "flam-nettrace.h"

#define GUID 16

guint64
flam_nettrace_take (const guint8 **at, const guint8 *end, guint size)
{
  guint64 value;

  if ((gsize)(end - *at) < size)
    {
      *at = end;
      return 0;
    }
  value = flam_bytes_get (*at, size);
  *at += size;
  return value;
}

static guint64
flam_nettrace_varint (const guint8 **at, const guint8 *end)
{
  guint64 value = 0;

  if (!flam_varint_get (at, end, &value))
    {
      *at = end;
      return 0;
    }
  return value;
}

char *
flam_nettrace_text (const guint8 **at, const guint8 *end)
{
  g_autoptr (GArray) units = g_array_new (TRUE, FALSE, sizeof (gunichar2));
  gunichar2 unit;
  char *text;

  while (end - *at >= 2 &&
         (unit = (gunichar2)flam_nettrace_take (at, end, 2)) != 0)
    g_array_append_val (units, unit);
  if (units->len == 0)
    return g_strdup ("");
  text = g_utf16_to_utf8 (
      (const gunichar2 *)units->data, units->len, NULL, NULL, NULL);
  return text != NULL ? text : g_strdup ("");
}

gboolean
flam_nettrace_read_head (const guint8 **at,
                         const guint8 *end,
                         FlamNettraceEvent *event)
{
  const guint8 *start = *at;
  guint64 size = flam_nettrace_take (at, end, 4);

  if (size > (guint64)(end - *at) || end - start < 80)
    return FALSE;
  event->metadata = flam_nettrace_take (at, end, 4) & G_MAXINT32;
  flam_nettrace_take (at, end, 4); /* its number among its thread's events */
  event->thread = flam_nettrace_take (at, end, 8);
  flam_nettrace_take (at, end, 8); /* the writing thread, and its processor */
  flam_nettrace_take (at, end, 4);
  event->stack = flam_nettrace_take (at, end, 4);
  event->time = flam_nettrace_take (at, end, 8);
  *at += 2 * GUID;
  event->size = flam_nettrace_take (at, end, 4);
  if (event->size > (gsize)(end - *at))
    return FALSE;
  event->payload = *at;
  *at = MIN (start + ((4 + size + 3) & ~(guint64)3), end);
  return TRUE;
}

gboolean
flam_nettrace_read_short_head (const guint8 **at,
                               const guint8 *end,
                               FlamNettraceEvent *event)
{
  guint flags = flam_nettrace_take (at, end, 1);

  if (flags & 1)
    event->metadata = flam_nettrace_varint (at, end) & G_MAXINT32;
  for (guint i = 0; i < 3 && (flags & 2); i++)
    flam_nettrace_varint (at, end);
  if (flags & 4)
    event->thread = flam_nettrace_varint (at, end);
  if (flags & 8)
    event->stack = flam_nettrace_varint (at, end);
  event->time += flam_nettrace_varint (at, end);
  for (guint i = 4; i < 6; i++)
    if (flags & (1 << i))
      *at += MIN (GUID, end - *at);
  if (flags & 128)
    event->size = flam_nettrace_varint (at, end);
  if (event->size > (gsize)(end - *at))
    return FALSE;
  event->payload = *at;
  *at += event->size;
  return TRUE;
}
