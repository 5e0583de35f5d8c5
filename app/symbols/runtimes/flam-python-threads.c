/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-python-threads.h"

#define INTERPRETERS_MAX 64
#define ITEMS_MAX 65536
#define BLOCK 64 /* items that are read at once */
#define READS_MAX 200000
#define NAME_MAX_SIZE 256

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

/* The memory, for a limited number of reads. */
typedef struct
{
  const FlamRuntimeMemory *memory;
  unsigned left;
} Limited;

static bool
read_limited (void *data, uint64_t address, void *to, size_t size)
{
  Limited *limited = data;

  if (limited->left == 0)
    return false;
  limited->left--;
  return flam_runtime_read (limited->memory, address, to, size);
}

typedef struct
{
  const FlamPythonLayout *layout;
  const FlamRuntimeMemory *memory;
} Reader;

/* The items of a dictionary: the values are with the keys, or in an array of
 * their own. */
typedef struct
{
  uint64_t keys;
  uint64_t values; /* 0: with the keys */
} Items;

static uint64_t
word_at (const Reader *reader, uint64_t address)
{
  uint64_t value;

  return flam_runtime_read_u64 (reader->memory, address, &value) ? value : 0;
}

/* Before the first value. */
static uint64_t
values_head (const Reader *reader)
{
  return reader->layout->version >= V3_13 ? 8 : 0;
}

static Items
items_of_dict (const Reader *reader, uint64_t dict)
{
  Items items = { 0 };
  uint64_t values;

  if (dict == 0)
    return items;
  items.keys = word_at (reader, dict + DICT_KEYS);
  values = word_at (reader, dict + DICT_VALUES);
  if (values != 0)
    items.values = values + values_head (reader);
  return items;
}

/* Since 3.11 the words before an object hold its values or its dictionary; they
 * are the same word in 3.12, with a bit that tells; in 3.13 the values follow
 * the object. */
static Items
items_of_object (const Reader *reader, uint64_t object)
{
  uint64_t type = word_at (reader, object + TYPE);
  uint64_t flags = type != 0 ? word_at (reader, type + TYPE_FLAGS) : 0;
  uint32_t version = reader->layout->version;
  uint64_t keys, dict, values = 0;

  if (type == 0)
    return (Items){ 0 };
  if (version < V3_11 || !(flags & MANAGED_DICT))
    {
      uint64_t offset = word_at (reader, type + TYPE_DICT_OFFSET);

      return offset > 0 && offset < UINT16_MAX
                 ? items_of_dict (reader, word_at (reader, object + offset))
                 : (Items){ 0 };
    }
  keys = word_at (reader, type + reader->layout->type_keys);
  dict = word_at (reader, object - 24);
  if (version < V3_12)
    values = word_at (reader, object - 32);
  else if (version < V3_13 && dict & 1)
    values = dict + 1;
  else if (version >= V3_13 && dict == 0 && flags & INLINE_VALUES)
    values = object + word_at (reader, type + TYPE_SIZE) + values_head (reader);
  return values != 0 ? (Items){ keys, values } : items_of_dict (reader, dict);
}

typedef struct
{
  uint64_t first;
  uint64_t n;
  unsigned size; /* of one */
  unsigned key;  /* where its key is; its value follows */
} Entries;

static bool
find_entries (const Reader *reader, uint64_t keys, Entries *entries)
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

/* Returns whether to go on. */
typedef bool (*Visit) (void *data, uint64_t key, uint64_t value);

static void
for_each (const Reader *reader, Items items, Visit visit, void *data)
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
      value = items.values != 0 ? word_at (reader, items.values + 8 * i)
                                : flam_runtime_u64 (block, at + 8);
      if (key != 0 && value != 0 && !visit (data, key, value))
        return;
    }
}

static bool
is_text (const Reader *reader, uint64_t object, const char *wanted)
{
  char text[32];

  return word_at (reader, object + SIZE) == strlen (wanted) &&
         flam_python_text (
             reader->layout, reader->memory, object, text, sizeof text) &&
         strcmp (text, wanted) == 0;
}

typedef struct
{
  const Reader *reader;
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

static uint64_t
find (const Reader *reader, Items items, const char *name)
{
  Search search = { reader, name, 0 };

  for_each (reader, items, compare, &search);
  return search.value;
}

/* 0: not a small positive number. */
static uint32_t
number_of (const Reader *reader, uint64_t object)
{
  uint64_t size = word_at (reader, object + SIZE);
  uint32_t digit = 0;

  if (size != (reader->layout->version >= V3_12 ? 1u << 3 : 1u))
    return 0;
  flam_runtime_read_u32 (reader->memory, object + DIGITS, &digit);
  return digit;
}

typedef struct
{
  const Reader *reader;
  FlamRuntimeName *scratch;
  void (*take) (void *data, uint32_t tid, const char *name);
  void *data;
} Taking;

static uint32_t
read_thread (const Reader *reader, uint64_t thread, char *name, size_t size)
{
  Items items = items_of_object (reader, thread);
  uint64_t text = find (reader, items, "_name");
  uint64_t number = find (reader, items, "_native_id");

  return text != 0 && number != 0 &&
                 flam_python_text (
                     reader->layout, reader->memory, text, name, size)
             ? number_of (reader, number)
             : 0;
}

/* It is read twice: it may change meanwhile. */
static bool
take_thread (void *data, uint64_t key, uint64_t thread)
{
  Taking *taking = data;
  char name[NAME_MAX_SIZE], again[NAME_MAX_SIZE];
  uint32_t tid = read_thread (taking->reader, thread, name, sizeof name);

  (void)key;
  if (tid == 0 || strcmp (name, "MainThread") == 0 ||
      read_thread (taking->reader, thread, again, sizeof again) != tid ||
      strcmp (name, again) != 0)
    return true;
  flam_runtime_name_clear (taking->scratch);
  taking->take (taking->data,
                tid,
                flam_runtime_name_utf8 (taking->scratch, name, sizeof name));
  return true;
}

void
flam_python_name_threads (const FlamPythonLayout *layout,
                          const FlamRuntimeMemory *memory,
                          uint64_t runtime,
                          FlamRuntimeName *scratch,
                          void (*take) (void *data,
                                        uint32_t tid,
                                        const char *name),
                          void *data)
{
  Limited limited = { memory, READS_MAX };
  FlamRuntimeMemory once = { read_limited, &limited };
  Reader reader = { layout, &once };
  Taking taking = { &reader, scratch, take, data };
  uint64_t interpreter;
  unsigned n = 0;

  if (layout->interpreter_modules == 0)
    return;
  interpreter = word_at (&reader, runtime + layout->runtime_interpreters);
  for (; interpreter != 0 && n++ < INTERPRETERS_MAX;
       interpreter = word_at (&reader, interpreter + layout->interpreter_next))
    {
      uint64_t modules =
          word_at (&reader, interpreter + layout->interpreter_modules);
      uint64_t module =
          find (&reader, items_of_dict (&reader, modules), "threading");
      uint64_t dict = module != 0 ? word_at (&reader, module + MODULE_DICT) : 0;
      uint64_t active =
          find (&reader, items_of_dict (&reader, dict), "_active");

      if (active != 0)
        for_each (
            &reader, items_of_dict (&reader, active), take_thread, &taking);
    }
}
