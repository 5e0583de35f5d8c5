/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-dotnet.h"

/* .NET: flam-dotnet.h. */

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  FlamDotnet *dotnet;

  switch (
      flam_dotnet_open (process->file->facts, memory, process->base, &dotnet))
    {
    case FLAM_DOTNET_READY:
      process->cache = dotnet;
      return FLAM_RUNTIME_OPENED;
    case FLAM_DOTNET_EARLY:
      return FLAM_RUNTIME_NOT_YET;
    default:
      *why = N_ ("its descriptor of its own structures is not valid");
      *help = N_ ("start the program with DOTNET_PerfMapEnabled=1");
      return FLAM_RUNTIME_UNREADABLE;
    }
}

static void
close_process (FlamRuntimeProcess *process)
{
  if (process->cache != NULL)
    flam_dotnet_free (process->cache);
}

/* Code in memory of its own, which may be mapped twice, and assemblies. */
static gboolean
claims (const FlamRuntimeProcess *process,
        guint64 start,
        guint64 end,
        const char *path)
{
  return flam_runtime_claims_anonymous (process, start, end, path) ||
         g_str_has_prefix (path, "/memfd:doublemapper") ||
         g_str_has_suffix (path, ".dll");
}

static FlamRuntimeStepped
step (const FlamRuntimeProcess *process,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entry,
      FlamRuntimeRegs *caller)
{
  *caller = *regs;
  return flam_dotnet_step (process->cache,
                           memory,
                           g_get_monotonic_time () * 1000,
                           caller,
                           entry)
             ? FLAM_RUNTIME_STEPPED
             : FLAM_RUNTIME_STEP_LOST;
}

static gboolean
name_function (const FlamRuntimeProcess *process,
               const FlamRuntimeEntry *entry,
               const guint8 *first,
               const FlamRuntimeMemory *memory,
               FlamRuntimeName *name)
{
  (void)first;
  return flam_dotnet_name (process->cache, memory, entry, name);
}

const FlamRuntime flam_runtime_dotnet = {
  .id = "dotnet",
  .label = ".NET",
  .compiles = TRUE,
  .find = flam_dotnet_find,
  .open = open_process,
  .close = close_process,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .name = name_function,
  .joint = ".",
  .claims = claims,
  .step = step,
};
