/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_STARTS_H
#define FLAM_UNWIND_STARTS_H

/* Where the functions of compiled code without CFI begin: at its symbols and at
 * the targets of its direct calls. musl has 1,700 of them, and a function that
 * follows one whose last instruction is a call cannot always be found by its
 * own instructions. */

#include "flam-unwind-rows.h"

typedef struct
{
  uint32_t *at; /* offsets in the file, ascending */
  size_t n;
  size_t allocated;
} FlamUnwindStarts;

/* Reads all code. Without memory, or for another processor, there are fewer or
 * none. End with flam_unwind_starts_clear(). */
void flam_unwind_starts_init (FlamUnwindStarts *starts,
                              const FlamUnwindSections *sections);
void flam_unwind_starts_clear (FlamUnwindStarts *starts);

bool flam_unwind_starts_has (const FlamUnwindStarts *starts, uint32_t offset);

#endif
