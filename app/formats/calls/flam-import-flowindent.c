/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The output of DTrace with its option flowindent (`dtrace -F`): calls and
 * returns of each CPU, two columns deeper for each call.
 *
 *    CPU FUNCTION
 *      0  -> write
 *      0    -> getf                     81204113
 *      0    <- getf                     81204198
 *      0    | getf:return               what an action printed
 *      0  <= write                      of system calls: => and <=
 *
 * The number is the time, in ns, if the script traces its `timestamp`;
 * otherwise calls are only counted. A function that returns by calling another
 * one has no line for its return: the column of the next line closes it.
 * Source: the DTrace guide. */

#include "flam-call-tree.h"
#include "flam-formats.h"
#include "flam-stack-text.h"

/* Digits of a time, unlike those of an argument. */
#define LEAST_DIGITS 9

typedef struct
{
  gint64 cpu;
  gsize column;
  gboolean is_return, is_event;
  FlamSlice name;
  gint64 time; /* ns; -1 */
} Row;

typedef struct
{
  FlamThreadId thread;
  GArray *columns; /* gsize: of the open calls */
} Cpu;

typedef struct
{
  FlamBuilder *builder;
  FlamCallTree tree;
  FlamText lines;
  FlamPieces functions; /* -> frame */
  GHashTable *cpus;     /* number -> Cpu */
  gint64 timed;         /* -1: the first call decides */
} Flow;

/* --- lines --------------------------------------------------------------- */

static gint64
parse_time (FlamSlice rest)
{
  gsize space = flam_slice_find_last (rest, " ");
  gint64 time;

  if (space < rest.length)
    rest = flam_slice_from (rest, space + 1);
  return rest.length >= LEAST_DIGITS && flam_slice_number (rest, &time) ? time
                                                                        : -1;
}

/* "  0    -> getf     81204113" */
static gboolean
parse_row (FlamSlice line, Row *row)
{
  static const char arrows[][4] = { "-> ", "<- ", "=> ", "<= ", "| " };
  const char *at = line.text, *end = line.text + line.length;
  FlamSlice rest;
  gsize space;

  *row = (Row){ .time = -1 };
  while (at < end && flam_text_is_space (*at))
    at++;
  if (!flam_text_number (&at, end, &row->cpu) || at == end || *at != ' ' ||
      row->cpu > G_MAXINT16)
    return FALSE;
  while (at < end && flam_text_is_space (*at))
    at++;
  row->column = at - line.text;
  rest = (FlamSlice){ at, end - at };
  for (guint i = 0; i < G_N_ELEMENTS (arrows); i++)
    if (flam_slice_begins (rest, arrows[i]))
      {
        row->is_event = i == 4;
        row->is_return = *arrows[i] == '<';
        rest = flam_slice_strip (flam_slice_from (rest, strlen (arrows[i])));
        space = flam_slice_find (rest, " ");
        row->name = (FlamSlice){ rest.text, space };
        if (space < rest.length)
          row->time =
              parse_time (flam_slice_strip (flam_slice_from (rest, space)));
        return row->name.length > 0;
      }
  return FALSE;
}

/* --- calls --------------------------------------------------------------- */

static void
free_cpu (gpointer data)
{
  g_array_unref (((Cpu *)data)->columns);
  g_free (data);
}

static Cpu *
find_cpu (Flow *flow, gint64 number)
{
  gpointer key = GINT_TO_POINTER ((int)number);
  Cpu *cpu = g_hash_table_lookup (flow->cpus, key);
  g_autofree char *name = NULL;

  if (cpu != NULL)
    return cpu;
  name = g_strdup_printf ("CPU %d", (int)number);
  cpu = g_new0 (Cpu, 1);
  cpu->columns = g_array_new (FALSE, FALSE, sizeof (gsize));
  cpu->thread =
      flam_builder_thread_keyed (flow->builder,
                                 flam_builder_process (flow->builder, -1, 0),
                                 flam_builder_string (flow->builder, name, -1));
  flam_builder_set_thread_name (flow->builder, cpu->thread, name);
  g_hash_table_insert (flow->cpus, key, cpu);
  return cpu;
}

static FlamFrameId
find_function (Flow *flow, FlamSlice name)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (&flow->functions,
                                 name.text,
                                 MIN (name.length, (gsize)G_MAXINT32),
                                 FLAM_NONE,
                                 &is_new);

  if (is_new)
    *flam_pieces_value (&flow->functions, row) = flam_load_frame (
        flow->builder, name.text, (gssize)name.length, FLAM_KIND_NATIVE);
  return *flam_pieces_value (&flow->functions, row);
}

/* Calls from that column on have returned. */
static void
close_from (Flow *flow, Cpu *cpu, gsize column, gint64 time)
{
  while (cpu->columns->len > 0 &&
         g_array_index (cpu->columns, gsize, cpu->columns->len - 1) >= column)
    {
      g_array_set_size (cpu->columns, cpu->columns->len - 1);
      flam_call_tree_leave_at (&flow->tree, cpu->thread, time);
    }
}

static gboolean
read_line (gpointer data, FlamSlice text)
{
  Flow *flow = data;
  Row row;
  Cpu *cpu;

  if (text.length == 0 || flam_slice_begins (text, "CPU ") ||
      flam_slice_begins (text, "dtrace: "))
    return TRUE;
  if (!parse_row (text, &row))
    return FALSE;
  if (row.is_event)
    return TRUE;
  if (flow->timed < 0)
    flow->timed = row.time >= 0;
  if (flow->timed == 0)
    row.time = -1;
  else if (row.time < 0)
    return FALSE;
  cpu = find_cpu (flow, row.cpu);
  if (row.is_return &&
      (cpu->columns->len == 0 ||
       g_array_index (cpu->columns, gsize, cpu->columns->len - 1) < row.column))
    {
      flow->tree.bad++;
      return TRUE;
    }
  close_from (flow, cpu, row.column, row.time);
  if (row.is_return)
    return TRUE;
  g_array_append_val (cpu->columns, row.column);
  flam_call_tree_enter (
      &flow->tree, cpu->thread, find_function (flow, row.name), row.time);
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Flow *flow = flam_arena_new (load, Flow);

  flow->builder = load->builder;
  flow->timed = -1;
  flam_call_tree_init (&flow->tree, load);
  flam_arena_pieces (load, &flow->functions);
  flow->cpus = flam_arena_table (load, FLAM_KEY_DIRECT, free_cpu);
  if (!flam_text_read (&flow->lines,
                       load,
                       read_line,
                       flow,
                       N_ ("output of dtrace -F"),
                       error))
    return FALSE;
  if (flow->tree.calls == 0)
    return flam_source_invalid (
        load->source, error, N_ ("this output of dtrace has no calls"));
  flam_call_tree_finish (&flow->tree);
  return TRUE;
}

static guint
probe (const FlamSource *source)
{
  guint calls = 0, others = 0;
  gboolean head = FALSE;
  Row row;

  flam_text_each_of_head (source, text)
    if (flam_slice_begins (text, "CPU FUNCTION"))
      head = TRUE;
    else if (parse_row (text, &row))
      calls++;
    else if (text.length > 0 && !flam_slice_begins (text, "dtrace: "))
      others++;
  if (head)
    return calls > 0 ? 95 : 0;
  return calls > 3 && others == 0 ? 60 : 0;
}

const FlamImporter flam_import_flowindent = {
  .id = "flowindent",
  .label = "DTrace calls",
  .written_by = "dtrace -F",
  .suffixes = FLAM_LIST (".txt", ".dtrace"),
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
