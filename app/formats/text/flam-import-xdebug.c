/* SPDX-License-Identifier: GPL-3.0-or-later */

/* PHP's xdebug, function trace in the computer readable format (trace_format
 * 1): every call and every return, separated by tabs
 *
 *    2  1  0  0.000269  392784  A->mid  1   /app/x.php  4 …     level, number,
 * call 2  1  1  0.000301  392784                                  return
 *
 * The time is in seconds from the start; the memory in use follows it. A file
 * to which a run was appended (trace_options 1) has several: they are shown one
 * after the other. Source: xdebug's documentation, "Function Trace". */

#include "flam-formats.h"

#include "flam-amount.h"
#include "flam-stack-text.h"
#include "flam-trace-spans.h"

typedef struct
{
  FlamBuilder *builder;
  FlamTraceSpans spans;
  FlamPieces names;
  FlamThreadId thread;
  guint counter;
  FlamText lines;
  gint64 start, end; /* ns: of this run, in the capture */
  guint64 depth;     /* calls that have not returned */
  guint64 cut;       /* of the previous runs */
} Trace;

static FlamId
find_name (Trace *trace, FlamSlice name)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (&trace->names,
                                 name.text,
                                 MIN (name.length, (gsize)G_MAXINT32),
                                 FLAM_NONE,
                                 &is_new);

  if (is_new)
    *flam_pieces_value (&trace->names, row) =
        flam_builder_string (trace->builder, name.text, name.length);
  return *flam_pieces_value (&trace->names, row);
}

static gboolean
is_head (FlamSlice line)
{
  return line.length == 0 || flam_slice_begins (line, "Version:") ||
         flam_slice_begins (line, "File format:") ||
         flam_slice_begins (line, "TRACE ");
}

static void
begin_run (Trace *trace)
{
  trace->cut += trace->depth;
  for (; trace->depth > 0; trace->depth--)
    flam_trace_spans_end (&trace->spans, trace->thread, 0, trace->end);
  trace->start = trace->end;
}

static gboolean
read_line (gpointer data, FlamSlice line)
{
  Trace *trace = data;
  gboolean head = is_head (line);
  gboolean is_start = flam_slice_begins (line, "TRACE START");
  FlamSlice level = flam_slice_take_cell (&line);
  FlamSlice number = flam_slice_take_cell (&line);
  FlamSlice what = flam_slice_take_cell (&line);
  FlamSlice when = flam_slice_take_cell (&line);
  FlamSlice memory = flam_slice_take_cell (&line);
  const char *p = when.text;
  gint64 time, bytes, ignored;

  if (is_start)
    begin_run (trace);
  if (head || flam_slice_is (what, "R")) /* the return value */
    return TRUE;
  if (!flam_amount_number (&p, when.text + when.length, 1000000000, &time) ||
      __builtin_add_overflow (time, trace->start, &time))
    return FALSE;
  trace->end = MAX (trace->end, time);
  if (flam_slice_number (memory, &bytes))
    flam_builder_add_counter_value (
        trace->builder, trace->counter, time, bytes);
  if (level.length == 0) /* the end of the trace */
    flam_trace_spans_see (&trace->spans, time);
  else if (!flam_slice_number (number, &ignored))
    return FALSE;
  else if (flam_slice_is (what, "0"))
    {
      trace->depth++;
      flam_trace_spans_begin (&trace->spans,
                              trace->thread,
                              find_name (trace, flam_slice_take_cell (&line)),
                              time);
    }
  else if (flam_slice_is (what, "1"))
    {
      trace->depth -= trace->depth > 0;
      flam_trace_spans_end (&trace->spans, trace->thread, 0, time);
    }
  else
    return FALSE;
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Trace *trace = flam_arena_new (load, Trace);

  trace->builder = builder;
  flam_builder_set_has_times (builder);
  flam_builder_set_spans (builder,
                          flam_load_measures (builder,
                                              FLAM_STANDARD_WALL_TIME,
                                              FLAM_STANDARD_CALLS),
                          FLAM_SPANS_CALLS);
  flam_arena_pieces (load, &trace->names);
  flam_trace_spans_init (&trace->spans, load);
  trace->counter = flam_builder_add_counter (builder, "heap", FLAM_UNIT_BYTES);
  trace->thread = flam_builder_lone_thread (builder);
  if (!flam_text_read (&trace->lines, load, read_line, trace, NULL, error))
    return FALSE;
  if (flam_trace_spans_close (&trace->spans) == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this xdebug trace has no calls"));
  flam_trace_spans_make_samples (&trace->spans, TRUE);
  flam_text_warn_bad (&trace->lines, builder, N_ ("a trace of xdebug"));
  flam_load_warn_open (builder, trace->spans.open + trace->cut);
  return TRUE;
}

const FlamImporter flam_import_xdebug = {
  .id = "xdebug",
  .label = "xdebug trace",
  .written_by = "Xdebug with trace_format 1",
  .suffixes = FLAM_LIST (".xt"),
  .mime_types = FLAM_LIST ("text/plain"),
  .signs =
      FLAM_SIGNS (FLAM_HEAD (90, 0, 256, "File format: ", "TRACE START [")),
  .load = load,
  .streams = TRUE,
};
