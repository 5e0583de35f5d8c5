/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-cli-table.h"
#include "flam-cli-top-store.h"
#include "flam-core-picture.h"
#include "flam-history-store.h"

#include <string.h>

typedef struct
{
  FlamTree *tree;
  const FlamFunctionRow *rows;
  guint n;
  const FlamCallTable *calls; /* NULL: unknown, or not wanted */
  FlamCliOptions *options;
} Top;

static const char *
module_of (const FlamTree *tree, FlamNodeId node)
{
  FlamFunctionId function = flam_tree_function (tree, node);

  return function == FLAM_NONE
             ? ""
             : flam_profile_module_name (tree->profile, function);
}

static void
add_error (JsonBuilder *json,
           const char *member,
           const FlamTree *tree,
           const FlamMeasure *measure,
           FlamFigure figure)
{
  FlamEstimate estimate =
      flam_estimate_of_figure (&tree->profile->facts, measure, figure);

  if (estimate.sampled || (measure->source != FLAM_FROM_SAMPLES &&
                           tree->profile->facts.sample_bytes > 0))
    flam_cli_json_int (json, member, estimate.error);
}

static void
add_other_errors (JsonBuilder *json,
                  const FlamTree *tree,
                  const FlamFunctionRow *row,
                  gboolean blocks)
{
  const FlamEstimate self =
      flam_functions_estimate_other (tree, flam_functions_self (tree, row));
  const FlamEstimate total =
      flam_functions_estimate_other (tree, flam_functions_total (tree, row));

  if (tree->profile->facts.sample_bytes <= 0)
    return;
  flam_cli_json_int (
      json, blocks ? "self_blocks_error" : "self_bytes_error", self.error);
  flam_cli_json_int (
      json, blocks ? "total_blocks_error" : "total_bytes_error", total.error);
}

/* The approximate number of samples behind the row. */
static void
add_samples (JsonBuilder *json,
             const FlamTree *tree,
             const FlamMeasure *measure,
             const FlamFunctionRow *row)
{
  FlamEstimate estimate = flam_estimate_of_figure (
      &tree->profile->facts, measure, flam_functions_total (tree, row));

  if (!estimate.sampled)
    return;
  flam_cli_json_int (json, "samples", estimate.samples);
  json_builder_set_member_name (json, "few_samples");
  json_builder_add_boolean_value (json, flam_estimate_is_few (&estimate));
}

/* ns; of the calls by themselves, each with its callees. */
static void
add_durations (JsonBuilder *json, const FlamChartDurations *durations)
{
  json_builder_set_member_name (json, "duration");
  json_builder_begin_object (json);
  flam_cli_json_int (json, "min", durations->shortest);
  flam_cli_json_int (json, "median", durations->median);
  flam_cli_json_int (json, "p99", durations->p99);
  flam_cli_json_int (json, "max", durations->longest);
  json_builder_set_member_name (json, "mean");
  json_builder_add_double_value (json, durations->mean);
  json_builder_set_member_name (json, "deviation");
  json_builder_add_double_value (json, durations->deviation);
  json_builder_end_object (json);
}

static void
add_calls (JsonBuilder *json, const Top *top, guint i)
{
  const FlamMeasure measure = flam_tree_measure (top->tree);
  const FlamFunctionCalls *calls = &top->calls->row[i];

  if (calls->count == 0)
    return;
  flam_cli_json_int (json, "calls", calls->count);
  json_builder_set_member_name (json, "per_call");
  json_builder_add_double_value (
      json,
      flam_function_calls_cost (calls, &top->rows[i]) /
          (double)measure.denominator);
  if (calls->durations.n > 0)
    add_durations (json, &calls->durations);
}

static void
print_json (const Top *top)
{
  const FlamTree *tree = top->tree;
  const FlamMeasure own = flam_tree_measure (tree);
  const FlamMeasure *measure = &own;
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  flam_cli_json_weight (json, "total", measure, tree->total[0]);
  json_builder_set_member_name (json, "rows");
  json_builder_begin_array (json);
  for (guint i = 0; i < top->n; i++)
    {
      FlamNodeId node = top->rows[i].node;
      const char *file;
      guint32 line = flam_tree_source_line (tree, node, &file);

      json_builder_begin_object (json);
      flam_cli_json_string (json, "function", flam_functions_name (tree, node));
      flam_cli_json_string (json, "module", module_of (tree, node));
      flam_cli_json_string (json, "file", file);
      flam_cli_json_int (
          json,
          "line",
          flam_tree_line (tree, node) ? flam_tree_line (tree, node) : line);
      if (flam_tree_address (tree, node) != 0)
        flam_cli_json_int (
            json, "address", (gint64)flam_tree_address (tree, node));
      flam_cli_json_weight (json, "self", measure, top->rows[i].self);
      flam_cli_json_weight (json, "total", measure, top->rows[i].total);
      add_error (json,
                 "self_error",
                 tree,
                 measure,
                 flam_functions_self (tree, &top->rows[i]));
      add_error (json,
                 "total_error",
                 tree,
                 measure,
                 flam_functions_total (tree, &top->rows[i]));
      add_samples (json, tree, measure, &top->rows[i]);
      if (top->calls != NULL)
        add_calls (json, top, i);
      if (tree->other_total != NULL)
        {
          gboolean blocks = flam_tree_other_unit (tree) == FLAM_UNIT_COUNT;

          flam_cli_json_int (json,
                             blocks ? "self_blocks" : "self_bytes",
                             top->rows[i].other_self);
          flam_cli_json_int (json,
                             blocks ? "total_blocks" : "total_bytes",
                             top->rows[i].other_total);
          add_other_errors (json, tree, &top->rows[i], blocks);
        }
      if (tree->split != NULL)
        flam_cli_json_states (json, measure, &top->rows[i].split);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

/* --- text ----------------------------------------------------------------- */

static void
add_calls_header (FlamCliTable *table, const FlamCallTable *calls)
{
  static const char *const durations[] = { "min", "mean", "dev", "p99" };

  flam_cli_table_add (table, "calls", 9);
  flam_cli_table_add (table, "per call", 9);
  for (guint i = 0; calls->has_durations && i < G_N_ELEMENTS (durations); i++)
    flam_cli_table_add (table, durations[i], 8);
}

static void
add_calls_cells (FlamCliTable *table, const Top *top, guint i)
{
  const FlamMeasure measure = flam_tree_measure (top->tree);
  const FlamFunctionCalls *calls = &top->calls->row[i];
  const FlamChartDurations *of = &calls->durations;
  const gint64 durations[] = { of->shortest,
                               (gint64)(of->mean + 0.5),
                               (gint64)(of->deviation + 0.5),
                               of->p99 };
  g_autofree char *count = flam_format_value (calls->count, FLAM_UNIT_COUNT);
  g_autofree char *each = flam_format_weight (
      &measure,
      (gint64)(flam_function_calls_cost (calls, &top->rows[i]) + 0.5));

  flam_cli_table_add (table, calls->count > 0 ? count : "", 0);
  flam_cli_table_add (table, calls->count > 0 ? each : "", 0);
  for (guint k = 0; top->calls->has_durations && k < 4; k++)
    {
      g_autofree char *text = flam_format_value (durations[k], FLAM_UNIT_NS);

      flam_cli_table_add (table, of->n > 0 ? text : "", 0);
    }
}

static void
add_header (FlamCliTable *table, const Top *top)
{
  const FlamTree *tree = top->tree;

  flam_cli_table_add (table, "self", 10);
  flam_cli_table_add (table, "", 8);
  flam_cli_table_add (table, "total", 10);
  flam_cli_table_add (table, "", 8);
  if (tree->other_total != NULL)
    flam_cli_table_add (
        table,
        flam_tree_other_unit (tree) == FLAM_UNIT_COUNT ? "blocks" : "bytes",
        9);
  if (top->calls != NULL)
    add_calls_header (table, top->calls);
  if (tree->by == FLAM_BY_FUNCTION)
    flam_cli_table_append (table, "function");
  flam_cli_table_end_row (table);
}

static void
add_cells (FlamCliTable *table, const Top *top, guint i)
{
  const FlamTree *tree = top->tree;
  const FlamFunctionRow *row = &top->rows[i];
  g_autofree char *self = flam_format_self (tree, row);
  g_autofree char *total = flam_format_total (tree, row);
  g_autofree char *self_share = flam_format_percent (row->self, tree->total[0]);
  g_autofree char *total_share =
      flam_format_percent (row->total, tree->total[0]);

  flam_cli_table_add (table, self, 0);
  flam_cli_table_add (table, self_share, 0);
  flam_cli_table_add (table, total, 0);
  flam_cli_table_add (table, total_share, 0);
  if (tree->other_total != NULL)
    {
      const FlamEstimate estimate = flam_functions_estimate_other (
          tree, flam_functions_total (tree, row));
      /* The total beside it shows that there are few samples. */
      g_autofree char *other = flam_format_with_error (
          &estimate, row->other_total, flam_tree_other_unit (tree));

      flam_cli_table_add (table, other, 0);
    }
  if (top->calls != NULL)
    add_calls_cells (table, top, i);
}

static void
add_text (FlamCliTable *table, const Top *top, const FlamFunctionRow *row)
{
  const FlamTree *tree = top->tree;
  g_autofree char *module =
      g_strdup_printf ("(%s)", module_of (tree, row->node));
  g_autofree char *name = row->node == 0
                              ? g_strdup (flam_functions_name (tree, row->node))
                              : flam_cli_name (top->options, tree, row->node);
  g_autofree char *detail = flam_tree_detail (tree, row->node);
  g_autofree char *states = flam_cli_states_text (tree, &row->split);

  flam_cli_table_append (table, "%s%s", name, detail);
  if (module[1] != ')' && tree->by == FLAM_BY_FUNCTION &&
      !g_str_has_suffix (name, module))
    flam_cli_table_append (table, "  %s", module);
  flam_cli_table_append (table, "%s", states);
}

static void
print_text (const Top *top)
{
  FlamCliTable *table = flam_cli_table_new ();

  add_header (table, top);
  for (guint i = 0; i < top->n; i++)
    {
      add_cells (table, top, i);
      add_text (table, top, &top->rows[i]);
      flam_cli_table_end_row (table);
    }
  flam_cli_table_print (table);
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (FlamTree) tree = NULL;
  g_autofree FlamFunctionRow *rows = NULL;
  g_autofree char *sort_text = NULL;
  FlamExit status;
  g_auto (GStrv) files = NULL;
  g_autoptr (FlamCallTable) calls = NULL;
  gboolean with_calls = FALSE;
  FlamSort sort;
  int limit = 0;
  guint n;
  const GOptionEntry entries[] = {
    { "sort",
      0,
      0,
      G_OPTION_ARG_STRING,
      &sort_text,
      N_ ("Sort by self (default) or total"),
      "self|total" },
    { "calls",
      0,
      0,
      G_OPTION_ARG_NONE,
      &with_calls,
      N_ ("Also show calls, their cost and durations"),
      NULL },
    { "limit", 0, 0, G_OPTION_ARG_INT, &limit, N_ ("At most N rows"), "N" },
    { NULL },
  };

  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_top, options, entries, 1, &files))
    return FLAM_EXIT_USAGE;
  if (!flam_cli_parse_sort (sort_text, &sort))
    return flam_cli_usage (_ ("top: --sort: expected self or total"));
  if (flam_history_store_is (files[0]))
    return flam_cli_top_store (files[0],
                               options,
                               sort,
                               limit > 0       ? (guint)limit
                               : options->json ? 0
                                               : 30);
  options->report = TRUE;
  options->one_measure = TRUE;
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, profile, files[0], &status);
  if (selection == NULL)
    return status;
  selection->invert = FALSE;
  tree = flam_cli_tree (profile, selection);
  rows = flam_functions_new_whole (tree, sort, &n);
  if (limit > 0)
    n = MIN (n, (guint)limit);
  else if (!options->json)
    n = MIN (n, 30);
  if (with_calls || options->json)
    calls = flam_call_table_new (tree, selection, rows, n, NULL, NULL);
  if (options->json)
    print_json (&(Top){ tree, rows, n, calls, options });
  else
    print_text (&(Top){ tree, rows, n, calls, options });
  return FLAM_EXIT_DONE;
}

const FlamVerb flam_verb_top = { "top",
                                 "FILE [--sort self|total]",
                                 N_ ("list the hottest functions"),
                                 run,
                                 TRUE };
