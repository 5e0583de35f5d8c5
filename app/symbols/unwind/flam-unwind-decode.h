/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_DECODE_H
#define FLAM_UNWIND_DECODE_H

/* x86-64 instructions, as far as an unwinder needs them: their length, their
 * effect on the stack pointer, and whether control reaches the next one.
 * Everything else about them is skipped.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2, appendix A (opcode maps), sections 2.1 (prefixes, ModRM, SIB), 2.3 (VEX)
 * and 2.7 (EVEX); AMD64 Architecture Programmer's Manual, volume 6 (XOP). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum
{
  FLAM_STACK_SAME,
  FLAM_STACK_PUSH,       /* of register `reg`, or of something else */
  FLAM_STACK_POP,        /* to register `reg`, or to something else */
  FLAM_STACK_MOVE,       /* rsp += delta */
  FLAM_STACK_STORE,      /* register `reg` to [rsp or rbp + delta] */
  FLAM_STACK_FRAME,      /* rbp = rsp + delta */
  FLAM_STACK_FROM_FRAME, /* rsp = rbp + delta */
  FLAM_STACK_LEAVE,
  FLAM_STACK_RESTORE, /* rsp = register `reg` + delta */
  FLAM_STACK_ALIGN,   /* rsp is rounded down to a multiple of delta */
  FLAM_STACK_COPY,    /* register `reg` = rsp + delta */
  FLAM_STACK_LOAD,    /* register `reg` from [rsp or rbp + delta] */
  FLAM_STACK_LOST,    /* rsp has an unknown value now */
} FlamStackEffect;

#define FLAM_UNWIND_NO_REG 255

typedef struct
{
  uint8_t length;
  uint8_t effect; /* FlamStackEffect */
  uint8_t reg;    /* encoded: rbx 3, rbp 5; FLAM_UNWIND_NO_REG */
  bool by_frame;  /* a store or load relative to rbp */
  bool ends;      /* control does not reach the next instruction */
  bool traps;     /* likewise, since it stops the program: hlt, int3, ud2 */
  bool indirect;  /* a jump to an address from a register or memory */
  bool calls;
  bool branches; /* control may also, or instead, go to this one's end + target
                  */
  uint16_t writes; /* registers, 1 << reg, written by usual instructions; vector
                      and rare ones are left out */
  int32_t delta;
  int32_t target; /* of a branch or a direct call, from this one's end; or 0 */
} FlamInstruction;

/* False: not an instruction, or it does not end within `left` bytes. */
bool flam_unwind_decode (const uint8_t *code,
                         size_t left,
                         FlamInstruction *instruction);

#endif
