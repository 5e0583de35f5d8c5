/* SPDX-License-Identifier: GPL-3.0-or-later */

/* System calls as strace prints them, with -f, -t, -T and -k:
 *
 *    4711 1764198000.123456 read(3, "a", 10) = 1 <0.000012>
 *     > /usr/lib/libc.so.6(read+0xd) [0x1002d]            its stack, leaf first
 *    4712 1764198000.123500 futex(0x7f00, FUTEX_WAIT, 0 <unfinished ...>
 *    4712 1764198000.223500 <... futex resumed>) = -1 EAGAIN (…) <0.100000>
 *    4711 1764198000.300000 +++ exited with 0 +++
 *
 * Only durations count: exit_group() has none. On a terminal, ids are left out
 * while there is one thread. Source: the manual page, and the text of
 * strace 6.1. */

#include "flam-call-line.h"
#include "flam-call-log.h"

#define ATTACHED "strace: Process "

typedef struct
{
  FlamCallLog log;
  FlamText lines;
  GHashTable *gone;    /* rows of threads that exited */
  GHashTable *cloning; /* rows of threads that are about to make a thread */
  guint32 lone;        /* the thread of lines without an id; FLAM_NONE */
  guint32 left;        /* find_left() */
  guint n_looked;
  guint32 cut;        /* the thread whose line a message cut off; FLAM_NONE */
  FlamSlice cut_name; /* its call */
  gint64 now;         /* ns: the sum of relative times */
  gint64 before;      /* ns: the last time of the day */
  gint64 days;        /* ns */
  gboolean summary;   /* the table of -c follows */
} Trace;

/* --- frames -------------------------------------------------------------- */

/* "/tmp/w(main+0x21) [0x1021]", with -kk "… /src/w.c:12". */
static void
parse_frame (FlamSlice text, FlamTextFrame *frame)
{
  gsize open = flam_slice_find (text, "(");
  gsize close = flam_slice_find_last (text, ") [");
  gsize end;
  FlamSlice name;

  if (open >= close ||
      close == text.length) /* "unexpected_backtracing_error" */
    return;
  frame->module = (FlamSlice){ text.text, open };
  name = (FlamSlice){ text.text + open + 1, close - open - 1 };
  end = flam_slice_find_last (name, "+0x");
  frame->name = (FlamSlice){ name.text, end };
  text = flam_slice_from (text, close);
  end = flam_slice_find (text, "] ");
  if (end < text.length)
    flam_slice_location (flam_slice_strip (flam_slice_from (text, end + 2)),
                         &frame->file,
                         &frame->line);
}

/* --- threads ------------------------------------------------------------- */

static gpointer
key_of (gint64 id)
{
  return GINT_TO_POINTER ((gint32)CLAMP (id, -1, G_MAXINT32));
}

static gpointer
rows_key (gpointer value)
{
  return GUINT_TO_POINTER (GPOINTER_TO_UINT (value) - 1);
}

/* The row of the only thread that has not exited; FLAM_NONE: there are more. */
static guint32
find_left (Trace *trace)
{
  GHashTableIter iter;
  gpointer id, row;
  guint n = 0;

  if (trace->n_looked ==
      g_hash_table_size (trace->log.by_id) + g_hash_table_size (trace->gone))
    return trace->left;
  trace->n_looked =
      g_hash_table_size (trace->log.by_id) + g_hash_table_size (trace->gone);
  g_hash_table_iter_init (&iter, trace->log.by_id);
  while (g_hash_table_iter_next (&iter, &id, &row) && n < 2)
    if (!g_hash_table_contains (trace->gone, rows_key (row)))
      {
        trace->left = GPOINTER_TO_UINT (row) - 1;
        n++;
      }
  if (n != 1)
    trace->left = FLAM_NONE;
  return trace->left;
}

static guint32
find_lone (Trace *trace)
{
  guint32 left = FLAM_NONE;

  if (g_hash_table_size (trace->gone) > 0)
    left = find_left (trace);
  if (left == FLAM_NONE && trace->lone == FLAM_NONE)
    trace->lone = flam_call_log_thread (&trace->log, -1);
  return left != FLAM_NONE ? left : trace->lone;
}

static guint32
find_thread (Trace *trace, const FlamCallHead *head)
{
  gpointer key = key_of (head->id);
  guint32 row;

  if (head->id < 0)
    return find_lone (trace);
  /* The first thread gets an id when there are others. */
  if (trace->lone != FLAM_NONE &&
      !g_hash_table_contains (trace->log.by_id, key))
    {
      flam_call_log_set_id (&trace->log, trace->lone, head->id);
      g_hash_table_remove (trace->log.by_id, GINT_TO_POINTER (-1));
      row = trace->lone;
      trace->lone = FLAM_NONE;
      trace->cut = FLAM_NONE;
    }
  else
    row = flam_call_log_thread (&trace->log, head->id);
  if (head->comm.length > 0)
    flam_call_log_set_name (&trace->log, row, head->comm);
  return row;
}

/* The text between the first quotes. */
static FlamSlice
quoted (FlamSlice text)
{
  gsize open = flam_slice_find (text, "\"");
  gsize close;

  if (open == text.length)
    return (FlamSlice){ "", 0 };
  text = flam_slice_from (text, open + 1);
  close = flam_slice_find (text, "\"");
  return close < text.length ? (FlamSlice){ text.text, close }
                             : (FlamSlice){ "", 0 };
}

/* "[\"sort\", \"-u\"]": the words, as far as they are printed. */
static void
set_command (Trace *trace, FlamSlice arguments)
{
  g_autoptr (GString) command = g_string_new (NULL);
  gsize open = flam_slice_find (arguments, "[");
  FlamSlice rest = flam_slice_from (arguments, open);
  gsize end = flam_slice_find (rest, "\"]");

  if (end == rest.length ||
      *flam_builder_facts (trace->log.builder)->command != '\0')
    return;
  rest.length = end + 1;
  while (rest.length > 0)
    {
      FlamSlice word = quoted (rest);

      if (word.length == 0)
        break;
      g_string_append_printf (command,
                              "%s%.*s",
                              command->len > 0 ? " " : "",
                              (int)MIN (word.length, (gsize)1000),
                              word.text);
      rest.length -= word.text + word.length + 1 - rest.text;
      rest.text = word.text + word.length + 1;
    }
  flam_builder_set_command (trace->log.builder, command->str);
}

static gboolean
makes_thread (const FlamCallLine *call)
{
  return flam_slice_find (call->arguments, "CLONE_THREAD") <
         call->arguments.length;
}

/* Calls that concern threads. */
static void
learn (Trace *trace, guint32 thread, const FlamCallLine *call)
{
  FlamSlice name = quoted (call->arguments);
  gint64 id;

  if (flam_slice_is (call->name, "execve") &&
      flam_slice_is (call->result, "0") && name.length > 0)
    {
      gsize slash = flam_slice_find_last (name, "/");

      flam_call_log_set_name (
          &trace->log,
          thread,
          slash < name.length ? flam_slice_from (name, slash + 1) : name);
      set_command (trace, call->arguments);
    }
  else if (flam_slice_is (call->name, "prctl") &&
           flam_slice_begins (call->arguments, "PR_SET_NAME") &&
           name.length > 0)
    flam_call_log_set_name (&trace->log, thread, name);
  else if (flam_slice_begins (call->name, "clone") &&
           flam_slice_number (call->result, &id) && id > 0 &&
           (makes_thread (call) ||
            g_hash_table_contains (trace->cloning, GUINT_TO_POINTER (thread))))
    flam_call_log_set_process (
        &trace->log, flam_call_log_thread (&trace->log, id), thread);
  g_hash_table_remove (trace->cloning, GUINT_TO_POINTER (thread));
}

/* --- lines --------------------------------------------------------------- */

#define DAY (24 * 3600 * G_GINT64_CONSTANT (1000000000))

static gint64
time_of (Trace *trace, const FlamCallHead *head)
{
  gint64 time = head->time;

  if (time < 0)
    return -1;
  if (head->date)
    {
      if (trace->log.started == 0)
        trace->log.started = time;
      return time;
    }
  if (head->relative)
    {
      if (__builtin_add_overflow (trace->now, time, &time))
        return -1;
      trace->now = time;
      return time;
    }
  if (time < trace->before - DAY / 2 && trace->days < 1000 * DAY)
    trace->days += DAY;
  trace->before = time;
  return time + trace->days;
}

/* "-1 ENOENT (No such file or directory)", "? ERESTARTSYS (…)" */
static FlamSlice
error_of (FlamSlice result)
{
  gsize begin = flam_slice_begins (result, "-1 E")  ? 3
                : flam_slice_begins (result, "? E") ? 2
                                                    : 0;

  if (begin == 0)
    return (FlamSlice){ "", 0 };
  result = flam_slice_from (result, begin);
  return (FlamSlice){ result.text, flam_slice_find (result, " ") };
}

static void
add_call (Trace *trace, guint32 thread, const FlamCallLine *call, gint64 start)
{
  if (call->duration < 0)
    {
      trace->log.undurated = TRUE;
      return;
    }
  if (start < 0)
    {
      trace->log.untimed = TRUE;
      start = 0;
    }
  flam_call_log_add (&trace->log,
                     thread,
                     call->name,
                     start,
                     call->duration,
                     error_of (call->result));
}

static void
read_call (Trace *trace, const FlamCallHead *head, const FlamCallLine *call)
{
  guint32 thread = find_thread (trace, head);
  gint64 time = time_of (trace, head);
  gint64 start = time;

  flam_call_log_see (&trace->log, time);
  switch (call->part)
    {
    case FLAM_CALL_BEGUN:
      if (time >= 0)
        flam_call_log_begin (&trace->log, thread, call->name, time);
      if (makes_thread (call))
        g_hash_table_add (trace->cloning, GUINT_TO_POINTER (thread));
      return;
    case FLAM_CALL_DEPARTED:
      flam_call_log_take (&trace->log, thread, &start);
      return;
    case FLAM_CALL_RESUMED:
      if (!flam_call_log_take (&trace->log, thread, &start) &&
          call->duration >= 0)
        start = MAX (time - call->duration, 0);
      break;
    case FLAM_CALL_WHOLE:
      break;
    }
  add_call (trace, thread, call, start);
  learn (trace, thread, call);
}

/* The rest of a call whose line was cut off. */
static void
read_rest (Trace *trace, const FlamCallLine *call)
{
  gint64 start;

  if (flam_call_log_take (&trace->log, trace->cut, &start))
    {
      add_call (trace, trace->cut, call, start);
      learn (trace, trace->cut, call);
    }
  trace->cut = FLAM_NONE;
}

static void
read_exit (Trace *trace, const FlamCallHead *head)
{
  guint32 thread = find_thread (trace, head);
  gint64 start;

  flam_call_log_see (&trace->log, time_of (trace, head));
  flam_call_log_take (&trace->log, thread, &start);
  g_hash_table_add (trace->gone, GUINT_TO_POINTER (thread));
}

/* `cut`: a message cut the line off. */
static gboolean
read_part (Trace *trace, FlamSlice line, gboolean cut)
{
  FlamCallHead head;
  FlamCallLine call;

  flam_call_head_parse (line, &head);
  if (flam_slice_begins (head.rest, "--- ") || head.rest.length == 0 ||
      flam_slice_begins (head.rest, "<unfinished ...>"))
    return TRUE;
  if (flam_slice_begins (head.rest, "+++ "))
    read_exit (trace, &head);
  else if (flam_call_line_parse (head.rest, &call))
    read_call (trace, &head, &call);
  else if (cut && flam_call_line_begun (head.rest, &call))
    {
      read_call (trace, &head, &call);
      trace->cut = find_thread (trace, &head);
      trace->cut_name = call.name;
    }
  else if (trace->cut != FLAM_NONE &&
           flam_call_line_ended (line, trace->cut_name, &call))
    read_rest (trace, &call);
  else
    return flam_slice_begins (head.rest, "strace: ");
  return TRUE;
}

static gboolean
read_line (gpointer data, FlamSlice line)
{
  Trace *trace = data;
  gsize attached = flam_slice_find (line, ATTACHED);
  gint64 id;
  gboolean good;

  if (flam_slice_begins (line, "% time "))
    trace->summary = TRUE;
  if (trace->summary || line.length == 0)
    return TRUE;
  if (flam_slice_begins (line, " > "))
    {
      flam_call_log_frame (&trace->log, flam_slice_from (line, 3));
      return TRUE;
    }
  flam_call_log_end_stack (&trace->log);
  good = read_part (trace,
                    (FlamSlice){ line.text, attached },
                    attached > 0 && attached < line.length);
  id = flam_slice_number_after (line, ATTACHED);
  if (id >= 0)
    flam_call_log_thread (&trace->log, id);
  return good;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Trace *trace = flam_arena_new (load, Trace);

  flam_call_log_init (&trace->log, load);
  trace->log.parse_frame = parse_frame;
  trace->gone = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  trace->cloning = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  trace->lone = FLAM_NONE;
  trace->cut = FLAM_NONE;
  if (!flam_text_read (&trace->lines, load, read_line, trace, NULL, error) ||
      !flam_call_log_finish (&trace->log, N_ ("output of strace"), error))
    return FALSE;
  flam_text_warn_bad (&trace->lines, load->builder, N_ ("output of strace"));
  return TRUE;
}

static guint
probe (const FlamSource *source)
{
  return flam_call_lines_score (source, FALSE);
}

const FlamImporter flam_import_strace = {
  .id = "strace",
  .label = "strace",
  .written_by = "strace -f -ttt -T, with -k for stacks",
  .suffixes = FLAM_LIST (".strace"),
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
