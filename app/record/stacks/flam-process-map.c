/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-process-map.h"

#include <string.h>

#include "flam-proc.h"

#define EVERY (100 * 1000000ll) /* ns */

static const FlamUnwindTable *
load_table (void *data, const FlamUnwindMap *mapped)
{
  return mapped->user != NULL ? flam_binary_get_unwind_table (mapped->user)
                              : NULL;
}

/* If a process has several interpreters, the last one is used. */
static void
set_python (FlamProcessMap *map, const FlamPythonInterpreter *interpreter)
{
  for (guint i = 0; i < map->pythons->len; i++)
    {
      const FlamPythonInterpreter *known = map->pythons->pdata[i];
      if (known->layout == interpreter->layout &&
          known->runtime == interpreter->runtime)
        {
          map->python = known;
          return;
        }
    }
  map->python = g_memdup2 (interpreter, sizeof *interpreter);
  g_ptr_array_add (map->pythons, (gpointer)map->python);
}

FlamProcessMap *
flam_process_map_new (pid_t pid, const FlamProcessMap *parent)
{
  FlamProcessMap *map = g_new0 (FlamProcessMap, 1);

  map->pid = map->tid = pid;
  map->process = FLAM_NONE;
  map->read_at = -1;
  map->every = EVERY;
  map->mappings = g_array_new (FALSE, FALSE, sizeof (FlamMapping));
  map->frames = g_hash_table_new (NULL, NULL);
  map->roots = g_hash_table_new (NULL, NULL);
  map->space = parent != NULL ? flam_unwind_space_copy (parent->space)
                              : flam_unwind_space_new ();
  flam_unwind_space_set_load (map->space, load_table, map);
  map->pythons = g_ptr_array_new_with_free_func (g_free);
  if (parent != NULL && parent->python != NULL)
    set_python (map, parent->python);
  return map;
}

void
flam_process_map_free (FlamProcessMap *map)
{
  flam_unwind_space_free (map->space);
  g_array_unref (map->mappings);
  g_free (map->maps);
  g_hash_table_unref (map->frames);
  g_hash_table_unref (map->roots);
  g_ptr_array_unref (map->pythons);
  g_free (map);
}

void
flam_process_map_reset (FlamProcessMap *map)
{
  flam_unwind_space_clear (map->space);
  g_array_set_size (map->mappings, 0);
  g_hash_table_remove_all (map->frames);
  g_hash_table_remove_all (map->roots);
  map->python = NULL;
  map->read_at = -1;
  map->pause = 0;
  map->program++;
}

/* Only executable mappings; the paths are terminated by NULs in the text. */
static GArray *
parse_maps (char *text)
{
  GArray *mappings = g_array_new (FALSE, FALSE, sizeof (FlamMapping));
  const char *at = text, *end = text + strlen (text);
  FlamMapping mapping;

  while (flam_mapping_next (&at, end, &mapping))
    if (mapping.executable)
      {
        text[mapping.path + mapping.length - text] = '\0';
        if (strcmp (mapping.path, "[vsyscall]") != 0)
          g_array_append_val (mappings, mapping);
      }
  return mappings;
}

static gboolean
mappings_equal (const GArray *a, const GArray *b)
{
  if (a->len != b->len)
    return FALSE;
  for (guint i = 0; i < a->len; i++)
    {
      const FlamMapping *x = &g_array_index (a, FlamMapping, i);
      const FlamMapping *y = &g_array_index (b, FlamMapping, i);
      if (x->start != y->start || x->end != y->end || x->offset != y->offset ||
          x->inode != y->inode || strcmp (x->path, y->path) != 0)
        return FALSE;
    }
  return TRUE;
}

static void
note_python (FlamProcessMap *map,
             const FlamMapping *mapping,
             const FlamBinary *binary)
{
  if (binary->python != NULL && binary->python->why == NULL)
    set_python (map,
                &(FlamPythonInterpreter){ &binary->python->layout,
                                          mapping->start - mapping->offset -
                                              binary->code_bias +
                                              binary->python->runtime });
}

static void
fill_space (FlamProcessMap *map, FlamBinaryTable *binaries)
{
  flam_unwind_space_clear (map->space);
  g_hash_table_remove_all (map->frames);
  g_hash_table_remove_all (map->roots);
  map->python = NULL;
  for (guint i = 0; i < map->mappings->len; i++)
    {
      FlamMapping *mapping = &g_array_index (map->mappings, FlamMapping, i);
      FlamBinary *binary =
          flam_binary_table_get (binaries, map->pid, map->tid, mapping);
      flam_unwind_space_add (map->space,
                             mapping->start,
                             mapping->end,
                             mapping->offset,
                             binary->table,
                             binary);
      note_python (map, mapping, binary);
    }
}

gboolean
flam_process_map_set_maps (FlamProcessMap *map,
                           FlamBinaryTable *binaries,
                           const char *text,
                           gint64 now)
{
  g_autofree char *copy = g_strdup (text);
  g_autoptr (GArray) mappings = parse_maps (copy);

  map->read_at = now;
  if (mappings->len == 0 || mappings_equal (mappings, map->mappings))
    return FALSE;
  g_array_unref (map->mappings);
  g_free (map->maps);
  map->mappings = g_steal_pointer (&mappings);
  map->maps = g_steal_pointer (&copy);
  fill_space (map, binaries);
  return TRUE;
}

/* Whether it still runs the program of the messages so far: another program's
 * maps would not match this one's stacks. */
static gboolean
is_same_program (const FlamProcessMap *map)
{
  return map->hint_program == NULL ||
         (guint)g_atomic_int_get (map->hint_program) == map->program;
}

gboolean
flam_process_map_refresh (FlamProcessMap *map,
                          FlamBinaryTable *binaries,
                          gint64 now)
{
  gint64 began = g_get_monotonic_time ();
  g_autofree char *text = is_same_program (map)
                              ? flam_proc_text (map->pid, map->tid, "maps")
                              : NULL;
  gboolean changed;

  map->read_at = now;
  map->gone = text == NULL || !is_same_program (map);
  changed = !map->gone && flam_process_map_set_maps (map, binaries, text, now);
  map->every = MAX (EVERY, 100 * 1000 * (g_get_monotonic_time () - began));
  return changed;
}

FlamId
flam_process_map_frame (FlamProcessMap *map, FlamBuilder *builder, guint64 pc)
{
  FlamRecordedFrame frame = {
    .file = FLAM_NONE, .module = FLAM_NONE, .address = pc, .function = FLAM_NONE
  };
  gpointer found = g_hash_table_lookup (map->frames, GSIZE_TO_POINTER (pc));
  const FlamUnwindMap *mapped;
  FlamId id;

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  mapped = flam_unwind_space_find (map->space, pc);
  if (mapped != NULL && mapped->user != NULL)
    {
      const FlamBinary *binary = mapped->user;
      frame.module = binary->id;
      if (binary->kind != FLAM_BINARY_ANONYMOUS)
        frame.address = pc - mapped->start + mapped->offset;
    }
  id = flam_builder_recorded_frame (builder, &frame);
  g_hash_table_insert (
      map->frames, GSIZE_TO_POINTER (pc), GUINT_TO_POINTER (id + 1));
  return id;
}
