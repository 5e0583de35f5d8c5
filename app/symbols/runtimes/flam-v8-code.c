/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-v8-code.h"

#include <string.h>

#define CODE_SIZE 80   /* of a Code, as far as it is needed */
#define HEADER_MAX 256 /* of machine code */
#define ARRAY_DATA 16
/* Machine code longer than this is not found by a pc at its end. */
#define SEARCH_MAX (256u << 10)
#define SEARCH_PIECE 4096
/* For the first header, of unknown form. */
#define GUESS_MAX (32u << 10)
#define GUESSES_MAX 32
#define INSTRUCTIONS_MAX (64u << 20)
/* After this many searches, failed ones are repeated. */
#define FORGET_AFTER 4096

static uint64_t
word (const uint8_t *bytes, size_t offset)
{
  uint64_t value;

  memcpy (&value, bytes + offset, sizeof value);
  return value;
}

bool
flam_v8_code_read (const FlamV8Layout *layout,
                   const FlamRuntimeMemory *memory,
                   uint64_t object,
                   FlamV8Code *code)
{
  uint8_t bytes[CODE_SIZE];
  uint32_t flags;

  *code = (FlamV8Code){ 0 };
  if (!flam_v8_read (memory, &object, bytes, sizeof bytes) ||
      flam_v8_type (memory, object) != layout->type_code)
    return false;
  memcpy (&flags, bytes + layout->code_flags, sizeof flags);
  memcpy (&code->size, bytes + layout->code_size, sizeof code->size);
  code->kind =
      (uint8_t)((flags & layout->code_kind_mask) >> layout->code_kind_shift);
  code->deopt = word (bytes, layout->code_deopt);
  code->positions = word (bytes, layout->code_positions);
  code->start = layout->code_start_inside ? object - 1 + layout->code_start
                                          : word (bytes, layout->code_start);
  code->object = object;
  return code->size <= INSTRUCTIONS_MAX;
}

uint64_t
flam_v8_code_shared (const FlamV8Layout *layout,
                     const FlamRuntimeMemory *memory,
                     const FlamV8Code *code)
{
  uint64_t deopt = code->deopt, shared, length;
  uint8_t head[16];

  if (code->kind == layout->code_kind_baseline ||
      !flam_v8_read (memory, &deopt, head, sizeof head))
    return 0;
  length = word (head, 8);
  if (!flam_v8_is_small (length) ||
      flam_v8_small (length) <= layout->deopt_inlining ||
      !flam_runtime_read_u64 (memory,
                              deopt - 1 + ARRAY_DATA +
                                  8ull * layout->deopt_shared,
                              &shared))
    return 0;
  if (layout->deopt_shared_wrapped)
    {
      if (!flam_v8_read (memory, &shared, head, sizeof head))
        return 0;
      shared = word (head, 8);
    }
  return flam_v8_type (memory, shared) == layout->type_shared ? shared : 0;
}

void
flam_v8_codes_learn (FlamV8Codes *codes,
                     const FlamV8Layout *layout,
                     const FlamRuntimeMemory *memory,
                     const FlamV8Code *code)
{
  uint8_t bytes[CODE_SIZE];
  uint64_t head = 0, first;

  if (codes->n_headers == FLAM_V8_HEADERS_MAX || code->object == 0)
    return;
  if (layout->code_start_inside)
    head = code->object - 1;
  else if (flam_runtime_read (memory, code->object - 1, bytes, sizeof bytes))
    for (size_t i = 8; i + 8 <= sizeof bytes; i += 8)
      if (flam_v8_is_object (word (bytes, i)) &&
          code->start - word (bytes, i) < HEADER_MAX)
        head = word (bytes, i) - 1;
  if (head == 0 || code->start - head > HEADER_MAX ||
      !flam_runtime_read_u64 (memory, head, &first) ||
      !flam_v8_is_object (first))
    return;
  for (unsigned i = 0; i < codes->n_headers; i++)
    if (codes->headers[i].word == first)
      return;
  codes->headers[codes->n_headers].word = first;
  codes->headers[codes->n_headers++].size = (uint32_t)(code->start - head);
  memset (codes->misses, 0, sizeof codes->misses);
}

/* The Code of the machine code whose header is at `head`. */
static bool
code_of_header (const FlamV8Layout *layout,
                const FlamRuntimeMemory *memory,
                uint64_t head,
                uint32_t size,
                FlamV8Code *code)
{
  uint64_t back[3];

  if (layout->code_start_inside)
    return flam_v8_code_read (layout, memory, head + 1, code);
  if (!flam_runtime_read (memory, head, back, sizeof back))
    return false;
  for (unsigned i = 1; i < sizeof back / sizeof *back; i++)
    if (flam_v8_code_read (layout, memory, back[i], code) &&
        code->start == head + size)
      return true;
  return false;
}

/* Whether one of the words from `address` on, the highest first, begins the
 * header of the code that contains `pc`. */
static bool
search_piece (const FlamV8Codes *codes,
              const FlamV8Layout *layout,
              const FlamRuntimeMemory *memory,
              uint64_t address,
              const uint64_t *words,
              size_t n,
              uint64_t pc,
              FlamV8Code *code)
{
  for (size_t i = n; i-- > 0;)
    for (unsigned k = 0; k < codes->n_headers; k++)
      if (words[i] == codes->headers[k].word &&
          code_of_header (
              layout, memory, address + 8 * i, codes->headers[k].size, code) &&
          flam_v8_code_contains (code, pc))
        return true;
  return false;
}

static bool
search (const FlamV8Codes *codes,
        const FlamV8Layout *layout,
        const FlamRuntimeMemory *memory,
        uint64_t pc,
        FlamV8Code *code)
{
  uint64_t words[SEARCH_PIECE / 8];
  uint64_t end = pc & ~7ull;

  for (uint64_t searched = 0; searched < SEARCH_MAX;)
    {
      uint64_t start = (end - 1) & ~(uint64_t)(SEARCH_PIECE - 1);
      size_t size = (size_t)(end - start);

      if (end < SEARCH_PIECE || !flam_runtime_read (memory, start, words, size))
        return false;
      if (search_piece (
              codes, layout, memory, start, words, size / 8, pc, code))
        return true;
      searched += size;
      end = start;
    }
  return false;
}

static bool
guess_at (const FlamV8Layout *layout,
          const FlamRuntimeMemory *memory,
          uint64_t head,
          const uint64_t *words,
          uint64_t pc,
          FlamV8Code *code)
{
  return flam_v8_is_object (words[0]) &&
         (layout->code_start_inside || flam_v8_is_object (words[1])) &&
         flam_v8_code_read (layout,
                            memory,
                            layout->code_start_inside ? head + 1 : words[1],
                            code) &&
         flam_v8_code_contains (code, pc) && code->start > head &&
         code->start - head <= HEADER_MAX;
}

/* Without a header of a known form: two tagged words, of which the second
 * points to the Code of the machine code at `pc`; or the Code itself. */
static bool
guess_in_piece (FlamV8Codes *codes,
                const FlamV8Layout *layout,
                const FlamRuntimeMemory *memory,
                uint64_t address,
                const uint64_t *words,
                size_t n,
                uint64_t pc)
{
  for (size_t i = n; i-- > 1;)
    {
      uint64_t head = address + 8 * (i - 1);
      FlamV8Code code;

      if (guess_at (layout, memory, head, words + i - 1, pc, &code))
        {
          codes->headers[0].word = words[i - 1];
          codes->headers[0].size = (uint32_t)(code.start - head);
          codes->n_headers = 1;
          return true;
        }
    }
  return false;
}

static void
guess_header (FlamV8Codes *codes,
              const FlamV8Layout *layout,
              const FlamRuntimeMemory *memory,
              uint64_t pc)
{
  uint64_t words[SEARCH_PIECE / 8];
  uint64_t end = pc & ~7ull;

  if (codes->n_guesses++ >= GUESSES_MAX)
    return;
  for (uint64_t searched = 0; searched < GUESS_MAX;)
    {
      uint64_t start = (end - 1) & ~(uint64_t)(SEARCH_PIECE - 1);
      size_t size = (size_t)(end - start);

      if (end < SEARCH_PIECE ||
          !flam_runtime_read (memory, start, words, size) ||
          guess_in_piece (codes, layout, memory, start, words, size / 8, pc))
        return;
      searched += size;
      end = start;
    }
}

/* The first known code that ends after `pc`. */
static unsigned
place_of (const FlamV8Codes *codes, uint64_t pc)
{
  unsigned low = 0, high = codes->n_codes;

  while (low < high)
    {
      unsigned middle = low + (high - low) / 2;

      if (codes->codes[middle].start + codes->codes[middle].size <= pc)
        low = middle + 1;
      else
        high = middle;
    }
  return low;
}

static void
drop (FlamV8Codes *codes, unsigned at, unsigned n)
{
  memmove (codes->codes + at,
           codes->codes + at + n,
           (codes->n_codes - at - n) * sizeof *codes->codes);
  codes->n_codes -= n;
}

/* Known code that overlaps has gone. */
static void
keep (FlamV8Codes *codes, const FlamV8Code *code)
{
  unsigned at = place_of (codes, code->start), end = at;

  while (end < codes->n_codes &&
         codes->codes[end].start < code->start + code->size)
    end++;
  drop (codes, at, end - at);
  if (codes->n_codes == FLAM_V8_CODES_MAX)
    codes->n_codes = at = 0;
  memmove (codes->codes + at + 1,
           codes->codes + at,
           (codes->n_codes - at) * sizeof *codes->codes);
  codes->codes[at].start = code->start;
  codes->codes[at].size = code->size;
  codes->codes[at].object = code->object;
  codes->n_codes++;
}

bool
flam_v8_codes_find (FlamV8Codes *codes,
                    const FlamV8Layout *layout,
                    const FlamRuntimeMemory *memory,
                    uint64_t pc,
                    FlamV8Code *code)
{
  unsigned at = place_of (codes, pc);
  uint64_t *miss =
      &codes->misses[(pc * 0x9e3779b97f4a7c15ull) >> 58]; /* FLAM_V8_MISSES */

  if (at < codes->n_codes && codes->codes[at].start <= pc)
    {
      if (flam_v8_code_read (layout, memory, codes->codes[at].object, code) &&
          code->start == codes->codes[at].start &&
          flam_v8_code_contains (code, pc))
        return true;
      drop (codes, at, 1);
    }
  if (++codes->searches % FORGET_AFTER == 0)
    memset (codes->misses, 0, sizeof codes->misses);
  if (*miss == pc)
    return false;
  if (codes->n_headers == 0)
    guess_header (codes, layout, memory, pc);
  if (search (codes, layout, memory, pc, code))
    {
      keep (codes, code);
      return true;
    }
  *miss = pc;
  return false;
}
