/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_LOOP_H
#define FLAM_UNWIND_LOOP_H

/* The walk over a stack, shared by all walkers: the recorder walks a copy
 * (flam_unwind_walk()), the preload library its own thread's stack. Plain C,
 * like flam-unwind-rows.h. Which frame is an interrupted one, at which address
 * a caller is looked up, and where a walk ends is defined only here.
 *
 *   meet? ─▶ find ──▶ enter ──▶ step ──▶ leave? ──▶ the caller's frame: again
 *     │       └ no code: outside; after a guess, by the frame pointer
 *     └ the rest is known
 *
 * It is compiled into each walker together with the walker's functions, so that
 * these cost no calls. */

#include "flam-unwind-rows.h"

typedef struct
{
  FlamUnwindRow row;
  const FlamUnwindRule *rules;
} FlamUnwindCode;

typedef struct
{
  /* Called before any look-up; may advance `regs` itself. False: the rest is
   * known, the walk ends with FLAM_UNWIND_OK. */
  bool (*meet) (void *data, FlamUnwindRegs *regs);
  /* NULL: no code there. */
  const FlamUnwindCode *(*find) (void *data, uint64_t pc);
  /* A frame at `pc`, in the form to be shown. False: no more frames fit, the
   * walk ends with FLAM_UNWIND_LIMIT. */
  bool (*enter) (void *data, const FlamUnwindRegs *regs, uint64_t pc);
  /* Like flam_unwind_step(), for managed code. NULL: by the frame pointer. */
  FlamUnwindEnd (*step) (void *data,
                         const FlamUnwindMemory *memory,
                         FlamUnwindRegs *regs);
  /* A step from the last entered frame, by `row`, to its caller. */
  void (*leave) (void *data,
                 const FlamUnwindRow *row,
                 const FlamUnwindRegs *caller);
} FlamUnwindWalker;

/* A handler "returns" to the first byte of the signal trampoline, which
 * was never called. */
static inline bool
flam_unwind_is_signal_frame (const FlamUnwindCode *code)
{
  return (code->row.how & 7) == FLAM_UNWIND_KIND_RULE &&
         (code->rules[code->row.cfa].flags & FLAM_UNWIND_RULE_SIGNAL);
}

static inline __attribute__ ((always_inline)) FlamUnwindEnd
flam_unwind_loop (const FlamUnwindWalker *walker,
                  void *data,
                  const FlamUnwindMemory *memory,
                  FlamUnwindRegs *regs)
{
  FlamUnwindRow row = { 0 }; /* of the frame before, the callee */
  FlamUnwindRegs guessed = {
    0
  }; /* the frame that a guess was made from; pc 0: none */
  bool called = false;

  regs->leaf = regs->all;
  for (bool first = true;; first = false)
    {
      const FlamUnwindCode *code;
      FlamUnwindEnd end;
      uint64_t pc;

      if (walker->meet && !walker->meet (data, regs))
        return FLAM_UNWIND_OK;
      pc = regs->pc - regs->caller;
      code = walker->find (data, pc);
      if (__builtin_expect (!code && guessed.pc != 0, 0))
        {
          FlamUnwindEnd other = flam_unwind_step (NULL, NULL, memory, &guessed);

          if (other != FLAM_UNWIND_OK)
            return other;
          *regs = guessed;
          guessed.pc = 0;
          pc = regs->pc - 1;
          code = walker->find (data, pc);
        }
      if (__builtin_expect (!code, 0))
        {
          if (!first)
            return flam_unwind_end_outside (&row, called);
          return walker->enter (data, regs, pc) ? FLAM_UNWIND_BAD
                                                : FLAM_UNWIND_LIMIT;
        }
      if (!walker->enter (
              data, regs, flam_unwind_is_signal_frame (code) ? regs->pc : pc))
        return FLAM_UNWIND_LIMIT;
      row = code->row;
      called = regs->caller;
      guessed.pc = 0;
      if (__builtin_expect (flam_unwind_is_guess (&row, code->rules), 0))
        guessed = *regs;
      if (__builtin_expect (!flam_unwind_step_plain (&code->row, memory, regs),
                            0))
        {
          end = walker->step && (row.how & 7) == FLAM_UNWIND_KIND_MANAGED
                    ? walker->step (data, memory, regs)
                    : flam_unwind_step (&code->row, code->rules, memory, regs);
          /* A return address of 0, by a guess: it is the root only if the frame
           * pointer leads nowhere. */
          if (end == FLAM_UNWIND_ROOT && guessed.pc != 0 &&
              flam_unwind_step (NULL, NULL, memory, &guessed) ==
                  FLAM_UNWIND_OK &&
              walker->find (data, guessed.pc - 1) != NULL)
            {
              *regs = guessed;
              guessed.pc = 0;
              row = (FlamUnwindRow){ 0 };
              end = FLAM_UNWIND_OK;
            }
          if (end != FLAM_UNWIND_OK)
            return end;
        }
      if (walker->leave)
        walker->leave (data, &row, regs);
    }
}

#endif
