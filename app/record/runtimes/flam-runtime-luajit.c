/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-luajit.h"
#include "flam-runtime-lines.h"

/* LuaJIT 2.1: flam-luajit.h. */

G_STATIC_ASSERT (FLAM_LUAJIT_KEPT <= FLAM_RUNTIME_OWN_WORDS);

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  (void)memory;
  (void)why;
  (void)help;
  process->layout = flam_luajit_new ();
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
  return flam_luajit_walk (process->file->facts,
                           process->layout,
                           memory,
                           process->base,
                           regs,
                           thread->now,
                           thread->own,
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
  return flam_luajit_name (process->file->facts, memory, entry, into);
}

static FlamRuntimeStepped
step (const FlamRuntimeProcess *process,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entry,
      FlamRuntimeRegs *caller)
{
  (void)entry;
  return flam_luajit_step (
             process->file->facts, memory, process->base, regs, caller)
             ? FLAM_RUNTIME_STEPPED
             : FLAM_RUNTIME_STEP_LOST;
}

const FlamRuntime flam_runtime_luajit = {
  .id = "luajit",
  .label = "LuaJIT",
  .compiles = TRUE,
  .find = flam_luajit_find,
  .open = open_process,
  .walk = walk,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .name = name,
  .line = flam_runtime_lines_find,
  .joint = ".",
  .claims = flam_runtime_claims_anonymous,
  .step = step,
};
