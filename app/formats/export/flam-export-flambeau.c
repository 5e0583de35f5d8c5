/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-capture-writer.h"
#include "flam-cut.h"
#include "flam-formats.h"

/* Any profile as a .flambeau file: all that is selected, since this is the form
 * that loses nothing. Tables are written in the order
 * of the profile, `map` holds the writer's ids. */

typedef struct
{
  const FlamProfile *profile;
  FlamCaptureWriter *writer;
  FlamId *modules;
  FlamId *functions;
  FlamId *frames;
  FlamId *stacks;
} Export;

static FlamId
mapped (const FlamId *map, FlamId id)
{
  return id == FLAM_NONE ? FLAM_NONE : map[id];
}

static const char *
text (const Export *export, FlamId string)
{
  return flam_profile_string (export->profile, string);
}

static FlamId
string (Export *export, FlamId id)
{
  return flam_capture_writer_string (export->writer, text (export, id));
}

static void
put_modules (Export *export)
{
  const FlamModules *modules = &export->profile->modules;

  export->modules = g_new (FlamId, MAX (modules->n, 1));
  for (guint32 i = 0; i < modules->n; i++)
    {
      export->modules[i] =
          flam_capture_writer_module (export->writer,
                                      text (export, modules->path[i]),
                                      text (export, modules->build_id[i]),
                                      modules->addressing[i]);
      flam_capture_writer_module_symbols (export->writer,
                                          export->modules[i],
                                          modules->symbols[i],
                                          text (export, modules->why[i]));
    }
}

static void
put_functions (Export *export)
{
  const FlamFunctions *functions = &export->profile->functions;

  export->functions = g_new (FlamId, MAX (functions->n, 1));
  for (guint32 i = 0; i < functions->n; i++)
    {
      FlamFunction function = {
        .name = string (export, functions->name[i]),
        .system_name = string (export, functions->system_name[i]),
        .file = string (export, functions->file[i]),
        .module = mapped (export->modules, functions->module[i]),
        .line = functions->line[i],
        .kind = functions->kind[i],
        .flags = functions->flags[i],
      };
      if (functions->system_name[i] == functions->name[i])
        function.system_name = flam_capture_writer_string (export->writer, "");
      export->functions[i] =
          flam_capture_writer_function (export->writer, &function);
    }
}

/* An address nobody has named is written as such, to be named later. */
static void
put_frames (Export *export)
{
  const FlamFrames *frames = &export->profile->frames;
  const FlamFunctions *functions = &export->profile->functions;

  export->frames = g_new (FlamId, MAX (frames->n, 1));
  for (guint32 i = 0; i < frames->n; i++)
    {
      FlamId function = frames->function[i];
      FlamCaptureFrame frame = {
        .module = mapped (export->modules, functions->module[function]),
        .address = frames->address[i],
        .function = functions->kind[function] == FLAM_KIND_UNRESOLVED
                        ? FLAM_NONE
                        : export->functions[function],
        .file = frames->file[i] != functions->file[function]
                    ? string (export, frames->file[i])
                    : FLAM_NONE,
        .line = frames->line[i],
        .inline_depth = frames->inline_depth[i],
      };
      export->frames[i] = flam_capture_writer_frame (export->writer, &frame);
    }
}

static void
put_stacks (Export *export)
{
  const FlamStacks *stacks = &export->profile->stacks;

  export->stacks = g_new (FlamId, MAX (stacks->n, 1));
  for (guint32 i = 0; i < stacks->n; i++)
    export->stacks[i] =
        flam_capture_writer_stack (export->writer,
                                   mapped (export->stacks, stacks->prefix[i]),
                                   export->frames[stacks->frame[i]]);
}

/* Parents may come after their children: those without one go first, in as
 * many rounds as the family is deep. Rows keep the profile's order where all
 * parents come first, which is the rule. */
static FlamId *
put_processes (Export *export)
{
  const FlamProcesses *processes = &export->profile->processes;
  FlamId *map = g_new (FlamId, MAX (processes->n, 1));
  guint32 done = 0, before;

  for (guint32 i = 0; i < processes->n; i++)
    map[i] = FLAM_NONE;
  do
    {
      before = done;
      for (guint32 i = 0; i < processes->n; i++)
        {
          FlamId parent = processes->parent[i];
          if (map[i] != FLAM_NONE ||
              (parent != FLAM_NONE && map[parent] == FLAM_NONE))
            continue;
          map[i] = flam_capture_writer_process (
              export->writer, processes->pid[i], mapped (map, parent));
          done++;
        }
    }
  while (done < processes->n && done > before);
  for (guint32 i = 0; i < processes->n; i++)
    if (map[i] == FLAM_NONE)
      map[i] = flam_capture_writer_process (
          export->writer, processes->pid[i], FLAM_NONE);
  return map;
}

/* Each name since the one before it ended; the last one is what the process or
 * thread is called. */
static void
put_names (Export *export, const FlamId *processes)
{
  const FlamProfile *profile = export->profile;
  const FlamFormerNames *former = &profile->former_names;
  g_autofree gint64 *process_since =
      g_new0 (gint64, MAX (profile->processes.n, 1));
  g_autofree gint64 *thread_since =
      g_new0 (gint64, MAX (profile->threads.n, 1));

  for (guint32 i = 0; i < former->n; i++)
    {
      FlamId thread = former->thread[i];
      FlamId process = former->process[i];
      gint64 *since =
          thread != FLAM_NONE ? &thread_since[thread] : &process_since[process];

      flam_capture_writer_name (export->writer,
                                thread != FLAM_NONE ? FLAM_CAPTURE_NAME_THREAD
                                                    : FLAM_CAPTURE_NAME_PROCESS,
                                thread != FLAM_NONE ? thread
                                                    : processes[process],
                                *since,
                                text (export, former->name[i]));
      *since = former->until[i];
    }
  for (guint32 i = 0; i < profile->processes.n; i++)
    flam_capture_writer_name (export->writer,
                              FLAM_CAPTURE_NAME_PROCESS,
                              processes[i],
                              process_since[i],
                              text (export, profile->processes.name[i]));
  for (guint32 i = 0; i < profile->threads.n; i++)
    flam_capture_writer_name (export->writer,
                              FLAM_CAPTURE_NAME_THREAD,
                              i,
                              thread_since[i],
                              text (export, profile->threads.name[i]));
}

static void
put_threads (Export *export)
{
  const FlamThreads *threads = &export->profile->threads;
  g_autofree FlamId *processes = put_processes (export);

  for (guint32 i = 0; i < threads->n; i++)
    flam_capture_writer_thread (
        export->writer, processes[threads->process[i]], threads->tid[i]);
  put_names (export, processes);
}

/* Which of the profile's weight columns are different ones. */
static guint
find_columns (const FlamProfile *profile,
              const gint64 *columns[FLAM_CAPTURE_MAX_WEIGHTS])
{
  guint n = 0;

  for (guint i = 0; i < profile->n_measures; i++)
    {
      const gint64 *weight = profile->measures[i].weight;
      guint c = 0;

      while (c < n && columns[c] != weight)
        c++;
      if (weight != NULL && c == n && n < FLAM_CAPTURE_MAX_WEIGHTS)
        columns[n++] = weight;
    }
  return n;
}

static void
put_measures (Export *export, const gint64 **columns, guint n_columns)
{
  for (guint i = 0; i < export->profile->n_measures; i++)
    {
      const FlamMeasure *measure = &export->profile->measures[i];
      int column = -1;

      for (guint c = 0; c < n_columns; c++)
        if (measure->weight == columns[c])
          column = (int)c;
      if (measure->weight != NULL && column < 0)
        {
          flam_capture_writer_warning (
              export->writer, "there were more measures than can be exported");
          continue;
        }
      flam_capture_writer_measure (
          export->writer,
          text (export, measure->id),
          text (export, measure->name),
          measure->unit,
          measure->kind,
          measure->source,
          column,
          measure->event == FLAM_NONE ? -1 : (int)measure->event,
          measure->denominator);
    }
}

static void
put_samples (Export *export, const gint64 **columns, guint n_columns)
{
  const FlamThreads *threads = &export->profile->threads;
  const FlamSamples *samples = &export->profile->samples;
  gint64 weights[FLAM_CAPTURE_MAX_WEIGHTS];

  for (guint32 t = 0; t < threads->n; t++)
    for (guint32 k = 0; k < threads->n_samples[t]; k++)
      {
        guint32 i = threads->first_sample[t] + k;
        FlamSample sample = {
          .time = samples->time != NULL ? samples->time[i] : 0,
          .thread = t,
          .stack = mapped (export->stacks, samples->stack[i]),
          .event = samples->event != NULL ? samples->event[i] : 0,
          .state =
              samples->state != NULL ? samples->state[i] : FLAM_STATE_RUNNING,
        };
        for (guint c = 0; c < n_columns; c++)
          weights[c] = columns[c][i];
        flam_capture_writer_sample (export->writer, &sample, weights);
      }
}

static void
put_allocations (Export *export)
{
  const FlamAllocations *rows = &export->profile->allocations;

  for (guint32 i = 0; i < rows->n; i++)
    {
      FlamAllocation allocation = {
        .time = rows->time[i],
        .freed_at = rows->freed_at[i],
        .thread = rows->thread[i],
        .stack = mapped (export->stacks, rows->stack[i]),
        .size = rows->size[i],
        .count = rows->count[i],
        .at_peak = rows->at_peak != NULL ? rows->at_peak[i] : -1,
        .distance = rows->distance != NULL ? rows->distance[i] : G_MAXUINT16,
        .allocator = rows->allocator != NULL ? rows->allocator[i]
                                             : FLAM_ALLOCATOR_MALLOC,
      };
      flam_capture_writer_allocation (export->writer, &allocation);
    }
}

static void
put_counters_and_marks (Export *export)
{
  const FlamMarks *marks = &export->profile->marks;

  for (guint i = 0; i < export->profile->n_counters; i++)
    {
      const FlamCounter *counter = &export->profile->counters[i];
      FlamId id = flam_capture_writer_counter (
          export->writer, text (export, counter->id), counter->unit);
      for (guint32 k = 0; k < counter->n; k++)
        flam_capture_writer_counter_value (
            export->writer, id, counter->time[k], counter->value[k]);
    }
  for (guint32 i = 0; i < marks->n; i++)
    flam_capture_writer_mark (export->writer,
                              marks->time[i],
                              marks->duration[i],
                              marks->thread[i],
                              text (export, marks->name[i]));
}

static void
put_facts (Export *export)
{
  const FlamFacts *facts = &export->profile->facts;
  FlamCaptureWriter *writer = export->writer;

  flam_capture_writer_facts (writer, facts);
  if (export->profile->allocations.at_peak != NULL)
    flam_capture_writer_fact_number (
        writer, FLAM_FACT_PEAK_TIME, export->profile->allocations.peak_time);
  flam_capture_writer_fact (writer, FLAM_FACT_MEASURES_LISTED, "1");
  for (guint i = 0; i < export->profile->n_measures; i++)
    if (export->profile->measures[i].spans)
      flam_capture_writer_fact (writer,
                                FLAM_FACT_SPANS,
                                text (export, export->profile->measures[i].id));
  if (export->profile->samples.time == NULL &&
      export->profile->allocations.n == 0 && export->profile->n_counters == 0)
    flam_capture_writer_fact (writer, FLAM_FACT_HAS_TIMES, "0");
  if (!facts->complete)
    flam_capture_writer_warning (
        writer, "exported from a capture that was not read to its end");
  for (guint i = 0; facts->warnings != NULL && facts->warnings[i]; i++)
    flam_capture_writer_warning (writer, facts->warnings[i]);
}

static gboolean
save (const FlamTree *tree,
      const FlamExportOptions *options,
      GString *out,
      GError **error)
{
  const gint64 *columns[FLAM_CAPTURE_MAX_WEIGHTS];
  guint n_columns;
  g_autoptr (FlamProfile) profile =
      options->selection != NULL
          ? flam_cut_new (tree->profile, options->selection, error)
          : flam_profile_ref (tree->profile);
  g_autoptr (FlamCaptureWriter) writer = NULL;
  Export export = { .profile = profile };
  const guint8 *data;
  gsize size;

  if (profile == NULL)
    return FALSE;
  n_columns = find_columns (profile, columns);
  export.writer = writer = flam_capture_writer_new (-1, n_columns);
  put_facts (&export);
  put_modules (&export);
  put_functions (&export);
  put_frames (&export);
  put_stacks (&export);
  put_threads (&export);
  put_measures (&export, columns, n_columns);
  put_samples (&export, columns, n_columns);
  put_allocations (&export);
  put_counters_and_marks (&export);
  g_free (export.modules);
  g_free (export.functions);
  g_free (export.frames);
  g_free (export.stacks);
  if (!flam_capture_writer_end (writer, profile->facts.duration_ns, error))
    return FALSE;
  data = flam_capture_writer_data (writer, &size);
  g_string_append_len (out, (const char *)data, (gssize)size);
  return TRUE;
}

const FlamExporter flam_export_flambeau = {
  .id = "flambeau",
  .label = "Flambeau",
  .suffix = "flambeau",
  .mime_type = "application/x-flambeau",
  .text = FALSE,
  .save = save,
};
