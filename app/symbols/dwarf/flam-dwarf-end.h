/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DWARF_END_H
#define FLAM_DWARF_END_H

/* Finds the end of a DIE. libdw does not provide it: to find the successor of a
 * DIE with children it walks over all children again, unless there is a
 * DW_AT_sibling, which clang and rustc never write, so that a walk would take
 * its depth times as long.
 *
 *   ... | code attr attr attr | 00 | code attr ...
 *         the last child        ▲    ▲
 *                               │    what follows its parent
 *                               flam_dwarf_end() */

#include <elfutils/libdw.h>
#include <glib.h>

/* The first byte behind the attributes of `die`, NULL if it cannot be
 * determined (an unknown form, damage). */
const guint8 *flam_dwarf_end (Dwarf_Die *die);
/* The first byte behind the unit of `die`; NULL likewise. */
const guint8 *flam_dwarf_unit_end (Dwarf_Die *die);
/* The size in bytes of the unit of `die`, including its header. */
guint64 flam_dwarf_unit_length (Dwarf_Die *die);

#endif
