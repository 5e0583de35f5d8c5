/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dotnet-layout.h"

#include <string.h>

/* The same in all versions. */
#define COMMON                                                                 \
  .heap_base = 0x20, .heap_map = 0x28, .header_method = 0x18,                  \
  .header_count = 0x20, .header_infos = 0x24, .chunk_size = 0x18,              \
  .chunk_range = 0x12, .table_module = 0x18
#define LIST                                                                   \
  .section_next = 0x18, .section_flags = 0x28, .section_module = 0x30,         \
  .section_heap = 0x30
#define TREE                                                                   \
  .tree = true, .section_flags = 0x10, .section_module = 0x20,                 \
  .section_heap = 0x28

static const FlamDotnetLayout layouts[] = {
  { .version = 3,
    .offsets = true,
    .token_bits = 14,
    .module_name = 0x8,
    .dynamic_name = 0x18,
    COMMON,
    LIST },
  { .version = 6,
    .offsets = true,
    .token_bits = 14,
    .module_name = 0x8,
    .dynamic_name = 0x18,
    COMMON,
    LIST },
  { .version = 7,
    .token_bits = 13,
    .module_name = 0x100,
    .dynamic_name = 0x18,
    COMMON,
    LIST },
  { .version = 8,
    .token_bits = 12,
    .module_name = 0x108,
    .dynamic_name = 0x18,
    COMMON,
    TREE },
  { .version = 9,
    .token_bits = 12,
    .module_name = 0x108,
    .dynamic_name = 0x20,
    COMMON,
    TREE },
  { .version = 10,
    .far_starts = true,
    .token_bits = 12,
    .dynamic_name = 0x20,
    COMMON,
    TREE },
};

gboolean
flam_dotnet_layout_init (FlamDotnetLayout *layout, guint32 version)
{
  for (guint i = 0; i < G_N_ELEMENTS (layouts); i++)
    if (layouts[i].version == version)
      {
        *layout = layouts[i];
        return TRUE;
      }
  return FALSE;
}

/* --- the descriptor ------------------------------------------------------ */

#define DEPTH_MAX 16
#define OFFSET_MAX 0x4000

typedef struct
{
  const char *at;
  const char *end;
} Json;

static gboolean
next_is (Json *json, char c)
{
  while (json->at < json->end && g_ascii_isspace (*json->at))
    json->at++;
  if (json->at == json->end || *json->at != c)
    return FALSE;
  json->at++;
  return TRUE;
}

/* Of a text without escapes: names and numbers have none. */
static gboolean
read_text (Json *json, const char **text, gsize *size)
{
  const char *end;

  if (!next_is (json, '"'))
    return FALSE;
  end = memchr (json->at, '"', (gsize)(json->end - json->at));
  if (end == NULL || memchr (json->at, '\\', (gsize)(end - json->at)) != NULL)
    return FALSE;
  *text = json->at;
  *size = (gsize)(end - json->at);
  json->at = end + 1;
  return TRUE;
}

static gboolean
skip (Json *json)
{
  guint depth = 0;
  const char *text;
  gsize size;

  do
    {
      if (next_is (json, '{') || next_is (json, '['))
        depth++;
      else if (next_is (json, '}') || next_is (json, ']'))
        depth--;
      else if (next_is (json, ',') || next_is (json, ':'))
        continue;
      else if (json->at < json->end && *json->at == '"')
        {
          if (!read_text (json, &text, &size))
            return FALSE;
        }
      else
        {
          const char *from = json->at;

          while (json->at < json->end && (g_ascii_isalnum (*json->at) ||
                                          strchr ("+-.", *json->at) != NULL))
            json->at++;
          if (json->at == from)
            return FALSE;
        }
    }
  while (depth > 0 && depth < DEPTH_MAX);
  return depth == 0;
}

/* To the value of a member of the object that starts here. */
static gboolean
enter (Json *json, const char *name)
{
  const char *text;
  gsize size;

  if (!next_is (json, '{'))
    return FALSE;
  do
    {
      if (!read_text (json, &text, &size) || !next_is (json, ':'))
        return FALSE;
      if (size == strlen (name) && memcmp (text, name, size) == 0)
        return TRUE;
      if (!skip (json))
        return FALSE;
    }
  while (next_is (json, ','));
  return FALSE;
}

/* 224, "0xc", or one of these as the first of an array. */
static gboolean
read_number (Json json, guint64 max, guint64 *number)
{
  char digits[20] = "";
  const char *text;
  gsize size;
  char *end;

  next_is (&json, '[');
  if (!read_text (&json, &text, &size))
    {
      text = json.at;
      while (json.at < json.end && g_ascii_isdigit (*json.at))
        json.at++;
      size = (gsize)(json.at - text);
    }
  if (size == 0 || size >= sizeof digits)
    return FALSE;
  memcpy (digits, text, size);
  *number = g_ascii_strtoull (digits, &end, 0);
  return *end == '\0' && *number <= max;
}

static gboolean
get (Json json,
     const char *part,
     const char *type,
     const char *member,
     guint64 max,
     guint64 *number)
{
  return enter (&json, part) && enter (&json, type) &&
         (member == NULL || enter (&json, member)) &&
         read_number (json, max, number);
}

gboolean
flam_dotnet_layout_describe (FlamDotnetLayout *layout,
                             const char *json,
                             gsize size)
{
  /* `from`: the version from which it is in the descriptor. */
  const struct
  {
    const char *type;
    const char *member;
    guint16 *offset;
    guint32 from;
  } members[] = {
    { "RangeSection", "Flags", &layout->section_flags, 10 },
    { "RangeSection", "R2RModule", &layout->section_module, 10 },
    { "RangeSection", "HeapList", &layout->section_heap, 10 },
    { "CodeHeapListNode", "MapBase", &layout->heap_base, 10 },
    { "CodeHeapListNode", "HeaderMap", &layout->heap_map, 10 },
    { "RealCodeHeader", "MethodDesc", &layout->header_method, 10 },
    { "RealCodeHeader", "NumUnwindInfos", &layout->header_count, 10 },
    { "RealCodeHeader", "UnwindInfos", &layout->header_infos, 10 },
    { "MethodDescChunk", "!", &layout->chunk_size, 9 },
    { "MethodDescChunk", "FlagsAndTokenRange", &layout->chunk_range, 9 },
    { "MethodTable", "Module", &layout->table_module, 9 },
    { "Module", "Base", &layout->module_base, 9 },
    { "DynamicMethodDesc", "MethodName", &layout->dynamic_name, 9 },
  };
  const Json start = { json, json + size };
  guint64 number;

  for (guint i = 0; i < G_N_ELEMENTS (members); i++)
    if (get (start,
             "types",
             members[i].type,
             members[i].member,
             OFFSET_MAX,
             &number))
      *members[i].offset = (guint16)number;
    else if (layout->version >= members[i].from)
      return FALSE;
  if (!get (start,
            "globals",
            "MethodDescTokenRemainderBitCount",
            NULL,
            16,
            &number) ||
      number == 0)
    return FALSE;
  layout->token_bits = (guint16)number;
  if (layout->version < 10)
    return TRUE;
  if (!get (start, "contracts", "ExecutionManager", NULL, 2, &number))
    return FALSE;
  layout->far_starts = number == 2;
  return TRUE;
}
