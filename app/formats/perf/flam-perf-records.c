/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perf-records.h"
#include "flam-spool.h"

#include <stdlib.h>
#include <zstd.h>

#define CHUNK_SIZE (1 << 20)
#define MAX_RECORD 65536
#define MAX_UNPACKED FLAM_SPOOL_MAX
/* Without rounds, at most this much waits to be sorted. */
#define MAX_WAITING (4 << 20)
#define MAX_WAITING_CHUNKS 512

struct _FlamPerfChunk
{
  guint refs;
  gsize size;
  guint8 *data; /* MAX_RECORD for a cut record, then CHUNK_SIZE */
};

struct _FlamPerfReader
{
  const FlamPerfFile *file;
  const guint8 *start;
  const guint8 *at;
  const guint8 *end;
  guint64 before; /* bytes of the file and the parts before `start` */
  guint part;     /* the next of file->parts */
  const char *trouble;
  FlamPerfBytes payload; /* behind the record returned last */

  gboolean unpack;
  ZSTD_DStream *stream;
  ZSTD_inBuffer input; /* of the COMPRESSED record that is being unpacked */
  gboolean more;       /* the stream may hold more output */
  FlamPerfChunk *chunk;
  const guint8 *chunk_at;
  guint64 unpacked;
  guint n_chunks; /* alive */

  /* The offsets of ids and times. */
  gboolean has_ids;
  int id_at;   /* in a sample; -1: there is none */
  int id_back; /* from the end of the other records; 0: none */
};

/* --- offsets ------------------------------------------------------------- */

/* The size of the fields of a sample before the given one. */
static guint
offset_in_sample (guint64 sample_type, guint64 field)
{
  static const guint64 order[] = { FLAM_PERF_IDENTIFIER, FLAM_PERF_IP,
                                   FLAM_PERF_TID,        FLAM_PERF_TIME,
                                   FLAM_PERF_ADDR,       FLAM_PERF_ID };
  guint64 before = 0;

  for (guint i = 0; i < G_N_ELEMENTS (order) && order[i] != field; i++)
    before |= order[i];
  return 8 * flam_perf_count_bits (sample_type & before);
}

/* Bytes from a field of sample_id to the record's end: TID, TIME, ID,
 * STREAM_ID, CPU, IDENTIFIER. A TID is a pid and a tid. */
static guint
offset_back (guint64 sample_type, guint64 field)
{
  guint64 after = FLAM_PERF_IDENTIFIER | FLAM_PERF_CPU | FLAM_PERF_STREAM_ID;

  if (field == FLAM_PERF_IDENTIFIER)
    return 8;
  if (field == FLAM_PERF_TIME || field == FLAM_PERF_TID)
    after |= FLAM_PERF_ID;
  if (field == FLAM_PERF_TID)
    after |= FLAM_PERF_TIME;
  return 8 + 8 * flam_perf_count_bits (sample_type & after);
}

static void
find_ids (FlamPerfReader *reader)
{
  const FlamPerfEvent *first;

  reader->id_at = -1;
  if (reader->file->events->len < 2)
    return;
  first = g_ptr_array_index (reader->file->events, 0);
  if (first->sample_type & FLAM_PERF_IDENTIFIER)
    {
      reader->id_at = 0;
      reader->id_back = 8;
    }
  else if (first->sample_type & FLAM_PERF_ID)
    {
      reader->id_at = offset_in_sample (first->sample_type, FLAM_PERF_ID);
      reader->id_back = offset_back (first->sample_type, FLAM_PERF_ID);
    }
}

static gboolean
word_at (const FlamPerfBytes *body, gsize at, guint64 *value)
{
  if (flam_perf_left (body) < 8 || at > flam_perf_left (body) - 8)
    return FALSE;
  *value = flam_perf_u64 (body->p + at, body->swap);
  return TRUE;
}

static void
fill_event_and_time (const FlamPerfReader *reader, FlamPerfRecord *record)
{
  const FlamPerfBytes *body = &record->body;
  const FlamPerfEvent *event;
  gboolean is_sample = record->type == FLAM_PERF_SAMPLE;
  gsize left = flam_perf_left (body);
  guint64 id;

  record->event = 0;
  record->time = 0;
  if (record->type >= FLAM_PERF_KERNEL_TYPES || reader->file->events->len == 0)
    return;
  if (reader->id_at >= 0 &&
      word_at (body,
               is_sample ? (gsize)reader->id_at : left - reader->id_back,
               &id) &&
      id != 0)
    record->event = flam_perf_file_find_event (reader->file, id);
  if (record->event < 0)
    {
      if (is_sample)
        return;
      record->event = 0;
    }
  event = g_ptr_array_index (reader->file->events, record->event);
  if (!(event->sample_type & FLAM_PERF_TIME) ||
      (!is_sample && !(event->flags & FLAM_PERF_FLAG_SAMPLE_ID_ALL)))
    return;
  if (!word_at (body,
                is_sample
                    ? offset_in_sample (event->sample_type, FLAM_PERF_TIME)
                    : left - offset_back (event->sample_type, FLAM_PERF_TIME),
                &record->time) ||
      record->time > G_MAXINT64)
    record->time = 0;
}

/* --- reading ------------------------------------------------------------- */

FlamPerfReader *
flam_perf_reader_new (const FlamPerfFile *file, gboolean unpack)
{
  FlamPerfReader *reader = g_new0 (FlamPerfReader, 1);

  reader->file = file;
  reader->unpack = unpack;
  reader->start = file->source->data;
  reader->at = file->source->data + file->data_offset;
  reader->end = file->source->data + file->data_end;
  find_ids (reader);
  return reader;
}

static void
chunk_unref (FlamPerfReader *reader, FlamPerfChunk *chunk)
{
  if (!chunk || --chunk->refs > 0)
    return;
  g_free (chunk->data);
  g_free (chunk);
  reader->n_chunks--;
}

void
flam_perf_reader_free (FlamPerfReader *reader)
{
  chunk_unref (reader, reader->chunk);
  ZSTD_freeDStream (reader->stream);
  g_free (reader);
}

FlamPerfBytes
flam_perf_reader_payload (const FlamPerfReader *reader)
{
  return reader->payload;
}

gboolean
flam_perf_reader_thread (const FlamPerfReader *reader,
                         const FlamPerfRecord *record,
                         gint32 *pid,
                         gint32 *tid)
{
  const FlamPerfEvent *event;
  gsize left = flam_perf_left (&record->body), back;

  if (record->event < 0)
    return FALSE;
  event = g_ptr_array_index (reader->file->events, record->event);
  back = offset_back (event->sample_type, FLAM_PERF_TID);
  if (!(event->sample_type & FLAM_PERF_TID) ||
      !(event->flags & FLAM_PERF_FLAG_SAMPLE_ID_ALL) || back > left)
    return FALSE;
  *pid = (gint32)flam_perf_u32 (record->body.end - back, record->body.swap);
  *tid = (gint32)flam_perf_u32 (record->body.end - back + 4, record->body.swap);
  return TRUE;
}

guint64
flam_perf_reader_offset (const FlamPerfReader *reader)
{
  return reader->before + (reader->at - reader->start);
}

const char *
flam_perf_reader_trouble (const FlamPerfReader *reader)
{
  return reader->trouble;
}

/* Reads a record from [p, end); returns its size, or 0 if it is incomplete. */
static gsize
parse_record (const FlamPerfReader *reader,
              const guint8 *p,
              const guint8 *end,
              FlamPerfRecord *record)
{
  gboolean swap = reader->file->swap;
  guint16 size;

  if (end - p < 8)
    return 0;
  record->type = flam_perf_u32 (p, swap);
  record->misc = flam_perf_u16 (p + 4, swap);
  size = flam_perf_u16 (p + 6, swap);
  if (size < 8 || size > end - p)
    return 0;
  record->body = (FlamPerfBytes){ p + 8, p + size, FALSE, swap };
  return size;
}

/* A new chunk that begins with the rest of the old one. */
static void
renew_chunk (FlamPerfReader *reader)
{
  FlamPerfChunk *old = reader->chunk, *chunk = g_new0 (FlamPerfChunk, 1);
  gsize left = 0;

  chunk->data = g_malloc (MAX_RECORD + CHUNK_SIZE);
  chunk->refs = 1;
  reader->n_chunks++;
  if (old)
    {
      left = MIN ((gsize)(old->data + old->size - reader->chunk_at),
                  (gsize)MAX_RECORD);
      memcpy (chunk->data, reader->chunk_at, left);
      chunk_unref (reader, old);
    }
  chunk->size = left;
  reader->chunk = chunk;
  reader->chunk_at = chunk->data;
}

static gboolean
unpack_more (FlamPerfReader *reader)
{
  ZSTD_outBuffer out;
  gsize status, before;

  renew_chunk (reader);
  before = reader->chunk->size;
  out =
      (ZSTD_outBuffer){ reader->chunk->data, MAX_RECORD + CHUNK_SIZE, before };
  status = ZSTD_decompressStream (reader->stream, &out, &reader->input);
  if (ZSTD_isError (status) || reader->unpacked > MAX_UNPACKED)
    {
      reader->trouble = N_ ("a compressed part of the file is damaged");
      return FALSE;
    }
  reader->chunk->size = out.pos;
  reader->unpacked += out.pos - before;
  reader->more = reader->input.pos < reader->input.size || out.pos == out.size;
  return TRUE;
}

static gboolean
begin_unpacking (FlamPerfReader *reader, const FlamPerfRecord *record)
{
  FlamPerfBytes body = record->body;
  guint64 size = flam_perf_left (&body);

  if (record->type == FLAM_PERF_COMPRESSED2)
    size = flam_perf_read_u64 (&body);
  if (size > flam_perf_left (&body))
    {
      reader->trouble = N_ ("a compressed part of the file is damaged");
      return FALSE;
    }
  if (!reader->stream)
    {
      reader->stream = ZSTD_createDStream ();
      ZSTD_initDStream (reader->stream);
    }
  reader->input = (ZSTD_inBuffer){ body.p, size, 0 };
  reader->more = TRUE;
  return TRUE;
}

/* Records that are followed by separate data, beyond their size. */
static gboolean
skip_payload (FlamPerfReader *reader, const FlamPerfRecord *record)
{
  FlamPerfBytes body = record->body;
  guint64 size = 0;

  if (record->type == FLAM_PERF_AUXTRACE)
    size = flam_perf_read_u64 (&body);
  else if (record->type == FLAM_PERF_TRACING_DATA)
    size = ((guint64)flam_perf_read_u32 (&body) + 7) & ~(guint64)7;
  if (size > (guint64)(reader->end - reader->at))
    {
      reader->trouble = N_ ("the file ends within a record");
      reader->at = reader->end;
      return FALSE;
    }
  reader->payload = (FlamPerfBytes){
    reader->at, reader->at + size, FALSE, reader->file->swap
  };
  reader->at += size;
  return TRUE;
}

/* Opens the next part, which may be compressed separately. */
static gboolean
begin_part (FlamPerfReader *reader)
{
  const FlamSource *part;

  if (reader->at != reader->end || reader->part >= reader->file->parts->len)
    return FALSE;
  reader->before += reader->part == 0 ? reader->file->source->size
                                      : (gsize)(reader->end - reader->start);
  part = g_ptr_array_index (reader->file->parts, reader->part++);
  reader->start = reader->at = part->data;
  reader->end = part->data + part->size;
  chunk_unref (reader, reader->chunk);
  reader->chunk = NULL;
  g_clear_pointer (&reader->stream, ZSTD_freeDStream);
  return TRUE;
}

static gboolean
next_of_file (FlamPerfReader *reader, FlamPerfRecord *record)
{
  gsize size = parse_record (reader, reader->at, reader->end, record);

  while (size == 0 && begin_part (reader))
    size = parse_record (reader, reader->at, reader->end, record);
  record->chunk = NULL;
  if (size == 0)
    {
      if (reader->at != reader->end)
        reader->trouble = reader->end - reader->at < MAX_RECORD
                              ? N_ ("the file ends within a record")
                              : N_ ("a record has an impossible size");
      return FALSE;
    }
  reader->at += size;
  return skip_payload (reader, record);
}

static gboolean
next_of_chunk (FlamPerfReader *reader, FlamPerfRecord *record)
{
  const guint8 *end;
  gsize size;

  if (!reader->chunk)
    return FALSE;
  end = reader->chunk->data + reader->chunk->size;
  size = parse_record (reader, reader->chunk_at, end, record);
  if (size == 0)
    return FALSE;
  reader->chunk_at += size;
  record->chunk = reader->chunk;
  return TRUE;
}

gboolean
flam_perf_reader_next (FlamPerfReader *reader, FlamPerfRecord *record)
{
  for (;;)
    {
      if (next_of_chunk (reader, record))
        break;
      if (reader->more)
        {
          gsize left = reader->chunk
                           ? (gsize)(reader->chunk->data + reader->chunk->size -
                                     reader->chunk_at)
                           : 0;
          if (left >= MAX_RECORD)
            reader->trouble = N_ ("a compressed part of the file is damaged");
          if (left >= MAX_RECORD || !unpack_more (reader))
            return FALSE;
          continue;
        }
      if (!next_of_file (reader, record))
        return FALSE;
      if (!reader->unpack || (record->type != FLAM_PERF_COMPRESSED &&
                              record->type != FLAM_PERF_COMPRESSED2))
        break;
      if (!begin_unpacking (reader, record))
        return FALSE;
    }
  fill_event_and_time (reader, record);
  return TRUE;
}

/* --- order --------------------------------------------------------------- */

typedef struct
{
  FlamPerfRecord record;
  guint64 number; /* of the record in the file: keeps the sort stable */
} Waiting;

struct _FlamPerfQueue
{
  FlamPerfReader *reader;
  GArray *waiting; /* Waiting */
  guint at;        /* the next to return; ready: [at, ready) */
  guint ready;
  guint64 number;
  guint64 newest;     /* of this round */
  guint64 flushed;    /* of the round before */
  const guint8 *left; /* the file's pages before it were released */
  FlamPerfRecord last;
  gboolean ended;
};

FlamPerfQueue *
flam_perf_queue_new (FlamPerfReader *reader)
{
  FlamPerfQueue *queue = g_new0 (FlamPerfQueue, 1);

  queue->reader = reader;
  queue->waiting = g_array_new (FALSE, FALSE, sizeof (Waiting));
  queue->left = reader->at;
  return queue;
}

void
flam_perf_queue_free (FlamPerfQueue *queue)
{
  chunk_unref (queue->reader, queue->last.chunk);
  for (guint i = queue->at; i < queue->waiting->len; i++)
    chunk_unref (queue->reader,
                 g_array_index (queue->waiting, Waiting, i).record.chunk);
  g_array_unref (queue->waiting);
  g_free (queue);
}

static int
compare_waiting (const void *a, const void *b)
{
  const Waiting *x = a, *y = b;

  if (x->record.time != y->record.time)
    return x->record.time < y->record.time ? -1 : 1;
  return x->number < y->number ? -1 : x->number > y->number;
}

/* The file is needed from the first record on that waits. With copied stacks it
 * is larger than all that is made of it. */
static void
leave_file (FlamPerfQueue *queue)
{
  const FlamSource *source = queue->reader->file->source;
  const guint8 *first = queue->reader->at;

  if (queue->reader->part > 0)
    first = source->data + source->size;
  for (guint i = 0; i < queue->waiting->len; i++)
    {
      const Waiting *waiting = &g_array_index (queue->waiting, Waiting, i);

      if (waiting->record.chunk == NULL &&
          waiting->record.body.p >= source->data)
        first = MIN (first, waiting->record.body.p);
    }
  flam_source_leave_before (source, &queue->left, first);
}

/* Everything up to `limit` becomes ready. */
static void
make_ready (FlamPerfQueue *queue, guint64 limit)
{
  GArray *waiting = queue->waiting;
  const Waiting *all;

  g_array_remove_range (waiting, 0, queue->at);
  queue->at = 0;
  leave_file (queue);
  if (waiting->len > 1)
    qsort (waiting->data, waiting->len, sizeof (Waiting), compare_waiting);
  all = (const Waiting *)(void *)waiting->data;
  queue->ready = 0;
  while (queue->ready < waiting->len && all[queue->ready].record.time <= limit)
    queue->ready++;
}

static void
add_waiting (FlamPerfQueue *queue, const FlamPerfRecord *record)
{
  Waiting waiting = { *record, queue->number++ };

  if (record->chunk)
    record->chunk->refs++;
  g_array_append_val (queue->waiting, waiting);
  queue->newest = MAX (queue->newest, record->time);
  if (queue->waiting->len >= MAX_WAITING ||
      queue->reader->n_chunks >= MAX_WAITING_CHUNKS)
    make_ready (queue, G_MAXUINT64);
}

static gboolean
hand_out (FlamPerfQueue *queue, FlamPerfRecord *record)
{
  if (queue->at >= queue->ready)
    return FALSE;
  *record = g_array_index (queue->waiting, Waiting, queue->at++).record;
  queue->last = *record;
  return TRUE;
}

gboolean
flam_perf_queue_next (FlamPerfQueue *queue, FlamPerfRecord *record)
{
  chunk_unref (queue->reader, queue->last.chunk);
  queue->last.chunk = NULL;
  while (!hand_out (queue, record))
    {
      if (queue->ended)
        return FALSE;
      if (!flam_perf_reader_next (queue->reader, record))
        {
          queue->ended = TRUE;
          make_ready (queue, G_MAXUINT64);
        }
      else if (record->type == FLAM_PERF_FINISHED_ROUND)
        {
          /* A part's records begin at the same time as the one's before. */
          if (queue->reader->file->parts->len > 0)
            continue;
          make_ready (queue, queue->flushed);
          queue->flushed = queue->newest;
        }
      else if (record->time)
        add_waiting (queue, record);
      else
        {
          if (record->chunk)
            record->chunk->refs++;
          queue->last = *record;
          return TRUE;
        }
    }
  return TRUE;
}
