/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-json.h"
#include "flam-python.h"

#include <string.h>

/* Memray's flame graph reports, which carry their data:
 *
 *    const packed_data = {"strings":[…],
 *      "nodes":{"name":[…],"function":[…],"filename":[…],"lineno":[…],
 *               "children":[[1,2],…],"value":[…],"n_allocations":[…],
 *               "thread_id":[…],"interesting":[…],"import_system":[…]},
 *      "unique_threads":[…],
 *      "intervals":[[from,to|null,node,blocks,bytes],…],   temporal ones
 *      "high_water_mark_by_snapshot":[…]|null};
 *    const memory_records = [[ms,rss,heap],…];
 *    const inverted = false;
 *
 * A node is a row of the columns; texts are numbers into "strings", and
 * escaped for HTML. Node 0 is the root. A node's value holds its children's.
 * In a temporal report the nodes have no values; an interval is allocated
 * before the snapshot `from` was taken and released before `to`. An inverted
 * report has the allocating function next to the root.
 * Source of facts: Memray 1.20, reporters/flamegraph.py and its templates. */

enum
{
  FUNCTION,
  FILE_NAME,
  LINE,
  VALUE,
  BLOCKS,
  THREAD,
  INTERESTING,
  IMPORT,
  N_COLUMNS
};

static const char *const column_names[N_COLUMNS] = {
  "function",      "filename",  "lineno",      "value",
  "n_allocations", "thread_id", "interesting", "import_system",
};

typedef struct
{
  gint64 from, to; /* snapshots; -1 never */
  gint64 node, blocks, bytes;
} Interval;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  FlamJson json;
  GArray *columns[N_COLUMNS]; /* gint64 */
  GArray *parents;            /* guint32 */
  GArray *strings;            /* FlamId */
  GArray *intervals;          /* Interval */
  GArray *marks;              /* gint64: bytes at the peak by snapshot */
  GArray *records;            /* gint64 ms, rss, heap */
  gboolean temporal, inverted, leaks;
  GHashTable *threads; /* string -> thread + 1 */
  FlamId *stacks;
  FlamId process;
} Reader;

static guint
probe (const FlamSource *source)
{
  return memmem (
             source->data, MIN (source->size, 4096), "<title>memray - ", 16) !=
                 NULL
             ? 90
             : 0;
}

/* --- reading ------------------------------------------------------------- */

static void
read_numbers (Reader *reader, GArray *into)
{
  guint depth = flam_json_enter (&reader->json);

  while (flam_json_element (&reader->json, depth))
    {
      gint64 number = flam_json_get_int (&reader->json);
      g_array_append_val (into, number);
    }
}

/* &lt; &gt; &amp; &quot; &#x27; in place. */
static void
unescape_html (char *text)
{
  static const struct
  {
    const char *entity;
    char plain;
  } entities[] = {
    { "&lt;", '<' },   { "&gt;", '>' },    { "&amp;", '&' },
    { "&quot;", '"' }, { "&#x27;", '\'' }, { "&#39;", '\'' },
  };
  char *out = text;

  while (*text != '\0')
    {
      gsize length = 1;
      char c = *text;

      for (guint i = 0; c == '&' && i < G_N_ELEMENTS (entities); i++)
        if (g_str_has_prefix (text, entities[i].entity))
          {
            length = strlen (entities[i].entity);
            c = entities[i].plain;
          }
      *out++ = c;
      text += length;
    }
  *out = '\0';
}

static void
read_strings (Reader *reader)
{
  guint depth = flam_json_enter (&reader->json);

  while (flam_json_element (&reader->json, depth))
    {
      g_autofree char *text =
          g_strdup (flam_json_get_string (&reader->json, NULL));
      FlamId id;
      unescape_html (text);
      id = flam_builder_string (reader->builder, text, -1);
      g_array_append_val (reader->strings, id);
    }
}

/* A child comes after its parent; what does not is not linked. */
static void
read_children (Reader *reader)
{
  FlamJson *json = &reader->json;
  guint depth = flam_json_enter (json);
  guint32 parent = 0;

  for (; flam_json_element (json, depth); parent++)
    {
      guint inner = flam_json_enter (json);
      while (flam_json_element (json, inner))
        {
          gint64 child = flam_json_get_int (json);
          guint old = reader->parents->len;

          /* every node is somebody's child: no more than there are numbers */
          if (child <= parent ||
              (gsize)child > (gsize)(json->end - json->start))
            continue;
          if (child >= old)
            {
              g_array_set_size (reader->parents, child + 1);
              for (guint i = old; i <= child; i++)
                g_array_index (reader->parents, guint32, i) = FLAM_NONE;
            }
          g_array_index (reader->parents, guint32, child) = parent;
        }
    }
}

static void
read_nodes (Reader *reader)
{
  FlamJson *json = &reader->json;
  guint depth = flam_json_enter (json);

  while (flam_json_member (json, depth))
    {
      if (flam_json_key_is (json, "children"))
        read_children (reader);
      for (guint i = 0; i < N_COLUMNS; i++)
        if (flam_json_key_is (json, column_names[i]))
          {
            read_numbers (reader, reader->columns[i]);
            break;
          }
    }
}

static void
read_intervals (Reader *reader)
{
  FlamJson *json = &reader->json;
  guint depth = flam_json_enter (json);

  reader->temporal = TRUE;
  while (flam_json_element (json, depth))
    {
      gint64 values[5] = { 0 };
      guint inner = flam_json_enter (json), n = 0;
      Interval interval;

      while (flam_json_element (json, inner))
        if (n < 5)
          values[n++] =
              json->token == FLAM_JSON_NULL ? -1 : flam_json_get_int (json);
      interval =
          (Interval){ values[0], values[1], values[2], values[3], values[4] };
      if (n == 5 && interval.from >= 0)
        g_array_append_val (reader->intervals, interval);
    }
}

static void
read_packed (Reader *reader)
{
  FlamJson *json = &reader->json;
  guint depth;

  flam_json_next (json);
  depth = flam_json_enter (json);
  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "strings"))
      read_strings (reader);
    else if (flam_json_key_is (json, "nodes"))
      read_nodes (reader);
    else if (flam_json_key_is (json, "intervals"))
      {
        if (json->token == FLAM_JSON_ARRAY)
          read_intervals (reader);
      }
    else if (flam_json_key_is (json, "high_water_mark_by_snapshot"))
      read_numbers (reader, reader->marks);
}

static void
read_records (Reader *reader)
{
  FlamJson *json = &reader->json;
  guint depth;

  flam_json_next (json);
  depth = flam_json_enter (json);
  while (flam_json_element (json, depth))
    {
      guint inner = flam_json_enter (json), n = 0;
      gint64 values[3] = { 0 };

      while (flam_json_element (json, inner))
        if (n < 3)
          values[n++] = flam_json_get_int (json);
      g_array_append_vals (reader->records, values, 3);
    }
}

/* --- nodes -> stacks ----------------------------------------------------- */

static gint64
get (const Reader *reader, guint column, guint row)
{
  return row < reader->columns[column]->len
             ? g_array_index (reader->columns[column], gint64, row)
             : 0;
}

static FlamId
get_string (const Reader *reader, gint64 string)
{
  return string >= 0 && string < reader->strings->len
             ? g_array_index (reader->strings, FlamId, string)
             : 0;
}

static FlamId
make_frame (Reader *reader, guint node)
{
  FlamFunction function = {
    .name = get_string (reader, get (reader, FUNCTION, node)),
    .file = get_string (reader, get (reader, FILE_NAME, node)),
    .module = FLAM_NONE,
  };
  const char *file = flam_builder_get_string (reader->builder, function.file);

  function.kind = g_str_has_suffix (file, ".py") || file[0] == '<'
                      ? FLAM_KIND_INTERPRETED
                      : FLAM_KIND_NATIVE;
  if (get (reader, IMPORT, node) != 0)
    function.flags = FLAM_FUNCTION_IMPORT;
  else if (get (reader, INTERESTING, node) == 0)
    function.flags = FLAM_FUNCTION_IRRELEVANT;
  return flam_builder_frame (reader->builder,
                             flam_builder_function (reader->builder, &function),
                             0,
                             CLAMP (get (reader, LINE, node), 0, G_MAXINT32),
                             0);
}

static guint32
parent_of (const Reader *reader, guint32 node)
{
  return node < reader->parents->len
             ? g_array_index (reader->parents, guint32, node)
             : FLAM_NONE;
}

/* Upright: parents first, so their stacks are there. */
static void
make_stacks (Reader *reader, guint n)
{
  reader->stacks = g_new (FlamId, n + 1);
  for (guint i = 0; i < n; i++)
    {
      guint32 parent = parent_of (reader, i);

      reader->stacks[i] = FLAM_NONE;
      if (i > 0 && !reader->inverted)
        reader->stacks[i] = flam_builder_stack (
            reader->builder,
            parent != FLAM_NONE ? reader->stacks[parent] : FLAM_NONE,
            make_frame (reader, i));
    }
}

/* Inverted: from the node up to the one below the root is from the outermost
 * caller to the function that allocates. */
static FlamId
node_stack (Reader *reader, guint32 node)
{
  FlamId stack = FLAM_NONE;

  if (!reader->inverted)
    return reader->stacks[node];
  for (; node != FLAM_NONE && node > 0; node = parent_of (reader, node))
    stack =
        flam_builder_stack (reader->builder, stack, make_frame (reader, node));
  return stack;
}

static FlamId
node_thread (Reader *reader, guint32 node)
{
  FlamId name = get_string (reader, get (reader, THREAD, node));
  FlamId thread = GPOINTER_TO_UINT (g_hash_table_lookup (
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

/* --- what weighs --------------------------------------------------------- */

static void
add_measures (Reader *reader)
{
  if (reader->temporal)
    {
      flam_builder_add_allocation_measure (
          reader->builder, reader->leaks ? FLAM_FROM_LEAKED : FLAM_FROM_PEAK);
      flam_builder_add_allocation_measure (
          reader->builder,
          reader->leaks ? FLAM_FROM_LEAKED_BLOCKS : FLAM_FROM_PEAK_BLOCKS);
      return;
    }
  flam_builder_add_column (reader->builder);
  flam_builder_add_column (reader->builder);
  flam_builder_add_measure (reader->builder,
                            reader->leaks ? "leaked" : "peak",
                            reader->leaks ? "Leaked memory" : "Peak memory",
                            FLAM_UNIT_BYTES,
                            FLAM_MEASURE_ALLOC,
                            0,
                            FLAM_NONE);
  flam_builder_add_measure (reader->builder,
                            reader->leaks ? "leaked-blocks" : "peak-blocks",
                            reader->leaks ? "Leaked blocks"
                                          : "Blocks at the peak",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_ALLOC,
                            1,
                            FLAM_NONE);
}

/* What a node has beyond its children. */
static void
add_nodes (Reader *reader, guint n)
{
  g_autofree gint64 *self = g_new0 (gint64, 2 * (gsize)n + 2);

  for (guint i = 0; i < n; i++)
    {
      guint32 parent = parent_of (reader, i);
      for (guint k = 0; k < 2; k++)
        {
          gint64 value = CLAMP (get (reader, VALUE + k, i), 0, G_MAXINT64 / 4);
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

/* The ns at which what is before the snapshot `index` begins. */
static gint64
snapshot_time (const Reader *reader, gint64 index)
{
  gint64 n = reader->records->len / 3;
  gint64 first = n > 0 ? g_array_index (reader->records, gint64, 0) : 0;
  gint64 ms;

  if (index <= 0 || n == 0)
    return 0;
  ms = g_array_index (reader->records, gint64, 3 * (MIN (index, n) - 1));
  return CLAMP (ms - first, 0, G_MAXINT64 / 2000000) * 1000000;
}

static gint64
highest_mark (const Reader *reader)
{
  gint64 best = -1;

  for (guint i = 0; i < reader->marks->len; i++)
    if (best < 0 || g_array_index (reader->marks, gint64, i) >
                        g_array_index (reader->marks, gint64, best))
      best = i;
  return best;
}

/* The sizes of single blocks are not told: some of them get a byte more than
 * the others, so that all are together what they should be. */
static void
add_interval (Reader *reader, const Interval *interval, gint64 mark)
{
  gint64 blocks = CLAMP (interval->blocks, 1, G_MAXINT64);
  gint64 bytes = MAX (interval->bytes, 0);
  gboolean live = mark >= 0 && interval->from <= mark &&
                  (interval->to < 0 || interval->to > mark);
  gint64 larger = bytes % blocks;
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
      row.size = bytes / blocks + part;
      row.at_peak = mark < 0 ? -1 : live ? row.count : 0;
      if (row.count > 0)
        flam_builder_add_allocation (reader->builder, &row);
    }
}

static void
add_intervals (Reader *reader, guint n)
{
  gint64 mark = highest_mark (reader);

  for (guint i = 0; i < reader->intervals->len; i++)
    {
      const Interval *interval =
          &g_array_index (reader->intervals, Interval, i);
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
  for (guint i = 0; i + 2 < reader->records->len; i += 3)
    {
      const gint64 *row = &g_array_index (reader->records, gint64, i);
      gint64 time = snapshot_time (reader, i / 3 + 1);

      if (i == 0 && row[0] > 0 && row[0] < G_MAXINT64 / 1000000)
        flam_builder_set_start (reader->builder, row[0] * 1000000);
      flam_builder_add_counter_value (
          reader->builder, rss, time, MAX (row[1], 0));
      flam_builder_add_counter_value (
          reader->builder, heap, time, MAX (row[2], 0));
    }
}

/* --- the importer -------------------------------------------------------- */

static gboolean
find_text (const FlamSource *source, const char *text, const guint8 **after)
{
  const guint8 *found =
      memmem (source->data, source->size, text, strlen (text));

  *after = found != NULL ? found + strlen (text) : NULL;
  return found != NULL;
}

static void
open_json (Reader *reader, const guint8 *at)
{
  flam_json_init (
      &reader->json, at, reader->source->data + reader->source->size - at);
}

static gboolean
read_report (Reader *reader, GError **error)
{
  const guint8 *at;
  gboolean good;

  if (!find_text (reader->source, "packed_data = ", &at))
    {
      flam_source_error (
          reader->source,
          error,
          FLAM_ERROR_UNSUPPORTED,
          FLAM_NO_OFFSET,
          "no flame graph: of Memray's reports those by \"memray "
          "flamegraph\" can be opened");
      return FALSE;
    }
  reader->leaks = memmem (reader->source->data,
                          MIN (reader->source->size, 8192),
                          "(memory leaks)",
                          14) != NULL;
  open_json (reader, at);
  read_packed (reader);
  good = flam_json_finish (&reader->json, reader->source, error);
  flam_json_clear (&reader->json);
  if (!good)
    return FALSE;
  if (find_text (reader->source, "const inverted = ", &at))
    reader->inverted = *at == 't';
  if (find_text (reader->source, "memory_records = ", &at))
    {
      open_json (reader, at);
      read_records (reader);
      good = flam_json_finish (&reader->json, reader->source, error);
      flam_json_clear (&reader->json);
    }
  return good;
}

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      const FlamLoadOptions *options,
      GError **error)
{
  Reader reader = { .source = source, .builder = builder };
  gboolean good;

  for (guint i = 0; i < N_COLUMNS; i++)
    reader.columns[i] = g_array_new (FALSE, FALSE, sizeof (gint64));
  reader.parents = g_array_new (FALSE, FALSE, sizeof (guint32));
  reader.strings = g_array_new (FALSE, FALSE, sizeof (FlamId));
  reader.intervals = g_array_new (FALSE, FALSE, sizeof (Interval));
  reader.marks = g_array_new (FALSE, FALSE, sizeof (gint64));
  reader.records = g_array_new (FALSE, FALSE, sizeof (gint64));
  reader.threads = g_hash_table_new (NULL, NULL);
  reader.process = flam_builder_process (builder, -1, 0);

  good = read_report (&reader, error);
  if (good)
    {
      guint n = reader.columns[FUNCTION]->len;
      g_array_set_size (reader.parents, MIN (reader.parents->len, n));
      add_measures (&reader);
      add_records (&reader);
      make_stacks (&reader, n);
      if (reader.temporal)
        add_intervals (&reader, n);
      else
        add_nodes (&reader, n);
    }

  for (guint i = 0; i < N_COLUMNS; i++)
    g_array_unref (reader.columns[i]);
  g_array_unref (reader.parents);
  g_array_unref (reader.strings);
  g_array_unref (reader.intervals);
  g_array_unref (reader.marks);
  g_array_unref (reader.records);
  g_hash_table_unref (reader.threads);
  g_free (reader.stacks);
  return good;
}

static const char *const suffixes[] = { ".html", NULL };
static const char *const mime_types[] = { "text/html", NULL };

const FlamImporter flam_import_memray_html = {
  .id = "memray-html",
  .label = "Memray report",
  .suffixes = suffixes,
  .mime_types = mime_types,
  .probe = probe,
  .load = load,
};
