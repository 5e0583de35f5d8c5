/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* DWARF, turned around: from an address to the functions that hold it.
 *
 *   units    [401000,401800) ▶ unit 0     CU ranges, read at the beginning
 *            [401800,409000) ▶ unit 1
 *               │ first address in it: one walk over its DIEs
 *               ▼
 *   slices   401000 ▶ node 0              which node is innermost where
 *            401040 ▶ node 2
 *            401058 ▶ node 0
 *               │
 *   nodes    #  parent  DIE     call       a function, or one inlined into
 *            0    -     main    -          its parent
 *            1    0     mix2    nest.c:13
 *            2    1     mix1    nest.c:10
 *
 * Units without a look-up are never walked. Names are resolved for the nodes
 * that are shown, once each. The line table is libdw's, sorted by it. What is
 * hostile in a file is bounded: depth of DIEs, ranges per unit.
 *
 * DWARF 2 to 5, dwz's supplementary file, packed sections: as far as libdw
 * reads them. Split units: flam-dwarf-split.h. Sources: DWARF 5
 * sections 2.17, 3.3, 6.2; libdw. */

#include "flam-debug-files.h"
#include "flam-intervals.h"

typedef struct _FlamDwarfIndex FlamDwarfIndex;

typedef struct
{
  const char *name;      /* not demangled; NULL unknown */
  gboolean linkage;      /* name is a linkage name */
  const char *file;      /* of the definition; NULL unknown */
  const char *directory; /* what `file` is relative to; NULL unknown */
  guint32 first_line;    /* 0 unknown */
  const char *line_file; /* of this place; NULL unknown */
  const char *line_directory;
  guint32 line; /* 0 unknown */
} FlamDwarfFrame;

/* NULL when `elf` (the debug file of `binary`, or that itself) has no DWARF.
 * All must outlive the index. `directories` as for flam_debug_file_find(). */
FlamDwarfIndex *flam_dwarf_index_new (const FlamElf *elf,
                                      const FlamElf *binary,
                                      const char *const *directories);
void flam_dwarf_index_free (FlamDwarfIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDwarfIndex, flam_dwarf_index_free)

/* Appends FlamDwarfFrames, outermost first, to `frames`. With a line and no
 * function there is one frame without a name. FALSE: nothing known. Strings
 * live as long as the index. */
gboolean
flam_dwarf_index_lookup (FlamDwarfIndex *index, guint64 vaddr, GArray *frames);

/* How many units there are, and how many were walked so far. */
guint flam_dwarf_index_count (const FlamDwarfIndex *index, guint *walked);
/* How many of those walked keep their functions in a .dwo file that is not to
 * be found, nor a package: for them there are lines, but no inlined
 * functions. */
guint flam_dwarf_index_count_missing (const FlamDwarfIndex *index);
