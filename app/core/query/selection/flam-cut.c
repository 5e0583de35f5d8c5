/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cut-private.h"

#include "flam-tables.h"
#include "flam-weights.h"

void
flam_cut_clear (FlamCut *cut)
{
  g_clear_pointer (&cut->builder, flam_builder_free);
  flam_shown_clear (&cut->shown);
  flam_sample_filter_clear (&cut->filter);
  g_free (cut->modules);
  g_free (cut->functions);
  g_free (cut->frames);
  g_free (cut->stacks);
  g_free (cut->processes);
  g_free (cut->threads);
  g_free (cut->labels);
  g_clear_pointer (&cut->columns, g_ptr_array_unref);
}

static const char *
text (const FlamCut *cut, FlamStringId string)
{
  return flam_profile_string (cut->profile, string);
}

static FlamStringId
string (const FlamCut *cut, FlamId id)
{
  return flam_builder_string (cut->builder, text (cut, id), -1);
}

/* --- code ---------------------------------------------------------------- */

/* Of several captures that are put into one builder, some may have all of a
 * module's inlined functions and lines, and others not: these are still to be
 * looked up. */
static void
put_symbol_state (FlamCut *cut, FlamModuleId module, FlamModuleId from)
{
  const FlamModules *modules = &cut->profile->modules;
  guint8 had =
      flam_builder_tables (cut->builder)->profile.modules.symbols[module];

  if (had != FLAM_SYMBOLS_SYMTAB && had != FLAM_SYMBOLS_DYNSYM)
    flam_builder_set_module_symbols (cut->builder,
                                     module,
                                     modules->symbols[from],
                                     text (cut, modules->why[from]));
}

static void
put_functions (FlamCut *cut)
{
  const FlamModules *modules = &cut->profile->modules;
  const FlamFunctions *functions = &cut->profile->functions;

  cut->modules = g_new (FlamId, modules->n + 1);
  for (FlamId i = 0; i < modules->n; i++)
    {
      cut->modules[i] = flam_builder_module (cut->builder,
                                             text (cut, modules->path[i]),
                                             text (cut, modules->build_id[i]),
                                             modules->addressing[i]);
      put_symbol_state (cut, cut->modules[i], i);
    }
  cut->functions = g_new (FlamId, functions->n + 1);
  for (FlamId i = 0; i < functions->n; i++)
    {
      FlamModuleId module = functions->module[i];
      FlamFunction function = {
        .name = string (cut, functions->name[i]),
        .system_name = functions->system_name[i] == functions->name[i]
                           ? 0
                           : string (cut, functions->system_name[i]),
        .file = string (cut, functions->file[i]),
        .module = module != FLAM_NONE ? cut->modules[module] : FLAM_NONE,
        .line = functions->line[i],
        .kind = functions->kind[i],
        .flags = functions->flags[i],
      };

      cut->functions[i] = flam_builder_function (cut->builder, &function);
    }
}

/* `status`: includes that of its hidden callees. */
static FlamFrameId
put_frame (FlamCut *cut, FlamId id, guint status)
{
  const FlamFrames *frames = &cut->profile->frames;
  FlamRecordedFrame frame = { FLAM_NONE,
                              frames->address[id],
                              cut->functions[frames->function[id]],
                              string (cut, frames->file[id]),
                              frames->line[id],
                              frames->inline_depth[id],
                              status };

  return flam_builder_recorded_frame (cut->builder, &frame);
}

/* The selection, in a form that applies to a tree: a part has all measures, so
 * any of them will do. */
static guint8 *
status_of_shown (const FlamCut *cut)
{
  g_autoptr (FlamSelection) selection = flam_selection_copy (cut->selection);
  guint8 *all = NULL;

  if (flam_profile_statuses (cut->profile) == 0)
    return NULL;
  all = g_new0 (guint8, (gsize)cut->shown.n + 1);
  for (guint m = 0; m < cut->profile->n_measures; m++)
    {
      g_autoptr (FlamWeights) weights = NULL;
      g_autofree guint8 *status = NULL;

      selection->measure = m;
      weights = flam_weights_new (cut->profile, selection, NULL, NULL);
      status = flam_shown_status (&cut->shown, cut->profile, weights);
      for (FlamId s = 0; s < cut->shown.n; s++)
        all[s] |= status[s];
    }
  return all;
}

static void
put_stacks (FlamCut *cut)
{
  const FlamFrames *frames = &cut->profile->frames;
  const FlamShown *shown = &cut->shown;
  g_autofree guint8 *status = status_of_shown (cut);

  cut->frames = g_new (FlamId, frames->n + 1);
  for (FlamId i = 0; i < frames->n; i++)
    cut->frames[i] = put_frame (cut, i, frames->status[i]);
  cut->stacks = g_new (FlamId, shown->n + 1);
  for (FlamId s = 0; s < shown->n; s++)
    {
      FlamId id = shown->frame[s];
      gboolean same = status == NULL || status[s] == frames->status[id];

      cut->stacks[s] = flam_builder_stack (
          cut->builder,
          shown->prefix[s] != FLAM_NONE ? cut->stacks[shown->prefix[s]]
                                        : FLAM_NONE,
          same ? cut->frames[id] : put_frame (cut, id, status[s]));
    }
  cut->stacks[shown->n] = FLAM_NONE;
}

/* --- who ----------------------------------------------------------------- */

static void
put_process (FlamCut *cut, FlamProcessId process)
{
  const FlamProcesses *processes = &cut->profile->processes;
  FlamId parent = processes->parent[process];

  cut->processes[process] = flam_builder_process (
      cut->builder, processes->pid[process], cut->generation + process);
  flam_builder_set_process_name (cut->builder,
                                 cut->processes[process],
                                 text (cut, processes->name[process]));
  if (parent != FLAM_NONE && cut->processes[parent] != FLAM_NONE)
    flam_builder_set_process_parent (
        cut->builder, cut->processes[process], cut->processes[parent]);
  if (processes->rank[process] != 0)
    flam_builder_set_process_rank (cut->builder,
                                   cut->processes[process],
                                   processes->rank[process],
                                   text (cut, processes->host[process]));
}

static void
put_threads (FlamCut *cut)
{
  const FlamThreads *threads = &cut->profile->threads;
  guint32 n_processes = cut->profile->processes.n;
  g_autofree gboolean *wanted = g_new0 (gboolean, n_processes + 1);

  for (FlamId t = 0; t < threads->n; t++)
    if (flam_selection_has_thread (cut->selection, t))
      wanted[threads->process[t]] = TRUE;
  cut->processes = g_new (FlamId, n_processes + 1);
  memset (cut->processes, 0xff, n_processes * sizeof *cut->processes);
  for (FlamId i = 0; i < n_processes; i++)
    if (wanted[i] || cut->selection->threads == NULL)
      put_process (cut, i);
  cut->threads = g_new (FlamId, threads->n + 1);
  memset (cut->threads, 0xff, threads->n * sizeof *cut->threads);
  for (FlamId t = 0; t < threads->n; t++)
    if (flam_selection_has_thread (cut->selection, t))
      {
        cut->threads[t] =
            flam_builder_thread (cut->builder,
                                 cut->processes[threads->process[t]],
                                 threads->tid[t],
                                 cut->generation + t);
        flam_builder_set_thread_name (
            cut->builder, cut->threads[t], text (cut, threads->name[t]));
      }
}

/* Former names: each ends when the next one begins. */
static void
put_names (FlamCut *cut)
{
  const FlamFormerNames *former = &cut->profile->former_names;
  const FlamThreads *threads = &cut->profile->threads;
  const FlamProcesses *processes = &cut->profile->processes;
  g_autofree gint64 *ends = g_new0 (gint64, threads->n + processes->n + 1);

  for (guint32 i = 0; i < former->n; i++)
    {
      gboolean is_thread = former->thread[i] != FLAM_NONE;
      FlamId row = is_thread ? (FlamId)former->thread[i] : former->process[i];
      FlamId to = is_thread ? (FlamId)cut->threads[row] : cut->processes[row];
      gint64 *end = &ends[is_thread ? row : threads->n + row];
      const char *name = text (cut, former->name[i]);

      if (to == FLAM_NONE)
        continue;
      if (is_thread && *end == 0)
        flam_builder_set_thread_name (cut->builder, to, name);
      else if (is_thread)
        flam_builder_rename_thread (cut->builder, to, *end, name);
      else if (*end == 0)
        flam_builder_set_process_name (cut->builder, to, name);
      else
        flam_builder_rename_process (cut->builder, to, *end, name);
      *end = MAX (flam_cut_shifted (cut, former->until[i]), 1);
    }
  for (FlamId t = 0; t < threads->n; t++)
    if (ends[t] > 0)
      flam_builder_rename_thread (
          cut->builder, cut->threads[t], ends[t], text (cut, threads->name[t]));
  for (FlamId i = 0; i < processes->n; i++)
    if (ends[threads->n + i] > 0)
      flam_builder_rename_process (cut->builder,
                                   cut->processes[i],
                                   ends[threads->n + i],
                                   text (cut, processes->name[i]));
}

/* --- labels -------------------------------------------------------------- */

static void
put_labels (FlamCut *cut)
{
  const FlamSampleLabels *labels = &cut->profile->labels;
  g_autoptr (GArray) set = g_array_new (FALSE, FALSE, sizeof (FlamSampleLabel));

  cut->labels = g_new0 (guint32, flam_sample_labels_n_sets (cut->profile) + 1);
  for (guint32 i = 0; i < labels->n; i++)
    {
      FlamSampleLabel label = {
        .key = text (cut, labels->key[i]),
        .value = text (cut, labels->value[i]),
        .number = labels->number[i],
        .unit =
            labels->unit[i] != FLAM_NONE ? text (cut, labels->unit[i]) : NULL,
      };

      g_array_append_val (set, label);
      if (i + 1 < labels->n && labels->set[i + 1] == labels->set[i])
        continue;
      cut->labels[labels->set[i]] = flam_builder_add_labels (
          cut->builder, (FlamSampleLabel *)(void *)set->data, set->len);
      g_array_set_size (set, 0);
    }
}

guint32
flam_cut_find_labels (const FlamCut *cut, guint32 sample)
{
  guint32 set = flam_sample_label_set (
      &cut->profile->samples, flam_sample_labels_n_sets (cut->profile), sample);

  return cut->labels[set];
}

void
flam_cut_put_code (FlamCut *cut)
{
  put_functions (cut);
  put_stacks (cut);
  put_labels (cut);
}

void
flam_cut_put_names (FlamCut *cut)
{
  flam_cut_put_code (cut);
  put_threads (cut);
  put_names (cut);
}

/* --- samples ------------------------------------------------------------- */

/* Stands for the weights of samples that are counted. */
static const gint64 counted[1];

/* A sample that lasts into the range is kept for its duration, but is counted
 * where it begins: then its count is 0, and so are its other weights. */
static gboolean
counts_at_beginning (const FlamCut *cut)
{
  for (guint m = 0; m < cut->profile->n_measures; m++)
    if (cut->profile->measures[m].spans &&
        cut->profile->measures[m].weight != NULL)
      return cut->from != G_MININT64;
  return FALSE;
}

static int
column_of (FlamCut *cut, const gint64 *weight)
{
  guint column;

  if (weight == NULL && counts_at_beginning (cut))
    weight = counted;
  if (weight == NULL)
    return -1;
  if (g_ptr_array_find (cut->columns, weight, &column))
    return (int)column;
  g_ptr_array_add (cut->columns, (gpointer)weight);
  return (int)flam_builder_add_column (cut->builder);
}

static void
put_sample_measure (FlamCut *cut, const FlamMeasure *measure)
{
  guint index = flam_builder_add_measure (cut->builder,
                                          text (cut, measure->id),
                                          text (cut, measure->name),
                                          measure->unit,
                                          measure->kind,
                                          column_of (cut, measure->weight),
                                          measure->event);

  flam_builder_set_denominator (cut->builder, index, measure->denominator);
  flam_builder_set_spans (cut->builder, index, measure->spans);
}

/* --count: the samples of the event, one each. */
static void
put_count_measure (FlamCut *cut, const FlamMeasure *measure)
{
  flam_builder_add_measure (cut->builder,
                            "samples",
                            N_ ("Samples"),
                            FLAM_UNIT_COUNT,
                            measure->kind,
                            column_of (cut, NULL),
                            measure->event);
}

/* The measure for which this sample is a span, or NULL. */
static const FlamMeasure *
span_measure (const FlamProfile *profile, guint32 sample)
{
  guint16 event =
      profile->samples.event != NULL ? profile->samples.event[sample] : 0;

  for (guint m = 0; m < profile->n_measures; m++)
    {
      const FlamMeasure *measure = &profile->measures[m];

      if (measure->spans && measure->weight != NULL &&
          (measure->event == FLAM_NONE || measure->event == event))
        return measure;
    }
  return NULL;
}

static void
put_sample (FlamCut *cut, FlamThreadId thread, guint32 i, gint64 *weights)
{
  const FlamSamples *samples = &cut->profile->samples;
  const FlamMeasure *span = span_measure (cut->profile, i);
  gint64 time = samples->time != NULL ? samples->time[i] : cut->from;
  gint64 end = span != NULL ? time + span->weight[i] : time;
  FlamSample sample = {
    .thread = cut->threads[thread],
    .time = flam_cut_shifted (cut, time),
    .event = samples->event != NULL ? samples->event[i] : 0,
    .state = samples->state != NULL ? samples->state[i] : FLAM_STATE_RUNNING,
    .labels = flam_cut_find_labels (cut, i),
  };

  if ((time < cut->from && end <= cut->from) || time >= cut->to ||
      !flam_sample_filter_has (&cut->filter, i) ||
      !flam_cut_find_stack (cut, samples->stack[i], &sample.stack))
    return;
  for (guint c = 0; c < cut->columns->len; c++)
    {
      const gint64 *column = cut->columns->pdata[c];

      if (span != NULL && column == span->weight)
        weights[c] = MIN (end, cut->to) - MAX (time, cut->from);
      else if (time < cut->from)
        weights[c] = 0;
      else
        weights[c] = column == counted ? 1 : column[i];
    }
  flam_builder_add_sample (cut->builder, &sample, weights);
}

static void
put_samples (FlamCut *cut)
{
  const FlamThreads *threads = &cut->profile->threads;
  g_autofree gint64 *weights = g_new0 (gint64, cut->columns->len + 1);

  for (FlamId t = 0; t < threads->n; t++)
    for (guint32 k = 0;
         cut->threads[t] != FLAM_NONE && k < threads->n_samples[t];
         k++)
      put_sample (cut, t, threads->first_sample[t] + k, weights);
}

/* --- measures ------------------------------------------------------------ */

static void
put_measure (FlamCut *cut, const FlamCutMemory *memory, guint i)
{
  const FlamMeasure *measure = &cut->profile->measures[i];

  if (measure->source == FLAM_FROM_SAMPLES)
    put_sample_measure (cut, measure);
  else if (!memory->before ||
           memory->peak_alone == flam_cut_is_peak (measure->source))
    flam_builder_add_allocation_measure (cut->builder, measure->source);
  else
    flam_builder_warn (cut->builder,
                       N_ ("%s is left out: some of the memory was allocated "
                           "before the time range"),
                       text (cut, measure->name));
}

/* The selected measure becomes the default of the result. */
static void
put_measures (FlamCut *cut, const FlamCutMemory *memory)
{
  guint first = cut->selection->measure;
  gboolean counts = cut->selection->count;

  if (counts)
    put_count_measure (cut, &cut->profile->measures[first]);
  put_measure (cut, memory, first);
  for (guint i = 0; i < cut->profile->n_measures; i++)
    if (i != first &&
        !(counts &&
          strcmp (text (cut, cut->profile->measures[i].id), "samples") == 0))
      put_measure (cut, memory, i);
}

/* --- beside the samples -------------------------------------------------- */

/* The facts that apply to the rest. */
static void
put_notes (const FlamCut *cut)
{
  const FlamNotes *notes = &cut->profile->notes;

  for (guint32 i = 0; i < notes->n; i++)
    {
      gboolean range = notes->function[i] == FLAM_NONE;

      if (range && (notes->from[i] >= cut->to || notes->to[i] <= cut->from))
        continue;
      flam_builder_add_note (
          cut->builder,
          text (cut, notes->text[i]),
          range ? NULL : text (cut, notes->function[i]),
          flam_cut_shifted (cut, notes->from[i]),
          flam_cut_shifted (cut, MIN (notes->to[i], cut->to)),
          notes->written[i]);
    }
}

/* They are counted over all threads. */
static void
put_jumps (const FlamCut *cut)
{
  const FlamJumps *jumps = &cut->profile->jumps;

  for (guint32 i = 0; i < jumps->n && cut->selection->threads == NULL; i++)
    flam_builder_add_jump (cut->builder,
                           cut->frames[jumps->from[i]],
                           cut->frames[jumps->to[i]],
                           jumps->taken[i],
                           jumps->reached[i]);
}

static void
put_working_folders (const FlamCut *cut)
{
  const FlamWorkingFolders *folders = &cut->profile->working_folders;

  for (guint32 i = 0; i < folders->n; i++)
    if (cut->processes[folders->process[i]] != FLAM_NONE)
      flam_builder_add_working_folder (cut->builder,
                                       cut->processes[folders->process[i]],
                                       text (cut, folders->path[i]));
}

void
flam_cut_put_beside (FlamCut *cut)
{
  const FlamMarks *marks = &cut->profile->marks;
  const FlamSources *sources = &cut->profile->sources;

  for (guint c = 0; c < cut->profile->n_counters; c++)
    {
      const FlamCounter *counter = &cut->profile->counters[c];
      g_autofree char *name =
          g_strconcat (text (cut, counter->id), cut->counters_end, NULL);
      guint id = flam_builder_add_counter (cut->builder, name, counter->unit);

      for (guint32 i = 0; i < counter->n; i++)
        if (counter->time[i] >= cut->from && counter->time[i] < cut->to)
          flam_builder_add_counter_value (
              cut->builder,
              id,
              flam_cut_shifted (cut, counter->time[i]),
              counter->value[i]);
    }
  for (guint32 i = 0; i < marks->n; i++)
    {
      FlamThreadId thread = marks->thread[i];

      if (marks->time[i] < cut->from || marks->time[i] >= cut->to ||
          (thread != FLAM_NONE && cut->threads[thread] == FLAM_NONE))
        continue;
      flam_builder_add_mark (cut->builder,
                             flam_cut_shifted (cut, marks->time[i]),
                             MIN (marks->duration[i], cut->to - marks->time[i]),
                             thread != FLAM_NONE ? cut->threads[thread]
                                                 : FLAM_NONE,
                             text (cut, marks->name[i]));
    }
  put_notes (cut);
  for (guint32 i = 0; i < sources->n; i++)
    flam_builder_add_source (cut->builder,
                             text (cut, sources->path[i]),
                             text (cut, sources->text[i]),
                             -1);
  put_jumps (cut);
  put_working_folders (cut);
}

static void
put_facts (FlamCut *cut)
{
  FlamBuilder *builder = cut->builder;
  FlamFacts *facts = flam_builder_facts (builder);

  flam_builder_copy_facts (builder, &cut->profile->facts);
  if (facts->start_unix_ns != 0 && cut->from != G_MININT64)
    facts->start_unix_ns += cut->from;
  facts->duration_ns = flam_cut_duration (cut);
  facts->charged_cpu_ns = 0; /* it applies to the whole capture */
  if (cut->profile->samples.time != NULL)
    flam_builder_set_has_times (builder);
  flam_builder_set_origin (builder, 0);
}

/* --- the front door ------------------------------------------------------ */

static gboolean
is_all (const FlamCut *cut)
{
  const FlamSelection *s = cut->selection;

  return cut->shown.of == NULL && s->threads == NULL &&
         cut->from == G_MININT64 && cut->to == G_MAXINT64 &&
         s->states == FLAM_STATES_ALL && s->allocators == 0 &&
         s->labels == NULL && s->suppressions == NULL &&
         s->temporary_distance == 0 && !s->count &&
         s->measure == flam_weights_default_measure (cut->profile);
}

FlamProfile *
flam_cut_new (const FlamProfile *profile,
              const FlamSelection *selection,
              GError **error)
{
  g_auto (FlamCut) cut = { profile, selection };
  g_auto (FlamCutMemory) memory = { 0 };

  if (selection->invert || selection->by == FLAM_BY_MODULE ||
      selection->by == FLAM_BY_FILE)
    return flam_error_null (
        error,
        FLAM_ERROR_INVALID,
        N_ ("a profile cannot be inverted or grouped by module or file"));
  flam_selection_get_range (selection, profile, &cut.from, &cut.to);
  flam_shown_init (&cut.shown, profile, selection, NULL, NULL);
  if (profile->n_measures == 0 || is_all (&cut))
    return flam_profile_ref (profile);
  cut.builder = flam_builder_new ();
  cut.columns = g_ptr_array_new ();
  flam_cut_memory_init (&memory, &cut);
  flam_sample_filter_init (&cut.filter, profile, selection, FLAM_NONE);
  put_facts (&cut);
  flam_cut_put_names (&cut);
  put_measures (&cut, &memory);
  put_samples (&cut);
  flam_cut_put_allocations (&cut, &memory);
  flam_cut_put_beside (&cut);
  return flam_builder_finish (cut.builder, error);
}
