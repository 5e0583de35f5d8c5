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

/* What the exporter holds when it is asked for as much. Marks tell the kernel
 * and JITs, not what is interpreted. */
static FlamExporter
exporter_as_asked (const FlamExporter *exporter,
                   const FlamProfile *profile,
                   const FlamExportOptions *options)
{
  FlamExporter asked = *exporter;
  gboolean interpreted = FALSE;

  for (FlamId i = 0; i < profile->functions.n; i++)
    interpreted |= profile->functions.kind[i] == FLAM_KIND_INTERPRETED;
  if (options->annotate)
    asked.holds |= FLAM_HOLDS_INLINES | (interpreted ? 0 : FLAM_HOLDS_KINDS);
  if (options->root != FLAM_ROOT_NONE)
    asked.holds |= FLAM_HOLDS_THREADS | FLAM_HOLDS_PROCESSES;
  return asked;
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
  const FlamExporter asked = exporter_as_asked (exporter, profile, options);
  g_autofree char *losses = flam_exporter_losses (&asked, profile, selection);

  if (!exporter->save (profile, selection, options, sink, &error))
    {
      flam_cli_error ("%s: %s", path, error->message);
      flam_sink_free (sink);
      return FLAM_EXIT_REFUSED;
    }
  if (!flam_cli_finish (sink, output))
    return FLAM_EXIT_REFUSED;
  if (losses != NULL)
    {
      g_auto (GStrv) names = g_strsplit (losses, ", ", -1);

      for (guint i = 0; names[i] != NULL; i++)
        {
          char *name = names[i];

          names[i] = g_strdup (_ (name));
          g_free (name);
        }
      g_free (losses);
      losses = g_strjoinv (", ", names);
      g_printerr (_ ("%s: left out, for which %s has no room: %s\n"),
                  path,
                  exporter->id,
                  losses);
    }
  return FLAM_EXIT_DONE;
}

static gboolean
find_root (const char *word, FlamFoldedRoot *root)
{
  static const char *const words[] = { NULL, "comm", "pid", "tid" };

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (g_strcmp0 (word, words[i]) == 0)
      {
        *root = i;
        return TRUE;
      }
  return FALSE;
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
  FlamExportOptions as = { .root = FLAM_ROOT_NONE };
  g_autofree char *root = NULL;
  const FlamExporter *exporter;
  gboolean force = FALSE;
  FlamSink *sink;
  const GOptionEntry entries[] = {
    { "to", 0, 0, G_OPTION_ARG_STRING, &to, N_ ("See formats"), "FORMAT" },
    { "output",
      'o',
      0,
      G_OPTION_ARG_FILENAME,
      &output,
      N_ ("Where to (default: text to standard output)"),
      "OUT" },
    { "annotate",
      0,
      0,
      G_OPTION_ARG_NONE,
      &as.annotate,
      "Folded: _[k], _[i], _[j], _[w] behind names",
      NULL },
    { "root",
      0,
      0,
      G_OPTION_ARG_STRING,
      &root,
      N_ ("Folded: stacks begin with comm, pid or tid (default: functions)"),
      "WHAT" },
    { "force", 0, 0, G_OPTION_ARG_NONE, &force, N_ ("Replace OUT"), NULL },
    { NULL },
  };

  all = flam_cli_look_entries (&look, ~FLAM_LOOK_NEGATE, entries);
  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_export, options, all, 1, &files))
    return FLAM_EXIT_USAGE;
  exporter = to ? flam_exporter_find (to) : NULL;
  if (exporter == NULL)
    return flam_cli_usage (_ ("export: --to FORMAT; see formats"));
  if (!find_root (root, &as.root))
    return flam_cli_usage (_ ("export: --root %s: expected comm, pid or tid"),
                           root);
  if ((as.annotate || root != NULL) && !exporter->folds)
    return flam_cli_usage (_ ("export: --%s means nothing to %s"),
                           as.annotate ? "annotate" : "root",
                           exporter->id);
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
      flam_cli_error (_ ("%s: it does not say what threads were doing"),
                      files[0]);
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
  sink = flam_cli_open_output (output, force);
  if (sink == NULL)
    return FLAM_EXIT_REFUSED;
  status = save (exporter, profile, selection, &as, sink, files[0], output);
  if (status == FLAM_EXIT_DONE && !flam_cli_look_finish (&look))
    return FLAM_EXIT_REFUSED;
  return status;
}

const FlamVerb flam_verb_export = { "export",
                                    "FILE --to FORMAT [--output OUT]",
                                    N_ ("write it in another format"),
                                    run,
                                    FALSE };
