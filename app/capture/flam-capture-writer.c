/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-writer.h"

#include <errno.h>
#include <unistd.h>
#include <zstd.h>

#include "flam-strings.h"

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

  FlamStrings strings;
  guint32 n_strings;
  FlamCaptureRows tables[FLAM_CAPTURE_N_TABLES];
  guint32 flushed[FLAM_CAPTURE_N_TABLES]; /* rows of interned tables */
  FlamInterner interners[FLAM_CAPTURE_N_TABLES];
  guint32 n_rows[FLAM_CAPTURE_N_TABLES]; /* of tables that rows refer to */
};

static gboolean
is_interned (FlamCaptureTable table)
{
  return table >= FLAM_CAPTURE_MODULES && table <= FLAM_CAPTURE_STACKS;
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
          writer->failed = g_strdup (g_strerror (saved));
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
flam_capture_writer_new (int fd, guint n_weights)
{
  FlamCaptureWriter *writer = g_new0 (FlamCaptureWriter, 1);

  g_assert (n_weights <= FLAM_CAPTURE_MAX_WEIGHTS);
  writer->fd = fd;
  writer->memory = fd < 0 ? g_byte_array_new () : NULL;
  writer->zstd = ZSTD_createCCtx ();
  writer->payload = g_byte_array_new ();
  writer->stored = g_byte_array_new ();
  flam_strings_init (&writer->strings);
  for (guint i = FLAM_CAPTURE_STRINGS; i < FLAM_CAPTURE_N_TABLES; i++)
    {
      flam_capture_rows_init (
          &writer->tables[i], i, i == FLAM_CAPTURE_SAMPLES ? n_weights : 0);
      if (is_interned (i))
        flam_interner_init (&writer->interners[i]);
    }
  return writer;
}

void
flam_capture_writer_free (FlamCaptureWriter *writer)
{
  for (guint i = FLAM_CAPTURE_STRINGS; i < FLAM_CAPTURE_N_TABLES; i++)
    {
      flam_capture_rows_clear (&writer->tables[i]);
      if (is_interned (i))
        flam_interner_clear (&writer->interners[i]);
    }
  flam_strings_clear (&writer->strings);
  g_clear_pointer (&writer->memory, g_byte_array_unref);
  g_byte_array_unref (writer->payload);
  g_byte_array_unref (writer->stored);
  ZSTD_freeCCtx (writer->zstd);
  g_free (writer->failed);
  g_free (writer);
}

/* --- rows ---------------------------------------------------------------- */

static FlamId
push (FlamCaptureWriter *writer, FlamCaptureTable table, const gint64 *values)
{
  flam_capture_rows_push (&writer->tables[table], values);
  return writer->n_rows[table]++;
}

static gboolean
row_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  const FlamCaptureRows *rows = table;
  const gint64 *values = key;

  for (guint i = 0; i < rows->n_columns; i++)
    if (rows->columns[i].element_size == 4
            ? flam_capture_u32 (rows, i, row) != (guint32)values[i]
            : flam_capture_i64 (rows, i, row) != values[i])
      return FALSE;
  return TRUE;
}

static FlamId
intern (FlamCaptureWriter *writer, FlamCaptureTable table, const gint64 *values)
{
  FlamCaptureRows *rows = &writer->tables[table];
  FlamInterner *interner = &writer->interners[table];
  guint64 hash = 0;
  FlamSlot *slot;

  for (guint i = 0; i < rows->n_columns; i++)
    hash = flam_hash_mix (hash, (guint64)values[i]);
  slot = flam_interner_find (
      interner, (guint32)(hash ^ (hash >> 32)), row_equal, rows, values);
  if (slot->id == FLAM_NONE)
    {
      *slot = (FlamSlot){ (guint32)(hash ^ (hash >> 32)), rows->n };
      interner->used++;
      flam_capture_rows_push (rows, values);
    }
  return slot->id;
}

FlamId
flam_capture_writer_string (FlamCaptureWriter *writer, const char *text)
{
  FlamId id = flam_strings_intern (&writer->strings, text, -1);

  while (writer->n_strings <= id)
    flam_capture_rows_push_text (
        &writer->tables[FLAM_CAPTURE_STRINGS],
        flam_strings_get (&writer->strings, writer->n_strings++));
  return id;
}

FlamId
flam_capture_writer_module (FlamCaptureWriter *writer,
                            const char *path,
                            const char *build_id,
                            FlamAddressing addressing)
{
  gint64 values[] = { flam_capture_writer_string (writer, path),
                      flam_capture_writer_string (writer, build_id),
                      addressing };
  return intern (writer, FLAM_CAPTURE_MODULES, values);
}

FlamId
flam_capture_writer_function (FlamCaptureWriter *writer,
                              const FlamFunction *function)
{
  gint64 values[] = { function->name,   function->system_name, function->file,
                      function->module, function->line,        function->kind,
                      function->flags };
  return intern (writer, FLAM_CAPTURE_FUNCTIONS, values);
}

FlamId
flam_capture_writer_frame (FlamCaptureWriter *writer,
                           const FlamCaptureFrame *frame)
{
  gint64 values[] = { frame->module, (gint64)frame->address, frame->function,
                      frame->line,   frame->inline_depth,    frame->file };
  return intern (writer, FLAM_CAPTURE_FRAMES, values);
}

FlamId
flam_capture_writer_stack (FlamCaptureWriter *writer,
                           FlamId prefix,
                           FlamId frame)
{
  gint64 values[] = { prefix, frame };
  return intern (writer, FLAM_CAPTURE_STACKS, values);
}

guint32
flam_capture_writer_n_frames (FlamCaptureWriter *writer)
{
  return writer->tables[FLAM_CAPTURE_FRAMES].n;
}

void
flam_capture_writer_get_frame (FlamCaptureWriter *writer,
                               FlamId frame,
                               FlamCaptureFrame *value)
{
  const FlamCaptureRows *rows = &writer->tables[FLAM_CAPTURE_FRAMES];

  value->module = flam_capture_u32 (rows, 0, frame);
  value->address = (guint64)flam_capture_i64 (rows, 1, frame);
  value->function = flam_capture_u32 (rows, 2, frame);
  value->line = flam_capture_u32 (rows, 3, frame);
  value->inline_depth = flam_capture_u32 (rows, 4, frame);
  value->file = flam_capture_u32 (rows, 5, frame);
}

FlamId
flam_capture_writer_process (FlamCaptureWriter *writer,
                             gint32 pid,
                             FlamId parent)
{
  return push (writer, FLAM_CAPTURE_PROCESSES, (gint64[]){ pid, parent });
}

FlamId
flam_capture_writer_thread (FlamCaptureWriter *writer,
                            FlamId process,
                            gint32 tid)
{
  return push (writer, FLAM_CAPTURE_THREADS, (gint64[]){ process, tid });
}

void
flam_capture_writer_name (FlamCaptureWriter *writer,
                          FlamCaptureNamed what,
                          FlamId row,
                          gint64 time,
                          const char *name)
{
  FlamId string = flam_capture_writer_string (writer, name);

  push (writer, FLAM_CAPTURE_NAMES, (gint64[]){ what, row, time, string });
}

void
flam_capture_writer_measure (FlamCaptureWriter *writer,
                             const char *id,
                             const char *name,
                             FlamUnit unit,
                             FlamMeasureKind kind,
                             FlamMeasureSource source,
                             gint column,
                             gint event,
                             gint64 denominator)
{
  gint64 values[] = { flam_capture_writer_string (writer, id),
                      flam_capture_writer_string (writer, name),
                      unit,
                      kind,
                      source,
                      column,
                      event,
                      denominator };
  push (writer, FLAM_CAPTURE_MEASURES, values);
}

void
flam_capture_writer_sample (FlamCaptureWriter *writer,
                            const FlamSample *sample,
                            const gint64 *weights)
{
  gint64 values[FLAM_CAPTURE_MAX_COLUMNS] = {
    sample->time, sample->thread, sample->stack, sample->event, sample->state
  };
  guint n = writer->tables[FLAM_CAPTURE_SAMPLES].n_columns -
            FLAM_CAPTURE_SAMPLE_COLUMNS;

  for (guint i = 0; i < n; i++)
    values[FLAM_CAPTURE_SAMPLE_COLUMNS + i] = weights[i];
  push (writer, FLAM_CAPTURE_SAMPLES, values);
}

void
flam_capture_writer_allocation (FlamCaptureWriter *writer,
                                const FlamAllocation *allocation)
{
  gint64 values[] = { allocation->time,     allocation->freed_at,
                      allocation->thread,   allocation->stack,
                      allocation->size,     allocation->count,
                      allocation->at_peak,  allocation->distance,
                      allocation->allocator };
  push (writer, FLAM_CAPTURE_ALLOCATIONS, values);
}

void
flam_capture_writer_blocks (FlamCaptureWriter *writer,
                            const FlamCaptureBlocks *blocks)
{
  gint64 values[] = { blocks->time, blocks->thread, blocks->stack,
                      blocks->size, blocks->count,  blocks->allocator };
  push (writer, FLAM_CAPTURE_BLOCKS, values);
}

void
flam_capture_writer_release (FlamCaptureWriter *writer,
                             gint64 time,
                             guint32 row,
                             gint64 count,
                             guint16 distance)
{
  gint64 values[] = { time, row, count, distance };
  push (writer, FLAM_CAPTURE_RELEASES, values);
}

void
flam_capture_writer_at_peak (FlamCaptureWriter *writer,
                             FlamId thread,
                             FlamId stack,
                             gint64 size,
                             FlamAllocator allocator,
                             gint64 count)
{
  gint64 values[] = { thread, stack, size, allocator, count };
  push (writer, FLAM_CAPTURE_AT_PEAK, values);
}

FlamId
flam_capture_writer_counter (FlamCaptureWriter *writer,
                             const char *id,
                             FlamUnit unit)
{
  FlamId string = flam_capture_writer_string (writer, id);

  return push (writer, FLAM_CAPTURE_COUNTERS, (gint64[]){ string, unit });
}

void
flam_capture_writer_counter_value (FlamCaptureWriter *writer,
                                   FlamId counter,
                                   gint64 time,
                                   gint64 value)
{
  push (
      writer, FLAM_CAPTURE_COUNTER_VALUES, (gint64[]){ counter, time, value });
}

void
flam_capture_writer_mark (FlamCaptureWriter *writer,
                          gint64 time,
                          gint64 duration,
                          FlamId thread,
                          const char *name)
{
  FlamId string = flam_capture_writer_string (writer, name);

  push (
      writer, FLAM_CAPTURE_MARKS, (gint64[]){ time, duration, thread, string });
}

void
flam_capture_writer_fact (FlamCaptureWriter *writer,
                          const char *key,
                          const char *value)
{
  gint64 values[] = { flam_capture_writer_string (writer, key),
                      flam_capture_writer_string (writer, value) };
  push (writer, FLAM_CAPTURE_FACTS, values);
}

void
flam_capture_writer_fact_number (FlamCaptureWriter *writer,
                                 const char *key,
                                 gint64 value)
{
  g_autofree char *text = g_strdup_printf ("%" G_GINT64_FORMAT, value);

  flam_capture_writer_fact (writer, key, text);
}

void
flam_capture_writer_warning (FlamCaptureWriter *writer, const char *text)
{
  gint64 value = flam_capture_writer_string (writer, text);

  push (writer, FLAM_CAPTURE_WARNINGS, &value);
}

void
flam_capture_writer_symbol (FlamCaptureWriter *writer,
                            FlamId frame,
                            FlamId function,
                            FlamId file,
                            guint32 line)
{
  push (
      writer, FLAM_CAPTURE_SYMBOLS, (gint64[]){ frame, function, line, file });
}

void
flam_capture_writer_rename (FlamCaptureWriter *writer,
                            FlamId frame,
                            gint64 time,
                            FlamId function,
                            guint32 line)
{
  push (writer,
        FLAM_CAPTURE_RENAMES,
        (gint64[]){ frame, time, function, line, FLAM_NONE });
}

void
flam_capture_writer_module_symbols (FlamCaptureWriter *writer,
                                    FlamId module,
                                    FlamSymbolState state,
                                    const char *why)
{
  FlamId string = flam_capture_writer_string (writer, why);

  push (
      writer, FLAM_CAPTURE_MODULE_SYMBOLS, (gint64[]){ module, state, string });
}

/* --- blocks -------------------------------------------------------------- */

static gboolean
append_block (FlamCaptureWriter *writer, FlamCaptureTable table)
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
  put16 (header + 4, table);
  put16 (header + 6, flags);
  put32 (header + 8, (guint32)packed);
  put32 (header + 12, (guint32)size);
  put32 (header + 16, flam_capture_checksum (header, packed));
  return append_bytes (writer, header, FLAM_CAPTURE_BLOCK_HEADER_SIZE + packed);
}

/* One past the last row that fits into a block that begins with `from`. */
static guint32
block_end (const FlamCaptureRows *rows, FlamCaptureTable table, guint32 from)
{
  guint32 to = MIN (rows->n, from + ROWS_A_BLOCK);

  if (table != FLAM_CAPTURE_STRINGS)
    return to;
  for (guint32 i = from + 1; i < to; i++)
    if (flam_column_at (&rows->columns[0], guint64, i) -
            flam_column_at (&rows->columns[0], guint64, from) >
        TEXT_A_BLOCK)
      return i;
  return to;
}

static gboolean
flush_table (FlamCaptureWriter *writer, FlamCaptureTable table)
{
  FlamCaptureRows *rows = &writer->tables[table];
  guint32 from = writer->flushed[table];

  while (from < rows->n)
    {
      guint32 to = block_end (rows, table, from);
      g_byte_array_set_size (writer->payload, 0);
      flam_capture_encode (rows, table, from, to, writer->payload);
      if (!append_block (writer, table))
        return FALSE;
      from = to;
    }
  if (is_interned (table))
    writer->flushed[table] = rows->n;
  else
    flam_capture_rows_reset (rows);
  return TRUE;
}

static gboolean
report_failure (FlamCaptureWriter *writer, GError **error)
{
  g_set_error (error,
               FLAM_ERROR,
               FLAM_ERROR_SYSTEM,
               "the capture cannot be written: %s",
               writer->failed);
  return FALSE;
}

gboolean
flam_capture_writer_flush (FlamCaptureWriter *writer, GError **error)
{
  if (writer->failed != NULL)
    return report_failure (writer, error);
  if (writer->size == 0 && !append_header (writer))
    return report_failure (writer, error);
  for (guint i = FLAM_CAPTURE_STRINGS; i < FLAM_CAPTURE_N_TABLES; i++)
    if (!flush_table (writer, i))
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
  push (writer, FLAM_CAPTURE_END, &duration);
  return flam_capture_writer_flush (writer, error);
}

gsize
flam_capture_writer_pending (const FlamCaptureWriter *writer)
{
  gsize bytes = writer->tables[FLAM_CAPTURE_STRINGS].text.n;

  for (guint i = FLAM_CAPTURE_STRINGS; i < FLAM_CAPTURE_N_TABLES; i++)
    bytes += 3ul * writer->tables[i].n_columns *
             (writer->tables[i].n - writer->flushed[i]);
  return bytes;
}

const guint8 *
flam_capture_writer_data (const FlamCaptureWriter *writer, gsize *size)
{
  *size = writer->memory->len;
  return writer->memory->data;
}
