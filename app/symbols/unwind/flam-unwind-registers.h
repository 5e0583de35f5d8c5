/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_UNWIND_REGISTERS_H
#define FLAM_UNWIND_REGISTERS_H

/* The kernel's order of x86-64 registers in samples (asm/perf_regs.h), as
 * DWARF's numbers: 16 is the program counter, -1 flags and segments. */

#include <stdint.h>

#define FLAM_UNWIND_PERF_N 24
/* Registers with a DWARF number. */
#define FLAM_UNWIND_PERF_MASK 0xff01ffu

static const int8_t flam_unwind_perf_registers[FLAM_UNWIND_PERF_N] = {
  0,  3,  2,  1,  4, 5, 6,  7,  16, -1, -1, -1,
  -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15,
};

#endif
