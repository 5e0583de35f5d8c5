/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include <string.h>

#include "flam-v8-elf.h"

/* JavaScript in node: flam-v8.h. A function's key is the address of its
 * SharedFunctionInfo, its position an offset in its bytecodes or machine code.
 * `layout` is a FlamV8, of which the tracer alone reads more than the file. */

static const FlamV8File *
v8_of (const FlamRuntimeProcess *process)
{
  return process->file->facts;
}

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  if (!flam_v8_is_loaded (v8_of (process), process->base, memory))
    {
      /* Its data may not be mapped yet. */
      if (process->first == NULL || process->first->layout == NULL)
        return FLAM_RUNTIME_NOT_YET;
      flam_v8_set_copy (process->first->layout, process->base);
      return FLAM_RUNTIME_UNREADABLE;
    }
  process->layout = flam_v8_new (v8_of (process), process->base);
  if (process->layout != NULL)
    return FLAM_RUNTIME_OPENED;
  *why = N_ ("not enough memory");
  *help = NULL;
  return FLAM_RUNTIME_UNREADABLE;
}

static void
close_process (FlamRuntimeProcess *process)
{
  flam_v8_free (process->layout);
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
  return flam_v8_walk (process->layout, regs, memory, entries, limit);
}

static gboolean
name_frame (const FlamRuntimeProcess *process,
            const FlamRuntimeEntry *entry,
            const guint8 *first,
            const FlamRuntimeMemory *memory,
            FlamRuntimeName *name)
{
  (void)first;
  return flam_v8_name (process->layout, entry, memory, name);
}

/* The functions that load modules, run by a program's first lines. */
static guint
flags (const FlamRuntimeNamed *named)
{
  if (g_str_has_prefix (named->file, "node:internal/modules/") ||
      g_str_has_prefix (named->file, "internal/modules/"))
    return FLAM_FUNCTION_IMPORT | FLAM_FUNCTION_IRRELEVANT;
  if (g_str_has_prefix (named->file, "node:internal/main/") ||
      g_str_has_prefix (named->file, "internal/main/"))
    return FLAM_FUNCTION_IRRELEVANT;
  return FLAM_FUNCTION_PLAIN;
}

static gboolean
fits (const FlamRuntimeProcess *process,
      guint64 pc,
      guint64 caller_sp,
      guint64 at)
{
  return flam_v8_is_frame (v8_of (process), process->base, pc, caller_sp, at);
}

G_STATIC_ASSERT (FLAM_V8_THREAD_NAME_SIZE == FLAM_RUNTIME_THREAD_SIZE);

static gboolean
thread_name (const FlamRuntimeProcess *process,
             const FlamRuntimeMemory *memory,
             guint64 top,
             char name[FLAM_RUNTIME_THREAD_SIZE])
{
  return flam_v8_threads_name (
      &v8_of (process)->threads, process->base, memory, top, name);
}

const FlamRuntime flam_runtime_v8 = {
  .id = "node",
  .label = "V8",
  .compiles = TRUE,
  .find = flam_v8_find,
  .open = open_process,
  .close = close_process,
  .walk = walk,
  .on_stack = TRUE,
  .naming = FLAM_RUNTIME_NAME_STOPPED,
  .by_position = TRUE,
  .name = name_frame,
  .flags = flags,
  .joint = ".",
  .fits = fits,
  .thread = thread_name,
};
