/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Functions without CFI.
 *
 * Some compilers omit it for a function through which no exception is thrown:
 * rustc for main with panic=abort. Such a function is recognized by its
 * prologue, if only pushes and one subtraction make its frame:
 *
 *   [endbr64]  [push REG] ...  [sub $N, %rsp]     CFA = rsp + 8 + their sizes
 *
 * A function that begins with `push %rbp` has a frame pointer, which is tried
 * without a row. Functions begin at multiples of 16, after the end of another
 * one or padding. A large gap is not examined. */

#include "flam-unwind-rows.h"

/* The maximum number of rows of one gap. */
#define FLAM_UNWIND_PROLOGUE_ROWS 16

/* Makes rows for the functions in a gap of the CFI, [start, end) as offsets in
 * the file; returns how many. */
uint32_t
flam_unwind_prologue_rows (const FlamUnwindSections *sections,
                           uint32_t start,
                           uint32_t end,
                           FlamUnwindRow rows[FLAM_UNWIND_PROLOGUE_ROWS]);
