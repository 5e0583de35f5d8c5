/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_V8_STRINGS_H
#define FLAM_V8_STRINGS_H

/* V8's objects as far as all parts of the reader need them: tagged words, maps
 * and strings.
 *
 *   word   ....0   a small integer (SMI), in the upper 32 bits
 *          ...01   the address of an object + 1; ...11 the same, weak
 *
 *   object  +0  map ──▶ +12 instance type
 *           ...
 *
 * While the collector moves objects, the old place of one has, instead of its
 * map, the address of its new place (src/objects/objects.h, MapWord).
 *
 * Sources: V8's include/v8-internal.h, src/objects/map.tq, string.tq. */

#include "flam-runtime-memory.h"
#include "flam-v8-layout.h"

/* A string is a string of strings at most this deep. */
#define FLAM_V8_STRINGS_MAX 32

static inline bool
flam_v8_is_object (uint64_t word)
{
  return (word & 3) == 1 && word > 4096;
}

static inline bool
flam_v8_is_small (uint64_t word)
{
  return (word & 0xffffffff) == 0;
}

static inline int32_t
flam_v8_small (uint64_t word)
{
  return (int32_t)(word >> 32);
}

/* The first `size` bytes of an object, which is followed if it was moved:
 * `*object` is then its new place. */
bool flam_v8_read (const FlamRuntimeMemory *memory,
                   uint64_t *object,
                   void *to,
                   size_t size);
/* No object's type; some strings have the type 0. */
#define FLAM_V8_NO_TYPE UINT16_MAX
uint16_t flam_v8_type (const FlamRuntimeMemory *memory, uint64_t object);

/* The characters of a string, truncated to `limit` units of UTF-16; their
 * number, or -1 if the object is not a string. */
long flam_v8_string (const FlamV8Layout *layout,
                     const FlamRuntimeMemory *memory,
                     uint64_t string,
                     uint16_t *units,
                     size_t limit);

/* The characters of a string that is in one piece. */
typedef struct
{
  uint64_t address;
  uint32_t length; /* characters */
  bool wide;       /* two bytes each, UTF-16; else Latin-1 */
} FlamV8Text;

bool flam_v8_text (const FlamV8Layout *layout,
                   const FlamRuntimeMemory *memory,
                   uint64_t string,
                   FlamV8Text *text);

#endif
