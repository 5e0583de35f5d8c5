/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The tree that d3-flame-graph draws, alone or in the page of perf's flamegraph
 * script:
 *
 *    {"name":"root","value":30,"children":[{"name":"main","value":…
 *    {"n":"root","l":"","v":30,"c":[…
 *
 * A value includes the children's. "l" or "libtype" is "kernel", "jit" or
 * "inlined". Flambeau's own JSON adds "file" and "line". Source: d3-flame-graph
 * 4's README, perf's flamegraph.py. */

#include "flam-formats.h"

#include "flam-amount.h"
#include "flam-json.h"
#include "flam-outline.h"
#include "flam-text.h"

#include <string.h>

typedef struct
{
  guint32 row;
  FlamFunction function;
  guint32 line;
  guint depth; /* of the JSON: the places of its members */
} Node;

typedef struct
{
  FlamBuilder *builder;
  FlamOutline outline;
  FlamJson *json;
  GArray *open; /* Node */
  FlamId thread;
  gint64 denominator;
} Reader;

#define PLACES 1000

static gboolean
key_is (FlamJson *json, const char *name, char letter)
{
  const char brief[2] = { letter, '\0' };

  return flam_json_key_is (json, name) || flam_json_key_is (json, brief);
}

static void
read_member (Reader *reader, Node *node)
{
  FlamJson *json = reader->json;

  if (key_is (json, "name", 'n'))
    node->function.name = flam_json_intern (json, reader->builder);
  else if (key_is (json, "value", 'v'))
    flam_outline_row (&reader->outline, node->row)->weight =
        MAX (flam_json_get_scaled (json, PLACES), 0);
  else if (flam_json_key_is (json, "file"))
    node->function.file = flam_json_intern (json, reader->builder);
  else if (flam_json_key_is (json, "line"))
    node->line = CLAMP (flam_json_get_int (json), 0, G_MAXINT32);
  else if (key_is (json, "libtype", 'l'))
    {
      node->function.kind =
          flam_json_string_is (json, "kernel") ? FLAM_KIND_KERNEL
          : flam_json_string_is (json, "jit")  ? FLAM_KIND_JIT
                                               : FLAM_KIND_NATIVE;
      node->function.flags =
          flam_json_string_is (json, "inlined") ? FLAM_FUNCTION_INLINED : 0;
    }
}

static void
open_node (Reader *reader)
{
  guint n = reader->open->len;
  Node node = { .function.module = FLAM_NONE };
  guint32 caller =
      n > 0 ? g_array_index (reader->open, Node, n - 1).row : FLAM_NONE;

  node.row =
      flam_outline_add (&reader->outline, caller, reader->thread, FLAM_NONE, 0);
  node.depth = reader->json->depth;
  g_array_append_val (reader->open, node);
}

/* The first is the whole, and not a function. */
static void
close_node (Reader *reader)
{
  const Node *node = &g_array_index (reader->open, Node, reader->open->len - 1);

  if (node->row > 0)
    flam_outline_row (&reader->outline, node->row)->frame =
        flam_builder_frame_of (
            reader->builder, &node->function, 0, node->line, 0);
  g_array_set_size (reader->open, reader->open->len - 1);
}

/* Not recursive: children are objects in arrays. */
static void
read_nodes (Reader *reader)
{
  FlamJson *json = reader->json;

  if (json->token != FLAM_JSON_OBJECT)
    return;
  open_node (reader);
  while (reader->open->len > 0)
    {
      FlamJsonToken token = flam_json_next (json);
      Node *node = &g_array_index (reader->open, Node, reader->open->len - 1);

      flam_json_step (json);
      if (token == FLAM_JSON_ERROR || token == FLAM_JSON_END)
        break;
      if (token == FLAM_JSON_OBJECT_END)
        close_node (reader);
      else if (token == FLAM_JSON_OBJECT && json->key.length == 0)
        open_node (reader);
      else if (token == FLAM_JSON_ARRAY && key_is (json, "children", 'c'))
        continue;
      else if (token != FLAM_JSON_ARRAY_END)
        {
          read_member (reader, node);
          flam_json_skip (json);
        }
    }
  while (reader->open->len > 0)
    close_node (reader);
}

/* Fractions, if there are any, keep their decimals. */
static void
reduce (Reader *reader)
{
  GArray *rows = reader->outline.rows;

  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, FlamOutlineRow, i).weight % PLACES != 0)
      {
        reader->denominator = PLACES;
        return;
      }
  for (guint i = 0; i < rows->len; i++)
    g_array_index (rows, FlamOutlineRow, i).weight /= PLACES;
}

/* --- the place of the tree ----------------------------------------------- */

/* The tree's "{", which in a page follows the words of perf's template. */
static const guint8 *
find_tree (const FlamSource *source)
{
  static const char *const before[] = { "const stacks = ", "flamegraph_json" };
  const guint8 *end = source->data + source->size;

  if (flam_source_first_char (source) == '{')
    return source->data;
  for (guint i = 0; i < G_N_ELEMENTS (before); i++)
    {
      const guint8 *at =
          memmem (source->data, source->size, before[i], strlen (before[i]));
      if (at != NULL)
        at = memchr (at, '{', end - at);
      if (at != NULL)
        return at;
    }
  return NULL;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader *reader = flam_keep_new (load, Reader);
  const guint8 *at = find_tree (load->source);
  guint measure;

  if (at == NULL)
    return flam_source_invalid (
        load->source, error, N_ ("a flame graph's page without its data"));
  reader->builder = load->builder;
  reader->open = flam_keep_array (load, Node);
  reader->denominator = 1;
  reader->thread = flam_builder_lone_thread (load->builder);
  reader->json = flam_json_load (load, at);
  flam_keep_outline (load, &reader->outline, FALSE);
  measure = flam_load_measures (load->builder, FLAM_STANDARD_SAMPLES);
  read_nodes (reader);
  if (at == load->source->data) /* not a page */
    flam_json_next (reader->json);
  if (!flam_json_end (reader->json, load, reader->outline.rows->len > 1, error))
    return FALSE;
  reduce (reader);
  flam_builder_set_denominator (load->builder, measure, reader->denominator);
  flam_outline_finish (&reader->outline, load->builder);
  flam_builder_warn_count (load->builder,
                           reader->outline.excess,
                           "%" PRIu64 " function has less than what it calls",
                           "%" PRIu64
                           " functions have less than what they call");
  if (reader->outline.rows->len <= 1)
    flam_builder_warn (load->builder, N_ ("the flame graph is empty"));
  return TRUE;
}

/* --- probe --------------------------------------------------------------- */

static guint
probe (const FlamSource *source)
{
  FlamJson json;
  guint depth;
  guint name = 0, value = 0, children = 0;

  if (flam_source_first_char (source) == '<')
    return flam_source_head_has (source, 64 << 10, "d3-flame-graph") ||
                   flam_source_head_has (source, 64 << 10, "d3-flamegraph")
               ? 60
               : 0;
  if (flam_source_first_char (source) != '{')
    return 0;
  depth = flam_json_open (&json, source->data, MIN (source->size, (gsize)4096));
  while (flam_json_element (&json, depth) && json.token != FLAM_JSON_ERROR)
    {
      name |= key_is (&json, "name", 'n') && json.token == FLAM_JSON_STRING;
      value |= key_is (&json, "value", 'v') && json.token == FLAM_JSON_NUMBER;
      children |=
          key_is (&json, "children", 'c') && json.token == FLAM_JSON_ARRAY;
    }
  /* The children come first: their members are in the head. */
  if (children && !name)
    {
      FlamJsonToken token;
      flam_json_clear (&json);
      flam_json_init (&json, source->data, MIN (source->size, (gsize)4096));
      while ((token = flam_json_next (&json)) != FLAM_JSON_ERROR &&
             token != FLAM_JSON_END)
        {
          name |= key_is (&json, "name", 'n') && token == FLAM_JSON_STRING;
          value |= key_is (&json, "value", 'v') && token == FLAM_JSON_NUMBER;
        }
      name &= value;
    }
  flam_json_clear (&json);
  return name && children ? (value ? 60 : 30) : 0;
}

const FlamImporter flam_import_d3 = {
  .id = "d3",
  .label = "d3-flame-graph",
  .suffixes = FLAM_LIST (".json", ".html"),
  .mime_types = FLAM_LIST ("application/json", "text/html"),
  .probe = probe,
  .load = load,
};
