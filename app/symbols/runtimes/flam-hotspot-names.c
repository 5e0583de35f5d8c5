/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-hotspot-private.h"

#define TEXT_MAX 1024   /* of a symbol, in bytes or units */
#define LINES_MAX 65536 /* pairs in a line table */
#define LINE_LAST 65535
#define DESCRIPTORS_MAX (1u << 20) /* of compiled code */
#define HAS_LINES 1                /* in a ConstMethod's flags */
#define NUMBER_MAX 5               /* bytes of a compressed number */
#define ADDRESS_LENGTH 19          /* of "+0x" and 16 digits */

/* --- UNSIGNED5 ----------------------------------------------------------- */

static bool
next_byte (Stream *stream, uint8_t *byte)
{
  if (stream->at == stream->n)
    {
      size_t n = sizeof stream->window - stream->address % 64;

      if (stream->address >= stream->end)
        return false;
      if (n > stream->end - stream->address)
        n = (size_t)(stream->end - stream->address);
      if (!read_bytes (stream->memory, stream->address, stream->window, n))
        return false;
      stream->address += n;
      stream->at = 0;
      stream->n = n;
    }
  *byte = stream->window[stream->at++];
  return true;
}

bool
flam_hotspot_next_number (Stream *stream, uint32_t *number)
{
  uint32_t sum = 0;

  for (unsigned shift = 0; shift < 6 * NUMBER_MAX; shift += 6)
    {
      uint8_t byte;

      if (!next_byte (stream, &byte) || byte < stream->excluded)
        return false;
      sum += (uint32_t)(byte - stream->excluded) << shift;
      if (byte < 192)
        break;
    }
  *number = sum;
  return true;
}

static bool
next_signed (Stream *stream, uint32_t *sum)
{
  uint32_t number;

  if (!flam_hotspot_next_number (stream, &number))
    return false;
  *sum += (number >> 1) ^ (0 - (number & 1));
  return true;
}

Stream
flam_hotspot_stream (const FlamHotspot *hotspot,
                     const FlamRuntimeMemory *memory,
                     uint64_t address,
                     uint64_t end)
{
  return (Stream){ .memory = memory,
                   .address = address,
                   .end = end,
                   .excluded = hotspot->version >= 20 };
}

/* --- texts --------------------------------------------------------------- */

/* The code units of UTF-16: modified UTF-8 encodes each of them on its own. */
typedef struct
{
  size_t n;
  uint16_t units[TEXT_MAX];
} Text;

/* A unit has one to three bytes; U+FFFD for an invalid byte. */
static uint16_t
next_unit (const uint8_t *bytes, size_t n, size_t *at)
{
  uint8_t a = bytes[(*at)++];
  uint8_t b = *at < n ? bytes[*at] : 0;
  uint8_t c = *at + 1 < n ? bytes[*at + 1] : 0;

  if (a < 0x80)
    return a;
  if ((a & 0xe0) == 0xc0 && (b & 0xc0) == 0x80)
    {
      *at += 1;
      return (uint16_t)((a & 31) << 6 | (b & 63));
    }
  if ((a & 0xf0) == 0xe0 && (b & 0xc0) == 0x80 && (c & 0xc0) == 0x80)
    {
      *at += 2;
      return (uint16_t)((a & 15) << 12 | (b & 63) << 6 | (c & 63));
    }
  return 0xfffd;
}

/* False: not readable. */
static bool
read_symbol (const FlamHotspot *hotspot,
             const FlamRuntimeMemory *memory,
             uint64_t symbol,
             Text *text)
{
  uint8_t bytes[TEXT_MAX];
  uint16_t length;
  size_t n, at = 0;

  if (symbol == 0 || !read_bytes (memory,
                                  symbol + hotspot->fields[SYMBOL_LENGTH],
                                  &length,
                                  sizeof length))
    return false;
  n = length < sizeof bytes ? length : sizeof bytes;
  if (n == 0 ||
      !read_bytes (memory, symbol + hotspot->fields[SYMBOL_BODY], bytes, n))
    return false;
  text->n = 0;
  while (at < n)
    {
      uint16_t unit = next_unit (bytes, n, &at);
      text->units[text->n++] = unit != 0 ? unit : 0xfffd;
    }
  return true;
}

static bool
read_pool_symbol (const FlamHotspot *hotspot,
                  const FlamRuntimeMemory *memory,
                  uint64_t pool,
                  uint16_t index,
                  Text *text)
{
  uint64_t symbol;

  return index != 0 &&
         read_word (memory,
                    pool + hotspot->fields[POOL_LENGTH] + 8 * (uint64_t)index,
                    &symbol) &&
         read_symbol (hotspot, memory, symbol & ~1ull, text);
}

bool
flam_hotspot_is_symbol (const FlamHotspot *hotspot,
                        const FlamRuntimeMemory *memory,
                        uint64_t pool,
                        uint32_t index,
                        const char *text)
{
  size_t n = strlen (text);
  char bytes[64];
  uint64_t symbol;
  uint16_t length;

  return index != 0 && index <= UINT16_MAX && n < sizeof bytes &&
         read_word (memory,
                    pool + hotspot->fields[POOL_LENGTH] + 8 * (uint64_t)index,
                    &symbol) &&
         read_bytes (memory,
                     (symbol & ~1ull) + hotspot->fields[SYMBOL_LENGTH],
                     &length,
                     sizeof length) &&
         length == n &&
         read_bytes (memory,
                     (symbol & ~1ull) + hotspot->fields[SYMBOL_BODY],
                     bytes,
                     n) &&
         memcmp (bytes, text, n) == 0;
}

static bool
is_hex_digit (uint16_t unit)
{
  return (unit >= '0' && unit <= '9') || (unit >= 'a' && unit <= 'f') ||
         (unit >= 'A' && unit <= 'F');
}

/* The name of a hidden class ends in its address, "+0x" and 16 digits. */
static void
drop_address (Text *class)
{
  size_t start = class->n - ADDRESS_LENGTH;

  if (class->n <= ADDRESS_LENGTH || class->units[start] != '+' ||
      class->units[start + 1] != '0' || class->units[start + 2] != 'x')
    return;
  for (size_t i = start + 3; i < class->n; i++)
    if (!is_hex_digit (class->units[i]))
      return;
  class->n = start;
}

/* "java/util/HashMap$Node" and "HashMap.java" -> "java/util/HashMap.java" */
static void
join_file (const Text *class, Text *file)
{
  size_t folder = class->n;

  while (folder > 0 && class->units[folder - 1] != '/')
    folder--;
  if (folder + file->n > TEXT_MAX)
    return;
  memmove (file->units + folder, file->units, file->n * sizeof *file->units);
  memcpy (file->units, class->units, folder * sizeof *file->units);
  file->n += folder;
}

/* --- methods ------------------------------------------------------------- */

/* Sets the lines by pairs of differences of bytecode and line, which are not
 * sorted. */
static void
find_line (const FlamHotspot *hotspot,
           const FlamRuntimeMemory *memory,
           uint64_t table,
           uint32_t bytecode,
           FlamRuntimeNamed *named)
{
  Stream stream = flam_hotspot_stream (hotspot, memory, table, UINT64_MAX);
  uint32_t at = 0, line = 0, best = 0;

  for (unsigned i = 0; i < LINES_MAX; i++)
    {
      uint8_t byte;

      if (!next_byte (&stream, &byte) || byte == 0)
        break;
      if (byte == 0xff)
        {
          if (!next_signed (&stream, &at) || !next_signed (&stream, &line))
            break;
        }
      else
        {
          at += byte >> 3;
          line += byte & 7;
        }
      if (line == 0 || line > LINE_LAST)
        continue;
      if (named->first_line == 0 || line < named->first_line)
        named->first_line = line;
      if (at <= bytecode && at >= best)
        {
          best = at;
          named->line = line;
        }
    }
  if (bytecode == FLAM_HOTSPOT_NO_BYTECODE)
    named->line = 0;
}

/* A method's parts: `cookie`, unless it is 0, is its ConstMethod. */
static bool
name_method (const FlamHotspot *hotspot,
             const FlamRuntimeMemory *memory,
             uint64_t method,
             uint64_t cookie,
             uint32_t bytecode,
             FlamRuntimeName *name)
{
  const uint32_t *fields = hotspot->fields;
  uint64_t constant, pool, holder, symbol;
  uint16_t code_size, name_index, file_index;
  uint8_t flags;
  FlamRuntimeNamed *named;
  Text class, text;

  if (!read_word (memory, method + fields[METHOD_CONST], &constant) ||
      constant == 0 || (cookie != 0 && constant != cookie) ||
      !read_word (memory, constant + fields[CONST_CONSTANTS], &pool) ||
      !read_word (memory, pool + fields[POOL_HOLDER], &holder) ||
      !read_word (memory, holder + fields[CLASS_NAME], &symbol) ||
      !read_symbol (hotspot, memory, symbol, &class) ||
      !read_bytes (memory, constant + fields[CONST_CODE_SIZE], &code_size, 2) ||
      !read_bytes (memory, constant + fields[CONST_FLAGS], &flags, 1) ||
      !read_bytes (memory, constant + fields[CONST_NAME], &name_index, 2) ||
      !read_pool_symbol (hotspot, memory, pool, name_index, &text))
    return false;
  drop_address (&class);
  named = flam_runtime_name_add (name);
  named->function = flam_runtime_name_utf16 (name, text.units, text.n);
  if ((has (hotspot, POOL_FILE)
           ? read_bytes (memory, pool + fields[POOL_FILE], &file_index, 2)
           : read_bytes (
                 memory, holder + fields[CLASS_FILE], &file_index, 2)) &&
      read_pool_symbol (hotspot, memory, pool, file_index, &text))
    {
      join_file (&class, &text);
      named->file = flam_runtime_name_utf16 (name, text.units, text.n);
    }
  for (size_t i = 0; i < class.n; i++)
    if (class.units[i] == '/')
      class.units[i] = '.';
  named->type = flam_runtime_name_utf16 (name, class.units, class.n);
  if (flags & HAS_LINES)
    find_line (hotspot,
               memory,
               constant + fields[CONST_LENGTH] + code_size,
               bytecode,
               named);
  return true;
}

/* --- compiled code ------------------------------------------------------- */

/* The tables of an nmethod: addresses, and ends. */
typedef struct
{
  uint64_t descriptors, descriptors_end;
  uint64_t scopes, scopes_end;
  uint64_t metadata, metadata_end;
} Tables;

/* Up to 22: blob | code | metadata | scopes | descriptors | dependencies */
static void
find_tables_in_blob (const FlamHotspot *hotspot,
                     const Blob *blob,
                     Tables *tables)
{
  const uint32_t *fields = hotspot->fields;
  const uint8_t *header = blob->header;

  if (has (hotspot, NMETHOD_SCOPES_BEGIN))
    tables->scopes = flam_runtime_u64 (header, fields[NMETHOD_SCOPES_BEGIN]);
  else if (has (hotspot, NMETHOD_SCOPES_DATA))
    tables->scopes =
        blob->address + flam_runtime_u32 (header, fields[NMETHOD_SCOPES_DATA]);
  tables->descriptors =
      blob->address + flam_runtime_u32 (header, fields[NMETHOD_SCOPES_PCS]);
  tables->scopes_end = tables->descriptors;
  if (has (hotspot, NMETHOD_DEPENDENCIES))
    tables->descriptors_end =
        blob->address + flam_runtime_u32 (header, fields[NMETHOD_DEPENDENCIES]);
  if (has (hotspot, NMETHOD_METADATA))
    tables->metadata =
        blob->address + flam_runtime_u32 (header, fields[NMETHOD_METADATA]);
  tables->metadata_end = tables->scopes;
}

/* 23 on: the descriptors and the scopes lie outside the code heap. */
static void
find_tables_outside (const FlamHotspot *hotspot,
                     const Blob *blob,
                     Tables *tables)
{
  const uint32_t *fields = hotspot->fields;
  const uint8_t *header = blob->header;
  uint64_t start = flam_runtime_u64 (header, fields[NMETHOD_IMMUTABLE]);

  if (!has (hotspot, NMETHOD_SCOPES_DATA) ||
      !has (hotspot, NMETHOD_IMMUTABLE_SIZE))
    return;
  tables->descriptors =
      start + flam_runtime_u32 (header, fields[NMETHOD_SCOPES_PCS]);
  tables->scopes =
      start + flam_runtime_u32 (header, fields[NMETHOD_SCOPES_DATA]);
  tables->descriptors_end = tables->scopes;
  tables->scopes_end =
      start + flam_runtime_u32 (header, fields[NMETHOD_IMMUTABLE_SIZE]);
  if (has (hotspot, BLOB_MUTABLE_DATA) && has (hotspot, BLOB_MUTABLE_SIZE) &&
      has (hotspot, BLOB_RELOCATION_SIZE))
    {
      uint64_t data = flam_runtime_u64 (header, fields[BLOB_MUTABLE_DATA]);
      tables->metadata =
          data + flam_runtime_u32 (header, fields[BLOB_RELOCATION_SIZE]);
      tables->metadata_end =
          data + flam_runtime_u32 (header, fields[BLOB_MUTABLE_SIZE]);
    }
  else if (has (hotspot, NMETHOD_METADATA) && has (hotspot, BLOB_SIZE))
    {
      tables->metadata =
          blob->end + short_at (header, fields[NMETHOD_METADATA]);
      tables->metadata_end =
          blob->address + flam_runtime_u32 (header, fields[BLOB_SIZE]);
    }
}

/* The scope of the first descriptor at or after a pc, which is the one of a
 * return address; 0: none. They ascend. */
static uint32_t
find_scope (const FlamHotspot *hotspot,
            const FlamRuntimeMemory *memory,
            const Tables *tables,
            uint32_t at)
{
  const uint32_t *fields = hotspot->fields;
  uint64_t size = fields[DESCRIPTOR_LENGTH];
  uint64_t n, low = 0, high;
  uint8_t bytes[64];

  if (tables->descriptors_end <= tables->descriptors)
    return 0;
  n = high = (tables->descriptors_end - tables->descriptors) / size;
  if (n > DESCRIPTORS_MAX)
    return 0;
  while (low < high)
    {
      uint64_t middle = low + (high - low) / 2;
      if (!read_bytes (
              memory, tables->descriptors + middle * size, bytes, size))
        return 0;
      if ((int32_t)flam_runtime_u32 (bytes, fields[DESCRIPTOR_PC]) <
          (int32_t)at)
        low = middle + 1;
      else
        high = middle;
    }
  /* The last one is only a mark. */
  if (low + 1 >= n ||
      !read_bytes (memory, tables->descriptors + low * size, bytes, size))
    return 0;
  return flam_runtime_u32 (bytes, fields[DESCRIPTOR_SCOPE]);
}

/* The methods inlined at a pc, innermost first, and the one that was compiled.
 * A caller's scope is written before those that are inlined into it. */
static void
name_scopes (const FlamHotspot *hotspot,
             const FlamRuntimeMemory *memory,
             const Tables *tables,
             uint32_t scope,
             FlamRuntimeName *name)
{
  for (unsigned i = 0; scope != 0 && i < FLAM_RUNTIME_INLINED_MAX; i++)
    {
      Stream stream = flam_hotspot_stream (
          hotspot, memory, tables->scopes + scope, tables->scopes_end);
      uint32_t sender, index, bytecode;
      uint64_t method;

      if (scope >= tables->scopes_end - tables->scopes ||
          !flam_hotspot_next_number (&stream, &sender) ||
          !flam_hotspot_next_number (&stream, &index) ||
          !flam_hotspot_next_number (&stream, &bytecode) || index == 0 ||
          8 * (uint64_t)index > tables->metadata_end - tables->metadata ||
          !read_word (
              memory, tables->metadata + 8 * (uint64_t)(index - 1), &method) ||
          !name_method (hotspot,
                        memory,
                        method,
                        0,
                        bytecode - 1, /* it is stored plus 1 */
                        name))
        {
          flam_runtime_name_clear (name);
          return;
        }
      if (sender >= scope)
        return;
      scope = sender;
    }
}

static bool
name_compiled (const FlamHotspot *hotspot,
               const FlamRuntimeMemory *memory,
               const FlamHotspotFrame *frame,
               FlamRuntimeName *name)
{
  const uint32_t *fields = hotspot->fields;
  Tables tables = { 0 };
  Blob blob;

  if (!flam_hotspot_read_blob (hotspot, memory, frame->function, &blob) ||
      flam_runtime_u32 (blob.header, fields[NMETHOD_COMPILE_ID]) !=
          frame->cookie ||
      frame->at > blob.end - blob.code)
    return false;
  if (has (hotspot, NMETHOD_IMMUTABLE))
    find_tables_outside (hotspot, &blob, &tables);
  else
    find_tables_in_blob (hotspot, &blob, &tables);
  if (frame->kind == FLAM_HOTSPOT_COMPILED)
    name_scopes (hotspot,
                 memory,
                 &tables,
                 find_scope (hotspot, memory, &tables, frame->at),
                 name);
  if (name->n == 0 &&
      !name_method (hotspot,
                    memory,
                    flam_runtime_u64 (blob.header, fields[NMETHOD_METHOD]),
                    0,
                    FLAM_HOTSPOT_NO_BYTECODE,
                    name))
    return false;
  for (guint i = 0; i < name->n; i++)
    name->frames[i].compiled = true;
  return true;
}

/* --- stubs --------------------------------------------------------------- */

static bool
name_stub (const FlamHotspot *hotspot,
           const FlamRuntimeMemory *memory,
           const FlamHotspotFrame *frame,
           FlamRuntimeName *name)
{
  FlamRuntimeNamed *named;
  const char *text;
  Blob blob;

  if (!flam_hotspot_read_blob (hotspot, memory, frame->function, &blob) ||
      blob.name != frame->cookie)
    return false;
  text = flam_runtime_name_read_string (name, memory, blob.name);
  if (text == NULL)
    return false;
  named = flam_runtime_name_add (name);
  named->function = text;
  for (uint32_t i = 0; i < hotspot->n_stubs; i++)
    if (hotspot->stubs[i].entry == blob.code + frame->at)
      named->function = flam_runtime_name_utf8 (
          name, hotspot->stubs[i].name, strlen (hotspot->stubs[i].name));
  named->compiled = true;
  /* A virtual thread that waited continues with its innermost frames; the
   * others stay in the heap, and are copied back when this stub returns to
   * them. */
  if (strncmp (text, "StubRoutines (cont", 18) == 0)
    named->function = "[frames that are not mounted]";
  /* They only pass a call on. */
  named->hidden = hotspot->call_stub == blob.code + frame->at ||
                  strncmp (text, "I2C/C2I", 7) == 0;
  return true;
}

bool
flam_hotspot_name (const FlamHotspot *hotspot,
                   const FlamRuntimeMemory *memory,
                   const FlamHotspotFrame *frame,
                   FlamRuntimeName *name)
{
  flam_runtime_name_clear (name);
  switch (frame->kind)
    {
    case FLAM_HOTSPOT_INTERPRETED:
      return name_method (
          hotspot, memory, frame->function, frame->cookie, frame->at, name);
    case FLAM_HOTSPOT_COMPILED:
    case FLAM_HOTSPOT_NATIVE:
      return name_compiled (hotspot, memory, frame, name);
    case FLAM_HOTSPOT_STUB:
      return name_stub (hotspot, memory, frame, name);
    default:
      return false;
    }
}
