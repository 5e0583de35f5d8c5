/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Walks from the call toward the root, frame by frame, until the rest of the
 * stack is the same as the kept one (flam-preload-stack.c). */

#include "flam-preload-walk.h"

static const PreloadCachedRow *
find_row (PreloadCachedRow *cached, uint64_t pc)
{
  const PreloadModule *module = preload_module_at (pc);
  const FlamUnwindTable *table = module ? preload_module_table (module) : NULL;
  const FlamUnwindRow *row = NULL;

  *cached = (PreloadCachedRow){ 0 };
  if (table != NULL)
    {
      row = flam_unwind_table_find (table, pc - module->bias);
      cached->code.rules = flam_unwind_table_rules (table);
    }
  if (row != NULL)
    cached->code.row = *row;
  /* Code that is not known yet may be found the next time. */
  cached->pc = module != NULL ? pc : 0;
  return cached;
}

static inline const PreloadCachedRow *
row_at (PreloadStack *stack, uint64_t pc)
{
  PreloadCachedRow *cached = &stack->rows[(pc ^ pc >> 11) % PRELOAD_CACHE];

  return LIKELY (cached->pc == pc) ? cached : find_row (cached, pc);
}

/* The address of the caller's rbp in the step from `frame`; 0: in rbp. */
static inline uint64_t
bp_slot (const PreloadStep *frame, const FlamUnwindRow *row, uint64_t cfa)
{
  uint64_t slot = cfa - 8ull * row->bp;

  if ((row->how & 7) == FLAM_UNWIND_KIND_NONE)
    return frame->bp;
  /* Epilogues pop without a new row: below sp the value is in rbp again. */
  return row->bp != 0 && slot >= frame->sp ? slot : 0;
}

/* The address of the return address in such a step; both are next to each other
 * where a frame pointer leads. */
static inline const uint64_t *
return_slot (const FlamUnwindRow *row, uint64_t cfa)
{
  return (const uint64_t *)((row->how & 7) == FLAM_UNWIND_KIND_NONE
                                ? cfa - 8
                                : flam_unwind_return_slot (row, cfa));
}

static const uint64_t never = 0;

/* Stores the words that the step from `frame` has read. */
static inline void
note_step (PreloadStep *frame,
           const FlamUnwindRow *row,
           const FlamUnwindMemory *memory,
           const FlamUnwindRegs *caller)
{
  unsigned kind = row->how & 7;
  bool is_plain = kind == FLAM_UNWIND_KIND_SP || kind == FLAM_UNWIND_KIND_BP ||
                  kind == FLAM_UNWIND_KIND_NONE;

  frame->uses_bp = kind != FLAM_UNWIND_KIND_SP;
  frame->ra = (PreloadCheck){ &never, 1 };
  frame->saved = (PreloadCheck){ NULL, 0 };
  if (LIKELY (is_plain && !frame->sp_unknown && frame->sp >= memory->base &&
              caller->sp - memory->base <= memory->size))
    {
      uint64_t slot = bp_slot (frame, row, caller->sp);
      const uint64_t *ra = return_slot (row, caller->sp);

      /* In memory it may be signed. */
      frame->ra = (PreloadCheck){ ra, FLAM_UNWIND_LINK < 0 ? caller->pc : *ra };
      frame->saved = (PreloadCheck){ (const uint64_t *)slot, caller->bp };
    }
}

/* Of frames[0..from], counted from `from` toward the root: the first frame
 * whose caller may have changed; 0: all are unchanged. */
static uint32_t
verify (const PreloadStack *stack, uint32_t from)
{
  uint32_t n = preload_check_all (stack->checks, stack->frames[from].n_checks);

  while (from > 0 && stack->frames[from - 1].n_checks >= n)
    from--;
  return n == 0 ? 0 : from;
}

/* The kept frame with this pc and sp, and rbp if that matters, or -1. `at`
 * moves toward the root with the walk. */
static inline int
find_kept (const PreloadStack *stack, int *at, const FlamUnwindRegs *regs)
{
  uint64_t pc = regs->pc - regs->caller;
  const PreloadFrame *frame;

  while (*at >= 0 && stack->frames[*at].step.sp < regs->sp)
    (*at)--;
  if (*at < 0)
    return -1;
  frame = &stack->frames[*at];
  return frame->step.sp == regs->sp && frame->step.pc == pc &&
                 (frame->step.bp == regs->bp || !frame->needs_bp)
             ? *at
             : -1;
}

/* Copies frames[from], at `regs`, to frames[to] as walked ones: they are
 * unchanged except for the value of rbp. Returns the new number of walked
 * frames. */
static uint32_t
walk_kept (PreloadStack *stack,
           uint32_t from,
           uint32_t to,
           uint32_t n,
           FlamUnwindRegs *regs)
{
  for (; from > to && n < stack->limit; from--)
    {
      PreloadStep *step = &stack->walked[n++];

      *step = stack->frames[from].step;
      step->bp = regs->bp;
      if (step->saved.address != NULL)
        regs->bp = step->saved.value = *step->saved.address;
    }
  regs->pc = stack->frames[from].step.pc + 1;
  regs->caller = true;
  regs->sp = stack->frames[from].step.sp;
  regs->sp_unknown = stack->frames[from].step.sp_unknown;
  regs->bx_state = 0;
  return n;
}

/* The stack ends at `frame`. */
static inline void
note_end (PreloadStep *frame)
{
  frame->ra.address = frame->saved.address = NULL;
  frame->uses_bp = true;
}

/* Leaf first into `walked`, until the root or until the rest is unchanged. */
typedef struct
{
  PreloadStack *stack;
  const FlamUnwindMemory *memory;
  uint32_t n;    /* walked */
  uint32_t kept; /* number of kept frames that follow */
  int at;        /* in the kept frames: those before are below sp */
} Walk;

static inline bool
meet (void *data, FlamUnwindRegs *regs)
{
  Walk *walk = data;
  int same = find_kept (walk->stack, &walk->at, regs);
  uint32_t last;

  if (same < 0)
    return true;
  last = verify (walk->stack, same);
  if (last == 0)
    {
      walk->kept = same + 1;
      return false;
    }
  walk->n = walk_kept (walk->stack, same, last, walk->n, regs);
  walk->at = (int)last - 1;
  return true;
}

/* If no code is known here, the map was read just now, or recently without
 * result; the function that called the allocator exists nevertheless, perhaps
 * with a frame pointer. */
static inline const FlamUnwindCode *
find (void *data, uint64_t pc)
{
  Walk *walk = data;
  const PreloadCachedRow *cached = row_at (walk->stack, pc);

  return UNLIKELY (cached->pc == 0 && walk->n > 0) ? NULL : &cached->code;
}

static inline bool
enter (void *data, const FlamUnwindRegs *regs, uint64_t pc)
{
  Walk *walk = data;
  PreloadStep *frame;

  if (walk->n == walk->stack->limit)
    return false;
  frame = &walk->stack->walked[walk->n++];
  frame->pc = pc;
  frame->sp = regs->sp;
  frame->bp = regs->bp;
  frame->sp_unknown = regs->sp_unknown;
  return true;
}

static inline void
leave (void *data, const FlamUnwindRow *row, const FlamUnwindRegs *caller)
{
  Walk *walk = data;

  note_step (&walk->stack->walked[walk->n - 1], row, walk->memory, caller);
}

uint32_t
preload_walk (PreloadStack *stack,
              const FlamUnwindMemory *memory,
              FlamUnwindRegs *regs,
              uint32_t *kept,
              bool *root)
{
  static const FlamUnwindWalker walker = {
    .meet = meet, .find = find, .enter = enter, .leave = leave
  };
  Walk this = { stack, memory, 0, 0, (int)stack->n - 1 };
  FlamUnwindEnd end = flam_unwind_loop (&walker, &this, memory, regs);

  *kept = this.kept;
  *root = end == FLAM_UNWIND_OK ? stack->root : flam_unwind_is_root (end);
  if (end != FLAM_UNWIND_OK && end != FLAM_UNWIND_LIMIT)
    note_end (&stack->walked[this.n - 1]);
  return this.n;
}
