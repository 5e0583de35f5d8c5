/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Go's execution traces, "go 1.19 trace\0\0\0" and what follows.
 *
 *    to Go 1.21   u8: its lowest 6 bits are the type, the others the number of
 *                 numbers that follow, less one; 3: before them is their length
 *                 in bytes. Batch {P, ticks}, stack {id, n, n of {pc, function,
 *                 file, line}}, string {id, length, text}
 *    from 1.22    batch: u8 1 {generation, M, ticks, length}, then u8 type and
 *                 its numbers, whose number follows from the type; a table is a
 *                 batch that begins with its own type
 *
 * All numbers are LEB128. The first one of an event is the ticks since the
 * event before in its batch. Source of facts: Go's package internal/trace. */

#include "flam-go-events.h"

#include "flam-core-profile.h"

#define HEAD 16
#define ENDS_EARLY N_ ("the trace ends within an event, or is damaged there")
#define MOST_ARGUMENTS 6
#define MOST_FRAMES 1024
#define MOST_TEXT 1000000
#define LIMIT (G_MAXINT64 / 4)

typedef struct
{
  guint64 id;
  const guint8 *at, *end; /* its frames */
  guint64 n;
} Stack;

typedef struct
{
  gint64 ticks;
  gint64 value;
} Heap;

typedef struct
{
  gint64 ticks;
  gboolean end;
} Collection;

typedef struct
{
  const guint8 *at, *end;
  guint64 ticks;
  guint64 running; /* goroutine; 0: none */
} Batch;

void
flam_go_events_init (FlamGoEvents *events, FlamLoad *load)
{
  *events = (FlamGoEvents){ .load = load, .counter = G_MAXUINT };
  flam_arena_column (load, &events->events, FlamGoEvent);
  flam_arena_column (load, &events->stacks, Stack);
  flam_arena_column (load, &events->strings, FlamSlice);
  flam_arena_column (load, &events->ids, guint64);
  flam_arena_column (load, &events->heap, Heap);
  flam_arena_column (load, &events->collections, Collection);
  events->stack_rows = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  events->string_rows = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
}

/* --- adding -------------------------------------------------------------- */

static void
add (FlamGoEvents *events,
     FlamGoKind kind,
     guint64 ticks,
     guint64 goroutine,
     guint64 stack,
     guint64 reason)
{
  FlamGoEvent event = { .time = (gint64)MIN (ticks, (guint64)LIMIT),
                        .goroutine = goroutine,
                        .kind = kind };

  if (goroutine == 0)
    return;
  events->samples += kind == FLAM_GO_SAMPLE;
  flam_column_append (&events->events, FlamGoEvent, event);
  flam_column_append (&events->ids, guint64, stack);
  flam_column_append (&events->ids, guint64, reason);
}

static void
add_status (FlamGoEvents *events,
            guint64 ticks,
            guint64 goroutine,
            FlamGoState state,
            guint64 stack)
{
  gsize row = events->events.n;

  add (events, FLAM_GO_STATUS, ticks, goroutine, stack, 0);
  if (events->events.n > row)
    flam_column_at (&events->events, FlamGoEvent, row).state = state;
}

static void
add_heap (FlamGoEvents *events, guint64 ticks, guint64 value)
{
  Heap heap = { (gint64)MIN (ticks, (guint64)LIMIT),
                (gint64)MIN (value, (guint64)LIMIT) };

  flam_column_append (&events->heap, Heap, heap);
}

static void
add_collection (FlamGoEvents *events, guint64 ticks, gboolean end)
{
  Collection collection = { (gint64)MIN (ticks, (guint64)LIMIT), end };

  flam_column_append (&events->collections, Collection, collection);
}

static void
add_string (FlamGoEvents *events, guint64 id, const guint8 *text, gsize length)
{
  FlamSlice slice = { (const char *)text, length };

  g_hash_table_insert (events->string_rows,
                       GSIZE_TO_POINTER (id),
                       GSIZE_TO_POINTER (events->strings.n + 1));
  flam_column_append (&events->strings, FlamSlice, slice);
}

static void
add_stack (FlamGoEvents *events, const Stack *stack)
{
  flam_column_append (&events->stacks, Stack, *stack);
}

/* --- the end of a generation --------------------------------------------- */

static FlamStringId
find_string (FlamGoEvents *events, guint64 id)
{
  gsize row = GPOINTER_TO_SIZE (
      g_hash_table_lookup (events->string_rows, GSIZE_TO_POINTER (id)));
  const FlamSlice *text;

  if (row == 0)
    return 0;
  text = &flam_column_at (&events->strings, FlamSlice, row - 1);
  return flam_builder_string (
      events->load->builder, text->text, (gssize)text->length);
}

static FlamFrameId
read_frame (FlamGoEvents *events, const guint8 **at, const guint8 *end)
{
  FlamFunction function = { .module = FLAM_NONE, .kind = FLAM_KIND_NATIVE };
  guint64 pc, name, file, line;

  if (!flam_varint_get (at, end, &pc) || !flam_varint_get (at, end, &name) ||
      !flam_varint_get (at, end, &file) || !flam_varint_get (at, end, &line))
    return FLAM_NONE;
  function.name = find_string (events, name);
  function.file = find_string (events, file);
  return flam_builder_frame_of (events->load->builder,
                                &function,
                                0,
                                (guint32)MIN (line, (guint64)G_MAXINT32),
                                0);
}

/* The frames are leaf first. */
static FlamStackId
make_stack (FlamGoEvents *events, const Stack *stack)
{
  FlamFrameId frames[MOST_FRAMES];
  const guint8 *at = stack->at;
  FlamStackId result = FLAM_NONE;
  guint n = 0;

  for (; n < MIN (stack->n, (guint64)MOST_FRAMES); n++)
    {
      frames[n] = read_frame (events, &at, stack->end);
      if (frames[n] == FLAM_NONE)
        break;
    }
  while (n-- > 0)
    result = flam_builder_stack (events->load->builder, result, frames[n]);
  return result;
}

static gint64
to_time (const FlamGoEvents *events, gint64 ticks)
{
  double time = (double)(ticks - events->origin) * events->tick;

  return flam_builder_limit (events->load->builder,
                             (__int128)CLAMP (time, -1e30, 1e30),
                             -LIMIT,
                             LIMIT,
                             NULL);
}

static void
resolve_event (FlamGoEvents *events, gsize row)
{
  FlamGoEvent *event = &flam_column_at (&events->events, FlamGoEvent, row);
  gsize id = 2 * (row - events->first);
  guint64 stack = flam_column_at (&events->ids, guint64, id);
  guint64 reason = flam_column_at (&events->ids, guint64, id + 1);
  gsize found = GPOINTER_TO_SIZE (
      g_hash_table_lookup (events->stack_rows, GSIZE_TO_POINTER (stack)));

  event->time = to_time (events, event->time);
  events->end = MAX (events->end, event->time);
  event->stack =
      stack != 0 && found != 0 ? (FlamStackId)(found - 1) : FLAM_NONE;
  event->reason = find_string (events, reason);
}

static void
resolve_heap (FlamGoEvents *events)
{
  FlamBuilder *builder = events->load->builder;

  if (events->heap.n > 0 && events->counter == G_MAXUINT)
    events->counter =
        flam_builder_add_counter (builder, "heap", FLAM_UNIT_BYTES);
  for (gsize i = 0; i < events->heap.n; i++)
    {
      const Heap *heap = &flam_column_at (&events->heap, Heap, i);

      flam_builder_add_counter_value (
          builder, events->counter, to_time (events, heap->ticks), heap->value);
    }
  events->heap.n = 0;
}

static int
compare_collections (gconstpointer a, gconstpointer b)
{
  gint64 one = ((const Collection *)a)->ticks;
  gint64 two = ((const Collection *)b)->ticks;

  return (one > two) - (one < two);
}

static void
resolve_collections (FlamGoEvents *events)
{
  Collection *all = events->collections.data;
  gsize n = events->collections.n;

  if (n > 1)
    qsort (all, n, sizeof *all, compare_collections);
  for (gsize i = 0; i + 1 < n; i++)
    if (!all[i].end && all[i + 1].end)
      {
        gint64 start = to_time (events, all[i].ticks);

        flam_builder_add_mark (events->load->builder,
                               start,
                               to_time (events, all[i + 1].ticks) - start,
                               FLAM_NONE,
                               "GC");
      }
  events->collections.n = 0;
}

/* The first event of all is at 0. */
static void
find_origin (FlamGoEvents *events)
{
  if (events->has_origin || events->events.n == 0)
    return;
  events->has_origin = TRUE;
  events->origin = G_MAXINT64;
  for (gsize i = 0; i < events->events.n; i++)
    events->origin = MIN (
        events->origin, flam_column_at (&events->events, FlamGoEvent, i).time);
}

/* Its tables are complete. */
static void
end_generation (FlamGoEvents *events)
{
  find_origin (events);
  for (gsize i = 0; i < events->stacks.n; i++)
    {
      const Stack *stack = &flam_column_at (&events->stacks, Stack, i);
      FlamStackId made = make_stack (events, stack);

      if (made != FLAM_NONE)
        g_hash_table_insert (events->stack_rows,
                             GSIZE_TO_POINTER (stack->id),
                             GSIZE_TO_POINTER ((gsize)made + 1));
    }
  for (gsize i = events->first; i < events->events.n; i++)
    resolve_event (events, i);
  resolve_heap (events);
  resolve_collections (events);
  g_hash_table_remove_all (events->stack_rows);
  g_hash_table_remove_all (events->string_rows);
  events->stacks.n = events->strings.n = events->ids.n = 0;
  events->first = events->events.n;
}

/* --- to Go 1.21 ---------------------------------------------------------- */

enum
{
  OLD_BATCH = 1,
  OLD_FREQUENCY,
  OLD_STACK,
  OLD_GC_START = 7,
  OLD_GC_DONE,
  OLD_CREATE = 13,
  OLD_START,
  OLD_END,
  OLD_STOP,
  OLD_SCHED,
  OLD_PREEMPT,
  OLD_SLEEP,
  OLD_BLOCK,
  OLD_UNBLOCK,
  OLD_BLOCK_SEND,
  OLD_BLOCK_RECV,
  OLD_BLOCK_SELECT,
  OLD_BLOCK_SYNC,
  OLD_BLOCK_COND,
  OLD_BLOCK_NET,
  OLD_SYSCALL,
  OLD_SYSEXIT,
  OLD_SYSBLOCK,
  OLD_WAITING,
  OLD_IN_SYSCALL,
  OLD_HEAP,
  OLD_TIMER = 35,
  OLD_STRING = 37,
  OLD_START_LOCAL,
  OLD_UNBLOCK_LOCAL,
  OLD_SYSEXIT_LOCAL,
  OLD_START_LABEL,
  OLD_BLOCK_GC,
  OLD_REGION = 47,
  OLD_LOG,
  OLD_SAMPLE,
  OLD_N
};

/* Ids that no string of the file has: of the reasons below. */
#define OLD_REASON(type) (G_MAXUINT64 - (type))

static const struct
{
  guint type;
  const char *reason;
} old_reasons[] = {
  { OLD_STOP, "forever" },
  { OLD_SLEEP, "sleep" },
  { OLD_BLOCK_SEND, "chan send" },
  { OLD_BLOCK_RECV, "chan receive" },
  { OLD_BLOCK_SELECT, "select" },
  { OLD_BLOCK_SYNC, "sync" },
  { OLD_BLOCK_COND, "sync.(*Cond).Wait" },
  { OLD_BLOCK_NET, "network" },
  { OLD_BLOCK_GC, "GC mark assist wait" },
};

typedef struct
{
  guint type;
  guint64 numbers[MOST_ARGUMENTS];
  guint n;
  const guint8 *at, *end; /* all of its numbers, if it has their length */
} OldEvent;

/* FALSE: the file ends in it. */
static gboolean
get_old (const guint8 **at, const guint8 *end, OldEvent *event)
{
  guint8 head = *(*at)++;
  guint n = (head >> 6) + 1;
  guint64 length;

  *event = (OldEvent){ .type = head & 63 };
  if (event->type == OLD_STRING)
    n = 2;
  if (n < 4)
    {
      for (; event->n < n; event->n++)
        if (!flam_varint_get (at, end, &event->numbers[event->n]))
          return FALSE;
      return TRUE;
    }
  if (!flam_varint_get (at, end, &length) || length > (guint64)(end - *at))
    return FALSE;
  event->at = *at;
  event->end = *at + length;
  while (event->n < MOST_ARGUMENTS && *at < event->end)
    if (!flam_varint_get (at, event->end, &event->numbers[event->n++]))
      return FALSE;
  *at = event->end;
  return TRUE;
}

/* A text of that length follows. */
static gboolean
skip_text (const guint8 **at, const guint8 *end, guint64 length)
{
  if (length > MOST_TEXT || length > (guint64)(end - *at))
    return FALSE;
  *at += length;
  return TRUE;
}

static void
read_old_stack (FlamGoEvents *events, const OldEvent *event)
{
  Stack stack = { .id = event->numbers[0],
                  .at = event->at,
                  .end = event->end,
                  .n = event->numbers[1] };
  guint64 skipped;

  if (event->at != NULL && flam_varint_get (&stack.at, stack.end, &skipped) &&
      flam_varint_get (&stack.at, stack.end, &skipped))
    add_stack (events, &stack);
}

static void
read_old_region (FlamGoEvents *events,
                 const OldEvent *event,
                 const Batch *batch)
{
  add (events,
       event->numbers[2] == 0 ? FLAM_GO_REGION : FLAM_GO_REGION_END,
       batch->ticks,
       batch->running,
       0,
       event->numbers[3]);
}

static void
block_old (FlamGoEvents *events,
           const OldEvent *event,
           Batch *batch,
           FlamGoKind kind)
{
  add (events,
       kind,
       batch->ticks,
       batch->running,
       event->numbers[1],
       kind == FLAM_GO_BLOCK ? OLD_REASON (event->type) : 0);
  batch->running = 0;
}

static void
read_old (FlamGoEvents *events, const OldEvent *event, Batch *batch)
{
  const guint64 *numbers = event->numbers;
  guint64 real;

  batch->ticks += numbers[0];
  switch (event->type)
    {
    case OLD_GC_START:
    case OLD_GC_DONE:
      add_collection (events, batch->ticks, event->type == OLD_GC_DONE);
      break;
    case OLD_CREATE:
      add (events, FLAM_GO_CREATE, batch->ticks, numbers[1], numbers[2], 0);
      break;
    case OLD_START:
    case OLD_START_LOCAL:
    case OLD_START_LABEL:
      batch->running = numbers[1];
      add (events, FLAM_GO_START, batch->ticks, numbers[1], 0, 0);
      break;
    case OLD_END:
      add (events, FLAM_GO_END, batch->ticks, batch->running, 0, 0);
      batch->running = 0;
      break;
    case OLD_SCHED:
    case OLD_PREEMPT:
      block_old (events, event, batch, FLAM_GO_YIELD);
      break;
    case OLD_STOP:
    case OLD_SLEEP:
    case OLD_BLOCK:
    case OLD_BLOCK_SEND:
    case OLD_BLOCK_RECV:
    case OLD_BLOCK_SELECT:
    case OLD_BLOCK_SYNC:
    case OLD_BLOCK_COND:
    case OLD_BLOCK_NET:
    case OLD_BLOCK_GC:
      block_old (events, event, batch, FLAM_GO_BLOCK);
      break;
    case OLD_UNBLOCK:
    case OLD_UNBLOCK_LOCAL:
      add (events, FLAM_GO_UNBLOCK, batch->ticks, numbers[1], 0, 0);
      break;
    case OLD_SYSCALL:
      add (events, FLAM_GO_CALL, batch->ticks, batch->running, numbers[1], 0);
      break;
    case OLD_SYSBLOCK:
      add (events, FLAM_GO_SYSCALL, batch->ticks, batch->running, 0, 0);
      batch->running = 0;
      break;
    case OLD_SYSEXIT:
    case OLD_SYSEXIT_LOCAL:
      real = numbers[event->type == OLD_SYSEXIT ? 3 : 2];
      add (events,
           FLAM_GO_RETURN_BLOCKED,
           real != 0 ? real : batch->ticks,
           numbers[1],
           0,
           0);
      break;
    case OLD_WAITING:
      add_status (events, batch->ticks, numbers[1], FLAM_GO_WAITING, 0);
      break;
    case OLD_IN_SYSCALL:
      add_status (events, batch->ticks, numbers[1], FLAM_GO_IN_SYSCALL, 0);
      break;
    case OLD_HEAP:
      add_heap (events, batch->ticks, numbers[1]);
      break;
    case OLD_REGION:
      read_old_region (events, event, batch);
      break;
    case OLD_SAMPLE:
      add (events, FLAM_GO_SAMPLE, numbers[1], numbers[3], numbers[4], 0);
      break;
    default:
      break;
    }
}

static void
switch_batch (GHashTable *running, guint64 *now, guint64 to, Batch *batch)
{
  g_hash_table_insert (
      running, GSIZE_TO_POINTER (*now), GSIZE_TO_POINTER (batch->running));
  *now = to;
  batch->running =
      GPOINTER_TO_SIZE (g_hash_table_lookup (running, GSIZE_TO_POINTER (to)));
}

static void
set_frequency (FlamGoEvents *events, guint64 frequency)
{
  if (frequency > 0)
    events->tick = 1e9 / (double)frequency;
}

/* FALSE: the file ends in it. */
static gboolean
read_old_event (FlamGoEvents *events,
                const guint8 **at,
                GHashTable *running,
                guint64 *processor,
                Batch *batch)
{
  const guint8 *end = events->load->source->data + events->load->source->size;
  OldEvent event;

  if (!get_old (at, end, &event))
    return FALSE;
  switch (event.type)
    {
    case OLD_BATCH:
      switch_batch (running, processor, event.numbers[0], batch);
      batch->ticks = event.numbers[1];
      return TRUE;
    case OLD_FREQUENCY:
      set_frequency (events, event.numbers[0]);
      return TRUE;
    case OLD_STACK:
      read_old_stack (events, &event);
      return TRUE;
    case OLD_TIMER:
      return TRUE;
    case OLD_STRING:
      if (!skip_text (at, end, event.numbers[1]))
        return FALSE;
      add_string (
          events, event.numbers[0], *at - event.numbers[1], event.numbers[1]);
      return TRUE;
    case OLD_LOG:
      {
        guint64 length;

        batch->ticks += event.numbers[0];
        return flam_varint_get (at, end, &length) &&
               skip_text (at, end, length);
      }
    default:
      read_old (events, &event, batch);
      return TRUE;
    }
}

static gboolean
read_all_old (FlamGoEvents *events, GError **error)
{
  const FlamSource *source = events->load->source;
  const guint8 *at = source->data + HEAD, *end = source->data + source->size;
  GHashTable *running = flam_arena_table (events->load, FLAM_KEY_DIRECT, NULL);
  guint64 processor = G_MAXUINT64;
  Batch batch = { 0 };

  for (guint n = 0; at < end; n++)
    {
      const guint8 *start = at;
      guint type = *at & 63;

      if (n % 65536 == 0 && !flam_load_step (events->load, at, error))
        return FALSE;
      if (type == 0 || type >= OLD_N)
        {
          flam_load_partial (events->load,
                             start,
                             N_ ("an event has the unknown type %u"),
                             type);
          break;
        }
      if (!read_old_event (events, &at, running, &processor, &batch))
        {
          flam_load_partial (events->load, start, ENDS_EARLY);
          break;
        }
    }
  for (guint i = 0; i < G_N_ELEMENTS (old_reasons); i++)
    add_string (events,
                OLD_REASON (old_reasons[i].type),
                (const guint8 *)old_reasons[i].reason,
                strlen (old_reasons[i].reason));
  end_generation (events);
  return TRUE;
}

/* --- from Go 1.22 -------------------------------------------------------- */

enum
{
  NEW_BATCH = 1,
  NEW_STACKS,
  NEW_STACK,
  NEW_STRINGS,
  NEW_STRING,
  NEW_SAMPLES,
  NEW_SAMPLE,
  NEW_FREQUENCY,
  NEW_CREATE = 14,
  NEW_CREATE_SYSCALL,
  NEW_START,
  NEW_DESTROY,
  NEW_DESTROY_SYSCALL,
  NEW_STOP,
  NEW_BLOCK,
  NEW_UNBLOCK,
  NEW_SYSCALL,
  NEW_SYSCALL_END,
  NEW_SYSCALL_END_BLOCKED,
  NEW_STATUS,
  NEW_GC_BEGIN = 29,
  NEW_GC_END,
  NEW_HEAP = 37,
  NEW_REGION = 42,
  NEW_REGION_END,
  NEW_SWITCH = 45,
  NEW_SWITCH_DESTROY,
  NEW_CREATE_BLOCKED,
  NEW_STATUS_STACK,
  NEW_EXPERIMENT,
  NEW_SYNC,
  NEW_CLOCKS,
};

/* How many numbers an event has; 0: unknown. */
static guint
count_new (guint type)
{
  static const guint8 counts[] = {
    [9] = 3,  3, 1, 4, 3, /* of processors */
    [14] = 4, 2, 3, 1, 1,        3,         3, 4, 3, 1, 1, 4, /* of goroutines
                                                               */
    [26] = 3, 1,                                           /* the world stops */
    [28] = 2, 3, 2, 2, 2,        3,         2, 2, 1, 2, 2, /* of the garbage
                                                              collector */
    [39] = 2, 5, 3, 4, 4,        5,                        /* annotations */
    [45] = 3, 3, 4, 5, [51] = 4, [128] = 4, 4, 2, 3, 3, 2, 3, 3,
    2, /* of allocations */
  };

  return type < G_N_ELEMENTS (counts) ? counts[type] : 0;
}

typedef struct
{
  FlamGoEvents *events;
  GHashTable *running; /* M -> goroutine */
  guint64 machine;
  Batch batch;
} New;

static void
run_on (New *new, guint64 machine, guint64 goroutine)
{
  if (machine == new->machine)
    new->batch.running = goroutine;
  else
    g_hash_table_insert (
        new->running, GSIZE_TO_POINTER (machine), GSIZE_TO_POINTER (goroutine));
}

static void
read_status (New *new, const guint64 *numbers, guint64 stack)
{
  static const FlamGoState states[] = {
    FLAM_GO_UNKNOWN,    FLAM_GO_RUNNABLE, FLAM_GO_RUNNING,
    FLAM_GO_IN_SYSCALL, FLAM_GO_WAITING,
  };
  FlamGoState state =
      numbers[3] < G_N_ELEMENTS (states) ? states[numbers[3]] : FLAM_GO_UNKNOWN;

  add_status (new->events, new->batch.ticks, numbers[1], state, stack);
  if (state == FLAM_GO_RUNNING || state == FLAM_GO_IN_SYSCALL)
    run_on (new, numbers[2], numbers[1]);
}

/* The goroutine that runs leaves the M to another, or to none. */
static void
leave (New *new, FlamGoKind kind, guint64 stack, guint64 reason, guint64 next)
{
  Batch *batch = &new->batch;

  add (new->events, kind, batch->ticks, batch->running, stack, reason);
  batch->running = next;
  add (new->events, FLAM_GO_START, batch->ticks, next, 0, 0);
}

static void
read_new (New *new, guint type, const guint64 *numbers)
{
  FlamGoEvents *events = new->events;
  Batch *batch = &new->batch;

  switch (type)
    {
    case NEW_CREATE:
      add (events, FLAM_GO_CREATE, batch->ticks, numbers[1], numbers[2], 0);
      break;
    case NEW_CREATE_BLOCKED:
      add (events,
           FLAM_GO_CREATE_BLOCKED,
           batch->ticks,
           numbers[1],
           numbers[2],
           0);
      break;
    case NEW_CREATE_SYSCALL:
      batch->running = numbers[1];
      add_status (events, batch->ticks, numbers[1], FLAM_GO_IN_SYSCALL, 0);
      break;
    case NEW_START:
      batch->running = numbers[1];
      add (events, FLAM_GO_START, batch->ticks, numbers[1], 0, 0);
      break;
    case NEW_DESTROY:
    case NEW_DESTROY_SYSCALL:
      leave (new, FLAM_GO_END, 0, 0, 0);
      break;
    case NEW_STOP:
      leave (new, FLAM_GO_YIELD, numbers[2], numbers[1], 0);
      break;
    case NEW_BLOCK:
      leave (new, FLAM_GO_BLOCK, numbers[2], numbers[1], 0);
      break;
    case NEW_SWITCH:
      leave (new, FLAM_GO_BLOCK, 0, 0, numbers[1]);
      break;
    case NEW_SWITCH_DESTROY:
      leave (new, FLAM_GO_END, 0, 0, numbers[1]);
      break;
    case NEW_UNBLOCK:
      add (events, FLAM_GO_UNBLOCK, batch->ticks, numbers[1], 0, 0);
      break;
    case NEW_SYSCALL:
      add (
          events, FLAM_GO_SYSCALL, batch->ticks, batch->running, numbers[2], 0);
      break;
    case NEW_SYSCALL_END:
      add (events, FLAM_GO_RETURN, batch->ticks, batch->running, 0, 0);
      break;
    case NEW_SYSCALL_END_BLOCKED:
      leave (new, FLAM_GO_RETURN_BLOCKED, 0, 0, 0);
      break;
    case NEW_STATUS:
      read_status (new, numbers, 0);
      break;
    case NEW_STATUS_STACK:
      read_status (new, numbers, numbers[4]);
      break;
    case NEW_GC_BEGIN:
    case NEW_GC_END:
      add_collection (events, batch->ticks, type == NEW_GC_END);
      break;
    case NEW_HEAP:
      add_heap (events, batch->ticks, numbers[1]);
      break;
    case NEW_REGION:
    case NEW_REGION_END:
      add (events,
           type == NEW_REGION ? FLAM_GO_REGION : FLAM_GO_REGION_END,
           batch->ticks,
           batch->running,
           0,
           numbers[2]);
      break;
    default:
      break;
    }
}

static gboolean
get_numbers (Batch *batch, guint n, guint64 *numbers)
{
  for (guint i = 0; i < n; i++)
    if (!flam_varint_get (&batch->at, batch->end, &numbers[i]))
      return FALSE;
  return TRUE;
}

/* {id, n, n of four numbers} */
static gboolean
read_new_stack (New *new)
{
  guint64 numbers[2], skipped;
  Stack stack;

  if (!get_numbers (&new->batch, 2, numbers) || numbers[1] > MOST_FRAMES)
    return FALSE;
  stack = (Stack){ .id = numbers[0],
                   .at = new->batch.at,
                   .end = new->batch.end,
                   .n = numbers[1] };
  for (guint64 i = 0; i < 4 * numbers[1]; i++)
    if (!flam_varint_get (&new->batch.at, new->batch.end, &skipped))
      return FALSE;
  add_stack (new->events, &stack);
  return TRUE;
}

/* FALSE: it is invalid. */
static gboolean
read_new_event (New *new)
{
  Batch *batch = &new->batch;
  guint type = *batch->at++, n;
  guint64 numbers[MOST_ARGUMENTS] = { 0 };

  switch (type)
    {
    case NEW_STACKS:
    case NEW_STRINGS:
    case NEW_SAMPLES:
    case NEW_SYNC:
      return TRUE;
    case NEW_STACK:
      return read_new_stack (new);
    case NEW_STRING:
      if (!get_numbers (batch, 2, numbers) ||
          !skip_text (&batch->at, batch->end, numbers[1]))
        return FALSE;
      add_string (new->events, numbers[0], batch->at - numbers[1], numbers[1]);
      return TRUE;
    case NEW_SAMPLE:
      if (!get_numbers (batch, 5, numbers))
        return FALSE;
      add (new->events, FLAM_GO_SAMPLE, numbers[0], numbers[3], numbers[4], 0);
      return TRUE;
    case NEW_FREQUENCY:
      if (!get_numbers (batch, 1, numbers))
        return FALSE;
      set_frequency (new->events, numbers[0]);
      return TRUE;
    default:
      n = count_new (type);
      if (n == 0 || !get_numbers (batch, n, numbers))
        return FALSE;
      batch->ticks += numbers[0];
      read_new (new, type, numbers);
      return TRUE;
    }
}

/* The head of a batch, {generation, M, ticks, length}; FALSE: it is invalid. */
static gboolean
begin_batch (New *new, guint64 *generation, gboolean *experiment)
{
  const FlamSource *source = new->events->load->source;
  Batch *batch = &new->batch;
  guint64 numbers[4];
  guint8 type = *batch->at++;

  batch->end = source->data + source->size;
  *experiment = type == NEW_EXPERIMENT;
  if (type != NEW_BATCH && type != NEW_EXPERIMENT)
    return FALSE;
  if (*experiment && batch->at < batch->end)
    batch->at++;
  if (!get_numbers (batch, 4, numbers) || numbers[0] == 0 ||
      numbers[3] > (guint64)(batch->end - batch->at))
    return FALSE;
  if (*generation != 0 && numbers[0] != *generation)
    end_generation (new->events);
  *generation = numbers[0];
  switch_batch (new->running, &new->machine, numbers[1], batch);
  batch->ticks = numbers[2];
  batch->end = batch->at + numbers[3];
  return TRUE;
}

static gboolean
read_all_new (FlamGoEvents *events, GError **error)
{
  const FlamSource *source = events->load->source;
  const guint8 *end = source->data + source->size;
  New new = { .events = events,
              .running = flam_arena_table (events->load, FLAM_KEY_DIRECT, NULL),
              .machine = G_MAXUINT64,
              .batch.at = source->data + HEAD };
  guint64 generation = 0;
  gboolean valid = TRUE;

  while (new.batch.at < end && valid)
    {
      const guint8 *start = new.batch.at;
      gboolean experiment;

      if (!flam_load_step (events->load, start, error))
        return FALSE;
      valid = begin_batch (&new, &generation, &experiment);
      if (valid && experiment)
        new.batch.at = new.batch.end;
      while (valid && new.batch.at < new.batch.end)
        {
          start = new.batch.at;
          valid = read_new_event (&new);
        }
      if (!valid)
        flam_load_partial (events->load, start, ENDS_EARLY);
    }
  end_generation (events);
  return TRUE;
}

gboolean
flam_go_events_read (FlamGoEvents *events, GError **error)
{
  const FlamSource *source = events->load->source;
  guint version = 0;

  if (source->size < HEAD)
    return flam_source_error (source,
                              error,
                              FLAM_ERROR_TRUNCATED,
                              source->size,
                              N_ ("the file ends within its header"));
  for (guint i = strlen ("go 1.");
       i < HEAD && g_ascii_isdigit (source->data[i]);
       i++)
    version = MIN (10 * version + source->data[i] - '0', 1000u);
  if (version < 7)
    return flam_source_error (source,
                              error,
                              FLAM_ERROR_UNSUPPORTED,
                              0,
                              N_ ("traces of Go before 1.7 cannot be read"));
  /* Until the file states it. */
  set_frequency (events, 1000000000);
  return version < 22 ? read_all_old (events, error)
                      : read_all_new (events, error);
}
