/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-jfr.h"

#include <string.h>

#define HEADER 68
/* Objects in objects; what the JDK writes has four levels. */
#define MAX_DEPTH 16
#define MAX_ELEMENTS 64 /* levels of the metadata's tree */
#define STEPS_PER_BYTE 32

/* Forms of values that are no objects. */
enum
{
  OBJECT,
  BYTES_1,
  BYTES_4,
  BYTES_8,
  VARINT,
  TEXT,
};

static const struct
{
  const char *name;
  guint form;
} plain[] = {
  { "boolean", BYTES_1 }, { "byte", BYTES_1 },   { "char", VARINT },
  { "short", VARINT },    { "int", VARINT },     { "long", VARINT },
  { "float", BYTES_4 },   { "double", BYTES_8 }, { "java.lang.String", TEXT },
};

static const struct
{
  const char *name;
  guint role;
} roles[] = {
  { "startTime", FLAM_JFR_START },
  { "duration", FLAM_JFR_DURATION },
  { "eventThread", FLAM_JFR_THREAD },
  { "sampledThread", FLAM_JFR_THREAD },
  { "stackTrace", FLAM_JFR_STACK },
  { "state", FLAM_JFR_STATE },
  { "objectClass", FLAM_JFR_OBJECT_CLASS },
  { "samples", FLAM_JFR_SAMPLES },
  { "weight", FLAM_JFR_WEIGHT },
  { "allocationSize", FLAM_JFR_ALLOCATION_SIZE },
  { "tlabSize", FLAM_JFR_TLAB_SIZE },
  { "size", FLAM_JFR_SIZE },
  { "address", FLAM_JFR_ADDRESS },
  { "samplingPeriod", FLAM_JFR_PERIOD },
  { "heapUsed", FLAM_JFR_HEAP_USED },
  { "truncated", FLAM_JFR_TRUNCATED },
  { "frames", FLAM_JFR_FRAMES },
  { "method", FLAM_JFR_METHOD },
  { "lineNumber", FLAM_JFR_LINE },
  { "type", FLAM_JFR_TYPE },
  { "name", FLAM_JFR_NAME },
  { "string", FLAM_JFR_STRING },
  { "description", FLAM_JFR_DESCRIPTION },
  { "descriptor", FLAM_JFR_DESCRIPTOR },
  { "osName", FLAM_JFR_OS_NAME },
  { "osThreadId", FLAM_JFR_OS_ID },
  { "javaName", FLAM_JFR_JAVA_NAME },
  { "javaThreadId", FLAM_JFR_JAVA_ID },
  { "javaArguments", FLAM_JFR_JAVA_ARGUMENTS },
  { "pid", FLAM_JFR_PID },
};

static const char *const pool_names[FLAM_JFR_N_POOLS] = {
  [FLAM_JFR_STACKS] = "jdk.types.StackTrace",
  [FLAM_JFR_METHODS] = "jdk.types.Method",
  [FLAM_JFR_CLASSES] = "java.lang.Class",
  [FLAM_JFR_SYMBOLS] = "jdk.types.Symbol",
  [FLAM_JFR_THREADS] = "java.lang.Thread",
  [FLAM_JFR_STATES] = "jdk.types.ThreadState",
  [FLAM_JFR_FRAME_TYPES] = "jdk.types.FrameType",
  [FLAM_JFR_STRINGS] = "java.lang.String",
};

static gboolean
fail (FlamJfrChunk *chunk, const guint8 *at, const char *problem)
{
  if (chunk->problem == NULL)
    {
      chunk->problem = problem;
      chunk->problem_at = at;
    }
  return FALSE;
}

static gboolean
step (FlamJfrChunk *chunk, const guint8 *at)
{
  if (chunk->steps == 0)
    return fail (chunk, at, "its objects have no end");
  chunk->steps--;
  return TRUE;
}

/* --- values -------------------------------------------------------------- */

gboolean
flam_jfr_varint (const guint8 **at, const guint8 *end, guint64 *value)
{
  guint64 result = 0;

  for (guint i = 0; *at < end; i++)
    {
      guint8 byte = *(*at)++;

      if (i == 8)
        {
          *value = result | (guint64)byte << 56;
          return TRUE;
        }
      result |= (guint64)(byte & 0x7f) << (7 * i);
      if (byte < 0x80)
        {
          *value = result;
          return TRUE;
        }
    }
  return FALSE;
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
skip_bytes (const guint8 **at, const guint8 *end, guint64 n)
{
  if ((guint64)(end - *at) < n)
    return FALSE;
  *at += n;
  return TRUE;
}

/* A byte says how it is written: 0 none, 1 empty, 2 a key of the constants, 3
 * UTF-8, 4 UTF-16 in varints, 5 Latin-1. */
static gboolean
skip_text (const guint8 **at, const guint8 *end)
{
  guint64 n;
  guint8 form;

  if (*at == end)
    return FALSE;
  form = *(*at)++;
  if (form < 2)
    return TRUE;
  if (form > 5 || !flam_jfr_varint (at, end, &n))
    return FALSE;
  if (form == 3 || form == 5)
    return skip_bytes (at, end, n);
  if (form == 4)
    for (guint64 unit; n > 0; n--)
      if (!flam_jfr_varint (at, end, &unit))
        return FALSE;
  return TRUE;
}

static char *
utf16_text (const guint8 *at, const guint8 *end, guint64 n)
{
  g_autoptr (GArray) units = g_array_new (FALSE, FALSE, sizeof (gunichar2));
  guint64 value;
  char *text;

  for (; n > 0 && flam_jfr_varint (&at, end, &value); n--)
    {
      gunichar2 unit = (gunichar2)value;
      g_array_append_val (units, unit);
    }
  if (units->len == 0) /* and no array either */
    return g_strdup ("");
  text = g_utf16_to_utf8 (
      (const gunichar2 *)units->data, units->len, NULL, NULL, NULL);
  return text != NULL ? text : g_strdup ("");
}

static char *
latin1_text (const guint8 *at, guint64 n)
{
  GString *text = g_string_sized_new (n);

  for (guint64 i = 0; i < n; i++)
    g_string_append_unichar (text, at[i]);
  return g_string_free (text, FALSE);
}

/* What skip_text() went over, so it is whole. */
static char *
decode_text (FlamJfrChunk *chunk, const guint8 *at, guint depth)
{
  guint8 form = *at++;
  const FlamJfrConstant *constant;
  guint64 n;

  if (form < 2)
    return form == 1 ? g_strdup ("") : NULL;
  flam_jfr_varint (&at, chunk->end, &n);
  if (form == 3)
    return g_strndup ((const char *)at, n);
  if (form == 4)
    return utf16_text (at, chunk->end, n);
  if (form == 5)
    return latin1_text (at, n);
  constant = depth == 0 ? flam_jfr_find (chunk, FLAM_JFR_STRINGS, n) : NULL;
  return constant != NULL ? decode_text (chunk, constant->at, 1) : NULL;
}

char *
flam_jfr_text (FlamJfrChunk *chunk, guint64 place)
{
  return place != 0 ? decode_text (chunk, chunk->start + place, 0) : NULL;
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

/* One value of a class, which is no array. */
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
    return fail (chunk, start, "a field is of a class that is not there");
  if (!step (chunk, start))
    return FALSE;
  switch (class->form)
    {
    case BYTES_1:
      if (start < end)
        *value = *start;
      return skip_bytes (at, end, 1);
    case BYTES_4:
      return skip_bytes (at, end, 4);
    case BYTES_8:
      return skip_bytes (at, end, 8);
    case VARINT:
      return flam_jfr_varint (at, end, value);
    case TEXT:
      *value = start - chunk->start;
      return skip_text (at, end);
    default:
      return depth < MAX_DEPTH
                 ? read_fields (chunk, class, at, end, NULL, depth + 1)
                 : fail (chunk, start, "its objects have no end");
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
  if (place == 0 || *class == NULL || (*class)->form != OBJECT ||
      !flam_jfr_varint (at, chunk->end, &n))
    return 0;
  return MIN (n, (guint64)(chunk->end - *at));
}

/* --- constants ----------------------------------------------------------- */

static gboolean
key_equal (gconstpointer table, FlamId row, gconstpointer key)
{
  return ((const FlamJfrConstant *)table)[row].key == *(const guint64 *)key;
}

static FlamSlot *
find_slot (FlamJfrPool *pool, guint64 key, guint32 *hash)
{
  *hash = flam_hash_pair (key, 0);
  return flam_interner_find (
      &pool->index, *hash, key_equal, pool->constants.data, &key);
}

FlamJfrConstant *
flam_jfr_find (FlamJfrChunk *chunk, FlamJfrPoolKind kind, guint64 key)
{
  FlamJfrPool *pool = &chunk->pools[kind];
  guint32 hash;
  FlamSlot *slot = find_slot (pool, key, &hash);

  return slot->id != FLAM_NONE
             ? &flam_column_at (&pool->constants, FlamJfrConstant, slot->id)
             : NULL;
}

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

static void
add_constant (FlamJfrPool *pool, guint64 key, const guint8 *at)
{
  FlamJfrConstant constant = { .key = key, .at = at, .made = FLAM_NONE };
  guint32 hash;
  FlamSlot *slot = find_slot (pool, key, &hash);

  if (slot->id != FLAM_NONE)
    return;
  *slot = (FlamSlot){ hash, pool->constants.n };
  pool->index.used++;
  flam_column_append (&pool->constants, FlamJfrConstant, constant);
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
  if (!skip_bytes (&at, event->end, 1) ||
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
        return fail (chunk, at, "constants are of a class that is not there");
      for (pool = pool_of (chunk, class); m > 0; m--)
        {
          const guint8 *start;

          if (!flam_jfr_varint (&at, event->end, &key))
            return FALSE;
          start = at;
          if (!read_value (chunk, class, &at, event->end, &value, 0))
            return FALSE;
          if (pool != NULL)
            add_constant (pool, key, start);
        }
    }
  return TRUE;
}

/* --- metadata ------------------------------------------------------------ */

typedef struct
{
  FlamJfrChunk *chunk;
  const guint8 *at, *end;
  GPtrArray *texts;
} Metadata;

static const char *
read_word (Metadata *metadata)
{
  guint64 index;

  if (!flam_jfr_varint (&metadata->at, metadata->end, &index) ||
      index >= metadata->texts->len)
    return NULL;
  return metadata->texts->pdata[index];
}

static gboolean
read_words (Metadata *metadata)
{
  guint64 n;

  if (!flam_jfr_varint (&metadata->at, metadata->end, &n))
    return FALSE;
  for (; n > 0; n--)
    {
      const guint8 *start = metadata->at;
      char *text;

      if (!skip_text (&metadata->at, metadata->end))
        return FALSE;
      text = decode_text (metadata->chunk, start, 1);
      g_ptr_array_add (metadata->texts, text != NULL ? text : g_strdup (""));
    }
  return TRUE;
}

static void
name_class (FlamJfrChunk *chunk, FlamJfrClass *class, const char *name)
{
  g_free (class->name);
  class->name = g_strdup (name);
  for (guint i = 0; i < G_N_ELEMENTS (plain); i++)
    if (strcmp (plain[i].name, name) == 0)
      class->form = plain[i].form;
  for (guint i = 0; i < FLAM_JFR_N_POOLS; i++)
    if (strcmp (pool_names[i], name) == 0)
      chunk->pools[i].class =
          class - &g_array_index (chunk->classes, FlamJfrClass, 0);
}

static void
name_field (FlamJfrField *field, const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (roles); i++)
    if (strcmp (roles[i].name, name) == 0)
      field->role = roles[i].role;
}

/* Its attributes: texts in pairs. */
static gboolean
read_element (Metadata *metadata, guint64 *children)
{
  FlamJfrChunk *chunk = metadata->chunk;
  const char *word = read_word (metadata);
  FlamJfrClass *class = NULL;
  FlamJfrField *field = NULL;
  guint64 n;

  if (word == NULL || !flam_jfr_varint (&metadata->at, metadata->end, &n))
    return FALSE;
  if (strcmp (word, "class") == 0)
    {
      FlamJfrClass new = { .first = chunk->fields->len };
      g_array_append_val (chunk->classes, new);
      class = &g_array_index (
          chunk->classes, FlamJfrClass, chunk->classes->len - 1);
    }
  else if (strcmp (word, "field") == 0 && chunk->classes->len > 0)
    {
      FlamJfrField new = { .class = FLAM_NONE, .role = FLAM_JFR_N_ROLES };
      g_array_append_val (chunk->fields, new);
      field =
          &g_array_index (chunk->fields, FlamJfrField, chunk->fields->len - 1);
      g_array_index (chunk->classes, FlamJfrClass, chunk->classes->len - 1).n++;
    }
  for (; n > 0; n--)
    {
      const char *key = read_word (metadata);
      const char *value = read_word (metadata);

      if (key == NULL || value == NULL)
        return FALSE;
      if (class != NULL && strcmp (key, "id") == 0)
        class->id = g_ascii_strtoull (value, NULL, 10);
      else if (class != NULL && strcmp (key, "name") == 0)
        name_class (chunk, class, value);
      else if (field != NULL && strcmp (key, "name") == 0)
        name_field (field, value);
      else if (field != NULL && strcmp (key, "class") == 0)
        field->type = g_ascii_strtoull (value, NULL, 10);
      else if (field != NULL && strcmp (key, "constantPool") == 0)
        field->constant = strcmp (value, "true") == 0;
      else if (field != NULL && strcmp (key, "dimension") == 0)
        field->array = strcmp (value, "1") == 0;
    }
  return flam_jfr_varint (&metadata->at, metadata->end, children);
}

static void
link_classes (FlamJfrChunk *chunk)
{
  for (guint i = 0; i < chunk->classes->len; i++)
    {
      FlamJfrClass *class = &g_array_index (chunk->classes, FlamJfrClass, i);
      if (class->name != NULL)
        g_hash_table_insert (
            chunk->class_index, &class->id, GUINT_TO_POINTER (i + 1));
    }
  for (guint i = 0; i < chunk->fields->len; i++)
    {
      FlamJfrField *field = &g_array_index (chunk->fields, FlamJfrField, i);
      field->class = GPOINTER_TO_UINT (g_hash_table_lookup (chunk->class_index,
                                                            &field->type)) -
                     1;
    }
}

/* varint start, duration, id; varint n, n texts; an element: varint name;
 * varint n, n pairs of texts; varint m, m elements. */
static gboolean
read_metadata (FlamJfrChunk *chunk, const FlamJfrEvent *event)
{
  g_autoptr (GPtrArray) texts = g_ptr_array_new_with_free_func (g_free);
  Metadata metadata = { chunk, event->at, event->end, texts };
  guint64 left[MAX_ELEMENTS] = { 1 };
  guint64 ignored;
  guint depth = 0;

  for (guint i = 0; i < 3; i++)
    if (!flam_jfr_varint (&metadata.at, metadata.end, &ignored))
      return FALSE;
  if (!read_words (&metadata))
    return FALSE;
  while (depth > 0 || left[0] > 0)
    if (left[depth] == 0)
      depth--;
    else
      {
        left[depth]--;
        if (depth + 1 == MAX_ELEMENTS ||
            !read_element (&metadata, &left[depth + 1]))
          return fail (chunk, metadata.at, "its metadata makes no sense");
        depth++;
      }
  link_classes (chunk);
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
    return fail (chunk, start, "an event has no size");
  event->end = *at = start + size;
  return flam_jfr_varint (&event->at, event->end, &event->type) ||
         fail (chunk, start, "an event has no type");
}

static gboolean
read_header (FlamJfrChunk *chunk, const guint8 *at)
{
  const guint8 *end = chunk->source->data + chunk->source->size;
  guint64 size;

  chunk->start = at;
  chunk->end = end;
  if (end - at < HEADER || memcmp (at, "FLR", 4) != 0)
    return fail (chunk, at, "no chunk of a flight recording begins here");
  if (big_endian (at + 4, 2) != 2)
    return fail (chunk,
                 at + 4,
                 "a flight recording of a JDK before 11; \"jfr\" of JDK 8 "
                 "converts it to text alone");
  if ((big_endian (at + 64, 4) & 1) == 0)
    return fail (chunk, at + 64, "a flight recording without varints");
  size = big_endian (at + 8, 8);
  chunk->cut = size < HEADER || size > (guint64)(end - at);
  if (!chunk->cut)
    chunk->end = at + size;
  chunk->unix_ns = big_endian (at + 32, 8);
  chunk->ticks = big_endian (at + 48, 8);
  chunk->ticks_per_second = big_endian (at + 56, 8);
  if (chunk->ticks_per_second <= 0 || chunk->unix_ns < 0 ||
      chunk->unix_ns > G_MAXINT64 / 2)
    return fail (chunk, at + 32, "its clock makes no sense");
  chunk->steps = (guint64)(chunk->end - at) * STEPS_PER_BYTE;
  return TRUE;
}

/* The last metadata holds; the JDK writes it at the end, async-profiler first.
 */
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
    return fail (chunk, at, "it ends before what its events mean");
  return read_metadata (chunk, &last) ||
         fail (chunk, last.at, "its metadata makes no sense");
}

gboolean
flam_jfr_chunk_init (FlamJfrChunk *chunk,
                     const FlamSource *source,
                     const guint8 *at)
{
  FlamJfrEvent event;

  *chunk = (FlamJfrChunk){ .source = source };
  chunk->classes = g_array_new (FALSE, FALSE, sizeof (FlamJfrClass));
  chunk->fields = g_array_new (FALSE, FALSE, sizeof (FlamJfrField));
  chunk->class_index = g_hash_table_new (g_int64_hash, g_int64_equal);
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
      return fail (chunk, event.at, "its constants make no sense");
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

  return CLAMP (ns, -(G_MAXINT64 / 4), G_MAXINT64 / 4);
}

gint64
flam_jfr_time (const FlamJfrChunk *chunk, guint64 ticks)
{
  return chunk->unix_ns + flam_jfr_span (chunk, ticks - chunk->ticks);
}
