/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"
#include "flam-config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* The recorder is a program of its own (it needs its own waitpid), and takes
 * the options as they are: this verb only finds it and becomes it, so that its
 * exit status, which is the target's, is ours. It goes by our name, and so its
 * messages do. */

static const char *
recorder_path (void)
{
  const char *path = g_getenv ("FLAMBEAU_RECORDER");

  return path && *path ? path : FLAM_LIBEXECDIR "/flambeau-recorder";
}

static gboolean
has_option (char **argv, const char *option)
{
  gsize length = strlen (option);

  for (guint i = 1; argv[i] != NULL && strcmp (argv[i], "--") != 0; i++)
    if (strncmp (argv[i], option, length) == 0 &&
        (argv[i][length] == 0 || argv[i][length] == '='))
      return TRUE;
  return FALSE;
}

static const char *
option_value (char **argv, const char *option)
{
  gsize length = strlen (option);

  for (guint i = 1; argv[i] != NULL && strcmp (argv[i], "--") != 0; i++)
    {
      if (strcmp (argv[i], option) == 0)
        return argv[i + 1];
      if (g_str_has_prefix (argv[i], option) && argv[i][length] == '=')
        return argv[i] + length + 1;
    }
  return NULL;
}

static const char *
program_of (char **argv)
{
  for (guint i = 1; argv[i] != NULL; i++)
    if (strcmp (argv[i], "--") == 0)
      return argv[i + 1];
  return NULL;
}

/* With memory recorded, Python shows little but the pools it keeps its small
 * blocks in. */
static void
hint_at_python (char **argv)
{
  const char *mode = option_value (argv, "--mode");
  g_autofree char *name = NULL;

  if (program_of (argv) == NULL || has_option (argv, "--python-malloc") ||
      (g_strcmp0 (mode, "alloc") != 0 && g_strcmp0 (mode, "both") != 0) ||
      g_getenv ("PYTHONMALLOC") != NULL)
    return;
  name = g_path_get_basename (program_of (argv));
  if (g_str_has_prefix (name, "python") && isatty (STDERR_FILENO))
    g_printerr ("flambeau-cli: Python keeps small blocks in pools of its own; "
                "--python-malloc records each\n");
}

static int
print_help (void)
{
  flam_cli_print (
      "Usage: flambeau-cli record [OPTION…] (--pid PID | -- PROGRAM ARG…)\n\n"
      "  --mode cpu|wall|alloc|both  what to record (cpu)\n"
      "  --rate HZ                   samples a second (997)\n"
      "  --duration S                stop after S seconds\n"
      "  --sample-bytes N            one allocation every N bytes (524288)\n"
      "  --exact                     every allocation\n"
      "  --[no-]follow               children too, old and new (yes)\n"
      "  --[no-]python               Python frames (yes)\n"
      "  --python-malloc             Python's small blocks too, one by one\n"
      "  --cwd DIR                   the folder to start PROGRAM in\n"
      "  --env NAME=VALUE            set in PROGRAM's environment "
      "(repeatable)\n"
      "  --pid PID                   attach to a running process\n"
      "  --output OUT                the capture (PROGRAM.flambeau)\n"
      "  --force                     replace OUT where it exists\n");
  return FLAM_EXIT_DONE;
}

static int
run (int argc, char **argv)
{
  g_autoptr (GPtrArray) arguments = g_ptr_array_new_with_free_func (g_free);
  const char *path = recorder_path ();

  if (has_option (argv, "--help"))
    return print_help ();
  if (program_of (argv) == NULL && option_value (argv, "--pid") == NULL)
    return flam_cli_usage ("record: expected --pid PID or -- PROGRAM ARG…");
  hint_at_python (argv);
  g_ptr_array_add (arguments, g_strdup (g_get_prgname ()));
  for (int i = 1; i < argc; i++)
    g_ptr_array_add (arguments, g_strdup (argv[i]));
  g_ptr_array_add (arguments, NULL);
  execv (path, (char **)arguments->pdata);
  flam_cli_error ("%s: cannot be started: %s", path, g_strerror (errno));
  return FLAM_EXIT_REFUSED;
}

const FlamVerb flam_verb_record = {
  "record", "[OPTION…] -- PROGRAM ARG…", "record a program", run, FALSE
};
