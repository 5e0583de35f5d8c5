/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-v8-strings.h"

#include <string.h>

#define MAP_TYPE 12
#define STRING_LENGTH 12
#define STRING_SIZE 32 /* of all kinds, as far as it is needed */
#define CHARACTERS 16
#define FIRST 16 /* of a string of two; the string that another stands for */
#define SECOND 24
#define SLICE_OFFSET 24
#define OUTSIDE 24 /* the address of characters outside of the heap */

#define KIND 7
#define ONE_BYTE 8

enum
{
  SEQUENTIAL,
  CONS,
  EXTERNAL,
  SLICED,
  THIN = 5,
};

static uint64_t
word (const uint8_t *bytes, size_t offset)
{
  uint64_t value;

  memcpy (&value, bytes + offset, sizeof value);
  return value;
}

bool
flam_v8_read (const FlamRuntimeMemory *memory,
              uint64_t *object,
              void *to,
              size_t size)
{
  uint64_t map;

  if (!flam_v8_is_object (*object) ||
      !flam_runtime_read (memory, *object - 1, to, size))
    return false;
  map = word (to, 0);
  if (map & 1)
    return true;
  *object = map + 1;
  return flam_v8_is_object (*object) &&
         flam_runtime_read (memory, map, to, size) &&
         flam_v8_is_object (word (to, 0));
}

uint16_t
flam_v8_type (const FlamRuntimeMemory *memory, uint64_t object)
{
  uint8_t head[8];
  uint16_t type;

  if (!flam_v8_read (memory, &object, head, sizeof head) ||
      !flam_runtime_read_u16 (memory, word (head, 0) - 1 + MAP_TYPE, &type))
    return FLAM_V8_NO_TYPE;
  return type;
}

/* Type and the first bytes of a string; false: it is none. */
static bool
read_string (const FlamV8Layout *layout,
             const FlamRuntimeMemory *memory,
             uint64_t *string,
             uint8_t head[STRING_SIZE],
             uint16_t *type)
{
  return flam_v8_read (memory, string, head, STRING_SIZE) &&
         flam_runtime_read_u16 (memory, word (head, 0) - 1 + MAP_TYPE, type) &&
         *type < layout->first_nonstring;
}

static uint32_t
length_of (const uint8_t *head)
{
  uint32_t length;

  memcpy (&length, head + STRING_LENGTH, sizeof length);
  return length;
}

static bool
is_empty (const FlamV8Layout *layout,
          const FlamRuntimeMemory *memory,
          uint64_t string)
{
  uint8_t head[STRING_SIZE];
  uint16_t type;

  return read_string (layout, memory, &string, head, &type) &&
         length_of (head) == 0;
}

/* Strings that stand for another one are followed. A string of two that was
 * read once is in one piece, and its second part is empty. */
bool
flam_v8_text (const FlamV8Layout *layout,
              const FlamRuntimeMemory *memory,
              uint64_t string,
              FlamV8Text *text)
{
  uint64_t from = 0;
  uint32_t length = 0;
  uint8_t head[STRING_SIZE];
  uint16_t type;

  for (unsigned depth = 0; depth < FLAM_V8_STRINGS_MAX; depth++)
    {
      if (!read_string (layout, memory, &string, head, &type))
        return false;
      if (depth == 0)
        length = length_of (head);
      switch (type & KIND)
        {
        case SEQUENTIAL:
        case EXTERNAL:
          text->wide = !(type & ONE_BYTE);
          text->address = (type & KIND) == SEQUENTIAL ? string - 1 + CHARACTERS
                                                      : word (head, OUTSIDE);
          text->address += from << text->wide;
          text->length = length;
          return from <= length_of (head) && length <= length_of (head) - from;
        case SLICED:
          if (!flam_v8_is_small (word (head, SLICE_OFFSET)))
            return false;
          from += (uint32_t)flam_v8_small (word (head, SLICE_OFFSET));
          break;
        case CONS:
          if (!is_empty (layout, memory, word (head, SECOND)))
            return false;
          break;
        case THIN:
          break;
        default:
          return false;
        }
      string = word (head, FIRST);
    }
  return false;
}

/* Appends the characters of a string that is in one piece. */
static bool
append (const FlamRuntimeMemory *memory,
        const FlamV8Text *text,
        uint16_t *units,
        size_t *n,
        size_t limit)
{
  size_t left = text->length < limit - *n ? text->length : limit - *n;
  uint64_t at = text->address;

  while (left > 0)
    {
      uint8_t piece[256];
      size_t some = text->wide ? sizeof piece / 2 : sizeof piece;

      if (some > left)
        some = left;
      if (!flam_runtime_read (memory, at, piece, some << text->wide))
        return false;
      for (size_t i = 0; i < some; i++)
        if (text->wide)
          memcpy (&units[*n + i], piece + 2 * i, 2);
        else
          units[*n + i] = piece[i];
      *n += some;
      left -= some;
      at += some << text->wide;
    }
  return true;
}

long
flam_v8_string (const FlamV8Layout *layout,
                const FlamRuntimeMemory *memory,
                uint64_t string,
                uint16_t *units,
                size_t limit)
{
  uint64_t stack[FLAM_V8_STRINGS_MAX] = { string };
  unsigned n_stack = 1, steps = 0;
  size_t n = 0;

  /* A string of characters is read for every one that is divided, so that the
   * number of steps is bounded even if all are empty. */
  while (n_stack > 0 && n < limit && steps++ < 4 * limit)
    {
      uint8_t head[STRING_SIZE];
      FlamV8Text text;
      uint16_t type;

      string = stack[--n_stack];
      if (flam_v8_text (layout, memory, string, &text))
        {
          if (!append (memory, &text, units, &n, limit))
            return -1;
        }
      else if (read_string (layout, memory, &string, head, &type) &&
               (type & KIND) == CONS && n_stack + 2 <= FLAM_V8_STRINGS_MAX)
        {
          stack[n_stack++] = word (head, SECOND);
          stack[n_stack++] = word (head, FIRST);
        }
      else
        return -1;
    }
  return (long)n;
}
