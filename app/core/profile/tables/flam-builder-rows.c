/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The builder's rows that are not interned: samples, memory, counters, marks.
 * Facts are in flam-builder-facts.c. */

#include "flam-builder-private.h"

#include <string.h>

/* --- samples ------------------------------------------------------------- */

guint
flam_builder_add_column (FlamBuilder *builder)
{
  g_assert (builder->tables.profile.samples.n == 0);
  flam_tables_add_weights (&builder->tables);
  return builder->tables.weights->len - 1;
}

static guint
add_measure (FlamBuilder *builder,
             const char *id,
             const char *name,
             FlamUnit unit,
             FlamMeasureKind kind,
             FlamMeasureSource source,
             int column,
             FlamId event)
{
  gint64 values[] = { flam_builder_string (builder, id, -1),
                      flam_builder_string (builder, name, -1),
                      unit,
                      kind,
                      source,
                      column,
                      event == FLAM_NONE ? -1 : (gint64)event,
                      1 };

  g_assert (builder->base == NULL);
  g_assert (column < (int)builder->tables.weights->len);
  return flam_tables_add (&builder->tables, FLAM_TABLE_MEASURES, values);
}

guint
flam_builder_add_measure (FlamBuilder *builder,
                          const char *id,
                          const char *name,
                          FlamUnit unit,
                          FlamMeasureKind kind,
                          int column,
                          FlamId event)
{
  return add_measure (
      builder, id, name, unit, kind, FLAM_FROM_SAMPLES, column, event);
}

/* Times and counts are measures of running code, bytes and blocks of the
   heap. */
static const struct
{
  const char *id, *name;
  FlamUnit unit;
} standard_measures[] = {
  [FLAM_STANDARD_SAMPLES] = { "samples", N_ ("Samples"), FLAM_UNIT_COUNT },
  [FLAM_STANDARD_TIME] = { "time", N_ ("Time"), FLAM_UNIT_NS },
  [FLAM_STANDARD_CPU_TIME] = { "cpu-time", N_ ("CPU time"), FLAM_UNIT_NS },
  [FLAM_STANDARD_WALL_TIME] = { "wall-time", N_ ("Wall time"), FLAM_UNIT_NS },
  [FLAM_STANDARD_CALLS] = { "calls", N_ ("Calls"), FLAM_UNIT_COUNT },
  [FLAM_STANDARD_PEAK] = { "peak", N_ ("Peak memory"), FLAM_UNIT_BYTES },
  [FLAM_STANDARD_PEAK_BLOCKS] = { "peak-blocks",
                                  N_ ("Blocks at the peak"),
                                  FLAM_UNIT_COUNT },
  [FLAM_STANDARD_LEAKED] = { "leaked", N_ ("Leaked memory"), FLAM_UNIT_BYTES },
  [FLAM_STANDARD_LEAKED_BLOCKS] = { "leaked-blocks",
                                    N_ ("Leaked blocks"),
                                    FLAM_UNIT_COUNT },
  [FLAM_STANDARD_ALLOCATED] = { "allocated",
                                N_ ("Allocated memory"),
                                FLAM_UNIT_BYTES },
  [FLAM_STANDARD_ALLOCATIONS] = { "allocations",
                                  N_ ("Allocations"),
                                  FLAM_UNIT_COUNT },
  [FLAM_STANDARD_TEMPORARY] = { "temporary",
                                N_ ("Temporary allocations"),
                                FLAM_UNIT_COUNT },
  [FLAM_STANDARD_TEMPORARY_BYTES] = { "temporary-bytes",
                                      N_ ("Temporary memory"),
                                      FLAM_UNIT_BYTES },
  [FLAM_STANDARD_PEAK_USEFUL] = { "peak-useful",
                                  N_ ("Useful heap at the peak"),
                                  FLAM_UNIT_BYTES },
};

static guint
add_standard_measure (FlamBuilder *builder,
                      FlamStandardMeasure measure,
                      FlamMeasureSource source,
                      int column,
                      FlamId event)
{
  return add_measure (builder,
                      standard_measures[measure].id,
                      standard_measures[measure].name,
                      standard_measures[measure].unit,
                      measure >= FLAM_STANDARD_PEAK ? FLAM_MEASURE_ALLOC
                                                    : FLAM_MEASURE_CPU,
                      source,
                      column,
                      event);
}

guint
flam_builder_add_standard_measure (FlamBuilder *builder,
                                   FlamStandardMeasure measure,
                                   int column,
                                   FlamId event)
{
  return add_standard_measure (
      builder, measure, FLAM_FROM_SAMPLES, column, event);
}

guint
flam_builder_add_event_measure (FlamBuilder *builder,
                                const char *name,
                                FlamUnit unit,
                                int column,
                                FlamId event)
{
  return flam_builder_add_measure (
      builder, name, name, unit, FLAM_MEASURE_CPU, column, event);
}

void
flam_builder_set_denominator (FlamBuilder *builder,
                              guint measure,
                              gint64 denominator)
{
  g_assert (measure < builder->tables.measures.n && denominator > 0);
  cells (builder, gint64, measures.denominator)[measure] = denominator;
}

void
flam_builder_reduce (FlamBuilder *builder, guint measure)
{
  FlamTables *tables = &builder->tables;
  gint64 *denominator = &cells (builder, gint64, measures.denominator)[measure];
  gint64 event = tables->measures.event[measure];
  const guint16 *events = tables->profile.samples.event;
  gint64 *weights;

  g_assert (tables->measures.column[measure] >= 0);
  weights =
      flam_tables_weights (tables, (guint)tables->measures.column[measure]);
  for (guint turn = 0; turn < 2 && *denominator > 1; turn++)
    for (FlamId i = 0; i < tables->profile.samples.n; i++)
      if (event >= 0 && event != (events != NULL ? events[i] : 0))
        continue;
      else if (turn == 1)
        weights[i] /= *denominator;
      else if (weights[i] % *denominator != 0)
        return;
  *denominator = 1;
}

void
flam_builder_set_spans (FlamBuilder *builder, guint measure, FlamSpans spans)
{
  g_assert (measure < builder->tables.measures.n);
  cells (builder, guint8, measures.spans)[measure] = spans;
}

/* The optional cells of a sample; they are 0 until they are set. */
static void
add_given (FlamBuilder *builder, const FlamSample *sample, FlamId row)
{
  const FlamTableInfo *infos = &flam_table_infos[FLAM_TABLE_SAMPLES];

  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];
      gpointer *data = flam_tables_array (&builder->tables, info);
      gint64 value;

      if (info->given == 0)
        continue;
      value = flam_cell_get ((const char *)sample + info->given, info, 0);
      if (value == 0)
        continue;
      flam_tables_begin (&builder->tables, FLAM_TABLE_SAMPLES, info);
      flam_cell_set (*data, info, row, value);
    }
}

void
flam_builder_add_sample (FlamBuilder *builder,
                         const FlamSample *sample,
                         const gint64 *weights)
{
  const FlamProfile *profile = &builder->tables.profile;
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_SAMPLES);

  g_assert (builder->base == NULL);
  g_assert (sample->thread < profile->threads.n);
  g_assert (sample->stack == FLAM_NONE || sample->stack < profile->stacks.n);
  g_assert (sample->state < FLAM_N_STATES);

  cells (builder, FlamId, sample_thread)[row] = sample->thread;
  cells (builder, FlamId, profile.samples.stack)[row] = sample->stack;
  if (builder->has_times)
    cells (builder, gint64, profile.samples.time)[row] = sample->time;
  if (sample->event != 0 || sample->state != 0 || sample->labels != 0)
    add_given (builder, sample, row);
  for (guint i = 0; i < builder->tables.weights->len; i++)
    flam_tables_weights (&builder->tables, i)[row] = weights[i];
}

void
flam_builder_reserve_samples (FlamBuilder *builder, gsize n)
{
  flam_tables_reserve (
      &builder->tables,
      FLAM_TABLE_SAMPLES,
      (guint32)MIN (builder->tables.profile.samples.n + n, FLAM_NONE - 1));
}

void
flam_builder_set_has_times (FlamBuilder *builder)
{
  builder->has_times = TRUE;
  flam_tables_begin (&builder->tables,
                     FLAM_TABLE_SAMPLES,
                     &flam_table_infos[FLAM_TABLE_SAMPLES].columns[0]);
}

void
flam_builder_set_origin (FlamBuilder *builder, gint64 time)
{
  builder->has_origin = TRUE;
  builder->origin = time;
}

/* --- memory, counters, marks --------------------------------------------- */

void
flam_builder_add_allocation (FlamBuilder *builder,
                             const FlamAllocation *allocation)
{
  const FlamProfile *profile = &builder->tables.profile;
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_ALLOCATIONS);

  g_assert (builder->base == NULL);
  g_assert (allocation->thread == FLAM_NONE ||
            allocation->thread < profile->threads.n);
  g_assert (allocation->stack == FLAM_NONE ||
            allocation->stack < profile->stacks.n);
  g_assert (allocation->allocator < FLAM_N_ALLOCATORS);
#define set(type, member)                                                      \
  cells (builder, type, profile.allocations.member)[row] = allocation->member
  set (gint64, time);
  set (gint64, freed_at);
  set (gint64, size);
  set (gint64, count);
  set (gint64, at_peak);
  set (gint64, born_more);
  set (gint64, died_more);
  set (FlamId, thread);
  set (FlamId, stack);
  set (guint16, distance);
  set (guint8, allocator);
#undef set
}

void
flam_builder_reserve_allocations (FlamBuilder *builder, gsize n)
{
  flam_tables_reserve (
      &builder->tables,
      FLAM_TABLE_ALLOCATIONS,
      (guint32)MIN (builder->tables.profile.allocations.n + n, FLAM_NONE - 1));
}

/* Those found in every recording come first. */
#define N_RECORDED 8

static const struct
{
  FlamMeasureSource source;
  FlamStandardMeasure measure;
} allocation_measures[] = {
  { FLAM_FROM_PEAK, FLAM_STANDARD_PEAK },
  { FLAM_FROM_LEAKED, FLAM_STANDARD_LEAKED },
  { FLAM_FROM_ALLOCATED, FLAM_STANDARD_ALLOCATED },
  { FLAM_FROM_ALLOCATIONS, FLAM_STANDARD_ALLOCATIONS },
  { FLAM_FROM_TEMPORARY, FLAM_STANDARD_TEMPORARY },
  { FLAM_FROM_PEAK_BLOCKS, FLAM_STANDARD_PEAK_BLOCKS },
  { FLAM_FROM_LEAKED_BLOCKS, FLAM_STANDARD_LEAKED_BLOCKS },
  { FLAM_FROM_TEMPORARY_BYTES, FLAM_STANDARD_TEMPORARY_BYTES },
  { FLAM_FROM_PEAK_USEFUL, FLAM_STANDARD_PEAK_USEFUL },
};

void
flam_builder_add_allocation_measure (FlamBuilder *builder,
                                     FlamMeasureSource source)
{
  for (guint i = 0; i < G_N_ELEMENTS (allocation_measures); i++)
    if (allocation_measures[i].source == source)
      add_standard_measure (
          builder, allocation_measures[i].measure, source, -1, FLAM_NONE);
}

void
flam_builder_add_allocation_measures (FlamBuilder *builder)
{
  for (guint i = 0; i < N_RECORDED; i++)
    flam_builder_add_allocation_measure (builder,
                                         allocation_measures[i].source);
}

guint
flam_builder_add_counter (FlamBuilder *builder, const char *id, FlamUnit unit)
{
  gint64 values[] = { flam_builder_string (builder, id, -1), unit };

  return flam_tables_add (&builder->tables, FLAM_TABLE_COUNTERS, values);
}

void
flam_builder_add_counter_value (FlamBuilder *builder,
                                guint counter,
                                gint64 time,
                                gint64 value)
{
  g_assert (counter < builder->tables.counters.n);
  flam_tables_add (&builder->tables,
                   FLAM_TABLE_COUNTER_VALUES,
                   (gint64[]){ counter, time, value });
}

void
flam_builder_add_mark (FlamBuilder *builder,
                       gint64 time,
                       gint64 duration,
                       FlamId thread,
                       const char *name)
{
  gint64 values[] = {
    time, MAX (duration, 0), thread, flam_builder_string (builder, name, -1)
  };

  g_assert (thread == FLAM_NONE || thread < builder->tables.profile.threads.n);
  flam_tables_add (&builder->tables, FLAM_TABLE_MARKS, values);
}

guint32
flam_builder_add_labels (FlamBuilder *builder,
                         const FlamSampleLabel *labels,
                         guint n)
{
  const FlamSampleLabels *rows = &builder->tables.profile.labels;
  guint32 set = (rows->n > 0 ? rows->set[rows->n - 1] : 0) + (n > 0);

  for (guint i = 0; i < n; i++)
    {
      const FlamSampleLabel *label = &labels[i];
      FlamId unit = label->unit != NULL
                        ? flam_builder_string (builder, label->unit, -1)
                        : FLAM_NONE;
      FlamId key = flam_builder_string (builder, label->key, -1);
      FlamId value = flam_builder_string (builder, label->value, -1);
      FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_LABELS);

      cells (builder, guint32, profile.labels.set)[row] = set;
      cells (builder, FlamId, profile.labels.key)[row] = key;
      cells (builder, FlamId, profile.labels.value)[row] = value;
      cells (builder, gint64, profile.labels.number)[row] = label->number;
      cells (builder, FlamId, profile.labels.unit)[row] = unit;
    }
  return n > 0 ? set : 0;
}

void
flam_builder_add_note (FlamBuilder *builder,
                       const char *text,
                       const char *function,
                       gint64 from,
                       gint64 to,
                       gint64 written)
{
  FlamId what = flam_builder_string (builder, text, -1);
  FlamId of = function != NULL ? flam_builder_string (builder, function, -1)
                               : FLAM_NONE;
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_NOTES);

  cells (builder, FlamId, profile.notes.text)[row] = what;
  cells (builder, FlamId, profile.notes.function)[row] = of;
  cells (builder, gint64, profile.notes.from)[row] = from;
  cells (builder, gint64, profile.notes.to)[row] = to;
  cells (builder, gint64, profile.notes.written)[row] = written;
}

void
flam_builder_drop_notes (FlamBuilder *builder)
{
  FlamTables *tables = &builder->tables;

  flam_tables_drop (tables, FLAM_TABLE_NOTES, tables->profile.notes.n);
}

void
flam_builder_add_source (FlamBuilder *builder,
                         const char *path,
                         const char *text,
                         gssize length)
{
  FlamId name = flam_builder_string (builder, path, -1);
  FlamId what = flam_builder_string (builder, text, length);
  FlamId row = flam_tables_push (&builder->tables, FLAM_TABLE_SOURCES);

  cells (builder, FlamId, profile.sources.path)[row] = name;
  cells (builder, FlamId, profile.sources.text)[row] = what;
}

/* --- names that change --------------------------------------------------- */

static void
keep_name (FlamBuilder *builder,
           FlamId process,
           FlamId thread,
           FlamId before,
           gint64 time,
           const char *name)
{
  const char *old = flam_builder_get_string (builder, before);
  FlamId row;

  if (*old == '\0' || strcmp (old, name) == 0)
    return;
  row = flam_tables_push (&builder->tables, FLAM_TABLE_FORMER_NAMES);
  cells (builder, FlamId, profile.former_names.process)[row] = process;
  cells (builder, FlamId, profile.former_names.thread)[row] = thread;
  cells (builder, FlamId, profile.former_names.name)[row] = before;
  cells (builder, gint64, profile.former_names.until)[row] = time;
}

void
flam_builder_rename_process (FlamBuilder *builder,
                             FlamId process,
                             gint64 time,
                             const char *name)
{
  g_assert (process < builder->tables.profile.processes.n);
  keep_name (builder,
             process,
             FLAM_NONE,
             builder->tables.profile.processes.name[process],
             time,
             name);
  flam_builder_set_process_name (builder, process, name);
}

void
flam_builder_rename_thread (FlamBuilder *builder,
                            FlamId thread,
                            gint64 time,
                            const char *name)
{
  g_assert (thread < builder->tables.profile.threads.n);
  keep_name (builder,
             FLAM_NONE,
             thread,
             builder->tables.profile.threads.name[thread],
             time,
             name);
  flam_builder_set_thread_name (builder, thread, name);
}
