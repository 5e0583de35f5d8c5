/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where the functions of a unit are that was compiled with -gsplit-dwarf. The
 * program has but a skeleton of it, whose line table and addresses are used:
 *
 *   in the program, or its debug file       elsewhere
 *   .debug_info    skeleton: dwo name, id   1. the .dwo file of that name
 *   .debug_line    files and lines          2. PROGRAM.dwp, by the id
 *   .debug_addr    ◀── indices ──────────── functions
 *   .debug_ranges  ◀── offsets (DWARF 4) ──
 *
 * The first is libdw's, the second flam-dwarf-package.h and flam-dwarf-dwo.h.
 * Only of units that are looked up is anything read. Sources: DWARF 5 section
 * 3.1.2 and appendix F; gcc.gnu.org/wiki/DebugFission. */

#include "flam-elf.h"

#include <elfutils/libdw.h>

typedef struct _FlamDwarfSplit FlamDwarfSplit;

/* `dwarf` is what `elf` has: the debug file of `binary`, or `binary` itself.
 * All must outlive it; `directories` as for flam_debug_file_find(). */
FlamDwarfSplit *flam_dwarf_split_new (const FlamElf *elf,
                                      Dwarf *dwarf,
                                      const FlamElf *binary,
                                      const char *const *directories);
void flam_dwarf_split_free (FlamDwarfSplit *split);

/* What holds the functions of `cu`: the unit's own DIE where it is not split.
 * FALSE: neither file is to be found. */
gboolean
flam_dwarf_split_find (FlamDwarfSplit *split, Dwarf_CU *cu, Dwarf_Die *die);
