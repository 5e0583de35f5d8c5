/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DWARF_DWO_H
#define FLAM_DWARF_DWO_H

/* Makes a split unit of a package readable by libdw, which does not read
 * packages before 0.191: the unit is put together in memory, with the parts of
 * the program that its indices and offsets refer to.
 *
 *   a memfd, gone once mapped             a skeleton in memory
 *   ┌───────────────────────┐             ┌───────────────────────┐
 *   │ .debug_info.dwo       │◀─────────── │ dwo name /proc/self/  │
 *   │ .debug_abbrev.dwo     │   opened by │          fd/N         │
 *   │ .debug_str_offsets.dwo│   libdw     │ dwo id                │
 *   │ .debug_str.dwo        │             │ low pc                │
 *   │ .debug_rnglists.dwo   │             └───────────────────────┘
 *   │ .debug_addr.dwo   ◀── the program's .debug_addr, from this unit's base
 *   │ .debug_ranges.dwo ◀── its .debug_ranges, likewise (DWARF 4)
 *   └───────────────────────┘
 *
 * Only strings of the unit itself are included, and locations of variables are
 * left out: it is at most as big as the .dwo file of one compiler run. Sources:
 * DWARF 5 sections 7.3.2, 7.5.1 and 7.26; gcc.gnu.org/wiki/DebugFission. */

#include "flam-dwarf-package.h"

#include <elfutils/libdw.h>

typedef struct _FlamDwarfDwo FlamDwarfDwo;

typedef struct
{
  guint64 id;
  guint64 low_pc; /* base of the offsets of its ranges */
  FlamDwarfPiece addresses;
  FlamDwarfPiece ranges;
} FlamDwarfSkeleton;

/* NULL if libdw does not accept it as a split unit, or if it would be larger
 * than `size_max` bytes. No reference to the pieces is kept. */
FlamDwarfDwo *flam_dwarf_dwo_new (const FlamDwarfPieces *pieces,
                                  const FlamDwarfSkeleton *skeleton,
                                  guint64 size_max);
void flam_dwarf_dwo_free (FlamDwarfDwo *dwo);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDwarfDwo, flam_dwarf_dwo_free)

/* The split unit's DIE; valid as long as `dwo`. */
Dwarf_Die flam_dwarf_dwo_get_die (const FlamDwarfDwo *dwo);
/* The size in bytes. */
guint64 flam_dwarf_dwo_get_size (const FlamDwarfDwo *dwo);

#endif
