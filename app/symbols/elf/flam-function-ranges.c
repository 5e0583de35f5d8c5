/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-function-ranges.h"

#include "flam-unwind-cfi.h"

/* An FDE takes at least 16 bytes of its section. */
#define FDE_SIZE_MIN 16

static void
add_section (GArray *found,
             const FlamUnwindSections *sections,
             const FlamUnwindSection *section)
{
  g_autofree FlamCfiReader *reader = g_new (FlamCfiReader, 1);
  gsize limit = found->len + section->size / FDE_SIZE_MIN;
  FlamUnwindBytes body;

  if (section->data == NULL)
    return;
  flam_cfi_reader_init (reader, sections, section);
  while (found->len < limit && flam_cfi_next_fde (reader, &body))
    {
      FlamInterval range = { .value = 0 };
      guint64 size = 0;

      if (reader->cie == NULL)
        continue;
      range.start = flam_cfi_read_range (reader, &body, &size);
      range.end = range.start + size;
      /* The linker leaves FDEs of discarded functions at address 0. */
      if (!body.bad && range.start != 0 && range.end > range.start)
        g_array_append_val (found, range);
    }
}

static int
compare_starts (gconstpointer a, gconstpointer b)
{
  const FlamInterval *x = a;
  const FlamInterval *y = b;

  if (x->start != y->start)
    return x->start < y->start ? -1 : 1;
  return x->end < y->end ? -1 : x->end > y->end;
}

void
flam_function_ranges_init (FlamFunctionRanges *ranges, const FlamElf *elf)
{
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (FlamInterval));
  FlamUnwindSections sections = { 0 };
  FlamElfSection section;

  *ranges = (FlamFunctionRanges){ 0 };
  if (flam_elf_get_machine (elf) != EM_X86_64)
    return;
  if (flam_elf_get_section (elf, ".eh_frame", &section) && section.data != NULL)
    sections.eh_frame =
        (FlamUnwindSection){ section.data, section.size, section.vaddr };
  if (flam_elf_get_section (elf, ".debug_frame", &section) &&
      section.data != NULL)
    sections.debug_frame =
        (FlamUnwindSection){ section.data, section.size, section.vaddr };
  if (flam_elf_get_section (elf, ".text", &section))
    sections.text_vaddr = section.vaddr;
  add_section (found, &sections, &sections.eh_frame);
  add_section (found, &sections, &sections.debug_frame);

  g_array_sort (found, compare_starts);
  ranges->n = found->len;
  ranges->start = g_new (guint64, MAX (found->len, 1));
  ranges->end = g_new (guint64, MAX (found->len, 1));
  for (guint32 i = 0; i < found->len; i++)
    {
      FlamInterval *range = &g_array_index (found, FlamInterval, i);

      ranges->start[i] = range->start;
      ranges->end[i] = range->end;
      range->value = i;
    }
  flam_intervals_init (&ranges->map, (FlamInterval *)found->data, found->len);
}

void
flam_function_ranges_clear (FlamFunctionRanges *ranges)
{
  flam_intervals_clear (&ranges->map);
  g_clear_pointer (&ranges->start, g_free);
  g_clear_pointer (&ranges->end, g_free);
  ranges->n = 0;
}

gboolean
flam_function_ranges_find (const FlamFunctionRanges *ranges,
                           guint64 vaddr,
                           guint64 *start,
                           guint64 *end)
{
  guint32 row =
      ranges->n > 0 ? flam_intervals_find (&ranges->map, vaddr) : FLAM_NONE;

  if (row == FLAM_NONE)
    return FALSE;
  *start = ranges->start[row];
  *end = ranges->end[row];
  return TRUE;
}
