/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-guile.h"

/* Guile 3.0: flam-guile.h. */

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  (void)memory;
  (void)help;
  if (process->file->n_evaluators == 0)
    *why = N_ ("the function that calls others was not found in the file");
  process->layout = flam_guile_images_new ();
  return FLAM_RUNTIME_OPENED;
}

static gsize
walk (const FlamRuntimeProcess *process,
      FlamRuntimeThread *thread,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  (void)thread;
  return flam_guile_walk (process->file->facts,
                          memory,
                          process->base,
                          regs->fs_base,
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
  return flam_guile_name (process->layout, memory, entry, into);
}

static FlamRuntimeStepped
step (const FlamRuntimeProcess *process,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entry,
      FlamRuntimeRegs *caller)
{
  (void)entry;
  return flam_guile_step (
             process->file->facts, memory, process->base, regs, caller)
             ? FLAM_RUNTIME_STEPPED
             : FLAM_RUNTIME_STEP_LOST;
}

const FlamRuntime flam_runtime_guile = {
  .id = "guile",
  .label = "Guile",
  .compiles = TRUE,
  .find = flam_guile_find,
  .open = open_process,
  .walk = walk,
  .needs_regs = TRUE,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .by_position = TRUE,
  .name = name,
  .joint = ".",
  .claims = flam_runtime_claims_anonymous,
  .step = step,
};
