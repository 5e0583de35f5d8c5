/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PLT_H
#define FLAM_PLT_H

/* Names for the stubs through which a module calls other modules.
 *
 *   .plt.sec   1030: endbr64; jmp *[3fd8]     .rela.plt
 *              1040: endbr64; jmp *[3fe0]       3fd8 JUMP_SLOT  malloc
 *   .plt.got   1050: jmp *[3ff0]                3fe0 JUMP_SLOT  free
 *
 * On x86-64 each stub's jump is decoded and its slot looked up among the
 * relocations, which works for any order and layout. On AArch64 the adrp/ldr
 * pair is decoded likewise. On other machines stubs have no names. Source: the
 * psABI supplements of both machines. */

#include "flam-elf.h"

/* `name` is the callee's, without "@plt"; it lives as long as the file. */
typedef void (*FlamPltFunc) (gpointer data,
                             guint64 vaddr,
                             guint64 size,
                             const char *name);

void flam_plt_foreach (const FlamElf *elf, FlamPltFunc func, gpointer data);

#endif
