/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-php.h"

/* PHP 7.4 to 8.4: flam-php.h. */

static gsize
walk (const FlamRuntimeProcess *process,
      FlamRuntimeThread *thread,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  (void)thread;
  return flam_php_walk (
      process->file->facts, memory, process->base, regs, entries, limit);
}

static gboolean
name (const FlamRuntimeProcess *process,
      const FlamRuntimeEntry *entry,
      const guint8 *first,
      const FlamRuntimeMemory *memory,
      FlamRuntimeName *into)
{
  (void)first;
  return flam_php_name (process->file->facts, memory, entry, into);
}

static gboolean
claims (const FlamRuntimeProcess *process,
        guint64 start,
        guint64 end,
        const char *path)
{
  (void)process;
  (void)start;
  (void)end;
  return flam_php_is_compiled (path);
}

/* The frames are in the chain. */
static FlamRuntimeStepped
step (const FlamRuntimeProcess *process,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entry,
      FlamRuntimeRegs *caller)
{
  (void)memory;
  *entry = (FlamRuntimeEntry){ 0 };
  return flam_php_leave_compiled (
             process->file->facts, process->base, regs, caller)
             ? FLAM_RUNTIME_STEPPED
             : FLAM_RUNTIME_STEP_LOST;
}

const FlamRuntime flam_runtime_php = {
  .id = "php",
  .label = "PHP",
  .find = flam_php_find,
  .walk = walk,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .name = name,
  .joint = "::",
  .claims = claims,
  .step = step,
};
