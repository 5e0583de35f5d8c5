/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The builder's rows that are not interned: samples, memory, counters, marks,
 * facts. */

#include "flam-builder-private.h"

#include <stdarg.h>

#define WARNINGS_MAX 100
/* Facts that nobody knows, and the size of one. */
#define OTHERS_MAX 100
#define OTHER_MAX 4096

#define push(builder, type, which, value)                                      \
  flam_column_append (&(builder)->columns[which], type, value)

/* --- samples ------------------------------------------------------------- */

guint
flam_builder_add_column (FlamBuilder *builder)
{
  FlamColumn column;

  g_assert (builder->columns[COLUMN_SAMPLE_STACK].n == 0);
  flam_column_init (&column, sizeof (gint64));
  g_array_append_val (builder->weights, column);
  return builder->weights->len - 1;
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
  PendingMeasure pending = {
    .measure = { .id = flam_builder_string (builder, id, -1),
                 .name = flam_builder_string (builder, name, -1),
                 .unit = unit,
                 .kind = kind,
                 .source = source,
                 .event = event,
                 .denominator = 1 },
    .column = column,
  };

  g_assert (builder->base == NULL);
  g_assert (column < (int)builder->weights->len);
  g_array_append_val (builder->measures, pending);
  return builder->measures->len - 1;
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

void
flam_builder_set_denominator (FlamBuilder *builder,
                              guint measure,
                              gint64 denominator)
{
  g_assert (measure < builder->measures->len && denominator > 0);
  g_array_index (builder->measures, PendingMeasure, measure)
      .measure.denominator = denominator;
}

void
flam_builder_set_spans (FlamBuilder *builder, guint measure)
{
  g_assert (measure < builder->measures->len);
  g_array_index (builder->measures, PendingMeasure, measure).measure.spans =
      TRUE;
}

void
flam_builder_add_sample (FlamBuilder *builder,
                         const FlamSample *sample,
                         const gint64 *weights)
{
  FlamColumn *columns = builder->columns;
  FlamColumn *events = &columns[COLUMN_SAMPLE_EVENT];
  FlamColumn *states = &columns[COLUMN_SAMPLE_STATE];
  gsize row = columns[COLUMN_SAMPLE_STACK].n;

  g_assert (builder->base == NULL);
  g_assert (row < FLAM_NONE);
  g_assert (sample->thread < columns[COLUMN_THREAD_TID].n);
  g_assert (sample->stack == FLAM_NONE ||
            sample->stack < columns[COLUMN_STACK_FRAME].n);
  g_assert (sample->state < FLAM_N_STATES);

  push (builder, FlamId, COLUMN_SAMPLE_THREAD, sample->thread);
  push (builder, FlamId, COLUMN_SAMPLE_STACK, sample->stack);
  if (builder->has_times)
    push (builder, gint64, COLUMN_SAMPLE_TIME, sample->time);
  if (events->n > 0 || sample->event != 0)
    {
      flam_column_backfill (events, row);
      flam_column_append (events, guint16, sample->event);
    }
  if (states->n > 0 || sample->state != FLAM_STATE_RUNNING)
    {
      flam_column_backfill (states, row);
      flam_column_append (states, guint8, sample->state);
    }
  for (guint i = 0; i < builder->weights->len; i++)
    flam_column_append (
        &g_array_index (builder->weights, FlamColumn, i), gint64, weights[i]);
}

void
flam_builder_set_has_times (FlamBuilder *builder)
{
  if (builder->has_times)
    return;
  flam_column_backfill (&builder->columns[COLUMN_SAMPLE_TIME],
                        builder->columns[COLUMN_SAMPLE_STACK].n);
  builder->has_times = TRUE;
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
  g_assert (builder->base == NULL);
  g_assert (builder->columns[COLUMN_ALLOCATION_TIME].n < FLAM_NONE);
  g_assert (allocation->thread == FLAM_NONE ||
            allocation->thread < builder->columns[COLUMN_THREAD_TID].n);
  g_assert (allocation->stack == FLAM_NONE ||
            allocation->stack < builder->columns[COLUMN_STACK_FRAME].n);
  g_assert (allocation->allocator < FLAM_N_ALLOCATORS);
#define add(type, which, value)                                                \
  push (builder, type, COLUMN_ALLOCATION_##which, value)
  add (gint64, TIME, allocation->time);
  add (gint64, FREED_AT, allocation->freed_at);
  add (gint64, SIZE, allocation->size);
  add (gint64, COUNT, allocation->count);
  add (gint64, AT_PEAK, allocation->at_peak);
  add (FlamId, THREAD, allocation->thread);
  add (FlamId, STACK, allocation->stack);
  add (guint16, DISTANCE, allocation->distance);
  add (guint8, ALLOCATOR, allocation->allocator);
#undef add
}

void
flam_builder_reserve_allocations (FlamBuilder *builder, gsize n)
{
  for (guint i = COLUMN_ALLOCATION_TIME; i <= COLUMN_ALLOCATION_ALLOCATOR; i++)
    flam_column_reserve (&builder->columns[i], builder->columns[i].n + n);
}

static const struct
{
  const char *id;
  const char *name;
  FlamUnit unit;
  FlamMeasureSource source;
} allocation_measures[] = {
  { "peak", "Peak memory", FLAM_UNIT_BYTES, FLAM_FROM_PEAK },
  { "leaked", "Leaked memory", FLAM_UNIT_BYTES, FLAM_FROM_LEAKED },
  { "allocated", "Allocated memory", FLAM_UNIT_BYTES, FLAM_FROM_ALLOCATED },
  { "allocations", "Allocations", FLAM_UNIT_COUNT, FLAM_FROM_ALLOCATIONS },
  { "temporary",
    "Temporary allocations",
    FLAM_UNIT_COUNT,
    FLAM_FROM_TEMPORARY },
  { "peak-blocks",
    "Blocks at the peak",
    FLAM_UNIT_COUNT,
    FLAM_FROM_PEAK_BLOCKS },
  { "leaked-blocks",
    "Leaked blocks",
    FLAM_UNIT_COUNT,
    FLAM_FROM_LEAKED_BLOCKS },
  { "temporary-bytes",
    "Temporary memory",
    FLAM_UNIT_BYTES,
    FLAM_FROM_TEMPORARY_BYTES },
};

void
flam_builder_add_allocation_measure (FlamBuilder *builder,
                                     FlamMeasureSource source)
{
  for (guint i = 0; i < G_N_ELEMENTS (allocation_measures); i++)
    if (allocation_measures[i].source == source)
      add_measure (builder,
                   allocation_measures[i].id,
                   allocation_measures[i].name,
                   allocation_measures[i].unit,
                   FLAM_MEASURE_ALLOC,
                   source,
                   -1,
                   FLAM_NONE);
}

void
flam_builder_add_allocation_measures (FlamBuilder *builder)
{
  for (guint i = 0; i < G_N_ELEMENTS (allocation_measures); i++)
    flam_builder_add_allocation_measure (builder,
                                         allocation_measures[i].source);
}

guint
flam_builder_add_counter (FlamBuilder *builder, const char *id, FlamUnit unit)
{
  PendingCounter counter = { flam_builder_string (builder, id, -1), unit };

  flam_column_init (&counter.time, sizeof (gint64));
  flam_column_init (&counter.value, sizeof (gint64));
  g_array_append_val (builder->counters, counter);
  return builder->counters->len - 1;
}

void
flam_builder_add_counter_value (FlamBuilder *builder,
                                guint counter,
                                gint64 time,
                                gint64 value)
{
  PendingCounter *c;

  g_assert (counter < builder->counters->len);
  c = &g_array_index (builder->counters, PendingCounter, counter);
  flam_column_append (&c->time, gint64, time);
  flam_column_append (&c->value, gint64, value);
}

void
flam_builder_add_mark (FlamBuilder *builder,
                       gint64 time,
                       gint64 duration,
                       FlamId thread,
                       const char *name)
{
  g_assert (thread == FLAM_NONE ||
            thread < builder->columns[COLUMN_THREAD_TID].n);
  push (builder, gint64, COLUMN_MARK_TIME, time);
  push (builder, gint64, COLUMN_MARK_DURATION, MAX (duration, 0));
  push (builder, FlamId, COLUMN_MARK_THREAD, thread);
  push (builder,
        FlamId,
        COLUMN_MARK_NAME,
        flam_builder_string (builder, name, -1));
}

/* --- facts --------------------------------------------------------------- */

static const char *
keep_text (FlamBuilder *builder, const char *text)
{
  g_autofree char *valid = g_utf8_make_valid (text ? text : "", -1);

  return g_string_chunk_insert_const (builder->texts, valid);
}

FlamFacts *
flam_builder_facts (FlamBuilder *builder)
{
  return &builder->facts;
}

void
flam_builder_set_format (FlamBuilder *builder, const char *importer_id)
{
  builder->facts.format = keep_text (builder, importer_id);
}

void
flam_builder_set_command (FlamBuilder *builder, const char *command)
{
  builder->facts.command = keep_text (builder, command);
}

void
flam_builder_set_partial (FlamBuilder *builder, double read_fraction)
{
  builder->facts.complete = FALSE;
  builder->facts.read_fraction = CLAMP (read_fraction, 0, 1);
}

static void
keep_other (FlamBuilder *builder, const char *key, const char *value)
{
  if (builder->others->len >= 2 * OTHERS_MAX ||
      strnlen (value, OTHER_MAX) == OTHER_MAX)
    return;
  g_ptr_array_add (builder->others, (gpointer)keep_text (builder, key));
  g_ptr_array_add (builder->others, (gpointer)keep_text (builder, value));
}

void
flam_builder_set_fact (FlamBuilder *builder, const char *key, const char *value)
{
  const FlamFact *fact = flam_fact_of_key (key);
  gint64 number = MAX (g_ascii_strtoll (value, NULL, 10), 0);
  gpointer member;

  if (fact == NULL)
    {
      keep_other (builder, key, value);
      return;
    }
  member = G_STRUCT_MEMBER_P (&builder->facts, fact->offset);
  if (fact->type == FLAM_FACT_TEXT)
    *(const char **)member = keep_text (builder, value);
  else if (fact->type == FLAM_FACT_FLAG)
    *(gboolean *)member = number != 0;
  else
    *(gint64 *)member = number;
}

void
flam_builder_copy_facts (FlamBuilder *builder, const FlamFacts *facts)
{
  builder->facts = *facts;
  flam_builder_set_format (builder, facts->format);
  flam_builder_set_command (builder, facts->command);
  for (guint i = 0; facts->others[i] != NULL; i += 2)
    keep_other (builder, facts->others[i], facts->others[i + 1]);
  for (guint i = 0; facts->warnings[i] != NULL; i++)
    flam_builder_warn (builder, "%s", facts->warnings[i]);
}

void
flam_builder_set_peak_time (FlamBuilder *builder, gint64 time)
{
  builder->peak_time = time;
}

void
flam_builder_warn (FlamBuilder *builder, const char *format, ...)
{
  g_autofree char *text = NULL;
  const char *kept;
  va_list args;

  if (builder->warnings->len >= WARNINGS_MAX)
    return;
  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  kept = keep_text (builder, text);
  if (!g_ptr_array_find (builder->warnings, kept, NULL))
    g_ptr_array_add (builder->warnings, (gpointer)kept);
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
  const char *old = flam_strings_get (&builder->strings, before);

  if (*old == '\0' || strcmp (old, name) == 0)
    return;
  push (builder, FlamId, COLUMN_FORMER_PROCESS, process);
  push (builder, FlamId, COLUMN_FORMER_THREAD, thread);
  push (builder, FlamId, COLUMN_FORMER_NAME, before);
  push (builder, gint64, COLUMN_FORMER_UNTIL, time);
}

void
flam_builder_rename_process (FlamBuilder *builder,
                             FlamId process,
                             gint64 time,
                             const char *name)
{
  g_assert (process < builder->columns[COLUMN_PROCESS_PID].n);
  keep_name (
      builder,
      process,
      FLAM_NONE,
      flam_column_at (&builder->columns[COLUMN_PROCESS_NAME], FlamId, process),
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
  g_assert (thread < builder->columns[COLUMN_THREAD_TID].n);
  keep_name (
      builder,
      FLAM_NONE,
      thread,
      flam_column_at (&builder->columns[COLUMN_THREAD_NAME], FlamId, thread),
      time,
      name);
  flam_builder_set_thread_name (builder, thread, name);
}
