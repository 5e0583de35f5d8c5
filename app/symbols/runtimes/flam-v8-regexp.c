/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-v8-regexp.h"

#include <string.h>

#include "flam-v8-strings.h"

#define REGEXP_SIZE 64
/* Its data are an array, or an object of at least this size from V8 13 on. */
#define DATA_WORDS 12
/* C++ functions may lie between the code and the frame with the JSRegExp. */
#define STACK_WORDS 1024

/* V8 12 wraps it. */
static bool
leads_to (const FlamRuntimeMemory *memory, uint64_t word, uint64_t code)
{
  uint64_t wrapper[2];

  return word == code ||
         (flam_v8_is_object (word) &&
          flam_v8_read (memory, &word, wrapper, sizeof wrapper) &&
          wrapper[1] == code);
}

/* Its source, if its data contains `code`; 0 otherwise. */
static uint64_t
source_of (const FlamV8Layout *layout,
           const FlamRuntimeMemory *memory,
           uint64_t object,
           uint64_t code)
{
  uint8_t bytes[REGEXP_SIZE];
  uint64_t data, source, words[DATA_WORDS];
  size_t n = DATA_WORDS;

  if (flam_v8_type (memory, object) != layout->type_regexp ||
      !flam_v8_read (memory, &object, bytes, sizeof bytes))
    return 0;
  memcpy (&data, bytes + layout->regexp_source - 8, sizeof data);
  memcpy (&source, bytes + layout->regexp_source, sizeof source);
  if (!flam_v8_is_object (data) ||
      !flam_v8_read (memory, &data, words, sizeof words))
    return 0;
  if (flam_v8_type (memory, data) == layout->type_fixed_array)
    {
      int32_t length =
          flam_v8_is_small (words[1]) ? flam_v8_small (words[1]) : 0;

      if (length < DATA_WORDS - 2)
        n = (size_t)(length > 0 ? length + 2 : 2);
    }
  for (size_t i = 2; i < n; i++)
    if (leads_to (memory, words[i], code))
      return source;
  return 0;
}

uint64_t
flam_v8_regexp_find (FlamV8RegExp *last,
                     const FlamV8Layout *layout,
                     const FlamRuntimeMemory *memory,
                     uint64_t code,
                     const uint64_t *words,
                     size_t n)
{
  uint64_t source =
      last->code == code ? source_of (layout, memory, last->object, code) : 0;

  for (size_t i = 0; i < n && i < STACK_WORDS && source == 0; i++)
    if (flam_v8_is_object (words[i]))
      {
        source = source_of (layout, memory, words[i], code);
        if (source != 0)
          *last = (FlamV8RegExp){ code, words[i] };
      }
  return source;
}
