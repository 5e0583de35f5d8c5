/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-call-site.h"

FlamCallKind
flam_call_site_kind (const FlamRuntimeMemory *memory, uint64_t address)
{
  uint8_t code[6];

  if (!flam_runtime_read (memory, address - sizeof code, code, sizeof code))
    return FLAM_CALL_NONE;
  /* call [rip + n]; call [register + n]; call register, or [register]. */
  if ((code[0] == 0xff && (code[1] == 0x15 || (code[1] & 0xf8) == 0x90)) ||
      (code[3] == 0xff && (code[4] & 0xf8) == 0x50) ||
      (code[4] == 0xff &&
       ((code[5] & 0xf8) == 0xd0 || (code[5] & 0xf8) == 0x10)))
    return FLAM_CALL_POINTER;
  return code[1] == 0xe8 ? FLAM_CALL_DIRECT : FLAM_CALL_NONE;
}
