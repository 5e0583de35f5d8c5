/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-record-options.h"

#include "flam-config.h"
#include "flam-core-profile.h"
#include "flam-record-events.h"
#include "flam-transport.h"

#include <string.h>

#define DEFAULT_RATE 997
#define MAX_RATE 20000
#define DEFAULT_SAMPLE_BYTES (512 << 10)
#define DEFAULT_RECONNECT 120
#define MAX_RECONNECT (24 * 60 * 60)

static const struct
{
  const char *name;
  FlamRecordWhat what;
} modes[FLAM_N_RECORD_MODES] = {
  { "cpu", FLAM_RECORD_CPU },
  { "wall", FLAM_RECORD_CPU | FLAM_RECORD_WALL },
  { "alloc", FLAM_RECORD_ALLOC },
  { "both", FLAM_RECORD_CPU | FLAM_RECORD_ALLOC },
  { "faults", FLAM_RECORD_FAULTS },
  { "resources", FLAM_RECORD_RESOURCES },
};

FlamRecordWhat
flam_record_mode_what (FlamRecordMode mode)
{
  return modes[mode].what;
}

const char *
flam_record_mode_name (FlamRecordMode mode)
{
  return modes[mode].name;
}

gboolean
flam_record_mode_parse (const char *name, FlamRecordMode *mode)
{
  for (guint i = 0; i < G_N_ELEMENTS (modes); i++)
    if (strcmp (name, modes[i].name) == 0)
      {
        *mode = (FlamRecordMode)i;
        return TRUE;
      }
  return FALSE;
}

const char *
flam_recorder_path (void)
{
  static char *installed;
  const char *path = g_getenv ("FLAMBEAU_RECORDER");

  if (g_once_init_enter (&installed))
    g_once_init_leave (
        &installed,
        flam_installed_or_built (FLAM_LIBEXECDIR "/flambeau-recorder",
                                 "app/record/flambeau-recorder"));
  return path != NULL && *path != '\0' ? path : installed;
}

/* --- the table ----------------------------------------------------------- */

typedef enum
{
  FLAG,
  SWITCH, /* a switch that --no-NAME turns off */
  NUMBER,
  INTEGER,
  BYTES,
  TEXT,
  PATH,
  TEXTS,
} Kind;

static const struct
{
  GOptionArg arg;
  gsize size;
} kinds[] = {
  [FLAG] = { G_OPTION_ARG_NONE, sizeof (gboolean) },
  [SWITCH] = { G_OPTION_ARG_NONE, sizeof (gboolean) },
  [NUMBER] = { G_OPTION_ARG_DOUBLE, sizeof (double) },
  [INTEGER] = { G_OPTION_ARG_INT, sizeof (int) },
  [BYTES] = { G_OPTION_ARG_INT64, sizeof (gint64) },
  [TEXT] = { G_OPTION_ARG_STRING, sizeof (char *) },
  [PATH] = { G_OPTION_ARG_FILENAME, sizeof (char *) },
  [TEXTS] = { G_OPTION_ARG_FILENAME_ARRAY, sizeof (char **) },
};

#define AT(field) G_STRUCT_OFFSET (FlamRecordOptions, field)

/* In the order of the help; without a text: not documented for users. */
static const struct
{
  const char *name;
  Kind kind;
  gsize at;
  const char *argument;
  const char *text;
  char letter; /* 0: none */
} table[] = {
  { "mode",
    TEXT,
    AT (mode),
    "cpu|wall|alloc|both|faults|resources",
    N_ ("What to record (cpu)") },
  { "rate", NUMBER, AT (rate), "HZ", N_ ("Samples per second (997)") },
  { "engine",
    TEXT,
    AT (engine),
    "auto|ptrace|perf",
    N_ ("The clock that takes the samples (ptrace)") },
  { "events",
    TEXT,
    AT (events),
    "EVENT,…",
    N_ ("With --engine perf: also count these events") },
  { "duration", NUMBER, AT (duration), "S", N_ ("Stop after S seconds") },
  { "delay",
    NUMBER,
    AT (delay),
    "S",
    N_ ("Take no samples in the first S seconds") },
  { "every",
    NUMBER,
    AT (every),
    "S",
    N_ ("With --push: record again every S seconds") },
  { "for", NUMBER, AT (span), "S", N_ ("With --every: for S seconds each") },
  { "push", TEXT, AT (push), "URL", N_ ("Send the capture to a server") },
  { "sample-bytes",
    BYTES,
    AT (sample_bytes),
    "N",
    N_ ("Record one allocation per N bytes (524288)") },
  { "exact",
    FLAG,
    AT (exact),
    "",
    N_ ("Record every allocation, or every page fault") },
  { "follow",
    SWITCH,
    AT (follow),
    "",
    N_ ("Also record child processes (yes)") },
  { "runtimes",
    SWITCH,
    AT (runtimes),
    "",
    N_ ("Record frames of managed languages (yes)") },
  { "python", SWITCH, AT (python), "", N_ ("Record Python frames (yes)") },
  { "python-malloc",
    FLAG,
    AT (python_malloc),
    "",
    N_ ("Record each of Python's small blocks") },
  { "cwd", PATH, AT (directory), "DIR", N_ ("Start PROGRAM in this folder") },
  { "env",
    TEXTS,
    AT (environment),
    "NAME=VALUE",
    N_ ("Set this variable for PROGRAM (repeatable)") },
  { "pid",
    TEXTS,
    AT (pids),
    "PID[,PID…]",
    N_ ("Attach to running processes (repeatable)") },
  { "process",
    TEXTS,
    AT (processes),
    "NAME",
    N_ ("Attach to the process of this name (repeatable)") },
  { "unit",
    TEXTS,
    AT (units),
    "UNIT",
    N_ ("Attach to the processes of a systemd unit") },
  { "cgroup",
    TEXTS,
    AT (cgroups),
    "PATH",
    N_ ("Attach to the processes of a control group") },
  { "container",
    TEXTS,
    AT (containers),
    "NAME",
    N_ ("Attach to the processes of a container") },
  { "wait-for",
    TEXT,
    AT (wait_for),
    "NAME",
    N_ ("Attach once a process of this name exists") },
  { "host",
    TEXT,
    AT (host),
    "HOST",
    N_ ("Record on HOST: by ssh, or in a container") },
  { "reconnect",
    NUMBER,
    AT (reconnect),
    "S",
    N_ ("With --host: try for S seconds if the connection is lost (120)") },
  { "list",
    FLAG,
    AT (list),
    "",
    N_ ("Print the processes, and record nothing") },
  { "remove-recorder",
    FLAG,
    AT (remove),
    "",
    N_ ("Remove the recorder from HOST") },
  { "output",
    PATH,
    AT (output),
    "OUT",
    N_ ("Write the capture here (PROGRAM.flambeau)"),
    'o' },
  { "force", FLAG, AT (force), "", N_ ("Replace OUT if it exists"), 'f' },
  { "fetch", PATH, AT (fetch), "FILE", NULL },
  { "reached-as", TEXT, AT (reached), "HOST", NULL },
  { "children", SWITCH, AT (follow), "", NULL },
  { "control-fd", INTEGER, AT (control_fd), "N", NULL },
  { "version", FLAG, AT (help), "", NULL },
  { "help", FLAG, AT (help), "", NULL },
};

char **
flam_record_options_help (void)
{
  g_autoptr (GPtrArray) lines = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (table) && table[i].text; i++)
    {
      const char letter[] = { '-', table[i].letter, ',', ' ', '\0' };
      g_autofree char *option =
          g_strdup_printf ("%s--%s%s%s%s",
                           table[i].letter != 0 ? letter : "",
                           table[i].kind == SWITCH ? "[no-]" : "",
                           table[i].name,
                           *table[i].argument ? " " : "",
                           table[i].argument);
      /* printf() counts bytes. */
      gsize more = strlen (option) - (gsize)g_utf8_strlen (option, -1);

      g_ptr_array_add (
          lines,
          g_strdup_printf (
              "  %-*s  %s", 26 + (int)more, option, gettext (table[i].text)));
    }
  g_ptr_array_add (lines, NULL);
  return (char **)g_ptr_array_steal (lines, NULL);
}

/* --- reading ------------------------------------------------------------- */

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
  return flam_error_set (error, FLAM_ERROR_INVALID, "%s", text);
}

static gboolean
names_processes (const FlamRecordOptions *options)
{
  return options->pids != NULL || options->processes != NULL ||
         options->units != NULL || options->cgroups != NULL ||
         options->containers != NULL;
}

gboolean
flam_record_options_attaches (const FlamRecordOptions *options)
{
  return options->wait_for != NULL || names_processes (options);
}

void
flam_record_options_add_pid (FlamRecordOptions *options, pid_t pid)
{
  guint n = options->pids != NULL ? g_strv_length (options->pids) : 0;

  options->pids = g_renew (char *, options->pids, n + 2);
  options->pids[n] = g_strdup_printf ("%d", (int)pid);
  options->pids[n + 1] = NULL;
}

static gboolean
add_pids (GArray *pids, const char *text, GError **error)
{
  g_auto (GStrv) numbers = g_strsplit (text, ",", -1);

  for (guint i = 0; i == 0 || numbers[i] != NULL; i++)
    {
      guint64 number;
      gboolean known = FALSE;

      if (numbers[0] == NULL ||
          !g_ascii_string_to_unsigned (
              numbers[i], 10, 1, G_MAXINT32, &number, NULL))
        return fail (error, N_ ("--pid %s: expected process IDs"), text);
      for (guint j = 0; j < pids->len; j++)
        known |= g_array_index (pids, pid_t, j) == (pid_t)number;
      if (!known)
        g_array_append_vals (pids, &(pid_t){ (pid_t)number }, 1);
    }
  return TRUE;
}

GArray *
flam_record_options_get_pids (const FlamRecordOptions *options, GError **error)
{
  g_autoptr (GArray) pids = g_array_new (FALSE, FALSE, sizeof (pid_t));

  for (guint i = 0; options->pids != NULL && options->pids[i] != NULL; i++)
    if (!add_pids (pids, options->pids[i], error))
      return NULL;
  return g_steal_pointer (&pids);
}

static gboolean
check_targets (const FlamRecordOptions *options, GError **error)
{
  gboolean launches = options->argv != NULL && options->argv[0] != NULL;
  g_autoptr (GArray) pids = flam_record_options_get_pids (options, error);

  if (pids == NULL ||
      (options->host != NULL && !flam_transport_check (options->host, error)))
    return FALSE;
  if (options->remove && options->host == NULL)
    return fail (error, N_ ("--remove-recorder: expected --host HOST"));
  if (options->fetch != NULL &&
      (options->host == NULL || options->output == NULL))
    return fail (error, "--fetch: expected --host HOST --output OUT");
  if (options->remove || options->list || options->fetch != NULL)
    return TRUE;
  if (options->wait_for != NULL && names_processes (options))
    return fail (error,
                 N_ ("--wait-for cannot be combined with processes that "
                     "already run"));
  if (flam_record_options_attaches (options) == launches)
    return fail (
        error,
        N_ ("expected either -- PROGRAM ARG…, or --pid PID, --process NAME, "
            "--unit UNIT, --cgroup PATH, --container NAME or --wait-for "
            "NAME"));
  return TRUE;
}

static gboolean
check_events (const FlamRecordOptions *options, GError **error)
{
  g_autofree char *unknown = NULL, *names = flam_record_events_names ();
  g_autoptr (GPtrArray) events =
      flam_record_events_parse (options->events, &unknown);

  if (events == NULL)
    return fail (error,
                 N_ ("--events %s: expected a list of %s"),
                 unknown != NULL ? unknown : options->events,
                 names);
  if (strcmp (options->engine, FLAM_ENGINE_PERF) != 0)
    return fail (error,
                 N_ ("--events: the kernel counts them, so add --engine "
                     "perf"));
  return TRUE;
}

static gboolean
check_rounds (const FlamRecordOptions *options, GError **error)
{
  if ((options->every == 0 && options->span == 0) || options->list)
    return TRUE;
  if (!(options->span > 0 && options->every > options->span &&
        options->every < 1e9))
    return fail (error,
                 N_ ("--every and --for: expected seconds, such as --every 60 "
                     "--for 10"));
  if (options->push == NULL)
    return fail (error, N_ ("--every: expected --push URL"));
  if (options->duration > 0 || !flam_record_options_attaches (options))
    return fail (error,
                 N_ ("--every attaches to a running process, and --for is its "
                     "duration"));
  return TRUE;
}

static gboolean
check (const FlamRecordOptions *options, GError **error)
{
  if (strcmp (options->engine, FLAM_ENGINE_AUTO) != 0 &&
      strcmp (options->engine, FLAM_ENGINE_PTRACE) != 0 &&
      strcmp (options->engine, FLAM_ENGINE_PERF) != 0)
    return fail (error,
                 N_ ("--engine %s: expected auto, ptrace or perf"),
                 options->engine);
  if (options->events != NULL && !check_events (options, error))
    return FALSE;
  if (!(options->rate >= 1 && options->rate <= MAX_RATE))
    return fail (
        error, N_ ("--rate: expected 1 to %d samples per second"), MAX_RATE);
  if (!(options->duration >= 0 && options->duration < 1e9))
    return fail (error, "--duration: expected seconds");
  if (!(options->delay >= 0 && options->delay < 1e9))
    return fail (error, "--delay: expected seconds");
  if (!(options->reconnect >= 0 && options->reconnect <= MAX_RECONNECT))
    return fail (error, N_ ("--reconnect: expected seconds, at most a day"));
  if (!check_rounds (options, error))
    return FALSE;
  if (!options->exact && options->sample_bytes < 1)
    return fail (error, N_ ("--sample-bytes: expected a number of bytes"));
  for (guint i = 0; options->environment && options->environment[i]; i++)
    if (strchr (options->environment[i], '=') == NULL)
      return fail (error, "--env: expected NAME=VALUE");
  return check_targets (options, error);
}

/* The arguments after "--" are the program's, and are not parsed. */
static int
own_arguments (int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strcmp (argv[i], "--") == 0)
      return i;
  return argc;
}

static void
list_entries (FlamRecordOptions *options, GArray *entries, GPtrArray *names)
{
  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      GOptionEntry entry = { .long_name = table[i].name,
                             .short_name = table[i].letter,
                             .arg = kinds[table[i].kind].arg,
                             .arg_data =
                                 G_STRUCT_MEMBER_P (options, table[i].at) };

      g_array_append_val (entries, entry);
      if (table[i].kind != SWITCH)
        continue;
      entry.long_name = g_strconcat ("no-", table[i].name, NULL);
      entry.flags = G_OPTION_FLAG_REVERSE;
      g_ptr_array_add (names, (gpointer)entry.long_name);
      g_array_append_val (entries, entry);
    }
}

static gboolean
parse_own (FlamRecordOptions *options, int argc, char **argv, GError **error)
{
  g_autoptr (GOptionContext) context = g_option_context_new (NULL);
  g_autoptr (GArray) entries = g_array_new (TRUE, TRUE, sizeof (GOptionEntry));
  g_autoptr (GPtrArray) names = g_ptr_array_new_with_free_func (g_free);
  g_auto (GStrv) copy = g_new0 (char *, argc + 1);

  for (int i = 0; i < argc; i++)
    copy[i] = g_strdup (argv[i]);
  list_entries (options, entries, names);
  g_option_context_set_help_enabled (context, FALSE);
  g_option_context_add_main_entries (
      context, (const GOptionEntry *)entries->data, NULL);
  if (!g_option_context_parse_strv (context, &copy, error))
    return FALSE;
  if (copy[1] != NULL)
    return fail (
        error, N_ ("“%s” is not an option; programs go after --"), copy[1]);
  return TRUE;
}

FlamRecordOptions *
flam_record_options_new (void)
{
  FlamRecordOptions *options = g_new0 (FlamRecordOptions, 1);

  options->mode = g_strdup (modes[FLAM_RECORD_MODE_CPU].name);
  options->engine = g_strdup (FLAM_ENGINE_PTRACE);
  options->rate = DEFAULT_RATE;
  options->reconnect = DEFAULT_RECONNECT;
  options->sample_bytes = DEFAULT_SAMPLE_BYTES;
  options->follow = options->runtimes = options->python = TRUE;
  options->control_fd = -1;
  return options;
}

FlamRecordOptions *
flam_record_options_parse (int argc, char **argv, GError **error)
{
  g_autoptr (FlamRecordOptions) options = flam_record_options_new ();
  g_autofree char *usual = g_steal_pointer (&options->mode);
  g_autofree char *usual_engine = g_steal_pointer (&options->engine);
  int n = own_arguments (argc, argv);
  FlamRecordMode mode;

  if (!parse_own (options, n, argv, error))
    return NULL;
  if (options->mode == NULL)
    options->mode = g_steal_pointer (&usual);
  if (options->engine == NULL)
    options->engine = g_steal_pointer (&usual_engine);
  options->argv = g_strdupv (argv + MIN (n + 1, argc));
  if (options->help)
    return g_steal_pointer (&options);
  if (!flam_record_mode_parse (options->mode, &mode))
    {
      fail (error,
            N_ ("--mode %s: expected cpu, wall, alloc, both, faults or "
                "resources"),
            options->mode);
      return NULL;
    }
  options->what = modes[mode].what;
  if (!check (options, error))
    return NULL;
  if (options->exact)
    options->sample_bytes = 0;
  return g_steal_pointer (&options);
}

void
flam_record_options_free (FlamRecordOptions *options)
{
  g_free (options->mode);
  g_free (options->engine);
  g_free (options->events);
  g_free (options->output);
  g_free (options->directory);
  g_free (options->wait_for);
  g_free (options->host);
  g_free (options->fetch);
  g_free (options->reached);
  g_free (options->push);
  g_strfreev (options->environment);
  g_strfreev (options->pids);
  g_strfreev (options->processes);
  g_strfreev (options->units);
  g_strfreev (options->cgroups);
  g_strfreev (options->containers);
  g_strfreev (options->argv);
  g_free (options);
}

/* --- writing ------------------------------------------------------------- */

static char *
value_text (Kind kind, gconstpointer value)
{
  switch (kind)
    {
    case NUMBER:
      return g_ascii_dtostr (g_malloc (G_ASCII_DTOSTR_BUF_SIZE),
                             G_ASCII_DTOSTR_BUF_SIZE,
                             *(const double *)value);
    case INTEGER:
      return g_strdup_printf ("%d", *(const int *)value);
    case BYTES:
      return g_strdup_printf ("%" G_GINT64_FORMAT, *(const gint64 *)value);
    default:
      return g_strdup (*(char *const *)value);
    }
}

static void
add_option (GPtrArray *arguments, guint option, gconstpointer value)
{
  const char *name = table[option].name;
  Kind kind = table[option].kind;
  g_autofree char *text = NULL;

  if (kind == FLAG || kind == SWITCH)
    {
      const char *no = *(const gboolean *)value ? "" : "no-";
      g_ptr_array_add (arguments, g_strconcat ("--", no, name, NULL));
    }
  else if (kind == TEXTS)
    for (char **texts = *(char **const *)value; *texts; texts++)
      g_ptr_array_add (arguments, g_strconcat ("--", name, "=", *texts, NULL));
  else
    {
      text = value_text (kind, value);
      g_ptr_array_add (arguments, g_strconcat ("--", name, "=", text, NULL));
    }
}

/* A second name of an option. */
static gboolean
is_synonym (guint option)
{
  for (guint i = 0; i < option; i++)
    if (table[i].at == table[option].at)
      return TRUE;
  return FALSE;
}

char **
flam_record_options_to_arguments (const FlamRecordOptions *options)
{
  g_autoptr (FlamRecordOptions) usual = flam_record_options_new ();
  GPtrArray *arguments = g_ptr_array_new ();

  for (guint i = 0; i < G_N_ELEMENTS (table); i++)
    {
      gconstpointer value = G_STRUCT_MEMBER_P (options, table[i].at);

      if (!is_synonym (i) &&
          memcmp (value,
                  G_STRUCT_MEMBER_P (usual, table[i].at),
                  kinds[table[i].kind].size) != 0 &&
          !(table[i].at == AT (sample_bytes) && options->exact))
        add_option (arguments, i, value);
    }
  if (options->argv != NULL && options->argv[0] != NULL)
    g_ptr_array_add (arguments, g_strdup ("--"));
  for (guint i = 0; options->argv && options->argv[i]; i++)
    g_ptr_array_add (arguments, g_strdup (options->argv[i]));
  g_ptr_array_add (arguments, NULL);
  return (char **)g_ptr_array_free (arguments, FALSE);
}

char *
flam_record_options_command (const FlamRecordOptions *options)
{
  g_autoptr (GString) command = g_string_new (NULL);

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

FlamRecordOptions *
flam_record_options_copy (const FlamRecordOptions *options, GError **error)
{
  g_auto (GStrv) arguments = flam_record_options_to_arguments (options);
  g_autoptr (GStrvBuilder) argv = g_strv_builder_new ();
  g_auto (GStrv) all = NULL;

  g_strv_builder_add (argv, "copy");
  g_strv_builder_addv (argv, (const char **)arguments);
  all = g_strv_builder_end (argv);
  return flam_record_options_parse ((int)g_strv_length (all), all, error);
}
