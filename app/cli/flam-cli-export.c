/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-look.h"

#include <stdio.h>
#include <string.h>

/* "dir/nest.perf.data" -> "nest.perf.data.svg" in the current directory. */
static char *
default_output (const char *path, const FlamExporter *exporter)
{
  g_autofree char *base =
      strcmp (path, "-") == 0 ? g_strdup ("stdin") : g_path_get_basename (path);

  return g_strdup_printf ("%s.%s", base, exporter->suffix);
}

/* NULL after saying why not. */
static FlamSink *
open_output (const char *output, gboolean force)
{
  g_autoptr (GError) error = NULL;
  FlamSink *sink;

  if (output == NULL)
    return flam_cli_stdout ();
  if (!force && g_file_test (output, G_FILE_TEST_EXISTS))
    {
      flam_cli_error ("%s: exists already; --force replaces it", output);
      return NULL;
    }
  sink = flam_sink_new_for_file (output, &error);
  if (sink == NULL)
    flam_cli_error ("%s: cannot be written: %s", output, error->message);
  return sink;
}

/* What is lost on the way is said, once there is a document. */
static FlamExit
save (const FlamExporter *exporter,
      const FlamProfile *profile,
      const FlamSelection *selection,
      const FlamExportOptions *options,
      FlamSink *sink,
      const char *path,
      const char *output)
{
  g_autoptr (GError) error = NULL;
  g_autofree char *losses = flam_exporter_losses (exporter, profile, selection);

  if (!exporter->save (profile, selection, options, sink, &error))
    {
      flam_cli_error ("%s: %s", path, error->message);
      flam_sink_free (sink);
      return FLAM_EXIT_REFUSED;
    }
  if (!flam_cli_finish (sink, output))
    return FLAM_EXIT_REFUSED;
  if (losses != NULL)
    g_printerr ("%s: left out, for which %s has no room: %s\n",
                path,
                exporter->id,
                losses);
  return FLAM_EXIT_DONE;
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  g_autofree char *to = NULL;
  g_autofree char *output = NULL;
  g_autofree char *title = NULL;
  g_auto (FlamCliLook) look = { .map = NULL };
  g_autofree GOptionEntry *all = NULL;
  FlamExit status;
  g_auto (GStrv) files = NULL;
  FlamExportOptions as;
  const FlamExporter *exporter;
  gboolean force = FALSE;
  FlamSink *sink;
  const GOptionEntry entries[] = {
    { "to", 0, 0, G_OPTION_ARG_STRING, &to, "See formats", "FORMAT" },
    { "output",
      'o',
      0,
      G_OPTION_ARG_FILENAME,
      &output,
      "Where to (default: text to standard output)",
      "OUT" },
    { "force", 0, 0, G_OPTION_ARG_NONE, &force, "Replace OUT", NULL },
    { NULL },
  };

  all = flam_cli_look_entries (
      &look, ~(FLAM_LOOK_NEGATE | FLAM_LOOK_CHART), entries);
  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_export, options, all, 1, &files))
    return FLAM_EXIT_USAGE;
  exporter = to ? flam_exporter_find (to) : NULL;
  if (exporter == NULL)
    return flam_cli_usage ("export: --to FORMAT; see formats");
  status = flam_cli_look_parse (&look, "export", exporter->id, exporter->look);
  if (status != FLAM_EXIT_DONE)
    return status;
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, profile, files[0], &status);
  if (selection == NULL)
    return status;
  if (look.look.colors.mode == FLAM_PALETTE_STATE &&
      profile->samples.state == NULL)
    {
      flam_cli_error ("%s: it does not say what threads were doing", files[0]);
      return FLAM_EXIT_REFUSED;
    }
  as.look = look.look;
  title = g_path_get_basename (files[0]);
  if (as.look.title == NULL)
    as.look.title = title;
  if (g_strcmp0 (output, "-") == 0 || (output == NULL && exporter->text))
    g_clear_pointer (&output, g_free);
  else if (output == NULL)
    output = default_output (files[0], exporter);
  sink = open_output (output, force);
  if (sink == NULL)
    return FLAM_EXIT_REFUSED;
  status = save (exporter, profile, selection, &as, sink, files[0], output);
  if (status == FLAM_EXIT_DONE && !flam_cli_look_finish (&look))
    return FLAM_EXIT_REFUSED;
  return status;
}

const FlamVerb flam_verb_export = { "export",
                                    "FILE --to FORMAT [--output OUT]",
                                    "write it in another format",
                                    run,
                                    FALSE };
