/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dwarf-package.h"

#include <string.h>

#define HEADER_SIZE 16
/* The number of kinds of sections in either version. */
#define COLUMNS_MAX 8
/* A table is at most two thirds full, so a few probes are enough. */
#define PROBES_MAX 4096

/* DW_SECT_*: the numbers common to both versions, and one that differs. */
enum
{
  COLUMN_INFO = 1,
  COLUMN_ABBREV = 3,
  COLUMN_STR_OFFSETS = 6,
  COLUMN_RNGLISTS_5 = 8,
};

struct _FlamDwarfPackage
{
  FlamElf *elf;
  guint version;
  guint32 n_columns;
  guint32 n_rows;
  guint32 n_slots;       /* a power of two */
  const guint8 *ids;     /* guint64 per slot */
  const guint8 *rows;    /* guint32 per slot */
  const guint8 *columns; /* guint32 per column */
  const guint8 *offsets; /* guint32 per row and column */
  const guint8 *sizes;   /* likewise */
  FlamDwarfPieces whole; /* sections */
};

static guint32
read_u32 (const guint8 *table, guint64 row)
{
  guint32 value;

  memcpy (&value, table + row * sizeof value, sizeof value);
  return value;
}

static guint64
read_u64 (const guint8 *table, guint64 row)
{
  guint64 value;

  memcpy (&value, table + row * sizeof value, sizeof value);
  return value;
}

/* A word in version 2, a half word and padding in version 5. */
static guint
read_version (const guint8 *header)
{
  guint16 half;

  memcpy (&half, header, sizeof half);
  return read_u32 (header, 0) == 2 ? 2 : half;
}

static gboolean
read_index (FlamDwarfPackage *package, const FlamElfSection *index)
{
  guint64 cells;
  guint64 slots;

  if (!index->data || index->size < HEADER_SIZE)
    return FALSE;
  package->version = read_version (index->data);
  package->n_columns = read_u32 (index->data, 1);
  package->n_rows = read_u32 (index->data, 2);
  package->n_slots = read_u32 (index->data, 3);
  if ((package->version != 2 && package->version != 5) ||
      package->n_columns > COLUMNS_MAX || package->n_slots == 0 ||
      (package->n_slots & (package->n_slots - 1)) != 0)
    return FALSE;
  slots = package->n_slots;
  cells = (guint64)package->n_rows * package->n_columns;
  if (HEADER_SIZE + slots * 12 + package->n_columns * 4 + cells * 8 >
      index->size)
    return FALSE;
  package->ids = index->data + HEADER_SIZE;
  package->rows = package->ids + slots * 8;
  package->columns = package->rows + slots * 4;
  package->offsets = package->columns + package->n_columns * 4;
  package->sizes = package->offsets + cells * 4;
  return TRUE;
}

FlamDwarfPiece
flam_dwarf_piece_whole (const FlamElf *elf, const char *name)
{
  FlamElfSection section;

  if (!flam_elf_get_section (elf, name, &section) || !section.data)
    return (FlamDwarfPiece){ 0 };
  return (FlamDwarfPiece){ section.data, section.size };
}

static gboolean
has_own_byte_order (const FlamElf *elf)
{
  const char *ident = elf_getident (flam_elf_get_handle (elf), NULL);

  return ident &&
         ident[EI_DATA] ==
             (G_BYTE_ORDER == G_LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB);
}

FlamDwarfPackage *
flam_dwarf_package_new (FlamElf *elf)
{
  FlamDwarfPackage *package = g_new0 (FlamDwarfPackage, 1);
  FlamElfSection index;

  package->elf = elf;
  if (!has_own_byte_order (elf) ||
      !flam_elf_get_section (elf, ".debug_cu_index", &index) ||
      !read_index (package, &index))
    {
      flam_dwarf_package_free (package);
      return NULL;
    }
  package->whole = (FlamDwarfPieces){
    .info = flam_dwarf_piece_whole (elf, ".debug_info.dwo"),
    .abbrev = flam_dwarf_piece_whole (elf, ".debug_abbrev.dwo"),
    .str_offsets = flam_dwarf_piece_whole (elf, ".debug_str_offsets.dwo"),
    .rnglists = flam_dwarf_piece_whole (elf, ".debug_rnglists.dwo"),
    .strings = flam_dwarf_piece_whole (elf, ".debug_str.dwo"),
  };
  return package;
}

void
flam_dwarf_package_free (FlamDwarfPackage *package)
{
  if (!package)
    return;
  flam_elf_free (package->elf);
  g_free (package);
}

/* The row, from 0; FALSE if the id is not in the table. */
static gboolean
find_row (const FlamDwarfPackage *package, guint64 id, guint32 *row)
{
  guint32 mask = package->n_slots - 1;
  guint32 slot = (guint32)id & mask;
  guint32 step = ((guint32)(id >> 32) & mask) | 1;

  for (guint i = 0; i < PROBES_MAX; i++, slot = (slot + step) & mask)
    {
      guint32 number = read_u32 (package->rows, slot);

      if (number == 0 || number > package->n_rows)
        return FALSE;
      if (read_u64 (package->ids, slot) == id)
        {
          *row = number - 1;
          return TRUE;
        }
    }
  return FALSE;
}

static FlamDwarfPiece
cut (const FlamDwarfPiece *whole, guint64 offset, guint64 size)
{
  if (!whole->data || offset > whole->size || size > whole->size - offset)
    return (FlamDwarfPiece){ 0 };
  return (FlamDwarfPiece){ whole->data + offset, size };
}

gboolean
flam_dwarf_package_find (const FlamDwarfPackage *package,
                         guint64 id,
                         FlamDwarfPieces *pieces)
{
  const FlamDwarfPieces *whole = &package->whole;
  guint32 row;

  if (!find_row (package, id, &row))
    return FALSE;
  *pieces = (FlamDwarfPieces){ .strings = whole->strings };
  for (guint32 i = 0; i < package->n_columns; i++)
    {
      guint64 cell = (guint64)row * package->n_columns + i;
      guint64 offset = read_u32 (package->offsets, cell);
      guint64 size = read_u32 (package->sizes, cell);

      switch (read_u32 (package->columns, i))
        {
        case COLUMN_INFO:
          pieces->info = cut (&whole->info, offset, size);
          break;
        case COLUMN_ABBREV:
          pieces->abbrev = cut (&whole->abbrev, offset, size);
          break;
        case COLUMN_STR_OFFSETS:
          pieces->str_offsets = cut (&whole->str_offsets, offset, size);
          break;
        case COLUMN_RNGLISTS_5:
          if (package->version == 5)
            pieces->rnglists = cut (&whole->rnglists, offset, size);
          break;
        }
    }
  return pieces->info.data != NULL && pieces->abbrev.data != NULL;
}
