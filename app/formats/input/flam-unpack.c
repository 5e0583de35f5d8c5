/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-unpack.h"

#include "flam-core-profile.h"
#include "flam-spool.h"
#include "flam-unpacker.h"

#include <string.h>
#include <sys/mman.h>

#define REPORT_US (50 * 1000)
/* Given to the reader whatever their content. */
#define FIRST_BYTES ((gsize)4 << 20)
/* Of the packed bytes. */
#define PIECE ((gsize)1 << 20)

struct _FlamUnpack
{
  const FlamUnpackerFunctions *functions;
  FlamUnpacker *unpacker; /* only used by the thread, and its buffer: */
  FlamSpool spool;
  gsize packed_size;
  gboolean file; /* the packed bytes are mapped from a file, and */
  const guint8 *packed, *left; /* the ones before `left` were released */
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

/* --- the thread ---------------------------------------------------------- */

static guint64
packed_bytes (const FlamUnpack *unpack)
{
  return unpack->functions->packed_read (unpack->unpacker);
}

/* A piece that was read, without the last bytes, which may be read again. */
static void
leave_packed (FlamUnpack *unpack)
{
  guint64 left = (guint64)(unpack->left - unpack->packed);

  if (!unpack->file || unpack->packed_read < left + 2 * PIECE)
    return;
  madvise ((void *)unpack->left, PIECE, MADV_DONTNEED);
  unpack->left += PIECE;
}

/* FALSE: the rest is not needed. */
static gboolean
publish (FlamUnpack *unpack, gsize there)
{
  gboolean wanted;

  g_mutex_lock (&unpack->lock);
  unpack->there = there;
  unpack->packed_read = packed_bytes (unpack);
  leave_packed (unpack);
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
  return flam_error_set (error,
                         FLAM_ERROR_TOO_LARGE,
                         N_ ("unpacks to more than %d MiB and %d times its %zu "
                             "bytes, which no real capture does"),
                         (int)(FLAM_UNPACK_FREE >> 20),
                         FLAM_UNPACK_RATIO,
                         unpack->packed_size);
}

/* Appends all output. FLAM_UNPACKED_END is a complete file,
 * FLAM_UNPACKED_DAMAGED a truncated one. */
static FlamUnpackedBlock
unpack_all (FlamUnpack *unpack, GError **error)
{
  FlamUnpackedBlock status;
  const void *block;
  gsize n;

  do
    status = unpack->functions->next (unpack->unpacker, &block, &n);
  while (status == FLAM_UNPACKED_BLOCK && check_ratio (unpack, n, error) &&
         flam_spool_append (&unpack->spool, block, n, error) &&
         publish (unpack, unpack->spool.size));
  return status;
}

static void
check_end (FlamUnpack *unpack, FlamUnpackedBlock status, GError **error)
{
  const char *why = unpack->functions->why (unpack->unpacker);

  if (*error != NULL)
    return;
  if (status != FLAM_UNPACKED_END && unpack->there == 0)
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
  FlamUnpackedBlock status = unpack_all (unpack, &error);

  check_end (unpack, status, &error);
  g_mutex_lock (&unpack->lock);
  unpack->packed_read = packed_bytes (unpack);
  unpack->error = error;
  unpack->truncated = status != FLAM_UNPACKED_END;
  unpack->ended = TRUE;
  g_cond_signal (&unpack->more);
  g_mutex_unlock (&unpack->lock);
  return NULL;
}

/* --- the reader's side --------------------------------------------------- */

static void
clear (FlamUnpack *unpack)
{
  if (unpack->unpacker != NULL)
    unpack->functions->free (unpack->unpacker);
  flam_spool_clear (&unpack->spool);
  g_clear_error (&unpack->error);
  g_free (unpack);
}

static gboolean
refuse_zip (FlamPacked found, GError **error)
{
  return flam_error_set (
      error,
      FLAM_ERROR_INVALID,
      "%s",
      found == FLAM_PACKED_NO_FILE ? N_ ("this zip archive has no files")
      : found == FLAM_PACKED_INSTRUMENTS
          ? N_ ("this is a document of Instruments; export its samples with "
                "“xctrace export --input X.trace --xpath "
                "'//table[@schema=\"time-profile\"]'” and open that")
          : N_ ("this zip archive has several files; unpack it and open the "
                "capture"));
}

/* Whether `functions` unpack it. */
static FlamPacked
open_by (FlamUnpack *unpack,
         const FlamUnpackerFunctions *functions,
         const guint8 *packed,
         gsize size)
{
  gboolean zip = size > 4 && memcmp (packed, FLAM_ZIP_MAGIC, 4) == 0;

  unpack->functions = functions;
  return functions->open (packed, size, zip, &unpack->unpacker);
}

static gboolean
open_packed (FlamUnpack *unpack,
             const guint8 *packed,
             gsize size,
             GError **error)
{
  static const FlamLibrary library = { "libflambeau-unpack.so",
                                       "app/formats/input",
                                       FLAM_UNPACKER_SYMBOL };
  const FlamUnpackerFunctions *libarchive;
  FlamPacked found;

  if (size > 4 && memcmp (packed, FLAM_ZSTD_MAGIC, 4) == 0 &&
      open_by (unpack, &flam_unzstd_functions, packed, size) == FLAM_PACKED)
    return TRUE;
  libarchive = flam_library_open (&library, error);
  if (libarchive == NULL)
    return FALSE;
  found = open_by (unpack, libarchive, packed, size);
  if (found == FLAM_PACKED)
    return TRUE;
  return found != FLAM_PACKED_NOT && refuse_zip (found, error);
}

FlamUnpack *
flam_unpack_begin (const guint8 *packed,
                   gsize size,
                   gboolean file,
                   GError **error)
{
  FlamUnpack *unpack = g_new0 (FlamUnpack, 1);

  unpack->spool.fd = -1;
  unpack->packed_size = size;
  unpack->packed = unpack->left = packed;
  unpack->file = file;
  if (!open_packed (unpack, packed, size, error) ||
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

/* The number of bytes that a reader may get: only a few if the file will be
 * refused, or unpacks like such a file so far. */
static gsize
get_ready (const FlamUnpack *unpack)
{
  gboolean suspicious = !unpack->ended && unpack->there <= FLAM_UNPACK_FREE &&
                        unpack->there / FLAM_UNPACK_RATIO > unpack->packed_read;

  return suspicious || unpack->error != NULL ? MIN (unpack->there, FIRST_BYTES)
                                             : unpack->there;
}

gsize
flam_unpack_wait (FlamUnpack *unpack, gsize have)
{
  gsize ready;

  g_mutex_lock (&unpack->lock);
  while ((ready = get_ready (unpack)) <= have && !unpack->ended)
    g_cond_wait (&unpack->more, &unpack->lock);
  g_mutex_unlock (&unpack->lock);
  return ready;
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
