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

/* Seven bits per byte; `bits`: their total number, `last`: the last byte. */
static uint64_t
read_leb (FlamUnwindBytes *bytes, unsigned *bits, uint8_t *last)
{
  uint64_t value = 0;

  *bits = 0;
  do
    {
      *last = flam_unwind_read_u8 (bytes);
      if (*bits < 64)
        value |= (uint64_t)(*last & 0x7f) << *bits;
      *bits += 7;
    }
  while (*last & 0x80);
  return value;
}

uint64_t
flam_unwind_read_uleb (FlamUnwindBytes *bytes)
{
  unsigned bits;
  uint8_t last;

  return read_leb (bytes, &bits, &last);
}

int64_t
flam_unwind_read_sleb (FlamUnwindBytes *bytes)
{
  unsigned bits;
  uint8_t last;
  uint64_t value = read_leb (bytes, &bits, &last);

  if (bits < 64 && (last & 0x40))
    value |= ~(uint64_t)0 << bits;
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
