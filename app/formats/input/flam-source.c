/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-source.h"
#include "flam-path-access.h"
#include "flam-text.h"
#include "flam-unpack.h"
#include "flam-unpacker.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK (1 << 20)
/* The size of the head, for probes of a file that is still being unpacked. */
#define HEAD (512 << 10)

gboolean
flam_source_error (const FlamSource *source,
                   GError **error,
                   FlamError code,
                   guint64 offset,
                   const char *format,
                   ...)
{
  g_autofree char *message = NULL;
  va_list args;

  va_start (args, format);
  message = g_strdup_vprintf (format, args);
  va_end (args);
  if (offset == FLAM_NO_OFFSET)
    return flam_error_set (error, code, "%s: %s", source->path, message);
  return flam_error_set (error,
                         code,
                         N_ ("%s: %s (at byte %" PRIu64 ")"),
                         source->path,
                         message,
                         offset + source->before);
}

static gboolean
system_error (const FlamSource *source,
              GError **error,
              const char *what,
              int number)
{
  FlamError code = number == ENOSPC || number == EDQUOT || number == EFBIG
                       ? FLAM_ERROR_TOO_LARGE
                       : FLAM_ERROR_SYSTEM;

  return flam_source_error (
      source, error, code, FLAM_NO_OFFSET, "%s: %s", what, g_strerror (number));
}

/* Prefixes the message with the file's name. */
static gboolean
name_error (const FlamSource *source, GError **error, GError *bad)
{
  g_prefix_error (&bad, "%s: ", source->path);
  g_propagate_error (error, bad);
  return FALSE;
}

/* Pipes, terminals, files of /proc: files that cannot be mapped are copied. */
static gboolean
spool_stream (FlamSource *source,
              int fd,
              const FlamProgress *progress,
              GError **error)
{
  g_autofree char *buffer = g_malloc (BLOCK);
  FlamSpool spool;
  gssize n = 0;
  GError *bad = NULL;
  gboolean going = flam_spool_init (&spool, &bad);

  while (going && (n = read (fd, buffer, BLOCK)) != 0)
    if (n < 0 && errno != EINTR)
      going = system_error (source, error, N_ ("cannot be read"), errno);
    else if (n > 0)
      going = flam_spool_append (&spool, buffer, n, &bad) &&
              flam_progress_step (progress, 0, error);
  if (going && flam_spool_seal (&spool, &bad))
    {
      source->size = source->packed_size = spool.size;
      source->data = flam_spool_steal (&spool, &source->mapped);
    }
  flam_spool_clear (&spool);
  if (bad != NULL)
    return name_error (source, error, bad);
  return going;
}

static void
strip_suffixes (FlamSource *source)
{
  for (guint i = 0; i < G_N_ELEMENTS (flam_wrappers); i++)
    {
      gsize length = strlen (flam_wrappers[i].suffix);
      gsize whole = strlen (source->name);
      if (whole > length && g_ascii_strcasecmp (source->name + whole - length,
                                                flam_wrappers[i].suffix) == 0)
        {
          source->name[whole - length] = '\0';
          i = G_MAXUINT; /* from the first again: .zst.gz */
        }
    }
}

/* The number of blanks before the text, of which the first `known` were counted
 * before. The head begins behind them. */
static gsize
count_blanks (const guint8 *data, gsize there, gsize known)
{
  gsize most = MIN (there, FLAM_TEXT_MOST_COMMENTS);

  while (known < most && g_ascii_isspace (data[known]))
    known++;
  return known;
}

/* Starts the unpacking, all layers at once, and waits for the head of the
 * result. Data that only resembles a wrapper is left unchanged. */
static gboolean
begin_unpacking (FlamSource *source, GError **error)
{
  GError *bad = NULL;
  FlamUnpack *unpack = flam_unpack_begin (
      source->data, source->size, source->mapped == 0 && source->file, &bad);
  gsize there = 0, blanks = 0;
  gsize before;

  if (bad != NULL)
    return name_error (source, error, bad);
  if (unpack == NULL)
    return TRUE;
  source->packed = source->mapped > 0 ? source->data : NULL;
  source->packed_mapped = source->mapped;
  source->unpack = unpack;
  source->data = flam_unpack_get_data (unpack);
  source->mapped = 0;
  do
    {
      before = there;
      there = flam_unpack_wait (unpack, before);
      blanks = count_blanks (source->data, there, blanks);
    }
  while (there < blanks + HEAD && there > before);
  source->size = MIN (there, blanks + HEAD);
  return TRUE;
}

static void
stop_unpacking (FlamSource *source)
{
  if (source->unpack == NULL)
    return;
  g_clear_pointer (&source->unpack, flam_unpack_free);
  if (source->packed != NULL)
    munmap ((void *)source->packed, source->packed_mapped);
  source->packed = NULL;
}

/* The memory of `data`, if it is not the file. */
static void
release_data (FlamSource *source)
{
  const guint8 *start =
      source->data != NULL ? source->data - source->before : NULL;

  if (source->mapped > 0)
    munmap ((void *)start, source->mapped);
  else if (source->file == NULL)
    g_free ((void *)start);
}

gboolean
flam_source_finish (FlamSource *source,
                    const FlamProgress *progress,
                    GError **error)
{
  FlamUnpacked all;
  GError *bad = NULL;

  if (source->unpack == NULL)
    return TRUE;
  if (!flam_unpack_finish (source->unpack, &all, progress, &bad))
    {
      if (g_error_matches (bad, FLAM_ERROR, FLAM_ERROR_CANCELLED))
        return g_propagate_error (error, bad), FALSE;
      return name_error (source, error, bad);
    }
  stop_unpacking (source);
  source->data = all.data + source->before;
  source->size = all.size - source->before;
  source->mapped = all.mapped;
  if (all.truncated)
    {
      source->truncated = TRUE;
      source->read_fraction = all.read_fraction;
    }
  return TRUE;
}

gsize
flam_source_more (const FlamSource *source, gsize have)
{
  return source->unpack != NULL
             ? flam_unpack_wait (source->unpack, have + source->before) -
                   source->before
             : source->size;
}

gboolean
flam_source_is_truncated (const FlamSource *source)
{
  return source->truncated ||
         (source->unpack != NULL && flam_unpack_is_truncated (source->unpack));
}

gboolean
flam_source_is_unpacked (const FlamSource *source)
{
  return source->unpack != NULL || source->mapped != 0;
}

void
flam_source_leave (const FlamSource *source)
{
  if (source->file != NULL && source->unpack == NULL && source->mapped == 0)
    madvise ((void *)source->file->data, source->file->size, MADV_DONTNEED);
}

void
flam_source_leave_part (const FlamSource *source,
                        const guint8 *start,
                        const guint8 *end)
{
  gsize page = (gsize)sysconf (_SC_PAGESIZE), first, last;

  if (flam_source_is_unpacked (source))
    start = MAX (start, source->data + FLAM_SPOOL_IN_MEMORY);
  else if (source->file == NULL || end > source->data + source->size)
    return;
  if (start < source->data || end <= start)
    return;
  first = ((gsize)start + page - 1) / page * page;
  last = (gsize)end / page * page;
  if (last > first)
    madvise ((void *)first, last - first, MADV_DONTNEED);
}

double
flam_source_fraction (const FlamSource *source, gsize offset)
{
  gsize there = MAX (flam_source_more (source, 0), 1);
  double fraction = (double)offset / there;

  if (source->unpack != NULL)
    fraction *= flam_unpack_fraction (source->unpack);
  return MIN (fraction, 1);
}

/* --- byte order marks ---------------------------------------------------- */

/* Two bytes each; an odd byte at the end is left out. */
static gboolean
append_utf16 (FlamSpool *spool,
              const guint8 *data,
              gsize size,
              gboolean big,
              GError **error)
{
  g_autoptr (GString) text = g_string_sized_new (BLOCK);
  gunichar high = 0;

  for (gsize i = 0; i + 1 < size; i += 2)
    {
      gunichar unit = data[i + !big] << 8 | data[i + big];

      if (high != 0 && (unit & 0xfc00) == 0xdc00)
        unit = 0x10000 + ((high & 0x3ff) << 10) + (unit & 0x3ff);
      else if (high != 0)
        g_string_append_unichar (text, 0xfffd);
      high = (unit & 0xfffffc00) == 0xd800 ? unit : 0;
      if (high == 0)
        g_string_append_unichar (text,
                                 (unit & 0xfffffc00) == 0xdc00 ? 0xfffd : unit);
      if (text->len < BLOCK)
        continue;
      if (!flam_spool_append (spool, text->str, text->len, error))
        return FALSE;
      g_string_truncate (text, 0);
    }
  return flam_spool_append (spool, text->str, text->len, error);
}

/* Converts all of it, since importers read only UTF-8. */
static gboolean
convert_utf16 (FlamSource *source, const FlamProgress *progress, GError **error)
{
  FlamSpool spool;
  GError *bad = NULL;

  if (!flam_source_finish (source, progress, error))
    return FALSE;
  if (flam_spool_init (&spool, &bad) &&
      append_utf16 (&spool,
                    source->data + 2,
                    source->size - 2,
                    source->data[0] == 0xfe,
                    &bad) &&
      flam_spool_seal (&spool, &bad))
    {
      release_data (source);
      source->size = spool.size;
      source->data = flam_spool_steal (&spool, &source->mapped);
    }
  flam_spool_clear (&spool);
  return bad == NULL || name_error (source, error, bad);
}

/* A byte order mark of UTF-16 may be other data: in a text a letter or a space
 * follows it. */
static gboolean
read_mark (FlamSource *source, const FlamProgress *progress, GError **error)
{
  const guint8 *data = source->data;
  gboolean little, big;

  if (source->size < 4)
    return TRUE;
  little = data[0] == 0xff && data[1] == 0xfe && data[3] == 0 &&
           (g_ascii_isprint (data[2]) || g_ascii_isspace (data[2]));
  big = data[0] == 0xfe && data[1] == 0xff && data[2] == 0 &&
        (g_ascii_isprint (data[3]) || g_ascii_isspace (data[3]));
  if (little || big)
    return convert_utf16 (source, progress, error);
  if (memcmp (data, "\xef\xbb\xbf", 3) == 0)
    {
      source->before = 3;
      source->data += 3;
      source->size -= 3;
    }
  return TRUE;
}

/* --- empty lines --------------------------------------------------------- */

/* More would be read for nothing. */
#define MOST_BLANKS ((gsize)64 << 20)
/* What follows the empty lines is taken for text by this many bytes. */
#define TEXT_LOOKED_AT 4096

/* The bytes of the lines of white space at the beginning. */
static gsize
find_first_line (const FlamSource *source, guint64 *lines)
{
  gsize end = MIN (source->size, MOST_BLANKS), first = 0;

  *lines = 0;
  for (gsize i = 0; i < end && g_ascii_isspace (source->data[i]); i++)
    if (source->data[i] == '\n')
      {
        first = i + 1;
        ++*lines;
      }
  return first;
}

/* The first byte of binary formats may be that of an empty line. */
static gboolean
is_text (const FlamSource *source, gsize at)
{
  gsize end = MIN (source->size, at + TEXT_LOOKED_AT);

  for (; at < end; at++)
    if (source->data[at] < ' ' && !g_ascii_isspace (source->data[at]))
      return FALSE;
  return TRUE;
}

/* Whoever saves what a tool prints often has empty lines before it, which
 * importers and probes need not deal with. */
static void
skip_blanks (FlamSource *source)
{
  guint64 lines;
  gsize first = find_first_line (source, &lines);

  if (first == 0 || first == source->size || !is_text (source, first))
    return;
  source->before += first;
  source->lines_before = lines;
  source->data += first;
  source->size -= first;
}

static gboolean
read_file (FlamSource *source,
           int fd,
           const FlamProgress *progress,
           GError **error)
{
  struct stat info;

  if (fstat (fd, &info) < 0)
    return system_error (source, error, N_ ("cannot be read"), errno);
  if (S_ISDIR (info.st_mode))
    return system_error (source, error, N_ ("cannot be read"), EISDIR);
  source->packed_size = info.st_size;
  if (!S_ISREG (info.st_mode) || info.st_size == 0 ||
      lseek (fd, 0, SEEK_CUR) > 0)
    return spool_stream (source, fd, progress, error);
  source->file = flam_file_map_new (fd, (gsize)info.st_size);
  if (source->file == NULL)
    return system_error (source, error, N_ ("cannot be mapped"), errno);
  source->data = source->file->data;
  source->size = source->file->size;
  return TRUE;
}

gboolean
flam_source_is_whole (const FlamSource *source, GError **error)
{
  if (source->file == NULL || flam_file_map_is_whole (source->file))
    return TRUE;
  return flam_source_error (source,
                            error,
                            FLAM_ERROR_SYSTEM,
                            FLAM_NO_OFFSET,
                            N_ ("the file became shorter while it was read, or "
                                "part of it cannot be read"));
}

/* Bytes that are packed, and texts that begin with a mark. */
static gboolean
look_inside (FlamSource *source, const FlamProgress *progress, GError **error)
{
  if (flam_unpacker_is_wrapped (source->data, source->size) &&
      !begin_unpacking (source, error))
    return FALSE;
  if (!read_mark (source, progress, error))
    return FALSE;
  skip_blanks (source);
  return TRUE;
}

/* perf's folders, whose head is in a file of that name. */
static char *
file_of (const char *path)
{
  g_autofree char *inside = g_build_filename (path, "data", NULL);

  return g_file_test (inside, G_FILE_TEST_IS_REGULAR)
             ? g_steal_pointer (&inside)
             : g_strdup (path);
}

FlamSource *
flam_source_begin (const char *path,
                   const FlamProgress *progress,
                   GError **error)
{
  g_autoptr (FlamSource) source = g_new0 (FlamSource, 1);
  gboolean standard_input = strcmp (path, "-") == 0;
  gboolean ok;
  int fd = 0;

  if (!standard_input)
    flam_path_access_grant (path);
  source->path = standard_input ? g_strdup (path) : file_of (path);
  source->name =
      standard_input ? g_strdup ("stdin") : g_path_get_basename (path);
  source->read_fraction = 1;
  strip_suffixes (source);
  if (!standard_input)
    fd = open (source->path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    {
      system_error (source, error, N_ ("cannot be opened"), errno);
      return NULL;
    }
  ok = read_file (source, fd, progress, error);
  if (!standard_input)
    close (fd);
  return ok && look_inside (source, progress, error) ? g_steal_pointer (&source)
                                                     : NULL;
}

FlamSource *
flam_source_new_from_spool (const char *path,
                            const char *name,
                            FlamSpool *spool,
                            const FlamProgress *progress,
                            GError **error)
{
  g_autoptr (FlamSource) source = g_new0 (FlamSource, 1);

  source->path = g_strdup (path);
  source->name = g_strdup (name);
  source->read_fraction = 1;
  source->size = source->packed_size = spool->size;
  source->data = flam_spool_steal (spool, &source->mapped);
  strip_suffixes (source);
  return look_inside (source, progress, error) &&
                 flam_source_finish (source, progress, error)
             ? g_steal_pointer (&source)
             : NULL;
}

FlamSource *
flam_source_open (const char *path,
                  const FlamProgress *progress,
                  GError **error)
{
  g_autoptr (FlamSource) source = flam_source_begin (path, progress, error);

  if (source == NULL || !flam_source_finish (source, progress, error))
    return NULL;
  return g_steal_pointer (&source);
}

FlamSource *
flam_source_new_from_data (const char *name, const void *data, gsize size)
{
  FlamSource *source = g_new0 (FlamSource, 1);
  guint8 *copy = g_malloc (size + 1);

  if (size > 0)
    memcpy (copy, data, size);
  copy[size] = 0;
  source->path = g_strdup (name);
  source->name = g_path_get_basename (name);
  source->data = copy;
  source->size = size;
  source->packed_size = size;
  source->read_fraction = 1;
  return source;
}

FlamSource *
flam_source_new_begun (const FlamSource *whole, gsize size)
{
  FlamSource *source =
      flam_source_new_from_data (whole->path, whole->data, size);

  g_free (source->name);
  source->name = g_strdup (whole->name);
  source->packed_size = whole->packed_size;
  source->lines_before = whole->lines_before;
  source->begun = TRUE;
  source->read_fraction = flam_source_fraction (whole, size);
  return source;
}

void
flam_source_free (FlamSource *source)
{
  if (source == NULL)
    return;
  if (source->unpack != NULL)
    stop_unpacking (source);
  else
    release_data (source);
  flam_file_map_free (source->file);
  g_free (source->path);
  g_free (source->name);
  g_free (source);
}

/* --- probes -------------------------------------------------------------- */

gboolean
flam_source_head_has (const FlamSource *source, gsize head, const char *text)
{
  return memmem (source->data, MIN (source->size, head), text, strlen (text)) !=
         NULL;
}

char
flam_source_first_char (const FlamSource *source)
{
  for (gsize i = 0; i < MIN (source->size, 4096); i++)
    if (!g_ascii_isspace (source->data[i]))
      return (char)source->data[i];
  return '\0';
}
