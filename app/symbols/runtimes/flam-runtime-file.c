/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-runtime-file.h"

#include <unistd.h>

#include "flam-symbol-table.h"

gsize
flam_runtime_file_read (
    const FlamElf *elf, int fd, guint64 vaddr, void *to, gsize size)
{
  guint64 offset;
  ssize_t n;

  if (!flam_elf_vaddr_to_offset (elf, vaddr, &offset))
    return 0;
  n = pread (fd, to, size, (off_t)offset);
  return n > 0 ? (gsize)n : 0;
}

gboolean
flam_runtime_file_add_evaluator (FlamRuntimeFile *file,
                                 const FlamElf *elf,
                                 const char *symbol)
{
  guint64 vaddr, size;

  if (file->n_evaluators == FLAM_RUNTIME_RANGES_MAX ||
      !flam_elf_find_symbol (elf, symbol, &vaddr, &size) || size == 0)
    return FALSE;
  file->evaluators[file->n_evaluators++] =
      (FlamRuntimeRange){ vaddr, vaddr + size };
  return TRUE;
}

void
flam_runtime_file_clear (FlamRuntimeFile *file)
{
  g_free (file->facts);
  *file = (FlamRuntimeFile){ 0 };
}
