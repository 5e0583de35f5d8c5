/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-pypy.h"

/* PyPy 7.3: flam-pypy.h. */

#define OWN_MAP 0   /* the address of the map of compiled code; 0: unknown */
#define OWN_RETRY 1 /* when it is looked for again */
#define OWN_WAIT 2
#define WAIT_MIN (10 * 1000 * 1000) /* ns */

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  FlamPyPyLayout layout = { 0 };

  switch (flam_pypy_open (process->file->facts, memory, process->base, &layout))
    {
    case FLAM_PYPY_NOT_YET:
      return FLAM_RUNTIME_NOT_YET;
    case FLAM_PYPY_OPENED:
      break;
    case FLAM_PYPY_UNKNOWN:
    default:
      *why = N_ ("the list of functions in this build of PyPy was not found");
      *help = N_ ("run the program with python3");
    }
  if (process->file->n_evaluators == 0)
    {
      *why = N_ ("the function that calls others was not found in the file");
      *help = N_ ("run the program with python3");
    }
  process->layout = g_memdup2 (&layout, sizeof layout);
  return FLAM_RUNTIME_OPENED;
}

/* The map has a first entry when code is compiled; then it stays where it is.
 */
static guint64
find_map (const FlamRuntimeProcess *process,
          FlamRuntimeThread *thread,
          const FlamRuntimeMemory *memory)
{
  guint64 *own = thread->own, now = (guint64)thread->now;

  if (own[OWN_MAP] == 0 && now >= own[OWN_RETRY] &&
      !flam_pypy_find_map (
          process->file->facts, memory, process->base, &own[OWN_MAP]))
    {
      own[OWN_WAIT] = MAX (2 * own[OWN_WAIT], WAIT_MIN);
      own[OWN_RETRY] = now + own[OWN_WAIT];
    }
  return own[OWN_MAP];
}

static gsize
walk (const FlamRuntimeProcess *process,
      FlamRuntimeThread *thread,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  const FlamPyPyLayout *layout = process->layout;

  if (layout->codes == 0)
    return 0;
  return flam_pypy_walk (process->file->facts,
                         memory,
                         process->base,
                         find_map (process, thread, memory),
                         regs,
                         entries,
                         limit);
}

static gboolean
name (const FlamRuntimeProcess *process,
      const FlamRuntimeEntry *entry,
      const guint8 *first,
      const FlamRuntimeMemory *memory,
      FlamRuntimeName *into)
{
  (void)first;
  return flam_pypy_name (
      process->file->facts, process->layout, memory, entry->function, into);
}

static FlamRuntimeStepped
step (const FlamRuntimeProcess *process,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entry,
      FlamRuntimeRegs *caller)
{
  (void)entry;
  return flam_pypy_step (
             process->file->facts, memory, process->base, regs, caller)
             ? FLAM_RUNTIME_STEPPED
             : FLAM_RUNTIME_STEP_LOST;
}

const FlamRuntime flam_runtime_pypy = {
  .id = "pypy",
  .label = "PyPy",
  .compiles = TRUE,
  .find = flam_pypy_find,
  .open = open_process,
  .walk = walk,
  .needs_regs = TRUE,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .name = name,
  .joint = ".",
  .claims = flam_runtime_claims_anonymous,
  .step = step,
};
