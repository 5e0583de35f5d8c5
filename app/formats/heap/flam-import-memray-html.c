/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-memray-report.h"
#include "flam-python.h"

typedef struct
{
  FlamBuilder *builder;
  FlamMemrayReport report;
  GHashTable *threads; /* string -> thread + 1 */
  FlamStackId *stacks;
  FlamProcessId process;
} Reader;

/* --- nodes -> stacks ----------------------------------------------------- */

static gint64
get (const Reader *reader, guint column, guint row)
{
  return row < reader->report.columns[column]->len
             ? g_array_index (reader->report.columns[column], gint64, row)
             : 0;
}

static FlamStringId
get_string (const Reader *reader, gint64 string)
{
  return string >= 0 && string < reader->report.strings->len
             ? g_array_index (reader->report.strings, FlamId, string)
             : 0;
}

/* The report marks whole subtrees as imports, and the machinery as not
 * interesting; which frames are machinery follows Memray's rule
 * (frame_tools.py). */
static guint
function_flags (Reader *reader, guint node, const char *name, const char *file)
{
  static const char *const importing[] = {
    "import_name", "import_from", "import_all_from", NULL
  };
  guint flags = flam_python_flags (file);

  if (g_strv_contains (importing, name) && g_str_has_suffix (file, "ceval.c"))
    flags |= FLAM_FUNCTION_IMPORT | FLAM_FUNCTION_IRRELEVANT;
  if (node < reader->report.columns[FLAM_MEMRAY_INTERESTING]->len &&
      get (reader, FLAM_MEMRAY_INTERESTING, node) == 0)
    flags |= FLAM_FUNCTION_IRRELEVANT;
  return flags;
}

static FlamFrameId
make_frame (Reader *reader, guint node)
{
  FlamFunction function = {
    .name = get_string (reader, get (reader, FLAM_MEMRAY_FUNCTION, node)),
    .file = get_string (reader, get (reader, FLAM_MEMRAY_FILE_NAME, node)),
    .module = FLAM_NONE,
  };
  const char *name = flam_builder_get_string (reader->builder, function.name);
  const char *file = flam_builder_get_string (reader->builder, function.file);

  function.kind = g_str_has_suffix (file, ".py") || file[0] == '<'
                      ? FLAM_KIND_INTERPRETED
                      : FLAM_KIND_NATIVE;
  function.flags = function_flags (reader, node, name, file);
  if (strcmp (name, "???") == 0)
    function.name = 0;
  return flam_builder_frame_of (
      reader->builder,
      &function,
      0,
      CLAMP (get (reader, FLAM_MEMRAY_LINE, node), 0, G_MAXINT32),
      0);
}

static guint32
parent_of (const Reader *reader, guint32 node)
{
  return node < reader->report.parents->len
             ? g_array_index (reader->report.parents, guint32, node)
             : FLAM_NONE;
}

/* Upright: parents first, so their stacks exist. */
static void
make_stacks (Reader *reader, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      guint32 parent = parent_of (reader, i);

      reader->stacks[i] = FLAM_NONE;
      if (i > 0 && !reader->report.inverted)
        reader->stacks[i] = flam_builder_stack (
            reader->builder,
            parent != FLAM_NONE ? reader->stacks[parent] : FLAM_NONE,
            make_frame (reader, i));
    }
}

/* Inverted: the path from the node up to the one below the root leads from the
 * outermost caller to the function that allocates. */
static FlamStackId
node_stack (Reader *reader, guint32 node)
{
  FlamStackId stack = FLAM_NONE;

  if (!reader->report.inverted)
    return reader->stacks[node];
  for (; node != FLAM_NONE && node > 0; node = parent_of (reader, node))
    stack =
        flam_builder_stack (reader->builder, stack, make_frame (reader, node));
  return stack;
}

/* Merged threads become one without a name: the nodes' thread is then any of
 * the merged ones. */
static FlamThreadId
node_thread (Reader *reader, guint32 node)
{
  FlamStringId name =
      reader->report.merged
          ? 0
          : get_string (reader, get (reader, FLAM_MEMRAY_THREAD, node));
  FlamThreadId thread = GPOINTER_TO_UINT (g_hash_table_lookup (
                            reader->threads, GUINT_TO_POINTER (name))) -
                        1;

  if (thread != FLAM_NONE)
    return thread;
  thread = flam_builder_thread (reader->builder,
                                reader->process,
                                -1,
                                g_hash_table_size (reader->threads));
  flam_builder_set_thread_name (
      reader->builder, thread, flam_builder_get_string (reader->builder, name));
  g_hash_table_insert (
      reader->threads, GUINT_TO_POINTER (name), GUINT_TO_POINTER (thread + 1));
  return thread;
}

/* --- weights ------------------------------------------------------------- */

static void
add_measures (Reader *reader)
{
  if (reader->report.temporal)
    {
      flam_builder_add_allocation_measure (
          reader->builder,
          reader->report.leaks ? FLAM_FROM_LEAKED : FLAM_FROM_PEAK);
      flam_builder_add_allocation_measure (reader->builder,
                                           reader->report.leaks
                                               ? FLAM_FROM_LEAKED_BLOCKS
                                               : FLAM_FROM_PEAK_BLOCKS);
      return;
    }
  flam_load_measures (reader->builder,
                      reader->report.leaks ? FLAM_STANDARD_LEAKED
                                           : FLAM_STANDARD_PEAK,
                      reader->report.leaks ? FLAM_STANDARD_LEAKED_BLOCKS
                                           : FLAM_STANDARD_PEAK_BLOCKS);
}

/* The weight of a node beyond its children's. */
static void
add_nodes (Reader *reader, guint n)
{
  g_autofree gint64 *self = g_new0 (gint64, 2 * (gsize)n + 2);

  for (guint i = 0; i < n; i++)
    {
      guint32 parent = parent_of (reader, i);
      for (guint k = 0; k < 2; k++)
        {
          gint64 value =
              flam_builder_limit (reader->builder,
                                  get (reader, FLAM_MEMRAY_VALUE + k, i),
                                  0,
                                  G_MAXINT64 / 4,
                                  NULL);
          self[2 * i + k] += value;
          if (parent != FLAM_NONE && self[2 * parent + k] > G_MININT64 / 2)
            self[2 * parent + k] -= value;
        }
    }
  for (guint i = 0; i < n; i++)
    {
      FlamSample sample = { 0 };
      gint64 weights[2] = { MAX (self[2 * i], 0), MAX (self[2 * i + 1], 0) };

      if (weights[0] == 0 && weights[1] == 0)
        continue;
      sample.thread = node_thread (reader, i);
      sample.stack = node_stack (reader, i);
      flam_builder_add_sample (reader->builder, &sample, weights);
    }
}

/* The start in ns of the interval before the snapshot `index`. */
static gint64
snapshot_time (const Reader *reader, gint64 index)
{
  gint64 n = reader->report.records->len / 3;
  gint64 first = n > 0 ? g_array_index (reader->report.records, gint64, 0) : 0;
  gint64 ms;

  if (index <= 0 || n == 0)
    return 0;
  ms = g_array_index (reader->report.records, gint64, 3 * (MIN (index, n) - 1));
  return CLAMP (ms - first, 0, G_MAXINT64 / 2000000) * 1000000;
}

static gint64
highest_mark (const Reader *reader)
{
  gint64 best = -1;

  for (guint i = 0; i < reader->report.marks->len; i++)
    if (best < 0 || g_array_index (reader->report.marks, gint64, i) >
                        g_array_index (reader->report.marks, gint64, best))
      best = i;
  return best;
}

/* The file does not have the sizes of single blocks: some of them get one byte
 * more than others, so that their sum is right. Intervals without blocks
 * represent blocks that lived between two snapshots. */
static void
add_interval (Reader *reader, const FlamMemrayInterval *interval, gint64 mark)
{
  gint64 bytes = MAX (interval->bytes, 0);
  gint64 blocks = MAX (interval->blocks, bytes > 0 ? 1 : 0);
  gboolean live = mark >= 0 && interval->from <= mark &&
                  (interval->to < 0 || interval->to > mark);
  gint64 larger = blocks > 0 ? bytes % blocks : 0;
  FlamAllocation row = {
    .time = snapshot_time (reader, interval->from),
    .freed_at =
        interval->to < 0 ? FLAM_NEVER : snapshot_time (reader, interval->to),
    .thread = node_thread (reader, interval->node),
    .stack = node_stack (reader, interval->node),
    .distance = G_MAXUINT16,
  };

  for (guint part = 0; part < 2; part++)
    {
      row.count = part == 0 ? blocks - larger : larger;
      if (row.count == 0)
        continue;
      row.size = bytes / blocks + part;
      row.at_peak = mark < 0 ? -1 : live ? row.count : 0;
      flam_builder_add_allocation (reader->builder, &row);
    }
}

static void
add_intervals (Reader *reader, guint n)
{
  gint64 mark = highest_mark (reader);

  for (guint i = 0; i < reader->report.intervals->len; i++)
    {
      const FlamMemrayInterval *interval =
          &g_array_index (reader->report.intervals, FlamMemrayInterval, i);
      if (interval->node >= 0 && interval->node < n)
        add_interval (reader, interval, mark);
    }
}

static void
add_records (Reader *reader)
{
  guint rss =
      flam_builder_add_counter (reader->builder, "rss", FLAM_UNIT_BYTES);
  guint heap =
      flam_builder_add_counter (reader->builder, "heap", FLAM_UNIT_BYTES);

  flam_builder_set_has_times (reader->builder);
  flam_builder_set_origin (reader->builder, 0);
  for (guint i = 0; i + 2 < reader->report.records->len; i += 3)
    {
      const gint64 *row = &g_array_index (reader->report.records, gint64, i);
      gint64 time = snapshot_time (reader, i / 3 + 1);

      if (i == 0 && row[0] > 0 && row[0] < G_MAXINT64 / 1000000)
        flam_builder_facts (reader->builder)->start_unix_ns = row[0] * 1000000;
      flam_builder_add_counter_value (
          reader->builder, rss, time, MAX (row[1], 0));
      flam_builder_add_counter_value (
          reader->builder, heap, time, MAX (row[2], 0));
    }
}

/* --- the importer -------------------------------------------------------- */

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .builder = load->builder };
  guint n;

  reader.threads = flam_arena_table (load, FLAM_KEY_DIRECT, NULL);
  reader.process = flam_builder_process (load->builder, -1, 0);
  if (!flam_memray_report_read (&reader.report, load, error))
    return FALSE;
  n = reader.report.columns[FLAM_MEMRAY_FUNCTION]->len;
  g_array_set_size (reader.report.parents, MIN (reader.report.parents->len, n));
  add_measures (&reader);
  add_records (&reader);
  reader.stacks = flam_arena_vector (load, FlamId, n + 1);
  make_stacks (&reader, n);
  if (reader.report.temporal)
    add_intervals (&reader, n);
  else
    add_nodes (&reader, n);
  return TRUE;
}

const FlamImporter flam_import_memray_html = {
  .id = "memray-html",
  .label = N_ ("Memray report"),
  .written_by = "memray flamegraph, memray table",
  .suffixes = FLAM_LIST (".html"),
  .mime_types = FLAM_LIST ("text/html"),
  .signs = FLAM_SIGNS (FLAM_HEAD (90, '<', 4096, "<title>memray - ")),
  .load = load,
};
