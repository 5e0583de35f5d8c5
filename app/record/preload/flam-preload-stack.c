/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where a call came from, in tens of nanoseconds.
 *
 * Most calls come from nearly where the last one came from. So each thread
 * keeps its last stack, and a new one is unwound only until it meets it:
 *
 *   kept      main ── run ── parse ── node_new ── malloc
 *   now       main ── run ── parse ── list_add ── malloc
 *                             ▲ same pc and sp: from here on the words that
 *                               led from frame to frame are only compared,
 *                               and the trie's node of `parse` is reused
 *
 *   frames    main        run         parse            root first
 *   n_checks  0           1           3
 *   checks    [ra of run] [ra of parse] [rbp saved by parse]
 *              address and value: all are looked at in one short loop
 *
 * Most functions find their frame by sp alone, and to them rbp is a register
 * like others: it changes all the time, and nothing depends on it. A frame
 * `needs_bp` when the way from it to the root does: it uses rbp, or it leaves
 * it alone and its caller needs it. Only there rbp must be the same, too, and
 * only what such a caller gets back is checked.
 *
 * Before all this, the call is looked for among those that were met before
 * (flam-preload-memo.h): in loops it is there.
 *
 * Nothing is written to the target's stack. A frame of which it is not known
 * what led to its caller (its row is an expression) has a check that fails: it
 * is unwound anew. */

#include "flam-preload-memo.h"
#include "flam-unwind-loop.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Deeper stacks are cut. There is room for a few first, and for more when a
 * stack needs it; each call then costs 0.7 ns a frame. */
#define FIRST_FRAMES 4096
#define FRAMES_MAX (1u << 17)
#define CACHE_SIZE 2048
/* Above this a stack pointer is not on the thread's own stack. */
#define STACK_MAX (1ull << 30)

/* A frame, and what leads to its caller. */
typedef struct
{
  uint64_t pc;
  uint64_t sp;
  uint64_t bp;
  PreloadCheck ra;    /* address NULL: there is no caller */
  PreloadCheck saved; /* the caller's rbp; address NULL: it is in rbp */
  bool uses_bp;
} Step;

/* One of the kept ones. */
typedef struct
{
  Step step;
  bool needs_bp; /* step.bp is only true if it does */
  uint32_t node;
  uint32_t n_checks; /* up to this frame, from the root on */
  uint32_t python;   /* Python frames up to this one, with their entries */
} Frame;

typedef struct
{
  uint64_t pc; /* 0: empty */
  FlamUnwindCode code;
} CachedRow;

typedef struct
{
  uint64_t pc;
  uint32_t parent;
  uint32_t node; /* 0: empty */
} CachedNode;

struct _PreloadStack
{
  uint32_t epoch;
  uint32_t generation; /* of epochs and tops */
  uint32_t n;
  bool root;        /* frames[0] is where the thread began */
  uint32_t entered; /* so many frames to the first in Python's code; 0 none */
  bool is_read;     /* the Python frames of this call, already */
  uint64_t top;     /* of the memory that the frames are in; 0: not known */
  CachedRow rows[CACHE_SIZE];
  CachedNode nodes[CACHE_SIZE];
  uint32_t limit;
  Frame *frames;        /* limit, root first */
  PreloadCheck *checks; /* 2 limit + 2 */
  Step *walked;         /* limit, leaf first */
  PreloadPython python;
  PreloadMemo memos[PRELOAD_MEMOS];
};

/* The three of them lie side by side. */
static size_t
room_size (uint32_t limit)
{
  return limit * (sizeof (Frame) + 2 * sizeof (PreloadCheck) + sizeof (Step)) +
         2 * sizeof (PreloadCheck);
}

static bool
make_room (PreloadStack *stack, uint32_t limit)
{
  Frame *frames = preload_pages (room_size (limit));
  PreloadCheck *checks;

  if (frames == NULL)
    return false;
  checks = (PreloadCheck *)(frames + limit);
  if (stack->n > 0)
    {
      const Frame *leaf = &stack->frames[stack->n - 1];

      memcpy (checks, stack->checks, leaf->n_checks * sizeof *checks);
      memcpy (frames, stack->frames, stack->n * sizeof *frames);
    }
  if (stack->frames != NULL)
    preload_release_pages (stack->frames, room_size (stack->limit));
  stack->limit = limit;
  stack->frames = frames;
  stack->checks = checks;
  stack->walked = (Step *)(checks + 2 * (size_t)limit + 2);
  return true;
}

PreloadStack *
preload_stack_new (void)
{
  PreloadStack *stack = preload_pages (sizeof *stack);

  if (stack != NULL && !make_room (stack, FIRST_FRAMES))
    {
      preload_release_pages (stack, sizeof *stack);
      return NULL;
    }
  return stack;
}

void
preload_stack_free (PreloadStack *stack)
{
  preload_release_pages (stack->frames, room_size (stack->limit));
  preload_release_pages (stack, sizeof *stack);
}

/* --- nodes --------------------------------------------------------------- */

static inline uint32_t
node_of (PreloadStack *stack, uint64_t pc, uint32_t parent)
{
  CachedNode *cached =
      &stack->nodes[(pc ^ pc >> 11 ^ parent * 0x9e37u) % CACHE_SIZE];

  if (UNLIKELY (cached->node == 0 || cached->pc != pc ||
                cached->parent != parent))
    *cached = (CachedNode){ pc, parent, preload_trie_node (pc, parent) };
  return cached->node;
}

/* --- unwinding ----------------------------------------------------------- */

static bool
read_word (void *data, uint64_t address, uint64_t *value)
{
  struct iovec local = { value, sizeof *value };
  struct iovec remote = { (void *)address, sizeof *value };

  return syscall (
             SYS_process_vm_readv, getpid (), &local, 1ul, &remote, 1ul, 0ul) ==
         sizeof *value;
}

extern void *__libc_stack_end;

/* The stack's memory from `sp` on, as far as it is known to be mapped: to the
 * thread's control block, or for the first thread to where main's caller
 * began. Elsewhere (coroutines) the kernel is asked for each word. */
static FlamUnwindMemory
stack_memory (uint64_t sp)
{
  FlamUnwindMemory memory = { NULL, sp, 0, read_word, NULL };
  uint64_t top = (uint64_t)pthread_self ();
  uint64_t main_top = (uint64_t)__libc_stack_end;

  if (sp < main_top && main_top - sp < STACK_MAX)
    top = main_top;
  if (sp < top && top - sp < STACK_MAX)
    {
      memory.copy = (const void *)sp;
      memory.size = top - sp;
    }
  return memory;
}

static const CachedRow *
find_row (CachedRow *cached, uint64_t pc)
{
  const PreloadModule *module = preload_module_at (pc);
  const FlamUnwindTable *table = module ? preload_module_table (module) : NULL;
  const FlamUnwindRow *row = NULL;

  *cached = (CachedRow){ 0 };
  if (table != NULL)
    {
      row = flam_unwind_table_find (table, pc - module->bias);
      cached->code.rules = flam_unwind_table_rules (table);
    }
  if (row != NULL)
    cached->code.row = *row;
  /* Code that is not known yet may be known the next time. */
  cached->pc = module != NULL ? pc : 0;
  return cached;
}

static inline const CachedRow *
row_at (PreloadStack *stack, uint64_t pc)
{
  CachedRow *cached = &stack->rows[(pc ^ pc >> 11) % CACHE_SIZE];

  return LIKELY (cached->pc == pc) ? cached : find_row (cached, pc);
}

/* Where the step from `frame` finds the caller's rbp; 0: it is in rbp. */
static inline uint64_t
bp_slot (const Step *frame, const FlamUnwindRow *row, uint64_t cfa)
{
  uint64_t slot = cfa - 8ull * row->bp;

  if ((row->how & 7) == FLAM_UNWIND_KIND_NONE)
    return frame->bp;
  /* Epilogues pop without saying so: below sp the value is in rbp again. */
  return row->bp != 0 && slot >= frame->sp ? slot : 0;
}

static const uint64_t never = 0;

/* What the step from `frame` has read. */
static inline void
note_step (Step *frame,
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
  if (LIKELY (is_plain && frame->sp >= memory->base &&
              caller->sp - memory->base <= memory->size))
    {
      uint64_t slot = bp_slot (frame, row, caller->sp);

      frame->ra =
          (PreloadCheck){ (const uint64_t *)(caller->sp - 8), caller->pc };
      frame->saved = (PreloadCheck){ (const uint64_t *)slot, caller->bp };
    }
}

/* Of frames[0..from], counted from `from` toward the root: the first whose
 * caller is not certain; 0: all are as they were. */
static uint32_t
verify (const PreloadStack *stack, uint32_t from)
{
  uint32_t n = preload_check_all (stack->checks, stack->frames[from].n_checks);

  while (from > 0 && stack->frames[from - 1].n_checks >= n)
    from--;
  return n == 0 ? 0 : from;
}

/* The kept frame with this pc and sp, and rbp where that matters, or -1. `at`
 * moves toward the root with the walk. */
static inline int
find_kept (const PreloadStack *stack, int *at, const FlamUnwindRegs *regs)
{
  uint64_t pc = regs->pc - regs->caller;
  const Frame *frame;

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

/* From frames[from], where `regs` are, to frames[to]: as they were, but for
 * what has become of rbp. Returns how many have been walked then. */
static uint32_t
walk_kept (PreloadStack *stack,
           uint32_t from,
           uint32_t to,
           uint32_t n,
           FlamUnwindRegs *regs)
{
  for (; from > to && n < stack->limit; from--)
    {
      Step *step = &stack->walked[n++];

      *step = stack->frames[from].step;
      step->bp = regs->bp;
      if (step->saved.address != NULL)
        regs->bp = step->saved.value = *step->saved.address;
    }
  regs->pc = stack->frames[from].step.pc + 1;
  regs->caller = true;
  regs->sp = stack->frames[from].step.sp;
  regs->bx_state = 0;
  return n;
}

/* There is no way on from `frame`. */
static inline void
note_end (Step *frame)
{
  frame->ra.address = frame->saved.address = NULL;
  frame->uses_bp = true;
}

/* Leaf first into `walked`, until the root or until the rest is as it was. */
typedef struct
{
  PreloadStack *stack;
  const FlamUnwindMemory *memory;
  uint32_t n;    /* walked */
  uint32_t kept; /* so many of the kept frames follow */
  int at;        /* of the kept frames: those before lie below sp */
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

/* Where no code is known the map was read just now, or lately to no avail; who
 * called the allocator runs nevertheless, with a frame pointer, it may be. */
static inline const FlamUnwindCode *
find (void *data, uint64_t pc)
{
  Walk *walk = data;
  const CachedRow *cached = row_at (walk->stack, pc);

  return UNLIKELY (cached->pc == 0 && walk->n > 0) ? NULL : &cached->code;
}

static inline bool
enter (void *data, const FlamUnwindRegs *regs, uint64_t pc)
{
  Walk *walk = data;
  Step *frame;

  if (walk->n == walk->stack->limit)
    return false;
  frame = &walk->stack->walked[walk->n++];
  frame->pc = pc;
  frame->sp = regs->sp;
  frame->bp = regs->bp;
  return true;
}

static inline void
leave (void *data, const FlamUnwindRow *row, const FlamUnwindRegs *caller)
{
  Walk *walk = data;

  note_step (&walk->stack->walked[walk->n - 1], row, walk->memory, caller);
}

/* Returns how many were walked; `kept` is how many of the kept frames follow.
 */
static uint32_t
walk (PreloadStack *stack,
      const FlamUnwindMemory *memory,
      FlamUnwindRegs *regs,
      uint32_t *kept,
      bool *root)
{
  static const FlamUnwindWalker walker = { meet, find, enter, leave };
  Walk this = { stack, memory, 0, 0, (int)stack->n - 1 };
  FlamUnwindEnd end = flam_unwind_loop (&walker, &this, memory, regs);

  *kept = this.kept;
  *root = end == FLAM_UNWIND_OK ? stack->root : flam_unwind_is_root (end);
  if (end != FLAM_UNWIND_OK && end != FLAM_UNWIND_LIMIT)
    note_end (&stack->walked[this.n - 1]);
  return this.n;
}

/* The node of frames[i] under its caller's. A run of Python's evaluation loop
 * gives way to the Python frames it carries; those of a run whose native frame
 * is not there come before. */
static uint32_t
frame_node (PreloadStack *stack, uint32_t i, uint32_t node, uint32_t *taken)
{
  Frame *frame = &stack->frames[i];
  uint64_t sp = frame->step.sp;
  uint64_t end = i > 0 ? stack->frames[i - 1].step.sp : sp;
  bool is_run = false;
  uint64_t place;

  while (stack->python.n_last > 0 &&
         (place = preload_python_next (&stack->python, *taken)) >= sp)
    {
      is_run = place < end;
      ++*taken;
      while ((place = preload_python_take (&stack->python, taken)) != 0)
        node = node_of (stack, place, node);
    }
  frame->python = *taken;
  return frame->node = is_run ? node : node_of (stack, frame->step.pc, node);
}

static inline void
read_python (PreloadStack *stack,
             const PreloadInterpreter *interpreter,
             uint64_t sp)
{
  preload_python_read (&stack->python,
                       interpreter,
                       sp,
                       stack->top != 0 ? stack->top : UINT64_MAX);
}

/* An interpreter that may be unloaded is only called while the stack runs
 * through its code, or may do so: then it cannot go. NULL: no Python frames. */
static const PreloadInterpreter *
interpreter_of (PreloadStack *stack, uint32_t kept, uint32_t n)
{
  const PreloadInterpreter *python = atomic_load (&preload_interpreter);

  if (python == NULL || LIKELY (!python->late))
    return python;
  if (stack->entered > kept)
    stack->entered = 0;
  for (uint32_t i = n; stack->entered == 0 && i-- > 0;)
    if (stack->walked[i].pc - python->start < python->end - python->start)
      stack->entered = kept + n - i;
  stack->python.met |= stack->entered > 0;
  return (stack->entered > 0 || (!stack->root && stack->python.met)) &&
                 preload_python_is_safe ()
             ? python
             : NULL;
}

/* So many of the kept frames have the Python frames that they had. */
static uint32_t
keep_python (PreloadStack *stack, uint32_t kept, uint32_t n, uint64_t sp)
{
  PreloadPython *python = &stack->python;
  uint32_t same;

  if (!stack->is_read)
    read_python (stack, interpreter_of (stack, kept, n), sp);
  same = preload_python_keep (python);
  while (kept > 0 &&
         (stack->frames[kept - 1].python > same ||
          preload_python_next (python, stack->frames[kept - 1].python) >=
              stack->frames[kept - 1].step.sp))
    kept--;
  return kept;
}

/* What was walked is frames[i] from now on. */
static inline void
append_step (PreloadStack *stack, uint32_t i, const Step *step)
{
  bool caller_needs_bp = i > 0 && stack->frames[i - 1].needs_bp;
  uint32_t n = i > 0 ? stack->frames[i - 1].n_checks : 0;
  Frame *frame = &stack->frames[i];

  /* Both, whether they count or not. */
  stack->checks[n] = step->ra;
  n += step->ra.address != NULL;
  stack->checks[n] = step->saved;
  n += caller_needs_bp && step->saved.address != NULL;
  frame->step = *step;
  frame->n_checks = n;
  frame->needs_bp =
      step->uses_bp || (caller_needs_bp && step->saved.address == NULL);
}

/* What was walked follows the `kept` frames; the leaf's node. */
static uint32_t
append_walked (PreloadStack *stack, uint32_t kept, uint32_t n, uint64_t sp)
{
  uint32_t first = kept, node, taken;

  if (preload_interpreter != NULL || stack->python.n_last > 0)
    first = keep_python (stack, kept, n, sp);
  node = first > 0 ? stack->frames[first - 1].node : 0;
  taken = first > 0 ? stack->frames[first - 1].python : 0;
  for (uint32_t i = first; i < kept; i++)
    node = frame_node (stack, i, node, &taken);
  for (uint32_t i = 0; i < n; i++)
    {
      append_step (stack, kept + i, &stack->walked[n - 1 - i]);
      node = frame_node (stack, kept + i, node, &taken);
    }
  stack->n = kept + n;
  return node;
}

/* What is kept of another time's code, or of another stack, is forgotten. */
static inline void
forget_others (PreloadStack *stack, const FlamUnwindMemory *memory)
{
  uint32_t epoch =
      atomic_load_explicit (&preload_code_epoch, memory_order_acquire);
  uint64_t top = memory->size > 0 ? memory->base + memory->size : 0;

  if (UNLIKELY (stack->epoch != epoch))
    {
      /* A new stack's pages are zero already, and not there yet. */
      if (stack->epoch != 0)
        {
          memset (stack->rows, 0, sizeof stack->rows);
          memset (stack->nodes, 0, sizeof stack->nodes);
        }
      stack->epoch = epoch;
      stack->n = stack->entered = 0;
      stack->generation++;
    }
  if (UNLIKELY (stack->top != top || top == 0))
    {
      stack->top = top;
      stack->n = stack->entered = 0;
      stack->generation++;
    }
}

/* The whole stack, with more room if need be. What is deeper than there is room
 * for is its innermost frames. */
static uint32_t
walk_whole (PreloadStack *stack,
            const PreloadCall *call,
            const FlamUnwindMemory *memory,
            uint32_t *kept,
            bool *root)
{
  const FlamUnwindRegs leaf = {
    .pc = call->pc + 1, .sp = call->sp, .bp = call->bp, .caller = true
  };
  FlamUnwindRegs regs = leaf;
  uint32_t n = walk (stack, memory, &regs, kept, root);

  while (UNLIKELY (*kept + n >= stack->limit))
    {
      bool more = stack->limit < FRAMES_MAX &&
                  make_room (stack,
                             stack->limit * 8 < FRAMES_MAX ? stack->limit * 8
                                                           : FRAMES_MAX);

      if (!more && *kept == 0)
        break;
      if (!more)
        stack->n = 0;
      regs = leaf;
      n = walk (stack, memory, &regs, kept, root);
    }
  return n;
}

/* Unwinds the call's stack; its node. */
static uint32_t
follow (PreloadStack *stack,
        const PreloadCall *call,
        const FlamUnwindMemory *memory)
{
  uint32_t kept, n, node;
  bool root;

  n = walk_whole (stack, call, memory, &kept, &root);
  stack->root = root;
  node = append_walked (stack, kept, n, call->sp);
  if (UNLIKELY (!root || stack->python.n_last == PRELOAD_PYTHON_FRAMES))
    __atomic_add_fetch (&preload_header->truncated, 1, __ATOMIC_RELAXED);
  return node;
}

uint32_t
preload_stack_node (PreloadStack *stack, uint64_t pc, uint64_t sp, uint64_t bp)
{
  const PreloadInterpreter *python = atomic_load (&preload_interpreter);
  bool is_late = python != NULL && python->late;
  PreloadCall call = { .pc = pc - 1, .sp = sp, .bp = bp };
  FlamUnwindMemory memory = stack_memory (sp);
  const Frame *leaf;
  PreloadMemo *memo;
  uint32_t node;

  forget_others (stack, &memory);
  call.generation = stack->generation;
  stack->is_read = python != NULL && !is_late;
  if (stack->is_read)
    {
      read_python (stack, python, sp);
      call.python = &stack->python;
    }
  memo = preload_memo_of (stack->memos, &call);
  if (LIKELY (!is_late && preload_memo_holds (memo, &call)))
    return memo->node;
  node = follow (stack, &call, &memory);
  leaf = stack->n > 0 ? &stack->frames[stack->n - 1] : NULL;
  if (LIKELY (leaf != NULL && stack->root && !is_late))
    preload_memo_set (
        memo, &call, stack->checks, leaf->n_checks, leaf->needs_bp, node);
  return node;
}

void
preload_stacks_reset (void)
{
  preload_trie_reset ();
  preload_python_reset ();
}
