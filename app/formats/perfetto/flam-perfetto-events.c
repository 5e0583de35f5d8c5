/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perfetto-events.h"

#include <string.h>

typedef struct
{
  gint32 pid;
  FlamId stack;
} HeapKey;

typedef struct
{
  HeapKey key;
  gint64 allocated, freed, allocations;
} Heap;

static guint
hash_heap (gconstpointer data)
{
  const HeapKey *key = data;

  return key->stack * 0x9e3779b1u + key->pid;
}

static gboolean
equal_heap (gconstpointer a, gconstpointer b)
{
  const HeapKey *x = a;
  const HeapKey *y = b;

  return x->pid == y->pid && x->stack == y->stack;
}

static GHashTable *
new_table (GDestroyNotify free_value)
{
  return g_hash_table_new_full (
      g_int64_hash, g_int64_equal, g_free, free_value);
}

void
flam_perfetto_init (FlamPerfetto *trace, FlamBuilder *builder)
{
  *trace = (FlamPerfetto){ 0 };
  flam_perfetto_names_init (&trace->names, builder);
  flam_trace_spans_init (&trace->spans, builder);
  flam_builder_set_has_times (builder);
  trace->sequences = new_table (g_free);
  trace->tracks = new_table (NULL);
  trace->samples = g_array_new (FALSE, FALSE, sizeof (FlamPerfettoSample));
  trace->heap = g_hash_table_new_full (hash_heap, equal_heap, NULL, g_free);
}

void
flam_perfetto_clear (FlamPerfetto *trace)
{
  flam_perfetto_names_clear (&trace->names);
  flam_trace_spans_clear (&trace->spans);
  g_hash_table_unref (trace->sequences);
  g_hash_table_unref (trace->tracks);
  g_array_unref (trace->samples);
  g_hash_table_unref (trace->heap);
}

static gint32
id_of (guint64 value)
{
  return value <= G_MAXINT32 ? (gint32)value : -1;
}

/* Keeps what the message's field `number` says; 0 where it says nothing. */
static guint64
number_in (FlamProto message, guint64 number)
{
  guint64 value = 0;

  while (flam_proto_next (&message))
    if (message.number == number && message.wire == 0)
      value = message.value;
  return value;
}

/* The message in its field `number`; an empty one: there is none. */
static FlamProto
message_in (FlamProto message, guint64 number)
{
  FlamProto found = flam_proto_init (message.at, 0);

  while (flam_proto_next (&message))
    if (message.number == number && message.wire == 2)
      found = flam_proto_inner (&message);
  return found;
}

/* NULL: there is none. */
static char *
text_in (FlamProto message, guint64 number)
{
  while (flam_proto_next (&message))
    if (message.number == number && message.wire == 2 && message.length > 0)
      return g_strndup ((const char *)message.bytes, message.length);
  return NULL;
}

/* --- clocks -------------------------------------------------------------- */

static FlamPerfettoClock *
find_clock (FlamPerfetto *trace, FlamPerfettoSequence *sequence, guint32 id)
{
  if (id < FLAM_PERFETTO_OWN_CLOCKS)
    return &trace->clocks[id];
  id -= FLAM_PERFETTO_OWN_CLOCKS;
  return id < FLAM_PERFETTO_N_OWN ? &sequence->own[id] : NULL;
}

static gint64
scaled (guint64 time, gint64 multiplier)
{
  gint64 result;

  if (time > G_MAXINT64 ||
      __builtin_mul_overflow ((gint64)time, MAX (multiplier, 1), &result))
    return 0;
  return MIN (result, G_MAXINT64 / 4);
}

/* The same instant on several clocks. */
static void
read_clocks (FlamPerfetto *trace,
             FlamPerfettoSequence *sequence,
             FlamProto snapshot)
{
  FlamProto all = snapshot;
  gint64 boot = 0;

  while (flam_proto_next (&all))
    if (all.number == 1 &&
        number_in (flam_proto_inner (&all), 1) == FLAM_PERFETTO_BOOT_CLOCK)
      boot = scaled (number_in (flam_proto_inner (&all), 2), 1);
  while (flam_proto_next (&snapshot))
    {
      FlamProto inner = flam_proto_inner (&snapshot);
      guint64 id = number_in (inner, 1);
      FlamPerfettoClock *clock;

      if (snapshot.number != 1 || id > G_MAXINT32)
        continue;
      clock = find_clock (trace, sequence, id);
      if (clock == NULL || (clock->known && id < FLAM_PERFETTO_OWN_CLOCKS))
        continue;
      clock->multiplier = MAX (number_in (inner, 4), 1);
      clock->incremental = number_in (inner, 3) != 0;
      clock->last = scaled (number_in (inner, 2), clock->multiplier);
      clock->offset = boot > 0 ? boot - clock->last : 0;
      clock->known = TRUE;
    }
}

static gint64
boot_time (FlamPerfetto *trace,
           FlamPerfettoSequence *sequence,
           guint32 id,
           guint64 time)
{
  FlamPerfettoClock *clock;
  gint64 at;

  if (id == FLAM_PERFETTO_DEFAULT_CLOCK)
    id = sequence->clock;
  clock = find_clock (trace, sequence, id);
  if (clock == NULL || !clock->known)
    return scaled (time, 1);
  at = scaled (time, clock->multiplier);
  if (clock->incremental)
    {
      clock->last = MIN (clock->last + at, G_MAXINT64 / 4);
      at = clock->last;
    }
  return at + clock->offset;
}

/* --- who ----------------------------------------------------------------- */

static FlamId
thread_of (FlamPerfetto *trace, guint64 pid, guint64 tid, char *name)
{
  FlamBuilder *builder = trace->names.builder;
  FlamId thread = flam_builder_thread (
      builder, flam_builder_process (builder, id_of (pid), 0), id_of (tid), 0);

  if (name != NULL)
    flam_builder_set_thread_name (builder, thread, name);
  g_free (name);
  return thread;
}

static void
name_process (FlamPerfetto *trace, guint64 pid, char *name)
{
  FlamBuilder *builder = trace->names.builder;

  if (name != NULL)
    flam_builder_set_process_name (
        builder, flam_builder_process (builder, id_of (pid), 0), name);
  g_free (name);
}

/* ProcessTree: 1 processes, 2 threads. */
static void
read_processes (FlamPerfetto *trace, FlamProto tree)
{
  while (flam_proto_next (&tree))
    if (tree.number == 1 && tree.wire == 2)
      {
        FlamProto inner = flam_proto_inner (&tree);
        name_process (trace, number_in (inner, 1), text_in (inner, 3));
      }
    else if (tree.number == 2 && tree.wire == 2)
      {
        FlamProto inner = flam_proto_inner (&tree);
        char *name = text_in (inner, 2);
        if (name != NULL)
          thread_of (trace, number_in (inner, 3), number_in (inner, 1), name);
      }
}

static void
set_track (FlamPerfetto *trace, guint64 uuid, FlamId thread)
{
  gint64 *key = g_new (gint64, 1);

  *key = (gint64)uuid;
  g_hash_table_insert (trace->tracks, key, GUINT_TO_POINTER (thread + 1));
}

/* A track that is no thread's is one of its own, below its process. */
static FlamId
make_track (FlamPerfetto *trace, FlamId process, const char *name)
{
  FlamBuilder *builder = trace->names.builder;
  FlamId thread = flam_builder_thread (builder, process, -1, ++trace->n_tracks);

  if (name != NULL)
    flam_builder_set_thread_name (builder, thread, name);
  return thread;
}

/* TrackDescriptor: 1 uuid, 2 name, 3 process, 4 thread. */
static void
read_track (FlamPerfetto *trace, FlamProto track)
{
  FlamProto process = message_in (track, 3);
  FlamProto thread = message_in (track, 4);
  guint64 uuid = number_in (track, 1);
  g_autofree char *name = text_in (track, 2);
  guint64 pid = number_in (process, 1);

  if (name == NULL)
    name = text_in (track, 10);
  if (process.at < process.end)
    name_process (trace, pid, text_in (process, 6));
  if (thread.at < thread.end)
    set_track (trace,
               uuid,
               thread_of (trace,
                          number_in (thread, 1),
                          number_in (thread, 2),
                          text_in (thread, 5)));
  else
    set_track (trace,
               uuid,
               make_track (trace,
                           flam_builder_process (
                               trace->names.builder,
                               process.at < process.end ? id_of (pid) : -1,
                               0),
                           name));
}

static FlamId
find_track (FlamPerfetto *trace,
            const FlamPerfettoSequence *sequence,
            guint64 uuid)
{
  gint64 key = (gint64)uuid;
  gpointer found = g_hash_table_lookup (trace->tracks, &key);

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  if (uuid == 0 && sequence->thread != FLAM_NONE)
    return sequence->thread;
  set_track (trace,
             uuid,
             make_track (trace,
                         flam_builder_process (trace->names.builder, -1, 0),
                         NULL));
  return find_track (trace, sequence, uuid);
}

/* --- samples ------------------------------------------------------------- */

static void
add_sample (FlamPerfetto *trace, FlamId thread, FlamId stack, gint64 time)
{
  FlamPerfettoSample sample = { thread, stack, time };

  g_array_append_val (trace->samples, sample);
}

/* PerfSample: 2 pid, 3 tid, 4 callstack, 16 why it could not be unwound, 17
 * lost, 18 skipped. */
static void
read_perf_sample (FlamPerfetto *trace,
                  const FlamPerfettoPacket *packet,
                  FlamProto sample)
{
  guint64 lost = number_in (sample, 17);

  flam_builder_facts (trace->names.builder)->lost +=
      MIN (lost, (guint64)G_MAXUINT32);
  if (lost > 0)
    return;
  trace->unwound += number_in (sample, 16) != 0 || number_in (sample, 18) != 0;
  add_sample (
      trace,
      thread_of (trace, number_in (sample, 2), number_in (sample, 3), NULL),
      flam_perfetto_names_find (&trace->names,
                                packet->sequence->state,
                                FLAM_PERFETTO_CALLSTACK,
                                number_in (sample, 4)),
      packet->at);
}

/* StreamingProfilePacket: 1 callstacks, 2 µs since the one before. */
static void
read_stream (FlamPerfetto *trace,
             const FlamPerfettoPacket *packet,
             FlamProto stream)
{
  g_autoptr (GArray) stacks = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GArray) deltas = g_array_new (FALSE, FALSE, sizeof (guint64));
  FlamPerfettoSequence *sequence = packet->sequence;

  while (flam_proto_next (&stream))
    if (stream.number == 1)
      flam_proto_numbers (&stream, stacks);
    else if (stream.number == 2)
      flam_proto_numbers (&stream, deltas);
  for (guint i = 0; i < stacks->len; i++)
    {
      if (i < deltas->len)
        sequence->time = MIN (
            sequence->time + scaled (g_array_index (deltas, guint64, i), 1000),
            G_MAXINT64 / 4);
      add_sample (trace,
                  find_track (trace, sequence, sequence->track),
                  flam_perfetto_names_find (&trace->names,
                                            sequence->state,
                                            FLAM_PERFETTO_CALLSTACK,
                                            g_array_index (stacks, guint64, i)),
                  sequence->time);
    }
}

/* HeapSample: 1 callstack, 2 bytes allocated, 3 bytes freed, 5 allocations. */
static void
read_heap_sample (FlamPerfetto *trace,
                  const FlamPerfettoPacket *packet,
                  gint32 pid,
                  FlamProto sample)
{
  Heap *heap = g_new0 (Heap, 1);

  heap->key.pid = pid;
  heap->key.stack = flam_perfetto_names_find (&trace->names,
                                              packet->sequence->state,
                                              FLAM_PERFETTO_CALLSTACK,
                                              number_in (sample, 1));
  heap->allocated = scaled (number_in (sample, 2), 1);
  heap->freed = scaled (number_in (sample, 3), 1);
  heap->allocations = scaled (number_in (sample, 5), 1);
  g_hash_table_replace (trace->heap, &heap->key, heap);
}

/* ProfilePacket: 5 dumps: 1 pid, 2 samples. */
static void
read_heap (FlamPerfetto *trace,
           const FlamPerfettoPacket *packet,
           FlamProto profile)
{
  flam_perfetto_names_read_profile (
      &trace->names, packet->sequence->state, profile);
  while (flam_proto_next (&profile))
    if (profile.number == 5 && profile.wire == 2)
      {
        FlamProto dump = flam_proto_inner (&profile);
        gint32 pid = id_of (number_in (dump, 1));

        while (flam_proto_next (&dump))
          if (dump.number == 2 && dump.wire == 2)
            read_heap_sample (trace, packet, pid, flam_proto_inner (&dump));
      }
}

/* --- slices -------------------------------------------------------------- */

enum
{
  SLICE_BEGIN = 1,
  SLICE_END,
  INSTANT,
  COUNTER
};

/* TrackEvent: 1 and 16 its time in µs, 9 what it is, 10 and 23 its name, 11
 * its track, 6 an event as Chrome's trace has it: 2 the phase, 3 how long. */
static void
read_event (FlamPerfetto *trace,
            const FlamPerfettoPacket *packet,
            FlamProto event)
{
  FlamBuilder *builder = trace->names.builder;
  FlamPerfettoSequence *sequence = packet->sequence;
  FlamProto legacy = message_in (event, 6);
  guint64 type = number_in (event, 9);
  guint64 track = number_in (event, 11);
  guint64 phase = number_in (legacy, 2);
  gint64 time = packet->at;
  g_autofree char *text = text_in (event, 23);
  FlamId name, thread;

  if (number_in (event, 16) != 0)
    time = scaled (number_in (event, 16), 1000);
  else if (!packet->has_time)
    time = sequence->time = MIN (
        sequence->time + scaled (number_in (event, 1), 1000), G_MAXINT64 / 4);
  name = text != NULL ? flam_builder_string (builder, text, -1)
                      : flam_perfetto_names_find (&trace->names,
                                                  sequence->state,
                                                  FLAM_PERFETTO_EVENT_NAME,
                                                  number_in (event, 10));
  if (name == FLAM_NONE)
    name = 0;
  thread = find_track (trace, sequence, track != 0 ? track : sequence->track);
  if (type == SLICE_BEGIN || phase == 'B')
    flam_trace_spans_begin (&trace->spans, thread, name, time);
  else if (type == SLICE_END || phase == 'E')
    flam_trace_spans_end (&trace->spans, thread, 0, time);
  else if (phase == 'X')
    flam_trace_spans_add (&trace->spans,
                          thread,
                          name,
                          time,
                          time + scaled (number_in (legacy, 3), 1000));
  else if (type == COUNTER)
    trace->counters++;
  else
    {
      flam_builder_add_mark (
          builder, time, 0, thread, flam_builder_get_string (builder, name));
      trace->n_marks++;
    }
}

/* --- packets ------------------------------------------------------------- */

static FlamPerfettoSequence *
find_sequence (FlamPerfetto *trace, guint64 id)
{
  gint64 key = (gint64)id;
  FlamPerfettoSequence *sequence = g_hash_table_lookup (trace->sequences, &key);

  if (sequence == NULL)
    {
      gint64 *copy = g_new (gint64, 1);

      *copy = key;
      sequence = g_new0 (FlamPerfettoSequence, 1);
      sequence->state = trace->n_states++;
      sequence->clock = FLAM_PERFETTO_BOOT_CLOCK;
      sequence->thread = FLAM_NONE;
      g_hash_table_insert (trace->sequences, copy, sequence);
    }
  return sequence;
}

/* TracePacketDefaults: 58 clock, 11 of track events: 11 track. */
static void
read_defaults (FlamPerfettoSequence *sequence, FlamProto defaults)
{
  guint64 clock = number_in (defaults, 58);
  guint64 track = number_in (message_in (defaults, 11), 11);

  if (clock > 0 && clock < FLAM_PERFETTO_DEFAULT_CLOCK)
    sequence->clock = clock;
  if (track != 0)
    sequence->track = track;
}

/* ThreadDescriptor: 1 pid, 2 tid, 5 name, 6 the time of deltas, µs. */
static void
read_thread (FlamPerfetto *trace,
             FlamPerfettoSequence *sequence,
             FlamProto thread)
{
  sequence->thread = thread_of (
      trace, number_in (thread, 1), number_in (thread, 2), text_in (thread, 5));
  sequence->time = scaled (number_in (thread, 6), 1000);
}

void
flam_perfetto_begin (FlamPerfetto *trace,
                     FlamPerfettoPacket *packet,
                     gboolean cleared,
                     FlamProto fields)
{
  FlamPerfettoSequence *sequence = find_sequence (trace, packet->sequence_id);

  packet->sequence = sequence;
  if (cleared)
    sequence->state = trace->n_states++;
  while (flam_proto_next (&fields))
    if (fields.wire != 2)
      continue;
    else if (fields.number == 6)
      read_clocks (trace, sequence, flam_proto_inner (&fields));
    else if (fields.number == 12)
      flam_perfetto_names_read (
          &trace->names, sequence->state, flam_proto_inner (&fields));
    else if (fields.number == 59)
      read_defaults (sequence, flam_proto_inner (&fields));
  if (packet->has_time)
    packet->at = boot_time (trace, sequence, packet->clock, packet->time);
}

void
flam_perfetto_read (FlamPerfetto *trace,
                    const FlamPerfettoPacket *packet,
                    guint64 number,
                    FlamProto message)
{
  switch (number)
    {
    case 2:
      read_processes (trace, message);
      break;
    case 11:
      read_event (trace, packet, message);
      break;
    case 37:
      read_heap (trace, packet, message);
      break;
    case 43:
      name_process (trace, number_in (message, 1), text_in (message, 6));
      break;
    case 44:
      read_thread (trace, packet->sequence, message);
      break;
    case 54:
      read_stream (trace, packet, message);
      break;
    case 60:
      read_track (trace, message);
      break;
    case 66:
      read_perf_sample (trace, packet, message);
      break;
    default:
      break;
    }
}

/* --- into the builder ---------------------------------------------------- */

enum
{
  CPU_EVENT,
  HEAP_EVENT
};

static void
add_cpu (FlamPerfetto *trace)
{
  static const gint64 weights[3] = { 1, 0, 0 };

  flam_builder_add_measure (trace->names.builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            0,
                            CPU_EVENT);
  for (guint i = 0; i < trace->samples->len; i++)
    {
      const FlamPerfettoSample *row =
          &g_array_index (trace->samples, FlamPerfettoSample, i);
      FlamSample sample = { .thread = row->thread,
                            .stack = row->stack,
                            .time = row->time,
                            .event = CPU_EVENT };
      flam_builder_add_sample (trace->names.builder, &sample, weights);
    }
}

static int
compare_heap (gconstpointer a, gconstpointer b)
{
  const Heap *x = *(const Heap *const *)a;
  const Heap *y = *(const Heap *const *)b;

  if (x->key.pid != y->key.pid)
    return x->key.pid < y->key.pid ? -1 : 1;
  return x->key.stack < y->key.stack ? -1 : x->key.stack > y->key.stack;
}

static void
add_heap (FlamPerfetto *trace)
{
  static const struct
  {
    const char *id, *name;
    FlamUnit unit;
  } measures[] = { { "allocated", "Allocated memory", FLAM_UNIT_BYTES },
                   { "leaked", "Not freed", FLAM_UNIT_BYTES },
                   { "allocations", "Allocations", FLAM_UNIT_COUNT } };
  FlamBuilder *builder = trace->names.builder;
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value;

  for (guint i = 0; i < G_N_ELEMENTS (measures); i++)
    flam_builder_add_measure (builder,
                              measures[i].id,
                              measures[i].name,
                              measures[i].unit,
                              FLAM_MEASURE_ALLOC,
                              i,
                              HEAP_EVENT);
  g_hash_table_iter_init (&iter, trace->heap);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    g_ptr_array_add (rows, value);
  g_ptr_array_sort (rows, compare_heap);
  for (guint i = 0; i < rows->len; i++)
    {
      const Heap *heap = rows->pdata[i];
      gint64 weights[3] = { heap->allocated,
                            MAX (heap->allocated - heap->freed, 0),
                            heap->allocations };
      FlamSample sample = { .stack = heap->key.stack, .event = HEAP_EVENT };

      sample.thread =
          thread_of (trace, (guint64)(gint64)heap->key.pid, G_MAXUINT64, NULL);
      flam_builder_add_sample (builder, &sample, weights);
    }
}

static void
warn (FlamPerfetto *trace, guint hidden)
{
  FlamBuilder *builder = trace->names.builder;

  if (hidden > 0)
    flam_builder_warn (builder,
                       "the trace holds stacks: they are shown, and not its "
                       "%u slices",
                       hidden);
  if (trace->counters > 0)
    flam_builder_warn (builder,
                       "%" G_GUINT64_FORMAT " values of counters are not shown",
                       trace->counters);
  if (trace->unwound > 0)
    flam_builder_warn (builder,
                       "%" G_GUINT64_FORMAT
                       " samples have no stack, or not all of it",
                       trace->unwound);
  if (trace->bad > 0)
    flam_builder_warn (builder,
                       "%" G_GUINT64_FORMAT
                       " packets make no sense and were left out in part",
                       trace->bad);
}

gboolean
flam_perfetto_finish (FlamPerfetto *trace)
{
  FlamBuilder *builder = trace->names.builder;
  gboolean heap = g_hash_table_size (trace->heap) > 0;
  guint n_spans = flam_trace_spans_close (&trace->spans);

  if (trace->samples->len == 0 && !heap && n_spans == 0)
    return FALSE;
  for (guint i = 0; i < (heap ? 3 : 1); i++)
    flam_builder_add_column (builder);
  if (trace->samples->len > 0)
    add_cpu (trace);
  if (heap)
    add_heap (trace);
  if (trace->samples->len > 0 || heap)
    {
      warn (trace, n_spans);
      return TRUE;
    }
  flam_builder_set_spans (builder,
                          flam_builder_add_measure (builder,
                                                    "wall-time",
                                                    "Wall time",
                                                    FLAM_UNIT_NS,
                                                    FLAM_MEASURE_CPU,
                                                    0,
                                                    FLAM_NONE));
  flam_trace_spans_make_samples (&trace->spans);
  warn (trace, 0);
  return TRUE;
}
