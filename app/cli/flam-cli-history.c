/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-cli-gates.h"
#include "flam-cli-output.h"

#include "flam-clickhouse.h"
#include "flam-core-picture.h"
#include "flam-history-load.h"
#include "flam-history-store.h"
#include "flam-pages.h"
#include "flam-push.h"

#include <stdio.h>
#include <string.h>

#define MOVED 3

typedef struct
{
  FlamCliOptions *options;
  FlamGates gates;
  FlamHistoryKey key;
  char *to;
  char *group;
  char **functions; /* NULL: none */
  char *store;      /* a file or a URL; NULL: none */
  char *commit;     /* labels of added captures; NULL: none */
  char *job;
  FlamCliOutput output;
  FlamHistory *history;
  GArray *series; /* FlamHistorySeries */
} Asked;

static void
asked_clear (Asked *asked)
{
  flam_gates_clear (&asked->gates);
  flam_history_key_clear (&asked->key);
  g_clear_pointer (&asked->options, flam_cli_options_free);
  g_clear_pointer (&asked->history, flam_history_unref);
  g_clear_pointer (&asked->series, g_array_unref);
  g_clear_pointer (&asked->to, g_free);
  g_clear_pointer (&asked->group, g_free);
  g_clear_pointer (&asked->store, g_free);
  g_clear_pointer (&asked->commit, g_free);
  g_clear_pointer (&asked->job, g_free);
  g_clear_pointer (&asked->functions, g_strfreev);
  flam_cli_output_clear (&asked->output);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Asked, asked_clear)

/* --- reading -------------------------------------------------------------- */

/* The capture's figures and all functions of its selection; NULL after printing
 * the error. Only one capture is in memory at a time. */
static FlamFigures *
load_figures (const FlamHistoryFile *file,
              FlamCliOptions *options,
              gboolean all_measures,
              FlamExit *status)
{
  const FlamFiguresKeep all = { 0, all_measures };
  gint64 modified, size;
  g_autoptr (FlamProfile) profile = NULL;
  g_autoptr (FlamSelection) selection = NULL;
  FlamFigures *figures;

  *status = FLAM_EXIT_REFUSED;
  flam_history_stamp (file->path, &modified, &size);
  profile = flam_cli_load (file->path, options);
  if (profile != NULL)
    selection = flam_cli_select (options, profile, file->path, status);
  if (selection == NULL)
    return NULL;
  selection->invert = FALSE;
  figures = flam_figures_new (file->path, profile, selection, &all, NULL, NULL);
  flam_figures_set_file (figures, file->name, modified, size);
  return figures;
}

static FlamExit
take_captures (Asked *asked, GPtrArray *captures)
{
  g_autoptr (GError) error = NULL;

  asked->history = flam_history_new (captures, flam_history_new_refused ());
  if (!flam_history_key_check (&asked->key, asked->history, &error))
    return flam_cli_usage ("history: --group: %s", error->message);
  asked->series = flam_history_series (asked->history, &asked->key);
  return FLAM_EXIT_DONE;
}

/* --- a store in a file --------------------------------------------------- */

static FlamExit
report (const GError *error)
{
  g_autofree char *shown = flam_message_shown (error->message);

  flam_cli_error ("%s", shown);
  return FLAM_EXIT_REFUSED;
}

/* A capture is identified by its whole path: the store may be read
 * elsewhere. */
static FlamExit
append_file (const Asked *asked,
             FlamHistoryStore *store,
             const FlamHistoryFile *file)
{
  g_autofree char *path = g_canonicalize_filename (file->path, NULL);
  const FlamHistoryFile whole = { path, file->name, file->within };
  g_autoptr (FlamFigures) figures = NULL;
  g_autoptr (GError) error = NULL;
  gint64 modified, size;
  FlamExit status;

  flam_history_stamp (path, &modified, &size);
  if (flam_history_store_has (store, path, modified, size))
    return FLAM_EXIT_DONE;
  figures = load_figures (&whole, asked->options, TRUE, &status);
  if (figures == NULL)
    return file->within && status != FLAM_EXIT_USAGE ? FLAM_EXIT_DONE : status;
  flam_figures_set_labels (figures, asked->job, asked->commit);
  return flam_history_store_append (store, figures, &error) ? FLAM_EXIT_DONE
                                                            : report (error);
}

/* Whole captures are stored. */
static FlamExit
check_whole (const FlamCliOptions *options)
{
  return !flam_cli_selects (options) && options->selection->labels == NULL
             ? FLAM_EXIT_DONE
             : flam_cli_usage (_ ("history: a store holds whole captures, so "
                                  "that --measure is the only selection"));
}

static FlamExit
take_runs (const char *store, GPtrArray *runs, GPtrArray *captures)
{
  if (runs->len == 0)
    {
      g_ptr_array_unref (runs);
      flam_cli_error (_ ("%s: this store has no runs"), store);
      return FLAM_EXIT_REFUSED;
    }
  g_ptr_array_extend_and_steal (captures, runs);
  return FLAM_EXIT_DONE;
}

/* Adds the files to the store, if there are any, and all its runs to
 * `captures`. */
static FlamExit
use_file (const Asked *asked,
          const char *path,
          const GArray *files,
          GPtrArray *captures)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamHistoryStore) store =
      flam_history_store_open (path, files != NULL && files->len > 0, &error);
  GPtrArray *runs;

  if (store == NULL)
    return report (error);
  for (guint i = 0; files != NULL && i < files->len; i++)
    {
      FlamExit status = append_file (
          asked, store, &g_array_index (files, FlamHistoryFile, i));

      if (status != FLAM_EXIT_DONE)
        return status;
    }
  runs = flam_history_store_read (store, asked->options->measure, &error);
  return runs != NULL ? take_runs (path, runs, captures) : report (error);
}

/* --- a store on a server -------------------------------------------------- */

static gboolean
is_server (const char *path)
{
  g_autoptr (FlamLocation) location =
      flam_location_is (path) ? flam_location_new (path, NULL) : NULL;

  return location != NULL && location->kind == FLAM_LOCATION_CLICKHOUSE;
}

/* One that is there already is not added again. */
static FlamExit
push_file (const Asked *asked,
           const FlamLocation *to,
           const FlamHistoryFile *file)
{
  const FlamServerOptions server = flam_cli_server (asked->options);
  g_autoptr (FlamProfile) profile = flam_cli_load (file->path, asked->options);
  g_autoptr (FlamSelection) selection = NULL;
  g_autoptr (GError) error = NULL;
  g_autofree char *note = NULL;
  FlamExit status = FLAM_EXIT_REFUSED;

  if (profile != NULL)
    selection = flam_cli_select (asked->options, profile, file->path, &status);
  if (selection == NULL)
    return file->within && status != FLAM_EXIT_USAGE ? FLAM_EXIT_DONE : status;
  return flam_push (
             to, profile, selection, file->name, &server, &note, &error) ||
                 g_error_matches (error, FLAM_ERROR, FLAM_ERROR_EXISTS)
             ? FLAM_EXIT_DONE
             : report (error);
}

static FlamExit
push_all (const Asked *asked, const char *url, const GArray *files)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamLocation) to = flam_location_new (url, &error);

  if (to == NULL)
    return report (error);
  if (asked->commit != NULL)
    flam_location_set_word (to, "commit", asked->commit);
  if (asked->job != NULL)
    flam_location_set_word (to, "job", asked->job);
  for (guint i = 0; i < files->len; i++)
    {
      FlamExit status =
          push_file (asked, to, &g_array_index (files, FlamHistoryFile, i));

      if (status != FLAM_EXIT_DONE)
        return status;
    }
  return FLAM_EXIT_DONE;
}

/* The same for the URL of a ClickHouse. */
static FlamExit
use_server (const Asked *asked,
            const char *url,
            const GArray *files,
            GPtrArray *captures)
{
  const FlamServerOptions server = flam_cli_server (asked->options);
  g_autoptr (GError) error = NULL;
  g_autoptr (FlamLocation) location = flam_location_new (url, &error);
  FlamExit status;
  GPtrArray *runs;

  if (location == NULL)
    return report (error);
  status = files != NULL ? push_all (asked, url, files) : FLAM_EXIT_DONE;
  if (status != FLAM_EXIT_DONE)
    return status;
  runs = flam_clickhouse_runs (location,
                               asked->options->measure,
                               (const char *const *)asked->functions,
                               &server,
                               &error);
  return runs != NULL ? take_runs (url, runs, captures) : report (error);
}

static FlamExit
use_store (const Asked *asked,
           const char *store,
           const GArray *files,
           GPtrArray *captures)
{
  FlamExit status = check_whole (asked->options);

  if (status != FLAM_EXIT_DONE)
    return status;
  return is_server (store) ? use_server (asked, store, files, captures)
                           : use_file (asked, store, files, captures);
}

/* --- all of them ---------------------------------------------------------- */

static FlamExit
load_file (const Asked *asked, const FlamHistoryFile *file, GPtrArray *captures)
{
  FlamExit status;
  FlamFigures *figures;

  if (is_server (file->path) || flam_history_store_is (file->path))
    return use_store (asked, file->path, NULL, captures);
  figures = load_figures (file, asked->options, FALSE, &status);
  if (figures == NULL)
    return status;
  g_ptr_array_add (captures, figures);
  return FLAM_EXIT_DONE;
}

/* A file that was found in a folder may be damaged, and the rest are still
 * read; a file named on the command line must be valid. */
static FlamExit
load_all (const Asked *asked, const GArray *files, GPtrArray *captures)
{
  for (guint i = 0; i < files->len; i++)
    {
      const FlamHistoryFile *file = &g_array_index (files, FlamHistoryFile, i);
      FlamExit status = load_file (asked, file, captures);

      if (status != FLAM_EXIT_DONE &&
          (!file->within || status == FLAM_EXIT_USAGE))
        return status;
    }
  return captures->len > 0 ? FLAM_EXIT_DONE : FLAM_EXIT_REFUSED;
}

/* --- a capture and the one before it -------------------------------------- */

static const FlamHistorySeries *
series_at (const Asked *asked, guint i)
{
  return &g_array_index (asked->series, FlamHistorySeries, i);
}

/* The previous capture of its series; NULL: it is the first. */
static const FlamFigures *
figures_before (const Asked *asked, const FlamHistorySeries *series, guint i)
{
  return i > 0 ? flam_history_get (asked->history, series->captures[i - 1])
               : NULL;
}

/* The functions of a series are compared, so they need a common unit. */
static gboolean
check_series (const Asked *asked, const FlamHistorySeries *series)
{
  for (guint i = 1; i < series->n; i++)
    {
      const FlamFigures *before = figures_before (asked, series, i);
      const FlamFigures *after =
          flam_history_get (asked->history, series->captures[i]);
      const FlamFiguresMeasure *a = flam_figures_selected (before);
      const FlamFiguresMeasure *b = flam_figures_selected (after);

      if (flam_measure_is_like (&a->measure, &b->measure))
        continue;
      flam_cli_not_comparable (
          before->path, &a->measure, a->id, after->path, &b->measure, b->id);
      return FALSE;
    }
  return TRUE;
}

static gboolean
check_gates (Asked *asked, const FlamHistorySeries *series)
{
  for (guint i = 0; i < series->n; i++)
    if (!flam_gates_check (
            &asked->gates,
            figures_before (asked, series, i),
            flam_history_get (asked->history, series->captures[i])))
      return FALSE;
  return TRUE;
}

static gboolean
check_functions (const Asked *asked)
{
  for (guint i = 0; asked->functions != NULL && asked->functions[i] != NULL;
       i++)
    {
      gboolean found = FALSE;

      for (guint k = 0; k < asked->history->captures->len && !found; k++)
        found =
            flam_figures_find_function (
                flam_figures_selected (flam_history_get (asked->history, k)),
                asked->functions[i]) != NULL;
      if (found)
        continue;
      flam_cli_error (_ ("no function “%s” in any of these captures"),
                      asked->functions[i]);
      return FALSE;
    }
  return TRUE;
}

/* --- text ----------------------------------------------------------------- */

/* The unit of the changes between the two. */
static FlamMeasure
moved_measure (const FlamFigures *before, const FlamFigures *figures)
{
  const FlamMeasure *now = &flam_figures_selected (figures)->measure;

  return before != NULL ? flam_rescale_measure (
                              &flam_figures_selected (before)->measure, now)
                        : *now;
}

/* The functions with the largest changes; "" for the first capture. */
static char *
moved_text (const FlamFigures *before, const FlamFigures *figures)
{
  const FlamMeasure measure = moved_measure (before, figures);
  GString *text = g_string_new (NULL);
  g_autofree FlamFiguresMove *moves = NULL;
  guint n = 0;

  if (before != NULL)
    moves = flam_figures_moves (before, figures, MOVED, &n);
  for (guint i = 0; i < n; i++)
    {
      g_autofree char *delta = flam_format_estimated (
          &moves[i].estimate, &measure, ABS (moves[i].delta));

      g_string_append_printf (text,
                              "%s%s %s%s",
                              i > 0 ? ", " : "",
                              moves[i].name,
                              moves[i].delta > 0 ? "+" : "−",
                              delta);
    }
  return g_string_free (text, FALSE);
}

static void
print_functions (const Asked *asked, const FlamFigures *figures)
{
  const FlamFiguresMeasure *measure = flam_figures_selected (figures);

  for (guint i = 0; asked->functions != NULL && asked->functions[i] != NULL;
       i++)
    {
      const FlamFiguresFunction *function =
          flam_figures_find_function (measure, asked->functions[i]);
      const FlamEstimate none = { 0 };
      g_autofree char *total = flam_format_estimated (
          function != NULL ? &function->total_estimate : &none,
          &measure->measure,
          function != NULL ? function->total : 0);

      flam_cli_print ("  %s %s", asked->functions[i], total);
    }
}

static void
print_row (const Asked *asked,
           const FlamFigures *before,
           const FlamFigures *figures)
{
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autofree char *date = flam_dates_text (figures->date, utc, TRUE);
  g_autofree char *moved = moved_text (before, figures);

  flam_cli_print ("%s", figures->name);
  if (figures->date > 0)
    flam_cli_print (
        "  %s%s", date, figures->of_file ? _ (" (the file’s)") : "");
  if (*figures->commit != '\0')
    flam_cli_print ("  %s", figures->commit);
  if (figures->duration_ns > 0)
    {
      g_autofree char *duration =
          flam_format_value (figures->duration_ns, FLAM_UNIT_NS);

      flam_cli_print ("  %s", duration);
    }
  for (guint m = 0; m < figures->n_measures; m++)
    {
      const FlamFiguresMeasure *measure = &figures->measures[m];
      g_autofree char *total = flam_format_estimated (
          &measure->total_estimate, &measure->measure, measure->total);

      flam_cli_print ("  %s %s", measure->id, total);
    }
  print_functions (asked, figures);
  flam_cli_print ("%s%s\n", *moved ? _ ("  moved: ") : "", moved);
}

static void
print_text (const Asked *asked)
{
  for (guint s = 0; s < asked->series->len; s++)
    {
      const FlamHistorySeries *series = series_at (asked, s);

      if (asked->group != NULL && s > 0)
        flam_cli_print ("\n");
      if (asked->group != NULL)
        flam_cli_print ("%s:\n",
                        series->name != NULL ? series->name : _ ("(no match)"));
      for (guint i = 0; i < series->n; i++)
        print_row (asked,
                   figures_before (asked, series, i),
                   flam_history_get (asked->history, series->captures[i]));
    }
}

/* --- machines ------------------------------------------------------------- */

static void
json_error (JsonBuilder *json, const char *member, const FlamEstimate *estimate)
{
  if (estimate->sampled)
    flam_cli_json_int (json, member, estimate->error);
}

/* Of the totals that are estimates. */
static void
json_errors (JsonBuilder *json, const FlamFigures *figures)
{
  gboolean sampled = FALSE;

  for (guint m = 0; m < figures->n_measures; m++)
    sampled |= figures->measures[m].total_estimate.sampled;
  if (!sampled)
    return;
  json_builder_set_member_name (json, "errors");
  json_builder_begin_object (json);
  for (guint m = 0; m < figures->n_measures; m++)
    json_error (
        json, figures->measures[m].id, &figures->measures[m].total_estimate);
  json_builder_end_object (json);
}

static void
json_moved (JsonBuilder *json,
            const FlamFigures *before,
            const FlamFigures *figures)
{
  const FlamMeasure measure = moved_measure (before, figures);
  g_autofree FlamFiguresMove *moves = NULL;
  guint n = 0;

  json_builder_set_member_name (json, "moved");
  json_builder_begin_array (json);
  if (before != NULL)
    moves = flam_figures_moves (before, figures, MOVED, &n);
  for (guint i = 0; i < n; i++)
    {
      json_builder_begin_object (json);
      flam_cli_json_string (json, "function", moves[i].name);
      flam_cli_json_weight (json, "delta", &measure, moves[i].delta);
      json_error (json, "delta_error", &moves[i].estimate);
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
json_functions (JsonBuilder *json,
                const Asked *asked,
                const FlamFigures *figures)
{
  const FlamFiguresMeasure *measure = flam_figures_selected (figures);

  if (asked->functions == NULL)
    return;
  json_builder_set_member_name (json, "functions");
  json_builder_begin_array (json);
  for (guint i = 0; asked->functions[i] != NULL; i++)
    {
      const FlamFiguresFunction *function =
          flam_figures_find_function (measure, asked->functions[i]);

      json_builder_begin_object (json);
      flam_cli_json_string (json, "function", asked->functions[i]);
      flam_cli_json_weight (json,
                            "self",
                            &measure->measure,
                            function != NULL ? function->self : 0);
      flam_cli_json_weight (json,
                            "total",
                            &measure->measure,
                            function != NULL ? function->total : 0);
      if (function != NULL)
        {
          json_error (json, "self_error", &function->self_estimate);
          json_error (json, "total_error", &function->total_estimate);
        }
      json_builder_end_object (json);
    }
  json_builder_end_array (json);
}

static void
json_capture (JsonBuilder *json,
              const Asked *asked,
              const FlamHistorySeries *series,
              guint i)
{
  const FlamFigures *figures =
      flam_history_get (asked->history, series->captures[i]);

  json_builder_begin_object (json);
  flam_cli_json_string (json, "file", figures->name);
  flam_cli_json_int (json, "start_unix_ns", figures->start_unix_ns);
  flam_cli_json_int (json, "duration_ns", figures->duration_ns);
  flam_cli_json_int (json, "date_unix_ns", figures->date);
  flam_cli_json_string (
      json, "date_from", figures->of_file ? "file" : "capture");
  if (asked->group != NULL)
    flam_cli_json_string (
        json, "group", series->name != NULL ? series->name : "");
  if (*figures->host != '\0')
    flam_cli_json_string (json, "host", figures->host);
  if (*figures->build != '\0')
    flam_cli_json_string (json, "build", figures->build);
  if (*figures->job != '\0')
    flam_cli_json_string (json, "job", figures->job);
  if (*figures->commit != '\0')
    flam_cli_json_string (json, "commit", figures->commit);
  if (figures->peak_bytes >= 0)
    flam_cli_json_int (json, "peak_bytes", figures->peak_bytes);
  json_builder_set_member_name (json, "totals");
  json_builder_begin_object (json);
  for (guint m = 0; m < figures->n_measures; m++)
    flam_cli_json_weight (json,
                          figures->measures[m].id,
                          &figures->measures[m].measure,
                          figures->measures[m].total);
  json_builder_end_object (json);
  json_errors (json, figures);
  json_functions (json, asked, figures);
  json_moved (json, figures_before (asked, series, i), figures);
  json_builder_end_object (json);
}

/* The position of a capture in its series. */
typedef struct
{
  const FlamHistorySeries *series;
  guint index;
} Place;

/* By date, across series; g_free. */
static Place *
places_by_date (const Asked *asked)
{
  Place *places = g_new0 (Place, asked->history->captures->len);

  for (guint s = 0; s < asked->series->len; s++)
    for (guint i = 0; i < series_at (asked, s)->n; i++)
      places[series_at (asked, s)->captures[i]] =
          (Place){ series_at (asked, s), i };
  return places;
}

static void
print_json (const Asked *asked)
{
  JsonBuilder *json = json_builder_new ();
  g_autofree Place *places = places_by_date (asked);

  json_builder_begin_array (json);
  for (guint i = 0; i < asked->history->captures->len; i++)
    json_capture (json, asked, places[i].series, places[i].index);
  json_builder_end_array (json);
  flam_cli_print_json (json);
}

/* A row for a measure, or for a function if `function` is set; with `self`, for
 * its self cost. */
static void
print_csv_row (const FlamFigures *figures,
               const char *group,
               const FlamFiguresMeasure *measure,
               gint64 total,
               const char *function,
               gint64 self)
{
  g_autofree char *name = flam_format_csv (figures->name);
  g_autofree char *id = flam_format_csv (measure->id);
  g_autofree char *total_text = flam_format_plain (&measure->measure, total);
  g_autofree char *series = flam_format_csv (group != NULL ? group : "");
  g_autofree char *function_text =
      flam_format_csv (function != NULL ? function : "");
  g_autofree char *self_text = function != NULL
                                   ? flam_format_plain (&measure->measure, self)
                                   : g_strdup ("");

  printf ("%s,%" G_GINT64_FORMAT ",%" G_GINT64_FORMAT
          ",%s,%s,%s,%" G_GINT64_FORMAT ",%s,%s,%s\n",
          name,
          figures->start_unix_ns,
          figures->duration_ns,
          id,
          total_text,
          series,
          figures->date,
          figures->of_file ? "file" : "capture",
          function_text,
          self_text);
}

static void
print_csv (const Asked *asked)
{
  g_autofree Place *places = places_by_date (asked);

  printf ("file,start_unix_ns,duration_ns,measure,total,group,date_unix_ns,"
          "date_from,function,self\n");
  for (guint i = 0; i < asked->history->captures->len; i++)
    {
      const FlamFigures *figures = flam_history_get (asked->history, i);
      const FlamFiguresMeasure *selected = flam_figures_selected (figures);
      const char *group = places[i].series->name;

      for (guint m = 0; m < figures->n_measures; m++)
        print_csv_row (figures,
                       group,
                       &figures->measures[m],
                       figures->measures[m].total,
                       NULL,
                       0);
      for (guint k = 0; asked->functions != NULL && asked->functions[k] != NULL;
           k++)
        {
          const FlamFiguresFunction *function =
              flam_figures_find_function (selected, asked->functions[k]);

          print_csv_row (figures,
                         group,
                         selected,
                         function != NULL ? function->total : 0,
                         asked->functions[k],
                         function != NULL ? function->self : 0);
        }
    }
}

/* --- the verb ------------------------------------------------------------- */

static FlamExit
print_all (Asked *asked)
{
  if (!flam_cli_output_begin (&asked->output))
    return FLAM_EXIT_REFUSED;
  if (g_strcmp0 (asked->to, "html") == 0)
    flam_history_page (asked->output.sink,
                       asked->history,
                       &asked->key,
                       (const char *const *)asked->functions);
  else if (asked->options->json)
    print_json (asked);
  else if (asked->to != NULL)
    print_csv (asked);
  else
    print_text (asked);
  return flam_cli_output_end (&asked->output) ? FLAM_EXIT_DONE
                                              : FLAM_EXIT_REFUSED;
}

static FlamExit
check_usage (Asked *asked)
{
  g_autoptr (GError) error = NULL;

  if (asked->to != NULL && strcmp (asked->to, "csv") != 0 &&
      strcmp (asked->to, "html") != 0)
    return flam_cli_usage (_ ("history: --to: expected html or csv"));
  if (!flam_history_key_init (&asked->key, asked->group, &error))
    return flam_cli_usage ("history: --group: %s", error->message);
  return flam_gates_parse (&asked->gates, "history") ? FLAM_EXIT_DONE
                                                     : FLAM_EXIT_USAGE;
}

static FlamExit
find_and_load (Asked *asked, const char *const *paths)
{
  g_autoptr (GPtrArray) refused = flam_history_new_refused ();
  g_autoptr (GArray) files =
      flam_history_find_files (paths, FALSE, refused, NULL, NULL);
  g_autoptr (GPtrArray) captures = flam_history_new_captures ();
  FlamExit status = FLAM_EXIT_REFUSED;

  for (guint i = 0; i < refused->len; i++)
    {
      const FlamRefusal *refusal = refused->pdata[i];

      flam_cli_error ("%s: %s", refusal->name, refusal->why);
    }
  if (asked->store != NULL)
    status = use_store (asked, asked->store, files, captures);
  else if (files->len > 0)
    status = load_all (asked, files, captures);
  else
    flam_cli_error (_ ("%s: this folder has no captures"), paths[0]);
  return status == FLAM_EXIT_DONE
             ? take_captures (asked, g_steal_pointer (&captures))
             : status;
}

static int
run (int argc, char **argv)
{
  g_auto (Asked) asked = { .options = flam_cli_options_new () };
  g_auto (GStrv) files = NULL;
  const GOptionEntry own[] = {
    { "to",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.to,
      N_ ("html or csv"),
      "FORMAT" },
    { "group",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.group,
      N_ ("Make one series per match of this pattern's group in the path"),
      "REGEX" },
    { "function",
      0,
      0,
      G_OPTION_ARG_STRING_ARRAY,
      &asked.functions,
      N_ ("Show this function's total (repeatable)"),
      "NAME" },
    { "store",
      0,
      0,
      G_OPTION_ARG_FILENAME,
      &asked.store,
      N_ ("Add the captures to this SQLite file or clickhouse://…, and show "
          "all of it"),
      "STORE" },
    { "commit",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.commit,
      N_ ("Label added captures with this commit"),
      "COMMIT" },
    { "job",
      0,
      0,
      G_OPTION_ARG_STRING,
      &asked.job,
      N_ ("Label added captures with this job"),
      "JOB" },
    FLAM_OUTPUT_ENTRIES (asked.output),
    FLAM_GATE_ENTRIES (asked.gates),
    { NULL },
  };
  FlamExit status;

  if (!flam_cli_parse (&argc,
                       &argv,
                       &flam_verb_history,
                       asked.options,
                       own,
                       FLAM_CLI_FILES_OR_NONE,
                       &files))
    return FLAM_EXIT_USAGE;
  if (asked.store == NULL && files[0] == NULL)
    return flam_cli_usage (
        _ ("%s: expected %s"), "history", flam_verb_history.arguments);
  status = check_usage (&asked);
  if (status == FLAM_EXIT_DONE)
    status = find_and_load (&asked, (const char *const *)files);
  for (guint i = 0; status == FLAM_EXIT_DONE && i < asked.series->len; i++)
    if (!check_series (&asked, series_at (&asked, i)) ||
        !check_gates (&asked, series_at (&asked, i)))
      status = FLAM_EXIT_REFUSED;
  if (status == FLAM_EXIT_DONE && !check_functions (&asked))
    status = FLAM_EXIT_REFUSED;
  if (status == FLAM_EXIT_DONE)
    status = print_all (&asked);
  return status == FLAM_EXIT_DONE ? flam_gates_status (&asked.gates) : status;
}

const FlamVerb flam_verb_history = {
  "history", "FILE|DIR…", N_ ("show how captures changed over time"), run, TRUE
};
