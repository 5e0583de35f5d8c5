/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DWARF_UNIT_H
#define FLAM_DWARF_UNIT_H

/* One compilation unit of a FlamDwarfIndex: its walk, and its names. Private to
 * the index, whose header has the diagram. */

#include "flam-dwarf-split.h"
#include "flam-intervals.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

/* A function, or an inlined instance of one. */
typedef struct
{
  Dwarf_Off die;
  FlamId parent; /* node into which it is inlined, or FLAM_NONE */
  FlamId
      function; /* row of the index's functions; FLAM_NONE: not looked up yet */
  const char *call_file;
  guint32 call_line;
} FlamDwarfNode;

/* The possible prefixes of a name: namespaces, classes, functions. In the order
 * of their DIEs, for binary search. */
typedef struct
{
  Dwarf_Off die;
  FlamId parent;
} FlamDwarfScope;

typedef struct
{
  Dwarf_CU *cu;
  Dwarf_Off offset; /* of the unit's DIE */
  Dwarf_Die own;    /* has the line table */
  Dwarf_Die die;    /* has the functions: the same, or that of a split unit */
  gboolean walked;
  gboolean missing_split; /* its .dwo file was not found */
  const char *directory;  /* of its compilation, or NULL */
  gboolean scoped;        /* a language with namespaces or classes */
  FlamIntervals slices;   /* -> nodes */
  guint32 n_nodes;
  FlamDwarfNode *nodes;
  guint32 n_scopes;
  FlamDwarfScope *scopes;
} FlamDwarfUnit;

void flam_dwarf_unit_walk (FlamDwarfUnit *unit, FlamDwarfSplit *split);
void flam_dwarf_unit_clear (FlamDwarfUnit *unit);

/* The source file with this number in the table of the unit with this DIE, or
 * NULL. */
const char *flam_dwarf_file (Dwarf_Die *unit, Dwarf_Word number);
/* "ns::Class::" for a DIE of this unit; may be "". Free it. */
char *flam_dwarf_unit_scope_of (const FlamDwarfUnit *unit, Dwarf_Off die);

/* Whether the range has code: ranges removed by the linker start at 0. */
gboolean flam_dwarf_range_is_live (Dwarf_Addr start, Dwarf_Addr end);

#endif
