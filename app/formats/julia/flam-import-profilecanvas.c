/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-formats.h"
#include "flam-json.h"

#include <string.h>

/* Pages of Julia's ProfileCanvas, which contain the data.
 *
 *    new ProfileCanvas.ProfileViewer("#id", {…}, "Thread")      or "Allocation"
 *
 * The object has a tree for each choice of the page's selector: "all", "1",
 * "2", … for the threads, or "size" and "count" of allocations. A node:
 *
 *    {"func":"sort!","file":"sort.jl","path":"/…/sort.jl","line":12,
 *     "count":34,"countLabel":null,"flags":0,"taskId":null,"children":[…]}
 *
 * Pages of a difference have "count_change" besides: how much a count has grown
 * as a share of what it was before; 999 where that was nothing.
 *
 * A count includes the children's. In trees of allocations the leaves are
 * types. If the threads add up to "all", they are shown, else "all" is.
 *
 * The sizes in a size tree are too large: a type's leaf begins with its
 * parent's size at that moment in place of its first block's size, so the
 * leaves of a function may add up to several times what it allocated. The
 * counts of functions are right, and a leaf's excess is computed from them: see
 * fit_children(). Source of facts: ProfileCanvas.jl 0.1.6, jl-profile.js 0.5.
 */

typedef struct
{
  guint32 parent; /* FLAM_NONE: a tree's root */
  guint tree;
  FlamStringId name, file;
  guint32 line;
  guint8 status; /* the page's flags are FlamStatus bits */
  gint64 count;
  gint64 before; /* of a difference */
  gint64 in_children;
  gint64 before_in_children;
  double change;
  FlamStackId stack;
  guint32 last_child, previous; /* FLAM_NONE: none */
} Node;

typedef struct
{
  FlamStringId name;
  gint64 total;
} Tree;

typedef struct
{
  FlamBuilder *builder;
  FlamJson *json;
  GArray *nodes;    /* Node: parents first */
  GArray *trees;    /* Tree */
  GArray *open;     /* guint32: nodes being read */
  GArray *children; /* guint32: of one node, in order */
  gboolean allocations;
  gboolean is_difference;
  guint64 shrunk; /* nodes with more than the rest of their parents */
} Reader;

/* Changes, as shares. */
#define PLACES 1000000
/* The change of a new frame. */
#define IS_NEW 999

static const char call[] = "ProfileCanvas.ProfileViewer(\"#";

static Node *
get_node (Reader *reader, guint32 index)
{
  return &g_array_index (reader->nodes, Node, index);
}

static void
read_member (Reader *reader, guint32 index)
{
  FlamJson *json = reader->json;
  Node *node = get_node (reader, index);

  if (flam_json_key_is (json, "func"))
    node->name = flam_json_intern (json, reader->builder);
  else if (flam_json_key_is (json, "path") ||
           (flam_json_key_is (json, "file") && node->file == 0))
    {
      FlamId path = flam_json_intern (json, reader->builder);
      node->file = path != 0 ? path : node->file;
    }
  else if (flam_json_key_is (json, "line"))
    node->line = CLAMP (flam_json_get_int (json), 0, G_MAXINT32);
  else if (flam_json_key_is (json, "flags"))
    node->status = (guint8)(flam_json_get_int (json) & FLAM_STATUS_ALL);
  else if (flam_json_key_is (json, "count"))
    node->count =
        flam_json_get_limited (json, reader->builder, 1, 0, G_MAXINT64 / 4);
  else if (flam_json_key_is (json, "count_change") &&
           json->token == FLAM_JSON_NUMBER)
    {
      node->change = (double)flam_json_get_scaled (json, PLACES) / PLACES;
      reader->is_difference = TRUE;
    }
}

static guint32
add_node (Reader *reader, guint32 parent)
{
  guint32 index = reader->nodes->len;
  Node node = { .parent = parent,
                .tree = reader->trees->len - 1,
                .stack = FLAM_NONE,
                .last_child = FLAM_NONE,
                .previous = FLAM_NONE };

  if (parent != FLAM_NONE)
    {
      Node *above = get_node (reader, parent);
      node.previous = above->last_child;
      above->last_child = index;
    }
  g_array_append_val (reader->nodes, node);
  g_array_append_val (reader->open, index);
  return index;
}

/* Reads a tree without recursion: its root's "{" is the current token. */
static void
read_tree (Reader *reader)
{
  FlamJson *json = reader->json;
  guint32 index = add_node (reader, FLAM_NONE);

  while (reader->open->len > 0)
    {
      FlamJsonToken token = flam_json_next (json);

      if (token == FLAM_JSON_ERROR)
        break;
      index = g_array_index (reader->open, guint32, reader->open->len - 1);
      if (token == FLAM_JSON_OBJECT_END)
        g_array_set_size (reader->open, reader->open->len - 1);
      else if (token == FLAM_JSON_OBJECT && json->key.length == 0)
        add_node (reader, index);
      else if (json->key.length > 0 && !flam_json_key_is (json, "children"))
        {
          read_member (reader, index);
          flam_json_skip (json);
        }
    }
  g_array_set_size (reader->open, 0);
}

static void
read_trees (Reader *reader)
{
  FlamJson *json = reader->json;

  flam_json_each (json)
    if (json->token == FLAM_JSON_OBJECT)
      {
        Tree tree = { .name =
                          flam_builder_string (reader->builder,
                                               flam_json_get_key (json, NULL),
                                               -1) };
        guint root = reader->nodes->len;

        g_array_append_val (reader->trees, tree);
        read_tree (reader);
        g_array_index (reader->trees, Tree, reader->trees->len - 1).total =
            g_array_index (reader->nodes, Node, root).count;
      }
}

/* --- corrected sizes ----------------------------------------------------- */

static gboolean
is_type (const Node *node)
{
  return node->last_child == FLAM_NONE && node->file == 0 && node->line == 0;
}

/* Lists the node's children, in order, in reader->children. */
static void
list_children (Reader *reader, guint32 index)
{
  GArray *children = reader->children;
  guint32 child = get_node (reader, index)->last_child;

  g_array_set_size (children, 0);
  for (; child != FLAM_NONE; child = get_node (reader, child)->previous)
    g_array_append_val (children, child);
  for (guint i = 0; i < children->len / 2; i++)
    {
      guint32 *a = &g_array_index (children, guint32, i);
      guint32 *b = &g_array_index (children, guint32, children->len - 1 - i);
      guint32 swapped = *a;
      *a = *b;
      *b = swapped;
    }
}

static double
cut_node (Reader *reader, guint32 index, double most)
{
  Node *node = get_node (reader, index);
  gint64 cut = MIN ((double)node->count, most);

  node->count -= cut;
  reader->shrunk += cut > 0;
  return cut;
}

/* Children never have more than their parent. The leaf of a type has too much,
 * namely its parent's earlier size: at most the sum of the children before it.
 * That sum is known up to a factor, since some of them grew afterwards; the
 * excess over the parent gives the factor. An excess that remains (a damaged
 * file) is taken from the end. */
static void
fit_children (Reader *reader, guint32 index)
{
  double before = 0, sum = 0, all_before = 0, excess, left;

  list_children (reader, index);
  for (guint i = 0; i < reader->children->len; i++)
    {
      const Node *child =
          get_node (reader, g_array_index (reader->children, guint32, i));
      sum += child->count;
      all_before += is_type (child) ? before : 0;
      before =
          is_type (child) ? MAX (before, child->count) : before + child->count;
    }
  excess = left = sum - get_node (reader, index)->count;
  before = 0;
  for (guint i = 0; i < reader->children->len && left > 0; i++)
    {
      guint32 number = g_array_index (reader->children, guint32, i);
      gint64 count = get_node (reader, number)->count;

      if (!is_type (get_node (reader, number)))
        {
          before += count;
          continue;
        }
      if (all_before > 0)
        left -= cut_node (reader, number, excess * before / all_before);
      before = MAX (before, count);
    }
  for (guint i = reader->children->len; i > 0 && left > 0; i--)
    left -= cut_node (
        reader, g_array_index (reader->children, guint32, i - 1), left);
}

/* --- weights ------------------------------------------------------------- */

/* Parents come first: a loop suffices. A tree's root is not a frame. */
static void
make_stacks (Reader *reader)
{
  for (guint i = 0; i < reader->nodes->len; i++)
    {
      Node *node = get_node (reader, i);
      FlamFunction function = { .name = node->name,
                                .file = node->file,
                                .module = FLAM_NONE,
                                .kind = FLAM_KIND_JIT };
      Node *parent;

      fit_children (reader, i);
      if (node->parent == FLAM_NONE)
        continue;
      parent = get_node (reader, node->parent);
      if (parent->in_children < G_MAXINT64 / 2)
        parent->in_children += node->count;
      node->stack = flam_builder_stack (
          reader->builder,
          parent->stack,
          flam_builder_frame_of_status (
              reader->builder, &function, 0, node->line, 0, node->status));
    }
}

static const char *
tree_name (const Reader *reader, guint tree)
{
  return flam_builder_get_string (
      reader->builder, g_array_index (reader->trees, Tree, tree).name);
}

/* The tree to leave out: "all" if it is the sum of the threads, or else the
 * others (FLAM_NONE). */
static guint
whole_tree (const Reader *reader)
{
  guint all = FLAM_NONE;
  gint64 sum = 0;

  for (guint i = 0; i < reader->trees->len; i++)
    if (strcmp (tree_name (reader, i), "all") == 0)
      all = i;
    else
      sum += MIN (g_array_index (reader->trees, Tree, i).total,
                  G_MAXINT64 / 4 / reader->trees->len);
  return all != FLAM_NONE && reader->trees->len > 1 &&
                 g_array_index (reader->trees, Tree, all).total == sum
             ? all
             : FLAM_NONE;
}

static gboolean
is_shown (const Reader *reader, guint tree, guint whole)
{
  if (reader->allocations)
    return TRUE;
  if (whole != FLAM_NONE)
    return tree != whole;
  return reader->trees->len == 1 ||
         strcmp (tree_name (reader, tree), "all") == 0;
}

static FlamThreadId
tree_thread (Reader *reader, guint tree)
{
  FlamProcessId process = flam_builder_process (reader->builder, -1, 0);
  const char *name = tree_name (reader, tree);
  FlamThreadId thread;

  if (reader->allocations || strcmp (name, "all") == 0)
    return flam_builder_thread (reader->builder, process, -1, 0);
  thread = flam_builder_thread (reader->builder, process, -1, tree + 1);
  {
    g_autofree char *text = g_strdup_printf ("thread %s", name);
    flam_builder_set_thread_name (reader->builder, thread, text);
  }
  return thread;
}

static void
add_samples (Reader *reader)
{
  guint whole = whole_tree (reader);

  for (guint i = 0; i < reader->nodes->len; i++)
    {
      const Node *node = &g_array_index (reader->nodes, Node, i);
      gint64 weights[2] = { 0 };
      gint64 self = node->count - node->in_children;
      guint column = reader->allocations && !reader->is_difference &&
                     strcmp (tree_name (reader, node->tree), "count") == 0;
      FlamSample sample = { .stack = node->stack };

      if (!is_shown (reader, node->tree, whole))
        continue;
      if (reader->is_difference)
        weights[1] = node->before - node->before_in_children;
      weights[column] = MAX (self, 0);
      if (weights[0] <= 0 && weights[1] <= 0)
        continue;
      sample.thread = tree_thread (reader, node->tree);
      flam_builder_add_sample (reader->builder, &sample, weights);
    }
}

static gint64
count_before (const Node *node)
{
  if (node->change >= IS_NEW || node->change <= -1)
    return 0;
  return (gint64)MIN ((double)node->count / (1 + node->change) + 0.5,
                      (double)(G_MAXINT64 / 4));
}

/* Parents come first. Before the change, a node had at least the sum of its
 * children. */
static void
find_before (Reader *reader)
{
  for (guint i = reader->nodes->len; i-- > 0;)
    {
      Node *node = get_node (reader, i);
      Node *parent =
          node->parent != FLAM_NONE ? get_node (reader, node->parent) : NULL;

      node->before = MAX (count_before (node), node->before_in_children);
      if (parent != NULL && parent->before_in_children < G_MAXINT64 / 2)
        parent->before_in_children += node->before;
    }
}

static void
add_measures (Reader *reader)
{
  static const FlamMeasureRow before = { "base", N_ ("Before"), FLAM_OF_COUNT };

  if (reader->is_difference)
    {
      flam_load_measures (reader->builder, FLAM_STANDARD_SAMPLES);
      flam_load_measure (reader->builder,
                         &before,
                         (int)flam_builder_add_column (reader->builder),
                         FLAM_NONE);
      find_before (reader);
    }
  else if (reader->allocations)
    flam_load_measures (
        reader->builder, FLAM_STANDARD_ALLOCATED, FLAM_STANDARD_ALLOCATIONS);
  else
    flam_load_measures (reader->builder, FLAM_STANDARD_SAMPLES);
}

/* --- the importer -------------------------------------------------------- */

/* The start of the data: after the first argument, a string. */
static const guint8 *
find_data (const FlamSource *source)
{
  const guint8 *end = source->data + source->size;
  const guint8 *at = memmem (source->data, source->size, call, sizeof call - 1);

  if (at != NULL)
    at = memchr (at + sizeof call - 1, '"', end - at - (sizeof call - 1));
  return at != NULL ? memchr (at, '{', end - at) : NULL;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader reader = { .builder = load->builder,
                    .nodes = flam_arena_array (load, Node),
                    .trees = flam_arena_array (load, Tree),
                    .open = flam_arena_array (load, guint32),
                    .children = flam_arena_array (load, guint32) };
  const guint8 *at = find_data (load->source);
  gsize left;

  if (at == NULL)
    return flam_source_invalid (
        load->source, error, N_ ("this ProfileCanvas page has no data"));
  reader.json = flam_json_load (load, at);
  read_trees (&reader);
  at = reader.json->at;
  left = MIN (load->source->data + load->source->size - at, 32);
  reader.allocations = memmem (at, left, "\"Allocation\"", 12) != NULL;
  if (!flam_json_finish (reader.json, load->source, error))
    return FALSE;
  add_measures (&reader);
  make_stacks (&reader);
  add_samples (&reader);
  flam_builder_warn_count (
      load->builder,
      reader.shrunk,
      "%" PRIu64 " type or function has more than its caller: it is reduced to "
      "what the caller has left",
      "%" PRIu64 " types or functions have more than their callers: they are "
      "reduced to what the callers have left");
  return TRUE;
}

const FlamImporter flam_import_profilecanvas = {
  .id = "profilecanvas",
  .label = "Julia ProfileCanvas",
  .written_by = "ProfileCanvas.jl",
  .suffixes = FLAM_LIST (".html"),
  .mime_types = FLAM_LIST ("text/html"),
  .signs = FLAM_SIGNS (FLAM_HEAD (80, '<', 4096, "profiler-container-")),
  .load = load,
};
