/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Connects system calls and counted events to the rest of a recording: the same
 * processes, threads and stacks. */

#include "flam-alloc-runtimes.h"
#include "flam-proc.h"
#include "flam-record-events.h"
#include "flam-sampler.h"

#include <string.h>

/* Frames of the C library between a runtime and the kernel: if there are more,
 * they are its allocator's. */
#define WRAPPER_FRAMES 1

static const struct
{
  FlamMeasureSource source;
  const char *of_pages; /* NULL: not of these */
  const char *of_resources;
} measures[] = {
  { FLAM_FROM_ALLOCATED, N_ ("Mapped memory"), NULL },
  { FLAM_FROM_PEAK, N_ ("Mapped at the peak"), NULL },
  { FLAM_FROM_LEAKED, N_ ("Still mapped at the end"), NULL },
  { FLAM_FROM_LEAKED_BLOCKS, NULL, N_ ("Still open at the end") },
  { FLAM_FROM_PEAK_BLOCKS, NULL, N_ ("Open at the peak") },
  { FLAM_FROM_ALLOCATIONS, N_ ("Mapped pages"), N_ ("Opened") },
};

guint
flam_sampler_n_weights (const FlamRecordOptions *options)
{
  return (options->what & FLAM_RECORD_FAULTS) || options->events != NULL
             ? FLAM_WEIGHT_COUNT + 1
             : FLAM_WEIGHT_WALL + 1;
}

static void
add_count (FlamSampler *sampler, const char *id, const char *name, FlamId event)
{
  flam_builder_add_measure (sampler->builder,
                            id,
                            name,
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            FLAM_WEIGHT_COUNT,
                            event);
}

static void
add_events (FlamSampler *sampler)
{
  g_autofree char *unknown = NULL;
  g_autoptr (GPtrArray) events =
      flam_record_events_parse (sampler->options->events, &unknown);

  for (guint i = 0; events != NULL && i < events->len; i++)
    {
      const FlamRecordEvent *event = g_ptr_array_index (events, i);

      flam_builder_add_event_measure (sampler->builder,
                                      event->name,
                                      FLAM_UNIT_COUNT,
                                      FLAM_WEIGHT_COUNT,
                                      FLAM_EVENT_FIRST + i);
    }
}

void
flam_sampler_record_calls (FlamSampler *sampler)
{
  FlamRecordWhat what = sampler->options->what;

  if (sampler->options->events != NULL)
    add_events (sampler);
  if (!(what & (FLAM_RECORD_FAULTS | FLAM_RECORD_RESOURCES)))
    return;
  if (what & FLAM_RECORD_FAULTS)
    {
      add_count (sampler, "page-faults", N_ ("Page faults"), FLAM_NONE);
      add_count (
          sampler, "minor-faults", N_ ("Minor faults"), FLAM_EVENT_FIRST);
      add_count (
          sampler, "major-faults", N_ ("Major faults"), FLAM_EVENT_FIRST + 1);
    }
  for (guint i = 0; i < G_N_ELEMENTS (measures); i++)
    {
      const char *name = what & FLAM_RECORD_FAULTS ? measures[i].of_pages
                                                   : measures[i].of_resources;

      if (name != NULL)
        flam_builder_add_allocation_measure_named (
            sampler->builder, measures[i].source, name);
    }
  flam_builder_note_fact (sampler->builder, FLAM_FACT_MEASURES_LISTED, "1");
  sampler->calls = flam_call_ledger_new (sampler->builder, what);
  sampler->mappers = g_hash_table_new (NULL, NULL);
}

void
flam_sampler_begin_calls (FlamSampler *sampler, FlamTarget *target)
{
  FlamTarget *parent = target->parent;

  if (sampler->calls == NULL)
    return;
  target->calls = flam_call_ledger_add_space (
      sampler->calls, parent != NULL ? parent->calls : NULL);
  if (parent == NULL && flam_record_options_attaches (sampler->options))
    {
      g_autofree char *text = flam_proc_text (target->pid, target->pid, "maps");

      if (text != NULL)
        flam_call_space_read (target->calls, text);
    }
}

void
flam_sampler_end_calls (FlamSampler *sampler, FlamTarget *target)
{
  if (target->calls != NULL)
    flam_call_ledger_end_space (sampler->calls, target->calls);
}

void
flam_sampler_end_thread (FlamSampler *sampler, const FlamMessage *message)
{
  FlamTask *task = message->task;
  FlamCallEvent event = { FLAM_CALL_END_THREAD, (guint64)task->tid, 1 };

  if (task->target->calls != NULL && !task->is_kept)
    flam_call_ledger_take (sampler->calls,
                           task->target->calls,
                           task->id,
                           message->time,
                           &event,
                           FLAM_NONE);
}

/* --- managed heaps ------------------------------------------------------- */

/* Stands for the C library. */
static const FlamAllocRuntime c_library;

static const FlamAllocRuntime *
find_runtime (const FlamBinary *binary)
{
  if (binary->kind != FLAM_BINARY_FILE)
    return NULL;
  if (strstr (binary->path, "/libc.so.") != NULL ||
      strstr (binary->path, "/libc-2.") != NULL)
    return &c_library;
  return flam_alloc_runtime (binary->in_root != NULL ? binary->in_root
                                                     : binary->path);
}

static const FlamAllocRuntime *
runtime_of (FlamSampler *sampler, FlamModuleId module)
{
  gpointer key = GUINT_TO_POINTER (module), known;
  const FlamAllocRuntime *runtime = NULL;

  if (g_hash_table_lookup_extended (sampler->mappers, key, NULL, &known))
    return known;
  for (guint i = 0; i < flam_binary_table_n (sampler->binaries); i++)
    {
      const FlamBinary *binary = flam_binary_table_at (sampler->binaries, i);

      if (binary->id == module)
        runtime = find_runtime (binary);
    }
  g_hash_table_insert (sampler->mappers, key, (gpointer)runtime);
  return runtime;
}

/* The runtime whose own code has called the kernel; NULL: none. */
static const FlamAllocRuntime *
find_mapper (FlamSampler *sampler, const FlamTask *task)
{
  const GArray *path = task->path;
  guint n = path != NULL ? path->len : 0, n_wrappers = 0;

  while (n > 0 &&
         g_array_index (path, FlamStep, n - 1).stack != task->last_stack)
    n--;
  for (; n > 0 && n_wrappers <= WRAPPER_FRAMES; n--)
    {
      const FlamAllocRuntime *runtime;
      FlamRecordedFrame frame;

      flam_builder_get_recorded_frame (
          sampler->builder,
          g_array_index (path, FlamStep, n - 1).frame,
          &frame);
      if (frame.module == FLAM_NONE)
        return NULL;
      runtime = runtime_of (sampler, frame.module);
      if (runtime != &c_library)
        return runtime;
      n_wrappers++;
    }
  return NULL;
}

static FlamStackId
below_mapper (FlamSampler *sampler, const FlamTask *task)
{
  const FlamAllocRuntime *runtime = find_mapper (sampler, task);
  FlamRecordedFrame frame = { .module = FLAM_NONE };
  FlamFacts facts = flam_facts_unknown;

  if (runtime == NULL)
    return task->last_stack;
  if (sampler->mapper == NULL)
    {
      sampler->mapper = runtime;
      facts.unseen_heap = runtime->mapped;
      flam_builder_note_facts (sampler->builder, &facts);
      flam_builder_note_warning (sampler->builder, "%s", runtime->mapped);
    }
  frame.function = flam_builder_function_named (
      sampler->builder,
      flam_builder_string (sampler->builder, runtime->mapper, -1),
      FLAM_KIND_ROOT);
  return flam_builder_stack (
      sampler->builder,
      task->last_stack,
      flam_builder_recorded_frame (sampler->builder, &frame));
}

/* --- messages ------------------------------------------------------------ */

void
flam_sampler_take_call (FlamSampler *sampler, const FlamMessage *message)
{
  FlamCallEvent event = { message->event,
                          message->at,
                          (guint64)message->count };
  FlamStackId stack = message->task->last_stack;

  if (event.op == FLAM_CALL_MAP || event.op == FLAM_CALL_ALLOW)
    stack = below_mapper (sampler, message->task);
  flam_call_ledger_take (sampler->calls,
                         message->target->calls,
                         message->task->id,
                         message->time,
                         &event,
                         stack);
}

/* Until the exact number is known. */
typedef struct
{
  FlamSample sample;
  gint64 about;
} Counted;

void
flam_sampler_take_counted (FlamSampler *sampler, const FlamMessage *message)
{
  Counted counted = {
    .sample = { .thread = message->task->id,
                .stack = message->task->last_stack,
                .time = message->time,
                .event = (guint16)(FLAM_EVENT_FIRST + message->event) },
    .about = message->count,
  };

  if (sampler->counted == NULL)
    sampler->counted = g_array_new (FALSE, FALSE, sizeof (Counted));
  g_array_append_val (sampler->counted, counted);
}

/* The events after the last sample. */
static void
put_rest (FlamSampler *sampler, const FlamMessage *message)
{
  gint64 weights[] = { 0, 0, message->count };
  FlamSample rest = { .thread = 0,
                      .stack = flam_sampler_not_sampled (sampler),
                      .time = message->time,
                      .event = (guint16)(FLAM_EVENT_FIRST + message->event) };

  flam_builder_add_sample (sampler->builder, &rest, weights);
}

/* Divides the number among the samples, in proportion to their own numbers. */
void
flam_sampler_take_total (FlamSampler *sampler, const FlamMessage *message)
{
  GArray *list = sampler->counted;
  guint n = list != NULL ? list->len : 0, kept = 0;
  double sum = 0, before = 0;

  for (guint i = 0; i < n; i++)
    if (g_array_index (list, Counted, i).sample.event ==
        FLAM_EVENT_FIRST + message->event)
      sum += (double)g_array_index (list, Counted, i).about;
  for (guint i = 0; i < n; i++)
    {
      Counted counted = g_array_index (list, Counted, i);
      gint64 weights[] = { 0, 0, 0 };
      double after = before + (double)counted.about;

      if (counted.sample.event != FLAM_EVENT_FIRST + message->event)
        {
          g_array_index (list, Counted, kept++) = counted;
          continue;
        }
      weights[FLAM_WEIGHT_COUNT] =
          (gint64)((double)message->count * (after / sum)) -
          (gint64)((double)message->count * (before / sum));
      before = after;
      flam_builder_add_sample (sampler->builder, &counted.sample, weights);
      sampler->stats.samples++;
    }
  if (list != NULL)
    g_array_set_size (list, kept);
  if (sum == 0 && message->count > 0)
    put_rest (sampler, message);
}
