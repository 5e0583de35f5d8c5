/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perfetto-samples.h"

#include "flam-load.h"

typedef struct
{
  gint32 pid;
  FlamStackId stack;
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

GHashTable *
flam_perfetto_heap_new (void)
{
  return g_hash_table_new_full (hash_heap, equal_heap, NULL, g_free);
}

/* --- from packets -------------------------------------------------------- */

static void
add_sample (FlamPerfetto *trace,
            FlamThreadId thread,
            FlamStackId stack,
            gint64 time)
{
  FlamPerfettoSample sample = { thread, stack, time };

  g_array_append_val (trace->samples, sample);
}

/* PerfSample: 2 pid, 3 tid, 4 callstack, 16 the reason if it could not be
 * unwound, 17 lost, 18 skipped. */
void
flam_perfetto_read_perf_sample (FlamPerfetto *trace,
                                const FlamPerfettoPacket *packet,
                                FlamProto sample)
{
  guint64 lost = flam_proto_number_in (sample, 17);

  flam_builder_facts (trace->names.builder)->lost +=
      MIN (lost, (guint64)G_MAXUINT32);
  if (lost > 0)
    return;
  trace->unwound += flam_proto_number_in (sample, 16) != 0 ||
                    flam_proto_number_in (sample, 18) != 0;
  add_sample (trace,
              flam_perfetto_thread (trace,
                                    flam_proto_number_in (sample, 2),
                                    flam_proto_number_in (sample, 3),
                                    NULL),
              flam_perfetto_names_find (&trace->names,
                                        packet->sequence->state,
                                        FLAM_PERFETTO_CALLSTACK,
                                        flam_proto_number_in (sample, 4)),
              packet->at);
}

/* StreamingProfilePacket: 1 callstacks, 2 µs since the one before. */
void
flam_perfetto_read_stream (FlamPerfetto *trace,
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
        sequence->time =
            MIN (sequence->time +
                     flam_perfetto_scaled (
                         trace, g_array_index (deltas, guint64, i), 1000),
                 G_MAXINT64 / 4);
      add_sample (trace,
                  flam_perfetto_track (trace, sequence, sequence->track),
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
                                              flam_proto_number_in (sample, 1));
  heap->allocated =
      flam_perfetto_scaled (trace, flam_proto_number_in (sample, 2), 1);
  heap->freed =
      flam_perfetto_scaled (trace, flam_proto_number_in (sample, 3), 1);
  heap->allocations =
      flam_perfetto_scaled (trace, flam_proto_number_in (sample, 5), 1);
  g_hash_table_replace (trace->heap, &heap->key, heap);
}

/* ProfilePacket: 5 dumps: 1 pid, 2 samples. */
void
flam_perfetto_read_heap (FlamPerfetto *trace,
                         const FlamPerfettoPacket *packet,
                         FlamProto profile)
{
  flam_perfetto_names_read_profile (
      &trace->names, packet->sequence->state, profile);
  while (flam_proto_next (&profile))
    if (profile.number == 5 && profile.wire == 2)
      {
        FlamProto dump = flam_proto_inner (&profile);
        gint32 pid = flam_perfetto_id (flam_proto_number_in (dump, 1));

        while (flam_proto_next (&dump))
          if (dump.number == 2 && dump.wire == 2)
            read_heap_sample (trace, packet, pid, flam_proto_inner (&dump));
      }
}

/* --- into the builder ---------------------------------------------------- */

enum
{
  CPU_EVENT,
  HEAP_EVENT
};

void
flam_perfetto_add_cpu (FlamPerfetto *trace)
{
  static const gint64 weights[3] = { 1, 0, 0 };

  flam_builder_add_standard_measure (
      trace->names.builder, FLAM_STANDARD_SAMPLES, 0, CPU_EVENT);
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

void
flam_perfetto_add_heap (FlamPerfetto *trace)
{
  static const FlamMeasureRow measures[] = {
    { "allocated", N_ ("Allocated memory"), FLAM_OF_BYTES },
    { "leaked", N_ ("Leaked memory"), FLAM_OF_BYTES },
    { "allocations", N_ ("Allocations"), FLAM_OF_BLOCKS },
  };
  FlamBuilder *builder = trace->names.builder;
  g_autoptr (GPtrArray) rows = g_ptr_array_new ();
  GHashTableIter iter;
  gpointer value;

  for (guint i = 0; i < G_N_ELEMENTS (measures); i++)
    flam_load_measure (builder, &measures[i], i, HEAP_EVENT);
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

      sample.thread = flam_perfetto_thread (
          trace, (guint64)(gint64)heap->key.pid, G_MAXUINT64, NULL);
      flam_builder_add_sample (builder, &sample, weights);
    }
}
