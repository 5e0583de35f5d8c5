/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-cfi.h"

#include <string.h>

uint8_t
flam_unwind_read_u8 (FlamUnwindBytes *bytes)
{
  if (bytes->p >= bytes->end)
    {
      bytes->bad = true;
      return 0;
    }
  return *bytes->p++;
}

static uint64_t
read_fixed (FlamUnwindBytes *bytes, unsigned size)
{
  uint64_t value = 0;

  if ((size_t)(bytes->end - bytes->p) < size)
    {
      bytes->p = bytes->end;
      bytes->bad = true;
      return 0;
    }
  memcpy (&value, bytes->p, size);
  bytes->p += size;
  return value;
}

uint16_t
flam_unwind_read_u16 (FlamUnwindBytes *bytes)
{
  return (uint16_t)read_fixed (bytes, 2);
}

uint32_t
flam_unwind_read_u32 (FlamUnwindBytes *bytes)
{
  return (uint32_t)read_fixed (bytes, 4);
}

uint64_t
flam_unwind_read_u64 (FlamUnwindBytes *bytes)
{
  return read_fixed (bytes, 8);
}

uint64_t
flam_unwind_read_uleb (FlamUnwindBytes *bytes)
{
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;

  do
    {
      byte = flam_unwind_read_u8 (bytes);
      if (shift < 64)
        value |= (uint64_t)(byte & 0x7f) << shift;
      shift += 7;
    }
  while (byte & 0x80);
  return value;
}

int64_t
flam_unwind_read_sleb (FlamUnwindBytes *bytes)
{
  uint64_t value = 0;
  unsigned shift = 0;
  uint8_t byte;

  do
    {
      byte = flam_unwind_read_u8 (bytes);
      if (shift < 64)
        value |= (uint64_t)(byte & 0x7f) << shift;
      shift += 7;
    }
  while (byte & 0x80);
  if (shift < 64 && (byte & 0x40))
    value |= ~(uint64_t)0 << shift;
  return (int64_t)value;
}

FlamUnwindBytes
flam_unwind_read_view (FlamUnwindBytes *bytes, uint64_t size)
{
  FlamUnwindBytes view = { bytes->p, bytes->p, false };

  if (size > (uint64_t)(bytes->end - bytes->p))
    {
      bytes->p = bytes->end;
      bytes->bad = view.bad = true;
      return view;
    }
  bytes->p += size;
  view.end = bytes->p;
  return view;
}
