/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-core-picture.h"

#include <stdio.h>
#include <string.h>

/* JSON's nesting follows the tree, which may be 30,000 deep: a generator that
 * recurses would overflow, so brackets are written while walking. */

static void
print_member (const char *name, const char *value)
{
  g_autoptr (JsonNode) node = json_node_new (JSON_NODE_VALUE);
  g_autofree char *quoted = NULL;

  json_node_set_string (node, value);
  quoted = flam_cli_json_text (node);
  printf ("\"%s\":%s,", name, quoted);
}

static void
print_states (const FlamMeasure *measure, const FlamStateSplit *split)
{
  const char *comma = "";

  printf ("\"states\":{");
  for (guint i = 0; i < FLAM_N_STATES; i++)
    if (split->weight[i] != 0)
      {
        g_autofree char *weight = flam_format_plain (measure, split->weight[i]);

        printf ("%s\"%s\":%s", comma, flam_state_to_string (i), weight);
        comma = ",";
      }
  printf ("},");
}

static void
print_status (guint status)
{
  const char *comma = "";

  printf ("\"status\":[");
  for (guint i = 0; i < FLAM_N_STATUSES; i++)
    if (status & 1u << i)
      {
        printf ("%s\"%s\"", comma, flam_status_to_string (i));
        comma = ",";
      }
  printf ("],");
}

static void
open_node (const FlamTree *tree, FlamNodeId node)
{
  const FlamMeasure own = flam_tree_measure (tree);
  const FlamMeasure *measure = &own;
  const FlamFunctionRow row = flam_functions_row_of_node (tree, node);
  g_autofree char *total = flam_format_plain (measure, row.total);
  g_autofree char *self = flam_format_plain (measure, row.self);
  FlamEstimate estimate = flam_estimate_of_figure (
      &tree->profile->facts, measure, flam_functions_total (tree, &row));
  const char *file;
  guint32 line = flam_tree_source_line (tree, node, &file);

  printf ("{");
  print_member ("function", flam_tree_name (tree, node));
  print_member ("file", file);
  if (flam_tree_address (tree, node) != 0)
    printf ("\"address\":%" G_GUINT64_FORMAT ",",
            flam_tree_address (tree, node));
  printf ("\"line\":%u,\"total\":%s,\"self\":%s,",
          flam_tree_line (tree, node) ? flam_tree_line (tree, node) : line,
          total,
          self);
  if (estimate.sampled)
    printf ("\"total_error\":%" G_GINT64_FORMAT ",\"samples\":%" G_GINT64_FORMAT
            ",\"few_samples\":%s,",
            estimate.error,
            estimate.samples,
            flam_estimate_is_few (&estimate) ? "true" : "false");
  if (tree->split != NULL)
    print_states (measure, &tree->split[node]);
  if (flam_tree_status (tree, node) != 0)
    print_status (flam_tree_status (tree, node));
  printf ("\"children\":[");
}

static gboolean
is_shown (const FlamTree *tree, FlamNodeId node, guint depth, double share)
{
  return tree->depth[node] <= depth &&
         tree->total[node] >= share * tree->total[0];
}

static void
print_json (const FlamTree *tree, guint depth, double share)
{
  guint open = 0;

  for (FlamId i = 0; i < tree->n;)
    {
      if (!is_shown (tree, i, depth, share))
        {
          i = tree->subtree_end[i];
          continue;
        }
      for (; open > tree->depth[i]; open--)
        printf ("]}");
      if (i > 0 && tree->parent[i] + 1 != i)
        printf (",");
      open_node (tree, i++);
      open++;
    }
  for (; open > 0; open--)
    printf ("]}");
  printf ("\n");
}

/* Levels; deeper ones have their depth as a number. A recursion of 100,000
 * would take gigabytes of spaces. */
#define INDENT_MAX 100

static void
print_text (FlamCliOptions *options,
            const FlamTree *tree,
            guint depth,
            double share)
{
  for (FlamId i = 0; i < tree->n;)
    {
      const FlamFunctionRow row = flam_functions_row_of_node (tree, i);
      g_autofree char *total = flam_format_total (tree, &row);
      g_autofree char *self = flam_format_self (tree, &row);
      g_autofree char *name = flam_cli_name (options, tree, i);
      g_autofree char *detail = flam_tree_detail (tree, i);

      if (!is_shown (tree, i, depth, share))
        {
          i = tree->subtree_end[i];
          continue;
        }
      flam_cli_print ("%*s", 2 * (int)MIN (tree->depth[i], INDENT_MAX), "");
      if (tree->depth[i] > INDENT_MAX)
        flam_cli_print ("(%u) ", tree->depth[i]);
      flam_cli_print ("%s%s  %s  %s", name, detail, total, self);
      if (tree->split != NULL)
        {
          g_autofree char *states =
              flam_cli_states_text (tree, &tree->split[i]);

          flam_cli_print ("%s", states);
        }
      flam_cli_print ("\n");
      i++;
    }
}

/* The heaviest node that the user may have meant, or FLAM_NONE. */
static FlamNodeId
find_node (FlamCliOptions *options, const FlamTree *tree, const char *name)
{
  FlamNodeId found = FLAM_NONE;

  for (FlamId i = 1; i < tree->n; i++)
    if (flam_cli_is_named (options, tree, i, name) &&
        (found == FLAM_NONE || tree->total[i] > tree->total[found]))
      found = i;
  return found;
}

/* The whole tree if neither is given; NULL after printing that there is no such
 * function. */
static FlamTree *
sandwich (FlamCliOptions *options,
          FlamTree *tree,
          const char *callers,
          const char *callees)
{
  const char *name = callers != NULL ? callers : callees;
  FlamNodeId node;

  if (name == NULL)
    return flam_tree_ref (tree);
  node = find_node (options, tree, name);
  if (node == FLAM_NONE)
    {
      flam_cli_error (_ ("no function “%s” in the selection"), name);
      return NULL;
    }
  return callers != NULL ? flam_sandwich_callers (tree, node, NULL, NULL)
                         : flam_sandwich_callees (tree, node, NULL, NULL);
}

static int
run (int argc, char **argv)
{
  g_autofree char *callers = NULL;
  g_autofree char *callees = NULL;
  g_autoptr (FlamTree) whole = NULL;
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (FlamTree) tree = NULL;
  FlamExit status;
  g_auto (GStrv) files = NULL;
  int depth = G_MAXINT;
  double percent = 0;
  const GOptionEntry entries[] = {
    { "depth", 0, 0, G_OPTION_ARG_INT, &depth, N_ ("At most N levels"), "N" },
    { "min",
      0,
      0,
      G_OPTION_ARG_DOUBLE,
      &percent,
      N_ ("Only nodes of at least this share"),
      "PERCENT" },
    { "callers",
      0,
      0,
      G_OPTION_ARG_STRING,
      &callers,
      N_ ("Callers of this function"),
      "NAME" },
    { "callees",
      0,
      0,
      G_OPTION_ARG_STRING,
      &callees,
      N_ ("Callees of this function"),
      "NAME" },
    { NULL },
  };

  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_tree, options, entries, 1, &files))
    return FLAM_EXIT_USAGE;
  if (depth < 0 || !(percent >= 0 && percent <= 100))
    return flam_cli_usage (
        _ ("tree: expected --depth of at least 0 and --min from 0 to 100"));
  if (callers != NULL && callees != NULL)
    return flam_cli_usage (
        _ ("tree: --callers and --callees contradict each other"));
  if ((callers != NULL || callees != NULL) && options->selection->invert)
    return flam_cli_usage (
        _ ("tree: --invert cannot be combined with --callers or --callees"));
  options->report = TRUE;
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, profile, files[0], &status);
  if (selection == NULL)
    return status;
  whole = flam_cli_tree (profile, selection);
  tree = sandwich (options, whole, callers, callees);
  if (tree == NULL)
    return FLAM_EXIT_REFUSED;
  if (options->json)
    print_json (tree, depth, percent / 100);
  else
    print_text (options, tree, depth, percent / 100);
  return FLAM_EXIT_DONE;
}

const FlamVerb flam_verb_tree = {
  "tree",
  "FILE [--depth N] [--min PERCENT] [--callers NAME | --callees NAME]",
  N_ ("print the merged call tree"),
  run,
  TRUE
};
