/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-ruby.h"
#include "flam-runtime-lines.h"

/* CRuby 2.6 to 3.4: flam-ruby.h. */

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  (void)memory;
  (void)why;
  (void)help;
  process->layout = flam_ruby_owners_new ();
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
  return flam_ruby_walk (process->file->facts,
                         process->layout,
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
  return flam_ruby_name (process->file->facts,
                         process->layout,
                         memory,
                         process->base,
                         entry,
                         into);
}

const FlamRuntime flam_runtime_ruby = {
  .id = "ruby",
  .label = "Ruby",
  .find = flam_ruby_find,
  .open = open_process,
  .walk = walk,
  .needs_regs = TRUE,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .name = name,
  .line = flam_runtime_lines_find,
  .joint = "#",
};
