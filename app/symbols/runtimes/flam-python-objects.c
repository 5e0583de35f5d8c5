/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-python-objects.h"

#include <string.h>

#define ITEMS_MAX 65536
#define BLOCK 64 /* items that are read at once */

#define V3_11 0x030b0000u
#define V3_12 0x030c0000u
#define V3_13 0x030d0000u

/* Of objects. */
#define TYPE 8
#define SIZE 16 /* the length of a text; the sign and size of a number */
#define DIGITS 24
#define MODULE_DICT 16
#define DICT_KEYS 32
#define DICT_VALUES 40
/* Of types. */
#define TYPE_SIZE 32
#define TYPE_FLAGS 168
#define TYPE_DICT_OFFSET 288
#define INLINE_VALUES (1u << 2)
#define MANAGED_DICT (1u << 4)

bool
flam_python_read_limited (void *data, uint64_t address, void *to, size_t size)
{
  FlamPythonLimit *limit = data;

  if (limit->left == 0)
    return false;
  limit->left--;
  return flam_runtime_read (limit->memory, address, to, size);
}

uint64_t
flam_python_word (const FlamPythonReader *reader, uint64_t address)
{
  uint64_t value;

  return flam_runtime_read_u64 (reader->memory, address, &value) ? value : 0;
}

/* Before the first value. */
static uint64_t
values_head (const FlamPythonReader *reader)
{
  return reader->layout->version >= V3_13 ? 8 : 0;
}

FlamPythonItems
flam_python_dict (const FlamPythonReader *reader, uint64_t dict)
{
  FlamPythonItems items = { 0 };
  uint64_t values;

  if (dict == 0)
    return items;
  items.keys = flam_python_word (reader, dict + DICT_KEYS);
  values = flam_python_word (reader, dict + DICT_VALUES);
  if (values != 0)
    items.values = values + values_head (reader);
  return items;
}

/* Since 3.11 the words before an object hold its values or its dictionary; in
 * 3.12 they share a word, and a bit distinguishes them; in 3.13 the values
 * follow the object. */
FlamPythonItems
flam_python_attributes (const FlamPythonReader *reader, uint64_t object)
{
  uint64_t type = flam_python_word (reader, object + TYPE);
  uint64_t flags = type != 0 ? flam_python_word (reader, type + TYPE_FLAGS) : 0;
  uint32_t version = reader->layout->version;
  uint64_t keys, dict, values = 0;

  if (type == 0)
    return (FlamPythonItems){ 0 };
  if (version < V3_11 || !(flags & MANAGED_DICT))
    {
      uint64_t offset = flam_python_word (reader, type + TYPE_DICT_OFFSET);

      return offset > 0 && offset < UINT16_MAX
                 ? flam_python_dict (reader,
                                     flam_python_word (reader, object + offset))
                 : (FlamPythonItems){ 0 };
    }
  keys = flam_python_word (reader, type + reader->layout->type_keys);
  dict = flam_python_word (reader, object - 24);
  if (version < V3_12)
    values = flam_python_word (reader, object - 32);
  else if (version < V3_13 && dict & 1)
    values = dict + 1;
  else if (version >= V3_13 && dict == 0 && flags & INLINE_VALUES)
    values = object + flam_python_word (reader, type + TYPE_SIZE) +
             values_head (reader);
  return values != 0 ? (FlamPythonItems){ keys, values }
                     : flam_python_dict (reader, dict);
}

typedef struct
{
  uint64_t first;
  uint64_t n;
  unsigned size; /* of one */
  unsigned key;  /* where its key is; its value follows */
} Entries;

static bool
find_entries (const FlamPythonReader *reader, uint64_t keys, Entries *entries)
{
  uint8_t head[40];

  if (keys == 0 || !flam_runtime_read (reader->memory, keys, head, sizeof head))
    return false;
  *entries = (Entries){ .size = 24, .key = 8 };
  if (reader->layout->version >= V3_11)
    {
      uint8_t log2_size = head[9], kind = head[10];

      if (log2_size > 32 || kind > 2)
        return false;
      entries->first = keys + 32 + (1ull << log2_size);
      entries->n = flam_runtime_u64 (head, 24);
      if (kind > 0)
        entries->size = 16, entries->key = 0;
    }
  else
    {
      uint64_t size = flam_runtime_u64 (head, 8);
      unsigned width = size <= UINT8_MAX ? 1 : size <= UINT16_MAX ? 2 : 4;

      if (size > UINT32_MAX)
        return false;
      entries->first = keys + 40 + size * width;
      entries->n = flam_runtime_u64 (head, 32);
    }
  return entries->n <= ITEMS_MAX;
}

void
flam_python_for_each (const FlamPythonReader *reader,
                      FlamPythonItems items,
                      FlamPythonVisit visit,
                      void *data)
{
  uint8_t block[BLOCK * 24];
  Entries entries;

  if (!find_entries (reader, items.keys, &entries))
    return;
  for (uint64_t i = 0; i < entries.n; i++)
    {
      uint64_t at = i % BLOCK * entries.size + entries.key;
      uint64_t left = entries.n - i < BLOCK ? entries.n - i : BLOCK;
      uint64_t key, value;

      if (i % BLOCK == 0 &&
          !flam_runtime_read (reader->memory,
                              entries.first + i * entries.size,
                              block,
                              left * entries.size))
        return;
      key = flam_runtime_u64 (block, at);
      value = items.values != 0
                  ? flam_python_word (reader, items.values + 8 * i)
                  : flam_runtime_u64 (block, at + 8);
      if (key != 0 && value != 0 && !visit (data, key, value))
        return;
    }
}

static bool
is_text (const FlamPythonReader *reader, uint64_t object, const char *wanted)
{
  char text[32];

  return flam_python_word (reader, object + SIZE) == strlen (wanted) &&
         flam_python_text (
             reader->layout, reader->memory, object, text, sizeof text) &&
         strcmp (text, wanted) == 0;
}

typedef struct
{
  const FlamPythonReader *reader;
  const char *name;
  uint64_t value; /* 0: not found */
} Search;

static bool
compare (void *data, uint64_t key, uint64_t value)
{
  Search *search = data;

  if (!is_text (search->reader, key, search->name))
    return true;
  search->value = value;
  return false;
}

uint64_t
flam_python_find_item (const FlamPythonReader *reader,
                       FlamPythonItems items,
                       const char *name)
{
  Search search = { reader, name, 0 };

  flam_python_for_each (reader, items, compare, &search);
  return search.value;
}

#define DIGIT_BITS 30

uint64_t
flam_python_number (const FlamPythonReader *reader, uint64_t object)
{
  uint64_t size = flam_python_word (reader, object + SIZE);
  uint32_t digits[2] = { 0 };

  if (reader->layout->version >= V3_12)
    size = size % 8 == 0 ? size / 8 : 0;
  if (size == 0 || size > 2 ||
      !flam_runtime_read (
          reader->memory, object + DIGITS, digits, size * sizeof *digits))
    return 0;
  return digits[0] | (uint64_t)digits[1] << DIGIT_BITS;
}

FlamPythonItems
flam_python_module (const FlamPythonReader *reader,
                    uint64_t interpreter,
                    const char *name)
{
  uint64_t modules = flam_python_word (
      reader, interpreter + reader->layout->interpreter_modules);
  uint64_t module =
      flam_python_find_item (reader, flam_python_dict (reader, modules), name);

  return flam_python_dict (
      reader,
      module != 0 ? flam_python_word (reader, module + MODULE_DICT) : 0);
}

uint64_t
flam_python_next_interpreter (const FlamPythonReader *reader,
                              uint64_t runtime,
                              uint64_t interpreter)
{
  return flam_python_word (
      reader,
      interpreter == 0 ? runtime + reader->layout->runtime_interpreters
                       : interpreter + reader->layout->interpreter_next);
}
