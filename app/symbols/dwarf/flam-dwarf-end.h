/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where a DIE ends. libdw does not say, and to find what follows a DIE with
 * children it walks over all of them again, unless DW_AT_sibling names it,
 * which clang and rustc never write: a walk would cost its depth times over.
 *
 *   ... | code attr attr attr | 00 | code attr ...
 *         the last child        ▲    ▲
 *                               │    what follows its parent
 *                               flam_dwarf_end() */

#include <elfutils/libdw.h>
#include <glib.h>

/* The first byte behind the attributes of `die`, NULL when that cannot be found
 * (a form that is not known, damage). */
const guint8 *flam_dwarf_end (Dwarf_Die *die);
/* The first byte behind the unit that `die` is in; NULL likewise. */
const guint8 *flam_dwarf_unit_end (Dwarf_Die *die);
/* Bytes of the unit that `die` is in, its header included. */
guint64 flam_dwarf_unit_length (Dwarf_Die *die);
