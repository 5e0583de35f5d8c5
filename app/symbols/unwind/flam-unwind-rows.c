/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-rows.h"

#include <string.h>

/* An address up to this far beyond the copied stack is considered as stack that
 * was not copied, a farther one as garbage. */
#define FAR_BY_CFI (64u << 20)
#define FAR_BY_FRAME_POINTER (1u << 20)

static inline FlamUnwindEnd
read_word (const FlamUnwindMemory *memory,
           uint64_t address,
           uint64_t far,
           uint64_t *value)
{
  uint64_t at = address - memory->base;

  if (at < memory->size && memory->size - at >= 8)
    {
      memcpy (value, (const char *)memory->copy + at, 8);
      return FLAM_UNWIND_OK;
    }
  if (memory->read)
    return memory->read (memory->data, address, value) ? FLAM_UNWIND_OK
                                                       : FLAM_UNWIND_BAD;
  if (at < memory->size || (address >= memory->base && at < memory->size + far))
    return FLAM_UNWIND_TRUNCATED;
  return FLAM_UNWIND_BAD;
}

static FlamUnwindEnd
get_register (const FlamUnwindRegs *regs,
              const FlamUnwindMemory *memory,
              unsigned reg,
              uint64_t *value)
{
  if (reg == FLAM_UNWIND_SP)
    *value = regs->sp;
  else if (reg == FLAM_UNWIND_PC)
    *value = regs->pc;
  else if (reg == FLAM_UNWIND_FP)
    {
      if (regs->bp_unknown)
        return FLAM_UNWIND_NEEDS_BP;
      *value = regs->bp;
    }
  else if (regs->all && reg < FLAM_UNWIND_N_REGS)
    *value = regs->all[reg];
  else if (reg == FLAM_UNWIND_BX && regs->bx_state == 1)
    *value = regs->bx;
  else if (reg == FLAM_UNWIND_BX && regs->bx_state == 2)
    return read_word (memory, regs->bx, FAR_BY_CFI, value);
  else
    /* A sleeping leaf: a stop would provide all registers. */
    return regs->bp_unknown && !regs->caller ? FLAM_UNWIND_NEEDS_BP
                                             : FLAM_UNWIND_BAD;
  return FLAM_UNWIND_OK;
}

static FlamUnwindEnd
step_frame_pointer (const FlamUnwindMemory *memory, FlamUnwindRegs *regs)
{
  FlamUnwindEnd end;
  uint64_t bp, ra;

  if (regs->bp_unknown)
    return FLAM_UNWIND_NEEDS_BP;
  if (regs->bp == 0)
    return FLAM_UNWIND_ROOT;
  if (regs->bp < regs->sp || (regs->bp & 7))
    return FLAM_UNWIND_BAD;
  end = read_word (memory, regs->bp, FAR_BY_FRAME_POINTER, &bp);
  if (end == FLAM_UNWIND_OK)
    end = read_word (memory, regs->bp + 8, FAR_BY_FRAME_POINTER, &ra);
  if (end != FLAM_UNWIND_OK)
    return end;
  if (ra == 0)
    return FLAM_UNWIND_ROOT;
  flam_unwind_set_by_frame (regs, regs->bp);
  regs->bp = bp;
  regs->pc = flam_unwind_strip (ra);
  regs->caller = true;
  regs->all = NULL;
  regs->bx_state = 0;
  return FLAM_UNWIND_OK;
}

static FlamUnwindEnd
find_return (const FlamUnwindRule *rule,
             const FlamUnwindMemory *memory,
             const FlamUnwindRegs *regs,
             uint64_t cfa,
             uint64_t *ra)
{
  FlamUnwindEnd end;
  uint64_t value;

  if (rule->ra_where == FLAM_UNWIND_AT_CFA)
    return read_word (memory, cfa + (int64_t)rule->ra, FAR_BY_CFI, ra);
  end = get_register (regs, memory, rule->ra_reg, &value);
  if (end != FLAM_UNWIND_OK)
    return end;
  if (rule->ra_where == FLAM_UNWIND_AT_REG)
    return read_word (memory, value + (int64_t)rule->ra, FAR_BY_CFI, ra);
  *ra = value + (int64_t)rule->ra;
  return FLAM_UNWIND_OK;
}

/* An unknown rbp is not an error: most callers do not need it. */
static void
find_bp (const FlamUnwindRule *rule,
         const FlamUnwindMemory *memory,
         const FlamUnwindRegs *regs,
         uint64_t cfa,
         uint64_t *bp,
         bool *unknown)
{
  uint64_t at = cfa;

  if (rule->bp_where == FLAM_UNWIND_SAME)
    return;
  *unknown = true;
  if (rule->bp_where == FLAM_UNWIND_UNKNOWN)
    return;
  if (rule->bp_where != FLAM_UNWIND_AT_CFA &&
      get_register (regs, memory, rule->bp_reg, &at) != FLAM_UNWIND_OK)
    return;
  if (rule->bp_where == FLAM_UNWIND_IN_REG)
    *bp = at + (int64_t)rule->bp;
  else if (read_word (memory, at + (int64_t)rule->bp, FAR_BY_CFI, bp) !=
           FLAM_UNWIND_OK)
    return;
  *unknown = false;
}

/* A register that was overwritten by an instruction unknown to the scan is
 * found here. */
static bool
is_within (const FlamUnwindRule *rule, uint64_t sp, uint64_t cfa)
{
  return (cfa & 7) == 0 &&
         cfa - sp - (uint64_t)(int64_t)rule->least < 1ull << rule->align;
}

static FlamUnwindEnd
step_rule (const FlamUnwindRow *row,
           const FlamUnwindRule *rule,
           const FlamUnwindMemory *memory,
           FlamUnwindRegs *regs)
{
  FlamUnwindEnd end;
  uint64_t cfa, ra, sp = regs->sp, bp = regs->bp;
  bool bp_unknown = regs->bp_unknown;
  bool interrupted = rule->flags & FLAM_UNWIND_RULE_SIGNAL;

  end = get_register (regs, memory, rule->cfa_reg, &cfa);
  if (end == FLAM_UNWIND_BAD && (rule->flags & FLAM_UNWIND_RULE_SCAN) &&
      regs->leaf && rule->cfa_reg < FLAM_UNWIND_N_REGS)
    cfa = regs->leaf[rule->cfa_reg];
  else if (end != FLAM_UNWIND_OK)
    return end;
  cfa += (int64_t)rule->cfa;
  if (rule->flags & FLAM_UNWIND_RULE_DEREF)
    {
      end = read_word (memory, cfa, FAR_BY_CFI, &cfa);
      if (end != FLAM_UNWIND_OK)
        return end;
      cfa += (int64_t)rule->cfa2;
    }
  if (!flam_unwind_may_be_cfa (regs, cfa) && !interrupted)
    return FLAM_UNWIND_BAD;
  if ((rule->flags & FLAM_UNWIND_RULE_SCAN) && !is_within (rule, regs->sp, cfa))
    return FLAM_UNWIND_BAD;
  end = find_return (rule, memory, regs, cfa, &ra);
  if (end != FLAM_UNWIND_OK)
    return end;
  if (ra == 0)
    return FLAM_UNWIND_ROOT;
  find_bp (rule, memory, regs, cfa, &bp, &bp_unknown);
  flam_unwind_step_bx (row, cfa, regs);
  if (interrupted)
    flam_unwind_step_signal (sp, regs);
  regs->pc = flam_unwind_strip (ra);
  regs->sp = cfa;
  regs->bp = bp;
  regs->bp_unknown = bp_unknown;
  regs->caller = !interrupted;
  return FLAM_UNWIND_OK;
}

static FlamUnwindEnd
read_return (const FlamUnwindRow *row,
             const FlamUnwindMemory *memory,
             const FlamUnwindRegs *regs,
             uint64_t cfa,
             uint64_t *ra)
{
  uint64_t at = flam_unwind_return_slot (row, cfa);

  return at != 0 ? read_word (memory, at, FAR_BY_CFI, ra)
                 : get_register (regs, memory, (unsigned)FLAM_UNWIND_LINK, ra);
}

/* From a frame whose stack pointer is unknown: by its row if that tells where
 * its frame pointer points, and by the frame pointer itself otherwise. */
static FlamUnwindEnd
step_by_frame (const FlamUnwindRow *row,
               const FlamUnwindMemory *memory,
               FlamUnwindRegs *regs)
{
  uint64_t cfa = flam_unwind_cfa_by_frame (row, regs);
  FlamUnwindEnd end;

  if ((row->how & 7) == FLAM_UNWIND_KIND_END)
    return FLAM_UNWIND_ROOT;
  if ((row->how & 7) == FLAM_UNWIND_KIND_BP)
    cfa = regs->bp + 8 * (uint64_t)row->cfa;
  end = step_frame_pointer (memory, regs);
  if (end != FLAM_UNWIND_OK || cfa < regs->sp)
    return end;
  regs->sp = cfa;
  regs->sp_unknown = false;
  return end;
}

FlamUnwindEnd
flam_unwind_step (const FlamUnwindRow *row,
                  const FlamUnwindRule *rules,
                  const FlamUnwindMemory *memory,
                  FlamUnwindRegs *regs)
{
  FlamUnwindEnd end;
  uint64_t cfa, ra, bp;

  if (row && flam_unwind_step_plain (row, memory, regs))
    return FLAM_UNWIND_OK;
  if (row && regs->sp_unknown)
    return step_by_frame (row, memory, regs);
  switch (row ? (FlamUnwindKind)(row->how & 7) : FLAM_UNWIND_KIND_NONE)
    {
    case FLAM_UNWIND_KIND_SP:
    case FLAM_UNWIND_KIND_SCAN:
      cfa = regs->sp + 8 * (uint64_t)row->cfa;
      break;
    case FLAM_UNWIND_KIND_BP:
      if (regs->bp_unknown)
        return FLAM_UNWIND_NEEDS_BP;
      cfa = regs->bp + 8 * (uint64_t)row->cfa;
      break;
    case FLAM_UNWIND_KIND_PLT:
      cfa = regs->sp + ((regs->pc & 15) >= row->cfa ? 16 : 8);
      break;
    case FLAM_UNWIND_KIND_END:
      return FLAM_UNWIND_ROOT;
    case FLAM_UNWIND_KIND_RULE:
      end = step_rule (row, &rules[row->cfa], memory, regs);
      return end == FLAM_UNWIND_BAD && flam_unwind_is_guess (row, rules)
                 ? step_frame_pointer (memory, regs)
                 : end;
    case FLAM_UNWIND_KIND_NONE:
    default:
      return step_frame_pointer (memory, regs);
    }

  if (!flam_unwind_may_be_cfa (regs, cfa))
    return FLAM_UNWIND_BAD;
  end = read_return (row, memory, regs, cfa, &ra);
  if (end != FLAM_UNWIND_OK)
    return end;
  if (ra == 0)
    return FLAM_UNWIND_ROOT;
  if (row->bp && !flam_unwind_was_popped (regs, cfa - 8 * (uint64_t)row->bp))
    {
      end = read_word (memory, cfa - 8 * (uint64_t)row->bp, FAR_BY_CFI, &bp);
      if (end != FLAM_UNWIND_OK)
        return end;
      regs->bp = bp;
      regs->bp_unknown = false;
    }
  flam_unwind_step_bx (row, cfa, regs);
  regs->pc = flam_unwind_strip (ra);
  regs->sp = cfa;
  regs->caller = true;
  return FLAM_UNWIND_OK;
}
