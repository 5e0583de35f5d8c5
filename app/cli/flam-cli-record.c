/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-rounds.h"

#include <errno.h>
#include <unistd.h>

/* The recorder is a separate program (it needs its own waitpid), and takes the
 * options unchanged: this verb only parses them, to report errors at once, and
 * then executes it, so that its exit status, which is the target's, becomes
 * that of the verb. Its messages begin with the verb's name. */

/* When memory is recorded, Python mostly shows the pools for its small
 * blocks. */
static void
hint_at_python (const FlamRecordOptions *options)
{
  g_autofree char *name =
      options->argv[0] == NULL ? NULL : g_path_get_basename (options->argv[0]);

  if (name != NULL && g_str_has_prefix (name, "python") &&
      (options->what & FLAM_RECORD_ALLOC) && !options->python_malloc &&
      g_getenv ("PYTHONMALLOC") == NULL && isatty (STDERR_FILENO))
    g_printerr (_ ("flambeau-cli: Python keeps small blocks in pools of its "
                   "own; --python-malloc records each\n"));
}

static int
print_help (void)
{
  g_auto (GStrv) lines = flam_record_options_help ();

  flam_cli_print (_ ("Usage: flambeau-cli record [OPTION…] (--pid PID | -- "
                     "PROGRAM ARG…)\n\n"));
  for (guint i = 0; lines[i] != NULL; i++)
    flam_cli_print ("%s\n", lines[i]);
  return FLAM_EXIT_DONE;
}

static int
run (int argc, char **argv)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new ();
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamRecordOptions) options =
      flam_record_options_parse (argc, argv, &error);

  if (options == NULL)
    {
      g_autofree char *shown = NULL;

      flam_cli_follow (error);
      shown = flam_message_shown (error->message);
      return flam_cli_usage (_ ("%s; see flambeau-cli record --help"), shown);
    }
  if (options->help)
    return print_help ();
  hint_at_python (options);
  if (options->push != NULL)
    return flam_cli_rounds (options);
  g_ptr_array_add (arguments, (gpointer)g_get_prgname ());
  for (int i = 1; i < argc; i++)
    g_ptr_array_add (arguments, argv[i]);
  g_ptr_array_add (arguments, NULL);
  execv (flam_recorder_path (), (char **)arguments->pdata);
  flam_cli_error (_ ("%s: cannot be started: %s"),
                  flam_recorder_path (),
                  g_strerror (errno));
  return FLAM_EXIT_REFUSED;
}

const FlamVerb flam_verb_record = {
  "record", "[OPTION…] -- PROGRAM ARG…", N_ ("record a program"), run, FALSE
};
