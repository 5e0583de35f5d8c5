/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-python-chain.h"
#include "flam-python.h"

/* CPython 3.6 to 3.10. */

static gsize
walk (const FlamRuntimeProcess *process,
      FlamRuntimeThread *thread,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  return flam_python_chain_walk (process->file->facts,
                                 memory,
                                 process->base,
                                 regs->fs_base,
                                 entries,
                                 limit);
}

/* As for newer versions (flam-runtime-python.c). */
static guint
pieces (const FlamRuntimeProcess *process,
        guint64 function,
        const guint8 *first,
        FlamRuntimePiece *pieces)
{
  const FlamPythonChain *chain = process->file->facts;

  pieces[0] = (FlamRuntimePiece){ flam_python_chain_piece (chain, function),
                                  flam_python_chain_piece_size (chain) };
  if (first == NULL)
    return 1;
  pieces[1] = (FlamRuntimePiece){ flam_python_chain_hash (chain, first),
                                  FLAM_PYTHON_NAME_SIZE };
  return 2;
}

static gboolean
name_code (const FlamRuntimeProcess *process,
           const FlamRuntimeEntry *entry,
           const guint8 *first,
           const FlamRuntimeMemory *memory,
           FlamRuntimeName *name)
{
  return flam_python_chain_name (process->file->facts, first, memory, name) &&
         flam_python_is_alive (memory, entry->function);
}

static guint
flags (const FlamRuntimeNamed *named)
{
  return flam_python_flags (named->file);
}

static void
threads (const FlamRuntimeProcess *process,
         const FlamRuntimeMemory *memory,
         FlamRuntimeName *scratch,
         FlamRuntimeTakeThread take,
         gpointer data)
{
  flam_python_chain_name_threads (
      process->file->facts, memory, process->base, scratch, take, data);
}

const FlamRuntime flam_runtime_python_chain = {
  .id = "python-3.10",
  .label = "Python",
  .find = flam_python_chain_find,
  .walk = walk,
  .needs_regs = TRUE,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .pieces = pieces,
  .name = name_code,
  .line = flam_python_line_at,
  .flags = flags,
  .joint = ".",
  .threads = threads,
};
