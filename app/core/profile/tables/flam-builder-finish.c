/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finish(): everything is checked once, sorted, and frozen. */
#include "flam-builder-private.h"

#include "flam-order.h"

#include <string.h>

/* --- checks -------------------------------------------------------------- */

static gboolean
refuse (GError **error, const char *what)
{
  return flam_error_set (error, FLAM_ERROR_INVALID, "%s", what);
}

/* Sums of weights must not overflow: a tree adds them up without checks. */
gboolean
flam_builder_check_weight (gint64 *sum, gint64 weight, GError **error)
{
  if (weight < 0)
    return refuse (error, N_ ("a sample has a negative weight"));
  if (__builtin_add_overflow (*sum, weight, sum))
    return refuse (error, N_ ("the weights add up to more than 2^63"));
  return TRUE;
}

static gboolean
check_weights (FlamBuilder *builder, GError **error)
{
  if (builder->laid != NULL)
    return TRUE;
  for (guint c = 0; c < builder->tables.weights->len; c++)
    {
      const gint64 *weights = flam_tables_weights (&builder->tables, c);
      gint64 sum = 0;

      for (guint32 i = 0; i < builder->tables.profile.samples.n; i++)
        if (!flam_builder_check_weight (&sum, weights[i], error))
          return FALSE;
    }
  return TRUE;
}

static gboolean
check_allocations (FlamBuilder *builder, GError **error)
{
  const FlamAllocations *rows = &builder->tables.profile.allocations;
  gint64 bytes = 0;
  gint64 blocks = 0;

  for (guint32 i = 0; i < rows->n; i++)
    {
      gint64 count = rows->count[i];
      gint64 total;

      if (rows->size[i] < 0 || count < 0 || rows->at_peak[i] > count ||
          rows->born_more[i] > count || rows->born_more[i] < -count ||
          rows->died_more[i] > count || rows->died_more[i] < 0)
        return refuse (error, N_ ("an allocation has an impossible size"));
      if (__builtin_mul_overflow (rows->size[i], count, &total) ||
          __builtin_add_overflow (bytes, total, &bytes) ||
          __builtin_add_overflow (blocks, count, &blocks))
        return refuse (error, N_ ("the allocations add up to more than 2^63"));
    }
  return TRUE;
}

/* Checked, so that an array of sets cannot be larger than the table. */
static gboolean
check_labels (FlamBuilder *builder, GError **error)
{
  const FlamSampleLabels *labels = &builder->tables.profile.labels;

  for (guint32 i = 0, last = 0; i < labels->n; last = labels->set[i++])
    if (labels->set[i] != last + 1 && (labels->set[i] != last || last == 0))
      return refuse (error, N_ ("the sets of labels are not in order"));
  return TRUE;
}

static gboolean
holds_weight (const FlamBuilder *builder)
{
  const FlamTables *tables = &builder->tables;
  guint32 n = tables->profile.samples.n;

  for (guint i = 0; i < tables->measures.n; i++)
    if (n > 0 && tables->measures.column[i] < 0)
      return TRUE;
  for (guint c = 0; builder->laid != NULL && c < tables->weights->len; c++)
    if (builder->laid->sums[c] > 0)
      return TRUE;
  for (guint c = 0; builder->laid == NULL && c < tables->weights->len; c++)
    for (guint32 i = 0; i < n; i++)
      if (flam_tables_weights (tables, c)[i] > 0)
        return TRUE;
  return FALSE;
}

/* An empty picture always comes with a warning, whatever the format. */
static void
warn_if_empty (FlamBuilder *builder)
{
  const FlamProfile *profile = &builder->tables.profile;

  if (profile->allocations.n > 0 || holds_weight (builder))
    return;
  if (profile->samples.n == 0)
    flam_builder_warn (builder, N_ ("the capture has no samples"));
  else
    flam_builder_warn (builder,
                       N_ ("all samples of the capture have weight 0"));
}

static gboolean
check_all (FlamBuilder *builder, GError **error)
{
  if (!check_weights (builder, error) || !check_allocations (builder, error) ||
      !check_labels (builder, error))
    return FALSE;
  warn_if_empty (builder);
  return TRUE;
}

/* --- times -------------------------------------------------------- */

static gint64
time_since (gint64 time, gint64 origin)
{
  gint64 difference;

  if (__builtin_sub_overflow (time, origin, &difference))
    return time > origin ? G_MAXINT64 - 1 : G_MININT64 + 1;
  return MIN (difference, FLAM_NEVER - 1);
}

typedef struct
{
  gint64 first;
  gint64 last;
} Span;

/* The end of a span is part of the capture, in particular that of the last
   one. */
static void
span_ends (Span *span, const FlamTables *tables, guint m)
{
  const FlamSamples *samples = &tables->profile.samples;
  gint64 column = tables->measures.column[m];
  gint64 wanted = tables->measures.event[m];
  const gint64 *weights;

  if (!tables->measures.spans[m] || column < 0 || samples->time == NULL)
    return;
  weights = flam_tables_weights (tables, (guint)column);
  for (guint32 i = 0; i < samples->n; i++)
    {
      gint64 event = samples->event != NULL ? samples->event[i] : 0;
      gint64 end;

      if ((wanted < 0 || wanted == event) &&
          !__builtin_add_overflow (samples->time[i], weights[i], &end))
        span->last = MAX (span->last, end);
    }
}

static Span
find_span (FlamBuilder *builder)
{
  const FlamTables *tables = &builder->tables;
  const FlamAllocations *allocations = &tables->profile.allocations;
  const FlamMarks *marks = &tables->profile.marks;
  Span span = { G_MAXINT64, G_MININT64 };
  gint64 end;

  if (builder->laid != NULL && builder->laid->n > 0)
    span = (Span){ builder->laid->first, builder->laid->last };
  for (guint t = FLAM_TABLE_MODULES; t < FLAM_N_TABLES; t++)
    {
      FlamColumnIter iter = { NULL };

      if (builder->laid != NULL && t == FLAM_TABLE_SAMPLES)
        continue;
      while (flam_tables_next (tables, t, &iter))
        for (guint32 i = 0;
             iter.info->flags & FLAM_COLUMN_SPAN && *iter.data != NULL &&
             i < *flam_tables_n (tables, t);
             i++)
          {
            gint64 time = ((gint64 *)*iter.data)[i];

            span.first = MIN (span.first, time);
            span.last = MAX (span.last, time);
          }
    }
  for (guint m = 0; m < tables->measures.n; m++)
    span_ends (&span, tables, m);
  for (guint32 i = 0; i < marks->n; i++)
    if (!__builtin_add_overflow (marks->time[i], marks->duration[i], &end))
      span.last = MAX (span.last, end);
  for (guint32 i = 0; i < allocations->n; i++)
    if (allocations->freed_at[i] != FLAM_NEVER)
      span.last = MAX (span.last, allocations->freed_at[i]);
  if (builder->has_origin && span.first != G_MAXINT64)
    span.first = MIN (span.first, builder->origin);
  if (span.first == G_MAXINT64)
    span = (Span){ 0, 0 };
  return span;
}

static void
shift_times (FlamBuilder *builder, gint64 origin)
{
  const FlamTables *tables = &builder->tables;
  gint64 *freed = cells (builder, gint64, profile.allocations.freed_at);

  for (guint t = FLAM_TABLE_MODULES; t < FLAM_N_TABLES; t++)
    {
      FlamColumnIter iter = { NULL };

      if (builder->laid != NULL && t == FLAM_TABLE_SAMPLES)
        continue;
      while (flam_tables_next (tables, t, &iter))
        for (guint32 i = 0;
             iter.info->flags & FLAM_COLUMN_TIME && *iter.data != NULL &&
             i < *flam_tables_n (tables, t);
             i++)
          ((gint64 *)*iter.data)[i] =
              time_since (((gint64 *)*iter.data)[i], origin);
    }
  if (builder->peak_time != G_MININT64)
    builder->peak_time = time_since (builder->peak_time, origin);
  for (guint32 i = 0; i < tables->profile.allocations.n; i++)
    if (freed[i] != FLAM_NEVER)
      freed[i] = MAX (time_since (freed[i], origin),
                      tables->profile.allocations.time[i]);
}

/* --- finish: order ------------------------------------------------------- */

/* Counts each thread's samples. TRUE: they are already thread by thread, and
 * ascend in time. */
static gboolean
count_in_order (const FlamBuilder *builder, guint32 *count)
{
  const FlamThreadId *thread = builder->tables.sample_thread;
  const gint64 *times = builder->tables.profile.samples.time;
  gboolean ordered = TRUE;

  for (guint32 i = 0; i < builder->tables.profile.samples.n; i++)
    {
      count[thread[i]]++;
      if (i > 0 && (thread[i] < thread[i - 1] ||
                    (thread[i] == thread[i - 1] && times != NULL &&
                     times[i] < times[i - 1])))
        ordered = FALSE;
    }
  return ordered;
}

/* The rows of samples, thread by thread, ascending in time, ties in their
 * original order. NULL when they are already in that order. */
static guint32 *
sample_order (FlamBuilder *builder, guint32 *first, guint32 *count)
{
  const FlamThreadId *thread = builder->tables.sample_thread;
  const gint64 *times = builder->tables.profile.samples.time;
  guint32 n = builder->tables.profile.samples.n;
  guint32 n_threads = builder->tables.profile.threads.n;
  gboolean ordered = count_in_order (builder, count);
  guint32 *order;

  for (guint32 t = 0, at = 0; t < n_threads; at += count[t++])
    first[t] = at;
  if (ordered)
    return NULL;
  order = g_new (guint32, n);
  memset (count, 0, n_threads * sizeof *count);
  for (guint32 i = 0; i < n; i++)
    order[first[thread[i]] + count[thread[i]]++] = i;
  for (guint32 t = 0; times != NULL && t < n_threads; t++)
    flam_order_by_time (order + first[t], count[t], times);
  return order;
}

/* --- finish: freezing ---------------------------------------------------- */

static void
own (FlamProfileBox *box, gpointer data)
{
  if (data != NULL)
    g_ptr_array_add (box->owned, data);
}

/* Hands a column to the profile: shrunk to fit, or lent if the table still
 * grows; NULL if there are no rows. */
static gpointer
freeze_cells (FlamTables *tables,
              FlamTable table,
              gpointer *data,
              guint size,
              FlamProfileBox *box)
{
  guint32 n = *flam_tables_n (tables, table);
  gpointer frozen = NULL;

  if (tables->shared[table])
    {
      if (n > 0 && *data != NULL)
        g_ptr_array_add (box->lent, frozen = g_atomic_rc_box_acquire (*data));
      return frozen;
    }
  frozen = g_steal_pointer (data);
  if (n == 0)
    g_clear_pointer (&frozen, g_free);
  else if (frozen != NULL)
    frozen = g_realloc_n (frozen, n, size);
  own (box, frozen);
  return frozen;
}

/* The columns of a table that the profile has. */
static void
freeze_table (FlamTables *tables, FlamTable table, FlamProfileBox *box)
{
  const FlamTableInfo *infos = &flam_table_infos[table];
  guint32 n = *flam_tables_n (tables, table);

  *(guint32 *)((char *)&box->tables + infos->offset) = n;
  for (guint i = 0; i < infos->n_columns; i++)
    {
      const FlamColumnInfo *info = &infos->columns[i];

      if (info->offset < sizeof (FlamProfile))
        *(gpointer *)((char *)&box->tables + info->offset) = freeze_cells (
            tables, table, flam_tables_array (tables, info), info->size, box);
    }
}

static void
freeze_stacks (FlamBuilder *builder, FlamProfileBox *box)
{
  for (guint t = FLAM_TABLE_MODULES; t <= FLAM_TABLE_STACKS; t++)
    freeze_table (&builder->tables, t, box);
}

static void
freeze_lanes (FlamBuilder *builder, FlamProfileBox *box)
{
  const FlamColumn *lanes = &builder->laid->lanes;

  for (FlamId t = 0; t < lanes->n; t++)
    {
      const FlamLane *lane = &flam_column_at (lanes, FlamLane, t);

      flam_cell (box->tables.threads.first_sample, guint32, t) = lane->first;
      flam_cell (box->tables.threads.n_samples, guint32, t) = lane->n;
    }
}

static guint
find_states (const FlamSamples *samples)
{
  guint states = 0;

  if (samples->state == NULL)
    return samples->n > 0 ? FLAM_STATES_CPU : 0;
  for (guint32 i = 0; i < samples->n; i++)
    states |= 1u << samples->state[i];
  return states;
}

/* Call after the columns: until then `n` is that of the builder's cells. */
static void
count_samples (const FlamBuilder *builder, FlamProfileBox *box)
{
  FlamSamples *samples = &box->tables.samples;

  if (builder->laid != NULL)
    samples->n = builder->laid->n;
  samples->states =
      builder->laid != NULL ? builder->laid->states : find_states (samples);
}

static void
freeze_threads (FlamBuilder *builder, FlamProfileBox *box)
{
  FlamProfile *p = &box->tables;
  guint32 n_threads = builder->tables.profile.threads.n;
  guint32 *first = g_new0 (guint32, n_threads + 1);
  guint32 *count = g_new0 (guint32, n_threads + 1);
  g_autofree guint32 *order = NULL;

  p->threads.first_sample = first;
  p->threads.n_samples = count;
  own (box, first);
  own (box, count);
  if (builder->laid != NULL)
    {
      freeze_lanes (builder, box);
      return;
    }
  order = sample_order (builder, first, count);
  g_clear_pointer ((gpointer *)&builder->tables.sample_thread, g_free);
  flam_tables_reorder (&builder->tables, FLAM_TABLE_SAMPLES, order);
}

/* Rows by time of allocation, ties in their original order. NULL when they are
 * already in that order. */
static guint32 *
allocation_order (const FlamAllocations *rows)
{
  guint32 *order;
  gboolean ascending = TRUE;

  for (guint32 i = 1; i < rows->n; i++)
    ascending = ascending && rows->time[i - 1] <= rows->time[i];
  if (ascending)
    return NULL;
  order = g_new (guint32, rows->n);
  for (guint32 i = 0; i < rows->n; i++)
    order[i] = i;
  flam_order_by_time (order, rows->n, rows->time);
  return order;
}

/* An allocation reaches the mark, and all blocks live at the mark are at least
 * as old. */
static gint64
find_peak_time (const FlamAllocations *table, gint64 told)
{
  gint64 last = -1;

  for (FlamId i = table->n; i-- > 0 && last < 0;)
    if (table->at_peak[i] > 0)
      last = table->time[i];
  return last < 0 ? last : MAX (last, told);
}

static void
freeze_allocations (FlamBuilder *builder, FlamProfileBox *box)
{
  FlamAllocations *rows = &builder->tables.profile.allocations;
  g_autofree guint32 *order = allocation_order (rows);
  gboolean has_peak = rows->n > 0;

  for (guint32 i = 0; i < rows->n; i++)
    has_peak = has_peak && rows->at_peak[i] >= 0;
  if (!has_peak)
    g_clear_pointer ((gpointer *)&rows->at_peak, g_free);
  flam_tables_reorder (&builder->tables, FLAM_TABLE_ALLOCATIONS, order);
  box->tables.allocations.peak_time =
      has_peak ? find_peak_time (rows, builder->peak_time) : -1;
}

static void
freeze_measures (FlamBuilder *builder, FlamProfileBox *box)
{
  const FlamMeasureRows *rows = &builder->tables.measures;
  GArray *weights = builder->tables.weights;
  FlamMeasure *measures = g_new0 (FlamMeasure, rows->n + 1);
  g_autofree gpointer *columns = g_new (gpointer, weights->len + 1);

  for (guint i = 0; i < weights->len; i++)
    columns[i] = freeze_cells (&builder->tables,
                               FLAM_TABLE_SAMPLES,
                               &g_array_index (weights, FlamExtra, i).data,
                               sizeof (gint64),
                               box);
  for (guint i = 0; i < rows->n; i++)
    measures[i] = (FlamMeasure){
      .id = rows->id[i],
      .name = rows->name[i],
      .unit = rows->unit[i],
      .kind = rows->kind[i],
      .source = rows->source[i],
      .event = rows->event[i] < 0 ? FLAM_NONE : (FlamId)rows->event[i],
      .weight = rows->column[i] < 0 ? NULL : columns[rows->column[i]],
      .denominator = rows->denominator[i],
      .spans = rows->spans[i],
    };
  box->tables.measures = measures;
  box->tables.n_measures = rows->n;
  own (box, measures);
}

/* A counter of whole numbers counts in ones. */
static void
make_whole (FlamCounter *counter)
{
  if (counter->unit != FLAM_UNIT_THOUSANDTHS)
    return;
  for (guint32 i = 0; i < counter->n; i++)
    if (counter->value[i] % 1000 != 0)
      return;
  for (guint32 i = 0; i < counter->n; i++)
    flam_cell (counter->value, gint64, i) /= 1000;
  counter->unit = FLAM_UNIT_COUNT;
}

static void
freeze_counters (FlamBuilder *builder, FlamProfileBox *box)
{
  const FlamCounterRows *rows = &builder->tables.counters;
  const FlamCounterValueRows *values = &builder->tables.counter_values;
  FlamCounter *counters = g_new0 (FlamCounter, rows->n + 1);

  for (guint32 i = 0; i < values->n; i++)
    counters[values->counter[i]].n++;
  for (guint i = 0; i < rows->n; i++)
    {
      counters[i].id = rows->id[i];
      counters[i].unit = rows->unit[i];
      counters[i].time = g_new (gint64, counters[i].n);
      counters[i].value = g_new (gint64, counters[i].n);
      own (box, (gpointer)counters[i].time);
      own (box, (gpointer)counters[i].value);
      counters[i].n = 0;
    }
  for (guint32 i = 0; i < values->n; i++)
    {
      FlamCounter *counter = &counters[values->counter[i]];

      flam_cell (counter->time, gint64, counter->n) = values->time[i];
      flam_cell (counter->value, gint64, counter->n++) = values->value[i];
    }
  for (guint i = 0; i < rows->n; i++)
    make_whole (&counters[i]);
  box->tables.counters = counters;
  box->tables.n_counters = rows->n;
  own (box, counters);
}

/* Tables that have the same rows in a profile as in the file, so that columns
 * of a newer version can be written again. */
static gboolean
is_lasting (FlamTable table)
{
  return table == FLAM_TABLE_STRINGS || table == FLAM_TABLE_MODULES ||
         table == FLAM_TABLE_FUNCTIONS || table == FLAM_TABLE_THREADS ||
         table == FLAM_TABLE_SAMPLES || table == FLAM_TABLE_ALLOCATIONS ||
         table == FLAM_TABLE_MARKS || table == FLAM_TABLE_LABELS ||
         flam_table_is_newer (table);
}

static void
freeze_extras (FlamBuilder *builder, FlamProfileBox *box)
{
  GArray *extras = builder->tables.extras;

  box->extras = g_array_new (FALSE, FALSE, sizeof (FlamExtra));
  for (guint i = 0; i < extras->len; i++)
    {
      FlamExtra *extra = &g_array_index (extras, FlamExtra, i);

      if (!is_lasting (extra->table) ||
          (extra->info.encoding == FLAM_ENCODE_ID &&
           (!is_lasting (extra->info.refers_to) ||
            extra->info.refers_to > extra->table)))
        continue;
      extra->n = *flam_tables_n (&builder->tables, extra->table);
      own (box, extra->data);
      g_array_append_val (box->extras, *extra);
      extra->data = NULL;
    }
}

static const char *const *
own_texts (FlamProfileBox *box, GPtrArray *texts)
{
  gpointer *owned;

  g_ptr_array_add (texts, NULL);
  owned = g_ptr_array_steal (texts, NULL);
  own (box, owned);
  return (const char *const *)owned;
}

static void
freeze_facts (FlamBuilder *builder, FlamProfileBox *box, Span span)
{
  FlamFacts *facts = &box->tables.facts;

  *facts = builder->facts;
  facts->duration_ns =
      MAX (facts->duration_ns, time_since (span.last, span.first));
  if (facts->recorder_cpu_ns > 0 && facts->recorded_cpu_ns > 0)
    facts->recorder_share =
        (double)facts->recorder_cpu_ns / (double)facts->recorded_cpu_ns;
  facts->blocks_spread = flam_builder_blocks_spread (&box->tables.allocations,
                                                     facts->sample_bytes);
  facts->others = own_texts (box, builder->others);
  facts->warnings = own_texts (box, builder->warnings);
  box->texts = g_steal_pointer (&builder->texts);
}

static void
freeze_strings (FlamBuilder *builder, FlamProfileBox *box)
{
  if (builder->laid != NULL)
    {
      flam_column_init_lent (&box->strings.blob, &builder->tables.strings.blob);
      flam_column_init_lent (&box->strings.offsets,
                             &builder->tables.strings.offsets);
      return;
    }
  box->strings = builder->tables.strings;
  flam_interner_clear (&box->strings.interner);
  flam_strings_init (&builder->tables.strings);
}

/* --- finish: editing ----------------------------------------------------- */

static void
rebuild_stacks (FlamBuilder *builder, FlamId *map)
{
  const FlamStacks *old = &builder->base->stacks;

  for (FlamId s = 0; s < old->n; s++)
    {
      FlamStackId prefix = old->prefix[s];
      FlamFrameId frame = old->frame[s];
      guint32 n = flam_column_at (&builder->chain_length, guint32, frame);
      guint64 first = flam_column_at (&builder->chain_first, guint64, frame);
      FlamStackId stack = prefix == FLAM_NONE ? FLAM_NONE : map[prefix];

      if (n == 0)
        stack = flam_builder_stack (builder, stack, frame);
      for (guint32 i = 0; i < n; i++)
        stack = flam_builder_stack (
            builder,
            stack,
            flam_column_at (&builder->chains, FlamId, first + i));
      map[s] = stack;
    }
}

static void
remap (FlamId *to, const FlamStackId *stacks, guint32 n, const FlamId *map)
{
  for (guint32 i = 0; i < n; i++)
    to[i] = stacks[i] == FLAM_NONE ? FLAM_NONE : map[stacks[i]];
}

static void
remap_samples (FlamProfileBox *box, const FlamId *map)
{
  FlamProfile *p = &box->tables;
  FlamId *mapped = g_new (FlamId, flam_profile_sample_cells (p) + 1);

  for (FlamId t = 0; t < p->threads.n; t++)
    if (p->threads.n_samples[t] > 0)
      remap (mapped + p->threads.first_sample[t],
             p->samples.stack + p->threads.first_sample[t],
             p->threads.n_samples[t],
             map);
  g_ptr_array_add (box->owned, mapped);
  p->samples.stack = mapped;
}

static void
remap_allocations (FlamProfileBox *box, const FlamId *map)
{
  FlamAllocations *allocations = &box->tables.allocations;
  FlamId *mapped = g_new (FlamId, allocations->n + 1);

  remap (mapped, allocations->stack, allocations->n, map);
  g_ptr_array_add (box->owned, mapped);
  allocations->stack = mapped;
}

static FlamProfile *
finish_edit (FlamBuilder *builder)
{
  FlamProfileBox *box = flam_profile_box_new ();
  FlamProfile *p = &box->tables;
  g_autofree FlamId *map = g_new (FlamId, builder->base->stacks.n + 1);

  rebuild_stacks (builder, map);
  *p = *builder->base;
  box->base = g_steal_pointer (&builder->base);
  p->facts.warnings = own_texts (box, builder->warnings);
  box->texts = g_steal_pointer (&builder->texts);
  freeze_stacks (builder, box);
  remap_samples (box, map);
  if (p->allocations.n > 0)
    remap_allocations (box, map);
  freeze_strings (builder, box);
  return p;
}

/* Every thread gets a name: its own, its process's, or a number. */
static void
name_threads (FlamBuilder *builder)
{
  const FlamProfile *profile = &builder->tables.profile;
  const FlamThreads *threads = &profile->threads;

  for (FlamId t = 0; t < threads->n; t++)
    {
      gint32 tid = threads->tid[t];
      g_autofree char *number = g_strdup_printf ("thread %d", tid);
      FlamStringId *name = &cells (builder, FlamId, profile.threads.name)[t];

      if (*name == 0)
        *name = profile->processes.name[threads->process[t]];
      if (*name == 0)
        *name = flam_builder_string (
            builder, tid >= 0 ? number : "all threads", -1);
    }
}

static const char *
find_other (const FlamBuilder *builder, const char *key)
{
  for (guint i = 0; i < builder->others->len; i += 2)
    if (strcmp (builder->others->pdata[i], key) == 0)
      return builder->others->pdata[i + 1];
  return NULL;
}

/* A rank's capture has its rank as a fact. */
static void
rank_processes (FlamBuilder *builder)
{
  const FlamProcesses *processes = &builder->tables.profile.processes;
  const char *text = find_other (builder, FLAM_FACT_RANK);
  const char *host = find_other (builder, FLAM_FACT_HOST);
  guint64 rank;

  if (text == NULL ||
      !g_ascii_string_to_unsigned (text, 10, 0, FLAM_RANK_MAX, &rank, NULL))
    return;
  for (FlamId i = 0; i < processes->n; i++)
    if (processes->rank[i] == 0)
      flam_builder_set_process_rank (
          builder, i, (guint32)rank + 1, host != NULL ? host : "");
}

FlamProfile *
flam_builder_finish (FlamBuilder *builder, GError **error)
{
  FlamProfileBox *box;
  Span span;

  if (builder->base != NULL)
    return finish_edit (builder);
  if (builder->recorded && !flam_builder_fold (builder, NULL, error))
    return NULL;
  if (!check_all (builder, error))
    return NULL;

  name_threads (builder);
  rank_processes (builder);
  span = find_span (builder);
  if (builder->laid != NULL && span.first != 0)
    return NULL;
  shift_times (builder, span.first);
  box = flam_profile_box_new ();
  freeze_stacks (builder, box);
  freeze_threads (builder, box);
  freeze_allocations (builder, box);
  freeze_measures (builder, box);
  freeze_counters (builder, box);
  freeze_table (&builder->tables, FLAM_TABLE_PROCESSES, box);
  freeze_table (&builder->tables, FLAM_TABLE_THREADS, box);
  freeze_table (&builder->tables, FLAM_TABLE_SAMPLES, box);
  count_samples (builder, box);
  freeze_table (&builder->tables, FLAM_TABLE_ALLOCATIONS, box);
  freeze_table (&builder->tables, FLAM_TABLE_MARKS, box);
  freeze_table (&builder->tables, FLAM_TABLE_LABELS, box);
  freeze_table (&builder->tables, FLAM_TABLE_NOTES, box);
  freeze_table (&builder->tables, FLAM_TABLE_SOURCES, box);
  freeze_table (&builder->tables, FLAM_TABLE_JUMPS, box);
  freeze_table (&builder->tables, FLAM_TABLE_WORKING_FOLDERS, box);
  freeze_table (&builder->tables, FLAM_TABLE_FORMER_NAMES, box);
  freeze_extras (builder, box);
  freeze_facts (builder, box, span);
  freeze_strings (builder, box);
  box->lineage = builder->laid != NULL ? builder->laid->lineage : 0;
  return &box->tables;
}
