/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-core-picture.h"

typedef struct
{
  const FlamWeights *weights;
  const FlamMeasure *measure;
  const char *file;
  FlamLineRow *rows;
  guint n;
  FlamJumpRow *jumps; /* from these lines */
  guint n_jumps;
} Lines;

static void
add_jumps (JsonBuilder *json, const Lines *lines, guint32 line)
{
  const FlamProfile *profile = lines->weights->profile;
  const FlamFrames *frames = &profile->frames;
  guint n;
  const FlamJumpRow *jumps =
      flam_jumps_find (lines->jumps, lines->n_jumps, line, &n);

  if (n == 0)
    return;
  json_builder_set_member_name (json, "jumps");
  json_builder_begin_array (json);
  for (guint i = 0; i < n; i++)
    {
      FlamFrameId to = jumps[i].to;

      json_builder_begin_object (json);
      flam_cli_json_string (
          json,
          "function",
          flam_profile_function_name (profile, frames->function[to]));
      flam_cli_json_string (
          json, "file", flam_profile_string (profile, frames->file[to]));
      flam_cli_json_int (json, "line", frames->line[to]);
      flam_cli_json_int (json, "taken", jumps[i].count.taken);
      if (jumps[i].count.reached >= 0)
        flam_cli_json_int (json, "executed", jumps[i].count.reached);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
print_json (const Lines *lines)
{
  const FlamWeights *weights = lines->weights;
  const FlamMeasure *measure = lines->measure;
  const FlamLineRow *rows = lines->rows;
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  flam_cli_json_string (json, "source", lines->file);
  json_builder_set_member_name (json, "rows");
  json_builder_begin_array (json);
  for (guint i = 0; i < lines->n; i++)
    {
      FlamEstimate estimate;

      json_builder_begin_object (json);
      flam_cli_json_int (json, "line", rows[i].line);
      flam_cli_json_weight (json, "self", measure, rows[i].self);
      flam_cli_json_weight (json, "total", measure, rows[i].total);
      estimate = flam_estimate_of_figure (&weights->profile->facts,
                                          measure,
                                          flam_lines_total (weights, &rows[i]));
      if (estimate.sampled)
        {
          flam_cli_json_int (json, "total_error", estimate.error);
          flam_cli_json_int (json, "samples", estimate.samples);
        }
      add_jumps (json, lines, rows[i].line);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

static void
print_jumps (const Lines *lines, guint32 line)
{
  guint n;
  const FlamJumpRow *jumps =
      flam_jumps_find (lines->jumps, lines->n_jumps, line, &n);

  for (guint i = 0; i < n; i++)
    {
      g_autofree char *target =
          flam_format_jump_target (lines->weights->profile, &jumps[i]);
      g_autofree char *count = flam_format_jump_count (&jumps[i].count);
      g_autofree char *text =
          g_strdup_printf (_ ("jumps to %s: %s"), target, count);

      flam_cli_print ("        %s\n", text);
    }
}

static void
print_text (const Lines *lines)
{
  const FlamFacts *facts = &lines->weights->profile->facts;

  flam_cli_print ("%s\n", lines->file);
  for (guint i = 0; i < lines->n; i++)
    {
      const FlamLineRow *row = &lines->rows[i];
      g_autofree char *self = flam_format_figure (
          facts, lines->measure, flam_lines_self (lines->weights, row));
      g_autofree char *total = flam_format_figure (
          facts, lines->measure, flam_lines_total (lines->weights, row));

      flam_cli_print ("%6u  self %s  total %s\n", row->line, self, total);
      print_jumps (lines, row->line);
    }
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (FlamWeights) weights = NULL;
  g_autofree FlamLineRow *rows = NULL;
  g_autofree FlamJumpRow *jumps = NULL;
  Lines lines = { 0 };
  g_autofree char *source = NULL;
  FlamExit status;
  g_auto (GStrv) files = NULL;
  FlamMeasure measure;
  const GOptionEntry entries[] = {
    { "source",
      0,
      0,
      G_OPTION_ARG_STRING,
      &source,
      N_ ("The source file, or the last part of its path"),
      "PATH" },
    { NULL },
  };

  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_lines, options, entries, 1, &files))
    return FLAM_EXIT_USAGE;
  if (source == NULL)
    return flam_cli_usage (_ ("lines: --source PATH is missing"));
  if (options->selection->by != FLAM_BY_FUNCTION &&
      options->selection->by != FLAM_BY_LINE)
    return flam_cli_usage (_ ("lines: --by has no effect on lines"));
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, profile, files[0], &status);
  if (selection == NULL)
    return status;
  weights = flam_weights_new (profile, selection, NULL, NULL);
  lines.file = flam_lines_find_file (weights, selection, source);
  if (*lines.file == 0)
    {
      flam_cli_error (_ ("%s: no code of “%s”"), files[0], source);
      return FLAM_EXIT_REFUSED;
    }
  rows = flam_lines_new (weights, selection, lines.file, FLAM_NONE, &lines.n);
  jumps = flam_jumps_of_lines (profile, lines.file, FLAM_NONE, &lines.n_jumps);
  measure = flam_selection_measure (selection, profile, selection->measure);
  lines.weights = weights;
  lines.measure = &measure;
  lines.rows = rows;
  lines.jumps = jumps;
  if (options->json)
    print_json (&lines);
  else
    print_text (&lines);
  return FLAM_EXIT_DONE;
}

const FlamVerb flam_verb_lines = {
  "lines",
  "FILE --source PATH",
  N_ ("show the cost of each line of a source file"),
  run,
  TRUE
};
