/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FUNCTION_RANGES_H
#define FLAM_FUNCTION_RANGES_H

/* The functions of a file that was stripped of their names, as its call frame
 * information bounds them: compilers write one entry (FDE) per function, and
 * one more for a part that they moved away (".cold").
 *
 *   .eh_frame   FDE 1040..10a4   FDE 10b0..1102   FDE 4010..4022 (.cold)
 *   functions   nginx+0x1040     nginx+0x10b0     nginx+0x4010
 *
 * Source: Linux Standard Base Core Specification, "Exception Frames"; x86-64
 * only. */

#include "flam-elf.h"
#include "flam-intervals.h"

typedef struct
{
  guint32 n;
  guint64 *start;    /* vaddr of each function, by the values of `map` */
  guint64 *end;      /* exclusive */
  FlamIntervals map; /* where ranges overlap, the later start wins */
} FlamFunctionRanges;

/* Never fails; a file without call frame information has no ranges. */
void flam_function_ranges_init (FlamFunctionRanges *ranges, const FlamElf *elf);
void flam_function_ranges_clear (FlamFunctionRanges *ranges);
/* FALSE: no function is known to be there. */
gboolean flam_function_ranges_find (const FlamFunctionRanges *ranges,
                                    guint64 vaddr,
                                    guint64 *start,
                                    guint64 *end);

#endif
