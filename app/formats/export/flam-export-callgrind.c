/* SPDX-License-Identifier: GPL-3.0-or-later */

/* callgrind's format (valgrind manual, "Callgrind Format Specification"), for
 * KCachegrind and its like. It has functions and calls but no stacks:
 *
 *    ob=(1) prog            module, file and function of what follows; a
 *    fl=(1) /src/a.c        number is given its name once
 *    fn=(2) main
 *    12 40                  line, cost of its own
 *    cob=(1) cfi=(1)        the same three of a function it calls
 *    cfn=(3) parse
 *    calls=1 30             its line
 *    12 25                  line, cost of the calls
 *
 * A call inside the same call counts once, so that no cost exceeds the whole.
 * How often a function is called is not known: 1, since callgrind_annotate
 * takes the line behind calls=0 for a cost of the caller's own.
 */

#include "flam-formats.h"

#include "flam-export-common.h"

#include <string.h>

typedef struct
{
  FlamId caller;
  FlamId callee;
} Edge;

typedef struct
{
  Edge edge;
  gint64 cost;
  guint depth_open; /* how many of it are on the path */
} Call;

typedef struct
{
  const FlamTree *tree;
  FlamSink *out;
  FlamThings things;
  gint64 *self;         /* one a thing */
  GPtrArray **calls;    /* Call, one array a thing; NULL for none */
  GHashTable *table;    /* Edge -> Call */
  GHashTable *names[3]; /* modules, files, functions -> number */
} Writer;

enum
{
  MODULES,
  FILES,
  FUNCTIONS,
};

static guint
hash_edge (gconstpointer data)
{
  const Edge *edge = data;

  return edge->caller * 0x9e3779b1u ^ edge->callee;
}

static gboolean
equal_edges (gconstpointer a, gconstpointer b)
{
  return memcmp (a, b, sizeof (Edge)) == 0;
}

static Call *
find_call (Writer *writer, FlamId node)
{
  const FlamTree *tree = writer->tree;
  Edge edge = { writer->things.thing[tree->parent[node]],
                writer->things.thing[node] };
  Call *call = g_hash_table_lookup (writer->table, &edge);

  if (call == NULL)
    {
      GPtrArray **calls = &writer->calls[edge.caller];
      call = g_new0 (Call, 1);
      call->edge = edge;
      g_hash_table_insert (writer->table, &call->edge, call);
      if (*calls == NULL)
        *calls = g_ptr_array_new ();
      g_ptr_array_add (*calls, call);
    }
  return call;
}

/* Preorder, with the calls of the path kept open. */
static void
add_up (Writer *writer)
{
  const FlamTree *tree = writer->tree;
  g_autoptr (GPtrArray) path = g_ptr_array_new ();

  for (FlamId i = 1; i < tree->n; i++)
    {
      Call *call = NULL;

      while (path->len >= tree->depth[i])
        {
          Call *last = g_ptr_array_steal_index (path, path->len - 1);
          if (last != NULL)
            last->depth_open--;
        }
      writer->self[writer->things.thing[i]] += tree->self[i];
      if (tree->parent[i] != 0)
        {
          call = find_call (writer, i);
          if (call->depth_open++ == 0)
            call->cost += tree->total[i];
        }
      g_ptr_array_add (path, call);
    }
}

static void
put_name (Writer *writer, const char *key, int kind, const char *name)
{
  GHashTable *names = writer->names[kind];
  guint number = GPOINTER_TO_UINT (g_hash_table_lookup (names, name));

  flam_sink_printf (writer->out, "%s=", key);
  if (number != 0)
    {
      flam_sink_printf (writer->out, "(%u)\n", number);
      return;
    }
  number = g_hash_table_size (names) + 1;
  g_hash_table_insert (names, (gpointer)name, GUINT_TO_POINTER (number));
  flam_sink_printf (writer->out, "(%u) ", number);
  for (; *name != '\0'; name++)
    flam_sink_put_c (writer->out, *name == '\n' || *name == '\r' ? ' ' : *name);
  flam_sink_put_c (writer->out, '\n');
}

static guint32
put_place (Writer *writer, FlamId thing, gboolean callee)
{
  FlamId node = g_array_index (writer->things.first, FlamId, thing);
  guint32 line;
  const char *file = flam_export_file (writer->tree, node, &line);
  const char *module = flam_export_module (writer->tree, node);

  /* Without it, the module of what stands above is meant. */
  put_name (
      writer, callee ? "cob" : "ob", MODULES, *module != '\0' ? module : "???");
  put_name (writer, callee ? "cfi" : "fl", FILES, *file != '\0' ? file : "???");
  put_name (writer,
            callee ? "cfn" : "fn",
            FUNCTIONS,
            flam_tree_name (writer->tree, node));
  return line;
}

static void
put_thing (Writer *writer, FlamId thing)
{
  const FlamTree *tree = writer->tree;
  guint32 line = put_place (writer, thing, FALSE);
  const GPtrArray *calls = writer->calls[thing];

  flam_sink_printf (writer->out,
                    "%u %" G_GINT64_FORMAT "\n",
                    line,
                    flam_export_whole (&tree->profile->measures[tree->measure],
                                       writer->self[thing]));
  for (guint i = 0; calls != NULL && i < calls->len; i++)
    {
      const Call *call = calls->pdata[i];
      guint32 callee_line = put_place (writer, call->edge.callee, TRUE);
      flam_sink_printf (
          writer->out,
          "calls=1 %u\n%u %" G_GINT64_FORMAT "\n",
          callee_line,
          line,
          flam_export_whole (&tree->profile->measures[tree->measure],
                             call->cost));
    }
  flam_sink_put_c (writer->out, '\n');
}

static void
put_head (Writer *writer)
{
  const FlamProfile *profile = writer->tree->profile;
  const FlamMeasure *measure = &profile->measures[writer->tree->measure];
  g_autofree char *event =
      g_strdup (flam_profile_string (profile, measure->id));

  /* Events are words. */
  g_strcanon (event,
              "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
              '_');
  flam_sink_put (writer->out,
                 "# callgrind format\nversion: 1\ncreator: flambeau\n");
  if (*profile->facts.command != '\0')
    {
      g_autofree char *command = g_strdup (profile->facts.command);
      g_strdelimit (command, "\r\n", ' ');
      flam_sink_printf (writer->out, "cmd: %s\n", command);
    }
  flam_sink_printf (writer->out,
                    "positions: line\nevents: %s\nsummary: %" G_GINT64_FORMAT
                    "\n\n",
                    event,
                    flam_export_whole (
                        &writer->tree->profile->measures[writer->tree->measure],
                        writer->tree->total[0]));
}

static gboolean
save (const FlamProfile *profile,
      const FlamSelection *selection,
      const FlamExportOptions *options,
      FlamSink *out,
      GError **error)
{
  g_autoptr (FlamTree) tree = flam_export_tree (profile, selection);
  Writer writer = { .tree = tree, .out = out };
  guint n;

  flam_things_init (&writer.things, tree);
  n = writer.things.first->len;
  writer.self = g_new0 (gint64, n + 1);
  writer.calls = g_new0 (GPtrArray *, n + 1);
  writer.table = g_hash_table_new_full (hash_edge, equal_edges, NULL, g_free);
  for (guint i = 0; i < G_N_ELEMENTS (writer.names); i++)
    writer.names[i] = g_hash_table_new (g_str_hash, g_str_equal);
  add_up (&writer);
  put_head (&writer);
  if (tree->self[0] > 0)
    flam_sink_printf (
        out,
        "ob=???\nfl=???\nfn=[no stack]\n0 %" G_GINT64_FORMAT "\n\n",
        flam_export_whole (&tree->profile->measures[tree->measure],
                           tree->self[0]));
  for (guint i = 0; i < n; i++)
    put_thing (&writer, i);
  for (guint i = 0; i < n; i++)
    if (writer.calls[i] != NULL)
      g_ptr_array_unref (writer.calls[i]);
  for (guint i = 0; i < G_N_ELEMENTS (writer.names); i++)
    g_hash_table_unref (writer.names[i]);
  g_hash_table_unref (writer.table);
  g_free (writer.calls);
  g_free (writer.self);
  flam_things_clear (&writer.things);
  return TRUE;
}

const FlamExporter flam_export_callgrind = {
  .id = "callgrind",
  .label = "Callgrind",
  .suffix = "callgrind.out",
  .mime_type = "application/x-kcachegrind",
  .text = TRUE,
  .holds = FLAM_HOLDS_FILES | FLAM_HOLDS_LINES | FLAM_HOLDS_MODULES,
  .save = save,
};
