/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-clickhouse.h"

#include "flam-clickhouse-sql.h"
#include "flam-export-common.h"
#include "flam-part.h"

#include <string.h>

/* Bytes of one INSERT. */
#define BATCH (8 << 20)

#define SAMPLES "sample (run, service, measure, series, hour, stack, value)"

#define FUNCTIONS                                                              \
  "run_function (series, hour, run, function, self, total, self_error, "       \
  "self_samples, total_error, total_samples)"
#define RUN                                                                    \
  "run (id, capture, time, start, duration, service, host, job, command, "     \
  "name, build, format, peak, measure, measures, units, series, totals, "      \
  "errors, counts, keys, values)"

/* A series is a measure of a service with the same labels: one number is found
 * and compared faster than many names, and what a question leaves out is not
 * read. The samples of an hour are sorted by stack, as a sum over stacks reads
 * them, and equal numbers in a row need little space. */
static gboolean
make_tables (const FlamLocation *location,
             const FlamServerOptions *options,
             GError **error)
{
  static const char *const statements[] = {
    ("CREATE TABLE IF NOT EXISTS run (id UInt64, capture UInt64, time "
     "DateTime, start UInt64, duration UInt64, service String, host String, "
     "job String, command String, name String, build String, format String, "
     "peak Int64, measure UInt32, measures Array(String), units "
     "Array(String), series Array(UInt64), totals Array(Int64), errors "
     "Array(Int64), counts Array(Int64), keys Array(String), values "
     "Array(String)) ENGINE = MergeTree PARTITION BY toYYYYMM(time) ORDER BY "
     "(service, time, id)"),
    ("CREATE TABLE IF NOT EXISTS run_function (series UInt64, hour DateTime, "
     "run UInt64, function String, self Int64, total Int64, self_error "
     "Int64, self_samples Int64, total_error Int64, total_samples Int64) "
     "ENGINE = MergeTree PARTITION BY toYYYYMM(hour) ORDER BY (series, hour, "
     "run)"),
    ("CREATE TABLE IF NOT EXISTS sample (run UInt64, service String, measure "
     "String, series UInt64, hour DateTime, stack UInt64, value Int64) ENGINE "
     "= MergeTree PARTITION BY toYYYYMM(hour) ORDER BY (series, hour, stack, "
     "run)"),
    ("CREATE TABLE IF NOT EXISTS stack (stack UInt64, frames Array(String)) "
     "ENGINE = ReplacingMergeTree ORDER BY stack"),
  };

  for (guint i = 0; i < G_N_ELEMENTS (statements); i++)
    {
      g_autofree char *answer =
          flam_clickhouse_run (location, statements[i], NULL, options, error);

      if (answer == NULL)
        return FALSE;
    }
  return TRUE;
}

typedef struct
{
  const FlamLocation *location;
  const FlamServerOptions *options;
  const FlamProfile *profile;
  FlamFigures *figures; /* of the profile */
  guint64 *series;      /* one per measure */
  guint64 *stacks;      /* one per stack: its number */
  guint64 capture;      /* the same for the same capture */
  guint64 run;          /* of this push alone */
  gint64 start;         /* s */
  const char *service;
} Push;

static gint64
hour_of (const Push *push)
{
  return push->start - push->start % FLAM_CLICKHOUSE_HOUR;
}

/* "name\tmodule\tfile\tline": frames of the same text are one. */
static void
put_frame (GString *text, const FlamProfile *profile, FlamFrameId frame)
{
  const FlamFrames *frames = &profile->frames;
  FlamFunctionId function = frames->function[frame];
  FlamStringId file = frames->file[frame] != 0
                          ? frames->file[frame]
                          : profile->functions.file[function];

  g_string_append_printf (text,
                          "%s\t%s\t%s\t%u",
                          flam_profile_function_name (profile, function),
                          flam_profile_module_name (profile, function),
                          flam_profile_string (profile, file),
                          frames->line[frame]);
}

static guint64
hash_of (const void *bytes, gsize length)
{
  g_autoptr (GChecksum) sum = g_checksum_new (G_CHECKSUM_SHA256);
  guint8 digest[32];
  gsize size = sizeof digest;
  guint64 number;

  g_checksum_update (sum, bytes, (gssize)length);
  g_checksum_get_digest (sum, digest, &size);
  memcpy (&number, digest, sizeof number);
  return GUINT64_FROM_LE (number);
}

/* Of the frame and its caller's number; a prefix's id is less than its
 * stack's. */
static void
number_stacks (Push *push)
{
  const FlamStacks *stacks = &push->profile->stacks;
  g_autoptr (GString) text = g_string_new (NULL);

  push->stacks = g_new (guint64, stacks->n + 1);
  for (FlamId i = 0; i < stacks->n; i++)
    {
      guint64 caller = GUINT64_TO_LE (
          stacks->prefix[i] != FLAM_NONE ? push->stacks[stacks->prefix[i]] : 0);

      g_string_truncate (text, 0);
      g_string_append_len (text, (const char *)&caller, sizeof caller);
      put_frame (text, push->profile, stacks->frame[i]);
      push->stacks[i] = hash_of (text->str, text->len);
    }
}

static gboolean
send_rows (const Push *push, const char *table, GString *rows, GError **error)
{
  g_autofree char *statement =
      g_strdup_printf ("INSERT INTO %s FORMAT TabSeparated", table);
  g_autofree char *answer = NULL;

  if (rows->len == 0)
    return TRUE;
  answer = flam_clickhouse_run (
      push->location, statement, rows, push->options, error);
  g_string_truncate (rows, 0);
  return answer != NULL;
}

/* The frames of a stack, the outermost first. */
static void
put_stack (const Push *push, FlamStackId stack, GString *rows)
{
  const FlamStacks *stacks = &push->profile->stacks;
  g_autoptr (GArray) path = g_array_new (FALSE, FALSE, sizeof (FlamId));
  g_autoptr (GString) text = g_string_new (NULL);

  for (FlamId s = stack; s != FLAM_NONE; s = stacks->prefix[s])
    g_array_append_val (path, stacks->frame[s]);
  g_string_append_printf (
      rows, "%" G_GUINT64_FORMAT "\t[", push->stacks[stack]);
  for (guint i = path->len; i-- > 0;)
    {
      g_string_truncate (text, 0);
      put_frame (text, push->profile, g_array_index (path, FlamId, i));
      flam_clickhouse_put_quoted (rows, text->str);
      g_string_append (rows, i > 0 ? "," : "]\n");
    }
}

typedef struct
{
  FlamStackId stack;
  gint64 weight;
} Sum;

/* The sums of one measure over threads and times, by stack. */
static GArray *
sum_measure (const FlamPart *part, guint m)
{
  const FlamProfile *profile = part->profile;
  GArray *sums = g_array_new (FALSE, FALSE, sizeof (Sum));
  g_autofree gint64 *weights = g_new0 (gint64, profile->stacks.n + 1);

  for (guint32 lane = 0; lane < part->n_lanes; lane++)
    {
      g_auto (FlamPartRows) rows = flam_part_rows (part, m, lane);
      FlamPartRow row;

      while (flam_part_rows_next (&rows, &row))
        weights[row.stack != FLAM_NONE ? row.stack : profile->stacks.n] +=
            row.weight;
    }
  for (FlamId i = 0; i <= profile->stacks.n; i++)
    if (weights[i] != 0)
      {
        Sum sum = { i < profile->stacks.n ? i : FLAM_NONE, weights[i] };
        g_array_append_val (sums, sum);
      }
  return sums;
}

static void
put_sample (const Push *push, guint m, Sum sum, GString *rows)
{
  const FlamMeasure *measure = &push->profile->measures[m];

  g_string_append_printf (rows, "%" G_GUINT64_FORMAT "\t", push->run);
  flam_clickhouse_put_escaped (rows, push->service, -1);
  g_string_append_c (rows, '\t');
  flam_clickhouse_put_escaped (
      rows, flam_export_measure_name (push->profile, measure, TRUE), -1);
  g_string_append_printf (rows,
                          "\t%" G_GUINT64_FORMAT "\t%" G_GINT64_FORMAT
                          "\t%" G_GUINT64_FORMAT "\t%" G_GINT64_FORMAT "\n",
                          push->series[m],
                          hour_of (push),
                          sum.stack != FLAM_NONE ? push->stacks[sum.stack] : 0,
                          flam_export_whole (measure, sum.weight));
}

/* `used` has the stacks of the samples that were sent. */
static gboolean
send_samples (Push *push, const FlamPart *part, guint8 *used, GError **error)
{
  g_autoptr (GString) rows = g_string_new (NULL);

  for (guint m = 0; m < push->profile->n_measures; m++)
    {
      g_autoptr (GArray) sums = sum_measure (part, m);

      for (guint i = 0; i < sums->len; i++)
        {
          Sum sum = g_array_index (sums, Sum, i);

          put_sample (push, m, sum, rows);
          if (sum.stack != FLAM_NONE)
            used[sum.stack] = 1;
          if (rows->len > BATCH && !send_rows (push, SAMPLES, rows, error))
            return FALSE;
        }
    }
  return send_rows (push, SAMPLES, rows, error);
}

static void
put_whole (const FlamMeasure *measure, gint64 weight, GString *rows)
{
  g_string_append_printf (
      rows, "\t%" G_GINT64_FORMAT, flam_export_whole (measure, weight));
}

static void
put_estimate (const FlamMeasure *measure, FlamEstimate estimate, GString *rows)
{
  put_whole (measure, estimate.sampled ? estimate.error : 0, rows);
  g_string_append_printf (
      rows, "\t%" G_GINT64_FORMAT, estimate.sampled ? estimate.samples : 0);
}

static gboolean
send_functions (Push *push, GError **error)
{
  g_autoptr (GString) rows = g_string_new (NULL);

  for (guint m = 0; m < push->figures->n_measures; m++)
    {
      const FlamFiguresMeasure *figures = &push->figures->measures[m];
      const FlamMeasure *measure = &push->profile->measures[m];

      for (guint i = 0; i < figures->n_functions; i++)
        {
          const FlamFiguresFunction *function = &figures->functions[i];

          g_string_append_printf (rows,
                                  "%" G_GUINT64_FORMAT "\t%" G_GINT64_FORMAT
                                  "\t%" G_GUINT64_FORMAT "\t",
                                  push->series[m],
                                  hour_of (push),
                                  push->run);
          flam_clickhouse_put_escaped (rows, function->name, -1);
          put_whole (measure, function->self, rows);
          put_whole (measure, function->total, rows);
          put_estimate (measure, function->self_estimate, rows);
          put_estimate (measure, function->total_estimate, rows);
          g_string_append_c (rows, '\n');
          if (rows->len > BATCH && !send_rows (push, FUNCTIONS, rows, error))
            return FALSE;
        }
    }
  return send_rows (push, FUNCTIONS, rows, error);
}

/* Takes those that the server has from the ones that are `used`. */
static gboolean
drop_known (const Push *push, guint8 *used, GError **error)
{
  const FlamStacks *stacks = &push->profile->stacks;
  g_autoptr (GArray) asked = g_array_new (FALSE, FALSE, sizeof (guint64));
  g_autoptr (GHashTable) known = g_hash_table_new (g_int64_hash, g_int64_equal);
  g_autofree guint64 *numbers = NULL;
  FlamSpool answer;
  gboolean done;

  for (FlamId i = 0; i < stacks->n; i++)
    if (used[i])
      g_array_append_val (asked, push->stacks[i]);
  if (asked->len == 0)
    return TRUE;
  if (!flam_spool_init (&answer, error))
    return FALSE;
  done = flam_clickhouse_ask (push->location,
                              "SELECT DISTINCT stack FROM stack WHERE stack IN "
                              "asked FORMAT TabSeparated",
                              asked,
                              push->options,
                              &answer,
                              error);
  if (done)
    {
      const char *at = (const char *)answer.base;
      gsize n = 0;

      numbers = g_new (guint64, answer.size / 2 + 1);
      for (char *end = NULL; *at != '\0'; at = *end != '\0' ? end + 1 : end)
        {
          numbers[n] = g_ascii_strtoull (at, &end, 10);
          if (end == at)
            break;
          g_hash_table_add (known, &numbers[n++]);
        }
      for (FlamId i = 0; i < stacks->n; i++)
        if (g_hash_table_contains (known, &push->stacks[i]))
          used[i] = 0;
    }
  flam_spool_clear (&answer);
  return done;
}

static gboolean
send_stacks (Push *push, guint8 *used, GError **error)
{
  g_autoptr (GString) rows = g_string_new (NULL);

  if (!drop_known (push, used, error))
    return FALSE;
  for (FlamId i = 0; i < push->profile->stacks.n; i++)
    if (used[i])
      {
        put_stack (push, i, rows);
        if (rows->len > BATCH && !send_rows (push, "stack", rows, error))
          return FALSE;
      }
  return send_rows (push, "stack", rows, error);
}

/* "['one','two']" */
static void
put_array (GString *rows, const GPtrArray *texts)
{
  for (guint i = 0; i < texts->len; i++)
    {
      g_string_append (rows, i > 0 ? "," : "\t[");
      flam_clickhouse_put_quoted (rows, texts->pdata[i]);
    }
  g_string_append (rows, texts->len > 0 ? "]" : "\t[]");
}

static void
put_measures (const Push *push, GString *rows)
{
  const FlamProfile *profile = push->profile;
  g_autoptr (GPtrArray) names = g_ptr_array_new ();
  g_autoptr (GPtrArray) units = g_ptr_array_new ();

  for (guint m = 0; m < profile->n_measures; m++)
    {
      const FlamMeasure *measure = &profile->measures[m];

      g_ptr_array_add (
          names, (gpointer)flam_export_measure_name (profile, measure, TRUE));
      g_ptr_array_add (units, (gpointer)flam_export_unit (measure));
    }
  put_array (rows, names);
  put_array (rows, units);
}

typedef gint64 (*Number) (const Push *push, guint m);

static gint64
series_at (const Push *push, guint m)
{
  return (gint64)push->series[m];
}

static gint64
total_at (const Push *push, guint m)
{
  return flam_export_whole (&push->profile->measures[m],
                            push->figures->measures[m].total);
}

static gint64
error_at (const Push *push, guint m)
{
  const FlamEstimate *of = &push->figures->measures[m].total_estimate;

  return of->sampled
             ? flam_export_whole (&push->profile->measures[m], of->error)
             : 0;
}

static gint64
samples_at (const Push *push, guint m)
{
  const FlamEstimate *of = &push->figures->measures[m].total_estimate;

  return of->sampled ? of->samples : 0;
}

/* "[1,2]", one per measure. */
static void
put_numbers (const Push *push, Number number, gboolean sign, GString *rows)
{
  g_string_append (rows, "\t[");
  for (guint m = 0; m < push->profile->n_measures; m++)
    {
      gint64 value = number (push, m);

      g_string_append (rows, m > 0 ? "," : "");
      if (sign)
        g_string_append_printf (rows, "%" G_GINT64_FORMAT, value);
      else
        g_string_append_printf (rows, "%" G_GUINT64_FORMAT, (guint64)value);
    }
  g_string_append_c (rows, ']');
}

static void
put_labels (const FlamLocation *location, GString *rows)
{
  const GPtrArray *words = location->words;
  g_autoptr (GPtrArray) keys = g_ptr_array_new ();
  g_autoptr (GPtrArray) values = g_ptr_array_new ();

  for (guint i = 0; i + 1 < words->len; i += 2)
    if (flam_location_is_label (words->pdata[i]))
      {
        g_ptr_array_add (keys, words->pdata[i]);
        g_ptr_array_add (values, words->pdata[i + 1]);
      }
  put_array (rows, keys);
  put_array (rows, values);
}

static void
put_text (const char *text, GString *rows)
{
  g_string_append_c (rows, '\t');
  flam_clickhouse_put_escaped (rows, text, -1);
}

/* The last one: samples without their run are of a push that failed, and count
 * nowhere. */
static gboolean
send_run (const Push *push, GError **error)
{
  const FlamFigures *figures = push->figures;
  g_autoptr (GString) rows = g_string_new (NULL);

  g_string_append_printf (rows,
                          "%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT
                          "\t%" G_GINT64_FORMAT "\t%" G_GINT64_FORMAT
                          "\t%" G_GINT64_FORMAT,
                          push->run,
                          push->capture,
                          push->start,
                          figures->start_unix_ns,
                          figures->duration_ns);
  put_text (push->service, rows);
  put_text (figures->host, rows);
  put_text (figures->job, rows);
  put_text (figures->command, rows);
  put_text (figures->name, rows);
  put_text (figures->build, rows);
  put_text (figures->format, rows);
  g_string_append_printf (rows,
                          "\t%" G_GINT64_FORMAT "\t%u",
                          figures->peak_bytes,
                          figures->measure);
  put_measures (push, rows);
  put_numbers (push, series_at, FALSE, rows);
  put_numbers (push, total_at, TRUE, rows);
  put_numbers (push, error_at, TRUE, rows);
  put_numbers (push, samples_at, TRUE, rows);
  put_labels (push->location, rows);
  g_string_append_c (rows, '\n');
  return send_rows (push, RUN, rows, error);
}

/* --- numbers -------------------------------------------------------------- */

static int
compare_labels (gconstpointer a, gconstpointer b)
{
  return strcmp (*(const char *const *)a, *(const char *const *)b);
}

/* In whatever order the labels are typed. */
static void
number_series (Push *push)
{
  const GPtrArray *words = push->location->words;
  g_autoptr (GPtrArray) labels = g_ptr_array_new_with_free_func (g_free);

  for (guint i = 0; i + 1 < words->len; i += 2)
    if (flam_location_is_label (words->pdata[i]))
      g_ptr_array_add (labels,
                       g_strdup_printf ("\n%s=%s",
                                        (char *)words->pdata[i],
                                        (char *)words->pdata[i + 1]));
  g_ptr_array_sort (labels, compare_labels);
  push->series = g_new (guint64, push->profile->n_measures + 1);
  for (guint m = 0; m < push->profile->n_measures; m++)
    {
      g_autoptr (GString) text = g_string_new (push->service);

      g_string_append_printf (
          text,
          "\n%s",
          flam_export_measure_name (
              push->profile, &push->profile->measures[m], TRUE));
      for (guint i = 0; i < labels->len; i++)
        g_string_append (text, labels->pdata[i]);
      push->series[m] = hash_of (text->str, text->len);
    }
}

/* Whoever pushes the capture, when, and with which labels, the number is the
 * same. */
static guint64
number_capture (const Push *push, const FlamPart *part)
{
  const FlamProfile *profile = push->profile;
  g_autoptr (GString) text = g_string_new (push->service);

  g_string_append_printf (text,
                          "\n%" G_GINT64_FORMAT "\n%s",
                          profile->facts.start_unix_ns,
                          profile->facts.command);
  for (guint m = 0; m < profile->n_measures; m++)
    {
      const FlamMeasure *measure = &profile->measures[m];
      g_autoptr (GArray) sums = sum_measure (part, m);

      g_string_append_printf (
          text, "\n%s", flam_export_measure_name (profile, measure, TRUE));
      for (guint i = 0; i < sums->len; i++)
        {
          Sum sum = g_array_index (sums, Sum, i);

          g_string_append_printf (
              text,
              "\n%" G_GUINT64_FORMAT " %" G_GINT64_FORMAT,
              sum.stack != FLAM_NONE ? push->stacks[sum.stack] : 0,
              flam_export_whole (measure, sum.weight));
        }
    }
  return hash_of (text->str, text->len);
}

/* Also if the labels differ: a sum over all labels would count the capture
 * twice. Adding a folder every night, each time with another commit, would
 * otherwise add its old captures again. */
static gboolean
refuse_known (const Push *push, const char *labels, GError **error)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *valid = NULL;

  flam_clickhouse_take (&labels, labels + strlen (labels), '\t', text);
  valid = g_utf8_make_valid (text->str, (gssize)text->len);
  for (char *p = valid; *p != '\0'; p++)
    if ((guchar)*p < ' ' || *p == 0x7f)
      *p = ' ';
  return flam_error_set (error,
                         FLAM_ERROR_EXISTS,
                         *valid != '\0'
                             ? N_ ("%s: the capture is there already, with %s")
                             : N_ ("%s: the capture is there already"),
                         push->location->text,
                         valid);
}

static gboolean
is_new (const Push *push, GError **error)
{
  g_autofree char *statement = g_strdup_printf (
      "SELECT count(), any(arrayStringConcat(arrayMap((k, v) -> "
      "concat(k, '=', v), keys, values), '&')) FROM run WHERE capture = "
      "%" G_GUINT64_FORMAT,
      push->capture);
  g_autofree char *answer = flam_clickhouse_run (
      push->location, statement, NULL, push->options, error);
  char *end;
  guint64 n;

  if (answer == NULL)
    return FALSE;
  n = g_ascii_strtoull (answer, &end, 10);
  if (!g_ascii_isdigit (*answer) || !g_ascii_isspace (*end))
    return flam_clickhouse_refuse (push->location, error);
  return n == 0 || refuse_known (push, end + 1, error);
}

/* Of all that is pushed. */
static gboolean
take_figures (Push *push,
              const FlamPart *part,
              const char *path,
              GError **error)
{
  static const FlamFiguresKeep all = { 0, TRUE };
  g_autoptr (FlamSelection) selection = flam_selection_copy (part->all);

  selection->measure = part->measure;
  push->figures =
      flam_figures_new (path, part->profile, selection, &all, NULL, error);
  return push->figures != NULL;
}

static gboolean
push_part (Push *push, const FlamPart *part, const char *path, GError **error)
{
  g_autofree guint8 *used = g_new0 (guint8, part->profile->stacks.n + 1);

  number_stacks (push);
  number_series (push);
  push->capture = number_capture (push, part);
  return make_tables (push->location, push->options, error) &&
         is_new (push, error) && take_figures (push, part, path, error) &&
         send_samples (push, part, used, error) &&
         send_functions (push, error) && send_stacks (push, used, error) &&
         send_run (push, error);
}

gboolean
flam_clickhouse_push (const FlamLocation *location,
                      const FlamProfile *profile,
                      const FlamSelection *selection,
                      const char *service,
                      const char *path,
                      const FlamServerOptions *options,
                      GError **error)
{
  g_auto (FlamPart) part = { 0 };
  Push push = { .location = location, .options = options, .service = service };
  gboolean sent;

  if (!flam_part_init (&part, profile, selection, error))
    return FALSE;
  push.profile = part.profile;
  push.run = (guint64)g_random_int () << 32 | g_random_int ();
  push.start = profile->facts.start_unix_ns > 0
                   ? profile->facts.start_unix_ns / 1000000000
                   : g_get_real_time () / G_USEC_PER_SEC;
  sent = push_part (&push, &part, path, error);
  g_clear_pointer (&push.figures, flam_figures_unref);
  g_free (push.series);
  g_free (push.stacks);
  return sent;
}
