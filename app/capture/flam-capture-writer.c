/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-writer.h"

#include <errno.h>
#include <unistd.h>
#include <zstd.h>

#define ROWS_A_BLOCK 16384
#define TEXT_A_BLOCK (1u << 20)
#define ZSTD_LEVEL 3

struct _FlamCaptureWriter
{
  int fd;
  GByteArray *memory;
  guint64 size;
  char *failed;
  ZSTD_CCtx *zstd;
  GByteArray *payload;
  GByteArray *stored;

  FlamBuilder *builder;
  guint32 flushed[FLAM_N_TABLES]; /* number of written rows of the kept
                                   * tables */
};

/* A message with a remedy. */
static const char *
problem_text (int code)
{
  switch (code)
    {
    case ENOSPC:
    case EDQUOT:
      return N_ ("the disk is full: free some space, or write to another one");
    case EFBIG:
      return N_ ("the file would be larger than the limit: raise it "
                 "(ulimit -f), or record for a shorter time");
    default:
      return g_strerror (code);
    }
}

static gboolean
append_bytes (FlamCaptureWriter *writer, const guint8 *data, gsize size)
{
  guint64 start = writer->size;

  if (writer->fd < 0)
    {
      g_byte_array_append (writer->memory, data, (guint)size);
      writer->size += size;
      return TRUE;
    }
  while (size > 0)
    {
      ssize_t n = pwrite (writer->fd, data, size, (off_t)writer->size);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        {
          int saved = n == 0 ? ENOSPC : errno;
          g_free (writer->failed);
          writer->failed = g_strdup (problem_text (saved));
          if (ftruncate (writer->fd, (off_t)start) == 0)
            writer->size = start;
          return FALSE;
        }
      writer->size += (guint64)n;
      data += n;
      size -= (gsize)n;
    }
  return TRUE;
}

static void
put16 (guint8 *p, guint16 value)
{
  value = GUINT16_TO_LE (value);
  memcpy (p, &value, 2);
}

static void
put32 (guint8 *p, guint32 value)
{
  value = GUINT32_TO_LE (value);
  memcpy (p, &value, 4);
}

static gboolean
append_header (FlamCaptureWriter *writer)
{
  guint8 header[FLAM_CAPTURE_HEADER_SIZE];

  memcpy (header, FLAM_CAPTURE_MAGIC, 8);
  put16 (header + 8, FLAM_CAPTURE_MAJOR);
  put16 (header + 10, FLAM_CAPTURE_MINOR);
  put32 (header + 12, FLAM_CAPTURE_HEADER_SIZE);
  return append_bytes (writer, header, sizeof header);
}

FlamCaptureWriter *
flam_capture_writer_new (int fd, FlamBuilder *builder)
{
  FlamCaptureWriter *writer = g_new0 (FlamCaptureWriter, 1);

  writer->fd = fd;
  writer->memory = fd < 0 ? g_byte_array_new () : NULL;
  writer->zstd = ZSTD_createCCtx ();
  writer->payload = g_byte_array_new ();
  writer->stored = g_byte_array_new ();
  writer->builder = builder;
  return writer;
}

void
flam_capture_writer_free (FlamCaptureWriter *writer)
{
  g_clear_pointer (&writer->memory, g_byte_array_unref);
  g_byte_array_unref (writer->payload);
  g_byte_array_unref (writer->stored);
  ZSTD_freeCCtx (writer->zstd);
  g_free (writer->failed);
  g_free (writer);
}

FlamBuilder *
flam_capture_writer_builder (FlamCaptureWriter *writer)
{
  return writer->builder;
}

static guint32
n_rows (const FlamTables *tables, FlamTable table)
{
  return table == FLAM_TABLE_STRINGS ? (guint32)tables->strings.offsets.n
                                     : *flam_tables_n (tables, table);
}

static gboolean
append_block (FlamCaptureWriter *writer, FlamTable table)
{
  gsize size = writer->payload->len;
  gsize bound = ZSTD_compressBound (size);
  gsize packed;
  guint8 *header;
  guint16 flags = FLAM_CAPTURE_FLAG_ZSTD;

  g_assert (size <= FLAM_CAPTURE_BLOCK_MAX);
  g_byte_array_set_size (writer->stored,
                         (guint)(FLAM_CAPTURE_BLOCK_HEADER_SIZE + bound));
  header = writer->stored->data;
  packed = ZSTD_compressCCtx (writer->zstd,
                              header + FLAM_CAPTURE_BLOCK_HEADER_SIZE,
                              bound,
                              writer->payload->data,
                              size,
                              ZSTD_LEVEL);
  if (ZSTD_isError (packed) || packed >= size)
    {
      memcpy (
          header + FLAM_CAPTURE_BLOCK_HEADER_SIZE, writer->payload->data, size);
      packed = size;
      flags = 0;
    }
  memcpy (header, FLAM_CAPTURE_BLOCK_MAGIC, 4);
  put16 (header + 4,
         (guint16)flam_tables_number (flam_builder_tables (writer->builder),
                                      table));
  put16 (header + 6, flags);
  put32 (header + 8, (guint32)packed);
  put32 (header + 12, (guint32)size);
  put32 (header + 16, flam_capture_checksum (header, packed));
  return append_bytes (writer, header, FLAM_CAPTURE_BLOCK_HEADER_SIZE + packed);
}

/* One past the last row that fits into a block that begins with `from`. */
static guint32
block_end (const FlamTables *tables, FlamTable table, guint32 from)
{
  const guint64 *offsets = tables->strings.offsets.data;
  guint32 to = MIN (n_rows (tables, table), from + ROWS_A_BLOCK);

  if (table != FLAM_TABLE_STRINGS)
    return to;
  for (guint32 i = from + 1; i < to; i++)
    if (offsets[i] - offsets[from] > TEXT_A_BLOCK)
      return i;
  return to;
}

static gboolean
append_rows (FlamCaptureWriter *writer,
             FlamTable table,
             guint32 from,
             guint32 to)
{
  g_byte_array_set_size (writer->payload, 0);
  flam_capture_encode (
      flam_builder_tables (writer->builder), table, from, to, writer->payload);
  return append_block (writer, table);
}

/* The part of the rows for which there is still room. */
static void
append_some (FlamCaptureWriter *writer,
             FlamTable table,
             guint32 from,
             guint32 to)
{
  for (guint32 n = (to - from) / 2; n > 0; n /= 2)
    if (append_rows (writer, table, from, from + n))
      from += n;
}

static gboolean
flush_table (FlamCaptureWriter *writer, FlamTable table)
{
  FlamTables *tables = flam_builder_tables (writer->builder);
  guint32 n = n_rows (tables, table);
  guint32 from = writer->flushed[table];

  while (from < n)
    {
      guint32 to = block_end (tables, table, from);
      if (!append_rows (writer, table, from, to))
        {
          append_some (writer, table, from, to);
          return FALSE;
        }
      from = to;
    }
  if (flam_table_infos[table].kept)
    writer->flushed[table] = n;
  else
    flam_tables_drop (tables, table, n);
  return TRUE;
}

gboolean
flam_capture_writer_has_data (const FlamCaptureWriter *writer)
{
  return writer->size > FLAM_CAPTURE_HEADER_SIZE;
}

static gboolean
report_failure (FlamCaptureWriter *writer, GError **error)
{
  return flam_error_set (error,
                         FLAM_ERROR_SYSTEM,
                         N_ ("the capture cannot be written: %s"),
                         writer->failed);
}

/* The columns of a table that has just got its first rows are listed before
 * these. */
static gboolean
begin (FlamCaptureWriter *writer)
{
  flam_tables_list (flam_builder_tables (writer->builder));
  return (writer->size > 0 || append_header (writer)) &&
         flush_table (writer, FLAM_TABLE_COLUMNS);
}

gboolean
flam_capture_writer_flush (FlamCaptureWriter *writer, GError **error)
{
  if (writer->failed != NULL)
    return report_failure (writer, error);
  if (!begin (writer))
    return report_failure (writer, error);
  for (guint i = 0; i < FLAM_N_TABLES; i++)
    if (flam_tables_number (flam_builder_tables (writer->builder), i) != 0 &&
        !flush_table (writer, i))
      return report_failure (writer, error);
  return TRUE;
}

gboolean
flam_capture_writer_end (FlamCaptureWriter *writer,
                         gint64 duration,
                         GError **error)
{
  if (!flam_capture_writer_flush (writer, error))
    return FALSE;
  flam_tables_add (
      flam_builder_tables (writer->builder), FLAM_TABLE_END, &duration);
  return flam_capture_writer_flush (writer, error);
}

gsize
flam_capture_writer_pending (const FlamCaptureWriter *writer)
{
  const FlamTables *tables = flam_builder_tables (writer->builder);
  gsize bytes = 0;

  for (guint i = 0; i < FLAM_N_TABLES; i++)
    bytes += 3ul * flam_table_infos[i].n_columns *
             (n_rows (tables, i) - writer->flushed[i]);
  return bytes;
}

const guint8 *
flam_capture_writer_data (const FlamCaptureWriter *writer, gsize *size)
{
  *size = writer->memory->len;
  return writer->memory->data;
}
