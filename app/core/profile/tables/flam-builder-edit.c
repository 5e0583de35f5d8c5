/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A builder that begins with the rows of a profile, under the same ids. */

#include "flam-builder-private.h"

#include <string.h>

/* Copies the columns of a table that a profile has; the others are 0. */
static void
copy_table (FlamTables *tables, FlamTable table, const FlamProfile *profile)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  guint32 n = *(const guint32 *)((const char *)profile + infos->offset);

  flam_tables_reserve (tables, table, n);
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];
      gpointer *to = flam_tables_array (tables, info);
      gconstpointer from = info->offset < sizeof (FlamProfile)
                               ? *(gpointer *)((char *)profile + info->offset)
                               : NULL;

      if (from != NULL)
        flam_tables_begin (tables, table, info);
      if (from != NULL && n > 0)
        memcpy (*to, from, (gsize)n * info->size);
      else if (*to != NULL)
        memset (*to, 0, (gsize)n * info->size);
    }
  *flam_tables_n (tables, table) = n;
}

static void
copy_frames (FlamBuilder *builder, const FlamProfile *profile)
{
  FlamTables *tables = &builder->tables;

  for (FlamId i = 0; i < flam_profile_n_strings (profile); i++)
    flam_builder_string (builder, flam_profile_string (profile, i), -1);
  for (guint t = FLAM_TABLE_MODULES; t <= FLAM_TABLE_FRAMES; t++)
    copy_table (tables, t, profile);
  for (FlamId i = 0; i < profile->frames.n; i++)
    cells (builder, FlamId, frame_module)[i] = FLAM_NONE;
}

/* --- editing ---------------------------------------------------------------
 */

FlamBuilder *
flam_builder_new_edit (const FlamProfile *profile)
{
  FlamBuilder *builder = flam_builder_new ();
  guint32 n_frames = profile->frames.n;
  g_autofree FlamId *same = g_new (
      FlamId,
      MAX (MAX (profile->modules.n, profile->functions.n), n_frames) + 1);

  builder->base = flam_profile_ref (profile);
  copy_frames (builder, profile);
  for (guint t = FLAM_TABLE_MODULES; t <= FLAM_TABLE_FRAMES; t++)
    flam_tables_intern_rows (&builder->tables, t, 0, same);
  g_assert (builder->tables.profile.frames.n == n_frames);
  flam_column_init (&builder->chain_first, sizeof (guint64));
  flam_column_init (&builder->chain_length, sizeof (guint32));
  flam_column_init (&builder->chains, sizeof (FlamId));
  flam_column_backfill (&builder->chain_first, n_frames);
  flam_column_backfill (&builder->chain_length, n_frames);
  for (guint i = 0; profile->facts.warnings[i] != NULL; i++)
    flam_builder_warn (builder, "%s", profile->facts.warnings[i]);
  return builder;
}

void
flam_builder_replace_frame (FlamBuilder *builder,
                            FlamFrameId frame,
                            const FlamId *chain,
                            guint n)
{
  g_assert (builder->base != NULL && n > 0);
  g_assert (frame < builder->chain_first.n);
  flam_column_at (&builder->chain_first, guint64, frame) = builder->chains.n;
  flam_column_at (&builder->chain_length, guint32, frame) = n;
  for (guint i = 0; i < n; i++)
    {
      g_assert (chain[i] < builder->tables.profile.frames.n);
      flam_column_append (&builder->chains, FlamId, chain[i]);
    }
}

/* --- writing ---------------------------------------------------------------
 */

/* Not even cut out of its module: "[module]". */
static gboolean
is_mere_address (const FlamProfile *profile, FlamFunctionId function)
{
  return profile->functions.kind[function] == FLAM_KIND_UNRESOLVED &&
         *flam_profile_function_name (profile, function) == '[';
}

/* An address without a name is written as an address, to be named later. */
static void
note_frames (FlamBuilder *builder, const FlamProfile *profile)
{
  const FlamFunctions *functions = &profile->functions;

  for (FlamId i = 0; i < profile->frames.n; i++)
    {
      FlamFunctionId function = profile->frames.function[i];

      cells (builder, FlamId, frame_module)[i] = functions->module[function];
      if (is_mere_address (profile, function))
        cells (builder, FlamId, profile.frames.function)[i] = FLAM_NONE;
      if (profile->frames.file[i] == functions->file[function])
        cells (builder, FlamId, profile.frames.file)[i] = FLAM_NONE;
    }
}

static void
note_modules (FlamBuilder *builder, const FlamModules *modules)
{
  for (FlamId i = 0; i < modules->n; i++)
    flam_tables_add (&builder->tables,
                     FLAM_TABLE_MODULE_SYMBOLS,
                     (gint64[]){ i, modules->symbols[i], modules->why[i] });
}

/* In files, parents come before their children: processes without parents come
 * first, in as many rounds as the hierarchy has levels. Rows keep the profile's
 * order if parents already come first, which is usual. */
static FlamId *
note_processes (FlamBuilder *builder, const FlamProcesses *processes)
{
  FlamId *map = g_new (FlamId, processes->n + 1);
  guint32 done = 0, before;

  memset (map, 0xff, processes->n * sizeof *map);
  do
    {
      before = done;
      for (FlamId i = 0; i < processes->n; i++)
        {
          FlamId parent = processes->parent[i];

          if (map[i] != FLAM_NONE ||
              (parent != FLAM_NONE && map[parent] == FLAM_NONE))
            continue;
          map[i] = flam_builder_append_process (
              builder,
              processes->pid[i],
              parent != FLAM_NONE ? map[parent] : FLAM_NONE);
          done++;
        }
    }
  while (done < processes->n && done > before);
  for (FlamId i = 0; i < processes->n; i++)
    if (map[i] == FLAM_NONE)
      map[i] =
          flam_builder_append_process (builder, processes->pid[i], FLAM_NONE);
  return map;
}

/* Each name begins when the one before it ended; the last one is the current
 * name of the process or thread. */
static void
note_names (FlamBuilder *builder,
            const FlamProfile *profile,
            const FlamProcessId *processes)
{
  const FlamFormerNames *former = &profile->former_names;
  g_autofree gint64 *process_since = g_new0 (gint64, profile->processes.n + 1);
  g_autofree gint64 *thread_since = g_new0 (gint64, profile->threads.n + 1);

  for (guint32 i = 0; i < former->n; i++)
    {
      FlamThreadId thread = former->thread[i];
      FlamProcessId process = former->process[i];
      const char *name = flam_profile_string (profile, former->name[i]);

      if (thread != FLAM_NONE)
        flam_builder_note_thread_name (
            builder, thread, thread_since[thread], name);
      else
        flam_builder_note_process_name (
            builder, processes[process], process_since[process], name);
      *(thread != FLAM_NONE ? &thread_since[thread] : &process_since[process]) =
          former->until[i];
    }
  for (FlamId i = 0; i < profile->processes.n; i++)
    flam_builder_note_process_name (
        builder,
        processes[i],
        process_since[i],
        flam_profile_string (profile, profile->processes.name[i]));
  for (FlamId i = 0; i < profile->threads.n; i++)
    flam_builder_note_thread_name (
        builder,
        i,
        thread_since[i],
        flam_profile_string (profile, profile->threads.name[i]));
}

static void
note_threads (FlamBuilder *builder, const FlamProfile *profile)
{
  const FlamThreads *threads = &profile->threads;
  g_autofree FlamProcessId *processes =
      note_processes (builder, &profile->processes);

  for (FlamId i = 0; i < threads->n; i++)
    flam_builder_append_thread (
        builder, processes[threads->process[i]], threads->tid[i]);
  note_names (builder, profile, processes);
  for (FlamId i = 0; i < profile->working_folders.n; i++)
    flam_builder_add_working_folder (
        builder,
        processes[profile->working_folders.process[i]],
        flam_profile_string (profile, profile->working_folders.path[i]));
}

/* A column of the samples, thread after thread. */
static void
copy_slices (const FlamProfile *profile,
             gpointer to,
             gconstpointer from,
             guint size)
{
  const FlamThreads *threads = &profile->threads;
  char *at = to;

  for (FlamId t = 0; t < threads->n; t++)
    if (threads->n_samples[t] > 0)
      {
        gsize bytes = (gsize)threads->n_samples[t] * size;

        memcpy (at,
                (const char *)from + (gsize)threads->first_sample[t] * size,
                bytes);
        at += bytes;
      }
}

/* The measures and their columns, each column once. */
static void
note_measures (FlamBuilder *builder, const FlamProfile *profile)
{
  g_autoptr (GPtrArray) columns = g_ptr_array_new ();

  for (guint i = 0; i < profile->n_measures; i++)
    {
      const FlamMeasure *measure = &profile->measures[i];
      guint column = 0;
      gboolean known = measure->weight == NULL ||
                       g_ptr_array_find (columns, measure->weight, &column);
      gint64 values[] = { measure->id,
                          measure->name,
                          measure->unit,
                          measure->kind,
                          measure->source,
                          -1,
                          measure->event == FLAM_NONE ? -1
                                                      : (gint64)measure->event,
                          measure->denominator };

      if (!known && columns->len == FLAM_MAX_WEIGHTS)
        {
          flam_builder_note_warning (
              builder, N_ ("there were more measures than can be exported"));
          continue;
        }
      if (!known)
        {
          column = columns->len;
          g_ptr_array_add (columns, (gpointer)measure->weight);
          flam_tables_add_weights (&builder->tables);
          copy_slices (profile,
                       flam_tables_weights (&builder->tables, column),
                       measure->weight,
                       sizeof (gint64));
        }
      if (measure->weight != NULL)
        values[5] = column;
      flam_tables_add (&builder->tables, FLAM_TABLE_MEASURES, values);
      if (measure->spans == FLAM_SPANS_CALLS ||
          measure->spans == FLAM_SPANS_SAMPLES)
        flam_builder_note_fact (builder,
                                measure->spans == FLAM_SPANS_SAMPLES
                                    ? FLAM_FACT_SAMPLED_SPANS
                                    : FLAM_FACT_SPANS,
                                flam_profile_string (profile, measure->id));
    }
}

static void
note_samples (FlamBuilder *builder, const FlamProfile *profile)
{
  FlamTables *tables = &builder->tables;
  const FlamTableInfo *infos = &flam_table_infos[FLAM_TABLE_SAMPLES];

  flam_tables_reserve (tables, FLAM_TABLE_SAMPLES, profile->samples.n);
  *flam_tables_n (tables, FLAM_TABLE_SAMPLES) = profile->samples.n;
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];
      gconstpointer from = info->offset < sizeof (FlamProfile)
                               ? *(gpointer *)((char *)profile + info->offset)
                               : NULL;

      if (from == NULL)
        continue;
      flam_tables_begin (tables, FLAM_TABLE_SAMPLES, info);
      copy_slices (
          profile, *flam_tables_array (tables, info), from, info->size);
    }
  for (guint32 t = 0, at = 0; t < profile->threads.n; t++)
    for (guint32 i = 0; i < profile->threads.n_samples[t]; i++)
      cells (builder, FlamId, sample_thread)[at++] = t;
  note_measures (builder, profile);
}

static void
note_counters (FlamBuilder *builder, const FlamProfile *profile)
{
  for (guint c = 0; c < profile->n_counters; c++)
    {
      const FlamCounter *counter = &profile->counters[c];
      guint id = flam_builder_add_counter (
          builder, flam_profile_string (profile, counter->id), counter->unit);

      for (guint32 i = 0; i < counter->n; i++)
        flam_builder_add_counter_value (
            builder, id, counter->time[i], counter->value[i]);
    }
}

static void
note_facts (FlamBuilder *builder, const FlamProfile *profile)
{
  const FlamFacts *facts = &profile->facts;

  flam_builder_note_facts (builder, facts);
  if (profile->allocations.at_peak != NULL)
    flam_builder_note_number (
        builder, FLAM_FACT_PEAK_TIME, profile->allocations.peak_time);
  flam_builder_note_fact (builder, FLAM_FACT_MEASURES_LISTED, "1");
  if (profile->samples.time == NULL && profile->allocations.n == 0 &&
      profile->n_counters == 0)
    flam_builder_note_fact (builder, FLAM_FACT_HAS_TIMES, "0");
  if (!facts->complete)
    flam_builder_note_warning (
        builder, N_ ("exported from a capture that was not read to its end"));
  for (guint i = 0; facts->warnings[i] != NULL; i++)
    flam_builder_note_warning (builder, "%s", facts->warnings[i]);
}

FlamBuilder *
flam_builder_new_copy (const FlamProfile *profile)
{
  FlamBuilder *builder = flam_builder_new ();
  FlamTables *tables = &builder->tables;
  const GArray *extras = flam_profile_box_extras (profile);

  copy_frames (builder, profile);
  copy_table (tables, FLAM_TABLE_STACKS, profile);
  copy_table (tables, FLAM_TABLE_ALLOCATIONS, profile);
  copy_table (tables, FLAM_TABLE_MARKS, profile);
  copy_table (tables, FLAM_TABLE_LABELS, profile);
  copy_table (tables, FLAM_TABLE_NOTES, profile);
  copy_table (tables, FLAM_TABLE_SOURCES, profile);
  copy_table (tables, FLAM_TABLE_JUMPS, profile);
  if (profile->allocations.at_peak == NULL && profile->allocations.n > 0)
    memset ((gpointer)tables->profile.allocations.at_peak,
            0xff,
            profile->allocations.n * sizeof (gint64));
  note_frames (builder, profile);
  note_modules (builder, &profile->modules);
  note_threads (builder, profile);
  note_facts (builder, profile);
  note_samples (builder, profile);
  note_counters (builder, profile);
  for (guint i = 0; extras != NULL && i < extras->len; i++)
    flam_tables_add_kept (tables, &g_array_index (extras, FlamExtra, i));
  return builder;
}
