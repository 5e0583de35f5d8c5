/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-table.h"

#include "flam-go.h"

/* The labels of Go's goroutines: flam-go.h. The only entry of a stack is the
 * address of a set of labels. */

static gsize
walk (const FlamRuntimeProcess *process,
      FlamRuntimeThread *thread,
      const FlamRuntimeRegs *regs,
      const FlamRuntimeMemory *memory,
      FlamRuntimeEntry *entries,
      gsize limit)
{
  guint64 labels =
      regs->fs_base != 0 && limit > 0
          ? flam_go_labels (process->file->facts, memory, regs->fs_base)
          : 0;

  (void)thread;
  if (labels == 0)
    return 0;
  entries[0] = (FlamRuntimeEntry){ .function = labels };
  return 1;
}

static guint
pieces (const FlamRuntimeProcess *process,
        guint64 function,
        const guint8 *first,
        FlamRuntimePiece *pieces)
{
  const FlamGo *go = process->file->facts;

  pieces[0] = (FlamRuntimePiece){ function, flam_go_first_size (go) };
  if (first == NULL)
    return 1;
  pieces[1].size = flam_go_second (go, first, &pieces[1].address);
  return 2;
}

static gboolean
name (const FlamRuntimeProcess *process,
      const FlamRuntimeEntry *entry,
      const guint8 *first,
      const FlamRuntimeMemory *memory,
      FlamRuntimeName *into)
{
  (void)entry;
  return flam_go_name (process->file->facts, first, memory, into);
}

const FlamRuntime flam_runtime_go = {
  .id = "go",
  .label = "Go",
  .labels = TRUE,
  .find = flam_go_find,
  .walk = walk,
  .needs_regs = TRUE,
  .naming = FLAM_RUNTIME_NAME_RESUMED,
  .pieces = pieces,
  .name = name,
};
