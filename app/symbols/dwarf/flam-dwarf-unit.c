/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-dwarf-unit.h"

#include "flam-dwarf-end.h"

#include <string.h>

/* Deeper than the output of any compiler; the walk of a deeper unit ends
 * here. */
#define DEPTH_MAX 128
#define SCOPE_DEPTH_MAX 64
/* Not in the header of the oldest supported libdw. */
#define LANG_C17 0x2c

typedef struct
{
  Dwarf_Die die;
  FlamNodeId node;
  FlamId scope;
} Level;

typedef struct
{
  FlamDwarfUnit *unit;
  GArray *nodes;
  GArray *scopes;
  GArray *ranges;
  guint64 ranges_max;
  const guint8 *unit_end; /* NULL: unknown */
  Level levels[DEPTH_MAX];
  guint depth;
} Walk;

gboolean
flam_dwarf_range_is_live (Dwarf_Addr start, Dwarf_Addr end)
{
  return start != 0 && start < end && end != G_MAXUINT64;
}

/* The unit's length is an upper bound of the ranges it can describe without
 * sharing, which limits the multiplication by sharing. */
static gboolean
add_ranges (Walk *walk, Dwarf_Die *die, FlamNodeId node)
{
  Dwarf_Addr base = 0;
  Dwarf_Addr start, end;
  ptrdiff_t at = 0;
  gboolean any = FALSE;

  while (walk->ranges->len < walk->ranges_max &&
         (at = dwarf_ranges (die, at, &base, &start, &end)) > 0)
    if (flam_dwarf_range_is_live (start, end))
      {
        FlamInterval range = { start, end, node };
        g_array_append_val (walk->ranges, range);
        any = TRUE;
      }
  return any;
}

static FlamNodeId
add_node (Walk *walk, Dwarf_Die *die, FlamId parent)
{
  FlamId id = walk->nodes->len;
  FlamDwarfNode node = {
    .die = dwarf_dieoffset (die),
    .parent = parent,
    .function = FLAM_NONE,
  };

  if (!add_ranges (walk, die, id))
    return FLAM_NONE;
  g_array_append_val (walk->nodes, node);
  return id;
}

static FlamId
add_scope (Walk *walk, Dwarf_Die *die, FlamId parent)
{
  FlamDwarfScope scope = { dwarf_dieoffset (die), parent };

  if (!walk->unit->scoped)
    return FLAM_NONE;
  g_array_append_val (walk->scopes, scope);
  return walk->scopes->len - 1;
}

/* Records the DIE on top, and returns whether there may be code below it; sets
 * `level` to the level of its children. */
static gboolean
visit (Walk *walk, Level *level)
{
  switch (dwarf_tag (&level->die))
    {
    case DW_TAG_subprogram:
      level->scope = add_scope (walk, &level->die, level->scope);
      level->node = add_node (walk, &level->die, FLAM_NONE);
      return TRUE;
    case DW_TAG_inlined_subroutine:
      if (level->node == FLAM_NONE)
        return FALSE;
      level->node = add_node (walk, &level->die, level->node);
      return level->node != FLAM_NONE;
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_common_block:
      return TRUE;
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:
      level->scope = add_scope (walk, &level->die, level->scope);
      return walk->unit->scoped;
    default:
      return FALSE;
    }
}

/* The content at `end`, the end of the DIE before: 0 a DIE, 1 the end of the
 * list, -1 the end of the unit. */
static int
die_at (const Walk *walk, const guint8 *end, Dwarf_Die *next)
{
  if (end >= walk->unit_end)
    return -1;
  if (*end == 0)
    return 1;
  *next = (Dwarf_Die){ .addr = (void *)end, .cu = walk->unit->die.cu };
  return 0;
}

/* The end of the DIE whose list of children ends with `die`. */
static const guint8 *
list_end (const Walk *walk, Dwarf_Die *die)
{
  const guint8 *end = walk->unit_end && dwarf_haschildren (die) == 0
                          ? flam_dwarf_end (die)
                          : NULL;

  return end && end < walk->unit_end && *end == 0 ? end + 1 : NULL;
}

/* In a valid file DIEs are visited in ascending order. A DIE that leads
 * backward would make the walk endless. */
static gboolean
next_die (Walk *walk, const void *last)
{
  const guint8 *end = NULL; /* of the DIE on top, if it is known */

  for (; walk->depth > 0; walk->depth--)
    {
      Dwarf_Die *die = &walk->levels[walk->depth - 1].die;
      Dwarf_Die next;
      int what = end ? die_at (walk, end, &next) : dwarf_siblingof (die, &next);

      if (what == 0 && next.addr > last)
        {
          *die = next;
          return TRUE;
        }
      if (what != 1)
        end = NULL;
      else
        end = end ? end + 1 : list_end (walk, die);
    }
  return FALSE;
}

static void
walk_dies (Walk *walk)
{
  const void *last = walk->unit->die.addr;

  if (dwarf_child (&walk->unit->die, &walk->levels[0].die) != 0)
    return;
  walk->levels[0].node = FLAM_NONE;
  walk->levels[0].scope = FLAM_NONE;
  walk->depth = 1;
  do
    {
      Level level = walk->levels[walk->depth - 1];
      Level *child = &walk->levels[walk->depth];

      last = MAX (last, (const void *)level.die.addr);
      while (visit (walk, &level))
        {
          if (walk->depth == DEPTH_MAX)
            return;
          if (dwarf_child (&level.die, &child->die) != 0 ||
              (const void *)child->die.addr <= last)
            break;
          child->node = level.node;
          child->scope = level.scope;
          walk->depth++;
          level = *child;
          last = level.die.addr;
          child++;
        }
    }
  while (next_die (walk, last));
}

static gboolean
language_has_scopes (Dwarf_Die *die)
{
  switch (dwarf_srclang (die))
    {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case LANG_C17:
    case DW_LANG_Mips_Assembler:
    case DW_LANG_Go:
      return FALSE;
    default:
      return TRUE;
    }
}

static const char *
compilation_directory (Dwarf_Die *die)
{
  Dwarf_Attribute attribute;

  if (!dwarf_attr (die, DW_AT_comp_dir, &attribute))
    return NULL;
  return dwarf_formstring (&attribute);
}

void
flam_dwarf_unit_walk (FlamDwarfUnit *unit, FlamDwarfSplit *split)
{
  Walk *walk;

  if (unit->walked)
    return;
  unit->walked = TRUE;
  unit->directory = compilation_directory (&unit->own);
  unit->missing_split = !flam_dwarf_split_find (split, unit->cu, &unit->die);
  unit->scoped = language_has_scopes (&unit->die);
  walk = g_new0 (Walk, 1);
  walk->unit = unit;
  walk->ranges_max = flam_dwarf_unit_length (&unit->die) + 65536;
  walk->unit_end = flam_dwarf_unit_end (&unit->die);
  walk->nodes = g_array_new (FALSE, FALSE, sizeof (FlamDwarfNode));
  walk->scopes = g_array_new (FALSE, FALSE, sizeof (FlamDwarfScope));
  walk->ranges = g_array_new (FALSE, FALSE, sizeof (FlamInterval));
  walk_dies (walk);
  flam_intervals_init (
      &unit->slices, (FlamInterval *)walk->ranges->data, walk->ranges->len);
  unit->n_nodes = walk->nodes->len;
  unit->n_scopes = walk->scopes->len;
  unit->nodes = (FlamDwarfNode *)g_array_free (walk->nodes, FALSE);
  unit->scopes = (FlamDwarfScope *)g_array_free (walk->scopes, FALSE);
  g_array_free (walk->ranges, TRUE);
  g_free (walk);
}

void
flam_dwarf_unit_clear (FlamDwarfUnit *unit)
{
  flam_intervals_clear (&unit->slices);
  g_clear_pointer (&unit->nodes, g_free);
  g_clear_pointer (&unit->scopes, g_free);
}

const char *
flam_dwarf_file (Dwarf_Die *unit, Dwarf_Word number)
{
  Dwarf_Files *files;
  size_t n;

  if (dwarf_getsrcfiles (unit, &files, &n) != 0 || number >= n)
    return NULL;
  return dwarf_filesrc (files, number, NULL, NULL);
}

static FlamId
find_scope (const FlamDwarfUnit *unit, Dwarf_Off die)
{
  guint32 low = 0;
  guint32 high = unit->n_scopes;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if (unit->scopes[middle].die == die)
        return middle;
      if (unit->scopes[middle].die < die)
        low = middle + 1;
      else
        high = middle;
    }
  return FLAM_NONE;
}

static void
prepend_scope (GString *text, Dwarf_Die *die, gboolean called)
{
  const char *name = dwarf_diename (die);

  if (!name && dwarf_tag (die) == DW_TAG_namespace)
    name = "(anonymous namespace)";
  if (!name)
    name = called ? "{lambda}" : "{unnamed type}";
  g_string_prepend (text, "::");
  g_string_prepend (text, name);
}

/* An unnamed class with a call operator is a lambda. */
static gboolean
is_call_operator (Dwarf *dwarf, Dwarf_Off offset)
{
  Dwarf_Die die;
  const char *name =
      dwarf_offdie (dwarf, offset, &die) ? dwarf_diename (&die) : NULL;

  return name && strncmp (name, "operator()", 10) == 0;
}

char *
flam_dwarf_unit_scope_of (const FlamDwarfUnit *unit, Dwarf_Off die)
{
  GString *text = g_string_new (NULL);
  FlamId scope = find_scope (unit, die);
  Dwarf *dwarf = dwarf_cu_getdwarf (unit->die.cu);
  gboolean called = is_call_operator (dwarf, die);

  for (guint i = 0; scope != FLAM_NONE && i < SCOPE_DEPTH_MAX; i++)
    {
      Dwarf_Die parent;

      scope = unit->scopes[scope].parent;
      if (scope == FLAM_NONE ||
          !dwarf_offdie (dwarf, unit->scopes[scope].die, &parent))
        break;
      prepend_scope (text, &parent, called && i == 0);
    }
  return g_string_free (text, FALSE);
}
