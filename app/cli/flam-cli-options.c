/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli.h"

#include "flam-cache.h"
#include "flam-core-query.h"
#include "flam-fetch.h"
#include "flam-linked-names.h"
#include "flam-ranks.h"
#include "flam-symbolizer.h"

#include <string.h>
#include <unistd.h>

FlamCliOptions *
flam_cli_options_new (void)
{
  FlamCliOptions *options = g_new0 (FlamCliOptions, 1);

  options->threads = g_ptr_array_new_with_free_func (g_free);
  options->pids = g_array_new (FALSE, FALSE, sizeof (gint64));
  options->ranks = g_array_new (FALSE, FALSE, sizeof (gint64));
  options->selection = flam_selection_new ();
  return options;
}

void
flam_cli_options_free (FlamCliOptions *options)
{
  g_free (options->measure);
  g_free (options->event);
  g_free (options->from);
  g_free (options->to);
  g_free (options->suppressions);
  g_free (options->token_file);
  g_clear_pointer (&options->namesakes, flam_namesakes_unref);
  g_ptr_array_unref (options->threads);
  g_array_unref (options->pids);
  g_array_unref (options->ranks);
  g_strfreev (options->files);
  flam_selection_free (options->selection);
  g_strfreev (options->binaries);
  g_strfreev (options->sources);
  g_free (options);
}

static gboolean
refuse (GError **error, const char *option, const char *value, const char *want)
{
  g_set_error (error,
               G_OPTION_ERROR,
               G_OPTION_ERROR_BAD_VALUE,
               _ ("%s %s: expected %s"),
               option,
               value,
               _ (want));
  return FALSE;
}

static gboolean
take_process (const char *option,
              const char *value,
              gpointer data,
              GError **error)
{
  FlamCliOptions *options = data;
  gint64 number;

  if (!g_ascii_string_to_signed (value, 10, 0, G_MAXINT32, &number, NULL))
    return refuse (error, option, value, "a process's number");
  g_array_append_val (options->pids, number);
  return TRUE;
}

static gboolean
take_rank (const char *option, const char *value, gpointer data, GError **error)
{
  FlamCliOptions *options = data;
  gint64 number;

  if (!g_ascii_string_to_signed (value, 10, 0, FLAM_RANK_MAX, &number, NULL))
    return refuse (error, option, value, N_ ("the number of a rank"));
  g_array_append_val (options->ranks, number);
  return TRUE;
}

static gboolean
take_jobs (const char *option, const char *value, gpointer data, GError **error)
{
  FlamCliOptions *options = data;

  if (!g_ascii_string_to_signed (
          value, 10, 1, G_MAXINT32, &options->jobs, NULL))
    return refuse (error, option, value, N_ ("a number of cores"));
  flam_cores_set ((guint)options->jobs, 0);
  return TRUE;
}

/* Thread names can only be resolved once the file is open. */
static gboolean
take_thread (const char *option,
             const char *value,
             gpointer data,
             GError **error)
{
  FlamCliOptions *options = data;

  if (*value == 0 ||
      g_ascii_string_to_signed (value, 10, G_MININT64, -1, NULL, NULL))
    return refuse (error, option, value, N_ ("TID, NAME or #N (see info)"));
  g_ptr_array_add (options->threads, g_strdup (value));
  return TRUE;
}

static gboolean
take_label (const char *option,
            const char *value,
            gpointer data,
            GError **error)
{
  FlamCliOptions *options = data;
  const char *equals = strchr (value, '=');

  if (equals == NULL || equals == value)
    return refuse (error, option, value, "KEY=VALUE");
  flam_selection_add_label (options->selection, value);
  return TRUE;
}

/* Either side may be a mark's name, looked up once the file is open. */
gboolean
flam_cli_take_range (FlamCliOptions *options,
                     const char *option,
                     const char *value,
                     GError **error)
{
  g_auto (GStrv) sides = g_strsplit (value, "..", 2);
  gint64 from, to;

  if (g_strv_length (sides) != 2)
    return refuse (
        error, option, value, N_ ("FROM..TO, seconds or names of marks"));
  if (flam_cli_seconds (sides[0], &from) && flam_cli_seconds (sides[1], &to) &&
      from >= to)
    return refuse (error, option, value, N_ ("FROM before TO"));
  g_free (options->from);
  g_free (options->to);
  options->from = g_strdup (sides[0]);
  options->to = g_strdup (sides[1]);
  return TRUE;
}

static gboolean
take_time (const char *option, const char *value, gpointer data, GError **error)
{
  FlamCliOptions *options = data;

  options->growth = strcmp (option, "--growth") == 0;
  return flam_cli_take_range (options, option, value, error);
}

static gboolean
take_allocators (const char *option,
                 const char *value,
                 gpointer data,
                 GError **error)
{
  FlamCliOptions *options = data;
  g_auto (GStrv) words = g_strsplit (value, ",", -1);
  guint kinds = 0;

  for (guint i = 0; words[i] != NULL; i++)
    {
      guint more = 0;

      for (guint kind = 0; kind < FLAM_N_ALLOCATORS; kind++)
        if (strcmp (words[i], flam_allocator_to_string (kind)) == 0)
          more = FLAM_ALLOCATOR_BIT (kind);
      if (strcmp (words[i], "all") == 0)
        more = FLAM_ALLOCATORS_ALL;
      else if (strcmp (words[i], "pages") == 0)
        more = FLAM_ALLOCATORS_PAGES;
      else if (strcmp (words[i], "heap") == 0)
        more = FLAM_ALLOCATORS_ALL & ~FLAM_ALLOCATORS_PAGES;
      if (more == 0)
        return refuse (error,
                       option,
                       value,
                       N_ ("a list of malloc, calloc, realloc, aligned, mmap, "
                           "brk, file, pymalloc, other, descriptor, thread, "
                           "heap, pages, all"));
      kinds |= more;
    }
  options->selection->allocators = kinds;
  return TRUE;
}

static gboolean
take_transform (const char *option,
                const char *value,
                gpointer data,
                GError **error)
{
  static const struct
  {
    const char *option;
    FlamTransformKind kind;
  } kinds[] = {
    { "--focus", FLAM_TRANSFORM_FOCUS },
    { "--ignore", FLAM_TRANSFORM_IGNORE },
    { "--filter", FLAM_TRANSFORM_FILTER },
    { "--hide", FLAM_TRANSFORM_HIDE },
    { "--collapse", FLAM_TRANSFORM_COLLAPSE },
    { "--prune", FLAM_TRANSFORM_PRUNE },
    { "--stop-at", FLAM_TRANSFORM_STOP_AT },
    { "--filter-text", FLAM_TRANSFORM_FILTER },
    { "--branches", FLAM_TRANSFORM_BRANCHES },
  };
  FlamCliOptions *options = data;
  gboolean plain = strcmp (option, "--filter-text") == 0;
  g_autofree char *escaped =
      plain ? g_regex_escape_string (value, -1) : g_strdup (value);
  g_autoptr (GError) why = NULL;

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (option, kinds[i].option) == 0)
      flam_selection_add_transform (
          options->selection, kinds[i].kind, escaped, &why);
  if (why == NULL)
    return TRUE;
  g_set_error_literal (
      error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, why->message);
  return FALSE;
}

/* The kind of the rows: a word, or label:KEY. */
static gboolean
take_by (const char *option, const char *value, gpointer data, GError **error)
{
  static const char *const words[] = {
    [FLAM_BY_FUNCTION] = "function", [FLAM_BY_LINE] = "line",
    [FLAM_BY_MODULE] = "module",     [FLAM_BY_FILE] = "file",
    [FLAM_BY_THREAD] = "thread",     [FLAM_BY_ADDRESS] = "address",
    [FLAM_BY_PROCESS] = "process",
  };
  FlamSelection *selection = ((FlamCliOptions *)data)->selection;

  if (g_str_has_prefix (value, "label:") && value[6] != '\0')
    {
      selection->by = FLAM_BY_LABEL;
      selection->by_label = g_intern_string (value + 6);
      return TRUE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (value, words[i]) == 0)
      {
        selection->by = i;
        return TRUE;
      }
  return refuse (
      error,
      option,
      value,
      N_ ("function, line, module, file, process, thread, address or "
          "label:KEY"));
}

static gboolean
take_recursion (const char *option,
                const char *value,
                gpointer data,
                GError **error)
{
  static const char *const words[] = { "off", "flat", "collapse" };
  FlamCliOptions *options = data;

  for (guint i = 0; i < G_N_ELEMENTS (words); i++)
    if (strcmp (value, words[i]) == 0)
      {
        options->selection->recursion = i;
        return TRUE;
      }
  return refuse (error, option, value, N_ ("off, flat or collapse"));
}

/* "cpu", "off-cpu", "all", or states separated by commas. */
static guint
states_named (const char *word)
{
  if (strcmp (word, "all") == 0)
    return FLAM_STATES_ALL;
  if (strcmp (word, "cpu") == 0)
    return FLAM_STATES_CPU;
  if (strcmp (word, "off-cpu") == 0)
    return FLAM_STATES_OFF_CPU;
  for (guint i = 0; i < FLAM_N_STATES; i++)
    if (strcmp (word, flam_state_to_string (i)) == 0)
      return 1u << i;
  return 0;
}

static gboolean
take_states (const char *option,
             const char *value,
             gpointer data,
             GError **error)
{
  FlamCliOptions *options = data;
  g_auto (GStrv) words = g_strsplit (value, ",", -1);
  guint states = 0;

  for (guint i = 0; words[i] != NULL; i++)
    {
      guint named = states_named (words[i]);

      if (named == 0)
        return refuse (error,
                       option,
                       value,
                       N_ ("cpu, off-cpu, all, or some of running, lock, io, "
                           "sleep, blocked, runnable, mpi with commas "
                           "between"));
      states |= named;
    }
  if (states == 0)
    return refuse (error, option, "“”", N_ ("cpu, off-cpu or all"));
  options->selection->states = states;
  return TRUE;
}

static gboolean
take_kind (const char *option, const char *value, gpointer data, GError **error)
{
  FlamCliOptions *options = data;

  static const struct
  {
    const char *word;
    FlamWeightsAs as;
  } kinds[] = {
    { "cpu", FLAM_WEIGHTS_SAMPLES },
    { "alloc", FLAM_WEIGHTS_BYTES },
    { "time", FLAM_WEIGHTS_TIME },
    { "faults", FLAM_WEIGHTS_FAULTS },
  };

  for (guint i = 0; i < G_N_ELEMENTS (kinds); i++)
    if (strcmp (value, kinds[i].word) == 0)
      {
        options->weights_as = kinds[i].as;
        return TRUE;
      }
  return refuse (error, option, value, N_ ("cpu, alloc, time or faults"));
}

static const char *
translated (const char *text, gpointer data)
{
  return *text != '\0' ? _ (text) : text;
}

static GOptionGroup *
selection_group (FlamCliOptions *o)
{
  FlamSelection *s = o->selection;
  GOptionGroup *group = g_option_group_new (
      "selection", "Selection:", N_ ("Show selection options"), o, NULL);
#define CALL(name, function, what, argument)                                   \
  {                                                                            \
    name, 0, 0, G_OPTION_ARG_CALLBACK, (gpointer)function, what, argument      \
  }
#define FLAG(name, field, what)                                                \
  {                                                                            \
    name, 0, 0, G_OPTION_ARG_NONE, field, what, NULL                           \
  }
  const GOptionEntry entries[] = {
    { "measure",
      0,
      0,
      G_OPTION_ARG_STRING,
      &o->measure,
      N_ ("One of the file's measures (see info)"),
      "ID" },
    { "event",
      0,
      0,
      G_OPTION_ARG_STRING,
      &o->event,
      N_ ("One of the file's events"),
      "ID" },
    FLAG ("period", &o->period, N_ ("Weigh samples by their period")),
    FLAG ("count", &s->count, N_ ("Give each sample the weight 1")),
    CALL ("kind",
          take_kind,
          N_ ("Meaning of a text's weights: cpu, alloc, time, faults"),
          "KIND"),
    CALL ("thread",
          take_thread,
          N_ ("Only this thread (repeatable)"),
          "TID|NAME|#N"),
    CALL ("label",
          take_label,
          N_ ("Only samples with this label (repeatable)"),
          "KEY=VALUE"),
    CALL (
        "process", take_process, N_ ("Only this process (repeatable)"), "PID"),
    CALL ("rank", take_rank, N_ ("Only this rank of a job (repeatable)"), "N"),
    CALL ("states",
          take_states,
          N_ ("Thread states: cpu, off-cpu, all, or lock,io,…"),
          "STATES"),
    CALL ("time",
          take_time,
          N_ ("Only this range: seconds or names of marks"),
          "FROM..TO"),
    CALL ("growth",
          take_time,
          N_ ("Allocated in this range, not freed at its end"),
          "FROM..TO"),
    CALL ("allocators",
          take_allocators,
          N_ ("Only these: malloc, mmap, heap, pages, …"),
          "LIST"),
    { "temporary-within",
      0,
      0,
      G_OPTION_ARG_INT,
      &s->temporary_distance,
      N_ ("Temporary means freed within N more allocations"),
      "N" },
    { "suppressions",
      0,
      0,
      G_OPTION_ARG_FILENAME,
      &o->suppressions,
      N_ ("Ignore leaks that match LeakSanitizer's rules"),
      "FILE" },
    CALL ("focus",
          take_transform,
          N_ ("Keep stacks through it, re-rooted at it"),
          "REGEX"),
    CALL ("ignore", take_transform, N_ ("Drop stacks through it"), "REGEX"),
    CALL ("filter", take_transform, N_ ("Keep stacks through it"), "REGEX"),
    CALL ("hide",
          take_transform,
          N_ ("Remove frames; their callers get the cost"),
          "REGEX"),
    CALL ("collapse", take_transform, N_ ("Merge callees into it"), "REGEX"),
    CALL ("filter-text",
          take_transform,
          N_ ("Like --filter, with plain text"),
          "TEXT"),
    CALL ("branches",
          take_transform,
          N_ ("Remove branches without a match; callers keep their cost"),
          "REGEX"),
    CALL ("prune",
          take_transform,
          N_ ("Remove the node and everything below it"),
          "NAME[,FILE]"),
    CALL (
        "stop-at", take_transform, N_ ("Cut the tree below it"), "NAME[,FILE]"),
    CALL ("recursion",
          take_recursion,
          N_ ("off; flat: direct recursion; collapse: any"),
          "HOW"),
    CALL ("by",
          take_by,
          N_ ("function, line, module, file, process, thread, address, "
              "label:KEY"),
          "WHAT"),
    FLAG ("invert", &s->invert, N_ ("Bottom-up")),
    FLAG ("no-native",
          &s->no_native,
          N_ ("Show only interpreted and JIT-compiled frames")),
    FLAG ("hide-irrelevant",
          &s->hide_irrelevant,
          N_ ("Hide the interpreter's own frames")),
    FLAG ("show-irrelevant",
          &o->show_irrelevant,
          N_ ("In captures of Memray, show the interpreter's own frames")),
    FLAG ("hide-imports", &s->hide_imports, N_ ("Hide import machinery")),
    FLAG ("no-inlines",
          &s->no_inlines,
          N_ ("Merge inlined frames into their callers")),
    FLAG ("no-repl",
          &s->no_repl,
          N_ ("Show only what Julia's REPL runs, without its frames")),
    FLAG ("full-names",
          &o->full_names,
          N_ ("Show full names with template arguments in tables")),
    FLAG ("mangled", &o->mangled, N_ ("Show mangled names")),
    FLAG ("strip-hex", &o->strip_hex, N_ ("Show addresses in names as 0x…")),
    FLAG ("debuginfod",
          &o->debuginfod,
          N_ ("Download symbols from $DEBUGINFOD_URLS")),
    FLAG ("no-symbols", &o->no_symbols, N_ ("Use only names from the capture")),
    FLAG ("cache", &o->cache, N_ ("Cache captures that are slow to read")),
    CALL ("jobs", take_jobs, N_ ("Use at most N cores"), "N"),
    { "binaries",
      0,
      0,
      G_OPTION_ARG_FILENAME_ARRAY,
      &o->binaries,
      N_ ("Folder with programs and libraries (repeatable)"),
      "DIR" },
    { "sources",
      0,
      0,
      G_OPTION_ARG_STRING_ARRAY,
      &o->sources,
      N_ ("Replace FROM with TO in source paths (repeatable)"),
      "FROM=TO" },
    { "token-file",
      0,
      0,
      G_OPTION_ARG_FILENAME,
      &o->token_file,
      N_ ("For a URL: the file that contains the server's token"),
      "FILE" },
    { "timeout",
      0,
      0,
      G_OPTION_ARG_INT,
      &o->timeout,
      N_ ("For a URL: give up after S seconds without a byte (60)"),
      "S" },
    { NULL },
  };
#undef CALL
#undef FLAG

  g_option_group_add_entries (group, entries);
  g_option_group_set_translate_func (group, translated, NULL, NULL);
  return group;
}

gboolean
flam_cli_parse (int *argc,
                char ***argv,
                const FlamVerb *verb,
                FlamCliOptions *options,
                const GOptionEntry *entries,
                guint n_files,
                char ***files)
{
  g_autofree char *parameters =
      g_strdup_printf ("%s — %s", verb->arguments, _ (verb->summary));
  g_autoptr (GOptionContext) context = g_option_context_new (parameters);
  g_autofree char *program = g_strdup_printf ("flambeau-cli %s", verb->name);
  const GOptionEntry json[] = {
    { "json",
      0,
      0,
      G_OPTION_ARG_NONE,
      &options->json,
      N_ ("Print one JSON document"),
      NULL },
    { NULL },
  };
  g_autoptr (GError) error = NULL;
  gboolean parsed;
  guint left;

  if (n_files > 0)
    g_option_context_set_main_group (context, selection_group (options));
  g_option_context_set_translate_func (context, translated, NULL, NULL);
  if (verb->json)
    g_option_context_add_main_entries (context, json, NULL);
  if (entries != NULL)
    g_option_context_add_main_entries (context, entries, NULL);
  /* The help shows it before the arguments. */
  g_set_prgname (program);
  parsed = g_option_context_parse (context, argc, argv, &error);
  g_set_prgname ("flambeau-cli");
  if (!parsed)
    {
      flam_cli_follow (error);
      flam_cli_usage ("%s: %s", verb->name, error->message);
      return FALSE;
    }
  left = *argc - 1;
  if (left > 0 && strcmp ((*argv)[1], "--") == 0)
    left--, (*argv)++;
  if (n_files == 1 && left > 1)
    options->files = g_strdupv (*argv + 1);
  else if (n_files == FLAM_CLI_ANY_FILES       ? left == 0
           : n_files == FLAM_CLI_FILES_OR_NONE ? FALSE
                                               : left != n_files)
    {
      flam_cli_usage (_ ("%s: expected %s"), verb->name, verb->arguments);
      return FALSE;
    }
  if (options->timeout < 0)
    {
      flam_cli_usage (_ ("%s: --timeout: expected seconds"), verb->name);
      return FALSE;
    }
  if (options->period && options->selection->count)
    {
      flam_cli_usage (_ ("%s: --period and --count contradict each other"),
                      verb->name);
      return FALSE;
    }
  *files = g_strdupv (*argv + 1);
  return TRUE;
}

static gboolean
report (gpointer data, double fraction)
{
  int *shown = data;
  int percent = (int)(fraction * 100);

  if (percent != *shown)
    g_printerr ("\r%3d %%", percent);
  *shown = percent;
  return TRUE;
}

static FlamProfile *
symbolize (const FlamProfile *profile,
           const char *path,
           const FlamCliOptions *options,
           const FlamProgress *progress,
           GError **error)
{
  FlamSymbolOptions symbols = {
    .detail = FLAM_SYMBOL_DETAIL_FULL,
    .binaries = (const char *const *)options->binaries,
    .debuginfod = options->debuginfod,
    .capture = flam_location_is (path) ? NULL : path,
  };

  if (options->no_symbols)
    return flam_profile_ref (profile);
  return flam_symbolize (profile, &symbols, progress, error);
}

static void
take_profile (FlamProfile **profile, FlamProfile *fresh)
{
  flam_profile_unref (*profile);
  *profile = fresh;
}

FlamServerOptions
flam_cli_server (const FlamCliOptions *options)
{
  return (FlamServerOptions){ .token_file = options->token_file,
                              .timeout = (guint)options->timeout };
}

static FlamProfile *
load_from (const char *path,
           const FlamCliOptions *options,
           const FlamLoadOptions *load,
           GError **error)
{
  const FlamServerOptions server = flam_cli_server (options);
  g_autoptr (FlamLocation) location = NULL;

  if (!flam_location_is (path))
    return options->cache ? flam_cache_open (path, load, error)
                          : flam_ranks_open (path, load, error);
  location = flam_location_new (path, error);
  return location != NULL ? flam_fetch_profile (location, &server, load, error)
                          : NULL;
}

FlamProfile *
flam_cli_load (const char *path, FlamCliOptions *options)
{
  int shown = -1;
  FlamProgress progress = { report, &shown };
  FlamLoadOptions load = {
    .weights_as = options->weights_as,
    .in_order_max = options->in_order ? G_MAXSIZE : 0,
    .binaries = (const char *const *)options->binaries,
    .one_measure = options->one_measure && options->event == NULL &&
                   !options->selection->count,
    .measure = options->measure,
    .progress = !options->silent && isatty (STDERR_FILENO) ? &progress : NULL,
    .jobs = (guint)options->jobs,
  };
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamProfile) profile =
      options->files != NULL
          ? flam_ranks_load ((const char *const *)options->files, &load, &error)
          : load_from (path, options, &load, &error);
  g_autoptr (FlamProfile) named = NULL;

  if (profile != NULL)
    named = symbolize (profile, path, options, load.progress, &error);

  if (shown >= 0)
    g_printerr ("\r     \r");
  if (named == NULL)
    {
      flam_cli_error ("%s", error->message);
      return NULL;
    }
  if (options->mangled)
    take_profile (&named, flam_linked_names (named));
  if (options->strip_hex)
    take_profile (&named, flam_names_without_addresses (named));
  return g_steal_pointer (&named);
}
