/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-ctf-stream.h"

#include "flam-bytes.h"

#include <string.h>

#define MAGIC 0xc1fc1fc1
#define NS G_GINT64_CONSTANT (1000000000)
/* Of one event: descriptions can nest fields that take no space. */
#define MOST_STEPS (1 << 20)

/* --- fields -------------------------------------------------------------- */

static gboolean
decode (FlamCtfReader *reader, const FlamCtfType *type, guint32 name);

static gboolean
align (FlamCtfReader *reader, guint bits)
{
  reader->at = (reader->at + bits - 1) & ~(guint64)(bits - 1);
  return reader->at <= reader->end;
}

static guint64
get_bits (const FlamCtfReader *reader, guint size, gboolean big)
{
  const guint8 *data = reader->source->data;
  guint64 value = 0, at = reader->at;

  if (at % 8 == 0 && size % 8 == 0)
    {
      if (!big)
        return flam_bytes_get (data + at / 8, size / 8);
      for (guint i = 0; i < size / 8; i++)
        value = value << 8 | data[at / 8 + i];
      return value;
    }
  for (guint i = 0; i < size; i++, at++)
    if (big)
      value = value << 1 | (data[at / 8] >> (7 - at % 8) & 1);
    else
      value |= (guint64)(data[at / 8] >> at % 8 & 1) << i;
  return value;
}

/* A clock with fewer than 64 bits goes on from the time before. */
static void
set_clock (FlamCtfReader *reader, const FlamCtfType *type, guint64 value)
{
  reader->clock = type->clock;
  if (type->size < 64)
    {
      guint64 round = G_GUINT64_CONSTANT (1) << type->size;
      guint64 ticks = (reader->ticks & ~(round - 1)) | value;

      reader->ticks = ticks < reader->ticks ? ticks + round : ticks;
    }
  else
    reader->ticks = value;
}

static void
add_value (FlamCtfReader *reader, const FlamCtfValue *value)
{
  if (value->name != 0)
    g_array_append_vals (reader->values, value, 1);
}

static gboolean
is_big (const FlamCtfReader *reader, const FlamCtfType *type)
{
  return type->order == FLAM_CTF_NATIVE ? reader->ctf->big_endian
                                        : type->order == FLAM_CTF_BIG;
}

static gboolean
decode_integer (FlamCtfReader *reader, const FlamCtfType *type, guint32 name)
{
  FlamCtfValue value = { .name = name, .type = type };

  if (reader->end - reader->at < type->size)
    return FALSE;
  value.number = get_bits (reader, type->size, is_big (reader, type));
  reader->at += type->size;
  if (type->clock != NULL)
    set_clock (reader, type, value.number);
  if (type->is_signed && type->size < 64 &&
      (value.number >> (type->size - 1) & 1) != 0)
    value.number |= ~(guint64)0 << type->size;
  add_value (reader, &value);
  return TRUE;
}

static gboolean
decode_string (FlamCtfReader *reader, guint32 name)
{
  FlamCtfValue value = { .name = name };
  const guint8 *end;
  gsize left = (reader->end - reader->at) / 8;

  value.data = reader->source->data + reader->at / 8;
  end = left > 0 ? memchr (value.data, 0, left) : NULL;
  if (end == NULL)
    return FALSE;
  value.length = end - value.data;
  reader->at += (value.length + 1) * 8;
  add_value (reader, &value);
  return TRUE;
}

/* Whether the label of a selector's value is that of a field. */
static const FlamCtfField *
selected (const FlamCtfType *variant, const FlamCtfValue *tag)
{
  const GArray *labels = tag->type != NULL ? tag->type->labels : NULL;

  for (guint i = 0; labels != NULL && i < labels->len; i++)
    {
      const FlamCtfLabel *label = &g_array_index (labels, FlamCtfLabel, i);

      if (tag->type->is_signed
              ? (gint64)tag->number < (gint64)label->from ||
                    (gint64)tag->number > (gint64)label->to
              : tag->number < label->from || tag->number > label->to)
        continue;
      for (guint k = 0; k < variant->fields->len; k++)
        {
          const FlamCtfField *field =
              &g_array_index (variant->fields, FlamCtfField, k);

          if (field->name == label->name)
            return field;
        }
    }
  return NULL;
}

static gboolean
decode_variant (FlamCtfReader *reader, const FlamCtfType *type)
{
  const FlamCtfValue *tag = flam_ctf_reader_value (reader, type->tag);
  const FlamCtfField *field = tag != NULL ? selected (type, tag) : NULL;

  return field != NULL && decode (reader, field->type, field->name);
}

static gboolean
decode_array (FlamCtfReader *reader, const FlamCtfType *type, guint32 name)
{
  const FlamCtfType *element = type->element;
  guint64 n = type->n;

  if (type->n_name != 0 && !flam_ctf_reader_number (reader, type->n_name, &n))
    return FALSE;
  if (element->kind == FLAM_CTF_INTEGER && element->size == 8 &&
      reader->at % 8 == 0 && element->clock == NULL)
    {
      FlamCtfValue value = { .name = name };

      if (n > (reader->end - reader->at) / 8)
        return FALSE;
      value.data = reader->source->data + reader->at / 8;
      value.length = n;
      reader->at += n * 8;
      add_value (reader, &value);
      return TRUE;
    }
  for (guint64 i = 0; i < n; i++)
    {
      guint64 before = reader->at;

      if (!decode (reader, element, 0))
        return FALSE;
      /* The others take no space either. */
      if (reader->at == before)
        break;
    }
  return TRUE;
}

static gboolean
decode (FlamCtfReader *reader, const FlamCtfType *type, guint32 name)
{
  if (++reader->steps > MOST_STEPS || !align (reader, type->align))
    return FALSE;
  switch (type->kind)
    {
    case FLAM_CTF_INTEGER:
      return decode_integer (reader, type, name);
    case FLAM_CTF_FLOAT:
      if (reader->end - reader->at < type->size)
        return FALSE;
      reader->at += type->size;
      return TRUE;
    case FLAM_CTF_STRING:
      return decode_string (reader, name);
    case FLAM_CTF_STRUCT:
      for (guint i = 0; i < type->fields->len; i++)
        {
          const FlamCtfField *field =
              &g_array_index (type->fields, FlamCtfField, i);

          if (!decode (reader, field->type, field->name))
            return FALSE;
        }
      return TRUE;
    case FLAM_CTF_VARIANT:
      return decode_variant (reader, type);
    case FLAM_CTF_ARRAY:
      return decode_array (reader, type, name);
    }
  return FALSE;
}

const FlamCtfValue *
flam_ctf_reader_value (const FlamCtfReader *reader, guint32 name)
{
  for (guint i = reader->values->len; i-- > 0;)
    {
      const FlamCtfValue *value =
          &g_array_index (reader->values, FlamCtfValue, i);

      if (value->name == name)
        return value;
    }
  return NULL;
}

gboolean
flam_ctf_reader_number (const FlamCtfReader *reader,
                        guint32 name,
                        guint64 *number)
{
  const FlamCtfValue *value = flam_ctf_reader_value (reader, name);

  if (value == NULL || value->type == NULL)
    return FALSE;
  *number = value->number;
  return TRUE;
}

/* --- events -------------------------------------------------------------- */

static gint64
time_of (const FlamCtfClock *clock, guint64 ticks)
{
  __int128 time = (__int128)clock->offset + ticks;

  if (clock->frequency != NS)
    time = time * NS / clock->frequency;
  time += (__int128)clock->seconds * NS;
  return (gint64)CLAMP (time, 0, (__int128)G_MAXINT64 / 2);
}

static void
select_stream (FlamCtfReader *reader, const FlamCtfStream *stream)
{
  if (reader->stream == stream)
    return;
  reader->stream = stream;
  g_hash_table_remove_all (reader->kinds);
  for (guint i = 0; i < reader->ctf->events->len; i++)
    {
      FlamCtfEvent *event = reader->ctf->events->pdata[i];

      if (event->stream == stream->id && event->id < G_MAXUINT32)
        g_hash_table_insert (
            reader->kinds, GUINT_TO_POINTER ((guint)event->id), event);
    }
}

/* FALSE: damaged, or stopped. */
static gboolean
read_event (FlamCtfReader *reader, gboolean *stopped)
{
  const FlamCtfStream *stream = reader->stream;
  const FlamCtfEvent *event;
  guint64 id = 0;

  reader->steps = 0;
  if (stream->event_header != NULL && !decode (reader, stream->event_header, 0))
    return FALSE;
  flam_ctf_reader_number (reader, reader->id, &id);
  if (id >= G_MAXUINT32)
    return FALSE;
  event = g_hash_table_lookup (reader->kinds, GUINT_TO_POINTER ((guint)id));
  if (event == NULL ||
      (stream->event_context != NULL &&
       !decode (reader, stream->event_context, 0)) ||
      (event->context != NULL && !decode (reader, event->context, 0)) ||
      (event->fields != NULL && !decode (reader, event->fields, 0)))
    return FALSE;
  if (reader->clock != NULL)
    reader->time = time_of (reader->clock, reader->ticks);
  *stopped = !reader->event (reader, event, reader->data);
  return !*stopped;
}

/* The head of the packet at `reader->at`; its last bit is `*packet_end`. */
static gboolean
read_packet_head (FlamCtfReader *reader, guint64 *packet_end)
{
  const FlamCtf *ctf = reader->ctf;
  const FlamCtfStream *stream;
  guint64 start = reader->at, whole = reader->end;
  guint64 magic = MAGIC, id = 0, size = whole - start, content, cpu, begin;

  g_array_set_size (reader->values, 0);
  reader->steps = 0;
  if (ctf->packet_header != NULL && !decode (reader, ctf->packet_header, 0))
    return FALSE;
  flam_ctf_reader_number (reader, reader->magic, &magic);
  if (!flam_ctf_reader_number (reader, reader->stream_id, &id) &&
      ctf->streams->len == 1)
    id = ((FlamCtfStream *)ctf->streams->pdata[0])->id;
  stream = flam_ctf_stream (ctf, id);
  if (magic != MAGIC || stream == NULL)
    return FALSE;
  select_stream (reader, stream);
  if (stream->packet_context != NULL &&
      !decode (reader, stream->packet_context, 0))
    return FALSE;
  flam_ctf_reader_number (reader, reader->packet_size, &size);
  content = size;
  flam_ctf_reader_number (reader, reader->content_size, &content);
  if (flam_ctf_reader_number (reader, reader->begin, &begin))
    reader->ticks = begin;
  reader->cpu = flam_ctf_reader_number (reader, reader->cpu_id, &cpu)
                    ? (guint32)cpu
                    : FLAM_NONE;
  flam_ctf_reader_number (reader, reader->events_discarded, &reader->discarded);
  if (size == 0 || content > size || size > whole - start ||
      start + content < reader->at)
    return FALSE;
  reader->end = start + content;
  *packet_end = start + size;
  return TRUE;
}

gboolean
flam_ctf_reader_read (FlamCtfReader *reader, const FlamSource *source)
{
  guint64 whole = MIN (source->size, G_MAXUINT64 / 16) * 8, packet_end;
  gboolean stopped = FALSE;

  reader->source = source;
  reader->at = 0;
  reader->ticks = reader->discarded = 0;
  reader->damaged = FALSE;
  reader->clock = NULL;
  reader->stream = NULL;
  while (reader->at < whole)
    {
      guint head;

      reader->offset = reader->at / 8;
      reader->end = whole;
      if (!read_packet_head (reader, &packet_end))
        {
          reader->damaged = TRUE;
          return TRUE;
        }
      head = reader->values->len;
      while (reader->at < reader->end)
        {
          guint64 before = reader->at;

          g_array_set_size (reader->values, head);
          if (!read_event (reader, &stopped) || reader->at == before)
            {
              if (stopped)
                return FALSE;
              /* The next packet can be read. */
              reader->offset = before / 8;
              reader->damaged = TRUE;
              break;
            }
        }
      reader->at = packet_end;
    }
  return TRUE;
}

void
flam_ctf_reader_init (FlamCtfReader *reader, FlamCtf *ctf)
{
  FlamLoad *load = ctf->load;

  *reader = (FlamCtfReader){ .ctf = ctf, .cpu = FLAM_NONE };
  reader->values = flam_arena_array (load, FlamCtfValue);
  reader->kinds = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
#define NAME(text) flam_ctf_name (ctf, text, strlen (text))
  reader->id = NAME ("id");
  reader->magic = NAME ("magic");
  reader->stream_id = NAME ("stream_id");
  reader->content_size = NAME ("content_size");
  reader->packet_size = NAME ("packet_size");
  reader->begin = NAME ("timestamp_begin");
  reader->cpu_id = NAME ("cpu_id");
  reader->events_discarded = NAME ("events_discarded");
#undef NAME
}
