/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_MACHINE_H
#define FLAM_UNWIND_MACHINE_H

/* The parts of a step that depend on the processor, for the one that this is
 * compiled for: only its own programs are unwound. A processor is two files.
 * Its header, which only flam-unwind-rows.h includes, defines:
 *
 *   FLAM_UNWIND_ELF_MACHINE    e_machine of its programs
 *   FLAM_UNWIND_FP, SP, PC     DWARF's numbers of registers; the number of the
 *                              program counter is only used here
 *   FLAM_UNWIND_BX             the other register that is followed
 *   FLAM_UNWIND_LINK           the register with a leaf's return address, or -1
 *   FLAM_UNWIND_RETURN         the column of the return address in CFI
 *   FLAM_UNWIND_N_REGS         registers in arrays by DWARF number
 *   FLAM_UNWIND_PERF_MASK, _N  the kernel's registers in samples:
 * asm/perf_regs.h flam_unwind_perf_registers them as DWARF's numbers, or -1
 *   FLAM_UNWIND_SAVED_SP       where an interrupted stack pointer is, seen from
 *                              that of the signal trampoline
 *
 * and the inline functions below. Its C file reads the code that has no call
 * frame information (flam-unwind-scan.h). */

#if defined __aarch64__
#include "flam-unwind-aarch64.h"
#elif defined __x86_64__
#include "flam-unwind-x86-64.h"
#else
#error "The unwinder does not support this processor."
#endif

#endif
