/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-core-query.h"
#include "flam-formats.h"
#include "flam-jfr-stacks.h"

#include <string.h>

/* A flight recording's events -> samples; a kind of event is a measure. See
 * flam-jfr.h. */

#define PROGRESS_EVENTS 4096

typedef enum
{
  SAMPLES,
  CPU_TIME,
  WALL,
  NATIVE,
  ALLOCATED,
  TLAB,
  LIVE,
  LOCK,
  PARK,
  WAIT,
  IO,
  N_KINDS
} Kind;

static const struct
{
  FlamMeasureRow row;
  gboolean spans;
} kinds[N_KINDS] = {
  [SAMPLES] = { { "samples", N_ ("Samples"), FLAM_OF_COUNT } },
  [CPU_TIME] = { { "cpu-time", N_ ("CPU time"), FLAM_OF_TIME } },
  [WALL] = { { "wall-samples",
               N_ ("Samples of the wall clock"),
               FLAM_OF_COUNT } },
  [NATIVE] = { { "native-samples",
                 N_ ("Samples in native code"),
                 FLAM_OF_COUNT } },
  [ALLOCATED] = { { "allocated", N_ ("Allocated"), FLAM_OF_BYTES } },
  [TLAB] = { { "allocated-tlab", N_ ("Allocated in buffers"), FLAM_OF_BYTES } },
  [LIVE] = { { "live", N_ ("Live objects"), FLAM_OF_BYTES } },
  [LOCK] = { { "lock-time", N_ ("Waiting for locks"), FLAM_OF_TIME }, TRUE },
  [PARK] = { { "park-time", N_ ("Parked"), FLAM_OF_TIME }, TRUE },
  [WAIT] = { { "wait-time", N_ ("Waiting and sleeping"), FLAM_OF_TIME }, TRUE },
  [IO] = { { "io-time", N_ ("Files and sockets"), FLAM_OF_TIME }, TRUE },
};

/* The weight of a sample of the event: a field, or 1 for FLAM_JFR_N_ROLES. */
static const struct
{
  const char *name;
  Kind kind;
  FlamJfrRole weight;
  FlamState state;
} sampled[] = {
  { "jdk.ExecutionSample", SAMPLES, FLAM_JFR_N_ROLES, FLAM_STATE_RUNNING },
  { "jdk.CPUTimeSample", CPU_TIME, FLAM_JFR_PERIOD, FLAM_STATE_RUNNING },
  { "profiler.WallClockSample", WALL, FLAM_JFR_SAMPLES, FLAM_STATE_RUNNING },
  { "jdk.NativeMethodSample", NATIVE, FLAM_JFR_N_ROLES, FLAM_STATE_RUNNING },
  { "jdk.ObjectAllocationSample",
    ALLOCATED,
    FLAM_JFR_WEIGHT,
    FLAM_STATE_RUNNING },
  { "jdk.ObjectAllocationInNewTLAB",
    TLAB,
    FLAM_JFR_TLAB_SIZE,
    FLAM_STATE_RUNNING },
  { "jdk.ObjectAllocationOutsideTLAB",
    TLAB,
    FLAM_JFR_ALLOCATION_SIZE,
    FLAM_STATE_RUNNING },
  { "profiler.LiveObject", LIVE, FLAM_JFR_ALLOCATION_SIZE, FLAM_STATE_RUNNING },
  { "jdk.JavaMonitorEnter", LOCK, FLAM_JFR_DURATION, FLAM_STATE_LOCK },
  { "profiler.NativeLock", LOCK, FLAM_JFR_DURATION, FLAM_STATE_LOCK },
  { "jdk.ThreadPark", PARK, FLAM_JFR_DURATION, FLAM_STATE_BLOCKED },
  { "jdk.JavaMonitorWait", WAIT, FLAM_JFR_DURATION, FLAM_STATE_SLEEP },
  { "jdk.ThreadSleep", WAIT, FLAM_JFR_DURATION, FLAM_STATE_SLEEP },
  { "jdk.FileRead", IO, FLAM_JFR_DURATION, FLAM_STATE_IO },
  { "jdk.FileWrite", IO, FLAM_JFR_DURATION, FLAM_STATE_IO },
  { "jdk.SocketRead", IO, FLAM_JFR_DURATION, FLAM_STATE_IO },
  { "jdk.SocketWrite", IO, FLAM_JFR_DURATION, FLAM_STATE_IO },
};

/* malloc and free, before they are sorted. */
typedef struct
{
  gint64 time;
  guint64 address;
  gint64 size; /* -1: a release */
  FlamStackId stack;
  FlamThreadId thread;
} Block;

typedef struct
{
  const FlamLoad *load;
  FlamBuilder *builder;
  const FlamProgress *progress;
  FlamJfrStacks stacks;
  GArray *blocks; /* Block */
  gboolean used[N_KINDS];
  guint counter; /* of the heap, or FLAM_NONE */
  gboolean lost;
  guint64 events;
  gint32 pid;
  char *name; /* of the process */
} Reader;

/* --- events -------------------------------------------------------------- */

static void
add_sample (Reader *reader, guint row, const FlamJfrObject *event)
{
  FlamJfrRole role = sampled[row].weight;
  Kind kind = sampled[row].kind;
  gboolean truncated = FALSE;
  gint64 weight = role < FLAM_JFR_N_ROLES ? (gint64)event->value[role] : 1;
  FlamSample sample = {
    .thread = flam_jfr_thread (&reader->stacks, event->value[FLAM_JFR_THREAD]),
    .stack = flam_jfr_stack (
        &reader->stacks, event->value[FLAM_JFR_STACK], &truncated),
    .time = flam_jfr_time (reader->stacks.chunk, event->value[FLAM_JFR_START]),
    .event = kind,
    .state = sampled[row].state,
  };

  if (role == FLAM_JFR_DURATION || role == FLAM_JFR_PERIOD)
    weight = flam_jfr_span (reader->stacks.chunk, weight);
  /* async-profiler before 4.0 wrote wall-clock samples as ExecutionSample. */
  if (kind == WALL || kind == SAMPLES)
    sample.state =
        flam_jfr_state (&reader->stacks, event->value[FLAM_JFR_STATE]);
  if (kind == WALL)
    weight = MAX (weight, 1);
  if (event->value[FLAM_JFR_OBJECT_CLASS] != 0)
    sample.stack = flam_jfr_push_class (
        &reader->stacks, sample.stack, event->value[FLAM_JFR_OBJECT_CLASS]);
  flam_builder_facts (reader->builder)->truncated_stacks += truncated;
  weight = MAX (weight, 0);
  flam_builder_add_sample (reader->builder, &sample, &weight);
  reader->used[kind] = TRUE;
}

static void
add_block (Reader *reader, const FlamJfrObject *event, gboolean release)
{
  gboolean truncated;
  Block block = {
    .time = flam_jfr_time (reader->stacks.chunk, event->value[FLAM_JFR_START]),
    .address = event->value[FLAM_JFR_ADDRESS],
    .size = -1,
    .stack = FLAM_NONE,
    .thread = FLAM_NONE,
  };

  if (!release)
    {
      block.size = flam_builder_limit (reader->builder,
                                       event->value[FLAM_JFR_SIZE],
                                       0,
                                       G_MAXINT64 / 4,
                                       NULL);
      block.stack = flam_jfr_stack (
          &reader->stacks, event->value[FLAM_JFR_STACK], &truncated);
      block.thread =
          flam_jfr_thread (&reader->stacks, event->value[FLAM_JFR_THREAD]);
    }
  g_array_append_val (reader->blocks, block);
}

static void
add_pause (Reader *reader, const FlamJfrObject *event)
{
  FlamJfrChunk *chunk = reader->stacks.chunk;
  g_autofree char *name = flam_jfr_text (chunk, event->value[FLAM_JFR_NAME]);

  flam_builder_add_mark (
      reader->builder,
      flam_jfr_time (chunk, event->value[FLAM_JFR_START]),
      MAX (flam_jfr_span (chunk, event->value[FLAM_JFR_DURATION]), 0),
      flam_jfr_thread (&reader->stacks, event->value[FLAM_JFR_THREAD]),
      name != NULL && *name != '\0' ? name : "GC pause");
}

static void
add_heap (Reader *reader, const FlamJfrObject *event)
{
  if (reader->counter == FLAM_NONE)
    reader->counter =
        flam_builder_add_counter (reader->builder, "heap", FLAM_UNIT_BYTES);
  flam_builder_add_counter_value (
      reader->builder,
      reader->counter,
      flam_jfr_time (reader->stacks.chunk, event->value[FLAM_JFR_START]),
      MAX ((gint64)event->value[FLAM_JFR_HEAP_USED], 0));
}

static void
add_event (Reader *reader, const char *name, const FlamJfrObject *event)
{
  for (guint i = 0; i < G_N_ELEMENTS (sampled); i++)
    if (strcmp (sampled[i].name, name) == 0)
      {
        add_sample (reader, i, event);
        return;
      }
  if (strcmp (name, "profiler.Malloc") == 0)
    add_block (reader, event, FALSE);
  else if (strcmp (name, "profiler.Free") == 0)
    add_block (reader, event, TRUE);
  else if (strcmp (name, "jdk.GCPhasePause") == 0)
    add_pause (reader, event);
  else if (strcmp (name, "jdk.GCHeapSummary") == 0)
    add_heap (reader, event);
  else if (strcmp (name, "jdk.DataLoss") == 0)
    reader->lost = TRUE;
}

/* As in jps: the main class, or the jar without its folder. */
static char *
process_name (const char *arguments)
{
  g_autofree char *first =
      g_strndup (arguments != NULL ? arguments : "",
                 arguments != NULL ? strcspn (arguments, " ") : 0);

  return *first != '\0' ? g_path_get_basename (first) : g_strdup ("java");
}

/* Reads attributes of the whole process, which are in any chunk, once in
 * each. */
static void
find_process (Reader *reader, FlamJfrChunk *chunk)
{
  const guint8 *at = flam_jfr_first_event (chunk);
  FlamJfrEvent event;
  FlamJfrObject object;

  while (reader->pid < 0 && flam_jfr_next_event (chunk, &at, &event))
    {
      const FlamJfrClass *class = flam_jfr_class (chunk, event.type);
      g_autofree char *arguments = NULL;
      gint64 pid;

      if (class == NULL || g_strcmp0 (class->name, "jdk.JVMInformation") != 0 ||
          !flam_jfr_read_object (chunk, class, &event.at, event.end, &object))
        continue;
      pid = (gint64)object.value[FLAM_JFR_PID];
      arguments = flam_jfr_text (chunk, object.value[FLAM_JFR_JAVA_ARGUMENTS]);
      if (pid > 0 && pid <= G_MAXINT32)
        reader->pid = pid;
      g_free (reader->name);
      reader->name = process_name (arguments);
      if (arguments != NULL && *arguments != '\0')
        flam_builder_set_command (reader->builder, arguments);
    }
}

static gboolean
is_wanted (const FlamJfrClass *class)
{
  return class->name != NULL && class->n > 0 &&
         (g_str_has_prefix (class->name, "jdk.") ||
          g_str_has_prefix (class->name, "profiler."));
}

static gboolean
read_events (Reader *reader, FlamJfrChunk *chunk, GError **error)
{
  const guint8 *at = flam_jfr_first_event (chunk);
  FlamJfrEvent event;
  FlamJfrObject object;

  while (flam_jfr_next_event (chunk, &at, &event))
    {
      const FlamJfrClass *class = flam_jfr_class (chunk, event.type);

      if (++reader->events % PROGRESS_EVENTS == 0 &&
          !flam_progress_step (
              reader->progress,
              flam_source_fraction (reader->load->source,
                                    at - reader->load->source->data),
              error))
        return FALSE;
      if (event.type > 1 && class != NULL && is_wanted (class) &&
          flam_jfr_read_object (chunk, class, &event.at, event.end, &object))
        add_event (reader, class->name, &object);
    }
  return TRUE;
}

/* --- blocks -------------------------------------------------------------- */

static int
compare_blocks (gconstpointer a, gconstpointer b)
{
  const Block *x = a;
  const Block *y = b;

  return (x->time > y->time) - (x->time < y->time);
}

static gboolean
add_blocks (Reader *reader, GError **error)
{
  g_autoptr (FlamLedger) ledger = flam_ledger_new (reader->builder);
  gint64 end = 0;

  if (reader->blocks->len == 0)
    return TRUE;
  g_array_sort (reader->blocks, compare_blocks);
  flam_ledger_begin (ledger, g_array_index (reader->blocks, Block, 0).time);
  for (guint i = 0; i < reader->blocks->len; i++)
    {
      const Block *block = &g_array_index (reader->blocks, Block, i);

      end = block->time;
      flam_ledger_set_time (ledger, block->time);
      if (block->size < 0)
        flam_ledger_release_at (ledger, block->address, -1);
      else
        flam_ledger_allocate_at (
            ledger,
            flam_ledger_find_site (ledger,
                                   &(FlamSiteKey){ block->size,
                                                   block->stack,
                                                   block->thread,
                                                   1,
                                                   FLAM_ALLOCATOR_MALLOC }),
            block->address);
    }
  flam_builder_add_allocation_measures (reader->builder);
  if (!flam_ledger_finish (ledger, end, error))
    return FALSE;
  flam_builder_fold_memory (reader->builder);
  return TRUE;
}

/* --- the importer -------------------------------------------------------- */

/* Bytes of objects come from samples of the allocations, otherwise from the
 * buffers that they filled; if there are also blocks of malloc, the objects
 * need another name. */
static void
add_measures (Reader *reader)
{
  guint n = 0;

  for (guint i = 0; i < N_KINDS; i++)
    if (reader->used[i])
      {
        guint as = i == TLAB && !reader->used[ALLOCATED] ? ALLOCATED : i;
        FlamMeasureRow row = kinds[as].row;
        guint measure;

        if (as == ALLOCATED && reader->blocks->len > 0)
          row.id = "java-allocated";
        measure = flam_load_measure (reader->builder, &row, 0, i);
        if (kinds[i].spans)
          flam_builder_set_spans (reader->builder, measure, FLAM_SPANS_CALLS);
        n++;
      }
  if (n > 0 || reader->blocks->len > 0)
    return;
  flam_load_measure (reader->builder, &kinds[SAMPLES].row, 0, SAMPLES);
}

static void
begin (Reader *reader, const FlamJfrChunk *chunk)
{
  flam_builder_add_column (reader->builder);
  flam_builder_set_has_times (reader->builder);
  flam_builder_set_origin (reader->builder, chunk->unix_ns);
  flam_builder_facts (reader->builder)->start_unix_ns = chunk->unix_ns;
  reader->stacks.process =
      flam_builder_process (reader->builder, reader->pid, 0);
  flam_builder_set_process_name (reader->builder,
                                 reader->stacks.process,
                                 reader->name != NULL ? reader->name : "java");
}

static gboolean
read_chunk (Reader *reader, FlamJfrChunk *chunk, gboolean first, GError **error)
{
  reader->stacks.chunk = chunk;
  if (first)
    {
      find_process (reader, chunk);
      begin (reader, chunk);
    }
  if (!read_events (reader, chunk, error))
    return FALSE;
  if (chunk->problem != NULL)
    flam_builder_warn (reader->builder,
                       N_ ("some events were left out: %s (at byte %zu)"),
                       chunk->problem,
                       (gsize)(chunk->problem_at - reader->load->source->data));
  return TRUE;
}

static void
say_partial (Reader *reader, const FlamJfrChunk *chunk)
{
  gsize at = chunk->start - reader->load->source->data;
  g_autofree char *why = g_strdup_printf (
      N_ ("the recording ends early: %s (at byte %zu)"),
      chunk->problem != NULL ? chunk->problem
                             : N_ ("the last chunk was cut off"),
      at);

  flam_builder_set_partial (
      reader->builder,
      chunk->problem != NULL ? flam_source_fraction (reader->load->source, at)
                             : 1,
      why);
}

/* The chunks after an invalid one cannot be found. */
static gboolean
read_chunks (Reader *reader, GError **error)
{
  const guint8 *at = reader->load->source->data;
  const guint8 *end = at + reader->load->source->size;
  gboolean first = TRUE, good = TRUE;

  while (good && at < end)
    {
      FlamJfrChunk chunk;
      gboolean whole = flam_jfr_chunk_init (&chunk, reader->load, at);

      if (whole)
        good = read_chunk (reader, &chunk, first, error);
      else if (first)
        {
          flam_source_error (reader->load->source,
                             error,
                             chunk.cut ? FLAM_ERROR_TRUNCATED
                                       : FLAM_ERROR_INVALID,
                             chunk.problem_at - reader->load->source->data,
                             "%s",
                             chunk.problem);
          good = FALSE;
        }
      if (good && (!whole || chunk.cut))
        say_partial (reader, &chunk);
      at = whole && !chunk.cut ? chunk.end : end;
      first = FALSE;
      flam_jfr_chunk_clear (&chunk);
    }
  return good;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .load = load,
                    .builder = load->builder,
                    .progress = load->options->progress,
                    .stacks = { .builder = load->builder },
                    .blocks = flam_arena_array (load, Block),
                    .counter = FLAM_NONE,
                    .pid = -1 };
  gboolean good;

  if (load->source->size == 0)
    return flam_source_invalid (load->source, error, N_ ("it is empty"));
  good = read_chunks (&reader, error);
  g_free (reader.name);
  if (!good)
    return FALSE;
  add_measures (&reader);
  if (reader.lost)
    flam_builder_warn (load->builder, N_ ("the recorder reported lost data"));
  return add_blocks (&reader, error);
}

const FlamImporter flam_import_jfr = {
  .id = "jfr",
  .label = N_ ("Java flight recording"),
  .written_by = "java -XX:StartFlightRecording, async-profiler",
  .suffixes = FLAM_LIST (".jfr"),
  .mime = { .type = "application/x-jfr",
            .name = "Java flight recording",
            .globs = FLAM_LIST ("*.jfr") },
  .signs = FLAM_SIGNS ({ FLAM_MAGIC ("FLR\0"), .least = 68, .score = 100 }),
  .load = load,
};
