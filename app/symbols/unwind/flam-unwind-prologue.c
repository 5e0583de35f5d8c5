/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-prologue.h"

#include <string.h>

#define SMALL 1024 /* bytes of a gap that are examined */
#define ALIGNED 16 /* alignment of functions */

static const uint8_t *
code_at (const FlamUnwindSections *sections, uint32_t offset, uint32_t size)
{
  for (unsigned i = 0; i < sections->n_segments; i++)
    {
      const FlamUnwindSegment *segment = &sections->segments[i];

      if (segment->code && offset >= segment->offset &&
          offset - segment->offset < segment->size &&
          size <= segment->size - (offset - segment->offset))
        return segment->code + (offset - segment->offset);
    }
  return NULL;
}

/* The length of the prologue instruction at `code`, and the number of bytes by
 * which it moves rsp; 0: not a prologue instruction. */
static uint32_t
prologue_step (const uint8_t *code, uint32_t left, uint32_t *moved)
{
  *moved = 8;
  if (left >= 1 && code[0] >= 0x50 && code[0] <= 0x57)
    return 1;
  if (left >= 2 && code[0] == 0x41 && code[1] >= 0x50 && code[1] <= 0x57)
    return 2;
  if (left >= 4 && code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xec)
    {
      *moved = code[3];
      return code[3] % 8 == 0 && code[3] < 0x80 ? 4 : 0;
    }
  return 0;
}

/* The bytes before a function: the end of the previous one, or padding between
 * the two. */
static bool
may_begin (const uint8_t *code, uint32_t at)
{
  return at == 0 || code[at - 1] == 0xc3 || code[at - 1] == 0xcc ||
         code[at - 1] == 0x90 || code[at - 1] == 0;
}

/* Makes rows for the function at `at`, if there is one. */
static uint32_t
rows_at (const uint8_t *code,
         uint32_t size,
         uint32_t at,
         uint32_t start,
         FlamUnwindRow *rows,
         uint32_t room)
{
  uint32_t cfa = 8, n = 0, length, moved;
  uint8_t bp = 0;

  if (size - at >= 4 && memcmp (code + at, "\xf3\x0f\x1e\xfa", 4) == 0)
    at += 4;
  if (at < size && code[at] == 0x55)
    return 0;
  while (n < room &&
         (length = prologue_step (code + at, size - at, &moved)) != 0)
    {
      cfa += moved;
      if (code[at] == 0x55)
        bp = (uint8_t)(cfa / 8);
      at += length;
      rows[n++] = (FlamUnwindRow){ .pc = start + at,
                                   .cfa = (uint16_t)(cfa / 8),
                                   .bp = bp,
                                   .how = FLAM_UNWIND_KIND_SP |
                                          FLAM_UNWIND_BX_UNKNOWN << 3 };
      if (length == 4)
        break;
    }
  return n;
}

uint32_t
flam_unwind_prologue_rows (const FlamUnwindSections *sections,
                           uint32_t start,
                           uint32_t end,
                           FlamUnwindRow rows[FLAM_UNWIND_PROLOGUE_ROWS])
{
  uint32_t size = end - start, n = 0;
  const uint8_t *code = size <= SMALL ? code_at (sections, start, size) : NULL;

  if (!code)
    return 0;
  for (uint32_t at = -start % ALIGNED; at < size; at += ALIGNED)
    if (may_begin (code, at) && n + 1 < FLAM_UNWIND_PROLOGUE_ROWS)
      {
        if (n > 0)
          rows[n++] = (FlamUnwindRow){ .pc = start + at };
        n += rows_at (
            code, size, at, start, rows + n, FLAM_UNWIND_PROLOGUE_ROWS - n);
      }
  return n;
}
