/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-beam.h"

/* Erlang and Elixir: flam-beam.h. */

G_STATIC_ASSERT (FLAM_BEAM_KEPT <= FLAM_RUNTIME_OWN_WORDS);

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  (void)memory;
  (void)why;
  (void)help;
  process->layout = g_new0 (FlamBeamProcess, 1);
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
  return flam_beam_walk (process->file->facts,
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
claims (const FlamRuntimeProcess *process,
        guint64 start,
        guint64 end,
        const char *path)
{
  return g_str_has_prefix (path, "/memfd:vmem") || path[0] == '\0';
}

static FlamRuntimeStepped
step (const FlamRuntimeProcess *process,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entry,
      FlamRuntimeRegs *caller)
{
  switch (flam_beam_step (
      process->file->facts, memory, process->base, regs, entry, caller))
    {
    case FLAM_BEAM_STEPPED:
      return FLAM_RUNTIME_STEPPED;
    case FLAM_BEAM_LAST:
      return FLAM_RUNTIME_STEP_ROOT;
    case FLAM_BEAM_LOST:
    default:
      return FLAM_RUNTIME_STEP_LOST;
    }
}

static gboolean
name_function (const FlamRuntimeProcess *process,
               const FlamRuntimeEntry *entry,
               const guint8 *first,
               const FlamRuntimeMemory *memory,
               FlamRuntimeName *name)
{
  return flam_beam_name (
      process->file->facts, memory, process->base, entry, name);
}

const FlamRuntime flam_runtime_beam = {
  .id = "erlang",
  .label = "Erlang",
  .compiles = TRUE,
  .find = flam_beam_find,
  .open = open_process,
  .walk = walk,
  .needs_regs = TRUE,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .by_position = TRUE,
  .name = name_function,
  .joint = ":",
  .claims = claims,
  .step = step,
};
