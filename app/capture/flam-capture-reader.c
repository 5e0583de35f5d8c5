/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-reader.h"

#include <errno.h>
#include <unistd.h>
#include <zstd.h>

#include "flam-capture-private.h"

/* What a file may unpack to: enough for any recording, too little for a small
 * file that is made to fill the memory. */
#define UNPACKED_FREE (64u << 20)
#define UNPACKED_RATIO 250
#define POLL_STEP (4u << 20)

FlamCaptureReader *
flam_capture_reader_new (const char *name)
{
  FlamCaptureReader *reader = g_new0 (FlamCaptureReader, 1);

  reader->name = g_strdup (name);
  reader->zstd = ZSTD_createDCtx ();
  for (guint i = FLAM_CAPTURE_STRINGS; i < FLAM_CAPTURE_N_TABLES; i++)
    flam_capture_rows_init (&reader->tables[i], i, 0);
  return reader;
}

void
flam_capture_reader_free (FlamCaptureReader *reader)
{
  for (guint i = FLAM_CAPTURE_STRINGS; i < FLAM_CAPTURE_N_TABLES; i++)
    flam_capture_rows_clear (&reader->tables[i]);
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
  return reader->tables[FLAM_CAPTURE_END].n > 0;
}

guint32
flam_capture_reader_n_rows (const FlamCaptureReader *reader,
                            FlamCaptureTable table)
{
  return reader->tables[table].n;
}

const char *
flam_capture_reader_fact (const FlamCaptureReader *reader, const char *key)
{
  const FlamCaptureRows *facts = &reader->tables[FLAM_CAPTURE_FACTS];
  const FlamCaptureRows *strings = &reader->tables[FLAM_CAPTURE_STRINGS];

  for (guint32 i = facts->n; i-- > 0;)
    if (strcmp (flam_capture_text (strings, flam_capture_u32 (facts, 0, i)),
                key) == 0)
      return flam_capture_text (strings, flam_capture_u32 (facts, 1, i));
  return NULL;
}

static gboolean
bad (FlamCaptureReader *reader,
     GError **error,
     FlamError code,
     const char *what)
{
  g_set_error (error,
               FLAM_ERROR,
               code,
               "%s: %s (at byte %" G_GUINT64_FORMAT ")",
               reader->name,
               what,
               reader->offset);
  return FALSE;
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

/* --- checks -------------------------------------------------------------- */

static gboolean
ids_are_good (FlamCaptureReader *reader,
              FlamCaptureTable table,
              guint column,
              const FlamCaptureColumn *what,
              guint32 from)
{
  const FlamCaptureRows *rows = &reader->tables[table];

  for (guint32 i = from; i < rows->n; i++)
    {
      guint32 id = flam_capture_u32 (rows, column, i);
      guint32 limit =
          what->refers_to == table ? i : reader->tables[what->refers_to].n;
      if (id == FLAM_NONE ? what->required : id >= limit)
        return FALSE;
    }
  return TRUE;
}

static gboolean
names_are_good (FlamCaptureReader *reader, guint32 from)
{
  const FlamCaptureRows *rows = &reader->tables[FLAM_CAPTURE_NAMES];

  for (guint32 i = from; i < rows->n; i++)
    {
      guint32 what = flam_capture_u32 (rows, 0, i);
      FlamCaptureTable table = what == FLAM_CAPTURE_NAME_PROCESS
                                   ? FLAM_CAPTURE_PROCESSES
                                   : FLAM_CAPTURE_THREADS;
      if (what > FLAM_CAPTURE_NAME_THREAD ||
          flam_capture_u32 (rows, 1, i) >= reader->tables[table].n)
        return FALSE;
    }
  return TRUE;
}

static gboolean
rows_are_good (FlamCaptureReader *reader, FlamCaptureTable table, guint32 from)
{
  guint n;
  const FlamCaptureColumn *columns = flam_capture_columns (table, &n);

  for (guint i = 0; i < n; i++)
    if (columns[i].kind == FLAM_CAPTURE_ID &&
        !ids_are_good (reader, table, i, &columns[i], from))
      return FALSE;
  return table != FLAM_CAPTURE_NAMES || names_are_good (reader, from);
}

static void
drop_rows (FlamCaptureRows *rows, guint32 n)
{
  for (guint i = 0; i < rows->n_columns; i++)
    rows->columns[i].n = n;
  rows->n = n;
}

/* --- blocks -------------------------------------------------------------- */

/* The measures say how many weight columns the samples have. */
static void
prepare_samples (FlamCaptureReader *reader)
{
  const FlamCaptureRows *measures = &reader->tables[FLAM_CAPTURE_MEASURES];
  gint64 n = 0;

  for (guint32 i = 0; i < measures->n; i++)
    n = MAX (n, flam_capture_i64 (measures, 5, i) + 1);
  flam_capture_rows_clear (&reader->tables[FLAM_CAPTURE_SAMPLES]);
  flam_capture_rows_init (&reader->tables[FLAM_CAPTURE_SAMPLES],
                          FLAM_CAPTURE_SAMPLES,
                          (guint)MIN (n, FLAM_CAPTURE_MAX_WEIGHTS));
}

static gboolean
take_payload (FlamCaptureReader *reader,
              guint type,
              const guint8 *payload,
              gsize size,
              GError **error)
{
  FlamCaptureRows *rows = &reader->tables[type];
  const char *why = NULL;
  guint32 before;

  if (type == FLAM_CAPTURE_SAMPLES && rows->n == 0)
    prepare_samples (reader);
  before = rows->n;
  if (!flam_capture_decode (rows, type, payload, size, &why))
    {
      g_autofree char *text = g_strconcat ("a block is damaged: ", why, NULL);
      return bad (reader, error, FLAM_ERROR_INVALID, text);
    }
  if (!rows_are_good (reader, type, before))
    {
      drop_rows (rows, before);
      return bad (reader,
                  error,
                  FLAM_ERROR_INVALID,
                  "a block refers to what is not in the file");
    }
  return TRUE;
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
      bad (reader, error, FLAM_ERROR_INVALID, "a block cannot be unpacked");
      return NULL;
    }
  return reader->unpacked;
}

/* How long the block is; 0: not whole yet, or wrong (`error` is set). */
static gsize
take_block (FlamCaptureReader *reader,
            const guint8 *data,
            gsize size,
            GError **error)
{
  guint type, flags;
  gsize stored, unpacked;
  const guint8 *payload = data + FLAM_CAPTURE_BLOCK_HEADER_SIZE;

  if (size < FLAM_CAPTURE_BLOCK_HEADER_SIZE)
    return 0;
  type = get16 (data + 4);
  flags = get16 (data + 6);
  stored = get32 (data + 8);
  unpacked = get32 (data + 12);
  if (memcmp (data, FLAM_CAPTURE_BLOCK_MAGIC, 4) != 0 ||
      stored > FLAM_CAPTURE_BLOCK_MAX || unpacked > FLAM_CAPTURE_BLOCK_MAX)
    return bad (reader, error, FLAM_ERROR_INVALID, "no block begins here");
  if (stored > size - FLAM_CAPTURE_BLOCK_HEADER_SIZE)
    return 0;
  if (get32 (data + 16) != flam_capture_checksum (data, stored))
    return bad (reader, error, FLAM_ERROR_INVALID, "a checksum is wrong");
  if (type >= FLAM_CAPTURE_STRINGS && type < FLAM_CAPTURE_N_TABLES)
    {
      reader->total_unpacked += unpacked;
      if (reader->total_unpacked >
          UNPACKED_FREE + UNPACKED_RATIO * (reader->offset + stored))
        return bad (reader,
                    error,
                    FLAM_ERROR_TOO_LARGE,
                    "the file unpacks to more than a recording can hold");
      if (flags & FLAM_CAPTURE_FLAG_ZSTD)
        payload = unpack (reader, payload, stored, unpacked, error);
      else if (stored != unpacked)
        return bad (reader, error, FLAM_ERROR_INVALID, "a size is wrong");
      if (payload == NULL ||
          !take_payload (reader, type, payload, unpacked, error))
        return 0;
    }
  return FLAM_CAPTURE_BLOCK_HEADER_SIZE + stored;
}

/* How long the file's header is; 0 as above. */
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
                      "not a Flambeau capture");
  if (!flam_capture_probe (data, size))
    return bad (
        reader, error, FLAM_ERROR_UNKNOWN_FORMAT, "not a Flambeau capture");
  if (get16 (data + 8) > FLAM_CAPTURE_MAJOR)
    return bad (reader,
                error,
                FLAM_ERROR_UNSUPPORTED,
                "written by a newer Flambeau; this one reads version 1");
  header = get32 (data + 12);
  if (header < FLAM_CAPTURE_HEADER_SIZE || header > 4096)
    return bad (reader, error, FLAM_ERROR_INVALID, "the header is damaged");
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
