/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Folders of uftrace: every call and return of the traced functions, and when
 * their threads were off the CPU (flam-uftrace-switches.h).
 *
 *    info            "Ftrace!\0"  u32 version  u16 size of this head  u8 1:
 * little u8 2: 64 bits  u64 features  u64 parts  …  then text: "cmdline:…",
 * "taskinfo:tids=7,8" 7.dat, 8.dat    a thread's records, 16 bytes each: u64
 * ns, and from its lowest bit: 2 bits kind (0 call, 1 return, 2 lost, 3 event),
 * 1 bit data follow, 3 bits 5, 10 bits depth, 48 bits address
 *
 * The size of data that follow a record (arguments and values) depends on
 * options that are not needed otherwise: the next record is the first one that
 * continues the time and the depth. Names: flam-uftrace-symbols.h. Source of
 * facts: uftrace's documentation of its data format. */

#include "flam-formats.h"
#include "flam-bytes.h"
#include "flam-stack-text.h"
#include "flam-trace-spans.h"
#include "flam-uftrace-switches.h"
#include "flam-uftrace-symbols.h"

#include <string.h>

#define RECORD 16
#define HEADER 16
#define MAGIC 5
/* Data of one record: at most about a page. */
#define MOST_DATA 8192
#define HOUR (3600 * G_GINT64_CONSTANT (1000000000))

enum
{
  CALL,
  RETURN,
  LOST,
  EVENT,
};

typedef struct
{
  FlamLoad *load;
  FlamUftrace *names;
  FlamUftraceSwitches switches;
  FlamTraceSpans spans;
  char *folder;
  guint64 skipped; /* pieces of files without records */
} Trace;

typedef struct
{
  gint64 time;
  guint kind, depth;
  gboolean more, valid;
  guint64 address;
} Record;

typedef struct
{
  gint32 tid;
  FlamThreadId thread;
  guint32 session;
  gint64 until;
  gint64 last; /* ns */
  guint depth; /* open calls */
} Task;

#define MOST_TIME (G_MAXINT64 / 2)

static Record
get_record (const guint8 *at)
{
  guint64 bits = flam_bytes_get (at + 8, 8);

  return (Record){ .time = (gint64)MIN (flam_bytes_get (at, 8), MOST_TIME),
                   .kind = bits & 3,
                   .more = bits >> 2 & 1,
                   .valid = (bits >> 3 & 7) == MAGIC,
                   .depth = bits >> 6 & 1023,
                   .address = bits >> 16 };
}

static gboolean
follows (const Record *record, const Task *task)
{
  if (!record->valid || record->time < task->last ||
      record->time - task->last > 24 * HOUR)
    return FALSE;
  return record->kind >= LOST ||
         (record->kind == CALL ? record->depth == task->depth
                               : record->depth + 1 == task->depth);
}

static void
read_record (Trace *trace, Task *task, const Record *record)
{
  FlamBuilder *builder = trace->load->builder;
  const FlamProfile *tables = &flam_builder_tables (builder)->profile;
  FlamFrameId frame;

  task->last = record->time;
  flam_trace_spans_see (&trace->spans, record->time);
  if (record->kind == LOST)
    flam_builder_facts (builder)->lost += record->address;
  if (record->kind >= LOST)
    return;
  /* Calls whose records are lost. */
  for (; task->depth > record->depth + (record->kind == RETURN); task->depth--)
    flam_trace_spans_end (&trace->spans, task->thread, 0, record->time);
  if (record->kind == RETURN)
    {
      flam_trace_spans_end (&trace->spans, task->thread, 0, record->time);
      task->depth = record->depth;
      return;
    }
  if (record->time >= task->until)
    task->session = flam_uftrace_session (
        trace->names, task->tid, record->time, &task->until);
  frame = flam_uftrace_frame (trace->names, task->session, record->address);
  flam_trace_spans_begin_in (
      &trace->spans,
      task->thread,
      tables->functions.name[tables->frames.function[frame]],
      frame,
      record->time);
  task->depth = record->depth + 1;
}

static void
clear_switches (gpointer switches)
{
  flam_uftrace_switches_clear (switches);
}

static FlamThreadId
add_thread (Trace *trace, gint32 tid)
{
  FlamThreadId thread = flam_uftrace_thread (trace->names, tid);
  const char *name = flam_uftrace_switches_name (&trace->switches, tid);

  if (name != NULL)
    flam_builder_set_thread_name (trace->load->builder, thread, name);
  flam_uftrace_switches_pause (&trace->switches, tid, &trace->spans, thread);
  return thread;
}

static gboolean
read_task (Trace *trace, gint32 tid, GError **error)
{
  g_autofree char *name = g_strdup_printf ("%d.dat", (int)tid);
  g_autoptr (FlamSource) source = flam_uftrace_open (trace->folder, name);
  Task task = { .tid = tid };
  gboolean lost_track = FALSE;
  gsize at = 0;

  if (source == NULL || source->size < RECORD)
    return TRUE;
  task.last = get_record (source->data).time;
  task.thread = add_thread (trace, tid);
  task.session =
      flam_uftrace_session (trace->names, tid, task.last, &task.until);
  while (source->size - at >= RECORD)
    {
      Record record = get_record (source->data + at);

      if (!record.valid || record.time < task.last ||
          (lost_track && !follows (&record, &task)))
        {
          trace->skipped += !lost_track;
          lost_track = TRUE;
          at += 8;
          continue;
        }
      lost_track = FALSE;
      flam_builder_limit (trace->load->builder,
                          flam_bytes_get (source->data + at, 8),
                          0,
                          MOST_TIME,
                          NULL);
      read_record (trace, &task, &record);
      at += RECORD;
      for (gsize from = at;
           record.more && source->size - at >= RECORD && at - from < MOST_DATA;
           at += 8)
        {
          Record next = get_record (source->data + at);

          if (follows (&next, &task))
            break;
        }
      if (at % (1 << 20) < RECORD &&
          !flam_progress_step (trace->load->options->progress, 0, error))
        return FALSE;
    }
  return TRUE;
}

/* "taskinfo:tids=7,8" and the command, in the text after the head. */
static gboolean
read_info (Trace *trace, GError **error)
{
  const FlamSource *source = trace->load->source;
  gsize head = flam_bytes_get (source->data + 12, 2);
  FlamText text;
  FlamSlice line;

  flam_text_init (&text, source);
  text.at = text.start + MIN (head, source->size);
  while (flam_text_next (&text, &line.text, &line.length))
    if (flam_slice_begins (line, "cmdline:"))
      {
        g_autofree char *command = g_strndup (line.text + 8, line.length - 8);
        flam_builder_set_command (trace->load->builder, command);
      }
    else if (flam_slice_begins (line, "taskinfo:tids="))
      for (const char *p = line.text + 14, *end = line.text + line.length;
           p < end;
           p++)
        {
          gint64 tid;

          if (!flam_text_number (&p, end, &tid) || tid > G_MAXINT32)
            break;
          if (!read_task (trace, (gint32)tid, error))
            return FALSE;
        }
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Trace *trace = flam_arena_new (load, Trace);

  if (load->source->size < HEADER)
    return flam_source_error (load->source,
                              error,
                              FLAM_ERROR_TRUNCATED,
                              load->source->size,
                              N_ ("the file ends within its header"));
  if (load->source->data[14] != 1 || load->source->data[15] != 2)
    return flam_source_error (load->source,
                              error,
                              FLAM_ERROR_UNSUPPORTED,
                              14,
                              N_ ("only uftrace data from 64-bit little-endian "
                                  "machines can be read"));
  trace->load = load;
  trace->folder =
      flam_arena_keep (load, g_path_get_dirname (load->source->path), g_free);
  flam_builder_set_has_times (builder);
  flam_builder_set_spans (builder,
                          flam_load_measures (builder,
                                              FLAM_STANDARD_WALL_TIME,
                                              FLAM_STANDARD_CALLS),
                          FLAM_SPANS_CALLS);
  flam_trace_spans_init (&trace->spans, load);
  trace->names = flam_uftrace_new (load, trace->folder);
  flam_uftrace_switches_read (&trace->switches, trace->folder);
  flam_arena_keep (load, &trace->switches, clear_switches);
  if (!read_info (trace, error))
    return FALSE;
  if (flam_trace_spans_close (&trace->spans) == 0)
    return flam_source_invalid (
        load->source,
        error,
        N_ ("the files with the calls are not beside this file; open it in the "
            "folder that uftrace made"));
  flam_trace_spans_make_samples (&trace->spans, TRUE);
  flam_builder_warn_count (
      builder,
      trace->skipped,
      "%" PRIu64 " place in the calls is damaged and was skipped",
      "%" PRIu64 " places in the calls are damaged and were skipped");
  flam_load_warn_open (builder, trace->spans.open);
  return TRUE;
}

const FlamImporter flam_import_uftrace = {
  .id = "uftrace",
  .label = "uftrace",
  .written_by = "uftrace record",
  .suffixes = FLAM_LIST ("info"),
  .mime = { .type = "application/x-uftrace", .name = "uftrace recording" },
  .signs = FLAM_SIGNS ({ FLAM_MAGIC ("Ftrace!\0"), .score = 100 }),
  .load = load,
  .folder = FLAM_LIST ("info"),
  .base_lines = TRUE,
};
