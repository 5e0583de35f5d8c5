/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perfetto-events.h"

#include "flam-core-profile.h"
#include "flam-perfetto-samples.h"

#include <math.h>
#include <string.h>

void
flam_perfetto_init (FlamPerfetto *trace, FlamLoad *load)
{
  *trace = (FlamPerfetto){ 0 };
  flam_perfetto_names_init (&trace->names, load);
  flam_trace_spans_init (&trace->spans, load);
  flam_builder_set_has_times (load->builder);
  trace->sequences = flam_arena_table (load, FLAM_KEY_NUMBER, g_free);
  trace->tracks = flam_arena_table (load, FLAM_KEY_NUMBER, g_free);
  trace->samples = flam_arena_array (load, FlamPerfettoSample);
  trace->heap =
      flam_arena_keep (load, flam_perfetto_heap_new (), g_hash_table_unref);
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

/* The same instant on several clocks. */
static void
read_clocks (FlamPerfetto *trace,
             FlamPerfettoSequence *sequence,
             FlamProto snapshot)
{
  FlamProto all = snapshot;
  gint64 boot = 0;

  while (flam_proto_next (&all))
    if (all.number == 1 && flam_proto_number_in (flam_proto_inner (&all), 1) ==
                               FLAM_PERFETTO_BOOT_CLOCK)
      boot = flam_perfetto_scaled (
          trace, flam_proto_number_in (flam_proto_inner (&all), 2), 1);
  while (flam_proto_next (&snapshot))
    {
      FlamProto inner = flam_proto_inner (&snapshot);
      guint64 id = flam_proto_number_in (inner, 1);
      FlamPerfettoClock *clock;

      if (snapshot.number != 1 || id > G_MAXINT32)
        continue;
      clock = find_clock (trace, sequence, id);
      if (clock == NULL || (clock->known && id < FLAM_PERFETTO_OWN_CLOCKS))
        continue;
      clock->multiplier = MAX (flam_proto_number_in (inner, 4), 1);
      clock->incremental = flam_proto_number_in (inner, 3) != 0;
      clock->last = flam_perfetto_scaled (
          trace, flam_proto_number_in (inner, 2), clock->multiplier);
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
    return flam_perfetto_scaled (trace, time, 1);
  at = flam_perfetto_scaled (trace, time, clock->multiplier);
  if (clock->incremental)
    {
      clock->last = MIN (clock->last + at, G_MAXINT64 / 4);
      at = clock->last;
    }
  return at + clock->offset;
}

/* --- slices -------------------------------------------------------------- */

enum
{
  SLICE_BEGIN = 1,
  SLICE_END,
  INSTANT,
  COUNTER
};

/* 30 a whole number, 44 a double. */
static void
read_count (FlamPerfetto *trace, guint64 track, gint64 time, FlamProto event)
{
  gint64 value = 0;
  guint part = 0;

  while (flam_proto_next (&event))
    {
      double real;

      if (event.number == 30 && event.wire == 0)
        value = (gint64)event.value;
      if (event.number != 44 || event.wire != 1)
        continue;
      memcpy (&real, &event.value, sizeof real);
      if (!isfinite (real) || fabs (real) > 9e18)
        continue;
      value = (gint64)floor (real);
      part = (guint)round ((real - floor (real)) * 1000);
    }
  trace->counters += !flam_perfetto_count (trace, track, time, value, part);
}

/* The duration of a mark, in ns, in Flambeau's own traces: a DebugAnnotation,
 * 10 its name, 3 its value. */
static gint64
read_duration (const FlamPerfetto *trace, FlamProto event)
{
  while (flam_proto_next (&event))
    if (event.number == 4 && event.wire == 2)
      {
        FlamProto note = flam_proto_inner (&event);
        g_autofree char *name = flam_proto_text_in (note, 10);
        if (g_strcmp0 (name, "duration") == 0)
          return flam_perfetto_scaled (
              trace, flam_proto_number_in (note, 3), 1);
      }
  return 0;
}

/* The first category that is a kind of code, else NATIVE. */
static FlamFunctionKind
read_kind (FlamPerfetto *trace,
           const FlamPerfettoSequence *sequence,
           FlamProto event)
{
  while (flam_proto_next (&event))
    {
      g_autofree char *text = NULL;
      const char *said = NULL;

      if (event.number == 22 && event.wire == 2)
        said = text =
            g_strndup ((const char *)event.bytes, MIN (event.length, 32));
      else if (event.number == 3)
        said = flam_perfetto_names_text (&trace->names,
                                         sequence->state,
                                         FLAM_PERFETTO_CATEGORY,
                                         event.value);
      for (FlamFunctionKind kind = 0; said != NULL && kind < FLAM_N_KINDS;
           kind++)
        if (strcmp (said, flam_function_kind_to_string (kind)) == 0)
          return kind;
    }
  return FLAM_KIND_NATIVE;
}

/* Chrome's events also have the location from which their tasks were posted:
 * only the location of the function that the slice is named after is its
 * own. */
static FlamPerfettoLocation
read_location (FlamPerfetto *trace,
               const FlamPerfettoSequence *sequence,
               FlamProto event,
               FlamStringId name)
{
  FlamPerfettoLocation location = { 0 };

  while (flam_proto_next (&event))
    if (event.number == 33 && event.wire == 2)
      location = flam_perfetto_names_location (&trace->names,
                                               flam_proto_inner (&event));
    else if (event.number == 34)
      {
        FlamId row = flam_perfetto_names_find (&trace->names,
                                               sequence->state,
                                               FLAM_PERFETTO_LOCATION,
                                               event.value);
        if (row != FLAM_NONE)
          location =
              g_array_index (trace->names.locations, FlamPerfettoLocation, row);
      }
  return location.function == name ? location : (FlamPerfettoLocation){ 0 };
}

/* FLAM_NONE: only the name is known. */
static FlamFrameId
read_frame (FlamPerfetto *trace,
            const FlamPerfettoSequence *sequence,
            FlamProto event,
            FlamStringId name)
{
  FlamFunction function = { .name = name,
                            .module = FLAM_NONE,
                            .kind = read_kind (trace, sequence, event) };
  FlamPerfettoLocation location = read_location (trace, sequence, event, name);

  function.file = location.file;
  if (name == 0 || (function.kind == FLAM_KIND_NATIVE && function.file == 0))
    return FLAM_NONE;
  return flam_builder_frame_of (
      trace->names.builder, &function, 0, location.line, 0);
}

/* TrackEvent: 1 and 16 its time in µs, 9 its type, 10 and 23 its name, 11 its
 * track, 3 and 22 its categories, 33 and 34 the place in the source, 6 an event
 * as Chrome's trace has it: 2 the phase, 3 duration; 4 notes; 30 and 44 a
 * counter's value. */
static void
read_event (FlamPerfetto *trace,
            const FlamPerfettoPacket *packet,
            FlamProto event)
{
  FlamBuilder *builder = trace->names.builder;
  FlamPerfettoSequence *sequence = packet->sequence;
  FlamProto legacy = flam_proto_message_in (event, 6);
  guint64 type = flam_proto_number_in (event, 9);
  guint64 track = flam_proto_number_in (event, 11);
  guint64 phase = flam_proto_number_in (legacy, 2);
  gint64 time = packet->at;
  g_autofree char *text = flam_proto_text_in (event, 23);
  FlamStringId name;
  FlamThreadId thread;

  if (flam_proto_number_in (event, 16) != 0)
    time = flam_perfetto_scaled (trace, flam_proto_number_in (event, 16), 1000);
  else if (!packet->has_time)
    time = sequence->time =
        MIN (sequence->time + flam_perfetto_scaled (
                                  trace, flam_proto_number_in (event, 1), 1000),
             G_MAXINT64 / 4);
  name = text != NULL
             ? flam_builder_string (builder, text, -1)
             : flam_perfetto_names_find (&trace->names,
                                         sequence->state,
                                         FLAM_PERFETTO_EVENT_NAME,
                                         flam_proto_number_in (event, 10));
  if (name == FLAM_NONE)
    name = 0;
  if (type == COUNTER)
    {
      read_count (trace, track, time, event);
      return;
    }
  thread = flam_perfetto_track (
      trace, sequence, track != 0 ? track : sequence->track);
  if (type == SLICE_BEGIN || phase == 'B')
    flam_trace_spans_begin_in (&trace->spans,
                               thread,
                               name,
                               read_frame (trace, sequence, event, name),
                               time);
  else if (type == SLICE_END || phase == 'E')
    flam_trace_spans_end (&trace->spans, thread, 0, time);
  else if (phase == 'X')
    flam_trace_spans_add (
        &trace->spans,
        thread,
        name,
        time,
        time + flam_perfetto_scaled (
                   trace, flam_proto_number_in (legacy, 3), 1000));
  else
    {
      flam_builder_add_mark (builder,
                             time,
                             read_duration (trace, event),
                             thread,
                             flam_builder_get_string (builder, name));
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
  guint64 clock = flam_proto_number_in (defaults, 58);
  guint64 track =
      flam_proto_number_in (flam_proto_message_in (defaults, 11), 11);

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
  sequence->thread = flam_perfetto_thread (trace,
                                           flam_proto_number_in (thread, 1),
                                           flam_proto_number_in (thread, 2),
                                           flam_proto_text_in (thread, 5));
  sequence->time =
      flam_perfetto_scaled (trace, flam_proto_number_in (thread, 6), 1000);
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
      flam_perfetto_read_processes (trace, message);
      break;
    case 11:
      read_event (trace, packet, message);
      break;
    case 37:
      flam_perfetto_read_heap (trace, packet, message);
      break;
    case 43:
      flam_perfetto_name_process (trace,
                                  flam_proto_number_in (message, 1),
                                  flam_proto_text_in (message, 6));
      break;
    case 44:
      read_thread (trace, packet->sequence, message);
      break;
    case 54:
      flam_perfetto_read_stream (trace, packet, message);
      break;
    case 60:
      flam_perfetto_read_track (trace, message);
      break;
    case 66:
      flam_perfetto_read_perf_sample (trace, packet, message);
      break;
    default:
      break;
    }
}

/* --- into the builder ---------------------------------------------------- */

static void
warn (FlamPerfetto *trace, guint hidden)
{
  FlamBuilder *builder = trace->names.builder;

  if (hidden > 0)
    flam_builder_warn (builder,
                       N_ ("the trace contains stacks: they are shown instead "
                           "of its %u slices"),
                       hidden);
  flam_builder_warn_count (builder,
                           trace->counters,
                           "%" PRIu64 " value of a counter is not shown",
                           "%" PRIu64 " values of counters are not shown");
  flam_builder_warn_count (
      builder,
      trace->unwound,
      "%" PRIu64 " sample has no stack or an incomplete one",
      "%" PRIu64 " samples have no stack or an incomplete one");
  flam_builder_warn_count (builder,
                           trace->bad,
                           "%" PRIu64 " damaged packet was left out in part",
                           "%" PRIu64 " damaged packets were left out in part");
}

gboolean
flam_perfetto_finish (FlamPerfetto *trace)
{
  FlamBuilder *builder = trace->names.builder;
  gboolean heap = g_hash_table_size (trace->heap) > 0;
  guint n_spans = flam_trace_spans_close (&trace->spans);

  if (trace->samples->len == 0 && !heap && n_spans == 0)
    return FALSE;
  /* Of heap profiles; of time, and of the calls of spans. */
  for (guint i = 0; i < (heap ? 3 : trace->samples->len > 0 ? 1 : 2); i++)
    flam_builder_add_column (builder);
  if (trace->samples->len > 0)
    flam_perfetto_add_cpu (trace);
  if (heap)
    flam_perfetto_add_heap (trace);
  if (trace->samples->len > 0 || heap)
    {
      warn (trace, n_spans);
      return TRUE;
    }
  flam_builder_set_spans (builder,
                          flam_builder_add_standard_measure (
                              builder, FLAM_STANDARD_WALL_TIME, 0, FLAM_NONE),
                          FLAM_SPANS_CALLS);
  flam_builder_add_standard_measure (
      builder, FLAM_STANDARD_CALLS, 1, FLAM_NONE);
  flam_trace_spans_make_samples (&trace->spans, TRUE);
  warn (trace, 0);
  return TRUE;
}
