/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dwarf-index.h"

#include "flam-dwarf-end.h"
#include "flam-dwarf-unit.h"

#include <elfutils/libdwelf.h>
#include <string.h>

#define INLINE_DEPTH_MAX 1024
#define ORIGINS_MAX 16
#define UNITS_MAX (1 << 24)

/* The properties of a function, common to all places where it is inlined. */
typedef struct
{
  const char *name;
  gboolean linkage;
  const char *file;
  const char *directory;
  guint32 line;
} Function;

struct _FlamDwarfIndex
{
  const FlamElf *elf;
  Dwarf *dwarf;
  FlamDwarfSplit *split;
  FlamElf *supplement_elf; /* the file made by dwz, or NULL */
  Dwarf *supplement;
  GArray *units;      /* FlamDwarfUnit, ascending by offset */
  GArray *unranged;   /* units without address ranges */
  FlamIntervals map;  /* -> units */
  FlamIntervals late; /* the same for `unranged`, after their walk */
  gboolean late_done;
  GArray *functions;     /* Function */
  GHashTable *foreign;   /* Dwarf_CU of the supplement -> FlamDwarfUnit */
  GHashTable *by_origin; /* address of the origin's DIE -> function + 1 */
  GStringChunk *strings;
};

/* --- dwz ----------------------------------------------------------------- */

static char *
hex (const guint8 *bytes, gssize n)
{
  GString *text = g_string_new (NULL);

  for (gssize i = 0; i < n; i++)
    g_string_append_printf (text, "%02x", bytes[i]);
  return g_string_free (text, FALSE);
}

static gboolean
use_supplement (FlamDwarfIndex *index, const char *path, const char *build_id)
{
  FlamElf *elf = path ? flam_elf_open_named (path, NULL) : NULL;

  if (!elf)
    return FALSE;
  if (strcmp (flam_elf_get_build_id (elf), build_id) == 0)
    index->supplement =
        dwarf_begin_elf (flam_elf_get_handle (elf), DWARF_C_READ, NULL);
  if (!index->supplement)
    {
      flam_elf_free (elf);
      return FALSE;
    }
  index->supplement_elf = elf;
  dwarf_setalt (index->dwarf, index->supplement);
  return TRUE;
}

/* Data that dwz found in several debug files is in a supplementary file, named
 * by path and build id. */
static void
find_supplement (FlamDwarfIndex *index, const char *const *directories)
{
  const char *name = NULL;
  const void *id = NULL;
  gssize n = dwelf_dwarf_gnu_debugaltlink (index->dwarf, &name, &id);
  g_autofree char *build_id = NULL;
  g_autofree char *own = NULL;
  g_autofree char *base_lines = NULL;
  g_autofree char *system = NULL;

  if (n <= 0 || n > 64)
    return;
  build_id = hex (id, n);
  for (gsize i = 0; directories && directories[i]; i++)
    {
      g_autofree char *path =
          flam_debug_file_path (directories[i], build_id, ".debug");

      if (use_supplement (index, path, build_id))
        return;
    }
  own = g_path_get_dirname (flam_elf_get_path (index->elf));
  base_lines = g_path_is_absolute (name) ? g_strdup (name)
                                         : g_build_filename (own, name, NULL);
  system = flam_debug_file_path ("/usr/lib/debug", build_id, ".debug");
  if (!use_supplement (index, base_lines, build_id))
    use_supplement (index, system, build_id);
}

/* --- units --------------------------------------------------------------- */

static guint
add_unit_ranges (Dwarf_Die *die, guint32 unit, GArray *ranges, guint64 most)
{
  Dwarf_Addr base = 0;
  Dwarf_Addr start, end;
  ptrdiff_t at = 0;
  guint n = 0;

  while (n < most && (at = dwarf_ranges (die, at, &base, &start, &end)) > 0)
    if (flam_dwarf_range_is_live (start, end))
      {
        FlamInterval range = { start, end, unit };
        g_array_append_val (ranges, range);
        n++;
      }
  return n;
}

static void
add_unit (FlamDwarfIndex *index, Dwarf_CU *cu, Dwarf_Die *die, GArray *ranges)
{
  guint32 row = index->units->len;
  FlamDwarfUnit unit = {
    .cu = cu,
    .own = *die,
    .die = *die,
    .offset = dwarf_dieoffset (die),
  };

  if (add_unit_ranges (
          die, row, ranges, flam_dwarf_unit_length (die) + 65536) == 0)
    g_array_append_val (index->unranged, row);
  g_array_append_val (index->units, unit);
}

static void
read_units (FlamDwarfIndex *index)
{
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (FlamInterval));
  Dwarf_CU *cu = NULL;
  Dwarf_Die die;
  guint8 type;

  while (index->units->len < UNITS_MAX &&
         dwarf_get_units (index->dwarf, cu, &cu, NULL, &type, &die, NULL) == 0)
    if (type != DW_UT_type && type != DW_UT_split_type)
      add_unit (index, cu, &die, ranges);
  flam_intervals_init (&index->map, (FlamInterval *)ranges->data, ranges->len);
  g_array_free (ranges, TRUE);
}

static void
free_unit (gpointer data)
{
  flam_dwarf_unit_clear (data);
  g_free (data);
}

FlamDwarfIndex *
flam_dwarf_index_new (const FlamElf *elf,
                      const FlamElf *binary,
                      const char *const *directories)
{
  Dwarf *dwarf =
      dwarf_begin_elf (flam_elf_get_handle (elf), DWARF_C_READ, NULL);
  FlamDwarfIndex *index;

  if (!dwarf)
    return NULL;
  index = g_new0 (FlamDwarfIndex, 1);
  index->elf = elf;
  index->dwarf = dwarf;
  index->split = flam_dwarf_split_new (elf, dwarf, binary, directories);
  index->units = g_array_new (FALSE, FALSE, sizeof (FlamDwarfUnit));
  index->unranged = g_array_new (FALSE, FALSE, sizeof (guint32));
  index->functions = g_array_new (FALSE, FALSE, sizeof (Function));
  index->by_origin = g_hash_table_new (g_direct_hash, g_direct_equal);
  index->foreign = g_hash_table_new_full (NULL, NULL, NULL, free_unit);
  index->strings = g_string_chunk_new (4096);
  find_supplement (index, directories);
  read_units (index);
  return index;
}

void
flam_dwarf_index_free (FlamDwarfIndex *index)
{
  if (!index)
    return;
  for (guint i = 0; i < index->units->len; i++)
    flam_dwarf_unit_clear (&g_array_index (index->units, FlamDwarfUnit, i));
  flam_intervals_clear (&index->map);
  flam_intervals_clear (&index->late);
  g_array_free (index->units, TRUE);
  g_array_free (index->unranged, TRUE);
  g_array_free (index->functions, TRUE);
  g_hash_table_destroy (index->foreign);
  g_hash_table_destroy (index->by_origin);
  g_string_chunk_free (index->strings);
  flam_dwarf_split_free (index->split);
  dwarf_end (index->dwarf);
  if (index->supplement)
    dwarf_end (index->supplement);
  flam_elf_free (index->supplement_elf);
  g_free (index);
}

static FlamDwarfUnit *
get_unit (FlamDwarfIndex *index, guint32 row)
{
  return &g_array_index (index->units, FlamDwarfUnit, row);
}

/* An address in the ranges of no unit may be in a unit without ranges. */
static void
walk_unranged (FlamDwarfIndex *index)
{
  GArray *ranges = g_array_new (FALSE, FALSE, sizeof (FlamInterval));

  index->late_done = TRUE;
  for (guint i = 0; i < index->unranged->len; i++)
    {
      guint32 row = g_array_index (index->unranged, guint32, i);
      FlamDwarfUnit *unit = get_unit (index, row);

      flam_dwarf_unit_walk (unit, index->split);
      for (guint32 j = 0; j + 1 < unit->slices.n; j++)
        if (unit->slices.value[j] != FLAM_NONE)
          {
            FlamInterval range = { unit->slices.start[j],
                                   unit->slices.start[j + 1],
                                   row };
            g_array_append_val (ranges, range);
          }
    }
  flam_intervals_init (&index->late, (FlamInterval *)ranges->data, ranges->len);
  g_array_free (ranges, TRUE);
}

static FlamDwarfUnit *
find_unit (FlamDwarfIndex *index, guint64 vaddr)
{
  guint32 row = flam_intervals_find (&index->map, vaddr);

  if (row == FLAM_NONE && index->unranged->len > 0)
    {
      if (!index->late_done)
        walk_unranged (index);
      row = flam_intervals_find (&index->late, vaddr);
    }
  return row == FLAM_NONE ? NULL : get_unit (index, row);
}

/* --- names --------------------------------------------------------------- */

/* The DIE at the end of abstract_origin and specification: it has the name and
 * is in the scope of the function. */
static void
find_origin (Dwarf_Die *die)
{
  for (guint i = 0; i < ORIGINS_MAX; i++)
    {
      Dwarf_Attribute attribute;
      Dwarf_Die next;

      if (!dwarf_attr (die, DW_AT_abstract_origin, &attribute) &&
          !dwarf_attr (die, DW_AT_specification, &attribute))
        return;
      if (!dwarf_formref_die (&attribute, &next))
        return;
      *die = next;
    }
}

static FlamDwarfUnit *
foreign_unit (FlamDwarfIndex *index, Dwarf_CU *cu)
{
  FlamDwarfUnit *unit = g_hash_table_lookup (index->foreign, cu);

  if (unit)
    return unit;
  unit = g_new0 (FlamDwarfUnit, 1);
  unit->cu = cu;
  if (!dwarf_cu_die (cu, &unit->die, NULL, NULL, NULL, NULL, NULL, NULL))
    {
      g_free (unit);
      return NULL;
    }
  unit->own = unit->die;
  g_hash_table_insert (index->foreign, cu, unit);
  return unit;
}

static FlamDwarfUnit *
unit_of (FlamDwarfIndex *index, Dwarf_Die *die)
{
  Dwarf_Die owner;
  guint32 low = 0;
  guint32 high = index->units->len;

  if (dwarf_cu_getdwarf (die->cu) != index->dwarf)
    return foreign_unit (index, die->cu);
  if (!dwarf_diecu (die, &owner, NULL, NULL))
    return NULL;
  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;
      FlamDwarfUnit *unit = get_unit (index, middle);

      if (unit->offset == dwarf_dieoffset (&owner))
        return unit;
      if (unit->offset < dwarf_dieoffset (&owner))
        low = middle + 1;
      else
        high = middle;
    }
  return NULL;
}

static const char *
scoped_name (FlamDwarfIndex *index,
             FlamDwarfUnit *user,
             Dwarf_Die *origin,
             const char *name)
{
  FlamDwarfUnit *unit =
      origin->cu == user->die.cu ? user : unit_of (index, origin);
  g_autofree char *scope = NULL;
  g_autofree char *full = NULL;

  if (!unit)
    return name;
  flam_dwarf_unit_walk (unit, index->split);
  scope = flam_dwarf_unit_scope_of (unit, dwarf_dieoffset (origin));
  if (!*scope)
    return name;
  full = g_strconcat (scope, name, NULL);
  return g_string_chunk_insert_const (index->strings, full);
}

static void
name_function (FlamDwarfIndex *index,
               FlamDwarfUnit *unit,
               Dwarf_Die *die,
               Dwarf_Die *origin,
               Function *function)
{
  Dwarf_Attribute attribute;

  if (dwarf_attr_integrate (die, DW_AT_linkage_name, &attribute) ||
      dwarf_attr_integrate (die, DW_AT_MIPS_linkage_name, &attribute))
    function->name = dwarf_formstring (&attribute);
  function->linkage = function->name != NULL;
  if (!function->name)
    function->name = dwarf_diename (die);
  if (function->name && !function->linkage && unit->scoped)
    function->name = scoped_name (index, unit, origin, function->name);
}

/* A correct dwarf_decl_file(); that of libdw 0.188 asserts that a line table
 * was read, which fails for split DWARF 4 and for damaged files. The file table
 * is that of the unit with the attribute, which may differ from the unit of the
 * DIE. */
static void
locate_function (FlamDwarfUnit *unit, Dwarf_Die *die, Function *function)
{
  Dwarf_Attribute attribute;
  Dwarf_Word number = 0;
  Dwarf_Die owner;
  int line = 0;

  if (dwarf_decl_line (die, &line) == 0 && line > 0)
    function->line = (guint32)line;
  if (!dwarf_attr_integrate (die, DW_AT_decl_file, &attribute) ||
      dwarf_formudata (&attribute, &number) != 0)
    return;
  function->directory = unit->directory;
  owner = unit->own;
  if (attribute.cu != unit->die.cu &&
      !dwarf_cu_die (attribute.cu, &owner, NULL, NULL, NULL, NULL, NULL, NULL))
    return;
  function->file = flam_dwarf_file (&owner, number);
  if (attribute.cu != unit->die.cu &&
      dwarf_attr (&owner, DW_AT_comp_dir, &attribute))
    function->directory = dwarf_formstring (&attribute);
}

static FlamFunctionId
add_function (FlamDwarfIndex *index,
              FlamDwarfUnit *unit,
              Dwarf_Die *die,
              Dwarf_Die *origin)
{
  Function function = { 0 };

  name_function (index, unit, die, origin, &function);
  locate_function (unit, die, &function);
  g_array_append_val (index->functions, function);
  return index->functions->len - 1;
}

/* A function may be inlined in a thousand places; their common properties are
 * at its origin. A function that was not inlined may have a linkage name of its
 * own. */
static FlamFunctionId
resolve_function (FlamDwarfIndex *index,
                  FlamDwarfUnit *unit,
                  Dwarf_Die *die,
                  gboolean inlined)
{
  Dwarf_Die origin = *die;
  gpointer known;
  FlamId row;

  find_origin (&origin);
  if (!inlined)
    return add_function (index, unit, die, &origin);
  known = g_hash_table_lookup (index->by_origin, origin.addr);
  if (known)
    return GPOINTER_TO_UINT (known) - 1;
  row = add_function (index, unit, die, &origin);
  g_hash_table_insert (
      index->by_origin, origin.addr, GUINT_TO_POINTER (row + 1));
  return row;
}

static Dwarf_Word
constant (Dwarf_Die *die, guint name)
{
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;

  if (!dwarf_attr (die, name, &attribute) ||
      dwarf_formudata (&attribute, &value) != 0)
    return 0;
  return value;
}

static void
resolve_node (FlamDwarfIndex *index, FlamDwarfUnit *unit, FlamDwarfNode *node)
{
  Dwarf_Die die;

  if (node->function != FLAM_NONE)
    return;
  if (!dwarf_offdie (dwarf_cu_getdwarf (unit->die.cu), node->die, &die))
    return;
  node->function =
      resolve_function (index, unit, &die, node->parent != FLAM_NONE);
  if (node->parent == FLAM_NONE)
    return;
  node->call_line = (guint32)constant (&die, DW_AT_call_line);
  node->call_file =
      flam_dwarf_file (&unit->own, constant (&die, DW_AT_call_file));
}

/* --- look-up ------------------------------------------------------------- */

static void
find_line (FlamDwarfUnit *unit, guint64 vaddr, FlamDwarfFrame *frame)
{
  Dwarf_Line *line = dwarf_getsrc_die (&unit->own, vaddr);
  int number = 0;

  if (!line)
    return;
  frame->line_file = dwarf_linesrc (line, NULL, NULL);
  frame->line_directory = unit->directory;
  if (dwarf_lineno (line, &number) == 0 && number > 0)
    frame->line = (guint32)number;
}

static void
reverse (GArray *frames, guint from)
{
  FlamDwarfFrame *row = (FlamDwarfFrame *)frames->data;

  for (guint low = from, high = frames->len; low + 1 < high; low++)
    {
      FlamDwarfFrame swap = row[low];

      row[low] = row[--high];
      row[high] = swap;
    }
}

/* From the innermost outward: a frame's line is that of the address, or that of
 * the call of the previous frame. */
static void
append_chain (FlamDwarfIndex *index,
              FlamDwarfUnit *unit,
              FlamId innermost,
              FlamDwarfFrame frame,
              GArray *frames)
{
  guint from = frames->len;

  for (FlamId id = innermost;
       id != FLAM_NONE && frames->len - from < INLINE_DEPTH_MAX;
       id = unit->nodes[id].parent)
    {
      FlamDwarfNode *node = &unit->nodes[id];

      resolve_node (index, unit, node);
      if (node->function != FLAM_NONE)
        {
          const Function *function =
              &g_array_index (index->functions, Function, node->function);

          frame.name = function->name;
          frame.linkage = function->linkage;
          frame.file = function->file;
          frame.directory = function->directory;
          frame.first_line = function->line;
        }
      g_array_append_val (frames, frame);
      frame = (FlamDwarfFrame){ .line_file = node->call_file,
                                .line_directory = unit->directory,
                                .line = node->call_line };
    }
  reverse (frames, from);
}

gboolean
flam_dwarf_index_lookup (FlamDwarfIndex *index, guint64 vaddr, GArray *frames)
{
  FlamDwarfUnit *unit = find_unit (index, vaddr);
  FlamDwarfFrame frame = { 0 };
  FlamId innermost;

  if (!unit)
    return FALSE;
  flam_dwarf_unit_walk (unit, index->split);
  find_line (unit, vaddr, &frame);
  innermost = flam_intervals_find (&unit->slices, vaddr);
  if (innermost == FLAM_NONE && !frame.line_file)
    return FALSE;
  if (innermost == FLAM_NONE)
    g_array_append_val (frames, frame);
  else
    append_chain (index, unit, innermost, frame, frames);
  return TRUE;
}

guint
flam_dwarf_index_count (const FlamDwarfIndex *index, guint *walked)
{
  guint n = 0;

  for (guint i = 0; i < index->units->len; i++)
    n += g_array_index (index->units, FlamDwarfUnit, i).walked;
  if (walked)
    *walked = n;
  return index->units->len;
}

guint
flam_dwarf_index_count_missing (const FlamDwarfIndex *index)
{
  guint n = 0;

  for (guint i = 0; i < index->units->len; i++)
    n += g_array_index (index->units, FlamDwarfUnit, i).missing_split;
  return n;
}
