/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-cfi.h"

#include <string.h>

/* Registers that an expression can be based on: DW_OP_breg0 to breg31. */
#define BASE_REGS (FLAM_UNWIND_N_REGS < 32 ? FLAM_UNWIND_N_REGS : 32)
#define STATES 32 /* DW_CFA_remember_state nests 2 deep in practice */

/* DWARF 5, table 7.29, and the GNU additions. */
enum
{
  CFA_ADVANCE = 1,
  CFA_OFFSET = 2,
  CFA_RESTORE = 3,

  CFA_NOP = 0x00,
  CFA_SET_LOC = 0x01,
  CFA_ADVANCE1 = 0x02,
  CFA_ADVANCE2 = 0x03,
  CFA_ADVANCE4 = 0x04,
  CFA_OFFSET_EXTENDED = 0x05,
  CFA_RESTORE_EXTENDED = 0x06,
  CFA_UNDEFINED = 0x07,
  CFA_SAME_VALUE = 0x08,
  CFA_REGISTER = 0x09,
  CFA_REMEMBER = 0x0a,
  CFA_RESTORE_STATE = 0x0b,
  CFA_DEF_CFA = 0x0c,
  CFA_DEF_CFA_REGISTER = 0x0d,
  CFA_DEF_CFA_OFFSET = 0x0e,
  CFA_DEF_CFA_EXPRESSION = 0x0f,
  CFA_EXPRESSION = 0x10,
  CFA_OFFSET_EXTENDED_SF = 0x11,
  CFA_DEF_CFA_SF = 0x12,
  CFA_DEF_CFA_OFFSET_SF = 0x13,
  CFA_VAL_OFFSET = 0x14,
  CFA_VAL_OFFSET_SF = 0x15,
  CFA_VAL_EXPRESSION = 0x16,
  CFA_AARCH64_NEGATE_RA_STATE = 0x2d, /* GNU_window_save elsewhere */
  CFA_GNU_ARGS_SIZE = 0x2e,
  CFA_GNU_NEGATIVE_OFFSET = 0x2f,
};

enum
{
  OP_DEREF = 0x06,
  OP_CONST1U = 0x08,
  OP_CONST1S = 0x09,
  OP_CONST2U = 0x0a,
  OP_CONST2S = 0x0b,
  OP_PLUS = 0x22,
  OP_PLUS_UCONST = 0x23,
  OP_LIT0 = 0x30,
  OP_LIT31 = 0x4f,
  OP_BREG0 = 0x70,
};

static FlamUnwindBytes
read_block (FlamUnwindBytes *bytes)
{
  return flam_unwind_read_view (bytes, flam_unwind_read_uleb (bytes));
}

/* Factored offsets; hostile ones wrap around. */
static int64_t
scale (const FlamCfiCie *cie, uint64_t factored)
{
  return (int64_t)(factored * (uint64_t)cie->data_align);
}

static FlamCfiRule *
rule_of (const FlamCfiCie *cie, FlamCfiState *state, uint64_t reg)
{
  if (reg == cie->ra_reg)
    return &state->ra;
  if (reg == FLAM_UNWIND_FP)
    return &state->bp;
  if (reg == FLAM_UNWIND_BX)
    return &state->bx;
  return NULL;
}

static void
set_rule (const FlamCfiCie *cie,
          FlamCfiState *state,
          uint64_t reg,
          FlamCfiKind kind,
          int64_t offset)
{
  FlamCfiRule *rule = rule_of (cie, state, reg);

  if (rule)
    *rule = (FlamCfiRule){ .kind = kind, .offset = offset };
}

static void
set_expression (const FlamCfiCie *cie,
                FlamCfiState *state,
                uint64_t reg,
                FlamCfiKind kind,
                FlamUnwindBytes expression)
{
  FlamCfiRule *rule = rule_of (cie, state, reg);

  if (rule)
    *rule = (FlamCfiRule){ .kind = kind, .expression = expression };
}

static void
restore (const FlamCfiCie *cie,
         const FlamCfiState *initial,
         FlamCfiState *state,
         uint64_t reg)
{
  FlamCfiRule *rule = rule_of (cie, state, reg);

  if (rule && initial)
    *rule = reg == cie->ra_reg      ? initial->ra
            : reg == FLAM_UNWIND_FP ? initial->bp
                                    : initial->bx;
}

static void
define_cfa (FlamCfiState *state, uint64_t reg, int64_t offset)
{
  state->cfa_is_expression = false;
  state->cfa_reg = reg;
  state->cfa_offset = offset;
}

/* Instructions that define a register's location. False: none of these. */
static bool
run_rule (const FlamCfiCie *cie,
          const FlamCfiState *initial,
          uint8_t op,
          FlamUnwindBytes *in,
          FlamCfiState *state)
{
  uint64_t reg = flam_unwind_read_uleb (in);

  switch (op)
    {
    case CFA_OFFSET_EXTENDED:
      set_rule (cie,
                state,
                reg,
                FLAM_CFI_OFFSET,
                scale (cie, flam_unwind_read_uleb (in)));
      return true;
    case CFA_OFFSET_EXTENDED_SF:
      set_rule (cie,
                state,
                reg,
                FLAM_CFI_OFFSET,
                scale (cie, (uint64_t)flam_unwind_read_sleb (in)));
      return true;
    case CFA_GNU_NEGATIVE_OFFSET:
      set_rule (cie,
                state,
                reg,
                FLAM_CFI_OFFSET,
                scale (cie, -flam_unwind_read_uleb (in)));
      return true;
    case CFA_VAL_OFFSET:
      set_rule (cie,
                state,
                reg,
                FLAM_CFI_VALUE,
                scale (cie, flam_unwind_read_uleb (in)));
      return true;
    case CFA_VAL_OFFSET_SF:
      set_rule (cie,
                state,
                reg,
                FLAM_CFI_VALUE,
                scale (cie, (uint64_t)flam_unwind_read_sleb (in)));
      return true;
    case CFA_RESTORE_EXTENDED:
      restore (cie, initial, state, reg);
      return true;
    case CFA_UNDEFINED:
      set_rule (cie, state, reg, FLAM_CFI_UNDEFINED, 0);
      return true;
    case CFA_SAME_VALUE:
      set_rule (cie, state, reg, FLAM_CFI_SAME, 0);
      return true;
    case CFA_REGISTER:
      set_rule (cie,
                state,
                reg,
                FLAM_CFI_REGISTER,
                (int64_t)flam_unwind_read_uleb (in));
      return true;
    case CFA_EXPRESSION:
      set_expression (cie, state, reg, FLAM_CFI_EXPRESSION, read_block (in));
      return true;
    case CFA_VAL_EXPRESSION:
      set_expression (
          cie, state, reg, FLAM_CFI_VALUE_EXPRESSION, read_block (in));
      return true;
    default:
      return false;
    }
}

/* Instructions that define the CFA. */
static bool
run_cfa (const FlamCfiCie *cie,
         uint8_t op,
         FlamUnwindBytes *in,
         FlamCfiState *state)
{
  uint64_t reg;

  switch (op)
    {
    case CFA_DEF_CFA:
      reg = flam_unwind_read_uleb (in);
      define_cfa (state, reg, (int64_t)flam_unwind_read_uleb (in));
      return true;
    case CFA_DEF_CFA_SF:
      reg = flam_unwind_read_uleb (in);
      define_cfa (
          state, reg, scale (cie, (uint64_t)flam_unwind_read_sleb (in)));
      return true;
    case CFA_DEF_CFA_REGISTER:
      define_cfa (state, flam_unwind_read_uleb (in), state->cfa_offset);
      return true;
    case CFA_DEF_CFA_OFFSET:
      state->cfa_offset = (int64_t)flam_unwind_read_uleb (in);
      return true;
    case CFA_DEF_CFA_OFFSET_SF:
      state->cfa_offset = scale (cie, (uint64_t)flam_unwind_read_sleb (in));
      return true;
    case CFA_DEF_CFA_EXPRESSION:
      state->cfa_is_expression = true;
      state->cfa_expression = read_block (in);
      return true;
    default:
      return false;
    }
}

static bool
is_advance (uint8_t op)
{
  return op >> 6 == CFA_ADVANCE || (op >= CFA_ADVANCE1 && op <= CFA_ADVANCE4);
}

static uint64_t
read_advance (uint8_t op, FlamUnwindBytes *in)
{
  if (op >> 6 == CFA_ADVANCE)
    return op & 0x3f;
  if (op == CFA_ADVANCE1)
    return flam_unwind_read_u8 (in);
  if (op == CFA_ADVANCE2)
    return flam_unwind_read_u16 (in);
  return flam_unwind_read_u32 (in);
}

bool
flam_cfi_run (const FlamCfiCie *cie,
              const FlamCfiState *initial,
              FlamUnwindBytes program,
              uint64_t pc,
              FlamCfiState *state,
              uint64_t *budget,
              FlamCfiEmit emit,
              void *data)
{
  FlamCfiState kept[STATES];
  unsigned n_kept = 0;
  FlamUnwindBytes *in = &program;

  while (in->p < in->end)
    {
      uint8_t op = flam_unwind_read_u8 (in);

      if ((*budget)-- == 0)
        {
          *budget = 0;
          return false;
        }
      if (is_advance (op))
        {
          uint64_t delta = read_advance (op, in) * cie->code_align;
          if (!initial || in->bad || !emit (data, pc, state))
            return false;
          pc += delta;
        }
      else if (op >> 6 == CFA_OFFSET)
        set_rule (cie,
                  state,
                  op & 0x3f,
                  FLAM_CFI_OFFSET,
                  scale (cie, flam_unwind_read_uleb (in)));
      else if (op >> 6 == CFA_RESTORE)
        restore (cie, initial, state, op & 0x3f);
      else if (op == CFA_NOP ||
               (op == CFA_AARCH64_NEGATE_RA_STATE && FLAM_UNWIND_LINK >= 0))
        continue;
      else if (op == CFA_REMEMBER)
        {
          if (n_kept == STATES)
            return false;
          kept[n_kept++] = *state;
        }
      else if (op == CFA_RESTORE_STATE)
        {
          if (n_kept == 0)
            return false;
          *state = kept[--n_kept];
        }
      else if (op == CFA_GNU_ARGS_SIZE)
        flam_unwind_read_uleb (in);
      else if (op == CFA_SET_LOC)
        return false;
      else if (!run_cfa (cie, op, in, state) &&
               !run_rule (cie, initial, op, in, state))
        return false;
      if (in->bad)
        return false;
    }
  return initial ? emit (data, pc, state) : true;
}

/* register + offset [deref [+ constant]], which compilers, linkers and
 * hand-written assembler use. */
typedef struct
{
  uint8_t reg;
  bool deref;
  int64_t offset;
  int64_t offset2;
} Simple;

static bool
read_constant (FlamUnwindBytes *in, int64_t *value)
{
  uint8_t op = flam_unwind_read_u8 (in);

  if (op == OP_PLUS_UCONST)
    {
      *value = (int64_t)flam_unwind_read_uleb (in);
      return !in->bad;
    }
  if (op >= OP_LIT0 && op <= OP_LIT31)
    *value = op - OP_LIT0;
  else if (op == OP_CONST1U)
    *value = flam_unwind_read_u8 (in);
  else if (op == OP_CONST1S)
    *value = (int8_t)flam_unwind_read_u8 (in);
  else if (op == OP_CONST2U)
    *value = flam_unwind_read_u16 (in);
  else if (op == OP_CONST2S)
    *value = (int16_t)flam_unwind_read_u16 (in);
  else
    return false;
  return flam_unwind_read_u8 (in) == OP_PLUS && !in->bad;
}

static bool
read_simple (FlamUnwindBytes in, Simple *simple)
{
  uint8_t op = flam_unwind_read_u8 (&in);

  *simple = (Simple){ 0 };
  if (op < OP_BREG0 || op - OP_BREG0 >= BASE_REGS)
    return false;
  simple->reg = op - OP_BREG0;
  simple->offset = flam_unwind_read_sleb (&in);
  if (in.p < in.end && *in.p != OP_DEREF)
    {
      int64_t more;
      if (!read_constant (&in, &more))
        return false;
      simple->offset = (int64_t)((uint64_t)simple->offset + (uint64_t)more);
    }
  if (in.p < in.end && *in.p == OP_DEREF)
    {
      in.p++;
      simple->deref = true;
      if (in.p < in.end && !read_constant (&in, &simple->offset2))
        return false;
    }
  return !in.bad && in.p == in.end &&
         simple->offset == (int32_t)simple->offset &&
         simple->offset2 == (int32_t)simple->offset2;
}

/* The form that linkers use for .plt: rsp + 8 + ((rip & 15) >= N) * 8. */
static bool
read_plt (FlamUnwindBytes in, uint16_t *threshold)
{
  static const uint8_t head[] = { 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a };
  static const uint8_t tail[] = { 0x2a, 0x33, 0x24, 0x22 };

  if (in.end - in.p != sizeof head + 1 + sizeof tail ||
      memcmp (in.p, head, sizeof head) != 0 ||
      memcmp (in.p + sizeof head + 1, tail, sizeof tail) != 0 ||
      in.p[sizeof head] < OP_LIT0 || in.p[sizeof head] > OP_LIT31)
    return false;
  *threshold = in.p[sizeof head] - OP_LIT0;
  return true;
}

/* False: not supported. */
static bool
where_of_rule (const FlamCfiRule *rule,
               uint8_t *where,
               uint8_t *reg,
               int32_t *offset)
{
  Simple simple;

  *reg = 0;
  *offset = 0;
  switch (rule->kind)
    {
    case FLAM_CFI_UNSET:
    case FLAM_CFI_SAME:
      *where = FLAM_UNWIND_SAME;
      return true;
    case FLAM_CFI_OFFSET:
      if (rule->offset != (int32_t)rule->offset)
        return false;
      *where = FLAM_UNWIND_AT_CFA;
      *offset = (int32_t)rule->offset;
      return true;
    case FLAM_CFI_REGISTER:
      *where = FLAM_UNWIND_IN_REG;
      *reg = (uint8_t)rule->offset;
      return rule->offset < FLAM_UNWIND_N_REGS;
    case FLAM_CFI_EXPRESSION:
    case FLAM_CFI_VALUE_EXPRESSION:
      if (!read_simple (rule->expression, &simple) || simple.offset2 ||
          (simple.deref && rule->kind == FLAM_CFI_EXPRESSION))
        return false;
      *where = rule->kind == FLAM_CFI_EXPRESSION || simple.deref
                   ? FLAM_UNWIND_AT_REG
                   : FLAM_UNWIND_IN_REG;
      *reg = simple.reg;
      *offset = (int32_t)simple.offset;
      return true;
    case FLAM_CFI_UNDEFINED:
    case FLAM_CFI_VALUE:
    default:
      return false;
    }
}

/* `offset` as a multiple of -8 below `limit`; 0 if it is none. */
static unsigned
slot_of (const FlamCfiRule *rule, unsigned limit)
{
  if (rule->kind != FLAM_CFI_OFFSET || rule->offset >= 0 ||
      (rule->offset & 7) || rule->offset <= -8 * (int64_t)limit)
    return 0;
  return (unsigned)(-rule->offset / 8);
}

static unsigned
bx_of (const FlamCfiRule *rule)
{
  unsigned slot = slot_of (rule, FLAM_UNWIND_BX_UNKNOWN);

  if (rule->kind == FLAM_CFI_UNSET || rule->kind == FLAM_CFI_SAME)
    return 0;
  return slot ? slot : FLAM_UNWIND_BX_UNKNOWN;
}

static bool
compress_cfa (const FlamCfiState *state, FlamUnwindRow *row)
{
  if (state->cfa_is_expression)
    {
      row->how = FLAM_UNWIND_KIND_PLT;
      return read_plt (state->cfa_expression, &row->cfa);
    }
  if (state->cfa_reg == FLAM_UNWIND_SP)
    row->how = FLAM_UNWIND_KIND_SP;
  else if (state->cfa_reg == FLAM_UNWIND_FP)
    row->how = FLAM_UNWIND_KIND_BP;
  else
    return false;
  row->cfa = (uint16_t)(state->cfa_offset / 8);
  return state->cfa_offset >= 0 && (int64_t)row->cfa * 8 == state->cfa_offset;
}

static bool
compress_rule (const FlamCfiState *state, bool signal, FlamUnwindRule *rule)
{
  Simple simple;

  *rule = (FlamUnwindRule){ 0 };
  if (signal)
    rule->flags |= FLAM_UNWIND_RULE_SIGNAL;
  if (state->cfa_is_expression)
    {
      if (!read_simple (state->cfa_expression, &simple))
        return false;
      rule->cfa_reg = simple.reg;
      rule->cfa = (int32_t)simple.offset;
      rule->cfa2 = (int32_t)simple.offset2;
      if (simple.deref)
        rule->flags |= FLAM_UNWIND_RULE_DEREF;
    }
  else
    {
      if (state->cfa_reg >= FLAM_UNWIND_N_REGS ||
          state->cfa_offset != (int32_t)state->cfa_offset)
        return false;
      rule->cfa_reg = (uint8_t)state->cfa_reg;
      rule->cfa = (int32_t)state->cfa_offset;
    }
  if (!where_of_rule (&state->bp, &rule->bp_where, &rule->bp_reg, &rule->bp))
    rule->bp_where = FLAM_UNWIND_UNKNOWN;
  if (!where_of_rule (&state->ra, &rule->ra_where, &rule->ra_reg, &rule->ra))
    return false;
  if (rule->ra_where == FLAM_UNWIND_SAME && FLAM_UNWIND_LINK >= 0)
    {
      rule->ra_where = FLAM_UNWIND_IN_REG;
      rule->ra_reg = (uint8_t)FLAM_UNWIND_LINK;
    }
  return rule->ra_where != FLAM_UNWIND_SAME;
}

#if FLAM_UNWIND_LINK >= 0
/* Bits 3-7 of a row: flam-unwind-aarch64.h. False: they cannot tell it. */
static bool
compress_return (const FlamCfiState *state, FlamUnwindRow *row)
{
  unsigned slot = slot_of (&state->ra, 256), where;

  if (state->ra.kind == FLAM_CFI_UNSET || state->ra.kind == FLAM_CFI_SAME)
    where = FLAM_UNWIND_RETURN_IN_LINK;
  else if (slot > 0 && slot + 1 == row->bp)
    where = FLAM_UNWIND_RETURN_IN_RECORD;
  else if (slot > 0 && slot < 31)
    where = slot + 1;
  else
    return false;
  row->how |= (uint8_t)(where << 3);
  return true;
}
#else
/* The return address is always at the same place; bits 3-7 are those of the
 * other register. */
static bool
compress_return (const FlamCfiState *state, FlamUnwindRow *row)
{
  row->how |= (uint8_t)(bx_of (&state->bx) << 3);
  return state->ra.kind == FLAM_CFI_OFFSET && state->ra.offset == -8;
}
#endif

void
flam_cfi_compress (const FlamCfiState *state,
                   bool signal_frame,
                   FlamUnwindRow *row,
                   FlamUnwindRule *rule)
{
  bool bp_same =
      state->bp.kind == FLAM_CFI_UNSET || state->bp.kind == FLAM_CFI_SAME;

  *row = (FlamUnwindRow){ 0 };
  if (state->ra.kind == FLAM_CFI_UNDEFINED)
    {
      row->how = FLAM_UNWIND_KIND_END;
      return;
    }
  row->bp = (uint8_t)slot_of (&state->bp, 256);
  if (signal_frame || (!bp_same && !row->bp) || !compress_cfa (state, row) ||
      !compress_return (state, row))
    {
      *row = (FlamUnwindRow){ 0 };
      if (!compress_rule (state, signal_frame, rule))
        return;
      row->how = FLAM_UNWIND_KIND_RULE;
      if (FLAM_UNWIND_LINK < 0)
        row->how |= (uint8_t)(bx_of (&state->bx) << 3);
    }
}
