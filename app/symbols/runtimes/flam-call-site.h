/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALL_SITE_H
#define FLAM_CALL_SITE_H

/* Whether an address follows a call, so that it can be returned to. */

#include "flam-runtime-memory.h"

typedef enum
{
  FLAM_CALL_NONE,
  FLAM_CALL_DIRECT,  /* call n */
  FLAM_CALL_POINTER, /* by an address in a register or in memory */
} FlamCallKind;

/* Of the instruction right before `address`. */
FlamCallKind flam_call_site_kind (const FlamRuntimeMemory *memory,
                                  uint64_t address);

#endif
