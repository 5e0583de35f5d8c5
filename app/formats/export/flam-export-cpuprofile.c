/* SPDX-License-Identifier: GPL-3.0-or-later */

/* V8's CPU profile, for Chrome's developer tools and editors; the fields are
 * described in flam-import-v8.c. It contains one thread's samples in order,
 * each of which lasts until the next: a pause of the thread is an "(idle)"
 * sample, but not the time before its first one. Several threads are written
 * one after the other. All weights are times in µs. */

#include "flam-formats.h"

#include "flam-export-common.h"
#include "flam-spans.h"

#include <string.h>

typedef struct
{
  const FlamPart *part;
  const FlamTree *tree;
  FlamSink *out;
  guint32 *hits;       /* one per stack */
  FlamId *same;        /* the next stack of the same node, or FLAM_NONE */
  FlamStackId *stacks; /* one per node: its first stack */
  const char *separator;
  gint64 busy, idle; /* ns so far: the sum is rounded, not its parts */
  gint64 before;     /* µs: the start of the last sample */
  gboolean deltas;
} Writer;

static guint
node_of (const Writer *writer, FlamStackId stack)
{
  FlamNodeId node =
      stack != FLAM_NONE ? writer->tree->stack_node[stack] : FLAM_NONE;

  return node != FLAM_NONE ? node : 0;
}

static guint
idle_id (const Writer *writer)
{
  return writer->tree->n + 1;
}

/* --- nodes --------------------------------------------------------------- */

static void
count_hits (Writer *writer, FlamExport *export)
{
  const FlamProfile *profile = writer->part->profile;

  writer->hits = flam_arena_vector (export, guint32, profile->stacks.n + 1);
  writer->same = flam_arena_vector (export, FlamId, profile->stacks.n + 1);
  writer->stacks = flam_arena_vector (export, FlamId, writer->tree->n);
  memset (writer->stacks, 0xff, writer->tree->n * sizeof *writer->stacks);
  for (guint32 lane = 0; lane < writer->part->n_lanes; lane++)
    {
      g_auto (FlamPartRows) rows =
          flam_part_rows (writer->part, writer->part->measure, lane);
      FlamPartRow row;

      while (flam_part_rows_next (&rows, &row))
        writer->hits[MIN (row.stack, profile->stacks.n)]++;
    }
  for (FlamId s = 0; s < profile->stacks.n; s++)
    if (writer->hits[s] > 0)
      {
        guint node = node_of (writer, s);

        writer->same[s] = writer->stacks[node];
        writer->stacks[node] = s;
      }
}

static void
put_ticks (Writer *writer, FlamNodeId node)
{
  const FlamProfile *profile = writer->part->profile;
  const char *separator = ",\"positionTicks\":[";
  guint64 hits = node == 0 ? writer->hits[profile->stacks.n] : 0;

  for (FlamId s = writer->stacks[node]; s != FLAM_NONE; s = writer->same[s])
    hits += writer->hits[s];
  flam_sink_printf (writer->out, ",\"hitCount\":%" G_GUINT64_FORMAT, hits);
  for (FlamId s = writer->stacks[node]; s != FLAM_NONE; s = writer->same[s])
    {
      guint32 line = profile->frames.line[profile->stacks.frame[s]];

      if (line == 0)
        continue;
      flam_sink_printf (writer->out,
                        "%s{\"line\":%u,\"ticks\":%u}",
                        separator,
                        line,
                        writer->hits[s]);
      separator = ",";
    }
  if (*separator == ',' && separator[1] == '\0')
    flam_sink_put_c (writer->out, ']');
}

static void
put_call_frame (
    FlamSink *out, guint id, const char *name, const char *file, gint64 line)
{
  flam_sink_printf (out,
                    "%s{\"id\":%u,\"callFrame\":{\"functionName\":",
                    id > 1 ? ",\n" : "",
                    id);
  flam_export_json_string (out, name);
  flam_export_json_member (out, ",\"scriptId\":\"0\",\"url\":", file);
  flam_sink_printf (out,
                    ",\"lineNumber\":%" G_GINT64_FORMAT ",\"columnNumber\":-1}",
                    line - 1);
}

static void
put_node (Writer *writer, FlamNodeId node)
{
  const FlamTree *tree = writer->tree;
  const FlamFunctions *functions = &tree->profile->functions;
  FlamFunctionId function = flam_tree_function (tree, node);
  gboolean known = function != FLAM_NONE;
  const char *separator = "";

  put_call_frame (
      writer->out,
      node + 1,
      node == 0 ? "(root)" : flam_tree_name (tree, node),
      known ? flam_profile_string (tree->profile, functions->file[function])
            : "",
      known ? functions->line[function] : 0);
  put_ticks (writer, node);
  flam_sink_put (writer->out, ",\"children\":[");
  for (FlamNodeId child = flam_tree_first_child (tree, node);
       child != FLAM_NONE;
       child = flam_tree_next_sibling (tree, child))
    {
      flam_sink_printf (writer->out, "%s%u", separator, child + 1);
      separator = ",";
    }
  if (node == 0)
    flam_sink_printf (writer->out, "%s%u", separator, idle_id (writer));
  flam_sink_put (writer->out, "]}");
}

static void
put_nodes (Writer *writer)
{
  for (FlamId i = 0; i < writer->tree->n; i++)
    put_node (writer, i);
  put_call_frame (writer->out, idle_id (writer), "(idle)", "", 0);
  flam_sink_put (writer->out, ",\"hitCount\":0,\"children\":[]}");
}

/* --- samples ------------------------------------------------------------- */

/* Writes a sample that begins now: its node, or the µs since the start of the
 * one before. */
static void
put_one (Writer *writer, guint id)
{
  gint64 now = writer->busy / 1000 + writer->idle / 1000;

  flam_sink_put (writer->out, writer->separator);
  flam_sink_put_int (writer->out,
                     writer->deltas ? now - writer->before : (gint64)id);
  writer->separator = ",";
  writer->before = now;
}

static void
put_lane (Writer *writer, guint32 lane)
{
  gboolean at_times = flam_spans_begin_at_times (writer->part, lane);
  gint64 end = -1;
  g_auto (FlamPartRows) rows =
      flam_part_rows (writer->part, writer->part->measure, lane);
  FlamPartRow row;

  while (flam_part_rows_next (&rows, &row))
    {
      gint64 start =
          flam_spans_start (at_times, writer->part, &row, MAX (end, 0));

      if (end < 0) /* nothing is known of the time before the first sample */
        end = writer->busy > 0 ? start : 0;
      else if (start > end)
        put_one (writer, idle_id (writer));
      writer->idle += start - end;
      put_one (writer, node_of (writer, row.stack) + 1);
      writer->busy += row.weight;
      end = start + row.weight;
    }
}

static void
put_column (Writer *writer, const char *name, gboolean deltas)
{
  writer->separator = "";
  writer->deltas = deltas;
  writer->busy = writer->idle = writer->before = 0;
  flam_sink_printf (writer->out, "],\n\"%s\":[", name);
  for (guint32 lane = 0; lane < writer->part->n_lanes; lane++)
    put_lane (writer, lane);
  /* No sample begins at the end of the last one: an idle one marks that end. */
  put_one (writer, idle_id (writer));
}

static gboolean
save (FlamExport *export, GError **error)
{
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (FlamTree) tree = NULL;
  Writer writer = { .part = export->part, .out = export->out };

  all->measure = export->part->measure;
  writer.tree = tree = flam_export_tree (export->part->profile, all);
  count_hits (&writer, export);
  flam_sink_put (export->out, "{\"nodes\":[\n");
  put_nodes (&writer);
  put_column (&writer, "samples", FALSE);
  put_column (&writer, "timeDeltas", TRUE);
  flam_sink_printf (export->out,
                    "],\n\"startTime\":0,\"endTime\":%" G_GINT64_FORMAT "}\n",
                    writer.before);
  return TRUE;
}

const FlamExporter flam_export_cpuprofile = {
  .id = "cpuprofile",
  .label = N_ ("V8 CPU profile"),
  .suffix = "cpuprofile",
  .mime_type = "application/json",
  .text = TRUE,
  .holds = FLAM_HOLDS_ORDER | FLAM_HOLDS_TIMES | FLAM_HOLDS_FILES |
           FLAM_HOLDS_LINES | FLAM_HOLDS_FRACTIONS,
  .puts = FLAM_PUTS_SPANS,
  .save = save,
};
