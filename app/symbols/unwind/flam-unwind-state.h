/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_STATE_H
#define FLAM_UNWIND_STATE_H

/* The state of a frame before an instruction, only for flam-unwind-scan.c: the
 * effects of the previous instructions on the stack pointer, and on the
 * registers and slots that can restore it. */

#include "flam-unwind-decode.h"
#include "flam-unwind-rows.h"

/* A slot of the frame: base - at. */
typedef struct
{
  bool known;
  int32_t at;
} FlamUnwindSlot;

/* The state before an instruction. The base is the CFA until rsp is aligned to
 * more than the CFA is; then the base is the value of rsp after that. */
typedef struct
{
  int32_t depth; /* base - rsp */
  uint8_t bp;    /* rbp is saved at CFA - 8 * bp; 0: in rbp */
  uint8_t bx;
  bool framed; /* rbp is CFA - 16 */
  bool lost;
  /* A register whose value is CFA - copied. */
  bool has_copy;
  uint8_t copy;
  int32_t copied;
  /* After the alignment. */
  uint8_t align;       /* log2 of it; 0: the base is the CFA */
  int32_t before;      /* CFA - rsp before it: the minimum of CFA - base */
  FlamUnwindSlot kept; /* holds CFA - kept_copied */
  int32_t kept_copied;
  FlamUnwindSlot saved_bp; /* holds the caller's rbp */
  FlamUnwindSlot frame;    /* rbp is its address */
} FlamUnwindState;

/* The effect of an instruction. */
void flam_unwind_state_apply (FlamUnwindState *state,
                              const FlamInstruction *instruction);
/* Whether the row may differ after an instruction. */
bool flam_unwind_state_is_change (const FlamUnwindState *state,
                                  const FlamInstruction *instruction);
/* Fills all of a row but its pc, and its rule: then true, and the rule has no
 * number yet. */
bool flam_unwind_state_get_row (const FlamUnwindState *state,
                                FlamUnwindRow *row,
                                FlamUnwindRule *rule);

#endif
