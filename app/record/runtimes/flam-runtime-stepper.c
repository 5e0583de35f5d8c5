/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-stepper.h"

#include <string.h>

#include "flam-runtime-pages.h"

#define NAMES_MAX (1u << 17) /* of a process; more is invalid data */
/* An address up to this far beyond the copied part of a stack is considered as
 * stack that was not copied: its content has changed since. Other data may be
 * as near, as BEAM has its stacks in the heap, but it is rarely read for a
 * step. */
#define FAR (64u << 10)

typedef struct
{
  FlamRuntimeEntry entry;
  const FlamRuntimeProcess *process;
  FlamRuntimeFunction *function;
} Name;

struct _FlamRuntimeNames
{
  GHashTable *table; /* Name */
  FlamRuntimeHints hints;
};

struct _FlamRuntimeStepper
{
  FlamRuntimeFunctions *functions;
  FlamRuntimePages *pages;
  FlamRuntimeName *name;
  GArray *managed; /* FlamRuntimeManaged */
  gboolean limited;
  const FlamRuntimeItem *items;
  guint n_items;
};

/* The memory of a frame that is stepped from. */
typedef struct
{
  FlamRuntimeStepper *stepper;
  const FlamUnwindMemory *stack;
  gboolean
      limited; /* a part of the stack was not copied, and must not be read */
  gboolean truncated; /* it was to be read */
} Memory;

FlamRuntimeStepper *
flam_runtime_stepper_new (void)
{
  FlamRuntimeStepper *stepper = g_new0 (FlamRuntimeStepper, 1);

  stepper->functions = flam_runtime_functions_new ();
  stepper->pages = flam_runtime_pages_new ();
  stepper->name = flam_runtime_name_new ();
  stepper->managed = g_array_new (FALSE, FALSE, sizeof (FlamRuntimeManaged));
  return stepper;
}

void
flam_runtime_stepper_free (FlamRuntimeStepper *stepper)
{
  flam_runtime_functions_free (stepper->functions);
  flam_runtime_pages_free (stepper->pages);
  g_free (stepper->name);
  g_array_unref (stepper->managed);
  g_free (stepper);
}

/* --- steps --------------------------------------------------------------- */

void
flam_runtime_stepper_begin (FlamRuntimeStepper *stepper,
                            const FlamRuntimeNames *names,
                            pid_t tid,
                            gboolean limited,
                            const FlamRuntimeItem *items,
                            guint n_items)
{
  flam_runtime_pages_begin (stepper->pages, tid, &names->hints, 0, 0);
  stepper->limited = limited;
  stepper->items = items;
  stepper->n_items = n_items;
  g_array_set_size (stepper->managed, 0);
}

/* The first entry of the chain at or above `sp`: they ascend. 0: none. */
static guint64
next_entry (const FlamRuntimeStepper *stepper,
            const FlamRuntimeProcess *process,
            guint64 sp)
{
  for (guint at = 0; at < stepper->n_items;)
    {
      const FlamRuntimeItem *head = &stepper->items[at];
      guint end = at + 1 + (guint)head->at;

      for (guint i = at + 1; head->of == process && i < end; i++)
        if (stepper->items[i].of == NULL && stepper->items[i].at >= sp)
          return stepper->items[i].at;
      at = end;
    }
  return 0;
}

static bool
read_memory (gpointer data, guint64 address, gpointer to, gsize size)
{
  Memory *memory = data;
  const FlamUnwindMemory *stack = memory->stack;
  guint64 at = address - stack->base;

  if (at < stack->size && size <= stack->size - at)
    {
      memcpy (to, (const char *)stack->copy + at, size);
      return true;
    }
  if (memory->limited && at < stack->size + FAR)
    {
      memory->truncated = TRUE;
      return false;
    }
  return flam_runtime_pages_read (memory->stepper->pages, address, to, size);
}

static void
to_runtime (const FlamUnwindRegs *from, FlamRuntimeRegs *to)
{
  *to = (FlamRuntimeRegs){ .pc = from->pc, .leaf = !from->caller };
  if (from->all != NULL)
    {
      memcpy (to->general, from->all, sizeof to->general);
      to->known = (1u << FLAM_RUNTIME_N_REGS) - 1;
    }
  to->general[FLAM_RUNTIME_RSP] = from->sp;
  to->known |= 1u << FLAM_RUNTIME_RSP;
  if (!from->bp_unknown)
    {
      to->general[FLAM_RUNTIME_RBP] = from->bp;
      to->known |= 1u << FLAM_RUNTIME_RBP;
    }
  if (from->bx_state == 1)
    {
      to->general[FLAM_RUNTIME_RBX] = from->bx;
      to->known |= 1u << FLAM_RUNTIME_RBX;
    }
}

static void
from_runtime (const FlamRuntimeRegs *from, FlamUnwindRegs *to)
{
  to->pc = from->pc;
  to->sp = from->general[FLAM_RUNTIME_RSP];
  to->bp = from->general[FLAM_RUNTIME_RBP];
  to->bp_unknown = !flam_runtime_knows (from, FLAM_RUNTIME_RBP);
  to->bx = from->general[FLAM_RUNTIME_RBX];
  to->bx_state = flam_runtime_knows (from, FLAM_RUNTIME_RBX);
  to->all = NULL;
  to->caller = true;
}

FlamUnwindEnd
flam_runtime_stepper_step (gpointer data,
                           gpointer managed,
                           const FlamUnwindMemory *stack,
                           gsize frame,
                           FlamUnwindRegs *regs)
{
  FlamRuntimeStepper *stepper = data;
  const FlamRuntimeProcess *process = managed;
  Memory memory = { stepper, stack, stepper->limited, FALSE };
  FlamRuntimeMemory readable = { read_memory, &memory };
  FlamRuntimeManaged made = { .frame = (guint32)frame, .process = process };
  FlamRuntimeRegs own, caller = { 0 };
  FlamRuntimeStepped stepped;

  to_runtime (regs, &own);
  own.entry = next_entry (stepper, process, regs->sp);
  stepped =
      process->runtime->step (process, &own, &readable, &made.entry, &caller);
  g_array_append_val (stepper->managed, made);
  /* How much of the stack was needed to find that. */
  if (stepped == FLAM_RUNTIME_STEP_ROOT &&
      flam_runtime_knows (&caller, FLAM_RUNTIME_RSP))
    regs->sp = caller.general[FLAM_RUNTIME_RSP];
  if (stepped == FLAM_RUNTIME_STEP_ROOT)
    return FLAM_UNWIND_ROOT;
  if (stepped == FLAM_RUNTIME_STEP_LOST)
    return regs->bp_unknown   ? FLAM_UNWIND_NEEDS_BP
           : memory.truncated ? FLAM_UNWIND_TRUNCATED
                              : FLAM_UNWIND_BAD;
  from_runtime (&caller, regs);
  return FLAM_UNWIND_OK;
}

/* --- names --------------------------------------------------------------- */

static guint
name_hash (gconstpointer data)
{
  const Name *name = data;
  guint64 hash =
      (name->entry.function ^ name->entry.at * 0x9e3779b97f4a7c15ull ^
       name->entry.cookie * 0xc2b2ae3d27d4eb4full ^
       GPOINTER_TO_SIZE (name->process)) *
      0x9e3779b97f4a7c15ull;

  return (guint)(hash >> 32);
}

static gboolean
name_equal (gconstpointer a, gconstpointer b)
{
  const Name *x = a;
  const Name *y = b;

  return x->process == y->process && x->entry.function == y->entry.function &&
         x->entry.at == y->entry.at && x->entry.cookie == y->entry.cookie;
}

FlamRuntimeNames *
flam_runtime_names_new (void)
{
  FlamRuntimeNames *names = g_new0 (FlamRuntimeNames, 1);

  names->table = g_hash_table_new_full (name_hash, name_equal, g_free, NULL);
  return names;
}

void
flam_runtime_names_free (FlamRuntimeNames *names)
{
  g_hash_table_unref (names->table);
  g_free (names);
}

static FlamRuntimeFunction *
function_of (FlamRuntimeStepper *stepper,
             FlamRuntimeNames *names,
             const FlamRuntimeManaged *managed,
             const FlamRuntimeMemory *memory)
{
  const FlamRuntimeProcess *process = managed->process;
  const FlamRuntime *runtime = process->runtime;
  const FlamRuntimeEntry alone[2] = { managed->entry, { 0 } };
  Name wanted = { managed->entry, process, NULL };
  const Name *known;

  if (!runtime->by_position)
    wanted.entry.at = 0;
  known = g_hash_table_lookup (names->table, &wanted);
  if (known != NULL)
    return known->function;
  flam_runtime_name_clear (stepper->name);
  if (!runtime->name (process, alone, NULL, memory, stepper->name))
    return flam_runtime_functions_unreadable (stepper->functions, runtime);
  if (g_hash_table_size (names->table) >= NAMES_MAX)
    g_hash_table_remove_all (names->table);
  wanted.function =
      flam_runtime_functions_get (stepper->functions, runtime, stepper->name);
  g_hash_table_add (names->table, g_memdup2 (&wanted, sizeof wanted));
  return wanted.function;
}

const FlamRuntimeManaged *
flam_runtime_stepper_end (FlamRuntimeStepper *stepper,
                          FlamRuntimeNames *names,
                          const FlamUnwindMemory *stack,
                          guint *n)
{
  /* Names are not on the stack. */
  Memory memory = { stepper, stack, FALSE, FALSE };
  FlamRuntimeMemory readable = { read_memory, &memory };

  *n = stepper->managed->len;
  for (guint i = 0; i < *n; i++)
    {
      FlamRuntimeManaged *managed =
          &g_array_index (stepper->managed, FlamRuntimeManaged, i);

      if (managed->entry.function != 0)
        managed->function = function_of (stepper, names, managed, &readable);
    }
  flam_runtime_pages_end (stepper->pages, &names->hints);
  return (const FlamRuntimeManaged *)(gpointer)stepper->managed->data;
}
