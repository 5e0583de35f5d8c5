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

const FlamRuntime flam_runtime_php = {
  .id = "php",
  .label = "PHP",
  .find = flam_php_find,
  .walk = walk,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .name = name,
  .joint = "::",
};
