/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-clickhouse.h"

#include "flam-clickhouse-sql.h"
#include "flam-pprof.h"

#include <string.h>

/* --- what is asked -------------------------------------------------------- */

/* The measures of the runs that have all labels of the location. */
static char *
measures_query (const FlamLocation *location)
{
  const char *type = flam_location_word (location, "type");
  GString *sql = g_string_new (
      "SELECT measure, any(unit) FROM (SELECT measures, units FROM run");

  flam_clickhouse_put_runs (sql, location, FALSE);
  g_string_append (sql, ") ARRAY JOIN measures AS measure, units AS unit");
  if (type != NULL)
    {
      g_string_append (sql, " WHERE measure = ");
      flam_clickhouse_put_quoted (sql, type);
    }
  g_string_append (sql,
                   " GROUP BY measure ORDER BY measure FORMAT TabSeparated");
  return g_string_free (sql, FALSE);
}

/* The samples of a series have one measure and the same labels, and lie
 * together: those of other labels are not read. */
static void
put_series (GString *sql, const FlamLocation *location, const char *measure)
{
  g_string_append (sql, " WHERE series IN (SELECT series[indexOf(measures, ");
  flam_clickhouse_put_quoted (sql, measure);
  g_string_append (sql, ")] FROM run");
  flam_clickhouse_put_runs (sql, location, FALSE);
  g_string_append (sql, " AND has(measures, ");
  flam_clickhouse_put_quoted (sql, measure);
  g_string_append (sql, "))");
}

/* One measure after the other: a sum by number is faster than one by name and
 * number. Of a capture that two have pushed at the same time, one run
 * counts. */
static void
put_sums (GString *sql,
          const FlamLocation *location,
          const char *measure,
          guint number)
{
  g_string_append_printf (sql,
                          "SELECT toUInt32(%u) AS number, stack, sum(value) AS "
                          "total FROM sample",
                          number);
  put_series (sql, location, measure);
  flam_clickhouse_put_hours (sql, location, FALSE);
  g_string_append (sql, " AND run IN (SELECT min(id) FROM run");
  flam_clickhouse_put_runs (sql, location, FALSE);
  g_string_append (sql, " GROUP BY capture) GROUP BY stack");
}

static char *
sums_query (const FlamLocation *location, const GPtrArray *measures)
{
  GString *sql = g_string_new ("SELECT number, stack, total FROM (");

  for (guint i = 0; i < measures->len; i++)
    {
      g_string_append (sql, i > 0 ? " UNION ALL " : "");
      put_sums (sql, location, measures->pdata[i], i);
    }
  g_string_append (sql, ") ORDER BY number, stack FORMAT TabSeparated");
  return g_string_free (sql, FALSE);
}

/* --- what comes ----------------------------------------------------------- */

typedef struct
{
  const FlamLocation *location;
  const FlamServerOptions *options;
  const FlamLoadOptions *load; /* or NULL */
  FlamBuilder *builder;
  GPtrArray *measures; /* char *: names, by their columns */
  GHashTable *frames;  /* text -> FlamId + 1 */
  GHashTable *stacks;  /* number -> FlamStackId + 1 */
  GString *text;
} Answer;

static FlamId
frame_of (Answer *answer, const char *text)
{
  FlamId id = GPOINTER_TO_UINT (g_hash_table_lookup (answer->frames, text)) - 1;
  g_auto (GStrv) parts = NULL;
  FlamFunction function = { .kind = FLAM_KIND_NATIVE, .module = FLAM_NONE };
  guint n;

  if (id != FLAM_NONE)
    return id;
  parts = g_strsplit (text, "\t", 4);
  n = g_strv_length (parts);
  function.name = flam_builder_string (answer->builder, parts[0], -1);
  if (n > 1 && *parts[1] != '\0')
    {
      function.module = flam_builder_module (
          answer->builder, parts[1], "", FLAM_ADDRESS_ABSOLUTE);
      flam_builder_set_module_symbols (
          answer->builder, function.module, FLAM_SYMBOLS_CAPTURE, NULL);
    }
  if (n > 2)
    function.file = flam_builder_string (answer->builder, parts[2], -1);
  id = flam_builder_frame_of (
      answer->builder,
      &function,
      0,
      n > 3 ? (guint32)g_ascii_strtoull (parts[3], NULL, 10) : 0,
      0);
  g_hash_table_insert (
      answer->frames, g_strdup (text), GUINT_TO_POINTER (id + 1));
  return id;
}

static FlamStackId
take_frames (Answer *answer, const char **at, const char *end)
{
  FlamStackId stack = FLAM_NONE;

  while (*at < end && **at != '\n')
    if (*(*at)++ == '\'')
      {
        flam_clickhouse_take (at, end, '\'', answer->text);
        if (answer->text->len > 0)
          stack = flam_builder_stack (
              answer->builder, stack, frame_of (answer, answer->text->str));
      }
  return stack;
}

/* The next line of numbers; FALSE if they are not `n` numbers. */
static gboolean
take_numbers (const char **at, gint64 *numbers, guint n)
{
  for (guint i = 0; i < n; i++)
    {
      char *end;

      /* Numbers of stacks have no sign. */
      numbers[i] = **at == '-' ? g_ascii_strtoll (*at, &end, 10)
                               : (gint64)g_ascii_strtoull (*at, &end, 10);
      if (end == *at || *end != (i + 1 < n ? '\t' : '\n'))
        return FALSE;
      *at = end + 1;
    }
  return TRUE;
}

static gboolean
is_wanted (const Answer *answer, const char *name)
{
  const FlamLoadOptions *load = answer->load;

  if (load == NULL || !load->one_measure)
    return TRUE;
  return load->measure != NULL ? strcmp (load->measure, name) == 0
                               : answer->measures->len == 0;
}

/* Rows of measure and unit. */
static gboolean
read_measures (Answer *answer, const FlamSpool *rows, GError **error)
{
  const char *at = (const char *)rows->base;
  const char *end = at + rows->size;
  g_autoptr (GString) name = g_string_new (NULL);
  gint64 scale;

  if (rows->size == 0)
    return flam_location_error (
        answer->location,
        error,
        N_ ("the server has no such profile in this range"));
  while (at < end)
    {
      FlamUnit unit;

      flam_clickhouse_take (&at, end, '\t', name);
      flam_clickhouse_take (&at, end, '\n', answer->text);
      unit = flam_pprof_unit (answer->text->str, &scale);
      if (name->len == 0 || answer->measures->len >= FLAM_PPROF_MAX_TYPES)
        return flam_clickhouse_refuse (answer->location, error);
      if (!is_wanted (answer, name->str))
        continue;
      g_ptr_array_add (answer->measures, g_strdup (name->str));
      flam_builder_add_measure (answer->builder,
                                name->str,
                                name->str,
                                unit,
                                flam_pprof_is_memory (name->str, unit)
                                    ? FLAM_MEASURE_ALLOC
                                    : FLAM_MEASURE_CPU,
                                (int)flam_builder_add_column (answer->builder),
                                FLAM_NONE);
    }
  return TRUE;
}

/* Rows of stack and frames. */
static void
read_stacks (Answer *answer, const FlamSpool *rows)
{
  const char *at = (const char *)rows->base;
  const char *end = at + rows->size;

  while (at < end)
    {
      char *after;
      gint64 number = (gint64)g_ascii_strtoull (at, &after, 10);

      at = after;
      g_hash_table_insert (
          answer->stacks,
          g_memdup2 (&number, sizeof number),
          GUINT_TO_POINTER (take_frames (answer, &at, end) + 1));
      while (at < end && *at != '\n')
        at++;
      at++;
    }
}

static FlamStackId
find_stack (const Answer *answer, gint64 number)
{
  return GPOINTER_TO_UINT (g_hash_table_lookup (answer->stacks, &number)) - 1;
}

/* Rows of number of the measure, stack, sum: the stacks are asked for, and then
 * they are samples. */
static GArray *
list_stacks (Answer *answer, const FlamSpool *rows)
{
  const char *at = (const char *)rows->base;
  const char *end = at + rows->size;
  g_autoptr (GHashTable) seen =
      g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL);
  GArray *stacks = g_array_new (FALSE, FALSE, sizeof (guint64));
  gint64 row[3];

  while (at < end && take_numbers (&at, row, G_N_ELEMENTS (row)))
    if (row[1] != 0 &&
        g_hash_table_add (seen, g_memdup2 (&row[1], sizeof row[1])))
      g_array_append_val (stacks, row[1]);
  return stacks;
}

static gboolean
read_samples (Answer *answer, const FlamSpool *rows, GError **error)
{
  const char *at = (const char *)rows->base;
  const char *end = at + rows->size;
  FlamThreadId thread = flam_builder_lone_thread (answer->builder);
  gint64 row[3];

  while (at < end)
    {
      gint64 weights[FLAM_PPROF_MAX_TYPES] = { 0 };
      FlamSample sample = { .thread = thread };

      if (!take_numbers (&at, row, G_N_ELEMENTS (row)) || row[0] < 0 ||
          row[0] >= answer->measures->len || row[2] < 0)
        return flam_clickhouse_refuse (answer->location, error);
      sample.stack = find_stack (answer, row[1]);
      weights[row[0]] = row[2];
      flam_builder_add_sample (answer->builder, &sample, weights);
    }
  return TRUE;
}

/* --- the three questions -------------------------------------------------- */

static gboolean
ask (const Answer *answer,
     const char *statement,
     const GArray *stacks,
     FlamSpool *rows,
     GError **error)
{
  return flam_clickhouse_ask (
      answer->location, statement, stacks, answer->options, rows, error);
}

static gboolean
ask_measures (Answer *answer, GError **error)
{
  g_autofree char *statement = measures_query (answer->location);
  FlamSpool rows;
  gboolean good;

  if (!flam_spool_init (&rows, error))
    return FALSE;
  good = ask (answer, statement, NULL, &rows, error) &&
         read_measures (answer, &rows, error);
  flam_spool_clear (&rows);
  return good;
}

static gboolean
ask_stacks (Answer *answer, const FlamSpool *samples, GError **error)
{
  g_autoptr (GArray) stacks = list_stacks (answer, samples);
  FlamSpool rows;
  gboolean good;

  if (!flam_spool_init (&rows, error))
    return FALSE;
  good = stacks->len == 0 ||
         ask (answer,
              "SELECT stack, any(frames) FROM stack WHERE stack IN asked "
              "GROUP BY stack ORDER BY stack FORMAT TabSeparated",
              stacks,
              &rows,
              error);
  if (good)
    read_stacks (answer, &rows);
  flam_spool_clear (&rows);
  return good;
}

static gboolean
ask_samples (Answer *answer, GError **error)
{
  g_autofree char *statement = sums_query (answer->location, answer->measures);
  FlamSpool rows;
  gboolean good;

  if (!flam_spool_init (&rows, error))
    return FALSE;
  good = ask (answer, statement, NULL, &rows, error) &&
         ask_stacks (answer, &rows, error) &&
         read_samples (answer, &rows, error);
  flam_spool_clear (&rows);
  return good;
}

static FlamProfile *
load_profile (const FlamLocation *location,
              const FlamServerOptions *options,
              const FlamLoadOptions *load,
              GError **error)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  Answer answer = {
    .location = location,
    .options = options,
    .load = load,
    .builder = builder,
    .measures = g_ptr_array_new_with_free_func (g_free),
    .frames = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    .stacks = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, NULL),
    .text = g_string_new (NULL),
  };
  FlamProfile *profile = NULL;

  flam_builder_set_format (builder, "clickhouse");
  if (ask_measures (&answer, error) &&
      (answer.measures->len == 0 || ask_samples (&answer, error)))
    profile = flam_builder_finish (builder, error);
  g_ptr_array_unref (answer.measures);
  g_hash_table_unref (answer.frames);
  g_hash_table_unref (answer.stacks);
  g_string_free (answer.text, TRUE);
  return profile;
}

/* Whether the only measure is not 0, so that none of the others is the default
 * one. */
static gboolean
has_weight (const FlamProfile *profile)
{
  g_autoptr (FlamSelection) all = flam_selection_new ();

  return profile->n_measures > 0 && flam_weights_total (profile, all) != 0;
}

FlamProfile *
flam_clickhouse_profile (const FlamLocation *location,
                         const FlamServerOptions *options,
                         const FlamLoadOptions *load,
                         GError **error)
{
  FlamProfile *profile = load_profile (location, options, load, error);

  if (profile == NULL || load == NULL || !load->one_measure ||
      has_weight (profile))
    return profile;
  flam_profile_unref (profile);
  return load_profile (location, options, NULL, error);
}
