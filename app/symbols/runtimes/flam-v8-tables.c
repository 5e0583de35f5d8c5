/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-v8-tables.h"

#define PIECE 256

/* Bytes of the memory, read ahead. */
typedef struct
{
  const FlamRuntimeMemory *memory;
  uint64_t next;
  uint64_t left;
  unsigned at;
  unsigned n;
  uint8_t bytes[PIECE];
} Bytes;

static void
begin (Bytes *bytes,
       const FlamRuntimeMemory *memory,
       uint64_t address,
       uint64_t size)
{
  bytes->memory = memory;
  bytes->next = address;
  bytes->left = size < FLAM_V8_TABLE_MAX ? size : FLAM_V8_TABLE_MAX;
  bytes->at = bytes->n = 0;
}

static bool
next (Bytes *bytes, uint8_t *byte)
{
  if (bytes->at == bytes->n)
    {
      unsigned n = bytes->left < PIECE ? (unsigned)bytes->left : PIECE;

      if (n == 0 ||
          !flam_runtime_read (bytes->memory, bytes->next, bytes->bytes, n))
        return false;
      bytes->next += n;
      bytes->left -= n;
      bytes->at = 0;
      bytes->n = n;
    }
  *byte = bytes->bytes[bytes->at++];
  return true;
}

/* Seven bits per byte, the lowest first; bit 7 is set if more follow. */
static bool
next_unsigned (Bytes *bytes, uint64_t *value)
{
  unsigned shift = 0;
  uint8_t byte;

  *value = 0;
  do
    {
      if (!next (bytes, &byte))
        return false;
      if (shift < 64)
        *value |= (uint64_t)(byte & 127) << shift;
      shift += 7;
    }
  while (byte & 128);
  return true;
}

static bool
next_signed (Bytes *bytes, int64_t *value)
{
  uint64_t bits;

  if (!next_unsigned (bytes, &bits))
    return false;
  *value = (int64_t)(bits >> 1 ^ -(bits & 1));
  return true;
}

/* Bit 0: in another file, without an offset here; 30 bits: the offset + 1; 16
 * bits: the inlined function. */
FlamV8Position
flam_v8_position (uint64_t value)
{
  uint32_t offset = (uint32_t)(value >> 1) & ((1u << 30) - 1);

  return (FlamV8Position){ .known = !(value & 1) && offset > 0,
                           .offset = offset - (offset > 0),
                           .inlined = (uint16_t)(value >> 31) };
}

/* The difference to the last code offset, which is at least 0. For an
 * expression, -(difference + 1) is stored instead of the difference for a
 * statement; from V8 14 on two bits contain such properties. */
static bool
next_code (Bytes *bytes, bool flags, uint64_t *code)
{
  uint64_t bits;
  int64_t step;

  if (flags)
    {
      if (!next_unsigned (bytes, &bits))
        return false;
      *code += bits >> 2;
      return true;
    }
  if (!next_signed (bytes, &step))
    return false;
  *code += step < 0 ? (uint64_t)~step : (uint64_t)step;
  return true;
}

/* Pairs: a code offset, counted from -1, and the difference to the last
 * position. */
FlamV8Position
flam_v8_position_at (const FlamRuntimeMemory *memory,
                     uint64_t table,
                     uint64_t size,
                     bool flags,
                     uint64_t offset)
{
  uint64_t code = (uint64_t)-1, position = 0;
  int64_t change;
  bool found = false, before = false;
  Bytes bytes;

  begin (&bytes, memory, table, size);
  while (next_code (&bytes, flags, &code) && next_signed (&bytes, &change))
    {
      if ((int64_t)code > (int64_t)offset)
        {
          before = !found;
          break;
        }
      position += (uint64_t)change;
      found = true;
    }
  return found ? flam_v8_position (position)
               : (FlamV8Position){ .before = before };
}

/* A prefix selects wide operands: 0 and 2 those of two bytes, 1 and 3 those of
 * four (2 and 3 for breakpoints). Returns the length, 0 at the end. */
static uint64_t
skip_bytecode (Bytes *code, const uint8_t *lengths, uint32_t n)
{
  unsigned prefix = 0, scale = 0, length;
  uint8_t op;

  if (!next (code, &op))
    return 0;
  if (op <= 3)
    {
      prefix = 1;
      scale = 1 + (op & 1);
      if (!next (code, &op))
        return 0;
    }
  length = op < n ? lengths[scale * n + op] : 0;
  for (unsigned i = 1; i < length; i++)
    if (!next (code, &op))
      return 0;
  return length > 0 ? prefix + length : 0;
}

/* A length for the prologue, then one for each bytecode. */
bool
flam_v8_baseline_bytecode (const FlamRuntimeMemory *memory,
                           uint64_t table,
                           uint64_t size,
                           const FlamV8Bytecodes *bytecodes,
                           uint64_t offset,
                           uint64_t *bytecode)
{
  uint8_t lengths[3 * 256];
  uint32_t n = bytecodes->n_lengths;
  uint64_t end, length, step;
  Bytes positions, code;

  if (n == 0 || n > 256 ||
      !flam_runtime_read (memory, bytecodes->lengths, lengths, 3 * (size_t)n))
    return false;
  begin (&positions, memory, table, size);
  begin (&code, memory, bytecodes->code, bytecodes->size);
  *bytecode = 0;
  if (!next_unsigned (&positions, &end) || offset < end)
    return false;
  while (next_unsigned (&positions, &step))
    {
      end += step;
      if (offset < end)
        return true;
      length = skip_bytecode (&code, lengths, n);
      if (length == 0)
        return false;
      *bytecode += length;
    }
  return false;
}
