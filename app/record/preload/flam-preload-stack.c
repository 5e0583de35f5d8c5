/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where a call came from, in tens of nanoseconds.
 *
 * Most calls come from nearly where the last one came from. So each thread
 * keeps its last stack, and a new one is unwound only until it meets it:
 *
 *   kept      main ── run ── parse ── node_new ── malloc
 *   now       main ── run ── parse ── list_add ── malloc
 *                             ▲ same pc, sp and rbp: from here on the words
 *                               that led from frame to frame are only
 *                               compared, and the trie's node of `parse` is
 *                               reused
 *
 *   frames    main        run         parse            root first
 *   n_checks  0           1           3
 *   checks    [ra of run] [ra of parse] [rbp saved by parse]
 *              address and value: all are looked at in one short loop
 *
 * Nothing is written to the target's stack. A frame of which it is not known
 * what led to its caller (its row is an expression) has a check that fails: it
 * is unwound anew. */

#include "flam-preload-python.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define FRAMES_MAX 4096
#define CACHE_SIZE 2048
/* Above this a stack pointer is not on the stack we know of. */
#define STACK_MAX (1ull << 30)

/* A word on the stack, and what it was. */
typedef struct
{
  uint64_t address; /* 0: never again the same */
  uint64_t value;
} Check;

typedef struct
{
  uint64_t pc;
  uint64_t sp;
  uint64_t bp;
  uint32_t node;
  uint32_t n_checks; /* up to this frame, from the root on */
  uint32_t python;   /* Python frames up to this one, with their entries */
} Frame;

/* A frame met on the way from the leaf, and what leads to its caller. */
typedef struct
{
  uint64_t pc;
  uint64_t sp;
  uint64_t bp;
  uint32_t n_checks;
  Check checks[2];
} Walked;

typedef struct
{
  uint64_t pc; /* 0: empty */
  FlamUnwindRow row;
  const FlamUnwindRule *rules;
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
  uint32_t n;
  bool root;        /* frames[0] is where the thread began */
  uint32_t entered; /* so many frames to the first in Python's code; 0 none */
  CachedRow rows[CACHE_SIZE];
  CachedNode nodes[CACHE_SIZE];
  Frame frames[FRAMES_MAX]; /* root first */
  Check checks[2 * FRAMES_MAX + 2];
  Walked walked[FRAMES_MAX]; /* leaf first */
  PreloadPython python;
};

PreloadStack *
preload_stack_new (void)
{
  return preload_pages (sizeof (PreloadStack));
}

size_t
preload_stack_size (void)
{
  return sizeof (PreloadStack);
}

/* --- the trie ------------------------------------------------------------ */

/* (parent, pc) -> node. Read without a lock; a slot is filled after its node
 * is. A full table is replaced by one twice as large, the old one stays for
 * those who still read it. */
typedef struct
{
  uint32_t mask;
  _Atomic uint32_t slots[];
} Index;

typedef struct
{
  uint64_t pc;
  uint32_t parent;
} Key;

static Index *_Atomic trie_index;
static Key *keys; /* per node */
static uint32_t index_epoch;
static atomic_flag trie_lock = ATOMIC_FLAG_INIT;

static uint32_t
hash_key (uint64_t pc, uint32_t parent)
{
  __uint128_t product = (__uint128_t)(pc ^ 0x9e3779b97f4a7c15ull) *
                        (parent ^ 0xe7037ed1a0b428dbull);

  return (uint32_t)((uint64_t)product ^ (uint64_t)(product >> 64));
}

static uint32_t
trie_find (const Index *table, uint64_t pc, uint32_t parent, uint32_t *at)
{
  uint32_t i = hash_key (pc, parent) & table->mask;

  for (;; i = (i + 1) & table->mask)
    {
      uint32_t node =
          atomic_load_explicit (&table->slots[i], memory_order_acquire);

      *at = i;
      if (node == 0 || (keys[node].pc == pc && keys[node].parent == parent))
        return node;
    }
}

static Index *
new_index (uint32_t size)
{
  Index *table = preload_pages (sizeof *table + (size_t)size * 4);

  if (table != NULL)
    table->mask = size - 1;
  return table;
}

static Index *
grown_index (const Index *old, uint32_t n_nodes, uint32_t first)
{
  Index *table = new_index ((old->mask + 1) * 2);
  uint32_t at;

  for (uint32_t node = first; table != NULL && node < n_nodes; node++)
    {
      trie_find (table, keys[node].pc, keys[node].parent, &at);
      table->slots[at] = node;
    }
  return table;
}

/* Nodes below this number are of code that has been unloaded since. */
static uint32_t first_node = 1;

static bool
prepare_index (void)
{
  if (keys == NULL)
    keys = preload_pages (sizeof *keys * (size_t)FLAM_ALLOC_MAX_NODES);
  if (trie_index == NULL || index_epoch != preload_code_epoch)
    {
      index_epoch = preload_code_epoch;
      first_node = preload_header->n_nodes;
      atomic_store (&trie_index, new_index (1 << 14));
    }
  return keys != NULL && trie_index != NULL;
}

static uint64_t
place_of (uint64_t pc)
{
  const PreloadModule *module;

  if (preload_is_python (pc))
    return pc;
  module = preload_module_at (pc);
  return module ? FLAM_ALLOC_PLACE (module->id, pc - module->bias)
                : FLAM_ALLOC_PLACE (0, pc);
}

static uint32_t
trie_insert (uint64_t pc, uint32_t parent, uint64_t place)
{
  FlamAllocHeader *header = preload_header;
  FlamAllocNode *nodes =
      (FlamAllocNode *)((char *)header + FLAM_ALLOC_NODES_AT);
  uint32_t node, at;

  if (!prepare_index ())
    return 0;
  node = trie_find (trie_index, pc, parent, &at);
  if (node != 0 || header->n_nodes == FLAM_ALLOC_MAX_NODES)
    return node;
  node = header->n_nodes;
  if ((node - first_node) * 2 > trie_index->mask)
    {
      Index *larger = grown_index (trie_index, node, first_node);

      if (larger == NULL)
        return 0;
      atomic_store (&trie_index, larger);
      trie_find (larger, pc, parent, &at);
    }
  nodes[node] = (FlamAllocNode){ parent, 0, place };
  keys[node] = (Key){ pc, parent };
  __atomic_store_n (&header->n_nodes, node + 1, __ATOMIC_RELEASE);
  atomic_store_explicit (&trie_index->slots[at], node, memory_order_release);
  return node;
}

static uint32_t
find_node (uint64_t pc, uint32_t parent)
{
  Index *table = atomic_load (&trie_index);
  uint32_t at;
  uint32_t node = 0;
  uint64_t place;

  if (table != NULL && index_epoch == preload_code_epoch)
    node = trie_find (table, pc, parent, &at);
  if (LIKELY (node != 0))
    return node;
  place = place_of (pc);
  while (atomic_flag_test_and_set_explicit (&trie_lock, memory_order_acquire))
    __builtin_ia32_pause ();
  node = trie_insert (pc, parent, place);
  atomic_flag_clear_explicit (&trie_lock, memory_order_release);
  return node;
}

static inline uint32_t
node_of (PreloadStack *stack, uint64_t pc, uint32_t parent)
{
  CachedNode *cached =
      &stack->nodes[(pc ^ pc >> 11 ^ parent * 0x9e37u) % CACHE_SIZE];

  if (UNLIKELY (cached->node == 0 || cached->pc != pc ||
                cached->parent != parent))
    *cached = (CachedNode){ pc, parent, find_node (pc, parent) };
  return cached->node;
}

void
preload_stacks_reset (void)
{
  atomic_store (&trie_index, NULL);
  atomic_flag_clear (&trie_lock);
  first_node = 1;
  preload_python_reset ();
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

/* The stack's memory from `sp` on, as far as it is surely there: to the
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
      cached->rules = flam_unwind_table_rules (table);
    }
  if (row != NULL)
    cached->row = *row;
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
bp_slot (const Walked *frame, const FlamUnwindRow *row, uint64_t cfa)
{
  uint64_t slot = cfa - 8ull * row->bp;

  if ((row->how & 7) == FLAM_UNWIND_KIND_NONE)
    return frame->bp;
  /* Epilogues pop without saying so: below sp the value is in rbp again. */
  return row->bp != 0 && slot >= frame->sp ? slot : 0;
}

/* Notes what the step from `frame` has read. */
static inline void
note_checks (Walked *frame,
             const FlamUnwindRow *row,
             const FlamUnwindRegs *caller)
{
  unsigned kind = row->how & 7;
  uint64_t slot;

  frame->n_checks = 1;
  if (UNLIKELY (kind != FLAM_UNWIND_KIND_SP && kind != FLAM_UNWIND_KIND_BP &&
                kind != FLAM_UNWIND_KIND_NONE))
    {
      frame->checks[0] = (Check){ 0 };
      return;
    }
  frame->checks[0] = (Check){ caller->sp - 8, caller->pc };
  slot = bp_slot (frame, row, caller->sp);
  if (slot != 0)
    frame->checks[frame->n_checks++] = (Check){ slot, caller->bp };
}

/* How many of frames[0..from] are still as they were, counted from `from`
 * toward the root: returns the last frame whose caller is not certain. */
static uint32_t
verify (const PreloadStack *stack,
        uint32_t from,
        const FlamUnwindMemory *memory)
{
  uint32_t n = stack->frames[from].n_checks;

  if (memory->size < 8)
    return from;
  for (; n > 0; n--)
    {
      const Check *check = &stack->checks[n - 1];

      if (check->address - memory->base > memory->size - 8 ||
          *(const uint64_t *)check->address != check->value)
        break;
    }
  while (from > 0 && stack->frames[from - 1].n_checks >= n)
    from--;
  return n == 0 ? 0 : from;
}

/* A kept frame that leads to another caller now. */
static void
walk_kept (PreloadStack *stack, uint32_t i, Walked *walked)
{
  const Frame *frame = &stack->frames[i];
  uint32_t first = stack->frames[i - 1].n_checks;

  *walked = (Walked){ frame->pc, frame->sp, frame->bp };
  walked->n_checks = frame->n_checks - first;
  memcpy (
      walked->checks, stack->checks + first, walked->n_checks * sizeof (Check));
}

/* The kept frame with this pc, sp and rbp, or -1. `at` moves toward the root
 * with the walk. */
static int
find_kept (const PreloadStack *stack, int *at, const FlamUnwindRegs *regs)
{
  while (*at >= 0 && stack->frames[*at].sp < regs->sp)
    (*at)--;
  if (*at < 0)
    return -1;
  return stack->frames[*at].sp == regs->sp &&
                 stack->frames[*at].pc == regs->pc &&
                 stack->frames[*at].bp == regs->bp
             ? *at
             : -1;
}

/* Leaf first into `walked`, until the root or until the rest is as it was.
 * Returns how many; `kept` is how many of the kept frames follow. */
static uint32_t
walk (PreloadStack *stack, FlamUnwindRegs *regs, uint32_t *kept, bool *root)
{
  FlamUnwindMemory memory = stack_memory (regs->sp);
  int at = (int)stack->n - 1;
  uint32_t n = 0;

  *kept = 0;
  *root = false;
  while (n < FRAMES_MAX)
    {
      Walked *frame = &stack->walked[n];
      int same = find_kept (stack, &at, regs);
      const CachedRow *cached;

      if (same >= 0)
        {
          uint32_t last = verify (stack, same, &memory);

          if (last == 0)
            {
              *kept = same + 1;
              *root = stack->root;
              return n;
            }
          for (; (uint32_t)same > last && n < FRAMES_MAX; same--)
            walk_kept (stack, same, &stack->walked[n++]);
          at = (int)last - 1;
          regs->pc = stack->frames[last].pc;
          regs->sp = stack->frames[last].sp;
          regs->bp = stack->frames[last].bp;
          regs->bx_state = 0;
          if (n == FRAMES_MAX)
            return n;
          frame = &stack->walked[n];
        }
      frame->pc = regs->pc;
      frame->sp = regs->sp;
      frame->bp = regs->bp;
      frame->n_checks = 0;
      cached = row_at (stack, regs->pc);
      n++;
      if (UNLIKELY (!flam_unwind_step_plain (&cached->row, &memory, regs)))
        {
          FlamUnwindEnd end =
              flam_unwind_step (&cached->row, cached->rules, &memory, regs);

          *root = end == FLAM_UNWIND_ROOT;
          if (end != FLAM_UNWIND_OK)
            return n;
        }
      note_checks (frame, &cached->row, regs);
      /* Frames hold the place of the call, not where it returns to. */
      regs->pc -= regs->caller;
    }
  return n;
}

/* The node of frames[i] under its caller's. A run of Python's evaluation loop
 * gives way to the Python frames it carries; those of a run whose native frame
 * is not there come before. */
static uint32_t
frame_node (PreloadStack *stack, uint32_t i, uint32_t node, uint32_t *taken)
{
  Frame *frame = &stack->frames[i];
  uint64_t end = i > 0 ? stack->frames[i - 1].sp : frame->sp;
  bool is_run = false;
  uint64_t place;

  while (stack->python.n > 0 &&
         (place = preload_python_next (&stack->python, *taken)) >= frame->sp)
    {
      is_run = place < end;
      ++*taken;
      while ((place = preload_python_take (&stack->python, taken)) != 0)
        node = node_of (stack, place, node);
    }
  frame->python = *taken;
  return frame->node = is_run ? node : node_of (stack, frame->pc, node);
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
  FlamUnwindMemory memory = stack_memory (sp);
  PreloadPython *python = &stack->python;

  preload_python_read (python,
                       interpreter_of (stack, kept, n),
                       sp,
                       memory.size > 0 ? sp + memory.size : UINT64_MAX);
  while (kept > 0 &&
         (stack->frames[kept - 1].python > python->same ||
          preload_python_next (python, stack->frames[kept - 1].python) >=
              stack->frames[kept - 1].sp))
    kept--;
  return kept;
}

/* What was walked follows the `kept` frames; the leaf's node. */
static uint32_t
append_walked (PreloadStack *stack, uint32_t kept, uint32_t n, uint64_t sp)
{
  uint32_t n_checks = kept > 0 ? stack->frames[kept - 1].n_checks : 0;
  uint32_t first = kept, node, taken;

  if (preload_interpreter != NULL || stack->python.n > 0)
    first = keep_python (stack, kept, n, sp);
  node = first > 0 ? stack->frames[first - 1].node : 0;
  taken = first > 0 ? stack->frames[first - 1].python : 0;
  for (uint32_t i = first; i < kept; i++)
    node = frame_node (stack, i, node, &taken);
  for (uint32_t i = 0; i < n; i++)
    {
      const Walked *from = &stack->walked[n - 1 - i];

      /* Both, whether they count or not. */
      memcpy (stack->checks + n_checks, from->checks, sizeof from->checks);
      n_checks += from->n_checks;
      stack->frames[kept + i] =
          (Frame){ from->pc, from->sp, from->bp, 0, n_checks, 0 };
      node = frame_node (stack, kept + i, node, &taken);
    }
  stack->n = kept + n;
  return node;
}

uint32_t
preload_stack_node (PreloadStack *stack, uint64_t pc, uint64_t sp, uint64_t bp)
{
  FlamUnwindRegs regs = { .pc = pc - 1, .sp = sp, .bp = bp };
  uint32_t epoch = atomic_load (&preload_code_epoch);
  uint32_t kept, n;
  bool root;

  if (stack->epoch != epoch)
    {
      /* A new stack's pages are zero already, and not there yet. */
      if (stack->epoch != 0)
        {
          memset (stack->rows, 0, sizeof stack->rows);
          memset (stack->nodes, 0, sizeof stack->nodes);
        }
      stack->epoch = epoch;
      stack->n = 0;
      stack->entered = 0;
    }
  n = walk (stack, &regs, &kept, &root);
  stack->root = root;
  if (!root)
    __atomic_add_fetch (&preload_header->truncated, 1, __ATOMIC_RELAXED);
  if (kept + n > FRAMES_MAX)
    n = FRAMES_MAX - kept;
  return append_walked (stack, kept, n, sp);
}
