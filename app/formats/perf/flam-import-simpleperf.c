/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The output of Android's `simpleperf report-sample --protobuf`:
 *
 *    "SIMPLEPERF"  u16 version 1
 *    u32 size, a Record of that size; …; u32 0
 *
 *    Record   1 Sample  2 LostSituation  3 File  4 Thread  5 MetaInfo
 *    Sample   1 time, ns  2 thread  3 call chain, leaf first  4 count  5 event
 *    File     1 id  2 path  3 symbols
 *
 * Files and threads follow the samples that refer to them. Source: the comments
 * of simpleperf's cmd_report_sample.proto. */

#include "flam-formats.h"

#include "flam-perf-stream.h"
#include "flam-proto.h"

#define MAGIC "SIMPLEPERF"
#define HEAD (sizeof MAGIC - 1 + 2)
#define MAX_EVENTS 256

typedef struct
{
  FlamModuleId module;
  GArray *symbols; /* FlamId: strings */
} File;

typedef struct
{
  FlamPerfStream stream;
  FlamBuilder *builder;
  GHashTable *files;   /* id -> File */
  GHashTable *threads; /* tid -> thread + 1 */
  GArray *stack;       /* FlamId */
  gboolean samples;    /* they are read after all other records */
} Report;

static void
file_free (gpointer data)
{
  File *file = data;

  g_array_unref (file->symbols);
  g_free (file);
}

static void
read_file (Report *report, FlamProto message)
{
  File *file = g_new0 (File, 1);
  g_autofree char *path = flam_proto_text_in (message, 2);
  guint64 id = flam_proto_number_in (message, 1);

  file->symbols = g_array_new (FALSE, FALSE, sizeof (FlamId));
  while (flam_proto_next (&message))
    if (message.number == 3 && message.wire == 2)
      {
        FlamStringId name = flam_builder_string (
            report->builder, (const char *)message.bytes, message.length);
        g_array_append_val (file->symbols, name);
      }
  file->module = path != NULL
                     ? flam_perf_stream_module (&report->stream, path, "")
                     : FLAM_NONE;
  g_hash_table_insert (report->files, GUINT_TO_POINTER ((guint)id), file);
}

static void
read_thread (Report *report, FlamProto message)
{
  g_autofree char *name = flam_proto_text_in (message, 3);
  guint64 tid = flam_proto_number_in (message, 1);
  guint64 pid = flam_proto_number_in (message, 2);
  FlamProcessId process;
  FlamThreadId thread;

  if (tid > G_MAXINT32 || pid > G_MAXINT32)
    return;
  process = flam_builder_process (report->builder, (gint32)pid, 0);
  thread = flam_builder_thread (report->builder, process, (gint32)tid, 0);
  if (name != NULL)
    {
      flam_builder_set_thread_name (report->builder, thread, name);
      if (pid == tid)
        flam_builder_set_process_name (report->builder, process, name);
    }
  g_hash_table_insert (report->threads,
                       GUINT_TO_POINTER ((guint)tid),
                       GUINT_TO_POINTER (thread + 1));
}

/* MetaInfo: 1 the names of the events. */
static void
read_meta (Report *report, FlamProto message)
{
  while (flam_proto_next (&message))
    if (message.number == 1 && message.wire == 2 &&
        report->stream.n_events < MAX_EVENTS)
      {
        g_autofree char *name =
            g_strndup ((const char *)message.bytes, message.length);

        flam_perf_stream_add_event (&report->stream, name);
      }
}

/* CallChainEntry: 1 address in the file, 2 file, 3 symbol (-1: none), 4
 * execution type: 1 interpreted, 2 and 3 compiled at run time. */
static FlamId
read_entry (Report *report, FlamProto message)
{
  static const FlamFunctionKind kinds[] = {
    FLAM_KIND_NATIVE, FLAM_KIND_INTERPRETED, FLAM_KIND_JIT, FLAM_KIND_JIT
  };
  FlamFunction function = { .module = FLAM_NONE };
  guint64 said[5] = { [3] = G_MAXUINT64 };
  const File *file;
  gint32 symbol;

  flam_proto_read (message, said, G_N_ELEMENTS (said));
  file = g_hash_table_lookup (report->files, GUINT_TO_POINTER ((guint)said[2]));
  if (file != NULL)
    function.module = file->module;
  symbol = (gint32)said[3];
  function.kind = kinds[said[4] < G_N_ELEMENTS (kinds) ? said[4] : 0];
  if (file != NULL && symbol >= 0 && (guint)symbol < file->symbols->len)
    function.name = g_array_index (file->symbols, FlamId, symbol);
  return flam_builder_frame_of (report->builder,
                                &function,
                                function.module != FLAM_NONE ? said[1] : 0,
                                0,
                                0);
}

static FlamId
thread_of (Report *report, guint64 tid)
{
  gpointer found =
      g_hash_table_lookup (report->threads, GUINT_TO_POINTER ((guint)tid));

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  return flam_builder_thread (report->builder,
                              flam_builder_process (report->builder, -1, 0),
                              tid <= G_MAXINT32 ? (gint32)tid : -1,
                              0);
}

static void
read_sample (Report *report, FlamProto message)
{
  FlamSample sample = { .stack = FLAM_NONE };
  gint64 count = 1;
  guint64 tid = 0, event = 0;

  g_array_set_size (report->stack, 0);
  while (flam_proto_next (&message))
    if (message.number == 1)
      sample.time = flam_builder_limit (
          report->builder, message.value, 0, G_MAXINT64 / 2, NULL);
    else if (message.number == 2)
      tid = message.value;
    else if (message.number == 3)
      {
        FlamFrameId frame = read_entry (report, flam_proto_inner (&message));
        g_array_append_val (report->stack, frame);
      }
    else if (message.number == 4)
      count = flam_builder_limit (
          report->builder, message.value, 0, G_MAXINT64, NULL);
    else if (message.number == 5)
      event = message.value;
  sample.stack = flam_load_stack (report->builder, report->stack);
  if (event >= report->stream.n_events)
    {
      report->stream.bad++;
      return;
    }
  sample.thread = thread_of (report, tid);
  sample.event = event;
  flam_builder_add_sample (report->builder, &sample, &count);
  report->stream.samples++;
}

static void
read_record (gpointer reader, const guint8 *bytes, guint32 size)
{
  Report *report = reader;
  gboolean samples = report->samples;
  FlamProto record = flam_proto_init (bytes, size);

  while (flam_proto_next (&record))
    if (record.wire != 2)
      continue;
    else if (samples && record.number == 1)
      read_sample (report, flam_proto_inner (&record));
    else if (!samples && record.number == 2)
      {
        FlamProto lost = flam_proto_inner (&record);
        while (flam_proto_next (&lost))
          if (lost.number == 2)
            flam_builder_facts (report->builder)->lost +=
                MIN (lost.value, (guint64)G_MAXUINT32);
      }
    else if (!samples && record.number == 3)
      read_file (report, flam_proto_inner (&record));
    else if (!samples && record.number == 4)
      read_thread (report, flam_proto_inner (&record));
    else if (!samples && record.number == 5)
      read_meta (report, flam_proto_inner (&record));
  report->stream.bad += samples && record.bad;
}

static gboolean
read_records (Report *report, gboolean samples, GError **error)
{
  report->samples = samples;
  return flam_perf_stream_read (
      &report->stream, HEAD, TRUE, read_record, report, error);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Report report = { .stream = { .load = load, .builder = load->builder },
                    .builder = load->builder,
                    .files =
                        flam_arena_table (load, FLAM_KEY_DIRECT, file_free),
                    .threads = flam_arena_table (load, FLAM_KEY_DIRECT, NULL),
                    .stack = flam_arena_array (load, FlamId) };

  if (load->source->size < HEAD)
    report.stream.cut = TRUE;
  flam_builder_set_has_times (load->builder);
  flam_builder_add_column (load->builder);
  return (report.stream.cut || (read_records (&report, FALSE, error) &&
                                read_records (&report, TRUE, error))) &&
         flam_perf_stream_check (&report.stream,
                                 N_ ("this simpleperf report has no samples"),
                                 N_ ("the report was cut off"),
                                 error);
}

const FlamImporter flam_import_simpleperf = {
  .id = "simpleperf",
  .label = N_ ("simpleperf report"),
  .written_by = "simpleperf report-sample --protobuf",
  .suffixes = FLAM_LIST (".trace", ".simpleperf"),
  .mime_types = FLAM_LIST ("application/octet-stream"),
  .signs = FLAM_SIGNS ({ FLAM_MAGIC (MAGIC), .least = HEAD, .score = 95 }),
  .load = load,
};
