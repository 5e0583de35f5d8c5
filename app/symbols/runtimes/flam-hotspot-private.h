/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_HOTSPOT_PRIVATE_H
#define FLAM_HOTSPOT_PRIVATE_H

/* The fields of HotSpot's structures, shared by the files of flam-hotspot.h. */

#include "flam-hotspot.h"

#include <string.h>

#define ABSENT UINT32_MAX

/* Indices into `fields`: offsets within the structure, or its size. */
enum
{
  BLOB_NAME,
  BLOB_SIZE,
  BLOB_FRAME_SIZE,
  BLOB_FRAME_COMPLETE,
  BLOB_CODE_BEGIN, /* pointers: 9 to 22 */
  BLOB_CODE_END,
  BLOB_CODE_OFFSET, /* 32 bits, from the blob's start: the others */
  BLOB_DATA_OFFSET,
  BLOB_RELOCATION_SIZE, /* 25 on */
  BLOB_MUTABLE_DATA,
  BLOB_MUTABLE_SIZE,
  BLOB_LENGTH,
  NMETHOD_COMPILE_ID,
  NMETHOD_METHOD,
  NMETHOD_ORIG_PC,
  NMETHOD_METADATA, /* from the blob's start; 16 bits from its data: 23, 24 */
  NMETHOD_SCOPES_PCS,
  NMETHOD_SCOPES_DATA,
  NMETHOD_SCOPES_BEGIN, /* pointer: 9 to 22 */
  NMETHOD_DEPENDENCIES, /* the end of the scopes, up to 22 */
  NMETHOD_IMMUTABLE,    /* pointer: 23 on */
  NMETHOD_IMMUTABLE_SIZE,
  NMETHOD_DEOPT, /* 32 bits, from the blob's start: 8, 23 on */
  NMETHOD_DEOPT_MH,
  NMETHOD_DEOPT_BEGIN, /* pointer: 9 to 22 */
  NMETHOD_DEOPT_MH_BEGIN,
  HEAP_MEMORY,
  HEAP_SEGMENT_MAP,
  HEAP_SHIFT,
  SPACE_LOW,
  SPACE_HIGH,
  HEADER_LENGTH,
  ARRAY_DATA,
  ARRAY_COUNT,
  METHOD_CONST,
  CONST_CONSTANTS,
  CONST_CODE_SIZE,
  CONST_FLAGS,
  CONST_NAME,
  CONST_LENGTH,
  POOL_HOLDER,
  POOL_FILE, /* 15 on */
  POOL_LENGTH,
  CLASS_FILE, /* up to 14 */
  CLASS_NAME,
  SYMBOL_LENGTH,
  SYMBOL_BODY,
  DESCRIPTOR_PC,
  DESCRIPTOR_SCOPE,
  DESCRIPTOR_LENGTH,
  LIST_COUNT, /* of threads: 10 on */
  LIST_THREADS,
  THREAD_SYSTEM, /* pointer to the system's thread */
  THREAD_OBJECT, /* pointer to the object, from 16 on to its handle */
  SYSTEM_NUMBER, /* tid */
  CLASS_FIELDS,  /* up to 20: six 16-bit numbers each */
  CLASS_STREAM,  /* 21 on: UNSIGNED5 */
  CLASS_CONSTANTS,
  BYTES_DATA, /* of an array of the virtual machine's own */
  SHORTS_DATA,
  N_FIELDS,
};

_Static_assert(N_FIELDS <= FLAM_HOTSPOT_FIELDS, "fields do not fit");

/* Enough of a blob for all fields of an nmethod. */
#define HEADER_MAX 512

typedef struct
{
  uint64_t address;
  uint64_t code;
  uint64_t end;
  uint64_t name;
  uint64_t frame_size; /* bytes */
  uint64_t complete;   /* the frame is complete from this pc on */
  uint8_t header[HEADER_MAX];
} Blob;

static inline uint16_t
short_at (const uint8_t *bytes, size_t offset)
{
  uint16_t value;

  memcpy (&value, bytes + offset, sizeof value);
  return value;
}

static inline bool
read_bytes (const FlamRuntimeMemory *memory,
            uint64_t address,
            void *to,
            size_t size)
{
  return memory->read (memory->data, address, to, size);
}

static inline bool
read_word (const FlamRuntimeMemory *memory, uint64_t address, uint64_t *value)
{
  return read_bytes (memory, address, value, sizeof *value);
}

static inline bool
has (const FlamHotspot *hotspot, unsigned field)
{
  return hotspot->fields[field] != ABSENT;
}

/* Bytes, read through a window. */
typedef struct
{
  const FlamRuntimeMemory *memory;
  uint64_t address; /* of the window's end */
  uint64_t end;     /* of all bytes */
  uint8_t window[64];
  size_t at, n;
  uint8_t excluded; /* 20 on: no byte is 0, each is one more */
} Stream;

Stream flam_hotspot_stream (const FlamHotspot *hotspot,
                            const FlamRuntimeMemory *memory,
                            uint64_t address,
                            uint64_t end);
/* An UNSIGNED5; false: the stream has ended, or is invalid. */
bool flam_hotspot_next_number (Stream *stream, uint32_t *number);
/* Whether an entry of a constant pool is this symbol, of at most 63 bytes. */
bool flam_hotspot_is_symbol (const FlamHotspot *hotspot,
                             const FlamRuntimeMemory *memory,
                             uint64_t pool,
                             uint32_t index,
                             const char *text);

/* The bytes up to the first 0, terminated; a longer text is cut. False: not
 * readable. */
bool flam_hotspot_text (const FlamRuntimeMemory *memory,
                        uint64_t address,
                        char *text,
                        size_t size);
/* The blob that contains `pc`; false: none. */
bool flam_hotspot_find_blob (const FlamHotspot *hotspot,
                             const FlamRuntimeMemory *memory,
                             uint64_t pc,
                             Blob *blob);
/* The same for a blob's own address. */
bool flam_hotspot_read_blob (const FlamHotspot *hotspot,
                             const FlamRuntimeMemory *memory,
                             uint64_t address,
                             Blob *blob);

#endif
