/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Hostile bytes as a program: its symbols, asked for at many addresses, and
 * its unwind table. Recorded programs are not to be trusted, nor is what a
 * folder of binaries holds. */

#include "flam-symbol-module.h"
#include "flam-unwind-rows.h"

#include "fuzz-driver.h"

static void
look_up (const guint8 *data, gsize size)
{
  g_autoptr (FlamSymbolModule) module =
      flam_symbol_module_new_from_data ("fuzz", data, size);
  FlamSymbolChain chain;
  const FlamElfSegment *segments;
  guint n;

  if (module == NULL)
    return;
  segments = flam_elf_get_segments (flam_symbol_module_get_elf (module), &n);
  for (guint i = 0; i < MIN (n, 8); i++)
    for (guint at = 0; at < 256; at++)
      flam_symbol_module_lookup (
          module,
          segments[i].vaddr + MAX (segments[i].memory_size / 256, 1) * at,
          &chain);
  flam_symbol_module_get_state (module);
}

int
LLVMFuzzerTestOneInput (const guint8 *data, gsize size)
{
  const char *why;
  FlamUnwindTable *table = flam_unwind_table_new_file (data, size, &why);

  if (table != NULL)
    for (guint64 at = 0; at < 64; at++)
      flam_unwind_table_find (table, table->first + at * 16);
  flam_unwind_table_free (table);
  look_up (data, size);
  return 0;
}
