/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-clickhouse.h"

#include "flam-clickhouse-sql.h"
#include "flam-history-load.h"
#include "flam-pprof.h"

#include <string.h>

/* Of each run, the largest by self and by total. */
#define LARGEST 100
#define MEASURES_MAX 64

/* --- what is asked -------------------------------------------------------- */

/* One run of each capture, the newest ones. */
static char *
runs_query (const FlamLocation *location, const char *measure)
{
  GString *sql = g_string_new (
      "SELECT id, toUInt32(time), start, duration, service, host, job, "
      "command, name, build, format, peak, measure, measures, units, totals, "
      "errors, counts, keys, values FROM run WHERE id IN (SELECT min(id) FROM "
      "run");

  flam_clickhouse_put_runs (sql, location, TRUE);
  g_string_append (sql, " GROUP BY capture)");
  if (measure != NULL)
    {
      g_string_append (sql, " AND has(measures, ");
      flam_clickhouse_put_quoted (sql, measure);
      g_string_append_c (sql, ')');
    }
  g_string_append (sql,
                   " ORDER BY time DESC, id LIMIT " G_STRINGIFY (
                       FLAM_HISTORY_CAPTURES) " FORMAT TabSeparated");
  return g_string_free (sql, FALSE);
}

#define COLUMNS                                                                \
  "run, function, self, total, self_error, self_samples, total_error, "        \
  "total_samples"

/* The functions of the measure of each run. */
static void
put_functions (GString *sql, const FlamLocation *location, const char *measure)
{
  g_string_append (
      sql,
      "SELECT " COLUMNS
      " FROM run_function WHERE (run, series) IN (SELECT id, series[");
  if (measure != NULL)
    {
      g_string_append (sql, "indexOf(measures, ");
      flam_clickhouse_put_quoted (sql, measure);
      g_string_append_c (sql, ')');
    }
  else
    g_string_append (sql, "measure + 1");
  g_string_append (sql, "] FROM run");
  flam_clickhouse_put_runs (sql, location, TRUE);
  g_string_append_c (sql, ')');
  flam_clickhouse_put_hours (sql, location, TRUE);
}

/* A function may be in more than one of the parts. */
static char *
functions_query (const FlamLocation *location,
                 const char *measure,
                 const char *const *functions)
{
  static const char *const by[] = { "self", "total" };
  GString *sql = g_string_new (NULL);

  for (guint i = 0; i < G_N_ELEMENTS (by); i++)
    {
      g_string_append_printf (
          sql,
          "%sSELECT toUInt8(%u) AS part, " COLUMNS " FROM (",
          i > 0 ? " UNION ALL " : "SELECT part, " COLUMNS " FROM (",
          i);
      put_functions (sql, location, measure);
      g_string_append_printf (
          sql, " ORDER BY run, %s DESC LIMIT %d BY run)", by[i], LARGEST);
    }
  if (functions != NULL && functions[0] != NULL)
    {
      g_string_append (
          sql, " UNION ALL SELECT toUInt8(2) AS part, " COLUMNS " FROM (");
      put_functions (sql, location, measure);
      for (guint i = 0; functions[i] != NULL; i++)
        {
          g_string_append (sql, i > 0 ? ", " : " AND function IN (");
          flam_clickhouse_put_quoted (sql, functions[i]);
        }
      g_string_append (sql, "))");
    }
  g_string_append (sql, ") ORDER BY run, function FORMAT TabSeparated");
  return g_string_free (sql, FALSE);
}

/* --- one line of the answer ----------------------------------------------- */

typedef struct
{
  const FlamLocation *location;
  const FlamServerOptions *options;
  const char *at, *end;
  GString *text;
  gboolean bad; /* something was not what it has to be */
  GPtrArray *runs;
  GHashTable *by_id; /* number -> FlamFigures */
} Answer;

/* g_free. */
static char *
take_text (Answer *answer)
{
  flam_clickhouse_take (&answer->at, answer->end, '\t', answer->text);
  return g_utf8_make_valid (answer->text->str, (gssize)answer->text->len);
}

static gint64
take_number (Answer *answer)
{
  gint64 number;

  flam_clickhouse_take (&answer->at, answer->end, '\t', answer->text);
  if (!g_ascii_string_to_signed (
          answer->text->str, 10, G_MININT64, G_MAXINT64, &number, NULL))
    {
      answer->bad = TRUE;
      return 0;
    }
  return number;
}

static gint64
take_within (Answer *answer, gint64 least, gint64 most)
{
  gint64 number = take_number (answer);

  return CLAMP (number, least, most);
}

static guint64
take_id (Answer *answer)
{
  guint64 number = 0;

  flam_clickhouse_take (&answer->at, answer->end, '\t', answer->text);
  answer->bad |= !g_ascii_string_to_unsigned (
      answer->text->str, 10, 0, G_MAXUINT64, &number, NULL);
  return number;
}

/* "['one','two']" or "[1,2]". */
static GPtrArray *
take_list (Answer *answer)
{
  GPtrArray *list = g_ptr_array_new_with_free_func (g_free);

  while (answer->at < answer->end && *answer->at != '\t' && *answer->at != '\n')
    {
      char c = *answer->at++;

      if (c == '\'')
        flam_clickhouse_take (&answer->at, answer->end, '\'', answer->text);
      else if (c != '-' && !g_ascii_isdigit (c))
        continue;
      else
        {
          g_string_truncate (answer->text, 0);
          g_string_append_c (answer->text, c);
          while (answer->at < answer->end && g_ascii_isdigit (*answer->at))
            g_string_append_c (answer->text, *answer->at++);
        }
      g_ptr_array_add (
          list,
          g_utf8_make_valid (answer->text->str, (gssize)answer->text->len));
    }
  if (answer->at < answer->end && *answer->at == '\t')
    answer->at++;
  return list;
}

/* After the last value of a line. */
static void
end_line (Answer *answer)
{
  if (answer->at < answer->end && *answer->at == '\n')
    answer->at++;
  else
    answer->bad = TRUE;
}

static FlamEstimate
take_estimate (Answer *answer)
{
  gint64 error = take_within (answer, 0, G_MAXINT64);
  gint64 samples = take_within (answer, 0, G_MAXINT64);

  return (FlamEstimate){ samples > 0, error, samples };
}

/* --- runs ----------------------------------------------------------------- */

static gint64
number_at (const GPtrArray *numbers, guint i)
{
  gint64 number =
      i < numbers->len ? g_ascii_strtoll (numbers->pdata[i], NULL, 10) : 0;

  return MAX (number, 0);
}

static void
take_measures (Answer *answer, FlamFigures *figures)
{
  g_autoptr (GPtrArray) names = take_list (answer);
  g_autoptr (GPtrArray) units = take_list (answer);
  g_autoptr (GPtrArray) totals = take_list (answer);
  g_autoptr (GPtrArray) errors = take_list (answer);
  g_autoptr (GPtrArray) counts = take_list (answer);

  answer->bad |= names->len != units->len || names->len != totals->len;
  figures->n_measures = MIN (MIN (names->len, units->len), MEASURES_MAX);
  figures->measures = g_new0 (FlamFiguresMeasure, MAX (figures->n_measures, 1));
  for (guint i = 0; i < figures->n_measures; i++)
    {
      FlamFiguresMeasure *measure = &figures->measures[i];
      gint64 scale, samples = number_at (counts, i);

      measure->id = g_strdup (names->pdata[i]);
      measure->name = g_strdup (names->pdata[i]);
      measure->measure.unit = flam_pprof_unit (units->pdata[i], &scale);
      measure->measure.kind =
          flam_pprof_is_memory (names->pdata[i], measure->measure.unit)
              ? FLAM_MEASURE_ALLOC
              : FLAM_MEASURE_CPU;
      measure->measure.denominator = 1;
      measure->measure.event = FLAM_NONE;
      measure->total = measure->left = number_at (totals, i);
      measure->total_estimate = measure->left_estimate =
          (FlamEstimate){ samples > 0, number_at (errors, i), samples };
    }
}

static const char *
label_of (const GPtrArray *keys, const GPtrArray *values, const char *key)
{
  for (guint i = 0; i < MIN (keys->len, values->len); i++)
    if (strcmp (keys->pdata[i], key) == 0)
      return values->pdata[i];
  return NULL;
}

/* The labels of the push outrank those of the capture. */
static void
take_labels (Answer *answer, FlamFigures *figures)
{
  g_autoptr (GPtrArray) keys = take_list (answer);
  g_autoptr (GPtrArray) values = take_list (answer);
  const char *host = label_of (keys, values, "host");

  figures->commit = g_strdup ("");
  flam_figures_set_labels (figures,
                           label_of (keys, values, "job"),
                           label_of (keys, values, "commit"));
  if (host != NULL)
    {
      g_free (figures->host);
      figures->host = g_strdup (host);
    }
}

static void
take_run (Answer *answer, const char *wanted)
{
  g_autoptr (FlamFigures) figures = g_atomic_rc_box_new0 (FlamFigures);
  guint64 id = take_id (answer);
  gint64 time = take_within (answer, 0, G_MAXUINT32);
  g_autofree char *service = NULL;

  figures->start_unix_ns = take_within (answer, 0, G_MAXINT64);
  figures->date = figures->start_unix_ns > 0
                      ? figures->start_unix_ns
                      : time * G_GINT64_CONSTANT (1000000000);
  figures->duration_ns = take_within (answer, 0, G_MAXINT64);
  service = take_text (answer);
  figures->host = take_text (answer);
  figures->job = take_text (answer);
  figures->command = take_text (answer);
  figures->name = take_text (answer);
  figures->path = g_strdup (figures->name);
  figures->build = take_text (answer);
  figures->format = take_text (answer);
  figures->peak_bytes = take_within (answer, -1, G_MAXINT64);
  figures->measure = (guint)take_within (answer, 0, MEASURES_MAX);
  take_measures (answer, figures);
  take_labels (answer, figures);
  end_line (answer);
  for (guint i = 0; i < figures->n_measures; i++)
    if (g_strcmp0 (figures->measures[i].id, wanted) == 0)
      figures->measure = i;
  figures->measure = MIN (figures->measure, MAX (figures->n_measures, 1) - 1);
  if (figures->n_measures == 0)
    return;
  g_hash_table_insert (answer->by_id, g_memdup2 (&id, sizeof id), figures);
  g_ptr_array_add (answer->runs, g_steal_pointer (&figures));
}

/* --- functions ------------------------------------------------------------ */

typedef struct
{
  guint64 run;
  GArray *functions; /* FlamFiguresFunction, by name */
  guint n[2];        /* rows of each part, */
  gint64 least[2];   /* and their least value */
} Collected;

static void
finish_functions (Answer *answer, Collected *collected)
{
  FlamFigures *figures = g_hash_table_lookup (answer->by_id, &collected->run);
  FlamFiguresMeasure *measure =
      figures != NULL ? &figures->measures[figures->measure] : NULL;

  if (measure == NULL || measure->functions != NULL)
    {
      for (guint i = 0; i < collected->functions->len; i++)
        g_ref_string_release (
            g_array_index (collected->functions, FlamFiguresFunction, i).name);
    }
  else
    {
      measure->n_functions = collected->functions->len;
      measure->functions = g_memdup2 (collected->functions->data,
                                      MAX (collected->functions->len, 1) *
                                          sizeof (FlamFiguresFunction));
      measure->least_self =
          collected->n[0] >= LARGEST ? collected->least[0] : 0;
      measure->least_total =
          collected->n[1] >= LARGEST ? collected->least[1] : 0;
    }
  g_array_set_size (collected->functions, 0);
  memset (collected->n, 0, sizeof collected->n);
}

/* Rows of one name follow one another. */
static void
take_function (Answer *answer, Collected *collected)
{
  guint64 part = take_id (answer);
  guint64 run = take_id (answer);
  g_autofree char *name = take_text (answer);
  gint64 values[2];
  FlamFiguresFunction function = { NULL };
  const FlamFiguresFunction *last;

  values[0] = function.self = take_within (answer, 0, G_MAXINT64);
  values[1] = function.total = take_within (answer, 0, G_MAXINT64);
  function.self_estimate = take_estimate (answer);
  function.total_estimate = take_estimate (answer);
  end_line (answer);
  if (answer->bad)
    return;
  if (run != collected->run)
    finish_functions (answer, collected);
  collected->run = run;
  if (part < G_N_ELEMENTS (values))
    {
      collected->least[part] = collected->n[part] > 0
                                   ? MIN (collected->least[part], values[part])
                                   : values[part];
      collected->n[part]++;
    }
  last = collected->functions->len > 0
             ? &g_array_index (collected->functions,
                               FlamFiguresFunction,
                               collected->functions->len - 1)
             : NULL;
  if (last != NULL && strcmp (last->name, name) >= 0)
    {
      /* Another server's order would leave a table that cannot be searched. */
      answer->bad = strcmp (last->name, name) > 0;
      return;
    }
  function.name = g_ref_string_new_intern (name);
  g_array_append_val (collected->functions, function);
}

static void
read_functions (Answer *answer)
{
  Collected collected = {
    .functions = g_array_new (FALSE, FALSE, sizeof (FlamFiguresFunction)),
  };

  while (answer->at < answer->end && !answer->bad)
    take_function (answer, &collected);
  finish_functions (answer, &collected);
  g_array_unref (collected.functions);
}

/* --- the two questions ---------------------------------------------------- */

typedef void (*Reader) (Answer *answer, const char *measure);

static void
read_runs (Answer *answer, const char *measure)
{
  while (answer->at < answer->end && !answer->bad)
    take_run (answer, measure);
}

static void
read_run_functions (Answer *answer, const char *measure)
{
  read_functions (answer);
  for (guint i = 0; i < answer->runs->len; i++)
    {
      FlamFigures *figures = answer->runs->pdata[i];
      FlamFiguresMeasure *of = &figures->measures[figures->measure];

      /* A run without functions has none; NULL would be unknown. */
      if (of->functions == NULL)
        of->functions = g_new0 (FlamFiguresFunction, 1);
    }
}

static gboolean
ask (Answer *answer,
     const char *statement,
     const char *measure,
     Reader reader,
     GError **error)
{
  FlamSpool rows;
  gboolean good;

  if (!flam_spool_init (&rows, error))
    return FALSE;
  good = flam_clickhouse_ask (
      answer->location, statement, NULL, answer->options, &rows, error);
  if (good)
    {
      answer->at = (const char *)rows.base;
      answer->end = answer->at + rows.size;
      reader (answer, measure);
      good = !answer->bad || flam_clickhouse_refuse (answer->location, error);
    }
  flam_spool_clear (&rows);
  return good;
}

GPtrArray *
flam_clickhouse_runs (const FlamLocation *location,
                      const char *measure,
                      const char *const *functions,
                      const FlamServerOptions *options,
                      GError **error)
{
  g_autoptr (GPtrArray) runs = flam_history_new_captures ();
  g_autofree char *first = runs_query (location, measure);
  g_autofree char *second = functions_query (location, measure, functions);
  Answer answer = {
    .location = location,
    .options = options,
    .text = g_string_new (NULL),
    .runs = runs,
    .by_id = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL),
  };
  gboolean good = ask (&answer, first, measure, read_runs, error) &&
                  (runs->len == 0 ||
                   ask (&answer, second, measure, read_run_functions, error));

  g_string_free (answer.text, TRUE);
  g_hash_table_unref (answer.by_id);
  if (good && runs->len == 0)
    good = flam_location_error (
        location, error, N_ ("the server has no runs like these"));
  return good ? g_steal_pointer (&runs) : NULL;
}
