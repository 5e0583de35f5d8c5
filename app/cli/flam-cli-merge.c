/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-core-query.h"
#include "flam-formats.h"

/* Selects from each file, by its own threads and times, and then merges the
 * parts. */

static GPtrArray *
load_parts (char **files, FlamCliOptions *options, FlamExit *status)
{
  g_autoptr (GPtrArray) parts =
      g_ptr_array_new_with_free_func ((GDestroyNotify)flam_profile_unref);

  for (guint i = 0; files[i] != NULL; i++)
    {
      g_autoptr (FlamProfile) profile = flam_cli_load (files[i], options);
      g_autoptr (FlamSelection) selection = NULL;
      g_autoptr (GError) error = NULL;
      FlamProfile *part;

      *status = FLAM_EXIT_REFUSED;
      if (profile == NULL)
        return NULL;
      selection = flam_cli_select (options, profile, files[i], status);
      if (selection == NULL)
        return NULL;
      part = flam_cut_new (profile, selection, &error);
      if (part == NULL)
        {
          *status = FLAM_EXIT_REFUSED;
          flam_cli_error ("%s: %s", files[i], error->message);
          return NULL;
        }
      g_ptr_array_add (parts, part);
    }
  return g_steal_pointer (&parts);
}

static FlamProfile *
add_up (char **files, const GPtrArray *profiles, gboolean apart)
{
  g_autofree FlamMergePart *parts = g_new0 (FlamMergePart, profiles->len);
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_autoptr (GError) error = NULL;
  FlamProfile *merged;

  for (guint i = 0; i < profiles->len; i++)
    {
      g_ptr_array_add (names, g_path_get_basename (files[i]));
      parts[i] = (FlamMergePart){ names->pdata[i], profiles->pdata[i] };
    }
  merged = flam_merge_new (parts, profiles->len, apart, &error);
  if (merged == NULL)
    {
      g_autofree char *shown = flam_message_shown (error->message);

      if (g_error_matches (error, FLAM_ERROR, FLAM_ERROR_INVALID) && !apart)
        flam_cli_error (_ ("%s; --side-by-side merges them nevertheless"),
                        shown);
      else
        flam_cli_error ("%s", shown);
    }
  return merged;
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamSelection) all = flam_selection_new ();
  g_autoptr (GPtrArray) parts = NULL;
  g_autoptr (FlamProfile) merged = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *output = NULL;
  const FlamExportOptions as = { .root = FLAM_ROOT_NONE };
  gboolean force = FALSE, apart = FALSE;
  g_auto (GStrv) files = NULL;
  FlamExit status;
  FlamSink *sink;
  const GOptionEntry entries[] = {
    { "output",
      'o',
      0,
      G_OPTION_ARG_FILENAME,
      &output,
      N_ ("Output file (.flambeau)"),
      "OUT" },
    { "side-by-side",
      0,
      0,
      G_OPTION_ARG_NONE,
      &apart,
      N_ ("Merge captures without a common measure"),
      NULL },
    { "force",
      0,
      0,
      G_OPTION_ARG_NONE,
      &force,
      N_ ("Replace OUT if it exists"),
      NULL },
    { NULL },
  };

  if (!flam_cli_parse (&argc,
                       &argv,
                       &flam_verb_merge,
                       options,
                       entries,
                       FLAM_CLI_ANY_FILES,
                       &files))
    return FLAM_EXIT_USAGE;
  if (output == NULL)
    return flam_cli_usage ("merge: --output OUT");
  parts = load_parts (files, options, &status);
  if (parts == NULL)
    return status;
  merged = add_up (files, parts, apart);
  if (merged == NULL)
    return FLAM_EXIT_REFUSED;
  sink = flam_cli_open_output (output, force);
  if (sink == NULL)
    return FLAM_EXIT_REFUSED;
  if (merged->n_measures > 0)
    all->measure = flam_weights_default_measure (merged);
  if (flam_exporter_save (
          flam_exporter_find ("flambeau"), merged, all, &as, sink, &error))
    return flam_cli_finish (sink, output) ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
  flam_cli_error ("%s: %s", output, error->message);
  flam_sink_free (sink);
  return FLAM_EXIT_REFUSED;
}

const FlamVerb flam_verb_merge = {
  "merge", "FILE… --output OUT", N_ ("add captures up into one"), run, FALSE
};
