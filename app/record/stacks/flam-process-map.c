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
  map->runtimes = flam_runtime_processes_new (pid);
  map->names = flam_runtime_names_new ();
  map->threads = flam_runtime_threads_new (pid);
  if (parent != NULL)
    flam_runtime_processes_inherit (map->runtimes, parent->runtimes);
  return map;
}

void
flam_process_map_free (FlamProcessMap *map)
{
  flam_unwind_space_free (map->space);
  g_array_unref (map->mappings);
  g_clear_pointer (&map->children, g_hash_table_unref);
  g_clear_pointer (&map->siblings, g_hash_table_unref);
  g_free (map->maps);
  g_free (map->folder);
  g_hash_table_unref (map->frames);
  g_hash_table_unref (map->roots);
  flam_runtime_processes_free (map->runtimes);
  flam_runtime_names_free (map->names);
  flam_runtime_threads_free (map->threads);
  g_free (map);
}

void
flam_process_map_reset (FlamProcessMap *map)
{
  flam_unwind_space_clear (map->space);
  g_array_set_size (map->mappings, 0);
  g_hash_table_remove_all (map->frames);
  g_hash_table_remove_all (map->roots);
  flam_runtime_processes_forget (map->runtimes);
  flam_runtime_names_free (map->names);
  map->names = flam_runtime_names_new ();
  flam_runtime_threads_free (map->threads);
  map->threads = flam_runtime_threads_new (map->pid);
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
note_runtimes (FlamProcessMap *map,
               const FlamMapping *mapping,
               const FlamBinary *binary)
{
  guint n = binary->runtimes != NULL ? binary->runtimes->len : 0;

  for (guint i = 0; i < n; i++)
    flam_runtime_processes_note (map->runtimes,
                                 g_ptr_array_index (binary->runtimes, i),
                                 mapping->start - mapping->offset -
                                     binary->code_bias);
}

gboolean
flam_process_map_is_current (const FlamProcessMap *map)
{
  return map->hint_program == NULL ||
         (guint)g_atomic_int_get (map->hint_program) == map->program;
}

/* Returns whether others are open now. */
static gboolean
open_runtimes (FlamProcessMap *map, FlamBinaryTable *binaries, gint64 now)
{
  return flam_process_map_is_current (map) &&
         flam_runtime_processes_open (
             map->runtimes, map->tid, now, flam_binary_table_refuse, binaries);
}

static void
claim_range (FlamProcessMap *map, const FlamRuntimeProcess *process)
{
  const FlamRuntimeRange *range = &process->file->stepped;

  if (range->end > range->start)
    flam_unwind_space_claim (map->space,
                             process->base + range->start,
                             process->base + range->end,
                             (gpointer)process,
                             FALSE);
}

/* The code that is managed, and the mappings that contain it, are followed by
 * the runtime's reader. */
static void
claim_mappings (FlamProcessMap *map)
{
  const FlamRuntimeSet *set = flam_runtime_processes_get (map->runtimes);

  for (guint i = 0; set != NULL && i < set->n; i++)
    {
      const FlamRuntime *runtime = set->items[i]->runtime;

      claim_range (map, set->items[i]);
      for (guint j = 0; j < map->mappings->len && runtime->claims != NULL &&
                        runtime->step != NULL;
           j++)
        {
          const FlamMapping *mapping =
              &g_array_index (map->mappings, FlamMapping, j);

          if (runtime->claims (
                  set->items[i], mapping->start, mapping->end, mapping->path))
            flam_unwind_space_claim (map->space,
                                     mapping->start,
                                     mapping->end,
                                     (gpointer)set->items[i],
                                     runtime->claims_uncovered);
        }
    }
}

static void
fill_space (FlamProcessMap *map, FlamBinaryTable *binaries, gint64 now)
{
  flam_unwind_space_clear (map->space);
  g_hash_table_remove_all (map->frames);
  g_hash_table_remove_all (map->roots);
  flam_runtime_processes_begin (map->runtimes);
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
      note_runtimes (map, mapping, binary);
    }
  open_runtimes (map, binaries, now);
  claim_mappings (map);
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
  fill_space (map, binaries, now);
  return TRUE;
}

gboolean
flam_process_map_refresh (FlamProcessMap *map,
                          FlamBinaryTable *binaries,
                          gint64 now)
{
  gint64 began = g_get_monotonic_time ();
  g_autofree char *text = flam_process_map_is_current (map)
                              ? flam_proc_text (map->pid, map->tid, "maps")
                              : NULL;
  gboolean changed;

  map->read_at = now;
  map->gone = text == NULL || !flam_process_map_is_current (map);
  changed = !map->gone && flam_process_map_set_maps (map, binaries, text, now);
  map->every = MAX (EVERY, 100 * 1000 * (g_get_monotonic_time () - began));
  return changed;
}

const FlamRuntimeSet *
flam_process_map_runtimes (FlamProcessMap *map,
                           FlamBinaryTable *binaries,
                           gint64 now)
{
  if (open_runtimes (map, binaries, now))
    claim_mappings (map);
  return flam_runtime_processes_get (map->runtimes);
}

FlamFrameId
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
