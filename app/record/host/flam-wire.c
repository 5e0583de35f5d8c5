/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-wire.h"

#include "flam-core-profile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEAD 5
#define FULL (1 << 20)
#define KINDS "AISPKCFDOEWX"

void
flam_wire_never_wait (int fd)
{
  fcntl (fd, F_SETFL, fcntl (fd, F_GETFL) | O_NONBLOCK);
}

void
flam_wire_init (FlamWire *wire, int in, int out)
{
  *wire = (FlamWire){ .in = in, .out = out };
  wire->unread = g_byte_array_new ();
  wire->unsent = g_byte_array_new ();
  flam_wire_never_wait (in);
  flam_wire_never_wait (out);
}

void
flam_wire_clear (FlamWire *wire)
{
  g_clear_pointer (&wire->unread, g_byte_array_unref);
  g_clear_pointer (&wire->unsent, g_byte_array_unref);
}

/* --- sending ------------------------------------------------------------- */

static void
put_one (FlamWire *wire, FlamWireKind kind, const guint8 *data, gsize size)
{
  guint8 head[HEAD] = { (guint8)kind };
  guint32 length = GUINT32_TO_LE ((guint32)size);

  memcpy (head + 1, &length, sizeof length);
  g_byte_array_append (wire->unsent, head, HEAD);
  g_byte_array_append (wire->unsent, data, (guint)size);
}

void
flam_wire_put (FlamWire *wire,
               FlamWireKind kind,
               gconstpointer data,
               gsize size)
{
  const guint8 *bytes = data;

  for (; size > FLAM_WIRE_MAX; size -= FLAM_WIRE_MAX, bytes += FLAM_WIRE_MAX)
    put_one (wire, kind, bytes, FLAM_WIRE_MAX);
  put_one (wire, kind, bytes, size);
}

void
flam_wire_put_number (FlamWire *wire, FlamWireKind kind, guint32 number)
{
  number = GUINT32_TO_LE (number);
  flam_wire_put (wire, kind, &number, sizeof number);
}

gboolean
flam_wire_is_full (const FlamWire *wire)
{
  return wire->unsent->len >= FULL;
}

gboolean
flam_wire_send (FlamWire *wire)
{
  gsize done = 0;
  gboolean whole = TRUE;

  while (done < wire->unsent->len)
    {
      ssize_t n = write (
          wire->out, wire->unsent->data + done, wire->unsent->len - done);

      if (n > 0)
        done += (gsize)n;
      else if (errno != EINTR)
        {
          whole = errno == EAGAIN;
          break;
        }
    }
  if (done > 0)
    g_byte_array_remove_range (wire->unsent, 0, (guint)done);
  return whole;
}

/* --- receiving ----------------------------------------------------------- */

gboolean
flam_wire_receive (FlamWire *wire)
{
  guint8 buffer[FLAM_WIRE_MAX];

  while (wire->unread->len < FULL)
    {
      ssize_t n = read (wire->in, buffer, sizeof buffer);

      if (n > 0)
        g_byte_array_append (wire->unread, buffer, (guint)n);
      else if (n == 0 || errno != EINTR)
        return n < 0 && errno == EAGAIN;
    }
  return TRUE;
}

static void
drop_read (FlamWire *wire)
{
  if (wire->at > 0)
    g_byte_array_remove_range (wire->unread, 0, (guint)wire->at);
  wire->at = 0;
}

gboolean
flam_wire_next (FlamWire *wire, FlamWireMessage *message, GError **error)
{
  gsize left = wire->unread->len - wire->at;
  const guint8 *at = wire->unread->data + wire->at;
  guint32 size;

  if (left < HEAD)
    {
      drop_read (wire);
      return FALSE;
    }
  memcpy (&size, at + 1, sizeof size);
  size = GUINT32_FROM_LE (size);
  if (*at == '\0' || strchr (KINDS, *at) == NULL || size > FLAM_WIRE_MAX)
    return flam_error_set (error,
                           FLAM_ERROR_INVALID,
                           N_ ("the data after %zu bytes does not come from "
                               "the recorder"),
                           wire->at);
  if (left - HEAD < size)
    {
      drop_read (wire);
      return FALSE;
    }
  *message = (FlamWireMessage){ (FlamWireKind)*at, at + HEAD, size };
  wire->at += HEAD + size;
  return TRUE;
}

guint32
flam_wire_number (const FlamWireMessage *message)
{
  guint32 number = 0;

  memcpy (&number, message->data, MIN (message->size, sizeof number));
  return GUINT32_FROM_LE (number);
}
