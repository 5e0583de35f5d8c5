/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-lua.h"
#include "flam-runtime-lines.h"

/* Lua 5.1 to 5.4: flam-lua.h. */

G_STATIC_ASSERT (FLAM_LUA_KEPT <= FLAM_RUNTIME_OWN_WORDS);

static gsize
walk (const FlamRuntimeProcess *process,
      FlamRuntimeThread *thread,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  return flam_lua_walk (process->file->facts,
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
  return flam_lua_name (process->file->facts, memory, entry, into);
}

const FlamRuntime flam_runtime_lua = {
  .id = "lua",
  .label = "Lua",
  .find = flam_lua_find,
  .walk = walk,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .name = name,
  .line = flam_runtime_lines_find,
  .joint = ".",
};
