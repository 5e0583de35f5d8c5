/* SPDX-License-Identifier: GPL-3.0-or-later */

/* pprof's profile.proto; the fields are drawn in flam-import-pprof.c. A
 * location stands for a function (at a line), a sample for what the tree says
 * ends there. Uncompressed, which every pprof reads. */

#include "flam-formats.h"

#include "flam-export-common.h"

/* Of a location's number in a deep tree, as a varint. */
#define INDEX_WIDTH 3
#include "flam-proto-write.h"

typedef struct
{
  const FlamTree *tree;
  GString *out;
  GHashTable *strings; /* text -> index */
  GPtrArray *texts;
  GHashTable *modules; /* name -> id, from 1 */
} Writer;

static guint64
intern (Writer *writer, const char *text)
{
  gpointer index;

  if (!g_hash_table_lookup_extended (writer->strings, text, NULL, &index))
    {
      index = GUINT_TO_POINTER (writer->texts->len);
      g_ptr_array_add (writer->texts, g_strdup (text));
      g_hash_table_insert (
          writer->strings, writer->texts->pdata[writer->texts->len - 1], index);
    }
  return GPOINTER_TO_UINT (index);
}

static void
put_message (Writer *writer, guint number, const GString *message)
{
  flam_proto_put_bytes (writer->out, number, message->str, message->len);
}

static void
put_type (Writer *writer, guint number)
{
  const FlamMeasure *measure =
      &writer->tree->profile->measures[writer->tree->measure];
  g_autoptr (GString) type = g_string_new (NULL);
  const char *unit = measure->unit == FLAM_UNIT_NS      ? "nanoseconds"
                     : measure->unit == FLAM_UNIT_BYTES ? "bytes"
                                                        : "count";

  flam_proto_put_number (
      type,
      1,
      intern (writer,
              flam_profile_string (writer->tree->profile, measure->id)));
  flam_proto_put_number (type, 2, intern (writer, unit));
  put_message (writer, number, type);
}

static guint64
find_mapping (Writer *writer, const char *module)
{
  guint id;

  if (*module == '\0')
    return 0;
  id = GPOINTER_TO_UINT (g_hash_table_lookup (writer->modules, module));
  if (id == 0)
    {
      g_autoptr (GString) mapping = g_string_new (NULL);
      id = g_hash_table_size (writer->modules) + 1;
      g_hash_table_insert (
          writer->modules, (gpointer)module, GUINT_TO_POINTER (id));
      flam_proto_put_number (mapping, 1, id);
      flam_proto_put_number (mapping, 5, intern (writer, module));
      for (guint field = 7; field <= 10; field++) /* has_… */
        flam_proto_put_number (mapping, field, 1);
      put_message (writer, 3, mapping);
    }
  return id;
}

static void
put_thing (Writer *writer, FlamId node, guint64 id)
{
  const FlamTree *tree = writer->tree;
  FlamId number = flam_tree_function (tree, node);
  g_autoptr (GString) function = g_string_new (NULL);
  g_autoptr (GString) location = g_string_new (NULL);
  g_autoptr (GString) line = g_string_new (NULL);
  guint32 at;
  const char *file = flam_export_file (tree, node, &at);
  const char *name = flam_tree_name (tree, node);
  const char *system_name = name;

  if (number != FLAM_NONE)
    system_name = flam_profile_string (
        tree->profile, tree->profile->functions.system_name[number]);
  flam_proto_put_number (function, 1, id);
  flam_proto_put_number (function, 2, intern (writer, name));
  flam_proto_put_number (
      function, 3, intern (writer, *system_name != '\0' ? system_name : name));
  flam_proto_put_number (function, 4, intern (writer, file));
  if (number != FLAM_NONE)
    flam_proto_put_number (function, 5, tree->profile->functions.line[number]);
  put_message (writer, 5, function);
  flam_proto_put_number (line, 1, id);
  flam_proto_put_number (line, 2, at);
  flam_proto_put_number (location, 1, id);
  flam_proto_put_number (
      location, 2, find_mapping (writer, flam_export_module (tree, node)));
  flam_proto_put_bytes (location, 4, line->str, line->len);
  put_message (writer, 4, location);
}

static void
put_samples (Writer *writer, const FlamThings *things)
{
  const FlamTree *tree = writer->tree;
  g_autoptr (GString) sample = g_string_new (NULL);
  g_autoptr (GString) ids = g_string_new (NULL);

  for (FlamId i = 0; i < tree->n; i++)
    {
      gint64 weight = flam_export_whole (tree, tree->self[i]);

      if (tree->self[i] == 0)
        continue;
      g_string_truncate (sample, 0);
      g_string_truncate (ids, 0);
      for (FlamId node = i; node != 0; node = tree->parent[node])
        flam_proto_put_varint (ids, things->thing[node] + 1);
      flam_proto_put_bytes (sample, 1, ids->str, ids->len);
      g_string_truncate (ids, 0);
      flam_proto_put_varint (ids, weight);
      flam_proto_put_bytes (sample, 2, ids->str, ids->len);
      put_message (writer, 2, sample);
    }
}

static gboolean
save (const FlamTree *tree,
      const FlamExportOptions *options,
      GString *out,
      GError **error)
{
  Writer writer = { .tree = tree, .out = out };
  FlamThings things;

  if (!flam_export_check_size (tree, INDEX_WIDTH, error))
    return FALSE;
  writer.strings = g_hash_table_new (g_str_hash, g_str_equal);
  writer.texts = g_ptr_array_new_with_free_func (g_free);
  writer.modules = g_hash_table_new (g_str_hash, g_str_equal);
  intern (&writer, "");
  flam_things_init (&things, tree);
  put_type (&writer, 1);
  for (guint i = 0; i < things.first->len; i++)
    put_thing (&writer, g_array_index (things.first, FlamId, i), i + 1);
  put_samples (&writer, &things);
  flam_proto_put_number (out, 9, tree->profile->facts.start_unix_ns);
  flam_proto_put_number (out, 10, tree->profile->facts.duration_ns);
  put_type (&writer, 11);
  flam_proto_put_number (out, 12, 1);
  for (guint i = 0; i < writer.texts->len; i++)
    flam_proto_put_bytes (
        out, 6, writer.texts->pdata[i], strlen (writer.texts->pdata[i]));
  flam_things_clear (&things);
  g_hash_table_unref (writer.strings);
  g_hash_table_unref (writer.modules);
  g_ptr_array_unref (writer.texts);
  return TRUE;
}

const FlamExporter flam_export_pprof = {
  .id = "pprof",
  .label = "pprof",
  .suffix = "pb",
  .mime_type = "application/vnd.google.protobuf",
  .save = save,
};
