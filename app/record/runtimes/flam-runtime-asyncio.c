/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include <string.h>

#include "flam-python-chain.h"
#include "flam-python-tasks.h"
#include "flam-python.h"

/* The asyncio tasks of Python, as labels of samples: flam-python-tasks.h.
 * `layout` is the address of the current tasks. */

/* The type of FlamRuntimeFile.facts. */
typedef struct
{
  FlamPythonLayout layout;
  guint64 runtime; /* address in the file, of _PyRuntime */
} Facts;

G_STATIC_ASSERT (sizeof (FlamPythonLoop) <=
                 FLAM_RUNTIME_OWN_WORDS * sizeof (guint64));

static gboolean
find (const FlamElf *elf, int fd, const char *path, FlamRuntimeFile *file)
{
  FlamRuntimeFile older = { 0 };
  FlamPythonElf python;
  Facts facts = { 0 };
  gboolean found = FALSE;

  if (flam_python_find (elf, fd, path, &python) && python.why == NULL)
    {
      facts = (Facts){ python.layout, python.runtime };
      found = TRUE;
    }
  else if (flam_python_chain_find (elf, fd, path, &older))
    {
      const FlamPythonChain *chain = older.facts;

      found = older.why == NULL && chain != NULL &&
              flam_python_chain_layout (chain, &facts.layout);
      facts.runtime = chain != NULL ? chain->runtime : 0;
    }
  flam_runtime_file_clear (&older);
  if (found)
    file->facts = g_memdup2 (&facts, sizeof facts);
  return found;
}

static FlamRuntimeOpened
open_process (FlamRuntimeProcess *process,
              const FlamRuntimeMemory *memory,
              const char **why,
              const char **help)
{
  const Facts *facts = process->file->facts;
  guint64 tasks = flam_python_find_tasks (
      &facts->layout, memory, process->base + facts->runtime);

  (void)why;
  (void)help;
  if (tasks == 0)
    return FLAM_RUNTIME_NOT_YET;
  process->layout = g_memdup2 (&tasks, sizeof tasks);
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
  const Facts *facts = process->file->facts;
  const guint64 *tasks = process->layout;
  FlamRuntimeEntry entry = { 0 };
  gboolean runs;
  FlamPythonLoop loop; /* FlamRuntimeThread.own */

  memcpy (&loop, thread->own, sizeof loop);
  runs = limit > 0 && flam_python_current_task (&facts->layout,
                                                memory,
                                                *tasks,
                                                regs->fs_base,
                                                thread->now,
                                                &loop,
                                                &entry.function,
                                                &entry.cookie);
  memcpy (thread->own, &loop, sizeof loop);
  if (!runs)
    return 0;
  entries[0] = entry;
  return 1;
}

static gboolean
name (const FlamRuntimeProcess *process,
      const FlamRuntimeEntry *entry,
      const guint8 *first,
      const FlamRuntimeMemory *memory,
      FlamRuntimeName *into)
{
  const Facts *facts = process->file->facts;

  (void)first;
  return flam_python_name_task (
      &facts->layout, memory, entry->function, entry->cookie, into);
}

const FlamRuntime flam_runtime_asyncio = {
  .id = "asyncio",
  .label = "Python",
  .labels = TRUE,
  .find = find,
  .open = open_process,
  .walk = walk,
  .needs_regs = TRUE,
  .naming = FLAM_RUNTIME_NAME_STOPPED,
  .name = name,
};
