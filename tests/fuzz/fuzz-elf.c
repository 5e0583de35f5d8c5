/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Hostile bytes as a program: its symbols, looked up at many addresses, and its
 * unwind table; and as a package of split units. Recorded programs are not
 * trusted, and neither are files in a folder of binaries. */

#include "flam-dwarf-dwo.h"
#include "flam-dwarf-unit.h"
#include "flam-symbol-module.h"
#include "flam-unwind-rows.h"

#include "fuzz-driver.h"

#include <string.h>

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

static void
walk_functions (Dwarf_Die die)
{
  FlamDwarfUnit unit = { .cu = die.cu, .own = die, .die = die };

  flam_dwarf_unit_walk (&unit, NULL);
  for (guint32 i = 0; i < unit.n_nodes; i++)
    {
      Dwarf_Die node;

      g_free (flam_dwarf_unit_scope_of (&unit, unit.nodes[i].die));
      if (dwarf_offdie (dwarf_cu_getdwarf (die.cu), unit.nodes[i].die, &node))
        dwarf_diename (&node);
    }
  flam_dwarf_unit_clear (&unit);
}

/* The program's part, addresses and ranges, is taken from the index. */
static void
read_package (const guint8 *data, gsize size)
{
  FlamElf *elf = flam_elf_new_from_data ("fuzz", data, size, NULL);
  g_autoptr (FlamDwarfPackage) package =
      elf != NULL ? flam_dwarf_package_new (elf) : NULL;
  FlamElfSection index;

  if (package == NULL || !flam_elf_get_section (elf, ".debug_cu_index", &index))
    return;
  for (guint64 at = 16; at + 8 <= MIN (index.size, 16 + 8 * 8); at += 8)
    {
      FlamDwarfSkeleton skeleton = {
        .low_pc = 0x1000,
        .addresses = { index.data, index.size },
        .ranges = { index.data, index.size },
      };
      g_autoptr (FlamDwarfDwo) dwo = NULL;
      FlamDwarfPieces pieces;

      memcpy (&skeleton.id, index.data + at, sizeof skeleton.id);
      if (flam_dwarf_package_find (package, skeleton.id, &pieces))
        dwo = flam_dwarf_dwo_new (&pieces, &skeleton, 16 << 20);
      if (dwo != NULL)
        walk_functions (flam_dwarf_dwo_get_die (dwo));
    }
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
  read_package (data, size);
  return 0;
}
