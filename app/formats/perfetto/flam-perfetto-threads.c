/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-perfetto-threads.h"

FlamId
flam_perfetto_thread (FlamPerfetto *trace, guint64 pid, guint64 tid, char *name)
{
  FlamBuilder *builder = trace->names.builder;
  FlamId thread = flam_builder_thread (
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
void
flam_perfetto_read_track (FlamPerfetto *trace, FlamProto track)
{
  FlamProto process = flam_proto_message_in (track, 3);
  FlamProto thread = flam_proto_message_in (track, 4);
  guint64 uuid = flam_proto_number_in (track, 1);
  g_autofree char *name = flam_proto_text_in (track, 2);
  guint64 pid = flam_proto_number_in (process, 1);

  if (name == NULL)
    name = flam_proto_text_in (track, 10);
  if (process.at < process.end)
    flam_perfetto_name_process (trace, pid, flam_proto_text_in (process, 6));
  if (thread.at < thread.end)
    set_track (trace,
               uuid,
               flam_perfetto_thread (trace,
                                     flam_proto_number_in (thread, 1),
                                     flam_proto_number_in (thread, 2),
                                     flam_proto_text_in (thread, 5)));
  else
    set_track (trace,
               uuid,
               make_track (trace,
                           flam_builder_process (trace->names.builder,
                                                 process.at < process.end
                                                     ? flam_perfetto_id (pid)
                                                     : -1,
                                                 0),
                           name));
}

FlamId
flam_perfetto_track (FlamPerfetto *trace,
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
  return flam_perfetto_track (trace, sequence, uuid);
}
