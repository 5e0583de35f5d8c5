/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-push.h"

static FlamExit
push (const char *path, const FlamLocation *to, FlamCliOptions *options)
{
  const FlamServerOptions server = flam_cli_server (options);
  g_autoptr (FlamProfile) profile = flam_cli_load (path, options);
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *note = NULL;
  FlamExit status;

  if (profile == NULL)
    return FLAM_EXIT_REFUSED;
  selection = flam_cli_select (options, profile, path, &status);
  if (selection == NULL)
    return status;
  if (!flam_push (to, profile, selection, path, &server, &note, &error))
    {
      g_autofree char *shown = flam_message_shown (error->message);

      flam_cli_error ("%s: %s", path, shown);
      return FLAM_EXIT_REFUSED;
    }
  if (note != NULL)
    flam_cli_error ("%s: %s: %s", path, to->text, note);
  return FLAM_EXIT_DONE;
}

static int
run (int argc, char **argv)
{
  g_autoptr (FlamCliOptions) options = flam_cli_options_new ();
  g_autoptr (FlamLocation) location = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *to = NULL;
  g_auto (GStrv) files = NULL;
  FlamExit worst = FLAM_EXIT_DONE;
  const GOptionEntry entries[] = {
    { "to",
      0,
      0,
      G_OPTION_ARG_STRING,
      &to,
      N_ ("The server: pyroscope+http://…, otlp+http://…, clickhouse://…"),
      "URL" },
    { NULL },
  };

  if (!flam_cli_parse (&argc,
                       &argv,
                       &flam_verb_push,
                       options,
                       entries,
                       FLAM_CLI_ANY_FILES,
                       &files))
    return FLAM_EXIT_USAGE;
  if (to == NULL)
    return flam_cli_usage (_ ("push: --to URL is missing"));
  location = flam_location_new (to, &error);
  if (location == NULL || !flam_push_check (location, &error))
    {
      g_autofree char *shown = flam_message_shown (error->message);

      return flam_cli_usage ("push: %s", shown);
    }
  for (guint i = 0; files[i] != NULL; i++)
    {
      FlamExit status = push (files[i], location, options);

      if (status != FLAM_EXIT_DONE)
        worst = status;
    }
  return worst;
}

const FlamVerb flam_verb_push = {
  "push", "CAPTURE… --to URL", N_ ("send captures to a server"), run, FALSE
};
