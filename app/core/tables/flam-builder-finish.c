/* SPDX-License-Identifier: GPL-3.0-or-later */

/* finish(): everything is checked once, brought into order, and frozen. */

#include "flam-builder-private.h"

/* --- finish: order ------------------------------------------------------- */

static int
compare_times (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 *times = data;
  gint64 x = times[*(const guint32 *)a];
  gint64 y = times[*(const guint32 *)b];

  return (x > y) - (x < y);
}

/* The rows of samples, thread by thread, ascending in time, ties as they
 * came. NULL when they stand like that already. */
static guint32 *
sample_order (FlamBuilder *builder, guint32 *first, guint32 *count)
{
  const FlamColumn *threads = &builder->columns[COLUMN_SAMPLE_THREAD];
  const FlamId *thread = threads->data;
  const gint64 *times = builder->columns[COLUMN_SAMPLE_TIME].data;
  guint32 n = threads->n;
  guint32 n_threads = builder->columns[COLUMN_THREAD_TID].n;
  g_autofree guint32 *order = g_new (guint32, n + 1);
  gboolean identity = TRUE;

  for (guint32 i = 0; i < n; i++)
    count[thread[i]]++;
  for (guint32 t = 0, at = 0; t < n_threads; t++)
    {
      first[t] = at;
      at += count[t];
      count[t] = 0;
    }
  for (guint32 i = 0; i < n; i++)
    {
      guint32 at = first[thread[i]] + count[thread[i]]++;

      order[at] = i;
      identity = identity && at == i;
    }
  for (guint32 t = 0; times != NULL && t < n_threads; t++)
    {
      gboolean ascending = TRUE;

      for (guint32 i = first[t] + 1; i < first[t] + count[t]; i++)
        ascending = ascending && times[order[i - 1]] <= times[order[i]];
      if (ascending)
        continue;
      g_qsort_with_data (order + first[t],
                         count[t],
                         sizeof *order,
                         compare_times,
                         (gpointer)times);
      identity = FALSE;
    }
  return identity ? NULL : g_steal_pointer (&order);
}

static void
reorder (FlamColumn *column, const guint32 *order)
{
  FlamColumn sorted;
  guint size = column->element_size;

  if (order == NULL || column->n == 0)
    return;
  flam_column_init (&sorted, size);
  flam_column_reserve (&sorted, column->n);
  for (gsize i = 0; i < column->n; i++)
    memcpy ((char *)sorted.data + i * size,
            (char *)column->data + (gsize)order[i] * size,
            size);
  sorted.n = column->n;
  flam_column_clear (column);
  *column = sorted;
}

/* --- finish: time -------------------------------------------------------- */

/* A difference that cannot overflow, whatever a hostile file says. */
static gint64
since (gint64 time, gint64 origin)
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

static void
span_column (Span *span, const FlamColumn *column)
{
  for (gsize i = 0; i < column->n; i++)
    {
      gint64 time = flam_column_at (column, gint64, i);

      span->first = MIN (span->first, time);
      span->last = MAX (span->last, time);
    }
}

/* A span's end is part of the capture, its last one's above all. */
static void
span_ends (Span *span, FlamBuilder *builder, const PendingMeasure *pending)
{
  const FlamColumn *times = &builder->columns[COLUMN_SAMPLE_TIME];
  const FlamColumn *events = &builder->columns[COLUMN_SAMPLE_EVENT];
  const FlamColumn *weights;

  if (!pending->measure.spans || pending->column < 0)
    return;
  weights =
      &g_array_index (builder->weights, FlamColumn, (guint)pending->column);
  for (gsize i = 0; i < times->n && i < weights->n; i++)
    {
      FlamId event = i < events->n ? flam_column_at (events, guint16, i) : 0;
      gint64 end;

      if (pending->measure.event != FLAM_NONE &&
          pending->measure.event != event)
        continue;
      if (!__builtin_add_overflow (flam_column_at (times, gint64, i),
                                   flam_column_at (weights, gint64, i),
                                   &end))
        span->last = MAX (span->last, end);
    }
}

static Span
find_span (FlamBuilder *builder)
{
  const FlamColumn *freed = &builder->columns[COLUMN_ALLOCATION_FREED_AT];
  Span span = { G_MAXINT64, G_MININT64 };

  span_column (&span, &builder->columns[COLUMN_SAMPLE_TIME]);
  for (guint i = 0; i < builder->measures->len; i++)
    span_ends (
        &span, builder, &g_array_index (builder->measures, PendingMeasure, i));
  span_column (&span, &builder->columns[COLUMN_ALLOCATION_TIME]);
  for (gsize i = 0; i < freed->n; i++)
    {
      gint64 time = flam_column_at (freed, gint64, i);

      if (time != FLAM_NEVER)
        span.last = MAX (span.last, time);
    }
  for (guint i = 0; i < builder->counters->len; i++)
    span_column (&span,
                 &g_array_index (builder->counters, PendingCounter, i).time);
  span_column (&span, &builder->columns[COLUMN_MARK_TIME]);
  if (builder->has_origin && span.first != G_MAXINT64)
    span.first = MIN (span.first, builder->origin);
  if (span.first == G_MAXINT64)
    span = (Span){ 0, 0 };
  return span;
}

static void
shift_column (FlamColumn *column, gint64 origin)
{
  for (gsize i = 0; i < column->n; i++)
    flam_column_at (column, gint64, i) =
        since (flam_column_at (column, gint64, i), origin);
}

static void
shift_times (FlamBuilder *builder, gint64 origin)
{
  FlamColumn *born = &builder->columns[COLUMN_ALLOCATION_TIME];
  FlamColumn *freed = &builder->columns[COLUMN_ALLOCATION_FREED_AT];

  shift_column (&builder->columns[COLUMN_SAMPLE_TIME], origin);
  shift_column (&builder->columns[COLUMN_MARK_TIME], origin);
  shift_column (&builder->columns[COLUMN_FORMER_UNTIL], origin);
  for (guint i = 0; i < builder->counters->len; i++)
    shift_column (&g_array_index (builder->counters, PendingCounter, i).time,
                  origin);
  if (builder->peak_time != G_MININT64)
    builder->peak_time = since (builder->peak_time, origin);
  shift_column (born, origin);
  for (gsize i = 0; i < freed->n; i++)
    {
      gint64 *time = &flam_column_at (freed, gint64, i);

      if (*time != FLAM_NEVER)
        *time = MAX (since (*time, origin), flam_column_at (born, gint64, i));
    }
}

/* --- finish: freezing ---------------------------------------------------- */

#define own(which) flam_profile_box_own (box, &columns[which])

static void
freeze_code (FlamBuilder *builder, FlamProfileBox *box)
{
  FlamProfile *p = &box->tables;
  FlamColumn *columns = builder->columns;

  p->modules.n = columns[COLUMN_MODULE_PATH].n;
  p->modules.name = own (COLUMN_MODULE_NAME);
  p->modules.path = own (COLUMN_MODULE_PATH);
  p->modules.build_id = own (COLUMN_MODULE_BUILD_ID);
  p->modules.why = own (COLUMN_MODULE_WHY);
  p->modules.symbols = own (COLUMN_MODULE_SYMBOLS);
  p->modules.addressing = own (COLUMN_MODULE_ADDRESSING);

  p->functions.n = columns[COLUMN_FUNCTION_NAME].n;
  p->functions.name = own (COLUMN_FUNCTION_NAME);
  p->functions.system_name = own (COLUMN_FUNCTION_SYSTEM_NAME);
  p->functions.file = own (COLUMN_FUNCTION_FILE);
  p->functions.module = own (COLUMN_FUNCTION_MODULE);
  p->functions.line = own (COLUMN_FUNCTION_LINE);
  p->functions.kind = own (COLUMN_FUNCTION_KIND);
  p->functions.flags = own (COLUMN_FUNCTION_FLAGS);

  p->frames.n = columns[COLUMN_FRAME_FUNCTION].n;
  p->frames.function = own (COLUMN_FRAME_FUNCTION);
  p->frames.address = own (COLUMN_FRAME_ADDRESS);
  p->frames.file = own (COLUMN_FRAME_FILE);
  p->frames.line = own (COLUMN_FRAME_LINE);
  p->frames.inline_depth = own (COLUMN_FRAME_DEPTH);

  p->stacks.n = columns[COLUMN_STACK_FRAME].n;
  p->stacks.prefix = own (COLUMN_STACK_PREFIX);
  p->stacks.frame = own (COLUMN_STACK_FRAME);
}

static void
freeze_threads (FlamBuilder *builder, FlamProfileBox *box)
{
  FlamProfile *p = &box->tables;
  FlamColumn *columns = builder->columns;
  guint32 n_threads = columns[COLUMN_THREAD_TID].n;
  guint32 *first = g_new0 (guint32, n_threads + 1);
  guint32 *count = g_new0 (guint32, n_threads + 1);
  g_autofree guint32 *order = sample_order (builder, first, count);

  p->processes.n = columns[COLUMN_PROCESS_PID].n;
  p->processes.pid = own (COLUMN_PROCESS_PID);
  p->processes.name = own (COLUMN_PROCESS_NAME);
  p->processes.parent = own (COLUMN_PROCESS_PARENT);

  p->threads.n = n_threads;
  p->threads.process = own (COLUMN_THREAD_PROCESS);
  p->threads.tid = own (COLUMN_THREAD_TID);
  p->threads.name = own (COLUMN_THREAD_NAME);
  p->threads.first_sample = first;
  p->threads.n_samples = count;
  g_ptr_array_add (box->owned, first);
  g_ptr_array_add (box->owned, count);

  for (guint i = COLUMN_SAMPLE_STACK; i <= COLUMN_SAMPLE_STATE; i++)
    {
      if (i != COLUMN_SAMPLE_STACK && columns[i].n > 0)
        flam_column_backfill (&columns[i], columns[COLUMN_SAMPLE_STACK].n);
      reorder (&columns[i], order);
    }
  for (guint i = 0; i < builder->weights->len; i++)
    reorder (&g_array_index (builder->weights, FlamColumn, i), order);

  p->samples.n = columns[COLUMN_SAMPLE_STACK].n;
  p->samples.stack = own (COLUMN_SAMPLE_STACK);
  p->samples.time = own (COLUMN_SAMPLE_TIME);
  p->samples.event = own (COLUMN_SAMPLE_EVENT);
  p->samples.state = own (COLUMN_SAMPLE_STATE);
}

/* Rows by the time they were born, ties as they came. NULL when they stand like
 * that already. */
static guint32 *
allocation_order (const FlamBuilder *builder)
{
  const FlamColumn *born = &builder->columns[COLUMN_ALLOCATION_TIME];
  const gint64 *times = born->data;
  guint32 *order;
  gboolean ascending = TRUE;

  for (gsize i = 1; i < born->n; i++)
    ascending = ascending && times[i - 1] <= times[i];
  if (ascending)
    return NULL;
  order = g_new (guint32, born->n);
  for (gsize i = 0; i < born->n; i++)
    order[i] = i;
  g_qsort_with_data (
      order, born->n, sizeof *order, compare_times, (gpointer)times);
  return order;
}

/* The mark is reached by an allocation, and no block at it is younger. */
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
  FlamAllocations *table = &box->tables.allocations;
  FlamColumn *columns = builder->columns;
  FlamColumn *at_peak = &columns[COLUMN_ALLOCATION_AT_PEAK];
  g_autofree guint32 *order = allocation_order (builder);
  gboolean has_peak = TRUE;

  table->n = columns[COLUMN_ALLOCATION_TIME].n;
  for (gsize i = 0; i < at_peak->n; i++)
    has_peak = has_peak && flam_column_at (at_peak, gint64, i) >= 0;
  if (!has_peak)
    flam_column_clear (at_peak);
  for (guint i = COLUMN_ALLOCATION_TIME; i <= COLUMN_ALLOCATION_ALLOCATOR; i++)
    reorder (&columns[i], order);
  table->time = own (COLUMN_ALLOCATION_TIME);
  table->freed_at = own (COLUMN_ALLOCATION_FREED_AT);
  table->size = own (COLUMN_ALLOCATION_SIZE);
  table->count = own (COLUMN_ALLOCATION_COUNT);
  table->at_peak = own (COLUMN_ALLOCATION_AT_PEAK);
  table->thread = own (COLUMN_ALLOCATION_THREAD);
  table->stack = own (COLUMN_ALLOCATION_STACK);
  table->distance = own (COLUMN_ALLOCATION_DISTANCE);
  table->allocator = own (COLUMN_ALLOCATION_ALLOCATOR);
  table->peak_time =
      table->at_peak != NULL ? find_peak_time (table, builder->peak_time) : -1;
}

static void
freeze_rest (FlamBuilder *builder, FlamProfileBox *box)
{
  FlamProfile *p = &box->tables;
  FlamColumn *columns = builder->columns;
  g_autofree const gint64 **weights =
      g_new0 (const gint64 *, builder->weights->len + 1);
  FlamMeasure *measures = g_new0 (FlamMeasure, builder->measures->len + 1);
  FlamCounter *counters = g_new0 (FlamCounter, builder->counters->len + 1);

  for (guint i = 0; i < builder->weights->len; i++)
    weights[i] = flam_profile_box_own (
        box, &g_array_index (builder->weights, FlamColumn, i));
  for (guint i = 0; i < builder->measures->len; i++)
    {
      const PendingMeasure *pending =
          &g_array_index (builder->measures, PendingMeasure, i);

      measures[i] = pending->measure;
      if (pending->column >= 0)
        measures[i].weight = weights[pending->column];
    }
  p->measures = measures;
  p->n_measures = builder->measures->len;
  g_ptr_array_add (box->owned, measures);

  for (guint i = 0; i < builder->counters->len; i++)
    {
      PendingCounter *pending =
          &g_array_index (builder->counters, PendingCounter, i);
      guint32 n = pending->time.n;

      counters[i] = (FlamCounter){ pending->id, pending->unit, n };
      counters[i].time = flam_profile_box_own (box, &pending->time);
      counters[i].value = flam_profile_box_own (box, &pending->value);
    }
  p->counters = counters;
  p->n_counters = builder->counters->len;
  g_ptr_array_add (box->owned, counters);

  p->marks.n = columns[COLUMN_MARK_TIME].n;
  p->marks.time = own (COLUMN_MARK_TIME);
  p->marks.duration = own (COLUMN_MARK_DURATION);
  p->marks.thread = own (COLUMN_MARK_THREAD);
  p->marks.name = own (COLUMN_MARK_NAME);

  p->former_names.n = columns[COLUMN_FORMER_UNTIL].n;
  p->former_names.process = own (COLUMN_FORMER_PROCESS);
  p->former_names.thread = own (COLUMN_FORMER_THREAD);
  p->former_names.name = own (COLUMN_FORMER_NAME);
  p->former_names.until = own (COLUMN_FORMER_UNTIL);
}

static const char *const *
own_texts (FlamProfileBox *box, GPtrArray *texts)
{
  gpointer *owned;

  g_ptr_array_add (texts, NULL);
  owned = g_ptr_array_steal (texts, NULL);
  g_ptr_array_add (box->owned, owned);
  return (const char *const *)owned;
}

static void
freeze_facts (FlamBuilder *builder, FlamProfileBox *box, Span span)
{
  FlamFacts *facts = &box->tables.facts;

  *facts = builder->facts;
  facts->duration_ns = MAX (facts->duration_ns, since (span.last, span.first));
  if (facts->recorder_cpu_ns > 0 && facts->recorded_cpu_ns > 0)
    facts->recorder_share =
        (double)facts->recorder_cpu_ns / (double)facts->recorded_cpu_ns;
  facts->others = own_texts (box, builder->others);
  facts->warnings = own_texts (box, builder->warnings);
  box->texts = g_steal_pointer (&builder->texts);
}

static void
freeze_strings (FlamBuilder *builder, FlamProfileBox *box)
{
  box->strings = builder->strings;
  flam_interner_clear (&box->strings.interner);
  flam_strings_init (&builder->strings);
}

/* --- finish: editing ----------------------------------------------------- */

static void
rebuild_stacks (FlamBuilder *builder, FlamId *map)
{
  const FlamStacks *old = &builder->base->stacks;

  for (FlamId s = 0; s < old->n; s++)
    {
      FlamId prefix = old->prefix[s];
      FlamId frame = old->frame[s];
      guint32 n = flam_column_at (&builder->chain_length, guint32, frame);
      guint64 first = flam_column_at (&builder->chain_first, guint64, frame);
      FlamId stack = prefix == FLAM_NONE ? FLAM_NONE : map[prefix];

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

static const FlamId *
remap_column (FlamProfileBox *box,
              const FlamId *stacks,
              guint32 n,
              const FlamId *map)
{
  FlamId *mapped = g_new (FlamId, n + 1);

  for (guint32 i = 0; i < n; i++)
    mapped[i] = stacks[i] == FLAM_NONE ? FLAM_NONE : map[stacks[i]];
  g_ptr_array_add (box->owned, mapped);
  return mapped;
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
  freeze_code (builder, box);
  p->samples.stack = remap_column (box, p->samples.stack, p->samples.n, map);
  if (p->allocations.n > 0)
    p->allocations.stack =
        remap_column (box, p->allocations.stack, p->allocations.n, map);
  freeze_strings (builder, box);
  return p;
}

/* Every thread is called something: its own name, its process's, a number. */
static void
name_threads (FlamBuilder *builder)
{
  FlamColumn *columns = builder->columns;
  FlamId *names = columns[COLUMN_THREAD_NAME].data;

  for (FlamId t = 0; t < columns[COLUMN_THREAD_TID].n; t++)
    {
      FlamId process =
          flam_column_at (&columns[COLUMN_THREAD_PROCESS], FlamId, t);
      gint32 tid = flam_column_at (&columns[COLUMN_THREAD_TID], gint32, t);
      g_autofree char *number = g_strdup_printf ("thread %d", tid);

      if (names[t] == 0)
        names[t] =
            flam_column_at (&columns[COLUMN_PROCESS_NAME], FlamId, process);
      if (names[t] == 0)
        names[t] = flam_builder_string (
            builder, tid >= 0 ? number : "all threads", -1);
    }
}

FlamProfile *
flam_builder_finish (FlamBuilder *builder, GError **error)
{
  FlamProfileBox *box;
  Span span;

  if (builder->base != NULL)
    return finish_edit (builder);
  if (!flam_builder_check (builder, error))
    return NULL;

  name_threads (builder);
  span = find_span (builder);
  shift_times (builder, span.first);
  box = flam_profile_box_new ();
  freeze_code (builder, box);
  freeze_threads (builder, box);
  freeze_allocations (builder, box);
  freeze_rest (builder, box);
  freeze_facts (builder, box, span);
  freeze_strings (builder, box);
  return &box->tables;
}
