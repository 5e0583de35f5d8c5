/* SPDX-License-Identifier: GPL-3.0-or-later */

/* One builder's rows into another, table by table, those first that others
 * refer to:
 *
 *    other   strings  map   builder          other   functions   builder
 *    0 ""              0    0 ""             0  name 1 "main" -> name 7, is
 *    1 "main"          7    7 "main"                             there: 3
 *    2 "poll"         52    52 "poll", new   1  name 2 "poll" -> new: 9
 *
 * Rows of both keep their order, so that builders of the parts of a file, put
 * together in the order of the parts, are what one builder would have become
 * that was told all of it. */

#include "flam-builder-private.h"

static FlamId *
new_map (guint32 n)
{
  return g_new (FlamId, (gsize)n + 1);
}

static FlamId
follow (const FlamId *map, FlamId id)
{
  return id == FLAM_NONE ? FLAM_NONE : map[id];
}

static void
merge_strings (FlamBuilder *builder, const FlamStrings *from, FlamId *map)
{
  for (FlamId i = 0; i < from->offsets.n; i++)
    map[i] = flam_builder_string (builder, flam_strings_get (from, i), -1);
}

static void
merge_modules (FlamBuilder *builder,
               const FlamBuilder *other,
               const FlamMerged *merged)
{
  const FlamModules *from = &other->tables.profile.modules;
  const FlamStrings *strings = &other->tables.strings;

  for (FlamId i = 0; i < from->n; i++)
    {
      FlamId id =
          flam_builder_module (builder,
                               flam_strings_get (strings, from->path[i]),
                               flam_strings_get (strings, from->build_id[i]),
                               from->addressing[i]);

      merged->modules[i] = id;
      if (from->symbols[i] != FLAM_SYMBOLS_UNTRIED)
        flam_builder_set_module_symbols (
            builder,
            id,
            from->symbols[i],
            flam_strings_get (strings, from->why[i]));
    }
}

static void
merge_functions (FlamBuilder *builder,
                 const FlamFunctions *from,
                 const FlamMerged *merged)
{
  for (FlamId i = 0; i < from->n; i++)
    {
      FlamFunction function = {
        .name = merged->strings[from->name[i]],
        .system_name = merged->strings[from->system_name[i]],
        .file = merged->strings[from->file[i]],
        .module = follow (merged->modules, from->module[i]),
        .line = from->line[i],
        .kind = from->kind[i],
        .flags = from->flags[i],
      };

      merged->functions[i] = flam_builder_function (builder, &function);
    }
}

static void
merge_frames (FlamBuilder *builder,
              const FlamBuilder *other,
              const FlamMerged *merged)
{
  for (FlamId i = 0; i < other->tables.profile.frames.n; i++)
    {
      FlamRecordedFrame frame;

      flam_builder_get_recorded_frame (other, i, &frame);
      frame.module = follow (merged->modules, frame.module);
      frame.function = follow (merged->functions, frame.function);
      frame.file = follow (merged->strings, frame.file);
      merged->frames[i] = flam_builder_recorded_frame (builder, &frame);
    }
}

/* Only below a stack that was there before can one be that was: no two of the
 * other's are alike, so those that are new need not be known until all are
 * there. */
static void
merge_stacks (FlamBuilder *builder,
              const FlamStacks *from,
              const FlamMerged *merged)
{
  guint32 had = builder->tables.profile.stacks.n;

  for (FlamId i = 0; i < from->n; i++)
    {
      FlamId prefix = follow (merged->stacks, from->prefix[i]);
      FlamId frame = merged->frames[from->frame[i]];
      FlamId id = FLAM_NONE;

      if (prefix == FLAM_NONE || prefix < had)
        id = flam_builder_find_stack (builder, prefix, frame);
      merged->stacks[i] =
          id != FLAM_NONE ? id
                          : flam_builder_append_stack (builder, prefix, frame);
    }
  flam_builder_index_stacks (builder, had);
}

/* The last name stays, and so does the last parent. */
static void
merge_processes (FlamBuilder *builder,
                 const FlamBuilder *other,
                 const FlamMerged *merged)
{
  const FlamProcesses *from = &other->tables.profile.processes;
  FlamTables *tables = &builder->tables;

  for (FlamId i = 0; i < from->n; i++)
    {
      FlamId id = flam_builder_process (
          builder, from->pid[i], other->tables.process_generation[i]);

      merged->processes[i] = id;
      if (from->name[i] != 0)
        flam_cell (tables->profile.processes.name, FlamId, id) =
            merged->strings[from->name[i]];
    }
  for (FlamId i = 0; i < from->n; i++)
    if (from->parent[i] != FLAM_NONE)
      flam_builder_set_process_parent (
          builder, merged->processes[i], merged->processes[from->parent[i]]);
}

static void
merge_threads (FlamBuilder *builder,
               const FlamBuilder *other,
               const FlamMerged *merged)
{
  const FlamThreads *from = &other->tables.profile.threads;
  FlamTables *tables = &builder->tables;

  for (FlamId i = 0; i < from->n; i++)
    {
      gint64 keys[] = { merged->processes[from->process[i]],
                        from->tid[i],
                        other->tables.thread_generation[i],
                        merged->strings[other->tables.thread_key[i]] };
      FlamId id = flam_tables_intern (tables, FLAM_TABLE_THREADS, keys);

      merged->threads[i] = id;
      if (from->name[i] != 0)
        flam_cell (tables->profile.threads.name, FlamId, id) =
            merged->strings[from->name[i]];
    }
}

void
flam_builder_merge (FlamBuilder *builder,
                    const FlamBuilder *other,
                    FlamMerged *merged)
{
  const FlamTables *from = &other->tables;

  *merged = (FlamMerged){
    .strings = new_map (from->strings.offsets.n),
    .modules = new_map (from->profile.modules.n),
    .functions = new_map (from->profile.functions.n),
    .frames = new_map (from->profile.frames.n),
    .stacks = new_map (from->profile.stacks.n),
    .processes = new_map (from->profile.processes.n),
    .threads = new_map (from->profile.threads.n),
  };
  merge_strings (builder, &from->strings, merged->strings);
  merge_modules (builder, other, merged);
  merge_functions (builder, &from->profile.functions, merged);
  merge_frames (builder, other, merged);
  merge_stacks (builder, &from->profile.stacks, merged);
  merge_processes (builder, other, merged);
  merge_threads (builder, other, merged);
}

void
flam_merged_clear (FlamMerged *merged)
{
  g_free (merged->strings);
  g_free (merged->modules);
  g_free (merged->functions);
  g_free (merged->frames);
  g_free (merged->stacks);
  g_free (merged->processes);
  g_free (merged->threads);
}
