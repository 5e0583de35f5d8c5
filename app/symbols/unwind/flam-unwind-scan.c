/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-scan.h"

#include <string.h>

#include "flam-unwind-state.h"

#define ALIGNED 16       /* alignment of functions, and of the stack at calls */
#define BRANCHES 64      /* number kept per function; a power of 2 */
#define NEAR (1 << 16)   /* bytes: a farther branch leaves the function */
#define LONGEST_LOOK 512 /* instructions */

typedef struct
{
  uint32_t at;
  FlamUnwindState state;
} Branch;

typedef struct
{
  const uint8_t *code;
  uint32_t size;
  uint32_t start; /* offset in the file */
  FlamUnwindAdd add;
  void *data;
  FlamUnwindState state;
  FlamUnwindState steady; /* depth of this function after its prologue */
  bool assumed;           /* `state` is valid: there was no branch */
  const FlamUnwindStarts *starts; /* NULL: handwritten code */
  bool jumps;                     /* through a table, in this function */
  bool is_root;                   /* this function has no caller */
  uint32_t last_target;           /* the farthest forward branch in it */
  Branch branches[BRANCHES];      /* by `at` */
} Scan;

static const FlamUnwindState at_entry = { .depth = 8 };

static const uint8_t *
code_at (const FlamUnwindSections *sections, uint32_t offset, uint32_t size)
{
  for (unsigned i = 0; i < sections->n_segments; i++)
    {
      const FlamUnwindSegment *segment = &sections->segments[i];

      if (segment->code && offset >= segment->offset &&
          offset - segment->offset < segment->size &&
          size <= segment->size - (offset - segment->offset))
        return segment->code + (offset - segment->offset);
    }
  return NULL;
}

static bool
is_code (const Scan *scan, uint32_t at, const uint8_t *code, uint32_t size)
{
  return scan->size - at >= size && memcmp (scan->code + at, code, size) == 0;
}

/* The code that the kernel or the loader starts marks the outermost frame by a
 * frame pointer of 0: System V ABI, AMD64 supplement, section 3.4.1. A compiled
 * function saves the register before. */
static bool
is_start (const Scan *scan, uint32_t at)
{
  static const uint8_t with_rex[] = { 0x48, 0x31, 0xed }; /* xor %rbp, %rbp */

  return is_code (scan, at, with_rex, sizeof with_rex) ||
         is_code (scan, at, with_rex + 1, sizeof with_rex - 1);
}

static void
emit (const Scan *scan, uint32_t at)
{
  FlamUnwindRow row;
  FlamUnwindRule rule;
  bool is_rule = flam_unwind_state_get_row (&scan->state, &row, &rule);

  if (scan->is_root)
    {
      row = (FlamUnwindRow){ .how = FLAM_UNWIND_KIND_END };
      is_rule = false;
    }
  row.pc = scan->start + at;
  scan->add (scan->data, row, is_rule ? &rule : NULL);
}

/* With a long jump, a function may go on to another one, after it has removed
 * its frame. Compilers leave out more than that, so they are not trusted. */
static bool
may_leave (const Scan *scan, const FlamInstruction *instruction)
{
  return instruction->ends && instruction->length > 2 &&
         (scan->starts || scan->state.lost ||
          (scan->state.depth == 8 && !scan->state.align));
}

static void
note_branch (Scan *scan, const FlamInstruction *instruction, uint32_t next)
{
  int64_t at = (int64_t)next + instruction->target;

  if (instruction->target <= 0 || instruction->target > NEAR ||
      at >= scan->size || may_leave (scan, instruction))
    return;
  scan->branches[at % BRANCHES] = (Branch){ (uint32_t)at, scan->state };
  if (at > scan->last_target)
    scan->last_target = (uint32_t)at;
}

/* The length of an instruction without effect; 0: another one. */
static uint32_t
nop_length (const uint8_t *code, uint32_t left)
{
  FlamInstruction instruction;
  uint32_t p = 0;

  if (*code == 0 || *code == 0xcc)
    return 1;
  if (!flam_unwind_decode (code, left, &instruction))
    return 0;
  while (p + 1 < instruction.length && (code[p] == 0x66 || code[p] == 0x2e))
    p++;
  return code[p] == 0x90 || (code[p] == 0x0f && code[p + 1] == 0x1f)
             ? instruction.length
             : 0;
}

/* After the end of a function's flow: skips to a multiple of 16 if there is
 * only padding before it. */
static uint32_t
skip_padding (const Scan *scan, uint32_t at)
{
  uint32_t p = at, length = 1;

  for (; p < scan->size && (scan->start + p) % ALIGNED != 0; p += length)
    {
      length = nop_length (scan->code + p, scan->size - p);
      if (length == 0)
        return at;
    }
  return p;
}

static void
begin_function (Scan *scan, uint32_t at, FlamUnwindState state)
{
  scan->state = scan->steady = state;
  scan->assumed = scan->jumps = false;
  scan->last_target = 0;
  scan->is_root = is_start (scan, at);
  emit (scan, at);
}

/* A trap in the middle of a function. Compilers go on with the same frame, also
 * behind one that they take for an ordinary instruction: musl checks its heap
 * so. */
static bool
is_check (const FlamUnwindState *state, const FlamInstruction *instruction)
{
  return instruction->traps && state->depth > 8;
}

/* Whether the code at `at` is the start of a function: it returns with the
 * depth it began with, or jumps after it had a frame. The rest of a function
 * removes its frame first, or calls another one with a stack pointer that is
 * not aligned if this were the start. */
static bool
is_balanced (const Scan *scan, uint32_t at)
{
  FlamUnwindState state = at_entry;
  FlamInstruction now;
  bool had_frame = false;

  for (unsigned i = 0; i < LONGEST_LOOK && at < scan->size; i++)
    {
      if (!flam_unwind_decode (scan->code + at, scan->size - at, &now))
        return false;
      if (now.ends && !is_check (&state, &now))
        return now.branches ? had_frame
                            : state.depth == 8 && (had_frame || !now.indirect);
      if (now.calls && state.depth % ALIGNED != 0)
        return false;
      flam_unwind_state_apply (&state, &now);
      had_frame |= state.depth > 8;
      if (state.lost || state.depth < 8)
        return false;
      at += now.length;
    }
  return false;
}

/* A symbol, or the target of a call. */
static bool
is_known_start (const Scan *scan, uint32_t at)
{
  return scan->starts &&
         flam_unwind_starts_has (scan->starts, scan->start + at);
}

/* Assembler aligns its functions, and compilers do unless they optimize for
 * size, as for musl. `end`: the instruction before. A function jumps to another
 * one without its frame, or on another stack (longjmp). */
static bool
may_begin (const Scan *scan, uint32_t at, const FlamInstruction *end)
{
  const FlamUnwindState *state = &scan->state;

  if (is_known_start (scan, at))
    return true;
  if (scan->last_target >= at)
    return false;
  if ((scan->start + at) % ALIGNED == 0)
    return true;
  return scan->starts && (!scan->jumps || is_balanced (scan, at)) &&
         (state->depth == 8 || state->lost ||
          !(end->branches || end->indirect));
}

/* Another entry of the function: its code pushes what it has to before it falls
 * into code that the function has jumped to. GMP's functions that take a carry
 * have such an entry without one:
 *
 *    mul_1c:  push %rbx              8
 *             jmp  1f               16 ──┐
 *    mul_1:   push %rbx              8   │
 *             xor  %r10, %r10       16   │
 *    1:       ...                   16 ◀─┘ */
static bool
is_entry (const Scan *scan, uint32_t at)
{
  FlamUnwindState state = at_entry;
  FlamInstruction now;

  for (unsigned i = 0; i < LONGEST_LOOK && at < scan->size; i++)
    {
      const Branch *branch = &scan->branches[at % BRANCHES];

      if (branch->at == at && at != 0)
        return !state.lost && !branch->state.lost && branch->state.align == 0 &&
               state.depth > 8 && state.depth == branch->state.depth;
      if (!flam_unwind_decode (scan->code + at, scan->size - at, &now) ||
          now.ends || now.calls)
        return false;
      flam_unwind_state_apply (&state, &now);
      at += now.length;
    }
  return false;
}

/* The instruction at `at` is not reached from the one before it. */
static void
go_on (Scan *scan, uint32_t at, const FlamInstruction *end)
{
  if (at >= scan->size)
    return;
  if (may_begin (scan, at, end))
    begin_function (scan, at, at_entry);
  else
    {
      scan->assumed = !is_entry (scan, at);
      scan->state = scan->assumed ? scan->steady : at_entry;
      emit (scan, at);
    }
}

/* Where an indirect call may arrive (Intel's CET): at the start of a function,
 * or directly behind a call that returns twice. */
static bool
is_landing (const Scan *scan, uint32_t at)
{
  static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

  return is_code (scan, at, endbr64, sizeof endbr64);
}

/* A call that does not return, or a trap, is the last instruction of many
 * functions (__stack_chk_fail). True: the next function begins at `next`, which
 * is updated. */
static bool
ends_at_call (Scan *scan, uint32_t *next)
{
  uint32_t at = skip_padding (scan, *next);

  if (at >= scan->size ||
      (!is_known_start (scan, at) &&
       ((scan->start + at) % ALIGNED != 0 || scan->last_target >= at ||
        scan->state.depth == 8 ||
        !((at > *next && is_landing (scan, at)) || is_balanced (scan, at)))))
    return false;
  *next = at;
  begin_function (scan, at, at_entry);
  return true;
}

/* A branch to `at` gives a better depth than a preceding call that may not
 * return. */
static void
arrive (Scan *scan, uint32_t at)
{
  const Branch *branch = &scan->branches[at % BRANCHES];

  if (branch->at != at || at == 0)
    return;
  scan->state = branch->state;
  scan->assumed = false;
  emit (scan, at);
}

/* Not code: continues at the next position where a function may begin. */
static uint32_t
resume (Scan *scan, uint32_t at)
{
  uint32_t next = at + 1 + -(scan->start + at + 1) % ALIGNED;

  begin_function (scan, at, (FlamUnwindState){ .depth = 8, .lost = true });
  return next;
}

/* Arguments are pushed between two branches, registers before the first. */
static void
note_steady (Scan *scan, const FlamInstruction *instruction)
{
  const FlamUnwindState *state = &scan->state;
  bool branches = instruction->branches && !instruction->ends;
  bool saves = state->bp >= scan->steady.bp && state->bx >= scan->steady.bx;

  if (state->lost || state->framed || state->align > scan->steady.align ||
      (state->align == scan->steady.align &&
       (state->depth > scan->steady.depth ||
        (state->depth == scan->steady.depth && (state->align || saves)))) ||
      (branches && (state->depth > 8 || state->align)))
    scan->steady = *state;
}

/* mov $15, %rax; syscall: rt_sigreturn. */
static const uint8_t signal_return[] = { 0x48, 0xc7, 0xc0, 15,  0,
                                         0,    0,    0x0f, 0x05 };

/* The signal trampoline, to which a handler returns. Debuggers recognize it by
 * its instructions as well. Its row begins a byte before it, because callers
 * are looked up at their return address - 1. Above the handler's return address
 * is a struct ucontext. */
static void
emit_signal_return (const Scan *scan, uint32_t at)
{
  enum
  {
    SAVED_BP = 120,
    SAVED_PC = 168
  };
  FlamUnwindRule rule = { .flags =
                              FLAM_UNWIND_RULE_SIGNAL | FLAM_UNWIND_RULE_DEREF,
                          .cfa_reg = FLAM_UNWIND_SP,
                          .cfa = FLAM_UNWIND_SAVED_SP,
                          .ra_where = FLAM_UNWIND_AT_REG,
                          .ra_reg = FLAM_UNWIND_SP,
                          .ra = SAVED_PC,
                          .bp_where = FLAM_UNWIND_AT_REG,
                          .bp_reg = FLAM_UNWIND_SP,
                          .bp = SAVED_BP };
  FlamUnwindRow row = { .pc = scan->start + at - (at > 0),
                        .how = (uint8_t)(FLAM_UNWIND_KIND_RULE |
                                         FLAM_UNWIND_BX_UNKNOWN << 3) };

  scan->add (scan->data, row, &rule);
}

void
flam_unwind_scan (const FlamUnwindSections *sections,
                  uint32_t start,
                  uint32_t end,
                  const FlamUnwindStarts *starts,
                  FlamUnwindAdd add,
                  void *data)
{
  Scan scan = { .code = code_at (sections, start, end - start),
                .size = end - start,
                .start = start,
                .starts = starts,
                .add = add,
                .data = data };
  FlamInstruction now = { 0 };
  uint32_t at, next;

  if (!scan.code)
    return;
  at = skip_padding (&scan, 0);
  if (at < scan.size)
    begin_function (&scan, at, at_entry);
  for (; at < scan.size; at = next)
    {
      if (scan.assumed || now.calls || now.traps)
        arrive (&scan, at);
      if (is_code (&scan, at, signal_return, sizeof signal_return))
        {
          emit_signal_return (&scan, at);
          next = skip_padding (&scan, at + sizeof signal_return);
          if (next < scan.size)
            begin_function (&scan, next, at_entry);
          now = (FlamInstruction){ 0 };
          continue;
        }
      if (!flam_unwind_decode (scan.code + at, scan.size - at, &now))
        {
          next = resume (&scan, at);
          continue;
        }
      next = at + now.length;
      if (now.effect != FLAM_STACK_SAME || scan.state.has_copy ||
          scan.state.align)
        flam_unwind_state_apply (&scan.state, &now);
      note_steady (&scan, &now);
      if (now.branches)
        note_branch (&scan, &now, next);
      if (now.ends && !(scan.starts && is_check (&scan.state, &now)))
        {
          scan.jumps |=
              now.indirect && scan.state.depth > 8 && !scan.state.lost;
          next = skip_padding (&scan, next);
          go_on (&scan, next, &now);
        }
      else if (!((now.calls || now.traps) && ends_at_call (&scan, &next)) &&
               next < scan.size &&
               flam_unwind_state_is_change (&scan.state, &now))
        emit (&scan, next);
    }
}
