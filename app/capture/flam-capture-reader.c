/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-reader.h"

#include <errno.h>
#include <unistd.h>
#include <zstd.h>

/* The limit of the unpacked size of a file: enough for any recording, too
 * little for a small file that is made to fill the memory. */
#define UNPACKED_FREE (64u << 20)
#define UNPACKED_RATIO 250
#define POLL_STEP (4u << 20)

struct _FlamCaptureReader
{
  char *name;
  guint64 offset;
  guint64 total_unpacked;
  guint8 *unpacked;
  ZSTD_DCtx *zstd;
  FlamCaptureIds ids;
};

FlamCaptureReader *
flam_capture_reader_new (const char *name, FlamBuilder *builder)
{
  FlamCaptureReader *reader = g_new0 (FlamCaptureReader, 1);

  reader->name = g_strdup (name);
  reader->zstd = ZSTD_createDCtx ();
  flam_capture_ids_init (&reader->ids, builder);
  return reader;
}

void
flam_capture_reader_free (FlamCaptureReader *reader)
{
  flam_capture_ids_clear (&reader->ids);
  ZSTD_freeDCtx (reader->zstd);
  g_free (reader->unpacked);
  g_free (reader->name);
  g_free (reader);
}

gboolean
flam_capture_probe (const guint8 *data, gsize size)
{
  return size >= 8 && memcmp (data, FLAM_CAPTURE_MAGIC, 8) == 0;
}

guint64
flam_capture_reader_offset (const FlamCaptureReader *reader)
{
  return reader->offset;
}

gboolean
flam_capture_reader_is_complete (const FlamCaptureReader *reader)
{
  return reader->ids.n[FLAM_TABLE_END] > 0;
}

guint32
flam_capture_reader_n_rows (const FlamCaptureReader *reader, FlamTable table)
{
  return reader->ids.n[table];
}

static gboolean
bad (FlamCaptureReader *reader,
     GError **error,
     FlamError code,
     const char *what)
{
  return flam_error_set (error,
                         code,
                         N_ ("%s: %s (at byte %" PRIu64 ")"),
                         reader->name,
                         what,
                         reader->offset);
}

static guint16
get16 (const guint8 *p)
{
  guint16 value;
  memcpy (&value, p, 2);
  return GUINT16_FROM_LE (value);
}

static guint32
get32 (const guint8 *p)
{
  guint32 value;
  memcpy (&value, p, 4);
  return GUINT32_FROM_LE (value);
}

static const guint8 *
unpack (FlamCaptureReader *reader,
        const guint8 *data,
        gsize stored,
        gsize unpacked,
        GError **error)
{
  gsize n;

  if (reader->unpacked == NULL)
    reader->unpacked = g_malloc (FLAM_CAPTURE_BLOCK_MAX);
  n = ZSTD_decompressDCtx (
      reader->zstd, reader->unpacked, unpacked, data, stored);
  if (ZSTD_isError (n) || n != unpacked)
    {
      bad (
          reader, error, FLAM_ERROR_INVALID, N_ ("a block cannot be unpacked"));
      return NULL;
    }
  return reader->unpacked;
}

/* The length of the block; 0: incomplete, or invalid (`error` is set). */
static gsize
take_block (FlamCaptureReader *reader,
            const guint8 *data,
            gsize size,
            GError **error)
{
  const char *why = NULL;
  FlamTable table;
  guint flags;
  gsize stored, unpacked;
  const guint8 *payload = data + FLAM_CAPTURE_BLOCK_HEADER_SIZE;

  if (size < FLAM_CAPTURE_BLOCK_HEADER_SIZE)
    return 0;
  table = flam_tables_of_number (flam_builder_tables (reader->ids.builder),
                                 get16 (data + 4));
  flags = get16 (data + 6);
  stored = get32 (data + 8);
  unpacked = get32 (data + 12);
  if (memcmp (data, FLAM_CAPTURE_BLOCK_MAGIC, 4) != 0 ||
      stored > FLAM_CAPTURE_BLOCK_MAX || unpacked > FLAM_CAPTURE_BLOCK_MAX)
    return bad (reader, error, FLAM_ERROR_INVALID, N_ ("no block begins here"));
  if (stored > size - FLAM_CAPTURE_BLOCK_HEADER_SIZE)
    return 0;
  if (get32 (data + 16) != flam_capture_checksum (data, stored))
    return bad (reader, error, FLAM_ERROR_INVALID, N_ ("a checksum is wrong"));
  if (table != FLAM_N_TABLES)
    {
      reader->total_unpacked += unpacked;
      if (reader->total_unpacked >
          UNPACKED_FREE + UNPACKED_RATIO * (reader->offset + stored))
        return bad (reader,
                    error,
                    FLAM_ERROR_TOO_LARGE,
                    N_ ("the file unpacks to more than a recording can hold"));
      if (flags & FLAM_CAPTURE_FLAG_ZSTD)
        payload = unpack (reader, payload, stored, unpacked, error);
      else if (stored != unpacked)
        return bad (reader, error, FLAM_ERROR_INVALID, N_ ("a size is wrong"));
      if (payload == NULL)
        return 0;
      if (!flam_capture_decode (&reader->ids, table, payload, unpacked, &why))
        return bad (reader, error, FLAM_ERROR_INVALID, why);
    }
  return FLAM_CAPTURE_BLOCK_HEADER_SIZE + stored;
}

/* The length of the file's header; 0 as above. */
static gsize
take_header (FlamCaptureReader *reader,
             const guint8 *data,
             gsize size,
             GError **error)
{
  gsize header;

  if (size < FLAM_CAPTURE_HEADER_SIZE)
    return size == 0 || flam_capture_probe (data, size) || size < 8
               ? 0
               : bad (reader,
                      error,
                      FLAM_ERROR_UNKNOWN_FORMAT,
                      N_ ("not a Flambeau capture"));
  if (!flam_capture_probe (data, size))
    return bad (reader,
                error,
                FLAM_ERROR_UNKNOWN_FORMAT,
                N_ ("not a Flambeau capture"));
  if (get16 (data + 8) > FLAM_CAPTURE_MAJOR)
    return bad (reader,
                error,
                FLAM_ERROR_UNSUPPORTED,
                N_ ("written by a newer Flambeau; this one reads version 1"));
  header = get32 (data + 12);
  if (header < FLAM_CAPTURE_HEADER_SIZE || header > 4096)
    return bad (
        reader, error, FLAM_ERROR_INVALID, N_ ("the header is damaged"));
  return header <= size ? header : 0;
}

gboolean
flam_capture_reader_feed (FlamCaptureReader *reader,
                          const guint8 *data,
                          gsize size,
                          GError **error)
{
  GError *wrong = NULL;

  for (;;)
    {
      gsize n = reader->offset == 0 ? take_header (reader, data, size, &wrong)
                                    : take_block (reader, data, size, &wrong);
      if (wrong != NULL)
        {
          g_propagate_error (error, wrong);
          return FALSE;
        }
      if (n == 0)
        return TRUE;
      data += n;
      size -= n;
      reader->offset += n;
    }
}

gboolean
flam_capture_reader_poll (FlamCaptureReader *reader,
                          int fd,
                          gboolean *changed,
                          GError **error)
{
  g_autofree guint8 *buffer = NULL;
  gsize room = POLL_STEP;

  *changed = FALSE;
  for (;;)
    {
      guint64 before = reader->offset;
      ssize_t n;

      buffer = g_realloc (buffer, room);
      n = pread (fd, buffer, room, (off_t)before);
      if (n < 0 && errno == EINTR)
        continue;
      if (n < 0)
        return bad (reader, error, FLAM_ERROR_SYSTEM, g_strerror (errno));
      if (!flam_capture_reader_feed (reader, buffer, (gsize)n, error))
        return FALSE;
      *changed |= reader->offset != before;
      if ((gsize)n < room)
        return TRUE;
      if (reader->offset == before)
        room = FLAM_CAPTURE_BLOCK_MAX + POLL_STEP;
    }
}
