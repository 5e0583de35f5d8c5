/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dwarf-split.h"

#include "flam-debug-files.h"
#include "flam-dwarf-dwo.h"

#include <dwarf.h>

/* More than is needed for the looked-up units of any valid file. */
#define UNPACKED_MAX ((guint64)2 << 30)

struct _FlamDwarfSplit
{
  const FlamElf *elf;
  Dwarf *dwarf;
  const FlamElf *binary;
  const char *const *directories;
  gboolean searched;
  FlamDwarfPackage *package;
  FlamDwarfPiece addresses; /* the program's .debug_addr */
  FlamDwarfPiece ranges;    /* its .debug_ranges */
  GArray *address_bases;    /* guint64, ascending: start of each unit's part */
  GArray *range_bases;
  GPtrArray *dwos; /* FlamDwarfDwo */
  guint64 unpacked;
};

FlamDwarfSplit *
flam_dwarf_split_new (const FlamElf *elf,
                      Dwarf *dwarf,
                      const FlamElf *binary,
                      const char *const *directories)
{
  FlamDwarfSplit *split = g_new0 (FlamDwarfSplit, 1);

  split->elf = elf;
  split->dwarf = dwarf;
  split->binary = binary;
  split->directories = directories;
  split->address_bases = g_array_new (FALSE, FALSE, sizeof (guint64));
  split->range_bases = g_array_new (FALSE, FALSE, sizeof (guint64));
  split->dwos =
      g_ptr_array_new_with_free_func ((GDestroyNotify)flam_dwarf_dwo_free);
  return split;
}

void
flam_dwarf_split_free (FlamDwarfSplit *split)
{
  g_ptr_array_unref (split->dwos);
  g_array_unref (split->address_bases);
  g_array_unref (split->range_bases);
  flam_dwarf_package_free (split->package);
  g_free (split);
}

static gboolean
read_base (Dwarf_Die *die, guint name, guint gnu_name, guint64 *base)
{
  Dwarf_Attribute attribute;
  Dwarf_Word value;

  if ((!dwarf_attr (die, name, &attribute) &&
       !dwarf_attr (die, gnu_name, &attribute)) ||
      dwarf_formudata (&attribute, &value) != 0)
    return FALSE;
  *base = value;
  return TRUE;
}

static gboolean
address_base (Dwarf_Die *die, guint64 *base)
{
  return read_base (die, DW_AT_addr_base, DW_AT_GNU_addr_base, base);
}

static gboolean
range_base (Dwarf_Die *die, guint64 *base)
{
  return read_base (die, DW_AT_GNU_ranges_base, DW_AT_GNU_ranges_base, base);
}

static int
compare_bases (gconstpointer a, gconstpointer b)
{
  guint64 left = *(const guint64 *)a;
  guint64 right = *(const guint64 *)b;

  return (left > right) - (left < right);
}

static void
find_package (FlamDwarfSplit *split)
{
  FlamElf *elf =
      flam_debug_package_find (split->binary, split->elf, split->directories);
  Dwarf_CU *cu = NULL;
  Dwarf_Die die;
  guint64 base;

  split->package = elf ? flam_dwarf_package_new (elf) : NULL;
  if (!split->package)
    return;
  split->addresses = flam_dwarf_piece_whole (split->elf, ".debug_addr");
  split->ranges = flam_dwarf_piece_whole (split->elf, ".debug_ranges");
  while (dwarf_get_units (split->dwarf, cu, &cu, NULL, NULL, &die, NULL) == 0)
    {
      if (address_base (&die, &base))
        g_array_append_val (split->address_bases, base);
      if (range_base (&die, &base))
        g_array_append_val (split->range_bases, base);
    }
  g_array_sort (split->address_bases, compare_bases);
  g_array_sort (split->range_bases, compare_bases);
}

/* The part of a unit in a section ends at the start of the next part. */
static FlamDwarfPiece
part_from (const FlamDwarfPiece *section, const GArray *bases, guint64 base)
{
  guint64 end = section->size;
  guint low = 0;
  guint high = bases->len;

  if (base >= section->size)
    return (FlamDwarfPiece){ 0 };
  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (bases, guint64, middle) <= base)
        low = middle + 1;
      else
        high = middle;
    }
  if (low < bases->len)
    end = MIN (end, g_array_index (bases, guint64, low));
  return (FlamDwarfPiece){ section->data + base, end - base };
}

static gboolean
unpack (FlamDwarfSplit *split, Dwarf_Die *skeleton, guint64 id, Dwarf_Die *die)
{
  FlamDwarfSkeleton whole = { .id = id };
  FlamDwarfPieces pieces;
  FlamDwarfDwo *dwo;
  Dwarf_Addr low_pc;
  guint64 base;

  if (!flam_dwarf_package_find (split->package, id, &pieces))
    return FALSE;
  if (dwarf_lowpc (skeleton, &low_pc) == 0)
    whole.low_pc = low_pc;
  if (address_base (skeleton, &base))
    whole.addresses = part_from (&split->addresses, split->address_bases, base);
  if (range_base (skeleton, &base))
    whole.ranges = part_from (&split->ranges, split->range_bases, base);
  dwo = flam_dwarf_dwo_new (&pieces, &whole, UNPACKED_MAX - split->unpacked);
  if (!dwo)
    return FALSE;
  split->unpacked += flam_dwarf_dwo_get_size (dwo);
  g_ptr_array_add (split->dwos, dwo);
  *die = flam_dwarf_dwo_get_die (dwo);
  return TRUE;
}

gboolean
flam_dwarf_split_find (FlamDwarfSplit *split, Dwarf_CU *cu, Dwarf_Die *die)
{
  Dwarf_Die own = { 0 };
  Dwarf_Die dwo = { 0 };
  guint8 type = 0;
  guint64 id = 0;

  if (dwarf_cu_info (cu, NULL, &type, &own, &dwo, &id, NULL, NULL) != 0)
    return TRUE;
  if (type != DW_UT_skeleton)
    return TRUE;
  if (dwo.addr)
    {
      *die = dwo;
      return TRUE;
    }
  if (!split->searched)
    find_package (split);
  split->searched = TRUE;
  return split->package && unpack (split, &own, id, die);
}
