/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Files of trace-cmd (trace.dat): the calls of the function_graph tracer with
 * their times; or, without them,
 *
 *    sched_switch   how long a thread ran and how long it did not, with the
 *                   stack with which it left the CPU if stacks were recorded
 *    other events   a sample for each that has a stack: its own record follows
 *                   that of the event on the same CPU
 *    function       the function and its caller
 *
 * Source: ftrace's documentation in the kernel. `trace-cmd report` prints the
 * same records. */

#include "flam-call-tree.h"
#include "flam-formats.h"
#include "flam-trace-cmd-records.h"

#define MOST_EVENTS 256
#define MOST_FRAMES 512
#define STEP 65536

enum
{
  ENTRY_FUNC,
  EXIT_FUNC = 0,
  EXIT_CALLTIME,
  EXIT_RETTIME,
  FUNCTION_IP = 0,
  FUNCTION_PARENT,
  STACK_CALLER = 0,
  SWITCH_PREV = 0,
  SWITCH_STATE,
  SWITCH_NEXT,
  SWITCH_PREV_NAME,
  SWITCH_NEXT_NAME,
};

/* A thread that left its CPU or took it. */
typedef struct
{
  gint64 since;
  FlamStackId stack;
  FlamState state;
  gboolean known;
} Task;

/* An event of a CPU whose stack may follow. */
typedef struct
{
  gint64 time;
  guint16 event; /* of the builder; 0: sched_switch */
  gint32 pid;
  gboolean open;
} Pending;

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  FlamTraceFile file;
  FlamTraceRecords records;
  FlamCallTree tree;
  GHashTable *frames;  /* address -> frame + 1 */
  GHashTable *threads; /* pid -> thread + 1 */
  GHashTable *events;  /* FlamTraceFormat -> event, from 1 */
  GHashTable *tasks;   /* pid -> Task */
  Pending *pending;    /* of each CPU */
  guint64 calls, switches, functions, stacks, others, users;
  gint64 end;
} Trace;

/* --- names --------------------------------------------------------------- */

static FlamFrameId
frame_of (Trace *trace, guint64 address)
{
  gpointer key = GSIZE_TO_POINTER (address);
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (trace->frames, key));
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_KERNEL };
  const char *name;

  if (known != 0)
    return known - 1;
  name = trace->file.symbols != NULL
             ? flam_kallsyms_find (trace->file.symbols, address)
             : NULL;
  if (name != NULL)
    function.name = flam_builder_string (trace->builder, name, -1);
  known = 1 + flam_builder_frame_of (trace->builder, &function, 0, 0, 0);
  g_hash_table_insert (trace->frames, key, GUINT_TO_POINTER (known));
  return known - 1;
}

static FlamThreadId
thread_of (Trace *trace, gint32 pid)
{
  gpointer key = GINT_TO_POINTER (pid);
  guint known = GPOINTER_TO_UINT (g_hash_table_lookup (trace->threads, key));
  const char *name;

  if (known != 0)
    return known - 1;
  known = 1 + flam_builder_thread (trace->builder,
                                   flam_builder_process (trace->builder, -1, 0),
                                   pid,
                                   0);
  name = pid == 0 ? "idle" : g_hash_table_lookup (trace->file.names, key);
  if (name != NULL)
    flam_builder_set_thread_name (trace->builder, known - 1, name);
  g_hash_table_insert (trace->threads, key, GUINT_TO_POINTER (known));
  return known - 1;
}

static guint64
get (const Trace *trace, const FlamTraceRecord *record, guint field)
{
  return flam_trace_record_get (
      &trace->records, record, record->format->fields[field]);
}

/* --- content of the file
 * --------------------------------------------------- */

static void
count_event (Trace *trace, const FlamTraceRecord *record)
{
  gconstpointer format = record->format;

  trace->others++;
  if (!g_hash_table_contains (trace->events, format) &&
      g_hash_table_size (trace->events) < MOST_EVENTS)
    g_hash_table_insert (
        trace->events,
        (gpointer)format,
        GUINT_TO_POINTER (g_hash_table_size (trace->events) + 1));
}

/* Events that have a stack, and calls of functions. */
static gboolean
count_records (Trace *trace, GError **error)
{
  FlamTraceRecord record;
  const FlamTraceFormat **last = flam_arena_vector (
      trace->load, const FlamTraceFormat *, trace->file.cpus.n);

  for (guint n = 1; flam_trace_records_get (&trace->records, &record); n++)
    {
      FlamTraceKind kind =
          record.format != NULL ? record.format->kind : FLAM_TRACE_OTHER;

      trace->end = MAX (trace->end, record.time);
      trace->calls += kind == FLAM_TRACE_ENTRY;
      trace->switches += kind == FLAM_TRACE_SWITCH;
      trace->functions += kind == FLAM_TRACE_FUNCTION;
      trace->users += kind == FLAM_TRACE_USER;
      trace->stacks += kind == FLAM_TRACE_STACK;
      if (kind == FLAM_TRACE_STACK && last[record.stream] != NULL)
        {
          FlamTraceRecord event = { .format = last[record.stream] };

          if (event.format->kind == FLAM_TRACE_OTHER)
            count_event (trace, &event);
        }
      if (kind == FLAM_TRACE_FUNCTION)
        count_event (trace, &record);
      if (kind != FLAM_TRACE_STACK && kind != FLAM_TRACE_USER)
        last[record.stream] = record.format;
      flam_trace_records_skip (&trace->records);
      if (n % STEP == 0 &&
          !flam_progress_step (trace->load->options->progress, 0, error))
        return FALSE;
    }
  return TRUE;
}

/* --- function_graph ------------------------------------------------------ */

static void
read_call (Trace *trace, const FlamTraceRecord *record)
{
  FlamThreadId thread = thread_of (trace, record->pid);

  if (record->format->kind == FLAM_TRACE_ENTRY)
    flam_call_tree_enter (&trace->tree,
                          thread,
                          frame_of (trace, get (trace, record, ENTRY_FUNC)),
                          record->time);
  else if (record->format->kind == FLAM_TRACE_EXIT)
    {
      guint64 begin = get (trace, record, EXIT_CALLTIME);
      guint64 end = get (trace, record, EXIT_RETTIME);

      if (begin > 0 && end >= begin)
        flam_call_tree_leave (
            &trace->tree,
            thread,
            flam_builder_limit (
                trace->load->builder, end - begin, 0, G_MAXINT64 / 4, NULL));
      else
        flam_call_tree_leave_at (&trace->tree, thread, record->time);
    }
}

/* --- events and their stacks --------------------------------------------- */

/* Innermost first; it ends with the record, or with a 0 or -1. */
static FlamStackId
read_stack (Trace *trace, const FlamTraceRecord *record)
{
  guint size = trace->file.long_size, n = 0;
  guint64 none = size == 8 ? G_MAXUINT64 : G_MAXUINT32;
  FlamFrameId frames[MOST_FRAMES];
  FlamStackId stack = FLAM_NONE;

  for (gsize at = record->format->fields[STACK_CALLER].offset;
       at + size <= record->size && n < MOST_FRAMES;
       at += size)
    {
      guint64 address = flam_trace_get (&trace->file, record->data + at, size);

      if (address == 0 || address == none)
        break;
      frames[n++] = frame_of (trace, address);
    }
  while (n-- > 0)
    stack = flam_builder_stack (trace->builder, stack, frames[n]);
  return stack;
}

static Task *
task_of (Trace *trace, gint32 pid)
{
  gpointer key = GINT_TO_POINTER (pid);
  Task *task = g_hash_table_lookup (trace->tasks, key);

  if (task == NULL)
    {
      task = g_new0 (Task, 1);
      task->stack = FLAM_NONE;
      g_hash_table_insert (trace->tasks, key, task);
    }
  return task;
}

static void
end_task_state (Trace *trace, gint32 pid, const Task *task, gint64 time)
{
  FlamSample sample = { .thread = thread_of (trace, pid),
                        .stack = task->stack,
                        .time = task->since,
                        .state = task->state };
  gint64 weights[] = { time - task->since, 0 };

  if (task->known && weights[0] > 0)
    flam_builder_add_sample (trace->builder, &sample, weights);
}

static FlamState
state_of (guint64 bits)
{
  if ((bits & 0xff) == 0)
    return FLAM_STATE_RUNNABLE;
  if (bits & 1)
    return FLAM_STATE_SLEEP;
  return bits & 2 ? FLAM_STATE_IO : FLAM_STATE_BLOCKED;
}

static void
name_task (Trace *trace, const FlamTraceRecord *record, gint32 pid, guint field)
{
  FlamTraceField name = record->format->fields[field];
  gpointer key = GINT_TO_POINTER (pid);

  if (name.size > 1 && name.offset < record->size &&
      name.size <= record->size - name.offset &&
      !g_hash_table_contains (trace->file.names, key))
    g_hash_table_insert (
        trace->file.names,
        key,
        g_strndup ((const char *)record->data + name.offset, name.size));
}

static void
read_switch (Trace *trace, const FlamTraceRecord *record)
{
  gint32 before = (gint32)get (trace, record, SWITCH_PREV);
  gint32 next = (gint32)get (trace, record, SWITCH_NEXT);
  Pending *pending = &trace->pending[record->stream];
  Task *task;

  name_task (trace, record, before, SWITCH_PREV_NAME);
  name_task (trace, record, next, SWITCH_NEXT_NAME);
  if (before != 0)
    {
      task = task_of (trace, before);
      end_task_state (trace, before, task, record->time);
      *task = (Task){ .since = record->time,
                      .stack = FLAM_NONE,
                      .state = state_of (get (trace, record, SWITCH_STATE)),
                      .known = TRUE };
      *pending = (Pending){ record->time, 0, before, TRUE };
    }
  if (next != 0)
    {
      task = task_of (trace, next);
      end_task_state (trace, next, task, record->time);
      *task = (Task){ .since = record->time,
                      .stack = FLAM_NONE,
                      .state = FLAM_STATE_RUNNING,
                      .known = TRUE };
    }
}

static void
add_event (Trace *trace, const Pending *pending, FlamStackId stack)
{
  FlamSample sample = { .thread = thread_of (trace, pending->pid),
                        .stack = stack,
                        .time = pending->time,
                        .event = pending->event };
  gint64 weights[] = { 0, 1 };

  flam_builder_add_sample (trace->builder, &sample, weights);
}

static void
read_function (Trace *trace,
               const FlamTraceRecord *record,
               const Pending *pending)
{
  FlamStackId caller = flam_builder_stack (
      trace->builder,
      FLAM_NONE,
      frame_of (trace, get (trace, record, FUNCTION_PARENT)));

  add_event (
      trace,
      pending,
      flam_builder_stack (trace->builder,
                          caller,
                          frame_of (trace, get (trace, record, FUNCTION_IP))));
}

static void
end_pending (Trace *trace, const FlamTraceRecord *record)
{
  Pending *pending = &trace->pending[record->stream];
  Task *task;

  if (!pending->open)
    return;
  pending->open = FALSE;
  if (pending->event != 0)
    {
      add_event (trace, pending, read_stack (trace, record));
      return;
    }
  task = task_of (trace, pending->pid);
  if (task->known && task->since == pending->time &&
      task->state != FLAM_STATE_RUNNING)
    task->stack = read_stack (trace, record);
}

static void
read_event (Trace *trace, const FlamTraceRecord *record)
{
  Pending *pending = &trace->pending[record->stream];
  guint event;

  switch (record->format->kind)
    {
    case FLAM_TRACE_SWITCH:
      read_switch (trace, record);
      return;
    case FLAM_TRACE_STACK:
      end_pending (trace, record);
      return;
    case FLAM_TRACE_USER:
      return;
    default:
      break;
    }
  event =
      GPOINTER_TO_UINT (g_hash_table_lookup (trace->events, record->format));
  *pending = (Pending){ record->time, (guint16)event, record->pid, event != 0 };
  /* A function has its caller, unless its stack follows. */
  if (record->format->kind == FLAM_TRACE_FUNCTION && trace->stacks == 0 &&
      event != 0)
    read_function (trace, record, pending);
}

/* --- all ----------------------------------------------------------------- */

static int
compare_events (gconstpointer a, gconstpointer b, gpointer events)
{
  return (int)GPOINTER_TO_UINT (g_hash_table_lookup (events, *(gpointer *)a)) -
         (int)GPOINTER_TO_UINT (g_hash_table_lookup (events, *(gpointer *)b));
}

static void
add_measures (Trace *trace)
{
  FlamBuilder *builder = trace->builder;
  guint n;
  g_autofree gpointer *formats =
      g_hash_table_get_keys_as_array (trace->events, &n);

  flam_builder_set_has_times (builder);
  flam_builder_add_column (builder);
  flam_builder_add_column (builder);
  if (trace->switches > 0)
    flam_builder_set_spans (builder,
                            flam_builder_add_standard_measure (
                                builder, FLAM_STANDARD_WALL_TIME, 0, FLAM_NONE),
                            FLAM_SPANS_SAMPLES);
  if (n > 1)
    g_qsort_with_data (
        formats, (int)n, sizeof *formats, compare_events, trace->events);
  for (guint i = 0; i < n; i++)
    flam_builder_add_event_measure (builder,
                                    ((FlamTraceFormat *)formats[i])->name,
                                    FLAM_UNIT_COUNT,
                                    1,
                                    i + 1);
}

static gboolean
read_records (Trace *trace, gboolean graph, GError **error)
{
  FlamTraceRecord record;

  for (guint n = 1; flam_trace_records_get (&trace->records, &record); n++)
    {
      if (record.format != NULL)
        {
          if (graph)
            read_call (trace, &record);
          else
            read_event (trace, &record);
        }
      flam_trace_records_skip (&trace->records);
      if (n % STEP == 0 &&
          !flam_progress_step (trace->load->options->progress, 0.5, error))
        return FALSE;
    }
  return TRUE;
}

/* The states of the threads until the end. */
static void
end_tasks (Trace *trace)
{
  GHashTableIter each;
  gpointer pid, task;

  g_hash_table_iter_init (&each, trace->tasks);
  while (g_hash_table_iter_next (&each, &pid, &task))
    end_task_state (trace, GPOINTER_TO_INT (pid), task, trace->end);
}

static void
warn (Trace *trace, gboolean graph)
{
  FlamBuilder *builder = trace->builder;

  flam_builder_facts (builder)->lost += (gint64)trace->records.lost;
  flam_builder_warn_count (
      builder,
      trace->records.damaged,
      "%" PRIu64 " part of the kernel's buffers is damaged and was skipped",
      "%" PRIu64 " parts of the kernel's buffers are damaged and were skipped");
  flam_builder_warn_count (builder,
                           trace->users,
                           "%" PRIu64 " stack of a program is not shown",
                           "%" PRIu64 " stacks of programs are not shown");
  flam_builder_warn_count (builder,
                           graph ? trace->switches + trace->others : 0,
                           "%" PRIu64 " event beside the calls is not shown",
                           "%" PRIu64 " events beside the calls are not shown");
  if (trace->file.symbols == NULL)
    flam_builder_warn (
        builder,
        N_ ("the file has no names of the kernel's functions (kallsyms)"));
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Trace *trace = flam_arena_new (load, Trace);
  gboolean graph;

  trace->load = load;
  trace->builder = load->builder;
  trace->frames = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  trace->threads = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  trace->events = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  trace->tasks = flam_arena_table (load, FLAM_KEY_DIRECT, g_free);
  if (!flam_trace_file_read (&trace->file, load, error))
    return FALSE;
  flam_trace_records_init (&trace->records, &trace->file);
  if (!count_records (trace, error))
    return FALSE;
  graph = trace->calls > 0;
  if (!graph && trace->switches == 0 && trace->others == 0)
    return flam_source_invalid (
        load->source,
        error,
        N_ ("this trace has neither calls nor stacks; record with “trace-cmd "
            "record -p function_graph” or “trace-cmd record -e sched_switch "
            "-T”"));
  trace->pending = flam_arena_vector (load, Pending, trace->file.cpus.n);
  if (graph)
    flam_call_tree_init (&trace->tree, load);
  else
    add_measures (trace);
  flam_trace_records_init (&trace->records, &trace->file);
  if (!read_records (trace, graph, error))
    return FALSE;
  if (graph)
    flam_call_tree_finish (&trace->tree);
  else
    end_tasks (trace);
  warn (trace, graph);
  return TRUE;
}

const FlamImporter flam_import_trace_cmd = {
  .id = "trace-cmd",
  .label = "trace-cmd",
  .written_by = "trace-cmd record",
  .suffixes = FLAM_LIST (".dat"),
  .mime = { .type = "application/x-trace-cmd", .name = "trace-cmd recording" },
  .signs = FLAM_SIGNS ({ FLAM_MAGIC ("\x17\x08\x44tracing"), .score = 100 }),
  .load = load,
};
