/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include <string.h>

#include "flam-haskell.h"

/* Haskell by GHC: flam-haskell.h. `cache` is the path of the program. */

G_STATIC_ASSERT (FLAM_HASKELL_KEPT <= FLAM_RUNTIME_OWN_WORDS);

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  g_autofree char *link = g_strdup_printf ("/proc/%d/exe", (int)process->pid);

  (void)memory;
  (void)why;
  (void)help;
  process->cache = g_file_read_link (link, NULL);
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
  return flam_haskell_walk (process->file->facts,
                            memory,
                            process->base,
                            regs,
                            thread->own,
                            entries,
                            limit);
}

static gboolean
claims (const FlamRuntimeProcess *process,
        guint64 start,
        guint64 end,
        const char *path)
{
  const char *base = strrchr (path, '/');

  (void)start;
  (void)end;
  return strcmp (path, process->path) == 0 ||
         g_strcmp0 (path, process->cache) == 0 ||
         (base != NULL && g_str_has_prefix (base, "/libHS"));
}

static FlamRuntimeStepped
step (const FlamRuntimeProcess *process,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entry,
      FlamRuntimeRegs *caller)
{
  (void)entry;
  return flam_haskell_step (
             process->file->facts, memory, process->base, regs, caller)
             ? FLAM_RUNTIME_STEPPED
             : FLAM_RUNTIME_STEP_LOST;
}

const FlamRuntime flam_runtime_haskell = {
  .id = "haskell",
  .label = "Haskell",
  .find = flam_haskell_find,
  .open = open_process,
  .walk = walk,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .claims = claims,
  .claims_uncovered = TRUE,
  .step = step,
};
