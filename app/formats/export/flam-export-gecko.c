/* SPDX-License-Identifier: GPL-3.0-or-later */

/* The Firefox Profiler's processed profile, version 62 (firefox-devtools/
 * profiler, docs-developer/CHANGELOG-formats.md): tables as columns, shared by
 * all threads. A node of the tree is a stack, a function a frame; a node with
 * a weight of its own is one weighted sample of the one thread. */

#include "flam-formats.h"

#include "flam-export-common.h"

#define VERSION 62

typedef struct
{
  const FlamTree *tree;
  GString *out;
  FlamThings things;
  GHashTable *index; /* text -> index */
  GPtrArray *texts;
} Writer;

/* One for each FlamFunctionKind. */
static const struct
{
  const char *name;
  const char *color;
} categories[FLAM_N_KINDS] = {
  { "Native", "yellow" }, { "Unresolved", "grey" },  { "Kernel", "orange" },
  { "JIT", "green" },     { "Interpreted", "blue" }, { "Root", "grey" },
  { "Waker", "purple" },
};

static guint
intern (Writer *writer, const char *text)
{
  gpointer index;

  if (!g_hash_table_lookup_extended (writer->index, text, NULL, &index))
    {
      index = GUINT_TO_POINTER (writer->texts->len);
      g_ptr_array_add (writer->texts, (gpointer)text);
      g_hash_table_insert (writer->index, (gpointer)text, index);
    }
  return GPOINTER_TO_UINT (index);
}

static FlamId
thing_node (const Writer *writer, guint i)
{
  return g_array_index (writer->things.first, FlamId, i);
}

/* "name":[v,v,…], with each value put by `put`. */
static void
put_column (Writer *writer,
            const char *name,
            guint n,
            void (*put) (Writer *, guint))
{
  g_string_append_printf (writer->out, ",\n\"%s\":[", name);
  for (guint i = 0; i < n; i++)
    {
      if (i > 0)
        g_string_append_c (writer->out, ',');
      put (writer, i);
    }
  g_string_append_c (writer->out, ']');
}

static void
put_null (Writer *writer, guint i)
{
  g_string_append (writer->out, "null");
}

static void
put_false (Writer *writer, guint i)
{
  g_string_append (writer->out, "false");
}

static void
put_none (Writer *writer, guint i)
{
  g_string_append (writer->out, "-1");
}

static void
put_zero (Writer *writer, guint i)
{
  g_string_append_c (writer->out, '0');
}

static void
put_index (Writer *writer, guint i)
{
  g_string_append_printf (writer->out, "%u", i);
}

static void
put_number (Writer *writer, guint n)
{
  if (n == 0)
    put_null (writer, n);
  else
    g_string_append_printf (writer->out, "%u", n);
}

static void
put_category (Writer *writer, guint i)
{
  put_index (writer, flam_tree_kind (writer->tree, thing_node (writer, i)));
}

static void
put_line (Writer *writer, guint i)
{
  guint32 line;

  flam_export_file (writer->tree, thing_node (writer, i), &line);
  put_number (writer, line);
}

static void
put_function_name (Writer *writer, guint i)
{
  put_index (
      writer,
      intern (writer, flam_tree_name (writer->tree, thing_node (writer, i))));
}

static void
put_js (Writer *writer, guint i)
{
  g_string_append (writer->out,
                   flam_tree_kind (writer->tree, thing_node (writer, i)) ==
                           FLAM_KIND_INTERPRETED
                       ? "true"
                       : "false");
}

/* Sources are numbered like the functions: one each, "" where unknown. */
static void
put_file_name (Writer *writer, guint i)
{
  guint32 line;

  put_index (
      writer,
      intern (writer,
              flam_export_file (writer->tree, thing_node (writer, i), &line)));
}

static void
put_one (Writer *writer, guint i)
{
  g_string_append_c (writer->out, '1');
}

static void
put_prefix (Writer *writer, guint i)
{
  FlamId parent = writer->tree->parent[i + 1];

  if (parent == 0)
    put_null (writer, i);
  else
    put_index (writer, parent - 1);
}

static void
put_stack_frame (Writer *writer, guint i)
{
  put_index (writer, writer->things.thing[i + 1]);
}

static void
put_table (Writer *writer, const char *name, guint length)
{
  g_string_append_printf (writer->out, "\"%s\":{\"length\":%u", name, length);
}

static void
put_shared (Writer *writer)
{
  GString *out = writer->out;
  guint n = writer->things.first->len;
  guint n_stacks = writer->tree->n - 1;

  put_table (writer, "frameTable", n);
  put_column (writer, "address", n, put_none);
  put_column (writer, "inlineDepth", n, put_zero);
  put_column (writer, "category", n, put_category);
  put_column (writer, "subcategory", n, put_zero);
  put_column (writer, "func", n, put_index);
  put_column (writer, "nativeSymbol", n, put_null);
  put_column (writer, "innerWindowID", n, put_zero);
  put_column (writer, "line", n, put_line);
  put_column (writer, "column", n, put_null);
  g_string_append (out, "},\n");
  put_table (writer, "funcTable", n);
  put_column (writer, "name", n, put_function_name);
  put_column (writer, "isJS", n, put_js);
  put_column (writer, "relevantForJS", n, put_false);
  put_column (writer, "resource", n, put_none);
  put_column (writer, "source", n, put_index);
  put_column (writer, "lineNumber", n, put_line);
  put_column (writer, "columnNumber", n, put_null);
  g_string_append (out, "},\n");
  put_table (writer, "sources", n);
  put_column (writer, "id", n, put_null);
  put_column (writer, "filename", n, put_file_name);
  put_column (writer, "startLine", n, put_one);
  put_column (writer, "startColumn", n, put_one);
  put_column (writer, "sourceMapURL", n, put_null);
  g_string_append (out, "},\n");
  put_table (writer, "stackTable", n_stacks);
  put_column (writer, "prefix", n_stacks, put_prefix);
  put_column (writer, "frame", n_stacks, put_stack_frame);
  g_string_append (
      out,
      "},\n\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],"
      "\"host\":[],\"type\":[]},\n\"nativeSymbols\":{\"length\":0,"
      "\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]},\n"
      "\"stringArray\":[");
  for (guint i = 0; i < writer->texts->len; i++)
    {
      g_string_append (out, i > 0 ? ",\n" : "\n");
      flam_export_json_string (out, writer->texts->pdata[i]);
    }
  g_string_append_c (out, ']');
}

/* Milliseconds, whatever the locale. */
static void
put_milliseconds (Writer *writer, gint64 ns)
{
  g_string_append_printf (writer->out,
                          "%" G_GINT64_FORMAT ".%06" G_GINT64_FORMAT,
                          ns / 1000000,
                          ns % 1000000);
}

static void
put_weight (Writer *writer, gint64 weight)
{
  const FlamTree *tree = writer->tree;

  if (tree->profile->measures[tree->measure].unit == FLAM_UNIT_NS)
    put_milliseconds (writer, flam_export_whole (tree, weight));
  else
    flam_export_json_weight (writer->out, tree, weight);
}

static void
put_samples (Writer *writer)
{
  const FlamTree *tree = writer->tree;
  FlamUnit unit = tree->profile->measures[tree->measure].unit;
  g_autoptr (GArray) nodes = g_array_new (FALSE, FALSE, sizeof (FlamId));

  for (FlamId i = 0; i < tree->n; i++)
    if (tree->self[i] > 0)
      g_array_append_val (nodes, i);
  put_table (writer, "samples", nodes->len);
  g_string_append (writer->out, ",\n\"stack\":[");
  for (guint i = 0; i < nodes->len; i++)
    {
      FlamId node = g_array_index (nodes, FlamId, i);
      g_string_append (writer->out, i > 0 ? "," : "");
      if (node == 0)
        put_null (writer, i);
      else
        put_index (writer, node - 1);
    }
  g_string_append (writer->out, "],\n\"timeDeltas\":[");
  for (guint i = 0; i < nodes->len; i++)
    g_string_append (writer->out, i > 0 ? ",1" : "0");
  g_string_append (writer->out, "],\n\"weight\":[");
  for (guint i = 0; i < nodes->len; i++)
    {
      g_string_append (writer->out, i > 0 ? "," : "");
      put_weight (writer, tree->self[g_array_index (nodes, FlamId, i)]);
    }
  g_string_append_printf (writer->out,
                          "],\n\"weightType\":\"%s\"}",
                          unit == FLAM_UNIT_NS      ? "tracing-ms"
                          : unit == FLAM_UNIT_BYTES ? "bytes"
                                                    : "samples");
}

static void
put_meta (Writer *writer, const char *title)
{
  const FlamFacts *facts = &writer->tree->profile->facts;
  GString *out = writer->out;

  g_string_append (out, "{\"meta\":{\"product\":");
  flam_export_json_string (out, title);
  g_string_append (out, ",\"startTime\":");
  put_milliseconds (writer, MAX (facts->start_unix_ns, 0));
  g_string_append_printf (
      out,
      ",\"interval\":1,\"processType\":0,\"version\":24,"
      "\"preprocessedProfileVersion\":%d,\"stackwalk\":1,\"debug\":false,"
      "\"symbolicated\":true,\"usesOnlyOneStackType\":true,"
      "\"sourceCodeIsNotOnSearchfox\":true,\"markerSchema\":[],"
      "\"pausedRanges\":[],\"sampleUnits\":{\"time\":\"ms\","
      "\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
      "\"extensions\":{\"length\":0,\"id\":[],\"name\":[],\"baseURL\":[]},\n"
      "\"categories\":[",
      VERSION);
  for (guint i = 0; i < FLAM_N_KINDS; i++)
    g_string_append_printf (out,
                            "%s{\"name\":\"%s\",\"color\":\"%s\","
                            "\"subcategories\":[\"Other\"]}",
                            i > 0 ? "," : "",
                            categories[i].name,
                            categories[i].color);
  g_string_append (out,
                   "]},\n\"libs\":[],\"pages\":[],\"counters\":[],"
                   "\"profilerOverhead\":[],\n\"shared\":{");
}

static void
put_thread (Writer *writer, const char *title)
{
  GString *out = writer->out;

  g_string_append (out, "},\n\"threads\":[{\"name\":");
  flam_export_json_string (out, title);
  g_string_append (out, ",\"processName\":");
  flam_export_json_string (out, title);
  g_string_append (
      out,
      ",\"processType\":\"default\",\"isMainThread\":true,\"pid\":\"1\","
      "\"tid\":\"1\",\"processStartupTime\":0,\"processShutdownTime\":null,"
      "\"registerTime\":0,\"unregisterTime\":null,\"pausedRanges\":[],"
      "\"showMarkersInTimeline\":false,\n\"markers\":{\"length\":0,"
      "\"category\":[],\"data\":[],\"endTime\":[],\"name\":[],\"phase\":[],"
      "\"startTime\":[]},\n");
  put_samples (writer);
  g_string_append (out, "}]}\n");
}

static gboolean
save (const FlamTree *tree,
      const FlamExportOptions *options,
      GString *out,
      GError **error)
{
  Writer writer = { .tree = tree, .out = out };

  writer.index = g_hash_table_new (g_str_hash, g_str_equal);
  writer.texts = g_ptr_array_new ();
  flam_things_init (&writer.things, tree);
  put_meta (&writer, options->title);
  put_shared (&writer);
  put_thread (&writer, options->title);
  flam_things_clear (&writer.things);
  g_hash_table_unref (writer.index);
  g_ptr_array_unref (writer.texts);
  return TRUE;
}

const FlamExporter flam_export_gecko = {
  .id = "gecko",
  .label = "Firefox Profiler",
  .suffix = "firefox.json",
  .mime_type = "application/json",
  .text = TRUE,
  .save = save,
};
