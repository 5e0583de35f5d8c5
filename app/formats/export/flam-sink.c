/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sink.h"

#include "flam-core-picture.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixoutputstream.h>
#include <glib/gstdio.h>
#include <string.h>

#define BUFFER_SIZE (64 << 10)

struct _FlamSink
{
  GOutputStream *stream;
  GError *error;
  char *path;   /* the final path; NULL: none */
  char *beside; /* the path until then */
  guint64 size;
  gsize used;
  char buffer[BUFFER_SIZE];
};

FlamSink *
flam_sink_new (GOutputStream *stream)
{
  FlamSink *sink = g_new0 (FlamSink, 1);

  sink->stream = g_object_ref (stream);
  return sink;
}

static int
open_beside (FlamSink *sink, const char *path)
{
  GStatBuf info;

  if (g_stat (path, &info) == 0 && !S_ISREG (info.st_mode))
    return g_open (path, O_WRONLY | O_CLOEXEC, 0);
  sink->path = g_strdup (path);
  sink->beside = g_strconcat (path, ".XXXXXX", NULL);
  return g_mkstemp_full (sink->beside, O_WRONLY | O_CLOEXEC, 0666);
}

FlamSink *
flam_sink_new_for_file (const char *path, GError **error)
{
  g_autoptr (FlamSink) sink = g_new0 (FlamSink, 1);
  int fd = open_beside (sink, path);

  if (fd < 0)
    {
      g_set_error_literal (error,
                           G_FILE_ERROR,
                           g_file_error_from_errno (errno),
                           g_strerror (errno));
      g_clear_pointer (&sink->beside, g_free);
      return NULL;
    }
  sink->stream = g_unix_output_stream_new (fd, TRUE);
  return g_steal_pointer (&sink);
}

void
flam_sink_free (FlamSink *sink)
{
  g_clear_object (&sink->stream);
  if (sink->beside != NULL)
    g_unlink (sink->beside);
  g_clear_error (&sink->error);
  g_free (sink->beside);
  g_free (sink->path);
  g_free (sink);
}

static void
write_out (FlamSink *sink, const void *bytes, gsize length)
{
  if (sink->error == NULL)
    g_output_stream_write_all (
        sink->stream, bytes, length, NULL, NULL, &sink->error);
}

static void
flush (FlamSink *sink)
{
  write_out (sink, sink->buffer, sink->used);
  sink->used = 0;
}

static gboolean
appear (FlamSink *sink, GError **error)
{
  if (sink->beside == NULL)
    return TRUE;
  if (g_rename (sink->beside, sink->path) != 0)
    {
      g_set_error_literal (error,
                           G_FILE_ERROR,
                           g_file_error_from_errno (errno),
                           g_strerror (errno));
      return FALSE;
    }
  g_clear_pointer (&sink->beside, g_free);
  return TRUE;
}

gboolean
flam_sink_finish (FlamSink *sink, GError **error)
{
  flush (sink);
  if (sink->error == NULL)
    g_output_stream_flush (sink->stream, NULL, &sink->error);
  if (sink->error == NULL && sink->path != NULL)
    g_output_stream_close (sink->stream, NULL, &sink->error);
  if (sink->error != NULL)
    {
      g_propagate_error (error, g_error_copy (sink->error));
      return FALSE;
    }
  return appear (sink, error);
}

gboolean
flam_sink_is_broken (const FlamSink *sink)
{
  return sink->error != NULL;
}

guint64
flam_sink_size (const FlamSink *sink)
{
  return sink->size;
}

void
flam_sink_put_len (FlamSink *sink, const void *bytes, gsize length)
{
  sink->size += length;
  if (length > BUFFER_SIZE - sink->used)
    flush (sink);
  if (length > BUFFER_SIZE)
    {
      write_out (sink, bytes, length);
      return;
    }
  if (length > 0)
    memcpy (sink->buffer + sink->used, bytes, length);
  sink->used += length;
}

void
flam_sink_put (FlamSink *sink, const char *text)
{
  flam_sink_put_len (sink, text, strlen (text));
}

void
flam_sink_put_c (FlamSink *sink, char c)
{
  flam_sink_put_len (sink, &c, 1);
}

void
flam_sink_put_int (FlamSink *sink, gint64 value)
{
  char digits[24];
  char *end = digits + sizeof digits;
  char *at = end;
  guint64 left = value < 0 ? -(guint64)value : (guint64)value;

  do
    *--at = '0' + (char)(left % 10);
  while ((left /= 10) > 0);
  if (value < 0)
    *--at = '-';
  flam_sink_put_len (sink, at, (gsize)(end - at));
}

void
flam_sink_printf (FlamSink *sink, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  flam_sink_put (sink, text);
}

void
flam_sink_put_escaped (FlamSink *sink, const char *text, gssize length)
{
  const char *end = text + (length < 0 ? (gssize)strlen (text) : length);

  for (const char *p = text; p < end; p = g_utf8_next_char (p))
    switch (*p)
      {
      case '&':
        flam_sink_put (sink, "&amp;");
        break;
      case '<':
        flam_sink_put (sink, "&lt;");
        break;
      case '>':
        flam_sink_put (sink, "&gt;");
        break;
      case '"':
        flam_sink_put (sink, "&quot;");
        break;
      default:
        if ((guchar)*p < 0x20 || strncmp (p, "\xef\xbf\xbe", 3) == 0 ||
            strncmp (p, "\xef\xbf\xbf", 3) == 0)
          flam_sink_put (sink, "\xef\xbf\xbd");
        else if ((guchar)*p >= 0x80 && flam_format_turns (g_utf8_get_char (p)))
          flam_sink_printf (sink, "\\u%04x", g_utf8_get_char (p));
        else
          flam_sink_put_len (sink, p, g_utf8_next_char (p) - p);
      }
}
