/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A split unit out of a package as libdw can read it, which before 0.191 reads
 * no packages: put together again in memory, with what its indices and offsets
 * stand for in the program.
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
 * Strings are the unit's own alone, and what says where variables are is left
 * out: it is as big as one compiler run's .dwo at most. Sources: DWARF 5
 * sections 7.3.2, 7.5.1 and 7.26; gcc.gnu.org/wiki/DebugFission. */

#include "flam-dwarf-package.h"

#include <elfutils/libdw.h>

typedef struct _FlamDwarfDwo FlamDwarfDwo;

typedef struct
{
  guint64 id;
  guint64 low_pc; /* what its ranges' offsets are relative to */
  FlamDwarfPiece addresses;
  FlamDwarfPiece ranges;
} FlamDwarfSkeleton;

/* NULL when libdw takes it for no split unit, or when it would be larger than
 * `size_max` bytes. Nothing of the pieces is kept. */
FlamDwarfDwo *flam_dwarf_dwo_new (const FlamDwarfPieces *pieces,
                                  const FlamDwarfSkeleton *skeleton,
                                  guint64 size_max);
void flam_dwarf_dwo_free (FlamDwarfDwo *dwo);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDwarfDwo, flam_dwarf_dwo_free)

/* The split unit's DIE; lives as long as `dwo`. */
Dwarf_Die flam_dwarf_dwo_get_die (const FlamDwarfDwo *dwo);
/* In bytes. */
guint64 flam_dwarf_dwo_get_size (const FlamDwarfDwo *dwo);
