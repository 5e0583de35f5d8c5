/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-state.h"

#define DEEPEST (1 << 20) /* bytes: a larger adjustment is not a frame */
#define MOST_ALIGNED 12   /* log2 of the largest supported alignment */

enum
{
  RBX = 3,
  RSP = 4,
  RBP = 5,
};

/* By DWARF's numbers. */
static uint8_t
number_of (uint8_t reg)
{
  static const uint8_t numbers[] = { 0, 2, 1, 3, 7, 6, 4, 5 };

  return reg < 8 ? numbers[reg] : reg;
}

/* False: nothing holds the CFA. */
static bool
make_rule (const FlamUnwindState *state, FlamUnwindRule *rule)
{
  *rule = (FlamUnwindRule){ .flags = FLAM_UNWIND_RULE_SCAN,
                            .ra_where = FLAM_UNWIND_AT_CFA,
                            .ra = -8,
                            .align = state->align,
                            .least = state->before + state->depth };
  if (state->kept.known)
    {
      rule->flags |= FLAM_UNWIND_RULE_DEREF;
      rule->cfa_reg = FLAM_UNWIND_SP;
      rule->cfa = state->depth - state->kept.at;
      rule->cfa2 = state->kept_copied;
    }
  else if (state->has_copy)
    {
      rule->cfa_reg = number_of (state->copy);
      rule->cfa = state->copied;
    }
  else
    return false;
  if (state->saved_bp.known)
    {
      rule->bp_where = FLAM_UNWIND_AT_REG;
      rule->bp_reg = FLAM_UNWIND_SP;
      rule->bp = state->depth - state->saved_bp.at;
    }
  else if (state->bp)
    {
      rule->bp_where = FLAM_UNWIND_AT_CFA;
      rule->bp = -8 * state->bp;
    }
  else if (state->frame.known || (state->has_copy && state->copy == RBP))
    rule->bp_where = FLAM_UNWIND_UNKNOWN;
  else
    rule->bp_where = FLAM_UNWIND_SAME;
  return true;
}

bool
flam_unwind_state_get_row (const FlamUnwindState *state,
                           FlamUnwindRow *row,
                           FlamUnwindRule *rule)
{
  uint8_t bx =
      state->bx < FLAM_UNWIND_BX_UNKNOWN ? state->bx : FLAM_UNWIND_BX_UNKNOWN;

  *row = (FlamUnwindRow){ 0 };
  if (state->framed || state->lost)
    return false;
  if (state->align)
    {
      if (!make_rule (state, rule))
        return false;
      row->how = (uint8_t)(FLAM_UNWIND_KIND_RULE | bx << 3);
      return true;
    }
  if (state->depth / 8 > UINT16_MAX)
    return false;
  row->cfa = (uint16_t)(state->depth / 8);
  row->bp = state->bp;
  row->how = (uint8_t)(FLAM_UNWIND_KIND_SCAN | bx << 3);
  return false;
}

static void
save (FlamUnwindState *state, uint8_t reg, int32_t slot)
{
  uint8_t place = slot > 0 && slot / 8 <= UINT8_MAX ? (uint8_t)(slot / 8) : 0;

  if (reg == RBP)
    state->bp = place;
  else if (reg == RBX)
    state->bx = place;
}

/* What is stored later is the function's own value. */
static bool
is_saved (const FlamUnwindState *state, uint8_t reg)
{
  return (reg == RBP && state->bp) || (reg == RBX && state->bx);
}

static bool
is_at (const FlamUnwindSlot *slot, int32_t at)
{
  return slot->known && slot->at == at;
}

/* A register's value is stored at base - at. */
static void
store_aligned (FlamUnwindState *state, uint8_t reg, int32_t at)
{
  if (at % 8 != 0)
    return;
  if (state->has_copy && reg == state->copy)
    {
      state->kept = (FlamUnwindSlot){ true, at };
      state->kept_copied = state->copied;
    }
  else if (is_at (&state->kept, at))
    state->kept.known = false;
  if (reg == RBP && !state->bp && !state->frame.known && !state->saved_bp.known)
    state->saved_bp = (FlamUnwindSlot){ true, at };
  else if (reg == RBX && !state->bx)
    state->bx = FLAM_UNWIND_BX_UNKNOWN;
}

/* A register is loaded from there. */
static void
load_aligned (FlamUnwindState *state, uint8_t reg, int32_t at)
{
  if (is_at (&state->kept, at))
    {
      state->has_copy = true;
      state->copy = reg;
      state->copied = state->kept_copied;
    }
  if (reg == RBP && is_at (&state->saved_bp, at))
    state->saved_bp.known = false;
  else if (reg == RBX && state->bx == FLAM_UNWIND_BX_UNKNOWN)
    state->bx = 0;
}

/* rsp = CFA - depth. */
static void
restore (FlamUnwindState *state, int32_t depth)
{
  state->depth = depth;
  state->align = 0;
  state->kept.known = state->saved_bp.known = state->frame.known = false;
}

static void
align (FlamUnwindState *state, int32_t to)
{
  uint8_t bits = (uint8_t)__builtin_ctz ((unsigned)to);
  uint8_t base = state->align ? state->align : 4; /* of the CFA */

  if (bits <= base)
    state->depth = (state->depth + to - 1) & -to;
  else if (state->align || bits > MOST_ALIGNED)
    state->lost = true;
  else
    {
      state->align = bits;
      state->before = state->depth;
      state->depth = 0;
    }
}

/* Only rsp itself or the CFA: other addresses belong to variables. Of several
 * copies, the one of the earliest rsp is kept. */
static void
copy (FlamUnwindState *state, uint8_t reg, int32_t depth)
{
  if (depth < 0 || state->align ||
      (state->has_copy && state->copied < depth && state->copy != reg))
    return;
  state->has_copy = true;
  state->copy = reg;
  state->copied = depth;
}

static void
forget_copy (FlamUnwindState *state, unsigned written)
{
  state->has_copy &= !(written >> state->copy & 1);
  state->frame.known &= !(written >> RBP & 1);
}

static void
pop (FlamUnwindState *state, uint8_t reg)
{
  if (reg != FLAM_UNWIND_NO_REG)
    forget_copy (state, 1u << reg);
  if (state->align && reg != FLAM_UNWIND_NO_REG)
    load_aligned (state, reg, state->depth);
  else if (!state->align)
    save (state, reg, 0);
  state->depth -= 8;
  state->framed &= reg != RBP;
}

static void
frame (FlamUnwindState *state, int32_t delta)
{
  forget_copy (state, 1u << RBP);
  if (state->align)
    state->frame = (FlamUnwindSlot){ true, state->depth - delta };
  else
    {
      state->framed = state->depth - delta == 16;
      if (!state->framed)
        copy (state, RBP, state->depth - delta);
    }
}

/* A load or store at rsp + delta, or at rbp + delta. */
static void
access (FlamUnwindState *state, const FlamInstruction *instruction)
{
  bool loads = instruction->effect == FLAM_STACK_LOAD;
  int32_t from = instruction->by_frame ? state->frame.at : state->depth;
  int32_t at = from - instruction->delta;

  if (!state->align)
    {
      if (!loads && !instruction->by_frame && !state->framed &&
          instruction->delta >= 0 && instruction->delta < state->depth - 8 &&
          at % 8 == 0 && !is_saved (state, instruction->reg))
        save (state, instruction->reg, at);
      state->lost |= loads && instruction->reg == RSP && !state->framed;
    }
  else if (instruction->by_frame && !state->frame.known)
    state->lost |= loads && instruction->reg == RSP;
  else if (!loads)
    store_aligned (state, instruction->reg, at);
  else if (instruction->reg != RSP)
    load_aligned (state, instruction->reg, at);
  else if (is_at (&state->kept, at))
    restore (state, state->kept_copied);
  else
    state->lost = true;
}

/* The effect of an instruction on a known depth. */
static void
move (FlamUnwindState *state, const FlamInstruction *instruction)
{
  switch ((FlamStackEffect)instruction->effect)
    {
    case FLAM_STACK_PUSH:
      state->depth += 8;
      if (state->align)
        store_aligned (state, instruction->reg, state->depth);
      else
        save (state, instruction->reg, state->depth);
      break;
    case FLAM_STACK_POP:
      pop (state, instruction->reg);
      break;
    case FLAM_STACK_MOVE:
      state->depth -= instruction->delta;
      break;
    case FLAM_STACK_STORE:
    case FLAM_STACK_LOAD:
      access (state, instruction);
      break;
    case FLAM_STACK_FRAME:
      frame (state, instruction->delta);
      break;
    case FLAM_STACK_COPY:
      if (!state->framed &&
          (instruction->delta == 0 || instruction->delta == state->depth))
        copy (state, instruction->reg, state->depth - instruction->delta);
      break;
    case FLAM_STACK_RESTORE:
      if (state->has_copy && state->copy == instruction->reg && !state->framed)
        restore (state, state->copied - instruction->delta);
      else
        state->lost = !state->framed;
      break;
    case FLAM_STACK_ALIGN:
      if (!state->framed)
        align (state, instruction->delta);
      break;
    case FLAM_STACK_LOST:
      state->lost = !state->framed;
      break;
    case FLAM_STACK_FROM_FRAME:
    case FLAM_STACK_LEAVE:
    case FLAM_STACK_SAME:
    default:
      break;
    }
}

/* rsp = rbp + delta. */
static void
return_to_frame (FlamUnwindState *state, int32_t delta)
{
  if (state->framed)
    {
      state->depth = 16 - delta;
      state->lost = false;
    }
  else if (state->frame.known && !state->lost)
    state->depth = state->frame.at - delta;
  else if (state->has_copy && state->copy == RBP && !state->lost)
    restore (state, state->copied - delta);
  else
    state->lost = true;
}

static void
leave (FlamUnwindState *state)
{
  if (state->framed || state->lost)
    *state = (FlamUnwindState){ .depth = 8,
                                .bx = state->bx,
                                .lost = !state->framed };
  else
    {
      return_to_frame (state, 0);
      pop (state, RBP);
    }
}

/* Slots below rsp are dead. */
static void
bury (FlamUnwindState *state)
{
  state->kept.known &= state->kept.at <= state->depth;
  state->saved_bp.known &= state->saved_bp.at <= state->depth;
}

/* Not only a copied, loaded or stored value. */
static bool
is_about_stack (const FlamInstruction *instruction)
{
  return instruction->effect != FLAM_STACK_SAME &&
         instruction->effect != FLAM_STACK_COPY &&
         instruction->effect != FLAM_STACK_STORE &&
         (instruction->effect != FLAM_STACK_LOAD || instruction->reg == RSP);
}

void
flam_unwind_state_apply (FlamUnwindState *state,
                         const FlamInstruction *instruction)
{
  if (instruction->writes)
    forget_copy (state, instruction->writes);
  if (instruction->delta < -DEEPEST || instruction->delta > DEEPEST)
    state->lost |= is_about_stack (instruction);
  else if (instruction->effect == FLAM_STACK_FROM_FRAME)
    return_to_frame (state, instruction->delta);
  else if (instruction->effect == FLAM_STACK_LEAVE)
    leave (state);
  else if (!state->lost)
    move (state, instruction);
  state->lost |= state->depth < (state->align ? 0 : 8) ||
                 state->depth > DEEPEST || state->depth % 8 != 0;
  if (state->align)
    bury (state);
}

bool
flam_unwind_state_is_change (const FlamUnwindState *state,
                             const FlamInstruction *instruction)
{
  if (state->align)
    return instruction->effect != FLAM_STACK_SAME || instruction->writes;
  return is_about_stack (instruction) ||
         (instruction->effect == FLAM_STACK_STORE && !instruction->by_frame);
}
