/* SPDX-License-Identifier: GPL-3.0-or-later */

/* Calls of libraries, and with -S of the system, as ltrace prints them with -f,
 * -ttt and -T:
 *
 *    4711 1764198000.477650 qsort(0x7ffe, 3, 8, 0x4011 <unfinished ...>
 *    4711 1764198000.477891 strcmp("a", "b") = -1 <0.000125>
 *    4711 1764198000.478226 <... qsort resumed> ) = <void> <0.000575>
 *
 * Calls between a call and its return were made by it. Source: the manual page,
 * and the text of ltrace 0.7.3. */

#include "flam-call-line.h"
#include "flam-call-tree.h"
#include "flam-formats.h"

typedef struct
{
  FlamBuilder *builder;
  FlamCallTree tree;
  FlamText lines;
  FlamPieces functions; /* the whole name -> frame */
  GHashTable *threads;  /* id + 1 -> thread + 1 */
  gint64 started;       /* ns since 1970 */
  guint64 untimed;      /* calls without a time or a duration */
} Trace;

/* "SYS_read", "read@SYS", "libz.so.1->crc32", "crc32@libz.so.1", "malloc" */
static FlamFrameId
make_function (FlamBuilder *builder, FlamSlice text)
{
  FlamTextFrame frame = { .name = text,
                          .module = { "", 0 },
                          .file = { "", 0 },
                          .kind = FLAM_KIND_NATIVE };
  gsize arrow = flam_slice_find (text, "->");
  gsize at = flam_slice_find (text, "@");

  if (arrow < text.length)
    {
      frame.module = (FlamSlice){ text.text, arrow };
      frame.name = flam_slice_from (text, arrow + 2);
    }
  else if (at < text.length)
    {
      frame.name.length = at;
      frame.module = flam_slice_from (text, at + 1);
    }
  if (flam_slice_begins (text, "SYS_"))
    {
      frame.name = flam_slice_from (text, 4);
      frame.kind = FLAM_KIND_KERNEL;
    }
  else if (flam_slice_is (frame.module, "SYS"))
    {
      frame.module.length = 0;
      frame.kind = FLAM_KIND_KERNEL;
    }
  return flam_text_frame_make (builder, &frame);
}

static FlamFrameId
find_function (Trace *trace, FlamSlice name)
{
  gboolean is_new;
  FlamId row = flam_pieces_find (&trace->functions,
                                 name.text,
                                 MIN (name.length, (gsize)G_MAXINT32),
                                 FLAM_NONE,
                                 &is_new);

  if (is_new)
    *flam_pieces_value (&trace->functions, row) =
        make_function (trace->builder, name);
  return *flam_pieces_value (&trace->functions, row);
}

/* ltrace does not print which ids are threads of one process. */
static FlamThreadId
find_thread (Trace *trace, gint64 id)
{
  gint32 tid = id >= 0 && id <= G_MAXINT32 ? id : -1;
  gpointer found = g_hash_table_lookup (trace->threads, GINT_TO_POINTER (tid));
  FlamThreadId thread;

  if (found != NULL)
    return GPOINTER_TO_UINT (found) - 1;
  thread =
      tid < 0
          ? flam_builder_lone_thread (trace->builder)
          : flam_builder_thread (trace->builder,
                                 flam_builder_process (trace->builder, tid, 0),
                                 tid,
                                 0);
  g_hash_table_insert (
      trace->threads, GINT_TO_POINTER (tid), GUINT_TO_POINTER (thread + 1));
  return thread;
}

static void
read_call (Trace *trace, const FlamCallHead *head, const FlamCallLine *call)
{
  FlamThreadId thread = find_thread (trace, head->id);
  FlamFrameId function = find_function (trace, call->name);
  gint64 start = head->time;

  if (call->part == FLAM_CALL_RESUMED)
    {
      start = MAX (head->time - call->duration, 0);
      /* Called before the trace, or the child's return from fork(). */
      if (flam_call_tree_depth (&trace->tree, thread) == 0)
        flam_call_tree_enter (&trace->tree, thread, function, start);
    }
  else
    flam_call_tree_enter (&trace->tree, thread, function, start);
  if (call->part == FLAM_CALL_WHOLE || call->part == FLAM_CALL_RESUMED)
    flam_call_tree_leave (&trace->tree, thread, call->duration);
}

static gboolean
read_line (gpointer data, FlamSlice line)
{
  Trace *trace = data;
  FlamCallHead head;
  FlamCallLine call;

  flam_call_head_parse (line, &head);
  if (head.time >= 0 && head.date && trace->started == 0)
    trace->started = head.time;
  if (flam_slice_begins (head.rest, "+++ ") && head.time >= 0)
    flam_call_tree_exit (&trace->tree, find_thread (trace, head.id), head.time);
  if (line.length == 0 || flam_slice_begins (head.rest, "+++ ") ||
      flam_slice_begins (head.rest, "--- "))
    return TRUE;
  if (!flam_call_line_parse (head.rest, &call))
    return FALSE;
  if (head.time < 0 || head.relative ||
      (call.duration < 0 && call.part != FLAM_CALL_BEGUN &&
       call.part != FLAM_CALL_DEPARTED))
    trace->untimed++;
  else
    read_call (trace, &head, &call);
  return TRUE;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  FlamBuilder *builder = load->builder;
  Trace *trace = flam_arena_new (load, Trace);

  trace->builder = builder;
  flam_call_tree_init (&trace->tree, load);
  flam_arena_pieces (load, &trace->functions);
  trace->threads = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  if (!flam_text_read (&trace->lines, load, read_line, trace, NULL, error))
    return FALSE;
  if (trace->tree.calls == 0)
    return flam_source_invalid (
        load->source,
        error,
        trace->untimed > 0
            ? N_ ("the calls in this output of ltrace have no times; record "
                  "with the options -ttt and -T")
            : N_ ("this output of ltrace has no calls"));
  flam_call_tree_finish (&trace->tree);
  flam_builder_facts (builder)->start_unix_ns = trace->started;
  flam_text_warn_bad (&trace->lines, builder, N_ ("output of ltrace"));
  return TRUE;
}

static guint
probe (const FlamSource *source)
{
  return flam_call_lines_score (source, TRUE);
}

const FlamImporter flam_import_ltrace = {
  .id = "ltrace",
  .label = "ltrace",
  .written_by = "ltrace -f -ttt -T",
  .suffixes = FLAM_LIST (".ltrace"),
  .mime_types = FLAM_LIST ("text/plain"),
  .probe = probe,
  .load = load,
  .streams = TRUE,
};
