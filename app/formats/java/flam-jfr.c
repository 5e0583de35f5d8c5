/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-jfr.h"

#include "flam-jfr-metadata.h"

#include <string.h>

#define HEADER 68
/* The limit of nested objects; the JDK's have four levels. */
#define MAX_DEPTH 16
#define STEPS_PER_BYTE 32

static gboolean
step (FlamJfrChunk *chunk, const guint8 *at)
{
  if (chunk->steps == 0)
    return flam_jfr_fail (chunk, at, N_ ("its objects are nested endlessly"));
  chunk->steps--;
  return TRUE;
}

/* --- objects ------------------------------------------------------------- */

static const FlamJfrClass *
class_at (const FlamJfrChunk *chunk, guint32 index)
{
  return index != FLAM_NONE
             ? &g_array_index (chunk->classes, FlamJfrClass, index)
             : NULL;
}

const FlamJfrClass *
flam_jfr_class (const FlamJfrChunk *chunk, guint64 id)
{
  return class_at (
      chunk,
      GPOINTER_TO_UINT (g_hash_table_lookup (chunk->class_index, &id)) - 1);
}

static gboolean read_fields (FlamJfrChunk *chunk,
                             const FlamJfrClass *class,
                             const guint8 **at,
                             const guint8 *end,
                             FlamJfrObject *object,
                             guint depth);

/* Reads one value of a class, which is not an array. */
static gboolean
read_value (FlamJfrChunk *chunk,
            const FlamJfrClass *class,
            const guint8 **at,
            const guint8 *end,
            guint64 *value,
            guint depth)
{
  const guint8 *start = *at;

  if (class == NULL)
    return flam_jfr_fail (chunk, start, N_ ("a field has an unknown class"));
  if (!step (chunk, start))
    return FALSE;
  switch (class->form)
    {
    case FLAM_JFR_BYTES_1:
      if (start < end)
        *value = *start;
      return flam_jfr_skip_bytes (at, end, 1);
    case FLAM_JFR_BYTES_4:
      return flam_jfr_skip_bytes (at, end, 4);
    case FLAM_JFR_BYTES_8:
      return flam_jfr_skip_bytes (at, end, 8);
    case FLAM_JFR_VARINT:
      return flam_jfr_varint (at, end, value);
    case FLAM_JFR_TEXT:
      *value = start - chunk->start;
      return flam_jfr_skip_text (at, end);
    default:
      return depth < MAX_DEPTH
                 ? read_fields (chunk, class, at, end, NULL, depth + 1)
                 : flam_jfr_fail (
                       chunk, start, N_ ("its objects are nested endlessly"));
    }
}

static gboolean
read_array (FlamJfrChunk *chunk,
            const FlamJfrField *field,
            const guint8 **at,
            const guint8 *end,
            guint64 *value,
            guint depth)
{
  guint64 n, element;

  *value = *at - chunk->start;
  if (!flam_jfr_varint (at, end, &n))
    return FALSE;
  for (; n > 0; n--)
    if (field->constant ? !flam_jfr_varint (at, end, &element)
                        : !read_value (chunk,
                                       class_at (chunk, field->class),
                                       at,
                                       end,
                                       &element,
                                       depth))
      return FALSE;
  return TRUE;
}

static gboolean
read_fields (FlamJfrChunk *chunk,
             const FlamJfrClass *class,
             const guint8 **at,
             const guint8 *end,
             FlamJfrObject *object,
             guint depth)
{
  for (guint i = 0; i < class->n; i++)
    {
      const FlamJfrField *field =
          &g_array_index (chunk->fields, FlamJfrField, class->first + i);
      guint64 value = 0;
      gboolean good;

      if (field->array)
        good = read_array (chunk, field, at, end, &value, depth);
      else if (field->constant)
        good = flam_jfr_varint (at, end, &value);
      else
        good = read_value (
            chunk, class_at (chunk, field->class), at, end, &value, depth);
      if (!good)
        return FALSE;
      if (object != NULL && field->role < FLAM_JFR_N_ROLES)
        object->value[field->role] = value;
    }
  return TRUE;
}

gboolean
flam_jfr_read_object (FlamJfrChunk *chunk,
                      const FlamJfrClass *class,
                      const guint8 **at,
                      const guint8 *end,
                      FlamJfrObject *object)
{
  memset (object, 0, sizeof *object);
  return step (chunk, *at) && read_fields (chunk, class, at, end, object, 0);
}

guint32
flam_jfr_frames (FlamJfrChunk *chunk,
                 guint64 place,
                 const guint8 **at,
                 const FlamJfrClass **class)
{
  const FlamJfrClass *stack =
      class_at (chunk, chunk->pools[FLAM_JFR_STACKS].class);
  guint64 n = 0;

  *at = chunk->start + place;
  *class = NULL;
  for (guint i = 0; stack != NULL && i < stack->n; i++)
    {
      const FlamJfrField *field =
          &g_array_index (chunk->fields, FlamJfrField, stack->first + i);
      if (field->role == FLAM_JFR_FRAMES && field->array && !field->constant)
        *class = class_at (chunk, field->class);
    }
  if (place == 0 || *class == NULL || (*class)->form != FLAM_JFR_OBJECT ||
      !flam_jfr_varint (at, chunk->end, &n))
    return 0;
  return MIN (n, (guint64)(chunk->end - *at));
}

/* --- constants ----------------------------------------------------------- */

gboolean
flam_jfr_read_constant (FlamJfrChunk *chunk,
                        FlamJfrPoolKind pool,
                        const FlamJfrConstant *constant,
                        FlamJfrObject *object)
{
  const FlamJfrClass *class = class_at (chunk, chunk->pools[pool].class);
  const guint8 *at = constant->at;

  return class != NULL &&
         flam_jfr_read_object (chunk, class, &at, chunk->end, object);
}

static FlamJfrPool *
pool_of (FlamJfrChunk *chunk, const FlamJfrClass *class)
{
  guint32 index = class - &g_array_index (chunk->classes, FlamJfrClass, 0);

  for (guint i = 0; i < FLAM_JFR_N_POOLS; i++)
    if (chunk->pools[i].class == index)
      return &chunk->pools[i];
  return NULL;
}

/* varint start, duration, offset of the one before; u8 flags; varint n, and n
 * times: varint class, varint m, and m times: varint key, object. */
static gboolean
read_checkpoint (FlamJfrChunk *chunk, const FlamJfrEvent *event)
{
  const guint8 *at = event->at;
  guint64 ignored, n, m, id, key, value;

  for (guint i = 0; i < 3; i++)
    if (!flam_jfr_varint (&at, event->end, &ignored))
      return FALSE;
  if (!flam_jfr_skip_bytes (&at, event->end, 1) ||
      !flam_jfr_varint (&at, event->end, &n))
    return FALSE;
  for (; n > 0; n--)
    {
      const FlamJfrClass *class;
      FlamJfrPool *pool;

      if (!flam_jfr_varint (&at, event->end, &id) ||
          !flam_jfr_varint (&at, event->end, &m))
        return FALSE;
      class = flam_jfr_class (chunk, id);
      if (class == NULL)
        return flam_jfr_fail (
            chunk, at, N_ ("constants have an unknown class"));
      for (pool = pool_of (chunk, class); m > 0; m--)
        {
          const guint8 *start;

          if (!flam_jfr_varint (&at, event->end, &key))
            return FALSE;
          start = at;
          if (!read_value (chunk, class, &at, event->end, &value, 0))
            return FALSE;
          if (pool != NULL)
            flam_jfr_add_constant (pool, key, start);
        }
    }
  return TRUE;
}

/* --- chunks -------------------------------------------------------------- */

const guint8 *
flam_jfr_first_event (const FlamJfrChunk *chunk)
{
  return chunk->start + HEADER;
}

gboolean
flam_jfr_next_event (FlamJfrChunk *chunk,
                     const guint8 **at,
                     FlamJfrEvent *event)
{
  const guint8 *start = *at;
  guint64 size;

  if (start == chunk->end)
    return FALSE;
  event->at = start;
  if (!flam_jfr_varint (&event->at, chunk->end, &size) ||
      size > (guint64)(chunk->end - start))
    {
      chunk->cut = TRUE;
      return FALSE;
    }
  if (size < (guint64)(event->at - start) + 1)
    return flam_jfr_fail (chunk, start, N_ ("an event has no size"));
  event->end = *at = start + size;
  return flam_jfr_varint (&event->at, event->end, &event->type) ||
         flam_jfr_fail (chunk, start, N_ ("an event has no type"));
}

static guint64
big_endian (const guint8 *at, guint size)
{
  guint64 value = 0;

  for (guint i = 0; i < size; i++)
    value = value << 8 | at[i];
  return value;
}

static gboolean
read_header (FlamJfrChunk *chunk, const guint8 *at)
{
  const guint8 *end = chunk->source->data + chunk->source->size;
  guint64 size;

  chunk->start = at;
  chunk->end = end;
  if (end - at < HEADER || memcmp (at, "FLR", 4) != 0)
    return flam_jfr_fail (
        chunk,
        at,
        N_ ("this is not the beginning of a flight recording's chunk"));
  if (big_endian (at + 4, 2) != 2)
    return flam_jfr_fail (
        chunk,
        at + 4,
        N_ ("this is a flight recording of a JDK before 11, which is not "
            "supported; the “jfr” of JDK 8 converts it only to text"));
  if ((big_endian (at + 64, 4) & 1) == 0)
    return flam_jfr_fail (chunk,
                          at + 64,
                          N_ ("this flight recording does not use compressed "
                              "integers, which is not supported"));
  size = big_endian (at + 8, 8);
  chunk->cut = size < HEADER || size > (guint64)(end - at);
  if (!chunk->cut)
    chunk->end = at + size;
  chunk->unix_ns = big_endian (at + 32, 8);
  chunk->ticks = big_endian (at + 48, 8);
  chunk->ticks_per_second = big_endian (at + 56, 8);
  if (chunk->ticks_per_second <= 0 || chunk->unix_ns < 0 ||
      chunk->unix_ns > G_MAXINT64 / 2)
    return flam_jfr_fail (chunk, at + 32, N_ ("its clock is damaged"));
  chunk->steps = (guint64)(chunk->end - at) * STEPS_PER_BYTE;
  return TRUE;
}

/* The last metadata is valid; the JDK writes it at the end, async-profiler
 * first. */
static gboolean
find_metadata (FlamJfrChunk *chunk)
{
  const guint8 *at = flam_jfr_first_event (chunk);
  FlamJfrEvent event, last = { .type = 1 };

  while (flam_jfr_next_event (chunk, &at, &event))
    if (event.type == 0)
      last = event;
  if (chunk->problem != NULL)
    return FALSE;
  if (last.type != 0)
    return flam_jfr_fail (
        chunk, at, N_ ("it ends before the metadata of its events"));
  return flam_jfr_read_metadata (chunk, &last) ||
         flam_jfr_fail (chunk, last.at, N_ ("its metadata is damaged"));
}

gboolean
flam_jfr_chunk_init (FlamJfrChunk *chunk,
                     const FlamLoad *load,
                     const guint8 *at)
{
  FlamJfrEvent event;

  *chunk = (FlamJfrChunk){ .source = load->source, .builder = load->builder };
  chunk->classes = g_array_new (FALSE, FALSE, sizeof (FlamJfrClass));
  chunk->fields = g_array_new (FALSE, FALSE, sizeof (FlamJfrField));
  chunk->class_index = g_hash_table_new (flam_hash_int64, g_int64_equal);
  for (guint i = 0; i < FLAM_JFR_N_POOLS; i++)
    {
      chunk->pools[i].class = FLAM_NONE;
      flam_interner_init (&chunk->pools[i].index);
      flam_column_init (&chunk->pools[i].constants, sizeof (FlamJfrConstant));
    }
  if (!read_header (chunk, at) || !find_metadata (chunk))
    return FALSE;
  at = flam_jfr_first_event (chunk);
  while (flam_jfr_next_event (chunk, &at, &event))
    if (event.type == 1 && !read_checkpoint (chunk, &event))
      return flam_jfr_fail (chunk, event.at, N_ ("its constants are damaged"));
  return chunk->problem == NULL;
}

void
flam_jfr_chunk_clear (FlamJfrChunk *chunk)
{
  for (guint i = 0; i < chunk->classes->len; i++)
    g_free (g_array_index (chunk->classes, FlamJfrClass, i).name);
  g_array_unref (chunk->classes);
  g_array_unref (chunk->fields);
  g_hash_table_unref (chunk->class_index);
  for (guint i = 0; i < FLAM_JFR_N_POOLS; i++)
    {
      flam_interner_clear (&chunk->pools[i].index);
      flam_column_clear (&chunk->pools[i].constants);
    }
}

gint64
flam_jfr_span (const FlamJfrChunk *chunk, guint64 ticks)
{
  __int128 ns = (__int128)(gint64)ticks * 1000000000 / chunk->ticks_per_second;

  return flam_builder_limit (
      chunk->builder, ns, -(G_MAXINT64 / 4), G_MAXINT64 / 4, NULL);
}

gint64
flam_jfr_time (const FlamJfrChunk *chunk, guint64 ticks)
{
  return chunk->unix_ns + flam_jfr_span (chunk, ticks - chunk->ticks);
}
