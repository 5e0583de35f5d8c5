/* SPDX-License-Identifier: GPL-3.0-or-later */

/* A trace of Perfetto, for ui.perfetto.dev; the packets are drawn in
 * flam-import-perfetto.c. Calls are slices that begin and end on the tracks of
 * their threads, marks are instants, and each counter has a track. The names of
 * slices are interned at their first use. Times are ns.
 *
 *    packet   60 descriptor of thread 1's track
 *             12 { event name 5 "main", source location 9 main.c:12 }
 *             11 begin, track 1, name 5, source location 9
 *             11 end, track 1 */

#include "flam-formats.h"

#include "flam-export-common.h"

#include "flam-proto-write.h"
#include "flam-spans.h"

#include <string.h>

enum
{
  PACKET = 1,
  TIMESTAMP = 8,
  SEQUENCE = 10,
  TRACK_EVENT = 11,
  INTERNED = 12,
  SEQUENCE_FLAGS = 13,
  TRACK_DESCRIPTOR = 60,
};

enum
{
  SLICE_BEGIN = 1,
  SLICE_END,
  INSTANT,
  COUNTER
};

typedef struct
{
  const FlamPart *part;
  FlamSink *out;
  GString *packet, *message, *inner, *framed;
  guint8 *functions; /* one per frame: its name is interned */
  guint8 *frames;    /* its place */
  guint32 lane;
  gboolean any; /* a packet was written */
} Writer;

static void
put_text (GString *out, guint number, const char *text)
{
  flam_proto_put_bytes (out, number, text, strlen (text));
}

/* `inner` becomes a field of `out`, and is emptied. */
static void
put_inner (GString *out, guint number, GString *inner)
{
  flam_proto_put_bytes (out, number, inner->str, inner->len);
  g_string_truncate (inner, 0);
}

/* Its first packet clears the interned state. */
static void
end_packet (Writer *writer)
{
  flam_proto_put_number (writer->packet, SEQUENCE, 1);
  flam_proto_put_number (writer->packet, SEQUENCE_FLAGS, writer->any ? 2 : 3);
  put_inner (writer->framed, PACKET, writer->packet);
  flam_sink_put_len (writer->out, writer->framed->str, writer->framed->len);
  g_string_truncate (writer->framed, 0);
  writer->any = TRUE;
}

/* --- tracks -------------------------------------------------------------- */

/* Lanes have the first numbers, then come counters. */
static guint64
track_of (const Writer *writer, guint32 lane)
{
  return (guint64)lane + 1;
}

static guint64
counter_track (const Writer *writer, guint counter)
{
  return (guint64)writer->part->profile->threads.n + counter + 1;
}

static void
put_thread (Writer *writer, guint32 lane)
{
  const FlamProfile *profile = writer->part->profile;
  g_autofree char *name = flam_part_lane_name (writer->part, lane);
  FlamProcessId process = profile->threads.process[lane];
  guint64 pid = (guint64)flam_part_pid (writer->part, lane);

  flam_proto_put_number (writer->message, 1, track_of (writer, lane));
  flam_proto_put_number (writer->inner, 1, pid);
  flam_proto_put_number (
      writer->inner, 2, (guint64)flam_part_tid (writer->part, lane));
  put_text (writer->inner, 5, name);
  put_inner (writer->message, 4, writer->inner);
  put_inner (writer->packet, TRACK_DESCRIPTOR, writer->message);
  end_packet (writer);
  if (profile->processes.name[process] == 0 ||
      (lane > 0 && profile->threads.process[lane - 1] == process))
    return;
  flam_proto_put_number (writer->message,
                         1,
                         (guint64)profile->threads.n + profile->n_counters +
                             process + 1);
  flam_proto_put_number (writer->inner, 1, pid);
  put_text (writer->inner,
            6,
            flam_profile_string (profile, profile->processes.name[process]));
  put_inner (writer->message, 3, writer->inner);
  put_inner (writer->packet, TRACK_DESCRIPTOR, writer->message);
  end_packet (writer);
}

static void
put_counter (Writer *writer, guint index)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamCounter *counter = &profile->counters[index];
  guint unit = counter->unit == FLAM_UNIT_NS      ? 1
               : counter->unit == FLAM_UNIT_BYTES ? 3
                                                  : 2;

  flam_proto_put_number (writer->message, 1, counter_track (writer, index));
  put_text (writer->message, 2, flam_profile_string (profile, counter->id));
  flam_proto_put_number (writer->inner, 3, unit);
  put_inner (writer->message, 8, writer->inner);
  put_inner (writer->packet, TRACK_DESCRIPTOR, writer->message);
  end_packet (writer);
}

/* --- events -------------------------------------------------------------- */

static void
begin_event (Writer *writer, guint type, guint64 track, gint64 time)
{
  flam_proto_put_number (writer->packet, TIMESTAMP, (guint64)time);
  flam_proto_put_number (writer->message, 9, type);
  flam_proto_put_number (writer->message, 11, track);
}

static void
end_event (Writer *writer)
{
  put_inner (writer->packet, TRACK_EVENT, writer->message);
  end_packet (writer);
}

/* The event of a frame, after the data that is interned for it. */
static void
put_interned (Writer *writer, FlamFrameId frame)
{
  const FlamProfile *profile = writer->part->profile;
  FlamFunctionId function = profile->frames.function[frame];
  GString *data = writer->framed;
  const char *file = flam_profile_string (profile, profile->frames.file[frame]);

  if (!writer->functions[function])
    {
      flam_proto_put_number (writer->inner, 1, (guint64)function + 1);
      put_text (
          writer->inner, 2, flam_profile_function_name (profile, function));
      put_inner (data, 2, writer->inner);
      writer->functions[function] = TRUE;
    }
  if (!writer->frames[frame] && *file != '\0')
    {
      flam_proto_put_number (writer->inner, 1, (guint64)frame + 1);
      put_text (writer->inner, 2, file);
      put_text (
          writer->inner, 3, flam_profile_function_name (profile, function));
      flam_proto_put_number (writer->inner, 4, profile->frames.line[frame]);
      put_inner (data, 4, writer->inner);
      writer->frames[frame] = TRUE;
    }
  if (data->len > 0)
    put_inner (writer->packet, INTERNED, data);
}

static void
put_begin (gpointer data, FlamFrameId frame, gint64 time)
{
  Writer *writer = data;
  const FlamProfile *profile = writer->part->profile;

  if (frame != FLAM_NONE)
    put_interned (writer, frame);
  begin_event (writer, SLICE_BEGIN, track_of (writer, writer->lane), time);
  if (frame == FLAM_NONE)
    put_text (writer->message, 23, "[no stack]");
  else
    {
      FlamFunctionId function = profile->frames.function[frame];

      flam_proto_put_number (writer->message, 10, (guint64)function + 1);
      put_text (
          writer->message,
          22,
          flam_function_kind_to_string (profile->functions.kind[function]));
      if (writer->frames[frame])
        flam_proto_put_number (writer->message, 34, (guint64)frame + 1);
    }
  end_event (writer);
}

static void
put_end (gpointer data, FlamFrameId frame, gint64 time)
{
  Writer *writer = data;

  begin_event (writer, SLICE_END, track_of (writer, writer->lane), time);
  end_event (writer);
}

static void
put_marks (Writer *writer)
{
  const FlamMarks *marks = &writer->part->profile->marks;

  for (guint32 i = 0; i < marks->n; i++)
    {
      guint32 lane = marks->thread[i] != FLAM_NONE ? marks->thread[i] : 0;

      begin_event (writer, INSTANT, track_of (writer, lane), marks->time[i]);
      put_text (writer->message,
                23,
                flam_profile_string (writer->part->profile, marks->name[i]));
      if (marks->duration[i] > 0)
        {
          flam_proto_put_number (writer->inner, 3, (guint64)marks->duration[i]);
          put_text (writer->inner, 10, "duration");
          put_inner (writer->message, 4, writer->inner);
        }
      end_event (writer);
    }
}

/* A fraction is a double. */
static void
put_count (GString *message, const FlamCounter *counter, guint32 i)
{
  double real = (double)counter->value[i] / 1000;
  guint64 bits;

  if (counter->unit != FLAM_UNIT_THOUSANDTHS)
    {
      flam_proto_put_number (message, 30, (guint64)counter->value[i]);
      return;
    }
  memcpy (&bits, &real, sizeof bits);
  bits = GUINT64_TO_LE (bits);
  flam_proto_put_varint (message, 44 << 3 | 1);
  g_string_append_len (message, (const char *)&bits, sizeof bits);
}

static void
put_counts (Writer *writer, guint index)
{
  const FlamCounter *counter = &writer->part->profile->counters[index];

  put_counter (writer, index);
  for (guint32 i = 0; i < counter->n; i++)
    {
      begin_event (
          writer, COUNTER, counter_track (writer, index), counter->time[i]);
      put_count (writer->message, counter, i);
      end_event (writer);
    }
}

/* --- the whole ----------------------------------------------------------- */

static void
put_all (Writer *writer, FlamBy by)
{
  const FlamProfile *profile = writer->part->profile;
  const FlamSpanCalls calls = { put_begin, put_end, writer, by };

  for (guint32 lane = 0; lane < profile->threads.n; lane++)
    {
      writer->lane = lane;
      put_thread (writer, lane);
      flam_spans_walk (writer->part, lane, &calls);
    }
  put_marks (writer);
  for (guint i = 0; i < profile->n_counters; i++)
    put_counts (writer, i);
}

static gboolean
save (FlamExport *export, GError **error)
{
  Writer writer = { .part = export->part, .out = export->out };

  writer.packet = flam_arena_string (export);
  writer.message = flam_arena_string (export);
  writer.inner = flam_arena_string (export);
  writer.framed = flam_arena_string (export);
  writer.functions = flam_arena_vector (
      export, guint8, export->part->profile->functions.n + 1);
  writer.frames =
      flam_arena_vector (export, guint8, export->part->profile->frames.n + 1);
  put_all (&writer, export->selection->by);
  return TRUE;
}

const FlamExporter flam_export_perfetto = {
  .id = "perfetto",
  .label = "Perfetto",
  .suffix = "pftrace",
  .mime_type = "application/x-perfetto",
  .holds = FLAM_HOLDS_THREADS | FLAM_HOLDS_PROCESSES | FLAM_HOLDS_ORDER |
           FLAM_HOLDS_TIMES | FLAM_HOLDS_FILES | FLAM_HOLDS_LINES |
           FLAM_HOLDS_KINDS | FLAM_HOLDS_MARKS | FLAM_HOLDS_COUNTERS |
           FLAM_HOLDS_FRACTIONS,
  .lacks = flam_export_lacks_first_lines,
  .puts = FLAM_PUTS_SPANS,
  .save = save,
};
