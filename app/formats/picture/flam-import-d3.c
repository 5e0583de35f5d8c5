/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The tree that d3-flame-graph draws, alone or in the page of perf's flamegraph
 * script:
 *
 *    {"name":"root","value":30,"children":[{"name":"main","value":…
 *    {"n":"root","l":"","v":30,"c":[…
 *
 * A value includes the children's. "l" or "libtype" is "kernel", "jit" or
 * "inlined"; "d" or "delta" is how much a differential graph's value has grown,
 * the children's included. Flambeau's own JSON adds "file" and "line". Source:
 * d3-flame-graph 4's README, perf's flamegraph.py. */

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
  FlamThreadId thread;
  gint64 denominator;
  GArray *deltas; /* gint64: of each row */
  gboolean is_difference;
  gboolean ruby; /* stackprof's page: "A#work : app.rb : 18" */
} Reader;

#define PLACES 1000
#define NO_DELTA G_MININT64

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
        flam_json_get_limited (json, reader->builder, PLACES, 0, G_MAXINT64);
  else if (key_is (json, "delta", 'd') && json->token == FLAM_JSON_NUMBER)
    {
      g_array_index (reader->deltas, gint64, node->row) =
          flam_json_get_limited (
              json, reader->builder, PLACES, -(G_MAXINT64 / 4), G_MAXINT64 / 4);
      reader->is_difference = TRUE;
    }
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
  const gint64 no_delta = NO_DELTA;
  guint n = reader->open->len;
  Node node = { .function.module = FLAM_NONE };
  guint32 caller =
      n > 0 ? g_array_index (reader->open, Node, n - 1).row : FLAM_NONE;

  node.row =
      flam_outline_add (&reader->outline, caller, reader->thread, FLAM_NONE, 0);
  g_array_append_val (reader->deltas, no_delta);
  node.depth = reader->json->depth;
  g_array_append_val (reader->open, node);
}

static const char *
last_colon (const char *start, const char *end)
{
  for (const char *p = end - 3; p > start; p--)
    if (memcmp (p, " : ", 3) == 0)
      return p;
  return NULL;
}

/* Takes file and first line off a name; C's functions have "<cfunc>". */
static void
split_place (Reader *reader, FlamFunction *function)
{
  g_autofree char *text =
      g_strdup (flam_builder_get_string (reader->builder, function->name));
  const char *end = text + strlen (text);
  const char *line = last_colon (text, end);
  const char *file = line != NULL ? last_colon (text, line) : NULL;
  const char *p = line != NULL ? line + 3 : NULL;
  gint64 number = 0;

  if (file == NULL)
    return;
  if (flam_text_number (&p, end, &number))
    function->line = CLAMP (number, 0, G_MAXINT32);
  function->name = flam_builder_string (reader->builder, text, file - text);
  file += 3;
  if (line > file && !g_str_has_prefix (file, "<cfunc>"))
    function->file = flam_builder_string (reader->builder, file, line - file);
}

/* The first is the whole, and not a function. */
static void
close_node (Reader *reader)
{
  Node *node = &g_array_index (reader->open, Node, reader->open->len - 1);

  if (reader->ruby && node->row > 0)
    split_place (reader, &node->function);
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

/* Whether the values are self values, as d3-flame-graph reads them with
 * selfValue(true). Totals are never less than the sum of their callees, and all
 * values of a document are of the same kind. A node of 0 with callees decides
 * it. */
static gboolean
has_own_values (const Reader *reader)
{
  const GArray *rows = reader->outline.rows;

  for (guint i = 0; i < rows->len; i++)
    {
      const FlamOutlineRow *row = &g_array_index (rows, FlamOutlineRow, i);

      if (row->weight > 0 && row->caller != FLAM_NONE &&
          g_array_index (rows, FlamOutlineRow, row->caller).weight == 0)
        return TRUE;
    }
  return FALSE;
}

/* Turns the deltas into the rows' previous values. A row without one has the
 * sum of its children: some documents have deltas only for the leaves, and
 * d3-flame-graph computes the others. */
static void
find_before (Reader *reader)
{
  gint64 *deltas = (gint64 *)(gpointer)reader->deltas->data;
  g_autofree gint64 *sums = g_new0 (gint64, reader->deltas->len);

  for (guint32 i = reader->deltas->len; i-- > 0;)
    {
      const FlamOutlineRow *row = flam_outline_row (&reader->outline, i);
      gint64 delta = deltas[i] != NO_DELTA ? deltas[i]
                     : reader->outline.own ? 0
                                           : sums[i];

      if (row->caller != FLAM_NONE &&
          __builtin_add_overflow (sums[row->caller], delta, &sums[row->caller]))
        sums[row->caller] = 0;
      if (__builtin_sub_overflow (row->weight, delta, &deltas[i]))
        deltas[i] = 0;
      deltas[i] = MAX (deltas[i], 0);
    }
  reader->outline.counts = reader->deltas;
}

/* Fractions, if there are any, keep their decimals. */
static void
reduce (Reader *reader)
{
  GArray *rows = reader->outline.rows;
  GArray *before = reader->outline.counts;

  for (guint i = 0; i < rows->len; i++)
    if (g_array_index (rows, FlamOutlineRow, i).weight % PLACES != 0 ||
        (before != NULL && g_array_index (before, gint64, i) % PLACES != 0))
      {
        reader->denominator = PLACES;
        return;
      }
  for (guint i = 0; i < rows->len; i++)
    {
      g_array_index (rows, FlamOutlineRow, i).weight /= PLACES;
      if (before != NULL)
        g_array_index (before, gint64, i) /= PLACES;
    }
}

static guint
add_before (Reader *reader)
{
  const FlamMeasureRow row = { "base", N_ ("Before"), FLAM_OF_COUNT };

  return flam_load_measure (reader->builder,
                            &row,
                            (int)flam_builder_add_column (reader->builder),
                            FLAM_NONE);
}

/* The tree's "{": in a page, it follows the words of perf's or stackprof's
 * template, or begins an object that looks like a node. */
static const guint8 *
find_tree (const FlamSource *source, gboolean *ruby)
{
  static const char *const before[] = {
    "const stacks = ", "flamegraph_json", ".datum({", "{\"name\":"
  };
  const guint8 *end = source->data + source->size;

  if (flam_source_first_char (source) == '{')
    return source->data;
  for (guint i = 0; i < G_N_ELEMENTS (before); i++)
    {
      const guint8 *at =
          memmem (source->data, source->size, before[i], strlen (before[i]));
      if (at != NULL && *at != '{')
        at = memchr (at, '{', end - at);
      *ruby = before[i][0] == '.';
      if (at != NULL)
        return at;
    }
  return NULL;
}

static gboolean
load (FlamLoad *load, GError **error)
{
  Reader *reader = flam_arena_new (load, Reader);
  const guint8 *at = find_tree (load->source, &reader->ruby);
  guint measure;

  if (at == NULL)
    return flam_source_invalid (
        load->source, error, N_ ("this flame graph page has no data"));
  reader->builder = load->builder;
  reader->open = flam_arena_array (load, Node);
  reader->deltas = flam_arena_array (load, gint64);
  reader->denominator = 1;
  reader->thread = flam_builder_lone_thread (load->builder);
  reader->json = flam_json_load (load, at);
  flam_arena_outline (load, &reader->outline, FALSE);
  measure = flam_load_measures (load->builder, FLAM_STANDARD_SAMPLES);
  read_nodes (reader);
  if (at == load->source->data) /* not a page */
    flam_json_next (reader->json);
  if (!flam_json_end (reader->json, load, reader->outline.rows->len > 1, error))
    return FALSE;
  reader->outline.own = has_own_values (reader);
  if (reader->is_difference)
    find_before (reader);
  reduce (reader);
  flam_builder_set_denominator (load->builder, measure, reader->denominator);
  if (reader->is_difference)
    flam_builder_set_denominator (
        load->builder, add_before (reader), reader->denominator);
  flam_outline_finish (&reader->outline, load->builder);
  flam_builder_warn_count (load->builder,
                           reader->outline.excess,
                           "%" PRIu64 " function has less than its callees",
                           "%" PRIu64
                           " functions have less than their callees");
  if (reader->outline.rows->len <= 1)
    flam_builder_warn (load->builder, N_ ("the flame graph is empty"));
  return TRUE;
}

const FlamImporter flam_import_d3 = {
  .id = "d3",
  .label = "d3-flame-graph",
  .written_by = "perf script report flamegraph, d3-flame-graph",
  .suffixes = FLAM_LIST (".json", ".html"),
  .mime_types = FLAM_LIST ("application/json", "text/html"),
  .signs = FLAM_SIGNS (FLAM_HEAD (60, '<', 64 << 10, "d3-flame-graph"),
                       FLAM_HEAD (60, '<', 64 << 10, "d3-flamegraph"),
                       FLAM_MEMBERS (60, "name", "value", "children"),
                       FLAM_MEMBERS (60, "n", "v", "c"),
                       FLAM_MEMBERS (30, "name", "children")),
  .load = load,
};
