/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-options.h"

#include <string.h>

#define DEFAULT_RATE 997
#define MAX_RATE 20000
#define DEFAULT_SAMPLE_BYTES (512 << 10)

typedef struct
{
  char *mode;
  double rate;
  double duration;
  gint64 sample_bytes;
  gboolean exact;
  gboolean no_follow;
  gboolean no_python;
  gboolean python_malloc;
  char *output;
  gboolean force;
  int control_fd;
  int pid;
  char *directory;
  char **environment;
  gboolean version;
  gboolean help;
} Parsed;

static gboolean fail (GError **error, const char *format, ...)
    G_GNUC_PRINTF (2, 3);

static gboolean
fail (GError **error, const char *format, ...)
{
  g_autofree char *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  g_set_error_literal (error, FLAM_ERROR, FLAM_ERROR_INVALID, text);
  return FALSE;
}

static gboolean
read_mode (const char *mode, FlamRecordWhat *what, GError **error)
{
  static const struct
  {
    const char *name;
    FlamRecordWhat what;
  } modes[] = {
    { "cpu", FLAM_RECORD_CPU },
    { "wall", FLAM_RECORD_CPU | FLAM_RECORD_WALL },
    { "alloc", FLAM_RECORD_ALLOC },
    { "both", FLAM_RECORD_CPU | FLAM_RECORD_ALLOC },
  };

  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    if (strcmp (mode, modes[i].name) == 0)
      {
        *what = modes[i].what;
        return TRUE;
      }
  return fail (error, "--mode %s: expected cpu, wall, alloc or both", mode);
}

static gboolean
check (FlamOptions *options, const Parsed *parsed, GError **error)
{
  if (!read_mode (options->mode, &options->what, error))
    return FALSE;
  if (!(parsed->rate >= 1 && parsed->rate <= MAX_RATE))
    return fail (error, "--rate: expected 1 to %d samples a second", MAX_RATE);
  if (!(parsed->duration >= 0 && parsed->duration < 1e9))
    return fail (error, "--duration: expected seconds");
  if (!parsed->exact && parsed->sample_bytes < 1)
    return fail (error, "--sample-bytes: expected a number of bytes");
  if ((options->what & FLAM_RECORD_ALLOC) && options->pid > 0)
    return fail (error,
                 "--mode %s: allocations can be recorded only of a program "
                 "that is started here, not of one that runs already",
                 options->mode);
  for (guint i = 0; options->environment && options->environment[i]; i++)
    if (strchr (options->environment[i], '=') == NULL)
      return fail (error, "--env: expected NAME=VALUE");
  if ((options->pid > 0) == (options->argv[0] != NULL))
    return fail (error, "expected either --pid PID or -- PROGRAM ARGS");
  return TRUE;
}

/* What follows "--" is the program's, and never looked at. */
static int
own_arguments (int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--") == 0)
      return i;
  return argc;
}

static gboolean
parse_own (Parsed *parsed, int argc, char **argv, GError **error)
{
  const GOptionEntry entries[] = {
    { "output", 0, 0, G_OPTION_ARG_FILENAME, &parsed->output, NULL, NULL },
    { "force", 0, 0, G_OPTION_ARG_NONE, &parsed->force, NULL, NULL },
    { "mode", 0, 0, G_OPTION_ARG_STRING, &parsed->mode, NULL, NULL },
    { "rate", 0, 0, G_OPTION_ARG_DOUBLE, &parsed->rate, NULL, NULL },
    { "duration", 0, 0, G_OPTION_ARG_DOUBLE, &parsed->duration, NULL, NULL },
    { "follow",
      0,
      G_OPTION_FLAG_REVERSE,
      G_OPTION_ARG_NONE,
      &parsed->no_follow,
      NULL,
      NULL },
    { "no-follow", 0, 0, G_OPTION_ARG_NONE, &parsed->no_follow, NULL, NULL },
    { "python",
      0,
      G_OPTION_FLAG_REVERSE,
      G_OPTION_ARG_NONE,
      &parsed->no_python,
      NULL,
      NULL },
    { "no-python", 0, 0, G_OPTION_ARG_NONE, &parsed->no_python, NULL, NULL },
    { "python-malloc",
      0,
      0,
      G_OPTION_ARG_NONE,
      &parsed->python_malloc,
      NULL,
      NULL },
    { "sample-bytes",
      0,
      0,
      G_OPTION_ARG_INT64,
      &parsed->sample_bytes,
      NULL,
      NULL },
    { "exact", 0, 0, G_OPTION_ARG_NONE, &parsed->exact, NULL, NULL },
    { "pid", 0, 0, G_OPTION_ARG_INT, &parsed->pid, NULL, NULL },
    { "cwd", 0, 0, G_OPTION_ARG_FILENAME, &parsed->directory, NULL, NULL },
    { "env",
      0,
      0,
      G_OPTION_ARG_FILENAME_ARRAY,
      &parsed->environment,
      NULL,
      NULL },
    { "control-fd", 0, 0, G_OPTION_ARG_INT, &parsed->control_fd, NULL, NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &parsed->version, NULL, NULL },
    { "help", 0, 0, G_OPTION_ARG_NONE, &parsed->help, NULL, NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_auto (GStrv) copy = NULL;
  g_autoptr (GPtrArray) own = g_ptr_array_new ();

  for (int i = 0; i < argc; i++)
    g_ptr_array_add (own, g_strdup (argv[i]));
  g_ptr_array_add (own, NULL);
  copy = (char **)g_ptr_array_steal (own, NULL);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse_strv (context, &copy, error))
    return FALSE;
  if (copy[1] != NULL)
    return fail (
        error, "\"%s\" is not an option; programs go after --", copy[1]);
  return TRUE;
}

FlamOptions *
flam_options_parse (int argc, char **argv, gboolean *help, GError **error)
{
  g_autoptr (FlamOptions) options = g_new0 (FlamOptions, 1);
  Parsed parsed = { .rate = DEFAULT_RATE,
                    .sample_bytes = DEFAULT_SAMPLE_BYTES,
                    .control_fd = -1 };
  int n = own_arguments (argc, argv);
  gboolean ok = parse_own (&parsed, n, argv, error);

  *help = parsed.help || parsed.version;
  options->mode = parsed.mode != NULL ? parsed.mode : g_strdup ("cpu");
  options->rate = parsed.rate;
  options->duration = (gint64)(parsed.duration * 1e9);
  options->sample_bytes = parsed.exact ? 0 : (guint64)parsed.sample_bytes;
  options->follow = !parsed.no_follow;
  options->python = !parsed.no_python;
  options->python_malloc = parsed.python_malloc;
  options->output = parsed.output;
  options->force = parsed.force;
  options->control_fd = parsed.control_fd;
  options->pid = parsed.pid;
  options->directory = parsed.directory;
  options->environment = parsed.environment;
  options->argv = g_strdupv (argv + MIN (n + 1, argc));
  if (!ok || *help || !check (options, &parsed, error))
    return NULL;
  return g_steal_pointer (&options);
}

void
flam_options_free (FlamOptions *options)
{
  g_free (options->mode);
  g_free (options->output);
  g_free (options->directory);
  g_strfreev (options->environment);
  g_strfreev (options->argv);
  g_free (options);
}

char *
flam_options_command (const FlamOptions *options)
{
  g_autoptr (GString) command = g_string_new (NULL);

  if (options->pid > 0)
    {
      g_autofree char *path =
          g_strdup_printf ("/proc/%d/cmdline", options->pid);
      char *text = NULL;
      gsize size = 0;

      if (!g_file_get_contents (path, &text, &size, NULL))
        return g_strdup_printf ("process %d", options->pid);
      for (gsize i = 0; i + 1 < size; i++)
        if (text[i] == '\0')
          text[i] = ' ';
      return text;
    }
  for (guint i = 0; options->argv[i] != NULL; i++)
    {
      gboolean plain =
          options->argv[i][0] != '\0' &&
          strpbrk (options->argv[i], " \t\n\"'\\$`*?[]{}()<>|&;#~!") == NULL;
      g_autofree char *quoted = plain ? g_strdup (options->argv[i])
                                      : g_shell_quote (options->argv[i]);
      g_string_append_printf (command, "%s%s", i > 0 ? " " : "", quoted);
    }
  return g_string_free (g_steal_pointer (&command), FALSE);
}
