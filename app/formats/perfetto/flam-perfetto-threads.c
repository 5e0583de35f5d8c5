/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perfetto-threads.h"

FlamThreadId
flam_perfetto_thread (FlamPerfetto *trace, guint64 pid, guint64 tid, char *name)
{
  FlamBuilder *builder = trace->names.builder;
  FlamThreadId thread = flam_builder_thread (
      builder,
      flam_builder_process (builder, flam_perfetto_id (pid), 0),
      flam_perfetto_id (tid),
      0);

  if (name != NULL)
    flam_builder_set_thread_name (builder, thread, name);
  g_free (name);
  return thread;
}

void
flam_perfetto_name_process (FlamPerfetto *trace, guint64 pid, char *name)
{
  FlamBuilder *builder = trace->names.builder;

  if (name != NULL)
    flam_builder_set_process_name (
        builder,
        flam_builder_process (builder, flam_perfetto_id (pid), 0),
        name);
  g_free (name);
}

/* ProcessTree: 1 processes, 2 threads. */
void
flam_perfetto_read_processes (FlamPerfetto *trace, FlamProto tree)
{
  while (flam_proto_next (&tree))
    if (tree.number == 1 && tree.wire == 2)
      {
        FlamProto inner = flam_proto_inner (&tree);
        flam_perfetto_name_process (trace,
                                    flam_proto_number_in (inner, 1),
                                    flam_proto_text_in (inner, 3));
      }
    else if (tree.number == 2 && tree.wire == 2)
      {
        FlamProto inner = flam_proto_inner (&tree);
        char *name = flam_proto_text_in (inner, 2);
        if (name != NULL)
          flam_perfetto_thread (trace,
                                flam_proto_number_in (inner, 3),
                                flam_proto_number_in (inner, 1),
                                name);
      }
}

static FlamPerfettoTrack *
set_track (FlamPerfetto *trace,
           guint64 uuid,
           FlamProcessId process,
           FlamThreadId thread)
{
  FlamPerfettoTrack *track = g_new0 (FlamPerfettoTrack, 1);
  gint64 *key = g_new (gint64, 1);

  *key = (gint64)uuid;
  track->process = process;
  track->thread = thread;
  g_hash_table_insert (trace->tracks, key, track);
  return track;
}

/* CounterDescriptor: 3 unit (1 ns, 3 bytes), 4 the factor of its values. */
static void
read_counter (FlamPerfettoTrack *track, FlamProto counter)
{
  guint64 unit = flam_proto_number_in (counter, 3);

  track->is_counter = TRUE;
  track->unit = unit == 1   ? FLAM_UNIT_NS
                : unit == 3 ? FLAM_UNIT_BYTES
                            : FLAM_UNIT_THOUSANDTHS;
  track->multiplier =
      CLAMP (flam_proto_number_in (counter, 4), 1, (guint64)G_MAXINT32);
}

static gboolean
has_field (FlamProto message, guint64 number)
{
  while (flam_proto_next (&message))
    if (message.number == number && message.wire == 2)
      return TRUE;
  return FALSE;
}

/* TrackDescriptor: 1 uuid, 2 name, 3 process, 4 thread, 8 counter. */
void
flam_perfetto_read_track (FlamPerfetto *trace, FlamProto track)
{
  FlamProto process = flam_proto_message_in (track, 3);
  FlamProto thread = flam_proto_message_in (track, 4);
  guint64 uuid = flam_proto_number_in (track, 1);
  g_autofree char *name = flam_proto_text_in (track, 2);
  guint64 pid = flam_proto_number_in (process, 1);
  gboolean has_process = process.at < process.end;
  FlamPerfettoTrack *made;

  if (name == NULL)
    name = flam_proto_text_in (track, 10);
  if (has_process)
    flam_perfetto_name_process (trace, pid, flam_proto_text_in (process, 6));
  if (thread.at < thread.end)
    {
      set_track (trace,
                 uuid,
                 FLAM_NONE,
                 flam_perfetto_thread (trace,
                                       flam_proto_number_in (thread, 1),
                                       flam_proto_number_in (thread, 2),
                                       flam_proto_text_in (thread, 5)));
      return;
    }
  made = set_track (
      trace,
      uuid,
      flam_builder_process (
          trace->names.builder, has_process ? flam_perfetto_id (pid) : -1, 0),
      FLAM_NONE);
  if (name != NULL)
    made->name = flam_builder_string (trace->names.builder, name, -1);
  if (has_field (track, 8))
    read_counter (made, flam_proto_message_in (track, 8));
}

/* A track without a thread becomes a separate thread, below its process, when
 * it gets its first event. */
FlamId
flam_perfetto_track (FlamPerfetto *trace,
                     const FlamPerfettoSequence *sequence,
                     guint64 uuid)
{
  FlamBuilder *builder = trace->names.builder;
  gint64 key = (gint64)uuid;
  FlamPerfettoTrack *track = g_hash_table_lookup (trace->tracks, &key);

  if (track == NULL && uuid == 0 && sequence->thread != FLAM_NONE)
    return sequence->thread;
  if (track == NULL)
    track = set_track (
        trace, uuid, flam_builder_process (builder, -1, 0), FLAM_NONE);
  if (track->thread != FLAM_NONE)
    return track->thread;
  track->thread =
      flam_builder_thread (builder, track->process, -1, ++trace->n_tracks);
  if (track->name != 0)
    flam_builder_set_thread_name (
        builder, track->thread, flam_builder_get_string (builder, track->name));
  return track->thread;
}

gboolean
flam_perfetto_count (
    FlamPerfetto *trace, guint64 uuid, gint64 time, gint64 value, guint part)
{
  FlamBuilder *builder = trace->names.builder;
  gint64 key = (gint64)uuid;
  FlamPerfettoTrack *track = g_hash_table_lookup (trace->tracks, &key);

  if (track == NULL || !track->is_counter || track->name == 0 ||
      __builtin_mul_overflow (value, track->multiplier, &value) ||
      (track->unit == FLAM_UNIT_THOUSANDTHS &&
       (__builtin_mul_overflow (value, 1000, &value) ||
        __builtin_add_overflow (value, part * track->multiplier, &value))))
    return FALSE;
  if (!track->is_made)
    track->counter = flam_builder_add_counter (
        builder, flam_builder_get_string (builder, track->name), track->unit);
  track->is_made = TRUE;
  flam_builder_add_counter_value (builder, track->counter, time, value);
  return TRUE;
}
