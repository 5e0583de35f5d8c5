/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Finds the stack of a call, in tens of nanoseconds.
 *
 * Most calls have nearly the same stack as the last one. So each thread keeps
 * its last stack, and a new one is unwound only until it meets the kept one:
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
 *              address and value: all are compared in one short loop
 *
 * Most functions find their frame by sp alone and use rbp as a general
 * register: its value changes all the time, and no caller depends on it. A
 * frame `needs_bp` if the way from it to the root does: if it uses rbp, or if
 * it leaves rbp unchanged and its caller needs it. Only for such frames rbp
 * must be the same, too, and only the rbp restored for such a caller is
 * checked.
 *
 * Before all this, the call is looked up among the known ones
 * (flam-preload-memo.h): in loops it is found there.
 *
 * Nothing is written to the target's stack. A frame whose caller was not found
 * by plain words on the stack (its row is an expression) has a check that
 * always fails: it is unwound every time. */

#include "flam-preload-walk.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Deeper stacks are truncated. At first there is space for a few frames, and
 * more is added when a stack needs it; each call then costs 0.7 ns per
 * frame. */
#define FIRST_FRAMES 4096
#define FRAMES_MAX (1u << 17)
/* Farther away, a stack pointer is not on the thread's own stack. */
#define STACK_MAX (1ull << 30)

/* The three arrays are in one block of memory. */
static size_t
room_size (uint32_t limit)
{
  return limit * (sizeof (PreloadFrame) + 2 * sizeof (PreloadCheck) +
                  sizeof (PreloadStep)) +
         2 * sizeof (PreloadCheck);
}

static bool
make_room (PreloadStack *stack, uint32_t limit)
{
  PreloadFrame *frames = preload_pages (room_size (limit));
  PreloadCheck *checks;

  if (frames == NULL)
    return false;
  checks = (PreloadCheck *)(frames + limit);
  if (stack->n > 0)
    {
      const PreloadFrame *leaf = &stack->frames[stack->n - 1];

      memcpy (checks, stack->checks, leaf->n_checks * sizeof *checks);
      memcpy (frames, stack->frames, stack->n * sizeof *frames);
    }
  if (stack->frames != NULL)
    preload_release_pages (stack->frames, room_size (stack->limit));
  stack->limit = limit;
  stack->frames = frames;
  stack->checks = checks;
  stack->walked = (PreloadStep *)(checks + 2 * (size_t)limit + 2);
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
  PreloadCachedNode *cached =
      &stack->nodes[(pc ^ pc >> 11 ^ parent * 0x9e37u) % PRELOAD_CACHE];

  if (UNLIKELY (cached->node == 0 || cached->pc != pc ||
                cached->parent != parent))
    *cached = (PreloadCachedNode){ pc, parent, preload_trie_node (pc, parent) };
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

/* The stack's memory from `sp` on, as far as it is certain to be mapped: up to
 * the thread's control block, or for the first thread up to the frame of main's
 * caller. Elsewhere (coroutines) each word is read through the kernel. */
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

/* The node of frames[i] under its caller's node. A run of Python's evaluation
 * loop is replaced by the Python frames it ran; Python frames of a run without
 * its native frame are inserted before it. */
static uint32_t
frame_node (PreloadStack *stack, uint32_t i, uint32_t node, uint32_t *taken)
{
  PreloadFrame *frame = &stack->frames[i];
  uint64_t sp = frame->step.sp;
  uint64_t end = i > 0 ? stack->frames[i - 1].step.sp : sp;
  bool is_run = false;
  uint64_t entry, pc;

  while (stack->python.n_last > 0 &&
         (entry = preload_python_next (&stack->python, *taken)) >= sp)
    {
      is_run = entry < end;
      ++*taken;
      while ((pc = preload_python_take (&stack->python, taken)) != 0)
        node = node_of (stack, pc, node);
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
 * through its code, or may do so: then it cannot be unloaded. NULL: no Python
 * frames. */
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

/* The number of kept frames with unchanged Python frames. */
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

/* Stores a walked frame as frames[i]. */
static inline void
append_step (PreloadStack *stack, uint32_t i, const PreloadStep *step)
{
  bool caller_needs_bp = i > 0 && stack->frames[i - 1].needs_bp;
  uint32_t n = i > 0 ? stack->frames[i - 1].n_checks : 0;
  PreloadFrame *frame = &stack->frames[i];

  /* Both are stored, but only counted if they are valid. */
  stack->checks[n] = step->ra;
  n += step->ra.address != NULL;
  stack->checks[n] = step->saved;
  n += caller_needs_bp && step->saved.address != NULL;
  frame->step = *step;
  frame->n_checks = n;
  frame->needs_bp =
      step->uses_bp || (caller_needs_bp && step->saved.address == NULL);
}

/* Appends the walked frames to the `kept` ones; returns the leaf's node. */
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

/* Drops cached data of unloaded code, or of another stack. */
static inline void
forget_others (PreloadStack *stack, const FlamUnwindMemory *memory)
{
  uint32_t epoch =
      atomic_load_explicit (&preload_code_epoch, memory_order_acquire);
  uint64_t top = memory->size > 0 ? memory->base + memory->size : 0;

  if (UNLIKELY (stack->epoch != epoch))
    {
      /* A new stack's pages are zero already, and not allocated yet. */
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

/* Walks the whole stack, with more space if necessary. Of a stack that is
 * deeper than the limit, the innermost frames are kept. */
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
  uint32_t n = preload_walk (stack, memory, &regs, kept, root);

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
      n = preload_walk (stack, memory, &regs, kept, root);
    }
  return n;
}

/* Unwinds the call's stack; returns its node. */
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
  const PreloadFrame *leaf;
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
