/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_AARCH64_H
#define FLAM_UNWIND_AARCH64_H

/* AArch64 (flam-unwind-machine.h). A call leaves the return address in x30; a
 * function that calls others saves it with the frame pointer x29, usually at
 * the lower end of its frame:
 *
 *   CFA ─▶ ┌──────────────┐
 *          │ locals       │
 *          │ x30          │ CFA - 8 * (bp - 1)
 *   x29 ─▶ │ caller's x29 │ CFA - 8 * bp        the frame record
 *          └──────────────┘
 *
 * Bits 3-7 of a row's `how` tell where the return address is: 0 in x30, 1 in
 * the frame record, N at CFA - 8 * (N - 1). In a leaf's frame the CFA may be
 * the stack pointer itself.
 *
 * A frame that was reached by the frame pointer alone has an unknown stack
 * pointer, since the frame record may be anywhere in a frame; but x29 is the
 * address of its own frame record, so the row's `bp` gives the CFA.
 *
 * A return address may be signed (pointer authentication), in bits 48 to 54.
 * They are removed from all, so that neither the key nor
 * DW_CFA_AARCH64_negate_ra_state matters.
 *
 * Source: DWARF for the Arm 64-bit Architecture (IHI 0057), sections 4.1 and
 * 4.4; Procedure Call Standard (IHI 0055), section 6.4.6; the kernel's
 * arch/arm64/include/uapi/asm/perf_regs.h and sigcontext.h. */

#include <elf.h>

#define FLAM_UNWIND_ELF_MACHINE EM_AARCH64
#define FLAM_UNWIND_LINK 30
#define FLAM_UNWIND_RETURN 30

enum
{
  FLAM_UNWIND_FP = 29,
  FLAM_UNWIND_BX = 30, /* x30 */
  FLAM_UNWIND_SP = 31,
  FLAM_UNWIND_PC = 32,
  FLAM_UNWIND_N_REGS = 33,
};

#define FLAM_UNWIND_PERF_N 33
#define FLAM_UNWIND_PERF_MASK 0x1ffffffffull

static const int8_t flam_unwind_perf_registers[FLAM_UNWIND_PERF_N]
    __attribute__ ((unused)) = {
      0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
      17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32,
    };

/* struct rt_sigframe: siginfo, and ucontext with x0 to x30, sp, pc. */
#define FLAM_UNWIND_SAVED_REG(n) (128 + 176 + 8 + 8 * (n))
#define FLAM_UNWIND_SAVED_SP FLAM_UNWIND_SAVED_REG (FLAM_UNWIND_SP)

/* How a row finds the return address. */
enum
{
  FLAM_UNWIND_RETURN_IN_LINK = 0,
  FLAM_UNWIND_RETURN_IN_RECORD = 1,
};

static inline uint64_t
flam_unwind_return_slot (const FlamUnwindRow *row, uint64_t cfa)
{
  unsigned where = row->how >> 3;

  if (where == FLAM_UNWIND_RETURN_IN_LINK)
    return 0;
  return cfa - 8 * (uint64_t)(where == FLAM_UNWIND_RETURN_IN_RECORD
                                  ? row->bp - 1u
                                  : where - 1);
}

static inline uint64_t
flam_unwind_strip (uint64_t pc)
{
  return pc & ((1ull << 48) - 1);
}

static inline bool
flam_unwind_is_certain (const FlamUnwindRegs *regs)
{
  return !regs->bp_unknown && !regs->sp_unknown;
}

static inline bool
flam_unwind_may_be_cfa (const FlamUnwindRegs *regs, uint64_t cfa)
{
  return regs->caller ? cfa > regs->sp : cfa >= regs->sp;
}

static inline void
flam_unwind_set_by_frame (FlamUnwindRegs *regs, uint64_t frame)
{
  regs->sp = frame + 16;
  regs->sp_unknown = true;
}

static inline uint64_t
flam_unwind_cfa_by_frame (const FlamUnwindRow *row, const FlamUnwindRegs *regs)
{
  return (row->how & 7) == FLAM_UNWIND_KIND_SP &&
                 row->how >> 3 == FLAM_UNWIND_RETURN_IN_RECORD
             ? regs->bp + 8 * (uint64_t)row->bp
             : 0;
}

static inline void
flam_unwind_step_bx (const FlamUnwindRow *row,
                     uint64_t cfa,
                     FlamUnwindRegs *regs)
{
  regs->bx_state = 0;
  regs->sp_unknown = false;
  regs->all = NULL;
}

/* The interrupted code may be a leaf. */
static inline void
flam_unwind_step_signal (uint64_t sp, FlamUnwindRegs *regs)
{
  regs->bx = sp + FLAM_UNWIND_SAVED_REG (FLAM_UNWIND_BX);
  regs->bx_state = 2;
}

/* Their first frame has a return address of 0. */
static inline bool
flam_unwind_is_handmade (const FlamUnwindRow *row)
{
  return false;
}

#endif
