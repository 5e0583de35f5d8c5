/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The inlined functions in Go's table of functions. A pc table of the function
 * has the index of the inlined function; its name and the position of the call
 * are in a tree outside the table.
 *
 *   runtime.moduledata                          go:func.*, in .rodata
 *   +------------------------+                  +------------------+
 *   | address of the table   |             +--> | tree of one      |
 *   | slices of its parts    |             |    |   function:      |
 *   | ... text ...           |   + offset  |    |   calls, 20 or   |
 *   | address of go:func.*   | ------------+    |   16 bytes each  |
 *   +------------------------+                  +------------------+
 *
 * A program without symbols has no name for moduledata: it is found by the
 * address of the table, with which it begins. */

#include "flam-go-private.h"

#include <string.h>

/* Indices of pointers in moduledata. */
#define MODULE_NAMES 1
#define MODULE_TEXT 22
#define MODULE_CALLS_1_18 38
#define MODULE_CALLS_1_20 40
/* Indices of a record's pc tables and of its other data. */
#define PC_TABLE_CALL 2
#define DATA_CALLS 3
#define NO_DATA G_MAXUINT32
/* Number of functions whose trees are checked before all of them are
 * trusted. */
#define TRIES_MAX 64

/* --- the program's data --------------------------------------------------- */

/* The `size` bytes of the file's contents at `vaddr`. */
static const guint8 *
find_bytes (const FlamElf *elf, guint64 vaddr, gsize size)
{
  guint n;
  const FlamElfSegment *segments = flam_elf_get_segments (elf, &n);
  gsize length = 0;
  const char *file = elf_rawfile (flam_elf_get_handle (elf), &length);

  for (guint i = 0; file != NULL && i < n; i++)
    {
      guint64 at = vaddr - segments[i].vaddr;

      if (vaddr < segments[i].vaddr || segments[i].file_size < size ||
          at > segments[i].file_size - size)
        continue;
      if (segments[i].offset > length || length - segments[i].offset < size ||
          at > length - segments[i].offset - size)
        return NULL;
      return (const guint8 *)file + segments[i].offset + at;
    }
  return NULL;
}

/* 8 bytes each: the trees of 32-bit programs are not searched. */
static guint64
read_pointer (const FlamGoTable *table, guint64 vaddr)
{
  const guint8 *bytes = find_bytes (table->elf, vaddr, 8);
  guint64 value = 0;

  if (bytes != NULL)
    memcpy (&value, bytes, 8);
  value = table->big_endian ? GUINT64_FROM_BE (value) : GUINT64_FROM_LE (value);
  return value != 0 ? value : flam_go_find_relocation (table->elf, vaddr);
}

/* --- moduledata ----------------------------------------------------------- */

static gboolean
is_module (const FlamGoTable *table, guint64 vaddr)
{
  return read_pointer (table, vaddr + 8 * MODULE_NAMES) ==
             table->vaddr + table->names &&
         read_pointer (table, vaddr + 8 * MODULE_TEXT) == table->text;
}

/* In programs at a fixed address, or whose linker wrote the address there. */
static guint64
find_in_data (const FlamGoTable *table)
{
  static const char *const names[] = {
    ".noptrdata", ".go.module", ".data", ".data.rel.ro"
  };
  guint tries = 0;

  for (guint i = 0; i < G_N_ELEMENTS (names); i++)
    {
      FlamElfSection section;

      if (!flam_elf_get_section (table->elf, names[i], &section) ||
          section.data == NULL)
        continue;
      for (gsize at = 0; at + 8 <= section.size && tries < TRIES_MAX; at += 8)
        {
          guint64 value;

          memcpy (&value, section.data + at, 8);
          value = table->big_endian ? GUINT64_FROM_BE (value)
                                    : GUINT64_FROM_LE (value);
          if (value != table->vaddr)
            continue;
          if (is_module (table, section.vaddr + at))
            return section.vaddr + at;
          tries++;
        }
    }
  return 0;
}

typedef struct
{
  const FlamGoTable *table;
  guint tries;
} ModuleSearch;

static gboolean
is_module_at (const GElf_Rela *relocation, gpointer user_data)
{
  ModuleSearch *search = user_data;

  return (guint64)relocation->r_addend == search->table->vaddr &&
         search->tries++ < TRIES_MAX &&
         is_module (search->table, relocation->r_offset);
}

static guint64
find_in_relocations (const FlamGoTable *table)
{
  ModuleSearch search = { .table = table };
  GElf_Rela found;

  return flam_go_seek_relocation (table->elf, is_module_at, &search, &found)
             ? found.r_offset
             : 0;
}

/* --- trees ---------------------------------------------------------------- */

static guint
first_pc_table (const FlamGoTable *table)
{
  return table->layout == FLAM_GO_1_20 ? FLAM_GO_FIELD_FIRST_LINE + 2
                                       : FLAM_GO_FIELD_UNIT + 2;
}

/* FALSE: nothing is inlined in this function. */
static gboolean
find_tree (const FlamGoTable *table,
           guint64 record,
           guint32 *pc_table,
           guint64 *tree)
{
  guint first = first_pc_table (table);
  guint32 n_tables, counts, offset;

  if (!flam_go_read_field (
          table, record, FLAM_GO_FIELD_N_PC_TABLES, &n_tables) ||
      n_tables <= PC_TABLE_CALL || n_tables > G_MAXUINT8 ||
      !flam_go_read_field (table, record, first - 1, &counts) ||
      (table->big_endian ? counts & 0xff : counts >> 24) <= DATA_CALLS ||
      !flam_go_read_field (table, record, first + PC_TABLE_CALL, pc_table) ||
      *pc_table == 0 ||
      !flam_go_read_field (
          table, record, first + n_tables + DATA_CALLS, &offset) ||
      offset == NO_DATA)
    return FALSE;
  *tree = table->calls + offset;
  return TRUE;
}

static guint32
number_at (const FlamGoTable *table, const guint8 *bytes)
{
  guint32 value;

  memcpy (&value, bytes, 4);
  return table->big_endian ? GUINT32_FROM_BE (value) : GUINT32_FROM_LE (value);
}

static gboolean
read_call (const FlamGoTable *table,
           guint64 tree,
           guint32 index,
           FlamGoCall *call)
{
  gboolean new = table->layout == FLAM_GO_1_20;
  guint size = new ? 16 : 20;
  const guint8 *bytes =
      find_bytes (table->elf, tree + (guint64)index * size, size);
  guint32 name;

  if (bytes == NULL)
    return FALSE;
  name = number_at (table, bytes + (new ? 4 : 12));
  call->name = flam_go_read_text (table, table->names + name);
  call->parent = number_at (table, bytes + (new ? 8 : 16));
  call->first_line = new ? number_at (table, bytes + 12) : 0;
  if (call->first_line > G_MAXINT32)
    call->first_line = 0;
  return call->name != NULL && *call->name != '\0';
}

gboolean
flam_go_find_call (const FlamGoTable *table,
                   guint64 record,
                   guint64 offset,
                   FlamGoCall *call)
{
  guint32 pc_table, index;
  guint64 tree;

  return table->calls != 0 && find_tree (table, record, &pc_table, &tree) &&
         flam_go_find_value (table, pc_table, offset, &index) &&
         index <= G_MAXUINT16 && read_call (table, tree, index, call);
}

/* A tree begins with a call whose name is a complete name of the table and
 * whose position is in the function. */
static gboolean
is_tree (const FlamGoTable *table, guint32 i, guint64 tree)
{
  const FlamGoFunction *function = &table->functions[i];
  FlamGoCall call;

  return read_call (table, tree, 0, &call) &&
         ((const guint8 *)call.name == table->data + table->names ||
          call.name[-1] == '\0') &&
         call.parent < function->end - function->start;
}

void
flam_go_find_calls (FlamGoTable *table)
{
  guint64 module;
  guint tries = 0;

  if (table->layout < FLAM_GO_1_18 || table->word_size != 8)
    return;
  module = find_in_data (table);
  if (module == 0)
    module = find_in_relocations (table);
  if (module == 0)
    return;
  table->calls = read_pointer (table,
                               module + 8 * (table->layout == FLAM_GO_1_20
                                                 ? MODULE_CALLS_1_20
                                                 : MODULE_CALLS_1_18));
  for (guint32 i = 0; i < table->n && tries < TRIES_MAX; i++)
    {
      guint32 pc_table;
      guint64 tree;

      if (!find_tree (table, table->record[i], &pc_table, &tree))
        continue;
      if (!is_tree (table, i, tree))
        table->calls = 0;
      tries++;
    }
}

gboolean
flam_go_table_has_inlined (const FlamGoTable *table)
{
  return table->calls != 0;
}
