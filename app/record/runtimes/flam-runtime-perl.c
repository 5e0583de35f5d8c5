/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-perl.h"

/* Perl 5.28 to 5.42: flam-perl.h. */

static gsize
walk (const FlamRuntimeProcess *process,
      FlamRuntimeThread *thread,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  return flam_perl_walk (process->file->facts,
                         memory,
                         process->base,
                         regs->fs_base,
                         thread->tid == process->pid,
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
  return flam_perl_name (process->file->facts, memory, entry, into);
}

const FlamRuntime flam_runtime_perl = {
  .id = "perl",
  .label = "Perl",
  .find = flam_perl_find,
  .walk = walk,
  .needs_regs = TRUE,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .by_position = TRUE,
  .name = name,
  .joint = "::",
};
