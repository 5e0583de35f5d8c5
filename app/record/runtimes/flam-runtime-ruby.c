/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-ruby.h"
#include "flam-runtime-lines.h"

/* CRuby 2.6 to 3.4: flam-ruby.h. */

static gsize
walk (const FlamRuntimeProcess *process,
      FlamRuntimeThread *thread,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  (void)thread;
  return flam_ruby_walk (process->file->facts,
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
  return flam_ruby_name (
      process->file->facts, memory, process->base, entry, into);
}

const FlamRuntime flam_runtime_ruby = {
  .id = "ruby",
  .label = "Ruby",
  .find = flam_ruby_find,
  .walk = walk,
  .needs_regs = TRUE,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .name = name,
  .line = flam_runtime_lines_find,
  .joint = "#",
};
