/* SPDX-License-Identifier: GPL-3.0-or-later */

/* System calls as perf trace prints them:
 *
 *    0.123 ( 0.012 ms): sh/4711 read(fd: 3, count: 100)          = 3
 *                                       read (/usr/lib/libc.so.6)   its stack
 *    0.140 (         ): sh/4711 poll(timeout_msecs: 10)        ...
 *    0.140 (10.050 ms): sh/4711  ... [continued]: poll())        = 0
 *
 * The time is that of the call, in ms from the first one. One thread alone has
 * neither name nor id. Events and page faults between them are left out.
 * Source: the manual page, and the text of perf 6.1. */

#include "flam-amount.h"
#include "flam-call-log.h"

#include <string.h>

#define MS 1000000
#define CONTINUED "... [continued]: "

typedef struct
{
  FlamCallLog log;
  FlamText lines;
  gboolean summary;
} Trace;

/* "read (/usr/lib/libc.so.6)", "__brk (inlined)" */
static void
parse_frame (FlamSlice text, FlamTextFrame *frame)
{
  flam_stack_text_parse_traced (text, frame);
  if (flam_slice_is (frame->module, "inlined"))
    {
      frame->module.length = 0;
      frame->flags = FLAM_FUNCTION_INLINED;
    }
  if (flam_slice_is (frame->module, "[unknown]"))
    frame->module.length = 0;
}

typedef struct
{
  gint64 time;     /* ns; -1: unknown */
  gint64 duration; /* ns; -1: it has not returned */
  FlamSlice rest;
} Head;

/* "     0.123 ( 0.012 ms): ", "         ? (         ): " */
static gboolean
parse_head (FlamSlice line, Head *head)
{
  const char *p, *end;
  FlamSlice text = flam_slice_strip (line);

  *head = (Head){ .time = -1, .duration = -1 };
  p = text.text;
  end = p + text.length;
  if (flam_slice_begins (text, "? "))
    p++;
  else if (p == end || !flam_text_is_digit (*p) ||
           !flam_amount_number (&p, end, MS, &head->time))
    return FALSE;
  if (end - p < 2 || p[0] != ' ' || p[1] != '(')
    return FALSE;
  p += 2;
  while (p < end && *p == ' ')
    p++;
  if (p < end && *p != ')')
    {
      if (!flam_amount_number (&p, end, MS, &head->duration) || end - p < 4 ||
          memcmp (p, " ms)", 4) != 0)
        return FALSE;
      p += 3;
    }
  if (end - p < 2 || p[0] != ')' || p[1] != ':')
    return FALSE;
  head->rest = flam_slice_trim (p + 2, end);
  return TRUE;
}

/* "sh/4711 ", or nothing. The name may have spaces and slashes. */
static guint32
take_thread (FlamCallLog *log, FlamSlice *rest)
{
  gsize open =
      MIN (flam_slice_find (*rest, "("), flam_slice_find (*rest, CONTINUED));
  FlamSlice before = { rest->text, MIN (open, rest->length) };
  gsize slash = flam_slice_find_last (before, "/");
  const char *p = before.text + slash + 1;
  const char *end = before.text + before.length;
  gint64 id;
  guint32 thread;

  if (slash == before.length || !flam_text_number (&p, end, &id) || p == end ||
      *p != ' ')
    return flam_call_log_thread (log, -1);
  thread = flam_call_log_thread (log, id);
  flam_call_log_set_name (log, thread, (FlamSlice){ before.text, slash });
  *rest = flam_slice_trim (p, rest->text + rest->length);
  return thread;
}

/* "-1 ENOENT (No such file or directory)" at the end */
static FlamSlice
error_of (FlamSlice rest)
{
  gsize at = flam_slice_find_last (rest, " = -1 E");
  FlamSlice error;

  if (at == rest.length)
    return (FlamSlice){ "", 0 };
  error = flam_slice_from (rest, at + strlen (" = -1 "));
  error.length = flam_slice_find (error, " ");
  return error;
}

/* An event is "sched:sched_switch(…)", a fault "minfault [brk+0x1] => …". */
static gboolean
take_name (FlamSlice rest, FlamSlice *name)
{
  *name = (FlamSlice){ rest.text, flam_slice_find (rest, "(") };
  if (name->length == 0 || name->length == rest.length)
    return FALSE;
  for (gsize i = 0; i < name->length; i++)
    if (!g_ascii_isalnum (name->text[i]) && name->text[i] != '_')
      return FALSE;
  return TRUE;
}

static void
read_call (Trace *trace, const Head *head)
{
  FlamCallLog *log = &trace->log;
  FlamSlice rest = head->rest;
  guint32 thread = take_thread (log, &rest);
  gboolean continued = flam_slice_begins (rest, CONTINUED);
  gint64 since;
  FlamSlice name;

  if (continued)
    rest = flam_slice_from (rest, strlen (CONTINUED));
  if (!take_name (rest, &name))
    return;
  if (head->time >= 0)
    flam_call_log_see (log, head->time);
  if (continued)
    flam_call_log_take (log, thread, &since);
  if (head->time < 0)
    return; /* it began before the trace */
  if (head->duration >= 0)
    flam_call_log_add (
        log, thread, name, head->time, head->duration, error_of (rest));
  else if (flam_slice_ends (rest, "..."))
    flam_call_log_begin (log, thread, name, head->time);
}

static gboolean
read_line (gpointer data, FlamSlice line)
{
  Trace *trace = data;
  Head head;

  if (flam_slice_is (flam_slice_strip (line), "Summary of events:"))
    trace->summary = TRUE;
  if (trace->summary || line.length == 0)
    return TRUE;
  if (parse_head (line, &head))
    {
      flam_call_log_end_stack (&trace->log);
      read_call (trace, &head);
      return TRUE;
    }
  if (!flam_text_is_space (*line.text))
    return FALSE;
  flam_call_log_frame (&trace->log, flam_slice_strip (line));
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Trace *trace = flam_arena_new (load, Trace);

  flam_call_log_init (&trace->log, load);
  trace->log.parse_frame = parse_frame;
  if (!flam_text_read (&trace->lines, load, read_line, trace, NULL, error) ||
      !flam_call_log_finish (&trace->log, N_ ("output of perf trace"), error))
    return FALSE;
  flam_text_warn_bad (
      &trace->lines, load->builder, N_ ("output of perf trace"));
  return TRUE;
}

static guint
probe (const FlamSource *source)
{
  guint calls = 0;

  flam_text_each_of_head (source, line)
    {
      Head head;

      calls += parse_head (line, &head);
    }
  return calls > 0 ? 85 : 0;
}

const FlamImporter flam_import_perf_trace = {
  .id = "perf-trace",
  .label = "perf trace",
  .written_by = "perf trace, with --call-graph for stacks",
  .suffixes = FLAM_LIST (".trace", ".txt"),
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
