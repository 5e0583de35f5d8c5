/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sink.h"

#include "flam-core-picture.h"

#include <errno.h>
#include <fcntl.h>
#include <gio/gunixoutputstream.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_SIZE (64 << 10)

struct _FlamSink
{
  GOutputStream *stream;
  GError *error;
  int fd;            /* of the file; -1: none */
  char *path;        /* the final path; NULL: none */
  char *base_lines;  /* temporary name; NULL: none */
  gboolean replaces; /* the file exists */
  gboolean packed;
  FlamSinkText text;
  gsize used;
  char buffer[BUFFER_SIZE];
};

FlamSink *
flam_sink_new (GOutputStream *stream)
{
  FlamSink *sink = g_new0 (FlamSink, 1);

  sink->fd = -1;
  sink->stream = g_object_ref (stream);
  return sink;
}

static gboolean
fail (GError **error, int number, const char *what)
{
  g_set_error_literal (error,
                       G_FILE_ERROR,
                       g_file_error_from_errno (number),
                       what != NULL ? what : g_strerror (number));
  return FALSE;
}

/* The temporary name that a signal handler removes. */
static char pending[PATH_MAX];

static void
on_signal (int number)
{
  unlink (pending);
  signal (number, SIG_DFL);
  raise (number);
}

static void
set_pending (const char *path)
{
  static const int numbers[] = { SIGINT, SIGTERM, SIGHUP, SIGXFSZ };

  for (guint i = 0; i < G_N_ELEMENTS (numbers); i++)
    {
      struct sigaction old;

      if (sigaction (numbers[i], NULL, &old) == 0 &&
          (old.sa_handler == SIG_DFL || old.sa_handler == on_signal))
        signal (numbers[i], path != NULL ? on_signal : SIG_DFL);
    }
  g_strlcpy (pending, path != NULL ? path : "", sizeof pending);
}

static int
open_named (FlamSink *sink)
{
  int fd;

  sink->base_lines = g_strconcat (sink->path, ".XXXXXX", NULL);
  fd = g_mkstemp_full (sink->base_lines, O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0)
    set_pending (sink->base_lines);
  else
    g_clear_pointer (&sink->base_lines, g_free);
  return fd;
}

static int
open_nameless (FlamSink *sink)
{
  g_autofree char *folder = g_path_get_dirname (sink->path);
  int fd;

  /* A nameless file gets its name through this folder. */
  if (access ("/proc/self/fd", X_OK) != 0)
    return open_named (sink);
  fd = open (folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0 || errno == EACCES || errno == ENOENT || errno == ENOTDIR)
    return fd;
  return open_named (sink);
}

/* Group permissions are kept only if the group is the same. */
static void
take_mode (int fd, const struct stat *old)
{
  mode_t mode = old->st_mode & 0777;

  if (fchown (fd, old->st_uid, old->st_gid) != 0 &&
      fchown (fd, (uid_t)-1, old->st_gid) != 0)
    mode &= ~(mode_t)070;
  fchmod (fd, mode);
}

static int
open_regular (FlamSink *sink, const char *path, const struct stat *old)
{
  int fd;

  sink->path = g_strdup (path);
  sink->replaces = old != NULL;
  fd = open_nameless (sink);
  if (fd >= 0 && old != NULL)
    take_mode (fd, old);
  return fd;
}

/* A device or a pipe: opened without waiting for a reader. */
static int
open_special (const char *path, GError **error)
{
  int fd = open (path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat info;

  if (fd < 0 && errno == ENXIO)
    fail (error, ENXIO, N_ ("nothing reads from this pipe"));
  else if (fd < 0)
    fail (error, errno, NULL);
  else if (fstat (fd, &info) != 0 || S_ISREG (info.st_mode))
    {
      close (fd);
      fd = -1;
      fail (error, EINVAL, N_ ("it was replaced meanwhile"));
    }
  else
    fcntl (fd, F_SETFL, fcntl (fd, F_GETFL) & ~O_NONBLOCK);
  return fd;
}

static gboolean
leads_to_device (const char *path)
{
  struct stat info;

  return (g_str_has_prefix (path, "/dev/") ||
          g_str_has_prefix (path, "/proc/")) &&
         stat (path, &info) == 0 && !S_ISREG (info.st_mode) &&
         !S_ISDIR (info.st_mode);
}

static int
open_path (FlamSink *sink, const char *path, gboolean replace, GError **error)
{
  struct stat info;
  gboolean exists = lstat (path, &info) == 0;
  int fd = -1;

  if (exists && S_ISLNK (info.st_mode) && !leads_to_device (path))
    fail (error,
          ELOOP,
          N_ ("it is a symbolic link, which is neither followed nor replaced"));
  else if (exists && !replace)
    fail (error, EEXIST, NULL);
  else if (exists && S_ISDIR (info.st_mode))
    fail (error, EISDIR, NULL);
  else if (exists && !S_ISREG (info.st_mode))
    fd = open_special (path, error);
  else
    {
      fd = open_regular (sink, path, exists ? &info : NULL);
      if (fd < 0)
        fail (error, errno, NULL);
    }
  return fd;
}

FlamSink *
flam_sink_new_for_file (const char *path, gboolean replace, GError **error)
{
  g_autoptr (FlamSink) sink = g_new0 (FlamSink, 1);

  sink->fd = open_path (sink, path, replace, error);
  if (sink->fd < 0)
    return NULL;
  sink->stream = g_unix_output_stream_new (sink->fd, FALSE);
  return g_steal_pointer (&sink);
}

void
flam_sink_compress (FlamSink *sink)
{
  g_autoptr (GZlibCompressor) gzip =
      g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1);
  g_autoptr (GOutputStream) plain = sink->stream;

  sink->stream = g_converter_output_stream_new (plain, G_CONVERTER (gzip));
  sink->packed = TRUE;
}

void
flam_sink_free (FlamSink *sink)
{
  g_clear_object (&sink->stream);
  if (sink->fd >= 0)
    close (sink->fd);
  if (sink->base_lines != NULL)
    {
      g_unlink (sink->base_lines);
      set_pending (NULL);
    }
  g_clear_error (&sink->error);
  g_free (sink->base_lines);
  g_free (sink->path);
  g_free (sink);
}

/* Gives the file the name `name`, which must not exist. */
static gboolean
name_nameless (const FlamSink *sink, const char *name)
{
  g_autofree char *of = g_strdup_printf ("/proc/self/fd/%d", sink->fd);

  return linkat (AT_FDCWD, of, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
}

/* A nameless file can only be given a free name, so it gets a temporary one and
 * then replaces the old file. */
static gboolean
name_beside (FlamSink *sink)
{
  for (guint i = 0; i < 100; i++)
    {
      g_autofree char *name =
          g_strdup_printf ("%s.%06x", sink->path, g_random_int () & 0xffffff);

      if (name_nameless (sink, name))
        {
          sink->base_lines = g_steal_pointer (&name);
          set_pending (sink->base_lines);
          return TRUE;
        }
      if (errno != EEXIST)
        return FALSE;
    }
  return FALSE;
}

/* A file that appeared under the name in the meantime is not replaced without
 * permission. */
static gboolean
take_name (FlamSink *sink)
{
  if (!sink->replaces && sink->base_lines == NULL)
    return name_nameless (sink, sink->path);
  if (sink->base_lines == NULL && !name_beside (sink))
    return FALSE;
  if (!sink->replaces && link (sink->base_lines, sink->path) == 0)
    return TRUE;
  if (!sink->replaces && errno == EEXIST)
    return FALSE;
  if (g_rename (sink->base_lines, sink->path) != 0)
    return FALSE;
  g_clear_pointer (&sink->base_lines, g_free);
  set_pending (NULL);
  return TRUE;
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

gboolean
flam_sink_finish (FlamSink *sink, GError **error)
{
  flush (sink);
  /* Only the end of a packed stream has its checksum. */
  if (sink->error == NULL && sink->packed)
    g_output_stream_close (sink->stream, NULL, &sink->error);
  else if (sink->error == NULL)
    g_output_stream_flush (sink->stream, NULL, &sink->error);
  if (sink->error != NULL)
    {
      g_propagate_error (error, g_error_copy (sink->error));
      return FALSE;
    }
  return sink->path == NULL || take_name (sink) || fail (error, errno, NULL);
}

gboolean
flam_sink_is_broken (const FlamSink *sink)
{
  return sink->error != NULL;
}

void
flam_sink_put_len (FlamSink *sink, const void *bytes, gsize length)
{
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
flam_sink_set_text (FlamSink *sink, FlamSinkText text)
{
  sink->text = text;
}

/* The text is valid UTF-8. */
static void
put_numbers (FlamSink *sink, const char *text, gsize length)
{
  const char *end = text + length, *from = text;

  for (const char *p = text; p < end; p = g_utf8_next_char (p))
    {
      g_autofree char *number = NULL;
      gunichar c = g_utf8_get_char (p);

      if (c < 0x80)
        continue;
      number = sink->text == FLAM_SINK_XML ? g_strdup_printf ("&#%u;", c)
               : c < 0x10000               ? g_strdup_printf ("\\u%04x", c)
                                           : g_strdup_printf ("\\u{%x}", c);
      flam_sink_put_len (sink, from, (gsize)(p - from));
      flam_sink_put_len (sink, number, strlen (number));
      from = g_utf8_next_char (p);
    }
  flam_sink_put_len (sink, from, (gsize)(end - from));
}

static void
put_text (FlamSink *sink, const char *text, gsize length)
{
  if (G_LIKELY (sink->text == FLAM_SINK_UTF_8))
    flam_sink_put_len (sink, text, length);
  else
    put_numbers (sink, text, length);
}

void
flam_sink_put (FlamSink *sink, const char *text)
{
  put_text (sink, text, strlen (text));
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
          put_text (sink, p, (gsize)(g_utf8_next_char (p) - p));
      }
}
