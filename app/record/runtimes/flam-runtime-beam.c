/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-beam.h"

/* Erlang and Elixir: flam-beam.h. */

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
  .by_position = TRUE,
  .name = name_function,
  .joint = ":",
  .claims = claims,
  .step = step,
};
