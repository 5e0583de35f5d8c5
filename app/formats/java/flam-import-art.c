/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Method traces of Android's runtime (ART), little-endian. Either a text that
 * describes threads and methods, followed by records,
 *
 *    *version           *threads          *methods               *end
 *    3                  4711  main        0x10  a.B  run  ()V  B.java
 *    clock=dual
 *
 * or records alone, among which those of thread 0 describe them: 1 a method
 * (u16 length, its line), 2 a thread (u16 id, u16 length, its name), 3 the end
 * (u32 length, the text). The records begin with
 *
 *    "SLOW"  u16 version, 0xf0 more: without the text  u16 where records begin
 *    u64 start  u16 size of a record, from version 3 on
 *
 * and each is: u16 thread (version 1: u8); u32 method and what happened: 0 it
 * was entered, 1 left, 2 left by an exception; u32 µs since the start, or two
 * of them: the thread's CPU time, and the wall clock. Source of facts:
 * Android's art/runtime/trace.h. */

#include "flam-formats.h"

#include "flam-bytes.h"
#include "flam-stack-text.h"
#include "flam-trace-spans.h"

#define HEADER 18
#define LAST_VERSION 3
#define WITHOUT_TEXT 0xf0
#define ACTIONS 3 /* bits of a method's number */

typedef struct
{
  FlamId id;
  gint64 last; /* ns, of the thread's clock */
  guint open;  /* calls */
} Thread;

typedef struct
{
  const FlamLoad *load;
  FlamBuilder *builder;
  FlamTraceSpans spans;
  GHashTable *methods; /* number -> string + 1 */
  GHashTable *threads; /* tid -> Thread */
  gint32 pid;
  const guint8 *at, *end;
  guint version, size;
  gboolean of_cpu; /* its only clock is the threads' CPU time */
  gboolean streamed;
  guint64 records, unknown;
} Trace;

static guint
probe (const FlamSource *source)
{
  const char *data = (const char *)source->data;
  guint version;

  if (g_str_has_prefix (data, "*version\n"))
    return flam_source_head_has (source, 4096, "\nclock=") ? 95 : 0;
  if (source->size < HEADER || !g_str_has_prefix (data, "SLOW"))
    return 0;
  version = flam_bytes_get (source->data + 4, 2);
  return version > 0 && version < 0x100 ? 80 : 0;
}

/* --- threads and methods ------------------------------------------------- */

/* "0x10  a.B  run  ()V  B.java" */
static gboolean
add_method (Trace *trace, FlamSlice line)
{
  FlamSlice number = flam_slice_take_cell (&line);
  FlamSlice class = flam_slice_take_cell (&line);
  FlamSlice method = flam_slice_take_cell (&line);
  const char *p = number.text;
  const char *end = number.text + number.length;
  g_autofree char *name = NULL;
  guint64 value;

  if (flam_slice_begins (number, "0x"))
    p += 2;
  if (!flam_text_hex (&p, end, &value) || p != end || value > G_MAXUINT32)
    return FALSE;
  name = g_strdup_printf ("%.*s%s%.*s",
                          (int)MIN (class.length, (gsize)G_MAXINT),
                          class.text,
                          method.length > 0 ? "." : "",
                          (int)MIN (method.length, (gsize)G_MAXINT),
                          method.text);
  g_hash_table_insert (
      trace->methods,
      GUINT_TO_POINTER ((guint32)value & ~ACTIONS),
      GUINT_TO_POINTER (flam_builder_string (trace->builder, name, -1) + 1));
  return TRUE;
}

static FlamId
find_method (Trace *trace, guint32 number)
{
  gpointer found =
      g_hash_table_lookup (trace->methods, GUINT_TO_POINTER (number));
  g_autofree char *name = NULL;

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  trace->unknown++;
  name = g_strdup_printf ("method 0x%x", number);
  return flam_builder_string (trace->builder, name, -1);
}

static Thread *
find_thread (Trace *trace, gint32 tid)
{
  Thread *thread = g_hash_table_lookup (trace->threads, GINT_TO_POINTER (tid));

  if (thread == NULL)
    {
      thread = g_new0 (Thread, 1);
      thread->id = flam_builder_thread (
          trace->builder,
          flam_builder_process (trace->builder, trace->pid, 0),
          tid,
          0);
      g_hash_table_insert (trace->threads, GINT_TO_POINTER (tid), thread);
    }
  return thread;
}

static void
name_thread (Trace *trace, gint32 tid, FlamSlice name)
{
  g_autofree char *copy = g_strndup (name.text, name.length);

  flam_builder_set_thread_name (
      trace->builder, find_thread (trace, tid)->id, copy);
}

/* "4711  main" */
static gboolean
add_thread (Trace *trace, FlamSlice line)
{
  FlamSlice number = flam_slice_take_cell (&line);
  gint64 tid;

  if (!flam_slice_number (number, &tid) || tid > G_MAXINT32)
    return FALSE;
  name_thread (trace, tid, line);
  return TRUE;
}

static void
add_fact (Trace *trace, FlamSlice line)
{
  gint64 pid = flam_slice_number_after (line, "pid=");

  if (flam_slice_begins (line, "clock="))
    trace->of_cpu = flam_slice_is (line, "clock=thread-cpu");
  else if (flam_slice_begins (line, "pid=") && pid >= 0 && pid <= G_MAXINT32)
    trace->pid = (gint32)pid;
}

/* Reads up to "*end"; `at` is then after it. */
static void
read_text (Trace *trace)
{
  FlamText text;
  FlamSlice line, section = { "", 0 };

  flam_text_init (&text, trace->load->source);
  while (flam_text_next (&text, &line.text, &line.length) &&
         !flam_slice_is (line, "*end"))
    if (flam_slice_begins (line, "*"))
      section = line;
    else if (flam_slice_is (section, "*version"))
      add_fact (trace, line);
    else if (flam_slice_is (section, "*threads")
                 ? !add_thread (trace, line)
                 : flam_slice_is (section, "*methods") &&
                       !add_method (trace, line))
      flam_text_bad (&text);
  trace->at = (const guint8 *)text.at;
  flam_text_warn_bad (&text, trace->builder, "a method trace");
}

/* --- records ------------------------------------------------------------- */

static gboolean
read_header (Trace *trace, GError **error)
{
  const guint8 *at = trace->at;
  guint offset;

  if (trace->end - at < HEADER || memcmp (at, "SLOW", 4) != 0)
    return flam_source_error (
        trace->load->source,
        error,
        FLAM_ERROR_TRUNCATED,
        at - trace->load->source->data,
        N_ ("this is not where the records of the method trace begin"));
  trace->version = flam_bytes_get (at + 4, 2);
  trace->streamed = trace->version >= WITHOUT_TEXT;
  if (trace->streamed)
    trace->version -= WITHOUT_TEXT;
  offset = flam_bytes_get (at + 6, 2);
  trace->size = trace->version == 1   ? 9
                : trace->version == 2 ? 10
                                      : flam_bytes_get (at + 16, 2);
  if (trace->version == 0 || trace->version > LAST_VERSION)
    return flam_source_error (
        trace->load->source,
        error,
        FLAM_ERROR_UNSUPPORTED,
        at + 4 - trace->load->source->data,
        N_ ("this is version %u of Android's method trace, and versions up to "
            "3 are supported; load it in the Firefox Profiler, save it there "
            "and open the JSON"),
        trace->version);
  if (trace->size < 9 || (trace->version > 1 && trace->size < 10) ||
      offset < HEADER - 2 || offset > trace->end - at)
    return flam_source_error (trace->load->source,
                              error,
                              FLAM_ERROR_INVALID,
                              at - trace->load->source->data,
                              N_ ("the header of the method trace is damaged"));
  trace->at = at + offset;
  return TRUE;
}

/* Reads a record of thread 0; `at` is after that 0. FALSE: the file ends in
 * it. */
static gboolean
read_told (Trace *trace, const guint8 **at, gboolean *last)
{
  gsize left = trace->end - *at;
  guint kind = left > 0 ? **at : 0;
  guint head = kind == 1 ? 3 : 5;
  guint64 length;
  FlamSlice text;

  if (left < head)
    return FALSE;
  *last = kind < 1 || kind > 2;
  if (*last)
    return TRUE;
  length = flam_bytes_get (*at + head - 2, 2);
  if (left - head < length)
    return FALSE;
  text = flam_slice_strip ((FlamSlice){ (const char *)*at + head, length });
  while (text.length > 0 && text.text[text.length - 1] == '\n')
    text.length--;
  if (kind == 1)
    add_method (trace, text);
  else
    name_thread (trace, flam_bytes_get (*at + 1, 2), text);
  *at += head + length;
  return TRUE;
}

static void
read_record (Trace *trace, const guint8 *at)
{
  guint head = trace->version == 1 ? 1 : 2;
  Thread *thread = find_thread (trace, (gint32)flam_bytes_get (at, head));
  guint32 method = flam_bytes_get (at + head, 4);
  gboolean both = trace->size >= head + 12;
  gint64 time = flam_bytes_get (at + head + (both ? 8 : 4), 4) * 1000;
  FlamStringId name = find_method (trace, method & ~ACTIONS);

  if ((method & ACTIONS) == 0)
    flam_trace_spans_begin (&trace->spans, thread->id, name, time);
  else
    flam_trace_spans_end (&trace->spans, thread->id, name, time);
  if ((method & ACTIONS) == 0)
    thread->open++;
  else if (thread->open > 0)
    thread->open--;
  thread->last = time;
  trace->records++;
}

/* FALSE: cancelled. */
static gboolean
read_records (Trace *trace, GError **error)
{
  const guint8 *at = trace->at;
  guint head = trace->version == 1 ? 1 : 2;
  gboolean last = FALSE;

  while (!last && at < trace->end)
    {
      trace->at = at;
      if (trace->records % (1 << 16) == 0 &&
          !flam_load_step (trace->load, at, error))
        return FALSE;
      if (trace->streamed && trace->end - at > 2 &&
          flam_bytes_get (at, head) == 0)
        {
          at += head;
          if (!read_told (trace, &at, &last))
            break;
          continue;
        }
      if (trace->end - at < trace->size)
        break;
      read_record (trace, at);
      at += trace->size;
    }
  if (last || at == trace->end)
    trace->at = trace->end;
  return TRUE;
}

/* --- the importer -------------------------------------------------------- */

static void
warn (Trace *trace)
{
  if (trace->at < trace->end)
    flam_load_partial (
        trace->load, trace->at, N_ ("the method trace ends within a record"));
  flam_builder_warn_count (trace->builder,
                           trace->unknown,
                           "%" PRIu64 " record belongs to an unnamed method",
                           "%" PRIu64 " records belong to unnamed methods");
  flam_builder_warn_count (trace->builder,
                           trace->spans.bad,
                           "%" PRIu64 " method returns without a recorded call",
                           "%" PRIu64
                           " methods return without a recorded call");
  flam_load_warn_open (trace->builder, trace->spans.open);
}

/* Calls without a return last to the end, which for clocks of threads is the
 * thread's. */
static void
end_threads (Trace *trace)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, trace->threads);
  while (g_hash_table_iter_next (&iter, NULL, &value))
    for (Thread *thread = value; thread->open > 0; thread->open--)
      {
        flam_trace_spans_end (&trace->spans, thread->id, 0, thread->last);
        trace->spans.open++;
      }
}

static gboolean
make_samples (Trace *trace, GError **error)
{
  FlamBuilder *builder = trace->builder;

  if (trace->of_cpu)
    end_threads (trace);
  if (flam_trace_spans_close (&trace->spans) == 0)
    return flam_source_invalid (
        trace->load->source, error, N_ ("this method trace has no calls"));
  flam_builder_set_spans (builder,
                          flam_load_measures (builder,
                                              trace->of_cpu
                                                  ? FLAM_STANDARD_CPU_TIME
                                                  : FLAM_STANDARD_WALL_TIME,
                                              FLAM_STANDARD_CALLS),
                          FLAM_SPANS_CALLS);
  flam_trace_spans_make_samples (&trace->spans, TRUE);
  warn (trace);
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Trace *trace = flam_arena_new (load, Trace);

  *trace =
      (Trace){ .load = load,
               .builder = load->builder,
               .pid = -1,
               .at = load->source->data,
               .end = load->source->data + load->source->size,
               .methods = flam_arena_table (load, FLAM_KEY_DIRECT, NULL),
               .threads = flam_arena_table (load, FLAM_KEY_DIRECT, g_free) };
  flam_builder_set_has_times (load->builder);
  flam_trace_spans_init (&trace->spans, load);
  if (load->source->size > 0 && *load->source->data == '*')
    read_text (trace);
  return read_header (trace, error) && read_records (trace, error) &&
         make_samples (trace, error);
}

const FlamImporter flam_import_art = {
  .id = "art",
  .label = N_ ("Android method trace"),
  .written_by = "Android Studio, Debug.startMethodTracing()",
  .suffixes = FLAM_LIST (".trace"),
  .mime = { .type = "application/x-art-trace",
            .name = "Android method trace",
            .magics = FLAM_MAGICS (FLAM_BYTES (0, "*version\n"),
                                   FLAM_BYTES (0, "SLOW\1\0"),
                                   FLAM_BYTES (0, "SLOW\2\0"),
                                   FLAM_BYTES (0, "SLOW\3\0"),
                                   FLAM_BYTES (0, "SLOW\xf2\0"),
                                   FLAM_BYTES (0, "SLOW\xf3\0")) },
  .probe = probe,
  .load = load,
};
