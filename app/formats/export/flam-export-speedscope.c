/* SPDX-License-Identifier: GPL-3.0-or-later */

/* speedscope's own format (speedscope.app/file-format-schema.json): a table of
 * frames, and stacks of indices into it, root first, with a weight each. */

#include "flam-formats.h"

#include "flam-export-common.h"

/* Of "12345," in a deep tree. */
#define INDEX_WIDTH 6

static void
put_frames (GString *out, const FlamTree *tree, const FlamThings *things)
{
  for (guint i = 0; i < things->first->len; i++)
    {
      FlamId node = g_array_index (things->first, FlamId, i);
      guint32 line;
      const char *file = flam_export_file (tree, node, &line);

      g_string_append (out, i > 0 ? ",\n{\"name\":" : "\n{\"name\":");
      flam_export_json_string (out, flam_tree_name (tree, node));
      if (*file != '\0')
        {
          g_string_append (out, ",\"file\":");
          flam_export_json_string (out, file);
        }
      if (line != 0)
        g_string_append_printf (out, ",\"line\":%u", line);
      g_string_append_c (out, '}');
    }
}

static void
put_stacks (GString *out, const FlamTree *tree, const FlamThings *things)
{
  g_autoptr (GArray) path = g_array_new (FALSE, FALSE, sizeof (FlamId));
  const char *separator = "\n[";

  for (FlamId i = 0; i < tree->n; i++)
    {
      if (tree->self[i] == 0)
        continue;
      g_string_append (out, separator);
      flam_export_path (tree, i, path);
      for (guint k = 0; k < path->len; k++)
        g_string_append_printf (out,
                                k > 0 ? ",%u" : "%u",
                                things->thing[g_array_index (path, FlamId, k)]);
      g_string_append_c (out, ']');
      separator = ",\n[";
    }
}

static void
put_weights (GString *out, const FlamTree *tree)
{
  const char *separator = "";

  for (FlamId i = 0; i < tree->n; i++)
    if (tree->self[i] != 0)
      {
        g_string_append (out, separator);
        flam_export_json_weight (out, tree, tree->self[i]);
        separator = ",";
      }
}

static gboolean
save (const FlamTree *tree,
      const FlamExportOptions *options,
      GString *out,
      GError **error)
{
  FlamUnit unit = tree->profile->measures[tree->measure].unit;
  FlamThings things;

  if (!flam_export_check_size (tree, INDEX_WIDTH, error))
    return FALSE;
  flam_things_init (&things, tree);
  g_string_append (
      out,
      "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
      "\"exporter\":\"flambeau\",\"name\":");
  flam_export_json_string (out, options->title);
  g_string_append (out, ",\"shared\":{\"frames\":[");
  put_frames (out, tree, &things);
  g_string_append (out, "]},\n\"profiles\":[{\"type\":\"sampled\",\"name\":");
  flam_export_json_string (out, options->title);
  g_string_append_printf (out,
                          ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":",
                          unit == FLAM_UNIT_NS      ? "nanoseconds"
                          : unit == FLAM_UNIT_BYTES ? "bytes"
                                                    : "none");
  flam_export_json_weight (out, tree, tree->total[0]);
  g_string_append (out, ",\n\"samples\":[");
  put_stacks (out, tree, &things);
  g_string_append (out, "],\n\"weights\":[");
  put_weights (out, tree);
  g_string_append (out, "]}]}\n");
  flam_things_clear (&things);
  return TRUE;
}

const FlamExporter flam_export_speedscope = {
  .id = "speedscope",
  .label = "speedscope",
  .suffix = "speedscope.json",
  .mime_type = "application/json",
  .text = TRUE,
  .save = save,
};
