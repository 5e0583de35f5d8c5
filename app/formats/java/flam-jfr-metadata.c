/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-jfr-metadata.h"

#include <string.h>

#define MAX_ELEMENTS 64 /* levels of the tree */

static const struct
{
  const char *name;
  guint form;
} plain[] = {
  { "boolean", FLAM_JFR_BYTES_1 },
  { "byte", FLAM_JFR_BYTES_1 },
  { "char", FLAM_JFR_VARINT },
  { "short", FLAM_JFR_VARINT },
  { "int", FLAM_JFR_VARINT },
  { "long", FLAM_JFR_VARINT },
  { "float", FLAM_JFR_BYTES_4 },
  { "double", FLAM_JFR_BYTES_8 },
  { "java.lang.String", FLAM_JFR_TEXT },
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

      if (!flam_jfr_skip_text (&metadata->at, metadata->end))
        return FALSE;
      text = flam_jfr_decode_text (metadata->chunk, start, 1);
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
gboolean
flam_jfr_read_metadata (FlamJfrChunk *chunk, const FlamJfrEvent *event)
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
          return flam_jfr_fail (
              chunk, metadata.at, N_ ("its metadata is damaged"));
        depth++;
      }
  link_classes (chunk);
  return TRUE;
}
