/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-trace-cmd-records.h"

#define TIME_SIZE 8
#define COMMIT_BITS ((1u << 20) - 1)
#define MISSED ((guint64)1 << 31)
#define MISSED_STORED ((guint64)1 << 30)

enum
{
  LENGTH_FOLLOWS = 0,
  PADDING = 29,
  TIME_EXTEND,
  TIME_STAMP,
};

struct _FlamTraceStream
{
  const guint8 *data, *end; /* pages */
  guint32 page;
  guint8 *unpacked; /* they are in it */
  const guint8 *packed, *packed_end;
  guint64 pieces; /* that are still packed */

  const guint8 *at, *page_end;
  guint64 time;
  const guint8 *record;
  gsize size;
};

static void
free_streams (gpointer data)
{
  FlamTraceStream *streams = data;

  for (FlamTraceStream *stream = streams; stream->page != 0; stream++)
    g_free (stream->unpacked);
  g_free (streams);
}

/* --- pages --------------------------------------------------------------- */

static gboolean
next_piece (FlamTraceRecords *records, FlamTraceStream *stream)
{
  gsize size;

  g_clear_pointer (&stream->unpacked, g_free);
  stream->data = stream->end = NULL;
  while (stream->pieces > 0 && stream->packed < stream->packed_end)
    {
      stream->pieces--;
      stream->unpacked = flam_trace_file_unpack (
          records->file, &stream->packed, stream->packed_end, &size);
      if (stream->unpacked != NULL)
        {
          stream->data = stream->unpacked;
          stream->end = stream->unpacked + size;
          return TRUE;
        }
      records->damaged++;
    }
  return FALSE;
}

static gboolean
next_page (FlamTraceRecords *records, FlamTraceStream *stream)
{
  guint head = TIME_SIZE + records->file->long_size;
  const guint8 *page;
  guint64 commit;
  gsize size, missed;

  while (stream->data == stream->end ||
         (gsize)(stream->end - stream->data) < head)
    if (!next_piece (records, stream))
      return FALSE;
  page = stream->data;
  size = MIN (stream->page, (gsize)(stream->end - page));
  stream->data += size;
  commit = flam_trace_get (
      records->file, page + TIME_SIZE, records->file->long_size);
  stream->time = flam_trace_get (records->file, page, TIME_SIZE);
  stream->at = page + head;
  stream->page_end = stream->at + MIN (commit & COMMIT_BITS, size - head);
  missed = stream->page_end - page;
  if (commit & MISSED)
    {
      guint64 n = 1;

      if ((commit & MISSED_STORED) && size - missed >= records->file->long_size)
        n = flam_trace_get (
            records->file, page + missed, records->file->long_size);
      records->lost += MIN (n, G_MAXINT32);
    }
  return TRUE;
}

/* --- records ------------------------------------------------------------- */

/* Reads the word that begins a record, and the words that belong to it. FALSE:
 * nothing is left in the page. */
static gboolean
step (FlamTraceRecords *records, FlamTraceStream *stream)
{
  const FlamTraceFile *file = records->file;
  guint32 word, kind;
  guint64 delta, next = 0, length;
  gsize left;

  stream->record = NULL;
  if (stream->page_end - stream->at < 4)
    return FALSE;
  word = (guint32)flam_trace_get (file, stream->at, 4);
  kind = file->big ? word >> 27 : word & 31;
  delta = file->big ? word & ((1u << 27) - 1) : word >> 5;
  stream->at += 4;
  left = stream->page_end - stream->at;
  length = 4 * (guint64)kind;
  if (kind == LENGTH_FOLLOWS || kind >= PADDING)
    {
      if (kind == PADDING && delta == 0)
        return FALSE;
      if (left < 4)
        return FALSE;
      next = flam_trace_get (file, stream->at, 4);
    }
  switch (kind)
    {
    case TIME_EXTEND:
      stream->time += delta + (next << 27);
      stream->at += 4;
      return TRUE;
    case TIME_STAMP:
      stream->time =
          (stream->time & ~((((guint64)1) << 59) - 1)) | (delta + (next << 27));
      stream->at += 4;
      return TRUE;
    case PADDING:
      if (next > left)
        return FALSE;
      stream->at += MAX (next, 4);
      return TRUE;
    case LENGTH_FOLLOWS:
      stream->at += 4;
      left -= 4;
      if (next < 4)
        return FALSE;
      length = (next - 4 + 3) & ~(guint64)3;
      break;
    default:
      break;
    }
  if (length > left)
    {
      records->damaged++;
      return FALSE;
    }
  stream->time += delta;
  stream->record = stream->at;
  stream->size = length;
  stream->at += length;
  return TRUE;
}

/* FALSE: the stream has no more records. */
static gboolean
advance (FlamTraceRecords *records, FlamTraceStream *stream)
{
  for (;;)
    {
      while (stream->at == NULL || !step (records, stream))
        if (!next_page (records, stream))
          return FALSE;
      if (stream->record != NULL)
        return TRUE;
    }
}

/* --- their order --------------------------------------------------------- */

static gboolean
is_before (const FlamTraceRecords *records, guint a, guint b)
{
  guint64 one = records->streams[a].time, two = records->streams[b].time;

  return one != two ? one < two : a < b;
}

static void
sift (FlamTraceRecords *records, guint i)
{
  for (;;)
    {
      guint least = i, moved = records->heap[i];

      for (guint child = 2 * i + 1; child <= 2 * i + 2; child++)
        if (child < records->n &&
            is_before (records, records->heap[child], records->heap[least]))
          least = child;
      if (least == i)
        return;
      records->heap[i] = records->heap[least];
      records->heap[least] = moved;
      i = least;
    }
}

static void
open_stream (FlamTraceRecords *records,
             FlamTraceStream *stream,
             const FlamTraceCpu *cpu)
{
  const guint8 *data = records->file->load->source->data + cpu->offset;

  stream->page = MAX (cpu->page, 64u);
  if (!cpu->packed)
    {
      stream->data = data;
      stream->end = data + cpu->size;
      return;
    }
  if (cpu->size < 4)
    return;
  stream->pieces = flam_trace_get (records->file, data, 4);
  stream->packed = data + 4;
  /* Their number is not part of the size. */
  stream->packed_end =
      stream->packed +
      MIN (cpu->size, records->file->load->source->size - cpu->offset - 4);
}

void
flam_trace_records_init (FlamTraceRecords *records, const FlamTraceFile *file)
{
  guint n = (guint)file->cpus.n;

  *records = (FlamTraceRecords){ .file = file };
  /* One more, whose page is 0. */
  records->streams = flam_arena_keep (
      file->load, g_new0 (FlamTraceStream, n + 1), free_streams);
  records->heap = flam_arena_vector (file->load, guint, n);
  for (guint i = 0; i < n; i++)
    {
      FlamTraceStream *stream = &records->streams[i];

      open_stream (
          records, stream, &flam_column_at (&file->cpus, FlamTraceCpu, i));
      if (advance (records, stream))
        records->heap[records->n++] = i;
    }
  for (guint i = records->n / 2; i-- > 0;)
    sift (records, i);
}

guint64
flam_trace_record_get (const FlamTraceRecords *records,
                       const FlamTraceRecord *record,
                       FlamTraceField field)
{
  if (field.size == 0 || field.offset > record->size ||
      field.size > record->size - field.offset)
    return 0;
  return flam_trace_get (
      records->file, record->data + field.offset, MIN (field.size, 8u));
}

gboolean
flam_trace_records_get (const FlamTraceRecords *records,
                        FlamTraceRecord *record)
{
  const FlamTraceFormat *any = records->file->any;
  const FlamTraceStream *stream;

  if (records->n == 0)
    return FALSE;
  *record = (FlamTraceRecord){ .stream = records->heap[0] };
  stream = &records->streams[record->stream];
  record->time = flam_builder_limit (
      records->file->load->builder, stream->time, 0, G_MAXINT64 / 4, NULL);
  record->data = stream->record;
  record->size = stream->size;
  record->pid = (gint32)flam_trace_record_get (records, record, any->pid);
  record->format =
      g_hash_table_lookup (records->file->formats,
                           GINT_TO_POINTER ((int)flam_trace_record_get (
                               records, record, any->type)));
  return TRUE;
}

void
flam_trace_records_skip (FlamTraceRecords *records)
{
  FlamTraceStream *stream = &records->streams[records->heap[0]];

  if (!advance (records, stream))
    records->heap[0] = records->heap[--records->n];
  if (records->n > 0)
    sift (records, 0);
}
