/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-unpack.h"

#include "flam-spool.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#define REPORT_US (50 * 1000)

struct _FlamUnpack
{
  struct archive *zip;     /* or NULL: whose only file `archive` reads */
  struct archive *archive; /* used by the thread alone, and its buffer: */
  FlamSpool spool;
  gsize packed_size;
  GThread *thread;

  GMutex lock; /* the members below are shared */
  GCond more;
  gsize there;
  guint64 packed_read;
  gboolean stop;
  gboolean ended;
  gboolean truncated;
  GError *error;
};

/* --- zip ----------------------------------------------------------------- */

/* What macOS adds to archives. */
static gboolean
is_file (struct archive_entry *entry)
{
  const char *name = archive_entry_pathname (entry);

  return archive_entry_filetype (entry) == AE_IFREG && name != NULL &&
         !g_str_has_prefix (name, "__MACOSX/") &&
         !g_str_has_suffix (name, ".DS_Store");
}

static struct archive *
open_zip (const guint8 *packed, gsize size)
{
  struct archive *zip = archive_read_new ();

  archive_read_support_format_zip (zip);
  archive_read_open_memory (zip, packed, size);
  return zip;
}

/* The number of the only file among the entries. FALSE: there is none, or
 * there are more. */
static gboolean
find_only_file (const guint8 *packed, gsize size, guint *only, GError **error)
{
  struct archive *zip = open_zip (packed, size);
  struct archive_entry *entry;
  gboolean of_instruments = FALSE;
  guint files = 0;

  for (guint i = 0; files < 2; i++)
    {
      if (archive_read_next_header (zip, &entry) < ARCHIVE_WARN)
        break;
      if (!is_file (entry))
        continue;
      /* perfcollect names its folders so, too. */
      of_instruments |=
          strstr (archive_entry_pathname (entry), ".trace/") != NULL &&
          strstr (archive_entry_pathname (entry), "perfcollect.log") == NULL;
      *only = i;
      files++;
    }
  archive_read_free (zip);
  if (files == 1)
    return TRUE;
  return flam_error_set (
      error,
      FLAM_ERROR_INVALID,
      "%s",
      files == 0 ? N_ ("there is no file in this zip archive")
      : of_instruments
          ? N_ ("this is a document of Instruments; export its samples with "
                "`xctrace export --input X.trace --xpath "
                "'//table[@schema=\"time-profile\"]'` and open that")
          : N_ ("there are several files in this zip archive; unpack it and "
                "open the capture"));
}

/* The file's bytes, for the archive that unpacks these. */
static la_ssize_t
read_zip (struct archive *archive, void *data, const void **block)
{
  FlamUnpack *unpack = data;
  size_t n = 0;
  la_int64_t offset;

  while (n == 0)
    {
      int status = archive_read_data_block (unpack->zip, block, &n, &offset);
      if (status == ARCHIVE_EOF)
        return 0;
      if (status < ARCHIVE_WARN)
        {
          archive_set_error (archive,
                             archive_errno (unpack->zip),
                             "%s",
                             archive_error_string (unpack->zip));
          return -1;
        }
    }
  return (la_ssize_t)n;
}

static gboolean
begin_zip (FlamUnpack *unpack, const guint8 *packed, gsize size, GError **error)
{
  struct archive_entry *entry;
  guint only = 0;

  if (!find_only_file (packed, size, &only, error))
    return FALSE;
  unpack->zip = open_zip (packed, size);
  for (guint i = 0; i <= only; i++)
    archive_read_next_header (unpack->zip, &entry);
  archive_read_open (unpack->archive, unpack, NULL, read_zip, NULL);
  return TRUE;
}

/* --- the thread ---------------------------------------------------------- */

static guint64
packed_bytes (const FlamUnpack *unpack)
{
  return archive_filter_bytes (
      unpack->zip != NULL ? unpack->zip : unpack->archive, -1);
}

static struct archive *
new_archive (void)
{
  struct archive *archive = archive_read_new ();

  archive_read_support_filter_gzip (archive);
  archive_read_support_filter_xz (archive);
  archive_read_support_filter_bzip2 (archive);
  archive_read_support_filter_zstd (archive);
  archive_read_support_filter_lz4 (archive);
  archive_read_support_format_raw (archive);
  archive_read_support_format_empty (archive);
  return archive;
}

/* FALSE: the rest is not needed. */
static gboolean
publish (FlamUnpack *unpack, gsize there)
{
  gboolean wanted;

  g_mutex_lock (&unpack->lock);
  unpack->there = there;
  unpack->packed_read = packed_bytes (unpack);
  wanted = !unpack->stop;
  g_cond_signal (&unpack->more);
  g_mutex_unlock (&unpack->lock);
  return wanted;
}

static gboolean
check_ratio (const FlamUnpack *unpack, gsize n, GError **error)
{
  guint64 size = unpack->spool.size + n;

  if (size <= FLAM_UNPACK_FREE ||
      size / FLAM_UNPACK_RATIO <= unpack->packed_size)
    return TRUE;
  return flam_error_set (
      error,
      FLAM_ERROR_TOO_LARGE,
      N_ ("unpacks to more than %d GiB and %d times its %zu bytes, as "
          "no capture does"),
      (int)(FLAM_UNPACK_FREE >> 30),
      FLAM_UNPACK_RATIO,
      unpack->packed_size);
}

/* Appends all output. ARCHIVE_EOF is a complete file, ARCHIVE_FATAL a truncated
 * one. */
static int
unpack_all (FlamUnpack *unpack, GError **error)
{
  struct archive_entry *entry;
  const void *block;
  size_t n;
  gint64 offset;
  int status = archive_read_next_header (unpack->archive, &entry);

  while (status != ARCHIVE_EOF && status >= ARCHIVE_WARN)
    {
      status = archive_read_data_block (unpack->archive, &block, &n, &offset);
      if (status == ARCHIVE_EOF || status < ARCHIVE_WARN)
        break;
      if (!check_ratio (unpack, n, error) ||
          !flam_spool_append (&unpack->spool, block, n, error) ||
          !publish (unpack, unpack->spool.size))
        break;
    }
  return status;
}

static void
check_end (FlamUnpack *unpack, int status, GError **error)
{
  const char *why = archive_error_string (unpack->archive);

  if (*error != NULL)
    return;
  if (status != ARCHIVE_EOF && unpack->there == 0)
    flam_error_set (error,
                    FLAM_ERROR_INVALID,
                    N_ ("nothing could be unpacked: %s"),
                    why != NULL ? why : N_ ("unknown damage"));
  else
    flam_spool_seal (&unpack->spool, error);
}

static gpointer
run (gpointer data)
{
  FlamUnpack *unpack = data;
  GError *error = NULL;
  int status = unpack_all (unpack, &error);

  check_end (unpack, status, &error);
  g_mutex_lock (&unpack->lock);
  unpack->packed_read = packed_bytes (unpack);
  unpack->error = error;
  unpack->truncated = status != ARCHIVE_EOF;
  unpack->ended = TRUE;
  g_cond_signal (&unpack->more);
  g_mutex_unlock (&unpack->lock);
  return NULL;
}

/* --- the reader's side --------------------------------------------------- */

static void
clear (FlamUnpack *unpack)
{
  archive_read_free (unpack->archive);
  if (unpack->zip != NULL)
    archive_read_free (unpack->zip);
  flam_spool_clear (&unpack->spool);
  g_clear_error (&unpack->error);
  g_free (unpack);
}

/* The library unpacks all the layers it supports at once. */
FlamUnpack *
flam_unpack_begin (const guint8 *packed, gsize size, GError **error)
{
  FlamUnpack *unpack = g_new0 (FlamUnpack, 1);
  gboolean zip = size > 4 && memcmp (packed, FLAM_ZIP_MAGIC, 4) == 0;
  int status = ARCHIVE_OK;

  unpack->spool.fd = -1;
  unpack->archive = new_archive ();
  unpack->packed_size = size;
  if (!zip)
    status = archive_read_open_memory (unpack->archive, packed, size);
  /* The input in memory counts as a filter. */
  if ((!zip && status >= ARCHIVE_WARN &&
       archive_filter_count (unpack->archive) == 1) ||
      (zip && !begin_zip (unpack, packed, size, error)) ||
      !flam_spool_init (&unpack->spool, error))
    {
      clear (unpack);
      return NULL;
    }
  g_mutex_init (&unpack->lock);
  g_cond_init (&unpack->more);
  unpack->thread = g_thread_new ("unpack", run, unpack);
  return unpack;
}

const guint8 *
flam_unpack_get_data (const FlamUnpack *unpack)
{
  return unpack->spool.base;
}

gsize
flam_unpack_wait (FlamUnpack *unpack, gsize have)
{
  gsize there;

  g_mutex_lock (&unpack->lock);
  while (unpack->there <= have && !unpack->ended)
    g_cond_wait (&unpack->more, &unpack->lock);
  there = unpack->there;
  g_mutex_unlock (&unpack->lock);
  return there;
}

static double
fraction_of (const FlamUnpack *unpack)
{
  return CLAMP ((double)unpack->packed_read / unpack->packed_size, 0, 1);
}

double
flam_unpack_fraction (FlamUnpack *unpack)
{
  double fraction;

  g_mutex_lock (&unpack->lock);
  fraction = fraction_of (unpack);
  g_mutex_unlock (&unpack->lock);
  return fraction;
}

gboolean
flam_unpack_is_truncated (FlamUnpack *unpack)
{
  gboolean truncated;

  g_mutex_lock (&unpack->lock);
  truncated = unpack->truncated;
  g_mutex_unlock (&unpack->lock);
  return truncated;
}

/* Reports progress while it waits; FALSE: cancelled. */
static gboolean
wait_for_end (FlamUnpack *unpack, const FlamProgress *progress, GError **error)
{
  gboolean wanted = TRUE;
  gboolean ended = FALSE;

  while (wanted && !ended)
    {
      gint64 until = g_get_monotonic_time () + REPORT_US;
      double fraction;

      g_mutex_lock (&unpack->lock);
      if (!unpack->ended)
        g_cond_wait_until (&unpack->more, &unpack->lock, until);
      ended = unpack->ended;
      fraction = fraction_of (unpack);
      g_mutex_unlock (&unpack->lock);
      wanted = flam_progress_step (progress, fraction, error);
    }
  return wanted;
}

gboolean
flam_unpack_finish (FlamUnpack *unpack,
                    FlamUnpacked *out,
                    const FlamProgress *progress,
                    GError **error)
{
  if (!wait_for_end (unpack, progress, error))
    return FALSE;
  if (unpack->error != NULL)
    {
      g_propagate_error (error, g_steal_pointer (&unpack->error));
      return FALSE;
    }
  *out = (FlamUnpacked){ .size = unpack->there,
                         .truncated = unpack->truncated,
                         .read_fraction =
                             unpack->truncated ? fraction_of (unpack) : 1 };
  out->data = flam_spool_steal (&unpack->spool, &out->mapped);
  return TRUE;
}

void
flam_unpack_free (FlamUnpack *unpack)
{
  if (unpack == NULL)
    return;
  g_mutex_lock (&unpack->lock);
  unpack->stop = TRUE;
  g_mutex_unlock (&unpack->lock);
  g_thread_join (unpack->thread);
  g_mutex_clear (&unpack->lock);
  g_cond_clear (&unpack->more);
  clear (unpack);
}
