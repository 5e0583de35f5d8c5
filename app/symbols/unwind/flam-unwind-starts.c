/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "flam-unwind-starts.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "flam-unwind-decode.h"

static void
add (FlamUnwindStarts *starts, uint64_t offset)
{
  if (starts->n == starts->allocated)
    {
      size_t n = starts->allocated ? 2 * starts->allocated : 1024;
      uint32_t *at = realloc (starts->at, n * sizeof *at);

      if (!at)
        return;
      starts->at = at;
      starts->allocated = n;
    }
  starts->at[starts->n++] = (uint32_t)offset;
}

static void
add_symbols (FlamUnwindStarts *starts, const FlamUnwindSections *sections)
{
  const FlamUnwindSection *symbols = &sections->symbols;
  const char *bytes = symbols->data;

  for (size_t i = 0; bytes && i < symbols->size / sizeof (Elf64_Sym); i++)
    {
      Elf64_Sym symbol;

      memcpy (&symbol, bytes + i * sizeof symbol, sizeof symbol);
      if (ELF64_ST_TYPE (symbol.st_info) != STT_FUNC ||
          symbol.st_shndx == SHN_UNDEF)
        continue;
      for (unsigned k = 0; k < sections->n_segments; k++)
        {
          const FlamUnwindSegment *segment = &sections->segments[k];

          if (symbol.st_value >= segment->vaddr &&
              symbol.st_value - segment->vaddr < segment->size)
            add (starts, symbol.st_value - segment->vaddr + segment->offset);
        }
    }
}

static void
add_calls (FlamUnwindStarts *starts, const FlamUnwindSegment *segment)
{
  FlamInstruction now;

  for (uint64_t at = 0; segment->code && at < segment->size; at += now.length)
    if (!flam_unwind_decode (segment->code + at, segment->size - at, &now))
      now.length = 1;
    else if (now.calls && now.target != 0)
      {
        uint64_t target = at + now.length + (uint64_t)(int64_t)now.target;

        if (target < segment->size)
          add (starts, segment->offset + target);
      }
}

static int
compare (const void *a, const void *b)
{
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

  return (x > y) - (x < y);
}

void
flam_unwind_starts_init (FlamUnwindStarts *starts,
                         const FlamUnwindSections *sections)
{
  *starts = (FlamUnwindStarts){ 0 };
  add_symbols (starts, sections);
  for (unsigned i = 0;
       FLAM_UNWIND_ELF_MACHINE == EM_X86_64 && i < sections->n_segments;
       i++)
    add_calls (starts, &sections->segments[i]);
  if (starts->n > 0)
    qsort (starts->at, starts->n, sizeof *starts->at, compare);
}

void
flam_unwind_starts_clear (FlamUnwindStarts *starts)
{
  free (starts->at);
  *starts = (FlamUnwindStarts){ 0 };
}

bool
flam_unwind_starts_has (const FlamUnwindStarts *starts, uint32_t offset)
{
  return starts->n > 0 &&
         bsearch (&offset, starts->at, starts->n, sizeof offset, compare);
}
