/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The text of ftrace's tracer function_graph, from the kernel's trace files,
 * `perf ftrace` and `trace-cmd report`:
 *
 *    # tracer: function_graph
 *     0)  sh-4711      |               |  do_sys_open() {
 *     0)  sh-4711      |   0.079 us    |    getname();
 *     0)  sh-4711      | + 16.000 us   |  }
 *     ------------------------------------------
 *     0)   sh-4711    =>  cat-4712
 *     ------------------------------------------
 *    sh-4711 [000] 1.234567: funcgraph_entry:  0.079 us |    getname();
 *
 * All columns but the last two are optional. Without names of tasks each CPU
 * has its own calls. Source: the kernel's documentation of ftrace, and
 * trace_functions_graph.c. */

#include "flam-amount.h"
#include "flam-call-tree.h"
#include "flam-formats.h"
#include "flam-stack-text.h"

#include <string.h>

#define US 1000
#define SECOND G_GINT64_CONSTANT (1000000000)

typedef struct
{
  gint64 time;     /* ns; -1 */
  gint64 cpu;      /* -1 */
  FlamSlice task;  /* "sh-4711"; empty */
  gint64 duration; /* ns; -1 */
  FlamSlice call;  /* "getname();" */
} Line;

typedef struct
{
  FlamBuilder *builder;
  FlamCallTree tree;
  FlamText lines;
  FlamPieces functions; /* -> frame */
  FlamPieces tasks;     /* "sh-4711" -> thread */
  GHashTable *on_cpu;   /* cpu -> thread + 1 */
} Trace;

/* --- columns ------------------------------------------------------------- */

static const char *
skip_spaces (const char *p, const char *end)
{
  while (p < end && flam_text_is_space (*p))
    p++;
  return p;
}

/* "   ", "0.079 us", "+ 16.000 us", "==========>": up to the "|", which is
 * skipped. */
static gboolean
take_duration (const char **p, const char *end, Line *line)
{
  const char *at = skip_spaces (*p, end);

  if (end - at > 2 && strchr ("+!#*@$", *at) != NULL && at[1] == ' ')
    at = skip_spaces (at + 1, end);
  if (at < end && flam_text_is_digit (*at))
    {
      if (!flam_amount_number (&at, end, US, &line->duration) || end - at < 3 ||
          memcmp (at, " us", 3) != 0)
        return FALSE;
      at += 3;
    }
  else if (end - at >= 11 && (memcmp (at, "==========>", 11) == 0 ||
                              memcmp (at, "<==========", 11) == 0))
    at += 11;
  at = skip_spaces (at, end);
  if (at == end || *at != '|')
    return FALSE;
  *p = at + 1;
  return TRUE;
}

static gboolean
is_task (FlamSlice text)
{
  gsize dash = flam_slice_find_last (text, "-");
  gint64 id;

  return dash > 0 && dash < text.length &&
         flam_slice_number (flam_slice_from (text, dash + 1), &id);
}

/* "sh-4711   |", with latency's flags after the name: "sh-4711   | d..1 |" */
static void
take_task (const char **p, const char *end, Line *line)
{
  const char *bar = memchr (*p, '|', end - *p);
  FlamSlice text;

  if (bar == NULL)
    return;
  text = flam_slice_trim (*p, bar);
  if (!is_task (text))
    return;
  line->task = text;
  *p = bar + 1;
  bar = memchr (*p, '|', end - *p);
  if (bar == NULL)
    return;
  text = flam_slice_trim (*p, bar);
  for (gsize i = 0; i < text.length; i++)
    if (!g_ascii_isalnum (text.text[i]) && text.text[i] != '.')
      return;
  if (text.length >= 4 && text.length <= 6 &&
      memchr (text.text, '.', text.length) != NULL &&
      !flam_text_is_digit (*text.text))
    *p = bar + 1;
}

/* "1.234567 |   0)  sh-4711   |  0.079 us  |" */
static gboolean
parse_columns (const char *p, const char *end, Line *line)
{
  const char *at = skip_spaces (p, end), *number = at;
  gint64 value;

  if (at < end && flam_text_is_digit (*at) &&
      flam_amount_number (&at, end, SECOND, &value) &&
      memchr (number, '.', at - number) != NULL)
    {
      at = skip_spaces (at, end);
      if (at < end && *at == '|')
        {
          line->time = value;
          p = at + 1;
        }
    }
  at = skip_spaces (p, end);
  if (flam_text_number (&at, end, &value) && at < end && *at == ')')
    {
      line->cpu = value;
      p = at + 1;
    }
  take_task (&p, end, line);
  if (!take_duration (&p, end, line))
    return FALSE;
  line->call = flam_slice_trim (p, end);
  return TRUE;
}

/* "sh-4711 [000] d..1 1.234567: funcgraph_entry:  0.079 us |  f();" */
static gboolean
parse_event (FlamSlice text, gsize name, Line *line)
{
  FlamSlice head = { text.text, name };
  gsize open = flam_slice_find (head, " [");
  gsize close = flam_slice_find (head, "]");
  gsize space = flam_slice_find_last (head, " ");
  const char *p, *end = text.text + text.length;

  line->task = flam_slice_strip ((FlamSlice){ head.text, MIN (open, close) });
  if (open >= close || close == head.length || space == head.length ||
      !is_task (line->task))
    return FALSE;
  p = head.text + space + 1;
  if (!flam_amount_number (&p, head.text + name, SECOND, &line->time))
    return FALSE;
  line->cpu = flam_slice_number_after (flam_slice_from (head, open), " [");
  p = memchr (text.text + name + 2, ':', text.length - name - 2);
  if (p == NULL)
    return FALSE;
  p++;
  if (!take_duration (&p, end, line))
    return FALSE;
  line->call = flam_slice_trim (p, end);
  return TRUE;
}

static gboolean
parse_line (FlamSlice text, Line *line)
{
  gsize event = flam_slice_find (text, ": funcgraph_e");

  *line = (Line){ .time = -1, .cpu = -1, .duration = -1 };
  if (event < text.length)
    return parse_event (text, event, line);
  return parse_columns (text.text, text.text + text.length, line);
}

/* --- who ----------------------------------------------------------------- */

static FlamThreadId
find_task (Trace *trace, FlamSlice task)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (&trace->tasks,
                                 task.text,
                                 MIN (task.length, (gsize)G_MAXINT32),
                                 FLAM_NONE,
                                 &is_new);
  gsize dash = flam_slice_find_last (task, "-");
  gint64 id;
  FlamThreadId thread;

  if (!is_new)
    return *flam_pieces_value (&trace->tasks, row);
  if (!flam_slice_number (flam_slice_from (task, dash + 1), &id) ||
      id > G_MAXINT32)
    id = -1;
  /* The idle tasks of all CPUs have the id 0. */
  thread = flam_builder_thread (trace->builder,
                                flam_builder_process (trace->builder, -1, 0),
                                (gint32)id,
                                id > 0 ? 0 : row + 1);
  {
    g_autofree char *name = g_strndup (task.text, dash);
    flam_builder_set_thread_name (trace->builder, thread, name);
  }
  *flam_pieces_value (&trace->tasks, row) = thread;
  return thread;
}

static FlamThreadId
find_cpu (Trace *trace, gint64 cpu)
{
  gpointer key = GINT_TO_POINTER ((gint32)CLAMP (cpu, -1, G_MAXINT32));
  gpointer found = g_hash_table_lookup (trace->on_cpu, key);
  FlamThreadId thread;

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  if (cpu < 0)
    thread = flam_builder_lone_thread (trace->builder);
  else
    {
      g_autofree char *name = g_strdup_printf ("CPU %" PRId64, cpu);

      thread = flam_builder_thread_keyed (
          trace->builder,
          flam_builder_process (trace->builder, -1, 0),
          flam_builder_string (trace->builder, name, -1));
      flam_builder_set_thread_name (trace->builder, thread, name);
    }
  g_hash_table_insert (trace->on_cpu, key, GUINT_TO_POINTER (thread + 1));
  return thread;
}

/* " 0)   sh-4711    =>  cat-4712": from here on the CPU runs another task. */
static gboolean
read_switch (Trace *trace, FlamSlice text)
{
  gsize arrow = flam_slice_find (text, " => ");
  const char *p = text.text, *end = text.text + text.length;
  FlamSlice task;
  gint64 cpu;

  if (arrow == text.length)
    return FALSE;
  p = skip_spaces (p, end);
  task = flam_slice_strip (flam_slice_from (text, arrow + 4));
  if (!flam_text_number (&p, end, &cpu) || p == end || *p != ')' ||
      !is_task (task))
    return FALSE;
  g_hash_table_insert (trace->on_cpu,
                       GINT_TO_POINTER ((gint32)MIN (cpu, G_MAXINT32)),
                       GUINT_TO_POINTER (find_task (trace, task) + 1));
  return TRUE;
}

/* --- calls --------------------------------------------------------------- */

static FlamFrameId
find_function (Trace *trace, FlamSlice name)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (&trace->functions,
                                 name.text,
                                 MIN (name.length, (gsize)G_MAXINT32),
                                 FLAM_NONE,
                                 &is_new);
  FlamTextFrame frame = { .name = name,
                          .module = { "", 0 },
                          .file = { "", 0 },
                          .kind = FLAM_KIND_KERNEL };
  gsize open = flam_slice_find (name, " [");

  if (is_new)
    {
      if (open < name.length && flam_slice_ends (name, "]"))
        {
          frame.name.length = open;
          frame.module = flam_slice_from (name, open + 2);
          frame.module.length--;
        }
      *flam_pieces_value (&trace->functions, row) =
          flam_text_frame_make (trace->builder, &frame);
    }
  return *flam_pieces_value (&trace->functions, row);
}

/* "getname();", "do_sys_open() {", "}", "} / * do_sys_open * /" */
static gboolean
read_call (Trace *trace, const Line *line)
{
  FlamSlice call = line->call;
  gsize comment = flam_slice_find (call, "/*");
  FlamThreadId thread;
  gsize open;

  call = flam_slice_strip ((FlamSlice){ call.text, comment });
  if (call.length == 0) /* an event */
    return TRUE;
  thread = line->task.length > 0 ? find_task (trace, line->task)
                                 : find_cpu (trace, line->cpu);
  if (*call.text == '}')
    {
      if (line->duration < 0)
        return FALSE;
      flam_call_tree_leave (&trace->tree, thread, line->duration);
      return TRUE;
    }
  open = flam_slice_find (call, "(");
  if (open == call.length || open == 0)
    return FALSE;
  if (flam_slice_ends (call, ";") ? line->duration < 0
                                  : !flam_slice_ends (call, "{"))
    return FALSE;
  flam_call_tree_enter (
      &trace->tree,
      thread,
      find_function (trace, flam_slice_strip ((FlamSlice){ call.text, open })),
      line->time);
  if (flam_slice_ends (call, ";"))
    flam_call_tree_leave (&trace->tree, thread, line->duration);
  return TRUE;
}

static gboolean
is_rule (FlamSlice text)
{
  for (gsize i = 0; i < text.length; i++)
    if (text.text[i] != '-' && text.text[i] != ' ')
      return FALSE;
  return TRUE;
}

/* Other events of trace-cmd, and its head. */
static gboolean
is_other_event (FlamSlice text)
{
  return flam_slice_find (text, " [") < text.length ||
         flam_slice_begins (text, "cpus=") ||
         flam_slice_begins (text, "CPU ") || flam_slice_begins (text, "CPU:");
}

static gboolean
read_line (gpointer data, FlamSlice text)
{
  Trace *trace = data;
  Line line;

  if (text.length == 0 || *text.text == '#' || is_rule (text))
    return TRUE;
  if (!parse_line (text, &line))
    return read_switch (trace, text) || is_other_event (text);
  return read_call (trace, &line);
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Trace *trace = flam_arena_new (load, Trace);

  trace->builder = load->builder;
  flam_call_tree_init (&trace->tree, load);
  flam_arena_pieces (load, &trace->functions);
  flam_arena_pieces (load, &trace->tasks);
  trace->on_cpu = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  if (!flam_text_read (&trace->lines, load, read_line, trace, NULL, error))
    return FALSE;
  if (trace->tree.calls == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this trace of function_graph has no calls"));
  flam_call_tree_finish (&trace->tree);
  flam_text_warn_bad (
      &trace->lines, load->builder, N_ ("a trace of function_graph"));
  return TRUE;
}

/* Tables of other texts have bars, too. */
static gboolean
has_call (const Line *line)
{
  return (line->cpu >= 0 || line->time >= 0 || line->task.length > 0) &&
         (flam_slice_ends (line->call, "{") ||
          flam_slice_ends (line->call, ";") ||
          flam_slice_begins (line->call, "}") ||
          flam_slice_begins (line->call, "/*"));
}

static guint
probe (const FlamSource *source)
{
  guint calls = 0, others = 0;

  flam_text_each_of_head (source, text)
    {
      Line line;

      if (flam_slice_find (text, "# tracer: function_graph") < text.length)
        return 90;
      if (text.length == 0 || *text.text == '#' || is_rule (text))
        continue;
      if (parse_line (text, &line) && has_call (&line))
        calls++;
      else
        others++;
    }
  if (calls > 0 && flam_source_head_has (source, 4096, ": funcgraph_e"))
    return 90;
  return calls > 2 && calls > others ? 70 : 0;
}

const FlamImporter flam_import_function_graph = {
  .id = "function-graph",
  .label = "ftrace function_graph",
  .written_by = "the kernel's function_graph tracer, perf ftrace and trace-cmd "
                "report",
  .suffixes = FLAM_LIST (".ftrace", "trace.txt", "trace"),
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
