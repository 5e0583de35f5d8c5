/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-json.h"

#include <string.h>

/* V8's own profiles, as node and Chrome's developer tools write them.
 *
 * .cpuprofile: a tree of functions, and the nodes that were on top, in order:
 *    {"nodes":[{"id":1,"callFrame":{…},"hitCount":0,"children":[2,3]},…],
 *     "startTime":µs,"endTime":µs,
 *     "samples":[2,5,9,…],             ids of nodes
 *     "timeDeltas":[3110,2287,…]}      µs: the first from startTime to the
 *                                      first sample, then from one to the next
 * A sample lasts until the next one; the last one until endTime. Old files
 * have "parent" in place of "children", or a nested "head"; without samples
 * the nodes' hitCounts are all there is.
 *
 * .heapprofile: the same tree nested, with the sizes of what lives:
 *    {"head":{"callFrame":{…},"selfSize":0,"id":1,"children":[{…},…]},
 *     "samples":[{"size":88,"nodeId":3,"ordinal":12},…]}
 *
 * callFrame: {"functionName":"fib","scriptId":"80","url":"file:///a.js",
 *             "lineNumber":51,"columnNumber":35}, lines from 0, -1 unknown.
 * (idle), (program) and (garbage collector) are no functions but what the
 * engine did; (root) is the tree's root and left out.
 * Source of facts: V8's inspector protocol, Profiler and HeapProfiler. */

typedef struct
{
  gint64 id;
  guint32 parent;  /* index, or FLAM_NONE */
  FlamId function; /* FLAM_NONE: the root */
  guint32 line;
  gint64 weight; /* hitCount or selfSize */
  gboolean idle;
  FlamId stack; /* FLAM_NONE: not made, or the root's */
  gboolean made;
} Node;

typedef struct
{
  guint32 node;
  gint64 child; /* id */
} Link;

typedef struct
{
  const FlamSource *source;
  FlamBuilder *builder;
  FlamJson json;
  GArray *nodes;   /* Node */
  GArray *links;   /* Link: children named before they came */
  GArray *open;    /* guint32: nested nodes being read */
  GArray *samples; /* gint64: ids */
  GArray *deltas;  /* gint64: µs */
  gint64 start, end;
  GHashTable *by_id; /* gint64* (in nodes) -> index + 1 */
  FlamId thread;
} Reader;

/* --- nodes --------------------------------------------------------------- */

static gboolean
is_engine (FlamJson *json)
{
  gsize length;
  const char *name = flam_json_get_string (json, &length);

  return length > 2 && name[0] == '(' && name[length - 1] == ')';
}

static void
read_call_frame (Reader *reader, Node *node)
{
  FlamJson *json = &reader->json;
  guint depth = flam_json_enter (json);
  FlamFunction function = { .module = FLAM_NONE,
                            .kind = FLAM_KIND_INTERPRETED };
  gboolean root = FALSE;
  gint64 line = -1;

  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "functionName"))
      {
        gsize length;
        const char *name = flam_json_get_string (json, &length);
        root = flam_json_string_is (json, "(root)");
        node->idle = flam_json_string_is (json, "(idle)");
        if (is_engine (json))
          function.kind = FLAM_KIND_ROOT;
        function.name = flam_builder_string (
            reader->builder, length > 0 ? name : "(anonymous)", -1);
      }
    else if (flam_json_key_is (json, "url"))
      {
        gsize length;
        const char *url = flam_json_get_string (json, &length);
        function.file = flam_builder_string (
            reader->builder,
            g_str_has_prefix (url, "file://") ? url + 7 : url,
            -1);
      }
    else if (flam_json_key_is (json, "lineNumber"))
      line = flam_json_get_int (json);
  if (function.name == 0)
    function.name = flam_builder_string (reader->builder, "(anonymous)", -1);
  if (line >= 0 && line < G_MAXINT32)
    function.line = node->line = line + 1;
  node->function =
      root ? FLAM_NONE : flam_builder_function (reader->builder, &function);
}

static guint32
add_node (Reader *reader, guint32 parent)
{
  Node node = {
    .id = -1, .parent = parent, .function = FLAM_NONE, .stack = FLAM_NONE
  };

  g_array_append_val (reader->nodes, node);
  return reader->nodes->len - 1;
}

static Node *
get_node (Reader *reader, guint32 index)
{
  return &g_array_index (reader->nodes, Node, index);
}

/* A member of a node that is no node itself. */
static void
read_node_member (Reader *reader, guint32 index)
{
  FlamJson *json = &reader->json;
  Node *node = get_node (reader, index);

  if (flam_json_key_is (json, "callFrame"))
    read_call_frame (reader, node);
  else if (flam_json_key_is (json, "id"))
    node->id = flam_json_get_int (json);
  else if (flam_json_key_is (json, "selfSize") ||
           flam_json_key_is (json, "hitCount"))
    node->weight = flam_json_get_int (json);
  else if (flam_json_key_is (json, "parent"))
    {
      Link link = { index, flam_json_get_int (json) };
      /* the same link, from the other end */
      link.node |= 0x80000000u;
      g_array_append_val (reader->links, link);
    }
}

/* A node with all that is nested in it, without recursion: a child's object
 * opens in its parent's "children". The node's "{" is the current token. */
static void
read_nested (Reader *reader)
{
  FlamJson *json = &reader->json;
  guint32 index = add_node (reader, FLAM_NONE);

  g_array_append_val (reader->open, index);
  while (reader->open->len > 0)
    {
      FlamJsonToken token = flam_json_next (json);
      index = g_array_index (reader->open, guint32, reader->open->len - 1);
      if (token == FLAM_JSON_ERROR)
        break;
      if (token == FLAM_JSON_OBJECT_END)
        g_array_set_size (reader->open, reader->open->len - 1);
      else if (token == FLAM_JSON_OBJECT && json->key.length == 0)
        {
          index = add_node (reader, index);
          g_array_append_val (reader->open, index);
        }
      else if (json->key.length > 0 && !flam_json_key_is (json, "children"))
        {
          read_node_member (reader, index);
          flam_json_skip (json);
        }
      else if (token == FLAM_JSON_NUMBER)
        {
          Link link = { index, flam_json_get_int (json) };
          g_array_append_val (reader->links, link);
        }
    }
  g_array_set_size (reader->open, 0);
}

static void
read_flat (Reader *reader)
{
  guint depth = flam_json_enter (&reader->json);

  while (flam_json_element (&reader->json, depth))
    if (reader->json.token == FLAM_JSON_OBJECT)
      read_nested (reader);
}

static void
read_numbers (Reader *reader, GArray *into)
{
  FlamJson *json = &reader->json;
  guint depth = flam_json_enter (json);

  while (flam_json_element (json, depth))
    if (json->token == FLAM_JSON_NUMBER)
      {
        gint64 number = flam_json_get_int (json);
        g_array_append_val (into, number);
      }
}

static void
read_profile (Reader *reader)
{
  FlamJson *json = &reader->json;
  guint depth;

  flam_json_next (json);
  depth = flam_json_enter (json);
  while (flam_json_member (json, depth))
    if (flam_json_key_is (json, "nodes"))
      read_flat (reader);
    else if (flam_json_key_is (json, "head"))
      {
        if (json->token == FLAM_JSON_OBJECT)
          read_nested (reader);
      }
    else if (flam_json_key_is (json, "samples"))
      read_numbers (reader, reader->samples);
    else if (flam_json_key_is (json, "timeDeltas"))
      read_numbers (reader, reader->deltas);
    else if (flam_json_key_is (json, "startTime"))
      reader->start = flam_json_get_int (json);
    else if (flam_json_key_is (json, "endTime"))
      reader->end = flam_json_get_int (json);
}

/* --- nodes -> stacks ----------------------------------------------------- */

static guint32
find_node (Reader *reader, gint64 id)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (reader->by_id, &id)) - 1;
}

static void
link_nodes (Reader *reader)
{
  for (guint i = 0; i < reader->nodes->len; i++)
    if (get_node (reader, i)->id >= 0)
      g_hash_table_insert (
          reader->by_id, &get_node (reader, i)->id, GUINT_TO_POINTER (i + 1));
  for (guint i = 0; i < reader->links->len; i++)
    {
      const Link *link = &g_array_index (reader->links, Link, i);
      guint32 here = link->node & 0x7fffffff;
      guint32 there = find_node (reader, link->child);

      if (there == FLAM_NONE || there == here)
        continue;
      if (link->node >> 31)
        get_node (reader, here)->parent = there;
      else
        get_node (reader, there)->parent = here;
    }
}

/* Callers first: up to the nearest one that is made, then back down. A loop of
 * parents, which no V8 writes, ends where it would begin again. */
static FlamId
node_stack (Reader *reader, guint32 index)
{
  for (guint32 at = index; at != FLAM_NONE && !get_node (reader, at)->made;
       at = get_node (reader, at)->parent)
    {
      get_node (reader, at)->made = TRUE;
      g_array_append_val (reader->open, at);
    }
  while (reader->open->len > 0)
    {
      Node *node = get_node (
          reader, g_array_index (reader->open, guint32, reader->open->len - 1));
      FlamId prefix = node->parent != FLAM_NONE
                          ? get_node (reader, node->parent)->stack
                          : FLAM_NONE;

      node->stack = prefix;
      if (node->function != FLAM_NONE)
        node->stack = flam_builder_stack (
            reader->builder,
            prefix,
            flam_builder_frame (
                reader->builder, node->function, 0, node->line, 0));
      g_array_set_size (reader->open, reader->open->len - 1);
    }
  return get_node (reader, index)->stack;
}

/* --- what weighs --------------------------------------------------------- */

static void
add_node_weights (Reader *reader)
{
  for (guint i = 0; i < reader->nodes->len; i++)
    {
      gint64 weight = get_node (reader, i)->weight;
      FlamSample sample = { .thread = reader->thread };

      if (weight <= 0)
        continue;
      sample.stack = node_stack (reader, i);
      flam_builder_add_sample (reader->builder, &sample, &weight);
    }
}

/* V8's clock may step back a little; such a sample lasts no time. */
static void
add_samples (Reader *reader)
{
  guint n = reader->samples->len;
  gint64 now = reader->start;
  guint64 unknown = 0;

  for (guint i = 0; i < n; i++)
    {
      guint32 index =
          find_node (reader, g_array_index (reader->samples, gint64, i));
      gint64 here, next, weight;
      FlamSample sample = { .thread = reader->thread };

      if (i < reader->deltas->len &&
          __builtin_add_overflow (
              now, g_array_index (reader->deltas, gint64, i), &now))
        now = G_MAXINT64 / 1000;
      here = CLAMP (now, 0, G_MAXINT64 / 1000);
      if (i + 1 < reader->deltas->len)
        next = g_array_index (reader->deltas, gint64, i + 1);
      else
        next = reader->end - here;
      weight = CLAMP (next, 0, G_MAXINT64 / 1000 / MAX (n, 1)) * 1000;
      if (index == FLAM_NONE)
        {
          unknown++;
          continue;
        }
      sample.time = here * 1000;
      sample.stack = node_stack (reader, index);
      if (get_node (reader, index)->idle)
        sample.state = FLAM_STATE_SLEEP;
      flam_builder_add_sample (reader->builder, &sample, &weight);
    }
  if (unknown > 0)
    flam_builder_warn (reader->builder,
                       "%" G_GUINT64_FORMAT " samples name nodes that are not "
                       "in the file and were left out",
                       unknown);
}

static void
add_cpu (Reader *reader)
{
  gboolean timed = reader->samples->len > 0 && reader->deltas->len > 0;

  flam_builder_add_column (reader->builder);
  if (timed)
    {
      flam_builder_add_measure (reader->builder,
                                "wall-time",
                                "Wall time",
                                FLAM_UNIT_NS,
                                FLAM_MEASURE_CPU,
                                0,
                                FLAM_NONE);
      flam_builder_add_measure (reader->builder,
                                "samples",
                                "Samples",
                                FLAM_UNIT_COUNT,
                                FLAM_MEASURE_CPU,
                                -1,
                                FLAM_NONE);
      flam_builder_set_has_times (reader->builder);
      if (reader->start >= 0 && reader->start < G_MAXINT64 / 1000)
        flam_builder_set_origin (reader->builder, reader->start * 1000);
      add_samples (reader);
      return;
    }
  flam_builder_add_measure (reader->builder,
                            "samples",
                            "Samples",
                            FLAM_UNIT_COUNT,
                            FLAM_MEASURE_CPU,
                            0,
                            FLAM_NONE);
  add_node_weights (reader);
}

static void
add_heap (Reader *reader)
{
  flam_builder_add_column (reader->builder);
  flam_builder_add_measure (reader->builder,
                            "live",
                            "Live memory",
                            FLAM_UNIT_BYTES,
                            FLAM_MEASURE_ALLOC,
                            0,
                            FLAM_NONE);
  add_node_weights (reader);
}

/* --- the importers ------------------------------------------------------- */

static gboolean
load (const FlamSource *source,
      FlamBuilder *builder,
      void (*add) (Reader *reader),
      GError **error)
{
  Reader reader = { .source = source, .builder = builder };
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (Node));
  g_autoptr (GArray) links = g_array_new (FALSE, FALSE, sizeof (Link));
  g_autoptr (GArray) open = g_array_new (FALSE, FALSE, sizeof (guint32));
  g_autoptr (GArray) samples = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GArray) deltas = g_array_new (FALSE, FALSE, sizeof (gint64));
  g_autoptr (GHashTable) by_id = g_hash_table_new (g_int64_hash, g_int64_equal);
  gboolean good;

  reader.nodes = nodes;
  reader.links = links;
  reader.open = open;
  reader.samples = samples;
  reader.deltas = deltas;
  reader.by_id = by_id;
  reader.thread = flam_builder_thread (
      builder, flam_builder_process (builder, -1, 0), -1, 0);
  flam_json_init (&reader.json, source->data, source->size);
  read_profile (&reader);
  if (reader.json.truncated && nodes->len > 1)
    {
      flam_builder_set_partial (builder, 1);
      flam_builder_warn (
          builder, "the file ends early: %s", reader.json.problem);
      good = TRUE;
    }
  else
    good = flam_json_finish (&reader.json, source, error);
  if (good)
    {
      link_nodes (&reader);
      add (&reader);
    }
  flam_json_clear (&reader.json);
  return good;
}

static gboolean
load_cpu (const FlamSource *source,
          FlamBuilder *builder,
          const FlamLoadOptions *options,
          GError **error)
{
  return load (source, builder, add_cpu, error);
}

static gboolean
load_heap (const FlamSource *source,
           FlamBuilder *builder,
           const FlamLoadOptions *options,
           GError **error)
{
  return load (source, builder, add_heap, error);
}

static gboolean
head_has (const FlamSource *source, const char *text)
{
  return memmem (source->data, MIN (source->size, 4096), text, strlen (text)) !=
         NULL;
}

static guint
probe_cpu (const FlamSource *source)
{
  if (source->size == 0 || source->data[0] != '{' ||
      !head_has (source, "\"callFrame\"") || head_has (source, "\"selfSize\""))
    return 0;
  return head_has (source, "\"nodes\"") || head_has (source, "\"hitCount\"")
             ? 90
             : 0;
}

static guint
probe_heap (const FlamSource *source)
{
  return source->size > 0 && source->data[0] == '{' &&
                 head_has (source, "\"callFrame\"") &&
                 head_has (source, "\"selfSize\"")
             ? 90
             : 0;
}

static const char *const cpu_suffixes[] = { ".cpuprofile", NULL };
static const char *const heap_suffixes[] = { ".heapprofile", NULL };
static const char *const mime_types[] = { "application/json", NULL };

const FlamImporter flam_import_cpuprofile = {
  .id = "cpuprofile",
  .label = "V8 CPU profile",
  .suffixes = cpu_suffixes,
  .mime_types = mime_types,
  .probe = probe_cpu,
  .load = load_cpu,
};

const FlamImporter flam_import_heapprofile = {
  .id = "heapprofile",
  .label = "V8 heap profile",
  .suffixes = heap_suffixes,
  .mime_types = mime_types,
  .probe = probe_heap,
  .load = load_heap,
};
