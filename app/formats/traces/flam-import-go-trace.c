/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Execution traces of Go -> a sample for each time in which a goroutine ran,
 * could have run, was in a system call or waited:
 *
 *    start      block (stack b)      unblock    start       yield (stack c)
 *      |-- runs ---|---- waits: b ------|- could --|---- runs ----|
 *
 * A goroutine waits with the stack with which it blocked. While it runs, only
 * the functions that are on its stack before and afterwards are certain:
 *
 *    main;work;receive  ..  main;work;parse;send   =>   main;work
 *
 * The trace has the stacks of the CPU profiler as well, if that ran. */

#include "flam-formats.h"
#include "flam-go-events.h"

#include <stdlib.h>

/* Events of the same moment whose order follows from the states. */
#define MOST_TIED 16

typedef struct
{
  FlamLoad *load;
  FlamBuilder *builder;
  FlamGoEvents events;
  FlamColumn depths;  /* guint32: of each stack */
  GArray *regions;    /* const FlamGoEvent *: a goroutine's open events */
  GHashTable *labels; /* of reasons */
  FlamProcessId process;
  guint64 contradictions;
} Trace;

typedef struct
{
  FlamThreadId thread;
  FlamGoState state;
  gint64 since;
  FlamStackId stack;   /* with which it left the CPU; FLAM_NONE: unknown */
  FlamStringId reason; /* string */
  gint64 call;         /* a system call that may block; -1 */
  FlamStackId call_stack;
  gboolean is_named;
} Goroutine;

/* --- stacks -------------------------------------------------------------- */

static const FlamStacks *
get_stacks (Trace *trace)
{
  return &flam_builder_tables (trace->builder)->profile.stacks;
}

static guint32
depth_of (Trace *trace, FlamStackId stack)
{
  const FlamStacks *stacks = get_stacks (trace);

  while (trace->depths.n <= stack && stack != FLAM_NONE)
    {
      FlamStackId prefix = stacks->prefix[trace->depths.n];
      guint32 depth =
          prefix == FLAM_NONE
              ? 1
              : 1 + flam_column_at (&trace->depths, guint32, prefix);

      flam_column_append (&trace->depths, guint32, depth);
    }
  return stack == FLAM_NONE ? 0
                            : flam_column_at (&trace->depths, guint32, stack);
}

static FlamFunctionId
function_of (Trace *trace, FlamStackId stack)
{
  const FlamProfile *tables = &flam_builder_tables (trace->builder)->profile;

  return tables->frames.function[tables->stacks.frame[stack]];
}

/* A frame of it without its line. */
static FlamStackId
push_function (Trace *trace, FlamStackId prefix, FlamFunctionId function)
{
  return flam_builder_stack (
      trace->builder,
      prefix,
      flam_builder_frame (trace->builder, function, 0, 0, 0));
}

static FlamStackId
outermost (Trace *trace, FlamStackId stack)
{
  const FlamStacks *stacks = get_stacks (trace);

  if (stack == FLAM_NONE)
    return FLAM_NONE;
  while (stacks->prefix[stack] != FLAM_NONE)
    stack = stacks->prefix[stack];
  return push_function (trace, FLAM_NONE, function_of (trace, stack));
}

static FlamStackId
common_stack (Trace *trace, FlamStackId a, FlamStackId b)
{
  FlamStackId below_a = FLAM_NONE, below_b = FLAM_NONE;

  if (a == FLAM_NONE || b == FLAM_NONE)
    return outermost (trace, a == FLAM_NONE ? b : a);
  while (a != b)
    if (depth_of (trace, a) >= depth_of (trace, b))
      {
        below_a = a;
        a = get_stacks (trace)->prefix[a];
      }
    else
      {
        below_b = b;
        b = get_stacks (trace)->prefix[b];
      }
  if (below_a != FLAM_NONE && below_b != FLAM_NONE &&
      function_of (trace, below_a) == function_of (trace, below_b))
    return push_function (trace, a, function_of (trace, below_a));
  return a;
}

/* --- samples ------------------------------------------------------------- */

static FlamState
state_of (Trace *trace, const Goroutine *goroutine)
{
  const char *reason =
      flam_builder_get_string (trace->builder, goroutine->reason);

  switch (goroutine->state)
    {
    case FLAM_GO_RUNNING:
      return FLAM_STATE_RUNNING;
    case FLAM_GO_RUNNABLE:
      return FLAM_STATE_RUNNABLE;
    case FLAM_GO_IN_SYSCALL:
      return FLAM_STATE_IO;
    default:
      break;
    }
  if (strcmp (reason, "network") == 0)
    return FLAM_STATE_IO;
  if (strcmp (reason, "sleep") == 0)
    return FLAM_STATE_SLEEP;
  if (g_str_has_prefix (reason, "sync") || g_str_has_prefix (reason, "chan") ||
      g_str_has_prefix (reason, "select"))
    return FLAM_STATE_LOCK;
  return FLAM_STATE_BLOCKED;
}

static guint32
label_of (Trace *trace, FlamStringId reason)
{
  gpointer key = GUINT_TO_POINTER (reason), found;

  if (reason == 0)
    return 0;
  if (!g_hash_table_lookup_extended (trace->labels, key, NULL, &found))
    {
      /* Adding the key may move the strings. */
      g_autofree char *value =
          g_strdup (flam_builder_get_string (trace->builder, reason));
      FlamSampleLabel label = { .key = "reason", .value = value };

      found = GUINT_TO_POINTER (
          flam_builder_add_labels (trace->builder, &label, 1));
      g_hash_table_insert (trace->labels, key, found);
    }
  return GPOINTER_TO_UINT (found);
}

/* Its state ends; `stack` is the one it has now, if it ran. */
static void
end_state (Trace *trace,
           const Goroutine *goroutine,
           gint64 until,
           FlamStackId stack)
{
  FlamSample sample = { .thread = goroutine->thread,
                        .stack = goroutine->stack,
                        .time = goroutine->since };
  gint64 weights[2] = { until - goroutine->since, 0 };

  if (weights[0] <= 0 || goroutine->state == FLAM_GO_UNKNOWN ||
      goroutine->state == FLAM_GO_DEAD)
    return;
  sample.state = state_of (trace, goroutine);
  if (goroutine->state == FLAM_GO_RUNNING)
    sample.stack = common_stack (trace, goroutine->stack, stack);
  if (goroutine->state == FLAM_GO_WAITING)
    sample.labels = label_of (trace, goroutine->reason);
  flam_builder_add_sample (trace->builder, &sample, weights);
}

/* --- the states of a goroutine ------------------------------------------- */

static gboolean
fits (const Goroutine *goroutine, const FlamGoEvent *event)
{
  FlamGoState state = goroutine->state;

  switch (event->kind)
    {
    case FLAM_GO_CREATE:
    case FLAM_GO_CREATE_BLOCKED:
      return state == FLAM_GO_UNKNOWN || state == FLAM_GO_DEAD;
    case FLAM_GO_START:
      return state == FLAM_GO_RUNNABLE || state == FLAM_GO_UNKNOWN ||
             state == FLAM_GO_WAITING;
    case FLAM_GO_YIELD:
    case FLAM_GO_BLOCK:
    case FLAM_GO_CALL:
    case FLAM_GO_SYSCALL:
      return state == FLAM_GO_RUNNING || state == FLAM_GO_UNKNOWN;
    case FLAM_GO_UNBLOCK:
      return state == FLAM_GO_WAITING || state == FLAM_GO_UNKNOWN;
    case FLAM_GO_RETURN:
    case FLAM_GO_RETURN_BLOCKED:
      return state == FLAM_GO_IN_SYSCALL || state == FLAM_GO_UNKNOWN;
    case FLAM_GO_END:
      return state == FLAM_GO_RUNNING || state == FLAM_GO_IN_SYSCALL ||
             state == FLAM_GO_UNKNOWN;
    default:
      return TRUE;
    }
}

static void
enter (Trace *trace,
       Goroutine *goroutine,
       FlamGoState state,
       gint64 time,
       FlamStackId stack)
{
  gboolean ran = goroutine->state == FLAM_GO_RUNNING;

  end_state (trace, goroutine, time, stack);
  goroutine->state = state;
  goroutine->since = MAX (time, goroutine->since);
  goroutine->call = -1;
  goroutine->reason = 0;
  if (stack != FLAM_NONE || ran)
    goroutine->stack = stack;
}

static void
begin_goroutine (Trace *trace, Goroutine *goroutine, const FlamGoEvent *event)
{
  goroutine->state = FLAM_GO_UNKNOWN;
  enter (trace,
         goroutine,
         event->kind == FLAM_GO_CREATE ? FLAM_GO_RUNNABLE : FLAM_GO_WAITING,
         event->time,
         event->stack);
  goroutine->stack = outermost (trace, event->stack);
}

/* A system call blocks: it has done so since it began. */
static void
enter_syscall (Trace *trace, Goroutine *goroutine, const FlamGoEvent *event)
{
  gboolean begun = goroutine->call >= 0;

  enter (trace,
         goroutine,
         FLAM_GO_IN_SYSCALL,
         begun ? goroutine->call : event->time,
         begun ? goroutine->call_stack : event->stack);
}

static void
add_cpu_sample (Trace *trace,
                const Goroutine *goroutine,
                const FlamGoEvent *event)
{
  FlamSample sample = { .thread = goroutine->thread,
                        .stack = event->stack,
                        .time = event->time,
                        .state = FLAM_STATE_RUNNING };
  gint64 weights[] = { 0, 1 };

  flam_builder_add_sample (trace->builder, &sample, weights);
}

static void
end_region (Trace *trace, const Goroutine *goroutine, gint64 time)
{
  const FlamGoEvent *begin;

  if (trace->regions->len == 0)
    return;
  begin =
      g_array_index (trace->regions, FlamGoEvent *, trace->regions->len - 1);
  g_array_set_size (trace->regions, trace->regions->len - 1);
  flam_builder_add_mark (
      trace->builder,
      begin->time,
      MAX (time - begin->time, 0),
      goroutine->thread,
      flam_builder_get_string (trace->builder, begin->reason));
}

static void
apply (Trace *trace, Goroutine *goroutine, const FlamGoEvent *event)
{
  gint64 time = event->time;

  switch ((FlamGoKind)event->kind)
    {
    case FLAM_GO_CREATE:
    case FLAM_GO_CREATE_BLOCKED:
      begin_goroutine (trace, goroutine, event);
      break;
    case FLAM_GO_STATUS:
      /* After it was created, at the beginning of an older trace. */
      if (goroutine->state == FLAM_GO_UNKNOWN ||
          (goroutine->state == FLAM_GO_RUNNABLE && event->stack == FLAM_NONE &&
           event->state >= FLAM_GO_IN_SYSCALL))
        enter (trace, goroutine, event->state, time, event->stack);
      break;
    case FLAM_GO_START:
      enter (trace, goroutine, FLAM_GO_RUNNING, time, FLAM_NONE);
      break;
    case FLAM_GO_YIELD:
      enter (trace, goroutine, FLAM_GO_RUNNABLE, time, event->stack);
      break;
    case FLAM_GO_BLOCK:
      enter (trace, goroutine, FLAM_GO_WAITING, time, event->stack);
      goroutine->reason = event->reason;
      break;
    case FLAM_GO_UNBLOCK:
    case FLAM_GO_RETURN_BLOCKED:
      enter (trace, goroutine, FLAM_GO_RUNNABLE, time, FLAM_NONE);
      break;
    case FLAM_GO_CALL:
      goroutine->call = time;
      goroutine->call_stack = event->stack;
      break;
    case FLAM_GO_SYSCALL:
      enter_syscall (trace, goroutine, event);
      break;
    case FLAM_GO_RETURN:
      enter (trace, goroutine, FLAM_GO_RUNNING, time, FLAM_NONE);
      break;
    case FLAM_GO_END:
      enter (trace, goroutine, FLAM_GO_DEAD, time, FLAM_NONE);
      break;
    case FLAM_GO_REGION:
      g_array_append_val (trace->regions, event);
      break;
    case FLAM_GO_REGION_END:
      end_region (trace, goroutine, time);
      break;
    case FLAM_GO_SAMPLE:
      add_cpu_sample (trace, goroutine, event);
      break;
    }
}

/* The goroutine is named after its first function. */
static void
name_thread (Trace *trace, Goroutine *goroutine, FlamStackId stack)
{
  const FlamProfile *tables = &flam_builder_tables (trace->builder)->profile;
  g_autofree char *name = NULL;

  if (goroutine->is_named || stack == FLAM_NONE)
    return;
  stack = outermost (trace, stack);
  name = g_strdup (flam_builder_get_string (
      trace->builder, tables->functions.name[function_of (trace, stack)]));
  flam_builder_set_thread_name (trace->builder, goroutine->thread, name);
  goroutine->is_named = TRUE;
}

/* Moves the first of the events of one moment that fits to the front. */
static void
choose (Trace *trace, const Goroutine *goroutine, FlamGoEvent *events, gsize n)
{
  gsize i = 0;

  while (i < MIN (n, (gsize)MOST_TIED) && events[i].time == events[0].time &&
         !fits (goroutine, &events[i]))
    i++;
  if (i == MIN (n, (gsize)MOST_TIED) || events[i].time != events[0].time)
    {
      trace->contradictions++;
      return;
    }
  if (i > 0)
    {
      FlamGoEvent chosen = events[i];

      memmove (events + 1, events, i * sizeof *events);
      events[0] = chosen;
    }
}

static void
read_goroutine (Trace *trace, FlamGoEvent *events, gsize n)
{
  guint64 id = events[0].goroutine;
  Goroutine goroutine = {
    .thread = flam_builder_thread (trace->builder,
                                   trace->process,
                                   (gint32)(id & G_MAXINT32),
                                   (guint)(id >> 31)),
    .stack = FLAM_NONE,
    .call = -1,
  };

  g_array_set_size (trace->regions, 0);
  for (gsize i = 0; i < n; i++)
    {
      choose (trace, &goroutine, events + i, n - i);
      apply (trace, &goroutine, &events[i]);
      name_thread (trace, &goroutine, events[i].stack);
    }
  while (trace->regions->len > 0)
    end_region (trace, &goroutine, trace->events.end);
  end_state (trace, &goroutine, trace->events.end, FLAM_NONE);
}

/* --- all ----------------------------------------------------------------- */

/* Moments of a batch are in order already, so this has to be stable. */
static int
compare_events (gconstpointer a, gconstpointer b, gpointer data)
{
  const FlamGoEvent *one = a, *two = b;

  if (one->goroutine != two->goroutine)
    return one->goroutine < two->goroutine ? -1 : 1;
  return (one->time > two->time) - (one->time < two->time);
}

static gboolean
read_goroutines (Trace *trace, GError **error)
{
  FlamGoEvent *events = trace->events.events.data;
  gsize n = trace->events.events.n;

  g_qsort_with_data (events, (int)n, sizeof *events, compare_events, NULL);
  for (gsize i = 0, next; i < n; i = next)
    {
      for (next = i + 1;
           next < n && events[next].goroutine == events[i].goroutine;)
        next++;
      read_goroutine (trace, events + i, next - i);
      if (!flam_progress_step (trace->load->options->progress, 0, error))
        return FALSE;
    }
  return TRUE;
}

static void
add_measures (Trace *trace)
{
  FlamBuilder *builder = trace->builder;

  flam_builder_add_column (builder);
  if (trace->events.samples > 0)
    flam_builder_add_column (builder);
  flam_builder_set_spans (builder,
                          flam_builder_add_standard_measure (
                              builder, FLAM_STANDARD_WALL_TIME, 0, FLAM_NONE),
                          FLAM_SPANS_SAMPLES);
  if (trace->events.samples > 0)
    flam_builder_add_standard_measure (
        builder, FLAM_STANDARD_SAMPLES, 1, FLAM_NONE);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Trace *trace = flam_arena_new (load, Trace);

  trace->load = load;
  trace->builder = load->builder;
  trace->regions = flam_arena_array (load, const FlamGoEvent *);
  trace->labels = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  trace->process = flam_builder_process (load->builder, -1, 0);
  flam_arena_column (load, &trace->depths, guint32);
  flam_builder_set_has_times (load->builder);
  flam_go_events_init (&trace->events, load);
  if (!flam_go_events_read (&trace->events, error))
    return FALSE;
  if (trace->events.events.n == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this trace has no goroutines"));
  if (trace->events.events.n > G_MAXINT32)
    return flam_source_invalid (
        load->source, error, N_ ("this trace has too many events"));
  add_measures (trace);
  if (!read_goroutines (trace, error))
    return FALSE;
  flam_builder_warn_count (
      load->builder,
      trace->contradictions,
      "%" PRIu64 " event contradicts the state of its goroutine",
      "%" PRIu64 " events contradict the states of their goroutines");
  return TRUE;
}

const FlamImporter flam_import_go_trace = {
  .id = "go-trace",
  .label = "Go execution trace",
  .written_by = "runtime/trace, go test -trace, /debug/pprof/trace",
  .suffixes = FLAM_LIST (".trace", "trace.out"),
  .mime = { .type = "application/x-go-trace", .name = "Go execution trace" },
  .signs = FLAM_SIGNS ({ FLAM_MAGIC ("go 1."),
                         .words = FLAM_LIST (" trace"),
                         .head = 16,
                         .score = 100 }),
  .load = load,
};
