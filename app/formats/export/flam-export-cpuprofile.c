/* SPDX-License-Identifier: GPL-3.0-or-later */

/* V8's CPU profile, for Chrome's developer tools and editors; the fields are
 * told in flam-import-v8.c. The tree goes in as it is; each node with a weight
 * of its own is one sample that lasts as long as the weight, in microseconds.
 * What is not time is counted as if each were one. */

#include "flam-formats.h"

#include "flam-export-common.h"

/* Up to here, in whole microseconds: so that rounding does not add up. */
static gint64
microseconds (const FlamTree *tree, gint64 sum)
{
  const FlamMeasure *measure = &tree->profile->measures[tree->measure];

  return flam_export_whole (tree, sum) /
         (measure->unit == FLAM_UNIT_NS ? 1000 : 1);
}

static void
put_node (GString *out, const FlamTree *tree, FlamId node)
{
  guint32 line;
  const char *file = flam_export_file (tree, node, &line);
  const char *separator = "";

  g_string_append_printf (out,
                          "%s{\"id\":%u,\"callFrame\":{\"functionName\":",
                          node > 0 ? ",\n" : "",
                          node + 1);
  flam_export_json_string (out,
                           node == 0 ? "(root)" : flam_tree_name (tree, node));
  g_string_append (out, ",\"scriptId\":\"0\",\"url\":");
  flam_export_json_string (out, file);
  g_string_append_printf (out,
                          ",\"lineNumber\":%" G_GINT64_FORMAT
                          ",\"columnNumber\":-1},\"hitCount\":%d",
                          (gint64)line - 1,
                          tree->self[node] > 0);
  g_string_append (out, ",\"children\":[");
  for (FlamId child = flam_tree_first_child (tree, node); child != FLAM_NONE;
       child = flam_tree_next_sibling (tree, child))
    {
      g_string_append_printf (out, "%s%u", separator, child + 1);
      separator = ",";
    }
  g_string_append (out, "]}");
}

static void
put_samples (GString *out, const FlamTree *tree)
{
  const char *separator = "";

  g_string_append (out, "],\n\"samples\":[");
  for (FlamId i = 0; i < tree->n; i++)
    if (tree->self[i] > 0)
      {
        g_string_append_printf (out, "%s%u", separator, i + 1);
        separator = ",";
      }
}

/* The first is there at once; each of the others when the one before ends. */
static void
put_deltas (GString *out, const FlamTree *tree)
{
  gint64 sum = 0, before = 0;
  const char *separator = "";

  g_string_append (out, "],\n\"timeDeltas\":[");
  for (FlamId i = 0; i < tree->n; i++)
    if (tree->self[i] > 0)
      {
        gint64 now = microseconds (tree, sum);
        g_string_append_printf (
            out, "%s%" G_GINT64_FORMAT, separator, now - before);
        separator = ",";
        before = now;
        sum += tree->self[i];
      }
}

static gboolean
save (const FlamTree *tree,
      const FlamExportOptions *options,
      GString *out,
      GError **error)
{
  g_string_append (out, "{\"nodes\":[\n");
  for (FlamId i = 0; i < tree->n; i++)
    put_node (out, tree, i);
  put_samples (out, tree);
  put_deltas (out, tree);
  g_string_append_printf (out,
                          "],\n\"startTime\":0,\"endTime\":%" G_GINT64_FORMAT
                          "}\n",
                          microseconds (tree, tree->total[0]));
  return TRUE;
}

const FlamExporter flam_export_cpuprofile = {
  .id = "cpuprofile",
  .label = "V8 CPU profile",
  .suffix = "cpuprofile",
  .mime_type = "application/json",
  .text = TRUE,
  .save = save,
};
