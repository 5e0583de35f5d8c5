/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_SCAN_H
#define FLAM_UNWIND_SCAN_H

/* Functions without CFI: assembler code (video codecs, mathematics), and
 * functions for which compilers write none (rustc: main with panic=abort).
 * Their instructions are read in order, and their effects on the stack pointer
 * give the rows:
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
 * This is a guess if code is entered from elsewhere, or if data lies between
 * instructions, so these rows have a kind of their own: a return address that
 * is not code shows that the guess was wrong, and the frame pointer is tried
 * (flam-unwind-loop.h). Where a frame pointer was set up, and where rsp was
 * computed or loaded, there is a row of kind NONE.
 *
 * An alignment of up to 16 bytes makes a frame of a known size, since the CFA
 * is a multiple of 16. A larger one leaves the CFA unknown from rsp alone: rows
 * are rules then, based on the value from which the function itself restores
 * rsp, an earlier copy of it in a register or on the stack:
 *
 *    f:  mov  %rsp, %rax      CFA = rsp + 8
 *        sub  $96, %rsp       rsp + 104
 *        and  $-32, %rsp      rax + 8, and 104 <= CFA - rsp < 104 + 32
 *        mov  %rax, 64(%rsp)  *(rsp + 64) + 8
 *        ...
 *        mov  64(%rsp), %rsp  rsp + 8
 *        ret */

#include "flam-unwind-rows.h"
#include "flam-unwind-starts.h"

/* Takes a row; rows come in ascending order of their pcs. `rule` is the rule of
 * a row of kind RULE, which has no number yet; otherwise NULL. */
typedef void (*FlamUnwindAdd) (void *data,
                               FlamUnwindRow row,
                               const FlamUnwindRule *rule);

/* Reads the gap [start, end) in the CFI, as file offsets. `starts`: its code is
 * compiled, so a function may begin at any address; NULL: it is handwritten. */
void flam_unwind_scan (const FlamUnwindSections *sections,
                       uint32_t start,
                       uint32_t end,
                       const FlamUnwindStarts *starts,
                       FlamUnwindAdd add,
                       void *data);

#endif
