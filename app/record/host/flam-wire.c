/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-wire.h"

#include "flam-core-profile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEAD_MAX 4
#define FULL (1 << 20)
#define CONFIRM_EVERY (64 << 10)
#define KINDS "AISPKLCYFDOEWX"

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
  wire->kept = g_byte_array_new ();
  flam_wire_never_wait (in);
  flam_wire_never_wait (out);
}

void
flam_wire_clear (FlamWire *wire)
{
  g_clear_pointer (&wire->unread, g_byte_array_unref);
  g_clear_pointer (&wire->kept, g_byte_array_unref);
}

/* --- sending ------------------------------------------------------------- */

static void
put_one (FlamWire *wire, FlamWireKind kind, const guint8 *data, gsize size)
{
  guint8 head[HEAD_MAX] = { (guint8)kind };
  guint n = 1;

  for (gsize rest = size; n == 1 || rest > 0; rest >>= 7)
    head[n++] = (guint8)((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
  g_byte_array_append (wire->kept, head, n);
  g_byte_array_append (wire->kept, data, (guint)size);
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
  return wire->kept->len >= FULL;
}

gboolean
flam_wire_has_unsent (const FlamWire *wire)
{
  return wire->sent < wire->kept->len;
}

gboolean
flam_wire_send (FlamWire *wire)
{
  while (flam_wire_has_unsent (wire))
    {
      ssize_t n = write (wire->out,
                         wire->kept->data + wire->sent,
                         wire->kept->len - wire->sent);

      if (n > 0)
        wire->sent += (gsize)n;
      else if (errno != EINTR)
        return errno == EAGAIN;
    }
  return TRUE;
}

/* --- what has arrived ---------------------------------------------------- */

/* FALSE: it has not been sent. */
static gboolean
forget (FlamWire *wire, guint64 received)
{
  guint64 n = received - wire->first;

  if (received < wire->first || n > wire->sent)
    return FALSE;
  if (n > 0)
    g_byte_array_remove_range (wire->kept, 0, (guint)n);
  wire->first = received;
  wire->sent -= (gsize)n;
  return TRUE;
}

/* Confirmations are counted like all messages; they are too few to cause
 * others. */
static void
confirm (FlamWire *wire)
{
  guint64 number = GUINT64_TO_LE (wire->received);

  if (wire->received - wire->confirmed < CONFIRM_EVERY)
    return;
  wire->confirmed = wire->received;
  flam_wire_put (wire, FLAM_WIRE_CONFIRM, &number, sizeof number);
}

static gboolean
take_confirmation (FlamWire *wire, const FlamWireMessage *message)
{
  guint64 number;

  if (message->size != sizeof number)
    return FALSE;
  memcpy (&number, message->data, sizeof number);
  number = GUINT64_FROM_LE (number);
  /* One that is sent again is older than what joining has told. */
  return number < wire->first || forget (wire, number);
}

gboolean
flam_wire_rejoin (FlamWire *wire, int in, int out, guint64 received)
{
  if (!forget (wire, received))
    return FALSE;
  wire->in = in;
  wire->out = out;
  wire->sent = 0;
  flam_wire_never_wait (in);
  flam_wire_never_wait (out);
  return TRUE;
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
        {
          g_byte_array_append (wire->unread, buffer, (guint)n);
          wire->received += (guint64)n;
          confirm (wire);
        }
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

static gboolean
fail (const FlamWire *wire, GError **error)
{
  return flam_error_set (error,
                         FLAM_ERROR_INVALID,
                         N_ ("unexpected data after %zu bytes in place of a "
                             "message of the recorder"),
                         wire->at);
}

/* The size of a message's head; 0: it has not arrived whole. `size` is above
 * FLAM_WIRE_MAX if it is not one. */
static gsize
read_head (const guint8 *at, gsize left, gsize *size)
{
  *size = 0;
  for (gsize n = 1; n < HEAD_MAX && n < left; n++)
    {
      *size |= (gsize)(at[n] & 0x7f) << (7 * (n - 1));
      if (at[n] < 0x80)
        return n + 1;
    }
  if (left >= HEAD_MAX)
    *size = G_MAXSIZE;
  return 0;
}

gboolean
flam_wire_next (FlamWire *wire, FlamWireMessage *message, GError **error)
{
  for (;;)
    {
      gsize left = wire->unread->len - wire->at;
      const guint8 *at = wire->unread->data + wire->at;
      gsize size;
      gsize head = read_head (at, left, &size);

      if ((left > 0 && (*at == '\0' || strchr (KINDS, *at) == NULL)) ||
          size > FLAM_WIRE_MAX)
        return fail (wire, error);
      if (head == 0 || left - head < size)
        {
          drop_read (wire);
          return FALSE;
        }
      *message = (FlamWireMessage){ (FlamWireKind)*at, at + head, size };
      if (message->kind == FLAM_WIRE_CONFIRM &&
          !take_confirmation (wire, message))
        return fail (wire, error);
      wire->at += head + size;
      if (message->kind != FLAM_WIRE_CONFIRM)
        return TRUE;
    }
}

guint32
flam_wire_number (const FlamWireMessage *message)
{
  guint32 number = 0;

  memcpy (&number, message->data, MIN (message->size, sizeof number));
  return GUINT32_FROM_LE (number);
}
