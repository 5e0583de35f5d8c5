/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-hotspot-private.h"

#define THREADS_MAX 16384
#define MEMBERS_MAX 256 /* of a class */
#define NAME_BYTES 256  /* bytes of a thread's name */
#define FIELD_SLOTS 6   /* up to 20: access, name, signature, value, offset */
#define INTERNAL 0x400  /* in `access`: its name is not in the constants */

/* The place of an object's class, which determines the layout of arrays. */
typedef enum
{
  NONE,
  WIDE,    /* a pointer at 8 */
  NARROW,  /* 32 bits at 8 */
  COMPACT, /* the upper 22 bits of the first word: 24 on, by an option */
} Header;

typedef struct
{
  const FlamHotspot *hotspot;
  const FlamRuntimeMemory *memory;
  uint64_t object_base, class_base, string_class;
  uint32_t object_shift, class_shift;
  uint32_t thread_name, string_value, string_coder; /* offsets */
} Reader;

typedef struct
{
  uint16_t n; /* bytes */
  bool wide;  /* UTF-16 */
  uint8_t bytes[NAME_BYTES];
} Name;

/* --- fields of Java's classes -------------------------------------------- */

static bool
is_field (const Reader *reader,
          uint64_t pool,
          uint32_t name_index,
          uint32_t type_index,
          const char *name,
          const char *type)
{
  return flam_hotspot_is_symbol (
             reader->hotspot, reader->memory, pool, name_index, name) &&
         flam_hotspot_is_symbol (
             reader->hotspot, reader->memory, pool, type_index, type);
}

/* Up to 20: an array of six numbers for each. The offset is in the upper 30
 * bits of the last two. */
static bool
find_in_array (const Reader *reader,
               uint64_t array,
               uint64_t pool,
               const char *name,
               const char *type,
               uint32_t *offset)
{
  uint64_t data = array + reader->hotspot->fields[SHORTS_DATA];
  uint32_t n = 0;

  if (!read_bytes (reader->memory, array, &n, sizeof n))
    return false;
  for (uint32_t i = 0; i < n / FIELD_SLOTS && i < MEMBERS_MAX; i++)
    {
      uint16_t slots[FIELD_SLOTS];

      if (!read_bytes (
              reader->memory, data + i * sizeof slots, slots, sizeof slots))
        return false;
      if ((slots[0] & INTERNAL) == 0 &&
          is_field (reader, pool, slots[1], slots[2], name, type))
        {
          *offset = ((uint32_t)slots[5] << 16 | slots[4]) >> 2;
          return true;
        }
    }
  return false;
}

/* From 21 on: compressed numbers. The flags tell which optional ones follow. */
static bool
find_in_stream (const Reader *reader,
                uint64_t array,
                uint64_t pool,
                const char *name,
                const char *type,
                uint32_t *offset)
{
  uint64_t data = array + reader->hotspot->fields[BYTES_DATA];
  uint32_t size = 0, n, skipped;
  Stream stream;

  if (!read_bytes (reader->memory, array, &size, sizeof size))
    return false;
  stream =
      flam_hotspot_stream (reader->hotspot, reader->memory, data, data + size);
  if (!flam_hotspot_next_number (&stream, &n) ||
      !flam_hotspot_next_number (&stream, &skipped))
    return false;
  for (uint32_t i = 0; i < n && i < MEMBERS_MAX; i++)
    {
      uint32_t numbers[5]; /* name, signature, offset, access, flags */

      for (unsigned j = 0; j < 5; j++)
        if (!flam_hotspot_next_number (&stream, &numbers[j]))
          return false;
      if (is_field (reader, pool, numbers[0], numbers[1], name, type))
        {
          *offset = numbers[2];
          return true;
        }
      /* initialized, generic, contended */
      for (unsigned bit = 0; bit < 5; bit++)
        if ((0x15 >> bit & 1) && (numbers[4] >> bit & 1) &&
            !flam_hotspot_next_number (&stream, &skipped))
          return false;
    }
  return false;
}

static bool
find_field (const Reader *reader,
            uint64_t class,
            const char *name,
            const char *type,
            uint32_t *offset)
{
  const FlamHotspot *hotspot = reader->hotspot;
  bool streamed = has (hotspot, CLASS_STREAM);
  uint64_t array, pool;

  return (streamed || has (hotspot, CLASS_FIELDS)) &&
         read_word (reader->memory,
                    class +
                        hotspot->fields[streamed ? CLASS_STREAM : CLASS_FIELDS],
                    &array) &&
         read_word (
             reader->memory, class + hotspot->fields[CLASS_CONSTANTS], &pool) &&
         (streamed ? find_in_stream (reader, array, pool, name, type, offset)
                   : find_in_array (reader, array, pool, name, type, offset)) &&
         *offset > 0 && *offset < UINT16_MAX;
}

/* --- objects ------------------------------------------------------------- */

/* NONE: it is not an object of this class. */
static Header
header_of (const Reader *reader, uint64_t object, uint64_t class)
{
  uint64_t words[2];

  if (object == 0 || object % 8 != 0 ||
      !read_bytes (reader->memory, object, words, sizeof words))
    return NONE;
  if (words[1] == class)
    return WIDE;
  if (reader->class_base + ((words[1] & UINT32_MAX) << reader->class_shift) ==
      class)
    return NARROW;
  return reader->class_base + ((words[0] >> 42) << reader->class_shift) == class
             ? COMPACT
             : NONE;
}

static bool
read_reference (const Reader *reader,
                uint64_t address,
                bool compressed,
                uint64_t *object)
{
  uint32_t number;

  if (!compressed)
    return read_word (reader->memory, address, object);
  if (!read_bytes (reader->memory, address, &number, sizeof number))
    return false;
  *object = number == 0 ? 0
                        : reader->object_base +
                              ((uint64_t)number << reader->object_shift);
  return true;
}

/* The array of a string: its length, 32 bits, and its bytes. */
static bool
read_string (const Reader *reader,
             uint64_t string,
             Header header,
             bool compressed,
             Name *name)
{
  /* 23 on, bytes follow the length also after a class of 64 bits. */
  uint64_t length_at = header == WIDE ? 16 : header == NARROW ? 12 : 8;
  uint64_t data_at =
      header == WIDE && reader->hotspot->version < 23 ? 24 : length_at + 4;
  uint64_t array;
  uint32_t length;
  uint8_t coder;

  if (!read_reference (
          reader, string + reader->string_value, compressed, &array) ||
      array == 0 ||
      !read_bytes (reader->memory,
                   string + reader->string_coder,
                   &coder,
                   sizeof coder) ||
      coder > 1 ||
      !read_bytes (reader->memory, array + length_at, &length, sizeof length) ||
      length == 0 || length > UINT16_MAX)
    return false;
  name->wide = coder == 1;
  name->n = (uint16_t)(length < NAME_BYTES ? length : NAME_BYTES);
  return read_bytes (reader->memory, array + data_at, name->bytes, name->n);
}

/* References are compressed or not, as the machine was started. */
static bool
read_name (const Reader *reader, uint64_t thread, Name *name)
{
  for (int compressed = 1; compressed >= 0; compressed--)
    {
      uint64_t string;
      Header header;

      if (!read_reference (
              reader, thread + reader->thread_name, compressed, &string))
        continue;
      header = header_of (reader, string, reader->string_class);
      if (header != NONE)
        return read_string (reader, string, header, compressed, name);
    }
  return false;
}

/* From 16 on there is a pointer to the reference. */
static bool
read_thread (const Reader *reader, uint64_t thread, Name *name)
{
  uint64_t object;

  memset (name, 0, sizeof *name);
  if (!read_word (reader->memory,
                  thread + reader->hotspot->fields[THREAD_OBJECT],
                  &object))
    return false;
  if (reader->hotspot->version >= 16 &&
      !read_word (reader->memory, object, &object))
    return false;
  return object != 0 && read_name (reader, object, name);
}

/* --- threads ------------------------------------------------------------- */

static bool
start (Reader *reader)
{
  const FlamHotspot *hotspot = reader->hotspot;
  const FlamRuntimeMemory *memory = reader->memory;
  static const uint8_t needed[] = { LIST_COUNT,    LIST_THREADS,
                                    THREAD_SYSTEM, THREAD_OBJECT,
                                    SYSTEM_NUMBER, CLASS_CONSTANTS,
                                    BYTES_DATA,    SHORTS_DATA };
  uint64_t thread_class;

  for (size_t i = 0; i < sizeof needed; i++)
    if (!has (hotspot, needed[i]))
      return false;
  return read_word (memory, hotspot->thread_class, &thread_class) &&
         read_word (memory, hotspot->string_class, &reader->string_class) &&
         thread_class != 0 && reader->string_class != 0 &&
         read_word (memory, hotspot->object_base, &reader->object_base) &&
         read_word (memory, hotspot->class_base, &reader->class_base) &&
         read_bytes (memory, hotspot->object_shift, &reader->object_shift, 4) &&
         read_bytes (memory, hotspot->class_shift, &reader->class_shift, 4) &&
         reader->object_shift < 32 && reader->class_shift < 32 &&
         find_field (reader,
                     thread_class,
                     "name",
                     "Ljava/lang/String;",
                     &reader->thread_name) &&
         find_field (reader,
                     reader->string_class,
                     "value",
                     "[B",
                     &reader->string_value) &&
         find_field (
             reader, reader->string_class, "coder", "B", &reader->string_coder);
}

void
flam_hotspot_name_threads (const FlamHotspot *hotspot,
                           const FlamRuntimeMemory *memory,
                           FlamRuntimeName *scratch,
                           void (*take) (void *data,
                                         uint32_t tid,
                                         const char *name),
                           void *data)
{
  Reader reader = { .hotspot = hotspot, .memory = memory };
  const uint32_t *fields = hotspot->fields;
  uint64_t list, threads;
  uint32_t n;

  if (!start (&reader) || !read_word (memory, hotspot->threads, &list) ||
      !read_bytes (memory, list + fields[LIST_COUNT], &n, sizeof n) ||
      !read_word (memory, list + fields[LIST_THREADS], &threads))
    return;
  for (uint32_t i = 0; i < n && i < THREADS_MAX; i++)
    {
      uint64_t thread, system;
      uint32_t tid;
      Name name, again;

      if (!read_word (memory, threads + 8 * (uint64_t)i, &thread) ||
          !read_word (memory, thread + fields[THREAD_SYSTEM], &system) ||
          !read_bytes (
              memory, system + fields[SYSTEM_NUMBER], &tid, sizeof tid) ||
          !read_thread (&reader, thread, &name) ||
          !read_thread (&reader, thread, &again) ||
          memcmp (&name, &again, sizeof name) != 0)
        continue;
      flam_runtime_name_clear (scratch);
      take (data,
            tid,
            name.wide ? flam_runtime_name_utf16 (
                            scratch, name.bytes, (size_t)name.n / 2)
                      : flam_runtime_name_latin1 (scratch, name.bytes, name.n));
    }
}
