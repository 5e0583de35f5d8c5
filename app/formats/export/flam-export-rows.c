/* SPDX-License-Identifier: GPL-3.0-or-later */

/* CSV (RFC 4180): a row per function. JSON: the tree, nested as for flame graph
 * widgets, {"name","value","self","children":[…]}; and as for d3-flame-graph,
 * with the kind of code as "libtype" and what changed as "delta". */

#include "flam-formats.h"

#include "flam-core-picture.h"
#include "flam-export-common.h"
#include "flam-pages.h"

static void
put_field (FlamSink *out, const char *text)
{
  g_autofree char *field = flam_format_csv (text);

  flam_sink_put (out, field);
}

static void
put_row (FlamSink *out, const FlamTree *tree, const FlamFunctionRow *row)
{
  const FlamMeasure *measure = &tree->profile->measures[tree->measure];
  g_autofree char *self = flam_format_plain (measure, row->self);
  g_autofree char *total = flam_format_plain (measure, row->total);
  guint32 line;
  const char *file = flam_export_file (tree, row->node, &line);

  put_field (out, flam_functions_name (tree, row->node));
  flam_sink_put_c (out, ',');
  put_field (out, flam_export_module (tree, row->node));
  flam_sink_put_c (out, ',');
  put_field (out, file);
  flam_sink_put_c (out, ',');
  if (line != 0)
    flam_sink_printf (out, "%u", line);
  flam_sink_printf (out, ",%s,%s\r\n", self, total);
}

static gboolean
save_csv (FlamExport *export, GError **error)
{
  g_autoptr (FlamTree) tree =
      flam_export_tree (export->profile, export->selection);
  guint n;
  g_autofree FlamFunctionRow *rows = NULL;

  if (tree->inverted)
    return flam_error_set (error,
                           FLAM_ERROR_UNSUPPORTED,
                           N_ ("a table of functions cannot be inverted"));
  rows = flam_functions_new_whole (tree, FLAM_SORT_SELF, &n);
  flam_sink_put (export->out, "function,module,file,line,self,total\r\n");
  for (guint i = 0; i < n; i++)
    put_row (export->out, tree, &rows[i]);
  return TRUE;
}

static void
open_node (FlamSink *out, const FlamTree *tree, FlamNodeId node)
{
  guint32 line;
  const char *file = flam_export_file (tree, node, &line);
  const FlamMeasure *measure = &tree->profile->measures[tree->measure];

  flam_export_json_member (out, "{\"name\":", flam_tree_name (tree, node));
  if (*file != '\0')
    {
      flam_export_json_member (out, ",\"file\":", file);
    }
  if (line != 0)
    flam_sink_printf (out, ",\"line\":%u", line);
  flam_sink_put (out, ",\"value\":");
  flam_export_json_weight (out, measure, tree->total[node]);
  flam_sink_put (out, ",\"self\":");
  flam_export_json_weight (out, measure, tree->self[node]);
}

/* The words from which d3-flame-graph chooses a hue. */
static void
open_d3_node (FlamSink *out, const FlamTree *tree, FlamNodeId node)
{
  static const char *const types[FLAM_N_KINDS] = {
    [FLAM_KIND_KERNEL] = "kernel",
    [FLAM_KIND_JIT] = "jit",
  };
  const FlamMeasure *measure = &tree->profile->measures[tree->measure];
  const FlamTreeChange *change = tree->change;
  const char *type = types[flam_tree_kind (tree, node)];

  if (type == NULL && flam_tree_is_inlined (tree, node))
    type = "inlined";
  flam_export_json_member (out, "{\"name\":", flam_tree_name (tree, node));
  if (type != NULL)
    flam_sink_printf (out, ",\"libtype\":\"%s\"", type);
  flam_sink_put (out, ",\"value\":");
  flam_export_json_weight (out,
                           measure,
                           change != NULL
                               ? change->base[node] + change->delta[node]
                               : tree->total[node]);
  if (change != NULL)
    {
      flam_sink_put (out, ",\"delta\":");
      flam_export_json_weight (out, measure, change->delta[node]);
    }
  /* The member by which the document is recognized. */
  if (tree->n == 1)
    flam_sink_put (out, ",\"children\":[]");
}

/* A capture that is itself a difference has all paths, previous and current
 * ones. */
static FlamTree *
tree_with_deltas (const FlamExport *export, GError **error)
{
  g_autoptr (FlamProfile) base = flam_profile_ref (export->profile);
  g_autoptr (FlamProfile) fresh = flam_profile_ref (export->profile);
  g_autoptr (FlamSelection) before = NULL;
  g_autoptr (FlamTree) now = NULL;
  g_autoptr (FlamTree) was = NULL;
  int measure =
      flam_transfer_find_before (export->profile, export->selection->measure);

  if (measure < 0 || export->selection->invert)
    return flam_export_tree (export->profile, export->selection);
  if (!flam_rescale_both (
          &base, (guint)measure, &fresh, export->selection->measure, error))
    return NULL;
  before = flam_selection_copy (export->selection);
  before->measure = (guint)measure;
  was = flam_export_tree (base, before);
  now = flam_export_tree (fresh, export->selection);
  return flam_diff_tree (was, now, FLAM_DIFF_BOTH, FALSE, FLAM_DIFF_UNSCALED);
}

typedef void (*OpenNode) (FlamSink *out, const FlamTree *tree, FlamNodeId node);

/* Preorder: before a node, all objects below its parent are closed. */
static void
put_tree (FlamSink *out, const FlamTree *tree, OpenNode open_it)
{
  guint32 open = 0;

  for (FlamId i = 0; i < tree->n; i++)
    {
      gboolean first = i > 0 && tree->parent[i] == i - 1;

      for (; open > tree->depth[i]; open--)
        flam_sink_put (out, open == tree->depth[i - 1] + 1 ? "}" : "]}");
      if (first)
        flam_sink_put (out, ",\"children\":[\n");
      else if (i > 0)
        flam_sink_put (out, ",\n");
      open_it (out, tree, i);
      open = tree->depth[i] + 1;
    }
  for (guint32 i = open; i > 0; i--)
    flam_sink_put (out, i == open ? "}" : "]}");
  flam_sink_put_c (out, '\n');
}

static gboolean
save_tree (FlamExport *export, GError **error)
{
  const OpenNode open_it = export->form;
  g_autoptr (FlamTree) tree =
      open_it == open_d3_node
          ? tree_with_deltas (export, error)
          : flam_export_tree (export->profile, export->selection);

  if (tree == NULL)
    return FALSE;
  put_tree (export->out, tree, open_it);
  return TRUE;
}

void
flam_diff_d3 (FlamSink *out,
              const FlamTree *base,
              const FlamTree *fresh,
              FlamDiffShape shape,
              gboolean self,
              FlamDiffScale scale)
{
  g_autoptr (FlamTree) tree = flam_diff_tree (base, fresh, shape, self, scale);

  put_tree (out, tree, open_d3_node);
}

const FlamExporter flam_export_csv = {
  .id = "csv",
  .label = N_ ("CSV table of functions"),
  .suffix = "csv",
  .mime_type = "text/csv",
  .text = TRUE,
  .holds = FLAM_HOLDS_ALL,
  .save = save_csv,
};

const FlamExporter flam_export_json = {
  .id = "json",
  .label = N_ ("JSON tree"),
  .suffix = "json",
  .mime_type = "application/json",
  .text = TRUE,
  .holds = FLAM_HOLDS_ALL,
  .save = save_tree,
  .form = open_node,
};

const FlamExporter flam_export_d3 = {
  .id = "d3",
  .label = "d3-flame-graph",
  .suffix = "json",
  .mime_type = "application/json",
  .text = TRUE,
  .holds = FLAM_HOLDS_COMPILED | FLAM_HOLDS_INLINES | FLAM_HOLDS_FRACTIONS |
           FLAM_HOLDS_BEFORE,
  .save = save_tree,
  .form = open_d3_node,
};
