/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-core-picture.h"

static void
print_json (const FlamWeights *weights,
            const FlamMeasure *measure,
            const char *file,
            const FlamLineRow *rows,
            guint n)
{
  JsonBuilder *json = json_builder_new ();

  json_builder_begin_object (json);
  flam_cli_json_string (json, "source", file);
  json_builder_set_member_name (json, "rows");
  json_builder_begin_array (json);
  for (guint i = 0; i < n; i++)
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
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
  json_builder_end_object (json);
  flam_cli_print_json (json);
}

static void
print_text (const FlamWeights *weights,
            const FlamMeasure *measure,
            const char *file,
            const FlamLineRow *rows,
            guint n)
{
  const FlamFacts *facts = &weights->profile->facts;

  flam_cli_print ("%s\n", file);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *self = flam_format_figure (
          facts, measure, flam_lines_self (weights, &rows[i]));
      g_autofree char *total = flam_format_figure (
          facts, measure, flam_lines_total (weights, &rows[i]));

      flam_cli_print ("%6u  self %s  total %s\n", rows[i].line, self, total);
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
  g_autofree char *source = NULL;
  FlamExit status;
  g_auto (GStrv) files = NULL;
  FlamMeasure measure;
  const char *file;
  guint n;
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
  file = flam_lines_find_file (weights, selection, source);
  if (*file == 0)
    {
      flam_cli_error (_ ("%s: contains no code of “%s”"), files[0], source);
      return FLAM_EXIT_REFUSED;
    }
  rows = flam_lines_new (weights, selection, file, FLAM_NONE, &n);
  measure = flam_selection_measure (selection, profile, selection->measure);
  if (options->json)
    print_json (weights, &measure, file, rows, n);
  else
    print_text (weights, &measure, file, rows, n);
  return FLAM_EXIT_DONE;
}

const FlamVerb flam_verb_lines = {
  "lines",
  "FILE --source PATH",
  N_ ("show the cost of each line of a source file"),
  run,
  TRUE
};
