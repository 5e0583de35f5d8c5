/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-cli-table.h"
#include "flam-core-picture.h"
#include "flam-disassembly.h"

#include <string.h>

/* The most expensive function with that name, otherwise with that text in its
 * name; 0: none. */
static FlamNodeId
find_node (FlamCliOptions *options, const FlamTree *tree, const char *name)
{
  FlamId best = 0;
  gboolean exact = FALSE;

  for (FlamId i = 1; i < tree->n; i++)
    {
      const char *own = flam_tree_name (tree, i);
      gboolean same = flam_cli_is_named (options, tree, i, name);

      if (!same && (exact || strstr (own, name) == NULL))
        continue;
      if (best == 0 || (same && !exact) || tree->self[i] > tree->self[best] ||
          (tree->self[i] == tree->self[best] &&
           tree->total[i] > tree->total[best]))
        best = i;
      exact |= same;
    }
  return best;
}

static void
print_json (const FlamMeasure *measure, const FlamDisassembly *code)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  flam_cli_json_string (json, "function", code->function);
  flam_cli_json_string (json, "path", code->path);
  flam_cli_json_int (json, "start", (gint64)code->start);
  flam_cli_json_int (json, "end", (gint64)code->end);
  flam_cli_json_weight (json, "self", measure, code->self);
  flam_cli_json_weight (json, "total", measure, code->total);
  json_builder_set_member_name (json, "rows");
  json_builder_begin_array (json);
  for (guint i = 0; i < code->n; i++)
    {
      const FlamInstruction *row = &code->instructions[i];

      json_builder_begin_object (json);
      flam_cli_json_int (json, "address", (gint64)row->address);
      flam_cli_json_int (json, "size", row->size);
      flam_cli_json_string (json, "mnemonic", row->mnemonic);
      flam_cli_json_string (json, "operands", row->operands);
      flam_cli_json_int (json, "target", (gint64)row->target);
      flam_cli_json_string (json, "function", row->function);
      flam_cli_json_string (json, "file", row->file);
      flam_cli_json_int (json, "line", row->line);
      flam_cli_json_weight (json, "self", measure, row->self);
      flam_cli_json_weight (json, "total", measure, row->total);
      if (row->jumps.taken > 0 || row->jumps.reached >= 0)
        flam_cli_json_int (json, "taken", row->jumps.taken);
      if (row->jumps.reached >= 0)
        flam_cli_json_int (json, "executed", row->jumps.reached);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

/* The counterpart and the counted part are not known per instruction. */
static char *
figure_text (const FlamFacts *facts, const FlamMeasure *measure, gint64 weight)
{
  return flam_format_figure (
      facts, measure, (FlamFigure){ weight, .other = -1 });
}

static void
add_row (FlamCliTable *table,
         const FlamFacts *facts,
         const FlamMeasure *measure,
         const FlamDisassembly *code,
         const FlamInstruction *row)
{
  g_autofree char *self = figure_text (facts, measure, row->self);
  g_autofree char *share = flam_format_percent (row->self, code->self);
  g_autofree char *jumps = flam_format_jump_count (&row->jumps);

  flam_cli_table_add (table, row->self != 0 ? self : "", 10);
  flam_cli_table_add (table, row->self != 0 ? share : "", 7);
  if (code->counts_jumps)
    flam_cli_table_add (table, jumps, 7);
  flam_cli_table_append (table,
                         "%8" G_GINT64_MODIFIER "x:  %-8s %s",
                         row->address,
                         row->mnemonic,
                         row->operands);
  if (row->callee != NULL)
    flam_cli_table_append (table, "  <%s>", row->callee);
  flam_cli_table_end_row (table);
}

/* Of the instructions that follow. */
static void
add_line (FlamCliTable *table,
          const FlamDisassembly *code,
          const FlamInstruction *row)
{
  gboolean inlined = strcmp (row->function, code->function) != 0;

  flam_cli_table_add (table, "", 0);
  flam_cli_table_add (table, "", 0);
  if (code->counts_jumps)
    flam_cli_table_add (table, "", 0);
  flam_cli_table_append (
      table, "%s:%u  %s", row->file, row->line, inlined ? row->function : "");
  flam_cli_table_end_row (table);
}

static void
print_text (const FlamFacts *facts,
            const FlamMeasure *measure,
            const FlamDisassembly *code)
{
  FlamCliTable *table = flam_cli_table_new ();
  g_autofree char *self = figure_text (facts, measure, code->self);
  g_autofree char *total = figure_text (facts, measure, code->total);

  flam_cli_print ("%s  self %s  total %s\n", code->function, self, total);
  flam_cli_print ("%s\n", code->path);
  for (guint i = 0; i < code->n; i++)
    {
      const FlamInstruction *row = &code->instructions[i];

      if (flam_disassembly_is_new_line (code, i))
        add_line (table, code, row);
      add_row (table, facts, measure, code, row);
    }
  flam_cli_table_print (table);
}

static FlamDisassembly *
disassemble (FlamCliOptions *options,
             const FlamProfile *profile,
             const FlamSelection *selection,
             const char *function,
             const FlamDisassemblyOptions *how)
{
  g_autoptr (FlamWeights) weights =
      flam_weights_new (profile, selection, NULL, NULL);
  g_autoptr (FlamTree) tree =
      flam_tree_new (weights, selection, FLAM_ORDER_TOTAL, NULL, NULL);
  FlamNodeId node = find_node (options, tree, function);
  g_autoptr (GError) error = NULL;
  FlamDisassembly *code;

  if (node == 0)
    {
      flam_cli_error (_ ("no function “%s” in the selection"), function);
      return NULL;
    }
  code = flam_disassembly_new (
      weights, selection, tree->frame[node], how, NULL, &error);
  if (code == NULL)
    flam_cli_error ("%s: %s", flam_tree_name (tree, node), error->message);
  return code;
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (FlamDisassembly) code = NULL;
  g_autofree char *function = NULL;
  g_autofree char *syntax = NULL;
  FlamDisassemblyOptions how = { FLAM_SYNTAX_INTEL };
  FlamMeasure measure;
  FlamExit status;
  g_auto (GStrv) files = NULL;
  const GOptionEntry entries[] = {
    { "function",
      0,
      0,
      G_OPTION_ARG_STRING,
      &function,
      N_ ("The function, or part of its name"),
      "NAME" },
    { "syntax",
      0,
      0,
      G_OPTION_ARG_STRING,
      &syntax,
      N_ ("intel or att"),
      "SYNTAX" },
    { NULL },
  };

  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_disassemble, options, entries, 1, &files))
    return FLAM_EXIT_USAGE;
  if (function == NULL)
    return flam_cli_usage (_ ("disassemble: --function NAME is missing"));
  if (syntax != NULL && strcmp (syntax, "intel") != 0 &&
      strcmp (syntax, "att") != 0)
    return flam_cli_usage (
        _ ("disassemble: --syntax %s: expected intel or att"), syntax);
  if (options->selection->by != FLAM_BY_FUNCTION || options->selection->invert)
    return flam_cli_usage (
        _ ("disassemble: --by and --invert have no effect on instructions"));
  if (g_strcmp0 (syntax, "att") == 0)
    how.syntax = FLAM_SYNTAX_ATT;
  how.binaries = (const char *const *)options->binaries;
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, profile, files[0], &status);
  if (selection == NULL)
    return status;
  code = disassemble (options, profile, selection, function, &how);
  if (code == NULL)
    return FLAM_EXIT_REFUSED;
  measure = flam_selection_measure (selection, profile, selection->measure);
  if (options->json)
    print_json (&measure, code);
  else
    print_text (&profile->facts, &measure, code);
  return FLAM_EXIT_DONE;
}

const FlamVerb flam_verb_disassemble = {
  "disassemble",
  "FILE --function NAME [--syntax intel|att]",
  N_ ("show the cost of each instruction of a function"),
  run,
  TRUE
};
