/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_X86_64_H
#define FLAM_UNWIND_X86_64_H

/* x86-64 (flam-unwind-machine.h). Calls push the return address, so it is at
 * CFA - 8 and the CFA is above the stack pointer everywhere.
 *
 * Source: System V ABI, AMD64 supplement, section 3.6; the kernel's
 * arch/x86/include/uapi/asm/perf_regs.h and asm/sigframe.h. */

#include <elf.h>

#define FLAM_UNWIND_ELF_MACHINE EM_X86_64
#define FLAM_UNWIND_LINK (-1)
#define FLAM_UNWIND_RETURN 16
#define FLAM_UNWIND_SAVED_SP 160 /* of struct ucontext */

enum
{
  FLAM_UNWIND_BX = 3, /* rbx */
  FLAM_UNWIND_FP = 6, /* rbp */
  FLAM_UNWIND_SP = 7, /* rsp */
  FLAM_UNWIND_PC = 16,
  FLAM_UNWIND_N_REGS = 17,
};

#define FLAM_UNWIND_PERF_N 24
#define FLAM_UNWIND_PERF_MASK 0xff01ffull /* without flags and segments */

static const int8_t flam_unwind_perf_registers[FLAM_UNWIND_PERF_N]
    __attribute__ ((unused)) = {
      0,  3,  2,  1,  4, 5, 6,  7,  16, -1, -1, -1,
      -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15,
    };

/* The address of the return address; 0: it is in a register. */
static inline uint64_t
flam_unwind_return_slot (const FlamUnwindRow *row, uint64_t cfa)
{
  return cfa - 8;
}

/* Without the bits that are not part of the address. */
static inline uint64_t
flam_unwind_strip (uint64_t pc)
{
  return pc;
}

/* The registers of `regs` allow a step by any row. */
static inline bool
flam_unwind_is_certain (const FlamUnwindRegs *regs)
{
  return !regs->bp_unknown;
}

/* A CFA that the caller's stack pointer may have. */
static inline bool
flam_unwind_may_be_cfa (const FlamUnwindRegs *regs, uint64_t cfa)
{
  return cfa > regs->sp;
}

/* A frame that was reached by its frame pointer alone. */
static inline void
flam_unwind_set_by_frame (FlamUnwindRegs *regs, uint64_t frame)
{
  regs->sp = frame + 16;
}

/* The CFA, if the stack pointer of such a frame does not give it; else 0. */
static inline uint64_t
flam_unwind_cfa_by_frame (const FlamUnwindRow *row, const FlamUnwindRegs *regs)
{
  return 0;
}

/* What a step does to the other register. */
static inline void
flam_unwind_step_bx (const FlamUnwindRow *row,
                     uint64_t cfa,
                     FlamUnwindRegs *regs)
{
  unsigned bx = row->how >> 3;

  if (bx == FLAM_UNWIND_BX_UNKNOWN)
    regs->bx_state = 0;
  else if (bx && !flam_unwind_was_popped (regs, cfa - 8 * bx))
    {
      regs->bx = cfa - 8 * bx;
      regs->bx_state = 2;
    }
  else if (regs->all)
    {
      regs->bx = regs->all[FLAM_UNWIND_BX];
      regs->bx_state = 1;
    }
  regs->all = NULL;
}

/* A step from a signal trampoline: what else the kernel has saved. */
static inline void
flam_unwind_step_signal (uint64_t sp, FlamUnwindRegs *regs)
{
}

/* Whether a frame is the first one of a manually constructed stack, as
 * described at flam_unwind_end_outside(). */
static inline bool
flam_unwind_is_handmade (const FlamUnwindRow *row)
{
  return (row->how & 7) == FLAM_UNWIND_KIND_SP && row->cfa == 1;
}

#endif
