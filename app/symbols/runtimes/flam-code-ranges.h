/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CODE_RANGES_H
#define FLAM_CODE_RANGES_H

/* The functions of a stripped binary, by its call frame information: where they
 * begin and end, and which ones a known function calls. So an interpreter's
 * loop is found in a binary that exports only the functions around it.
 *
 *   rb_vm_exec (exported) ──▶ vm_exec_core (static): the largest one it calls
 *   lua_callk  (exported) ──▶ ... ──▶ luaV_execute (hidden)
 *   rb_vm_exec (hidden) ──▶ vm_exec_core: the one that jumps most */

#include "flam-elf.h"

/* Addresses as in the file. */
typedef struct
{
  guint64 start;
  guint64 end;
} FlamCodeRange;

typedef struct _FlamCodeRanges FlamCodeRanges;

/* x86-64 only; any other binary has no ranges. `elf` must outlive it. */
FlamCodeRanges *flam_code_ranges_new (const FlamElf *elf);
void flam_code_ranges_free (FlamCodeRanges *ranges);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamCodeRanges, flam_code_ranges_free)

/* The function that contains `vaddr`. */
gboolean flam_code_ranges_find (const FlamCodeRanges *ranges,
                                guint64 vaddr,
                                FlamCodeRange *range);
/* The largest of the functions that the one at `vaddr` reaches by at most
 * `depth` direct calls or jumps, itself left out. */
gboolean flam_code_ranges_largest_callee (const FlamCodeRanges *ranges,
                                          guint64 vaddr,
                                          guint depth,
                                          FlamCodeRange *range);

/* The function with most jumps to addresses that it computes: the loop of an
 * interpreter, which jumps so from each instruction to the next. FALSE: none
 * has many more than all others. */
gboolean flam_code_ranges_dispatcher (const FlamCodeRanges *ranges,
                                      FlamCodeRange *range);
/* The function that calls the one at `vaddr` in several places; if there are
 * more, the one with most. */
gboolean flam_code_ranges_caller (const FlamCodeRanges *ranges,
                                  guint64 vaddr,
                                  FlamCodeRange *range);

/* The bytes in the file from an address on, `n` of them; NULL: none. */
const guint8 *flam_elf_bytes (const FlamElf *elf, guint64 vaddr, gsize *n);

#endif
