/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-picture.h"

#include "flam-core-picture.h"

#include <stdio.h>
#include <string.h>

/* "dir/nest.perf.data" -> "nest.perf.data.svg" in the current directory, or
 * "FOLDER/flambeau-nest.perf.data.svg". */
static char *
default_output (const char *folder,
                const char *path,
                const FlamExporter *exporter)
{
  g_autofree char *name = NULL;
  g_autofree char *base =
      strcmp (path, "-") == 0 ? g_strdup ("stdin") : g_path_get_basename (path);

  if (folder == NULL)
    return g_strdup_printf ("%s.%s", base, exporter->suffix);
  name = g_strdup_printf ("flambeau-%s.%s", base, exporter->suffix);
  return g_build_filename (folder, name, NULL);
}

/* Losses are reported once there is a document. */
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
  g_autofree char *losses =
      flam_exporter_losses (exporter, profile, selection, options);

  if (!flam_exporter_save (exporter, profile, selection, options, sink, &error))
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
      g_printerr (_ ("%s: left out, because %s cannot hold it: %s\n"),
                  path,
                  exporter->id,
                  losses);
    }
  return FLAM_EXIT_DONE;
}

/* As typed. */
typedef struct
{
  char *anonymize;
  gboolean sources;
  GPtrArray *files; /* FlamShareSource */
  FlamRemains remains;
} Sharing;

static void
sharing_clear (Sharing *self)
{
  g_free (self->anonymize);
  g_clear_pointer (&self->files, g_ptr_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Sharing, sharing_clear)

static FlamExit
parse_sharing (Sharing *self, const FlamExporter *exporter, FlamShare *share)
{
  if (self->anonymize == NULL && !self->sources)
    return FLAM_EXIT_DONE;
  if (!exporter->shares)
    return flam_cli_usage (_ ("export: --%s has no effect on %s"),
                           self->sources ? "with-sources" : "anonymize",
                           exporter->id);
  share->remains = &self->remains;
  if (self->anonymize == NULL)
    return FLAM_EXIT_DONE;
  for (guint i = FLAM_ANONYMIZE_PATHS; i < FLAM_N_ANONYMIZE; i++)
    if (strcmp (self->anonymize, flam_anonymize_to_string (i)) == 0)
      {
        share->anonymize = i;
        if (i == FLAM_ANONYMIZE_NAMES && self->sources)
          return flam_cli_usage (
              _ ("export: --with-sources cannot be combined with --anonymize "
                 "names: "
                 "sources contain the names that are hashed"));
        return FLAM_EXIT_DONE;
      }
  return flam_cli_usage (_ ("export: --anonymize %s: expected paths or names"),
                         self->anonymize);
}

/* Each of the files that are included is listed by name. */
static void
find_sources (Sharing *self,
              const FlamCliOptions *options,
              const FlamProfile *profile,
              FlamShare *share)
{
  g_autoptr (FlamSourcePaths) paths = flam_source_paths_new ();

  if (!self->sources)
    return;
  for (guint i = 0; options->sources != NULL && options->sources[i]; i++)
    flam_source_paths_add (paths, options->sources[i]);
  flam_source_paths_add_profile (paths, profile);
  share->sources = self->files = flam_share_list_sources (profile, paths);
  for (guint i = 0; i < self->files->len; i++)
    {
      const FlamShareSource *file = self->files->pdata[i];
      g_autofree char *size =
          flam_format_value ((gint64)file->size, FLAM_UNIT_BYTES);

      g_printerr ("%s (%s)\n", file->path, size);
    }
}

static void
tell_remains (const Sharing *self, const FlamShare *share)
{
  const char *label;

  for (guint i = 0; share->remains != NULL; i++)
    {
      g_autofree char *text = flam_share_describe (&self->remains, i, &label);
      g_autofree char *shown = text != NULL ? flam_message_shown (text) : NULL;

      if (text == NULL)
        return;
      g_printerr ("%s: %s\n", _ (label), shown);
    }
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_auto (Sharing) sharing = { NULL };
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  g_autofree char *to = NULL;
  g_autofree char *output = NULL;
  g_autofree char *title = NULL;
  g_auto (FlamCliPicture) look = { .map = NULL };
  g_autofree GOptionEntry *all = NULL;
  FlamExit status;
  g_auto (GStrv) files = NULL;
  FlamExportOptions *as = &look.as;
  const FlamExporter *exporter;
  gboolean force = FALSE;
  FlamSink *sink;
  const GOptionEntry entries[] = {
    { "to",
      0,
      0,
      G_OPTION_ARG_STRING,
      &to,
      N_ ("Output format; see flambeau-cli formats"),
      "FORMAT" },
    { "output",
      'o',
      0,
      G_OPTION_ARG_FILENAME,
      &output,
      N_ ("Output file or folder (default: text to standard output)"),
      "OUT" },
    { "anonymize",
      0,
      0,
      G_OPTION_ARG_STRING,
      &sharing.anonymize,
      N_ ("Flambeau: shorten paths and omit arguments, or hash names"),
      "paths|names" },
    { "with-sources",
      0,
      0,
      G_OPTION_ARG_NONE,
      &sharing.sources,
      N_ ("Flambeau: include source files"),
      NULL },
    { "force",
      'f',
      0,
      G_OPTION_ARG_NONE,
      &force,
      N_ ("Replace OUT if it exists"),
      NULL },
    { NULL },
  };

  all = flam_cli_picture_entries (&look, ~FLAM_PICTURE_STYLE_NEGATE, entries);
  if (!flam_cli_parse (
          &argc, &argv, &flam_verb_export, options, all, 1, &files))
    return FLAM_EXIT_USAGE;
  exporter = to ? flam_exporter_find (to) : NULL;
  if (to == NULL)
    return flam_cli_usage (
        _ ("export: --to FORMAT is missing; see flambeau-cli formats"));
  if (exporter == NULL)
    return flam_cli_usage (
        _ ("export: --to: no format “%s”; see flambeau-cli formats"), to);
  status = parse_sharing (&sharing, exporter, &as->share);
  if (status != FLAM_EXIT_DONE)
    return status;
  status = flam_cli_picture_parse (
      &look, "export", exporter->id, flam_exporter_parts (exporter));
  if (status != FLAM_EXIT_DONE)
    return status;
  options->in_order = as->look.chart;
  options->report = exporter->look != 0;
  profile = flam_cli_load (files[0], options);
  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, profile, files[0], &status);
  if (selection == NULL)
    return status;
  if (as->look.colors.mode == FLAM_PALETTE_STATE &&
      profile->samples.state == NULL)
    {
      flam_cli_error (
          _ ("%s: the capture does not record what threads were doing"),
          files[0]);
      return FLAM_EXIT_REFUSED;
    }
  title = g_path_get_basename (files[0]);
  if (as->look.title == NULL)
    as->look.title = title;
  if (g_strcmp0 (output, "-") == 0 || (output == NULL && exporter->text))
    g_clear_pointer (&output, g_free);
  else if (output == NULL || g_file_test (output, G_FILE_TEST_IS_DIR))
    {
      char *folder = output;

      output = default_output (folder, files[0], exporter);
      g_free (folder);
    }
  sink = flam_cli_open_output (output, force);
  if (sink == NULL)
    return FLAM_EXIT_REFUSED;
  find_sources (&sharing, options, profile, &as->share);
  status = save (exporter, profile, selection, as, sink, files[0], output);
  if (status == FLAM_EXIT_DONE)
    tell_remains (&sharing, &as->share);
  if (status == FLAM_EXIT_DONE && !flam_cli_picture_finish (&look))
    return FLAM_EXIT_REFUSED;
  return status;
}

const FlamVerb flam_verb_export = { "export",
                                    "FILE --to FORMAT [--output OUT]",
                                    N_ ("write a capture in another format"),
                                    run,
                                    FALSE };
