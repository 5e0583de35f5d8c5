/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Functions without CFI.
 *
 * Some compilers leave it out for a function that nothing is thrown through:
 * rustc for main with panic=abort. Such a function is recognized by its
 * prologue, as long as nothing but pushes and one subtraction makes its frame:
 *
 *   [endbr64]  [push REG] ...  [sub $N, %rsp]     CFA = rsp + 8 + what they do
 *
 * One that begins with `push %rbp` has a frame pointer, which is tried without
 * a row. Functions begin at multiples of 16, behind the end of another or what
 * fills the room between. A large gap is left alone. */

#include "flam-unwind-rows.h"

/* Rows of one gap at most. */
#define FLAM_UNWIND_PROLOGUE_ROWS 16

/* Rows of the functions in a gap of the CFI, [start, end) as offsets in the
 * file; returns how many. */
uint32_t
flam_unwind_prologue_rows (const FlamUnwindSections *sections,
                           uint32_t start,
                           uint32_t end,
                           FlamUnwindRow rows[FLAM_UNWIND_PROLOGUE_ROWS]);
