/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-source.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* One wrapper inside the other; more is not a capture but a joke. */
#define MAX_WRAPPERS 8
#define BLOCK (1 << 20)

typedef struct
{
  const char *magic;
  guint length;
  const char *suffix;
} Wrapper;

static const Wrapper wrappers[] = {
  { "\x1f\x8b", 2, ".gz" },
  { "\xfd"
    "7zXZ",
    6,
    ".xz" }, /* with the NUL */
  { "BZh", 3, ".bz2" },
  { "\x28\xb5\x2f\xfd", 4, ".zst" },
  { "\x04\x22\x4d\x18", 4, ".lz4" },
};

void
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
    g_set_error (error, FLAM_ERROR, code, "%s: %s", source->path, message);
  else
    g_set_error (error,
                 FLAM_ERROR,
                 code,
                 "%s: %s (at byte %" G_GUINT64_FORMAT ")",
                 source->path,
                 message,
                 offset);
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

  flam_source_error (
      source, error, code, FLAM_NO_OFFSET, "%s: %s", what, g_strerror (number));
  return FALSE;
}

static void
unmap (FlamSource *source)
{
  if (source->mapped > 0)
    munmap ((void *)source->data, source->mapped);
  source->data = NULL;
  source->mapped = 0;
  source->size = 0;
}

/* Maps the file over a reservation one page longer, so that a zero byte
 * follows even where the file fills its last page:
 *
 *    | file page | file page | file …000 | zero page |
 */
static gboolean
map (FlamSource *source, int fd, gsize size, GError **error)
{
  gsize page = sysconf (_SC_PAGESIZE);
  gsize length = (size + page - 1) / page * page + page;
  guint8 *base = mmap (NULL,
                       length,
                       PROT_READ,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1,
                       0);

  if (base == MAP_FAILED)
    return system_error (source, error, "cannot be mapped", errno);
  if (size > 0 &&
      mmap (base, size, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0) ==
          MAP_FAILED)
    {
      int number = errno;
      munmap (base, length);
      return system_error (source, error, "cannot be mapped", number);
    }
  unmap (source);
  source->data = base;
  source->size = size;
  source->mapped = length;
  return TRUE;
}

static int
open_spool (const FlamSource *source, GError **error)
{
  g_autofree char *name = NULL;
  int fd = open (g_get_tmp_dir (), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

  if (fd >= 0)
    return fd;
  fd = g_file_open_tmp ("flambeau-XXXXXX", &name, NULL);
  if (fd < 0)
    {
      system_error (source, error, "no temporary file to unpack into", errno);
      return -1;
    }
  g_unlink (name);
  return fd;
}

static gboolean
spool_write (const FlamSource *source,
             int fd,
             const void *data,
             gsize size,
             guint64 *written,
             GError **error)
{
  const char *p = data;

  if (size > FLAM_SOURCE_MAX - *written)
    {
      flam_source_error (source,
                         error,
                         FLAM_ERROR_TOO_LARGE,
                         FLAM_NO_OFFSET,
                         "unpacks to more than %d GiB",
                         (int)(FLAM_SOURCE_MAX >> 30));
      return FALSE;
    }
  *written += size;
  while (size > 0)
    {
      gssize n = write (fd, p, size);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return system_error (
            source, error, "no room for what it unpacks to", errno);
      p += n;
      size -= n;
    }
  return TRUE;
}

/* Pipes, terminals, files of /proc: what cannot be mapped is copied. */
static gboolean
spool_stream (FlamSource *source,
              int fd,
              const FlamProgress *progress,
              GError **error)
{
  g_autofree char *buffer = g_malloc (BLOCK);
  guint64 size = 0;
  gboolean done = FALSE;
  int spool = open_spool (source, error);

  if (spool < 0)
    return FALSE;
  while (!done)
    {
      gssize n = read (fd, buffer, BLOCK);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        {
          system_error (source, error, "cannot be read", errno);
          break;
        }
      done = n == 0;
      if (!spool_write (source, spool, buffer, n, &size, error) ||
          !flam_progress_step (progress, 0, error))
        {
          done = FALSE;
          break;
        }
    }
  if (done)
    done = map (source, spool, size, error);
  close (spool);
  source->packed_size = size;
  return done;
}

static gboolean
is_wrapped (const FlamSource *source)
{
  for (guint i = 0; i < G_N_ELEMENTS (wrappers); i++)
    if (source->size > wrappers[i].length &&
        memcmp (source->data, wrappers[i].magic, wrappers[i].length) == 0)
      return TRUE;
  return FALSE;
}

static struct archive *
open_archive (const FlamSource *source, int *status)
{
  struct archive *archive = archive_read_new ();

  archive_read_support_filter_gzip (archive);
  archive_read_support_filter_xz (archive);
  archive_read_support_filter_bzip2 (archive);
  archive_read_support_filter_zstd (archive);
  archive_read_support_filter_lz4 (archive);
  archive_read_support_format_raw (archive);
  archive_read_support_format_empty (archive);
  *status = archive_read_open_memory (archive, source->data, source->size);
  return archive;
}

/* Everything that comes out, to the spool. ARCHIVE_EOF is a whole file,
 * ARCHIVE_FATAL one that ended early; FALSE: the error is ours, not its. */
static gboolean
unpack_to (const FlamSource *source,
           struct archive *archive,
           int spool,
           guint64 *size,
           int *status,
           const FlamProgress *progress,
           GError **error)
{
  struct archive_entry *entry;
  const void *block;
  size_t n;
  gint64 offset;

  if (*status < ARCHIVE_WARN)
    return TRUE;
  *status = archive_read_next_header (archive, &entry);
  if (*status == ARCHIVE_EOF || *status < ARCHIVE_WARN)
    return TRUE;
  for (;;)
    {
      *status = archive_read_data_block (archive, &block, &n, &offset);
      if (*status == ARCHIVE_EOF || *status < ARCHIVE_WARN)
        return TRUE;
      if (!spool_write (source, spool, block, n, size, error) ||
          !flam_progress_step (progress,
                               (double)archive_filter_bytes (archive, -1) /
                                   source->size,
                               error))
        return FALSE;
    }
}

static void
strip_suffixes (FlamSource *source)
{
  for (guint i = 0; i < G_N_ELEMENTS (wrappers); i++)
    {
      gsize length = strlen (wrappers[i].suffix);
      gsize whole = strlen (source->name);
      if (whole > length && g_ascii_strcasecmp (source->name + whole - length,
                                                wrappers[i].suffix) == 0)
        {
          source->name[whole - length] = '\0';
          i = G_MAXUINT; /* from the first again: .zst.gz */
        }
    }
}

/* The library unwraps all the layers it knows at once; the caller looks again
 * in case one of them was hidden from it. What merely starts like a wrapper is
 * left as it is, `*was_wrapped` FALSE. */
static gboolean
unpack (FlamSource *source,
        gboolean *was_wrapped,
        const FlamProgress *progress,
        GError **error)
{
  int status;
  struct archive *archive = open_archive (source, &status);
  int spool;
  guint64 size = 0;
  gboolean ok = FALSE;

  /* The memory itself is one of the filters. */
  *was_wrapped = status < ARCHIVE_WARN || archive_filter_count (archive) > 1;
  if (!*was_wrapped)
    {
      archive_read_free (archive);
      return TRUE;
    }
  spool = open_spool (source, error);
  if (spool >= 0)
    ok = unpack_to (source, archive, spool, &size, &status, progress, error);
  if (ok && status != ARCHIVE_EOF)
    {
      source->truncated = TRUE;
      source->read_fraction = CLAMP (
          (double)archive_filter_bytes (archive, -1) / source->size, 0, 1);
      if (size == 0)
        {
          const char *why = archive_error_string (archive);
          flam_source_error (source,
                             error,
                             FLAM_ERROR_INVALID,
                             FLAM_NO_OFFSET,
                             "nothing could be unpacked: %s",
                             why != NULL ? why : "unknown damage");
          ok = FALSE;
        }
    }
  archive_read_free (archive);
  ok = ok && map (source, spool, size, error);
  if (spool >= 0)
    close (spool);
  return ok;
}

static gboolean
read_file (FlamSource *source,
           int fd,
           const FlamProgress *progress,
           GError **error)
{
  struct stat info;

  if (fstat (fd, &info) < 0)
    return system_error (source, error, "cannot be read", errno);
  if (S_ISDIR (info.st_mode))
    return system_error (source, error, "cannot be read", EISDIR);
  source->packed_size = info.st_size;
  if (!S_ISREG (info.st_mode) || info.st_size == 0 ||
      lseek (fd, 0, SEEK_CUR) > 0)
    return spool_stream (source, fd, progress, error);
  return map (source, fd, info.st_size, error);
}

FlamSource *
flam_source_open (const char *path,
                  const FlamProgress *progress,
                  GError **error)
{
  g_autoptr (FlamSource) source = g_new0 (FlamSource, 1);
  gboolean standard_input = strcmp (path, "-") == 0;
  gboolean wrapped = TRUE;
  gboolean ok;
  int fd = 0;

  source->path = g_strdup (path);
  source->name =
      standard_input ? g_strdup ("stdin") : g_path_get_basename (path);
  source->read_fraction = 1;
  strip_suffixes (source);
  if (!standard_input)
    fd = open (path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0)
    {
      system_error (source, error, "cannot be opened", errno);
      return NULL;
    }
  ok = read_file (source, fd, progress, error);
  if (!standard_input)
    close (fd);
  for (guint i = 0; ok && wrapped && i < MAX_WRAPPERS; i++)
    if ((wrapped = is_wrapped (source)))
      ok = unpack (source, &wrapped, progress, error);
  return ok ? g_steal_pointer (&source) : NULL;
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

void
flam_source_free (FlamSource *source)
{
  if (source == NULL)
    return;
  if (source->mapped > 0)
    unmap (source);
  else
    g_free ((void *)source->data);
  g_free (source->path);
  g_free (source->name);
  g_free (source);
}
