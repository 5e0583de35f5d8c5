/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DWARF_SPLIT_H
#define FLAM_DWARF_SPLIT_H

/* Finds the functions of a unit that was compiled with -gsplit-dwarf. The
 * program contains only a skeleton of it, whose line table and addresses are
 * used:
 *
 *   in the program, or its debug file       elsewhere
 *   .debug_info    skeleton: dwo name, id   1. the .dwo file of that name
 *   .debug_line    files and lines          2. PROGRAM.dwp, by the id
 *   .debug_addr    ◀── indices ──────────── functions
 *   .debug_ranges  ◀── offsets (DWARF 4) ──
 *
 * The first is read by libdw, the second by flam-dwarf-package.h and
 * flam-dwarf-dwo.h. Data is read only for units that are looked up. Sources:
 * DWARF 5 section 3.1.2 and appendix F; gcc.gnu.org/wiki/DebugFission. */

#include "flam-elf.h"

#include <elfutils/libdw.h>

typedef struct _FlamDwarfSplit FlamDwarfSplit;

/* `dwarf` is read from `elf`: the debug file of `binary`, or `binary` itself.
 * All must outlive it; `directories` as for flam_debug_file_find(). */
FlamDwarfSplit *flam_dwarf_split_new (const FlamElf *elf,
                                      Dwarf *dwarf,
                                      const FlamElf *binary,
                                      const char *const *directories);
void flam_dwarf_split_free (FlamDwarfSplit *split);

/* The DIE with the functions of `cu`: the unit's own DIE if it is not split.
 * FALSE: neither file was found. */
gboolean
flam_dwarf_split_find (FlamDwarfSplit *split, Dwarf_CU *cu, Dwarf_Die *die);

#endif
