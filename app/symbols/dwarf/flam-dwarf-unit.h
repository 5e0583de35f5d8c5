/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* One compilation unit of a FlamDwarfIndex: its walk, and its names. Private
 * to the index; see there for the picture. */

#include "flam-dwarf-split.h"
#include "flam-intervals.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

/* A function, or a place where one was inlined. */
typedef struct
{
  Dwarf_Off die;
  FlamId parent; /* node that it is inlined into, or FLAM_NONE */
  FlamId
      function; /* row of the index's functions; FLAM_NONE: not looked up yet */
  const char *call_file;
  guint32 call_line;
} FlamDwarfNode;

/* What may have to stand before a name: namespaces, classes, functions. In
 * the order of their DIEs, so that one is found by binary search. */
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
  gboolean missing_split; /* names a .dwo file that is not to be had */
  const char *directory;  /* where it was compiled, or NULL */
  gboolean scoped;        /* a language with namespaces or classes */
  FlamIntervals slices;   /* -> nodes */
  guint32 n_nodes;
  FlamDwarfNode *nodes;
  guint32 n_scopes;
  FlamDwarfScope *scopes;
} FlamDwarfUnit;

void flam_dwarf_unit_walk (FlamDwarfUnit *unit, FlamDwarfSplit *split);
void flam_dwarf_unit_clear (FlamDwarfUnit *unit);

/* The source file of this number in the table of the unit whose DIE this is,
 * or NULL. */
const char *flam_dwarf_file (Dwarf_Die *unit, Dwarf_Word number);
/* "ns::Class::" for a DIE of this unit; may be "". Free it. */
char *flam_dwarf_unit_scope_of (const FlamDwarfUnit *unit, Dwarf_Off die);

/* Ranges with code behind them: those that the linker threw away lie at 0. */
gboolean flam_dwarf_range_is_live (Dwarf_Addr start, Dwarf_Addr end);
