/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DWARF_PACKAGE_H
#define FLAM_DWARF_PACKAGE_H

/* A package of split units, PROGRAM.dwp: the concatenated sections of the .dwo
 * files of all units, and an index of the position of each unit's pieces.
 *
 *   .debug_cu_index   header    version, N columns, U rows, S slots
 *                     ids       S x 8   a hash table of dwo ids ...
 *                     rows      S x 4   ... and their rows, from 1; 0 is empty
 *                     columns   N x 4      INFO  ABBREV  STR_OFFSETS ...
 *                     offsets   U x N x 4  0     0       0
 *                                          2b9   285     50
 *                     sizes     U x N x 4  2b9   285     50
 *                                          31c   1d0     5c
 *                                           │
 *   .debug_info.dwo   ├── unit ──┼── unit ──▼──┤     strings are in common:
 *   .debug_abbrev.dwo ├── unit ──┼── unit ─────┤     .debug_str.dwo
 *
 * Supported are DWARF 5 and its predecessor, GNU's version 2, which is used
 * with DWARF 4. All data of a package is checked: every returned piece is
 * within its section. Type units are not looked up: functions and the names
 * around them are described in the unit itself.
 *
 * Sources: DWARF 5 section 7.3.5; for version 2 "DWARF Extensions for Separate
 * Debug Information Files", gcc.gnu.org/wiki/DebugFissionDWP. */

#include "flam-elf.h"

typedef struct _FlamDwarfPackage FlamDwarfPackage;

typedef struct
{
  const guint8 *data; /* NULL: absent */
  guint64 size;
} FlamDwarfPiece;

typedef struct
{
  FlamDwarfPiece info;
  FlamDwarfPiece abbrev;
  FlamDwarfPiece str_offsets;
  FlamDwarfPiece rnglists; /* DWARF 5 */
  FlamDwarfPiece strings;  /* of all units */
} FlamDwarfPieces;

/* A whole section of `elf`. */
FlamDwarfPiece flam_dwarf_piece_whole (const FlamElf *elf, const char *name);

/* Takes ownership of `elf`. NULL if it is not a package, or has the other byte
 * order. */
FlamDwarfPackage *flam_dwarf_package_new (FlamElf *elf);
void flam_dwarf_package_free (FlamDwarfPackage *package);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDwarfPackage, flam_dwarf_package_free)

/* FALSE if the unit with this dwo id is not in it. The pieces live as long as
 * the package. */
gboolean flam_dwarf_package_find (const FlamDwarfPackage *package,
                                  guint64 id,
                                  FlamDwarfPieces *pieces);

#endif
