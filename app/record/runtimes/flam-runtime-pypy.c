/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-pypy.h"

/* PyPy: flam-pypy.h. Its functions have no names. */

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  (void)process;
  (void)memory;
  *why = N_ ("no table of PyPy leads to their names");
  *help = N_ ("run the program with python3, or profile it with pypy3 -m "
              "vmprof");
  return FLAM_RUNTIME_OPENED;
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
  .find = flam_pypy_find,
  .open = open_process,
  .claims = flam_runtime_claims_anonymous,
  .step = step,
};
