/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-export-common.h"

#include <string.h>

#include "flam-core-picture.h"

typedef struct
{
  FlamTreeKey key;
  FlamStringId file; /* of the line */
  guint32 line;
  gboolean is_function; /* threads are parents of functions */
} Thing;

static gboolean
equal_things (gconstpointer table, FlamId row, gconstpointer key)
{
  const Thing *x = (const Thing *)table + row;
  const Thing *y = key;

  return x->key.row == y->key.row && x->line == y->line && x->file == y->file &&
         x->is_function == y->is_function;
}

void
flam_things_init (FlamThings *things,
                  const FlamTree *tree,
                  gboolean whole_functions)
{
  g_autoptr (GArray) known = g_array_new (FALSE, FALSE, sizeof (Thing));
  FlamInterner interner;

  flam_interner_init (&interner);
  things->thing = g_new (FlamId, MAX (tree->n, 1));
  things->first = g_array_new (FALSE, FALSE, sizeof (FlamId));
  things->thing[0] = FLAM_NONE;
  for (FlamId i = 1; i < tree->n; i++)
    {
      Thing key = { .key = tree->key[i] };
      FlamSlot *slot;
      guint32 hash;

      key.line = whole_functions ? 0 : flam_tree_line (tree, i);
      key.file = key.line != 0 ? tree->profile->frames.file[tree->frame[i]] : 0;
      key.is_function = flam_tree_function (tree, i) != FLAM_NONE;
      hash = flam_hash_pair (key.key.row, key.line);
      slot =
          flam_interner_find (&interner, hash, equal_things, known->data, &key);
      if (slot->id == FLAM_NONE)
        {
          *slot = (FlamSlot){ hash, known->len };
          interner.used++;
          g_array_append_val (known, key);
          g_array_append_val (things->first, i);
        }
      things->thing[i] = slot->id;
    }
  flam_interner_clear (&interner);
}

void
flam_things_clear (FlamThings *things)
{
  g_clear_pointer (&things->thing, g_free);
  g_clear_pointer (&things->first, g_array_unref);
}

FlamTree *
flam_export_tree_in_order (const FlamProfile *profile,
                           const FlamSelection *selection,
                           FlamTreeOrder order)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);

  return flam_tree_new (weights, selection, order, NULL, NULL);
}

FlamTree *
flam_export_tree (const FlamProfile *profile, const FlamSelection *selection)
{
  return flam_export_tree_in_order (profile, selection, FLAM_ORDER_TOTAL);
}

FlamChart *
flam_export_chart (const FlamProfile *profile,
                   const FlamSelection *selection,
                   GError **error)
{
  FlamChart *chart = NULL;
  const char *why = NULL;

  if (selection->invert)
    why = "an inverted tree is not in time: --chart goes without --invert";
  else if (profile->measures[selection->measure].source != FLAM_FROM_SAMPLES)
    why = "this measure is of memory, which is not called in time";
  else if (profile->samples.time == NULL &&
           profile->measures[selection->measure].spans != FLAM_SPANS_ORDER)
    why = "it does not say when its samples were taken";
  else
    chart = flam_chart_new (profile, selection, NULL, error);
  if (why != NULL)
    flam_error_set (error, FLAM_ERROR_UNSUPPORTED, "%s", why);
  return chart;
}

FlamId
flam_export_start (const FlamTree *tree, FlamNodeId node, guint32 *line)
{
  FlamFunctionId function = flam_tree_function (tree, node);

  *line = 0;
  if (function == FLAM_NONE)
    return 0;
  *line = tree->profile->functions.line[function];
  return tree->profile->functions.file[function];
}

FlamId
flam_export_file_id (const FlamTree *tree, FlamNodeId node, guint32 *line)
{
  if (flam_tree_line (tree, node) == 0 ||
      flam_tree_function (tree, node) == FLAM_NONE)
    return flam_export_start (tree, node, line);
  *line = flam_tree_line (tree, node);
  return tree->profile->frames.file[tree->frame[node]];
}

const char *
flam_export_file (const FlamTree *tree, FlamNodeId node, guint32 *line)
{
  return flam_profile_string (tree->profile,
                              flam_export_file_id (tree, node, line));
}

const char *
flam_export_module (const FlamTree *tree, FlamNodeId node)
{
  FlamFunctionId function = flam_tree_function (tree, node);

  return function != FLAM_NONE
             ? flam_profile_module_name (tree->profile, function)
             : "";
}

const char *
flam_export_measure_name (const FlamProfile *profile,
                          const FlamMeasure *measure,
                          gboolean common)
{
  static const char *const names[][2] = {
    { "cpu-time", "cpu" },          { "wall-time", "wall" },
    { "allocated", "alloc_space" }, { "allocations", "alloc_objects" },
    { "leaked", "inuse_space" },
  };
  const char *id = flam_profile_string (profile, measure->id);

  for (guint i = 0; common && i < G_N_ELEMENTS (names); i++)
    if (strcmp (names[i][0], id) == 0)
      return names[i][1];
  return id;
}

const char *
flam_export_unit (const FlamMeasure *measure)
{
  return measure->unit == FLAM_UNIT_NS      ? "nanoseconds"
         : measure->unit == FLAM_UNIT_BYTES ? "bytes"
                                            : "count";
}

gint64
flam_export_whole (const FlamMeasure *measure, gint64 weight)
{
  gint64 denominator = measure->denominator;

  return weight / denominator + (weight % denominator * 2 >= denominator);
}

void
flam_export_json_string (FlamSink *out, const char *text)
{
  flam_sink_put_c (out, '"');
  for (; *text != '\0'; text++)
    switch (*text)
      {
      case '"':
      case '\\':
        flam_sink_put_c (out, '\\');
        flam_sink_put_c (out, *text);
        break;
      case '\n':
        flam_sink_put (out, "\\n");
        break;
      case '\t':
        flam_sink_put (out, "\\t");
        break;
      default:
        if ((guchar)*text < 0x20 || *text == '<' || *text == 0x7f)
          flam_sink_printf (out, "\\u%04x", *text);
        else
          flam_sink_put_c (out, *text);
      }
  flam_sink_put_c (out, '"');
}

void
flam_export_json_member (FlamSink *out, const char *before, const char *text)
{
  flam_sink_put (out, before);
  flam_export_json_string (out, text);
}

void
flam_export_json_count (FlamSink *out, FlamUnit unit, gint64 value)
{
  g_autofree char *text = NULL;

  if (unit != FLAM_UNIT_THOUSANDTHS)
    {
      flam_sink_put_int (out, value);
      return;
    }
  text = flam_format_thousandths (value);
  flam_sink_put (out, text);
}

void
flam_export_json_weight (FlamSink *out,
                         const FlamMeasure *measure,
                         gint64 weight)
{
  g_autofree char *plain = NULL;

  if (measure->denominator == 1)
    {
      flam_sink_put_int (out, weight);
      return;
    }
  plain = flam_format_plain (measure, weight);
  flam_sink_put (out, plain);
}

gboolean
flam_export_is_inlined (const FlamProfile *profile, FlamStackId stack)
{
  const FlamFrames *frames = &profile->frames;
  FlamId leaf = profile->stacks.frame[stack];
  FlamStackId prefix = profile->stacks.prefix[stack];
  FlamId caller =
      prefix != FLAM_NONE ? profile->stacks.frame[prefix] : FLAM_NONE;

  return caller != FLAM_NONE && frames->inline_depth[leaf] > 0 &&
         frames->inline_depth[leaf] == frames->inline_depth[caller] + 1 &&
         frames->address[leaf] == frames->address[caller];
}
