/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DWARF_INDEX_H
#define FLAM_DWARF_INDEX_H

/* DWARF, inverted: from an address to the functions that contain it.
 *
 *   units    [401000,401800) ▶ unit 0     CU ranges, read at the beginning
 *            [401800,409000) ▶ unit 1
 *               │ first address in it: one walk over its DIEs
 *               ▼
 *   slices   401000 ▶ node 0              the innermost node at each address
 *            401040 ▶ node 2
 *            401058 ▶ node 0
 *               │
 *   nodes    #  parent  DIE     call       a function, or one inlined into
 *            0    -     main    -          its parent
 *            1    0     mix2    nest.c:13
 *            2    1     mix1    nest.c:10
 *
 * Units without a look-up are never walked. Names are resolved once, and only
 * for the nodes that are shown. The line table is read and sorted by libdw.
 * Limits apply to hostile files: depth of DIEs, ranges per unit.
 *
 * DWARF 2 to 5, dwz's supplementary file, packed sections: as far as libdw
 * reads them. Split units: flam-dwarf-split.h. Sources: DWARF 5
 * sections 2.17, 3.3, 6.2; libdw. */

#include "flam-debug-files.h"
#include "flam-intervals.h"

typedef struct _FlamDwarfIndex FlamDwarfIndex;

typedef struct
{
  const char *name;      /* not demangled; NULL: unknown */
  gboolean linkage;      /* name is a linkage name */
  const char *file;      /* of the definition; NULL: unknown */
  const char *directory; /* the base of `file`; NULL: unknown */
  guint32 first_line;    /* 0: unknown */
  const char *line_file; /* of this address; NULL: unknown */
  const char *line_directory;
  guint32 line; /* 0: unknown */
} FlamDwarfFrame;

/* NULL if `elf` (the debug file of `binary`, or `binary` itself) has no DWARF.
 * All must outlive the index. `directories` as for flam_debug_file_find(). */
FlamDwarfIndex *flam_dwarf_index_new (const FlamElf *elf,
                                      const FlamElf *binary,
                                      const char *const *directories);
void flam_dwarf_index_free (FlamDwarfIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDwarfIndex, flam_dwarf_index_free)

/* Appends FlamDwarfFrames, outermost first, to `frames`. For a line without a
 * function there is one frame without a name. FALSE: nothing found. Strings
 * live as long as the index. */
gboolean
flam_dwarf_index_lookup (FlamDwarfIndex *index, guint64 vaddr, GArray *frames);

/* The number of units, and the number of those that have been walked so far. */
guint flam_dwarf_index_count (const FlamDwarfIndex *index, guint *walked);
/* The number of walked units whose functions are in a .dwo file, where neither
 * that file nor a package was found: such units have lines, but no inlined
 * functions. */
guint flam_dwarf_index_count_missing (const FlamDwarfIndex *index);

#endif
