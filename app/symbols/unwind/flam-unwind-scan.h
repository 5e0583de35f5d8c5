/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Functions without CFI: assembler code (video codecs, mathematics), and what
 * compilers leave out (rustc: main with panic=abort). Their instructions are
 * read in order, and what these do to the stack pointer gives the rows:
 *
 *                         depth = CFA - rsp
 *    f:  push %rbx          8     a function begins at a multiple of 16,
 *        sub  $64, %rsp    16     behind the end of the one before
 *        ...               80
 *        je   1f           80 ──┐ a branch takes the depth along
 *        add  $64, %rsp    80   │
 *        pop  %rbx         16   │
 *        ret                8   │
 *    1:  ...               80 ◀─┘ unless it is known: that behind the prologue
 *
 * That is a guess where code is entered from elsewhere, or where data lies
 * between instructions, so these rows have a kind of their own: a return
 * address that is not code shows that it was wrong, and the frame pointer is
 * tried (flam-unwind-loop.h). Where a frame pointer was made, and where rsp was
 * aligned or loaded, there is a row of kind NONE. */

#include "flam-unwind-rows.h"

/* Takes a row; rows come in ascending order of their pcs. */
typedef void (*FlamUnwindAdd) (void *data, FlamUnwindRow row);

/* Reads the gap [start, end) of the CFI, offsets in the file. */
void flam_unwind_scan (const FlamUnwindSections *sections,
                       uint32_t start,
                       uint32_t end,
                       FlamUnwindAdd add,
                       void *data);
