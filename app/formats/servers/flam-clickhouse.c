/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-clickhouse.h"

#include "flam-export-common.h"
#include "flam-part.h"
#include "flam-pprof.h"

#include <string.h>

/* Bytes of one INSERT. */
#define BATCH (8 << 20)

/* --- statements ----------------------------------------------------------- */

/* Within quotes, and in tab-separated values alike. */
static void
put_escaped (GString *out, const char *text, gssize length)
{
  const char *end = text + (length < 0 ? (gssize)strlen (text) : length);

  for (; text < end; text++)
    switch (*text)
      {
      case '\t':
        g_string_append (out, "\\t");
        break;
      case '\n':
        g_string_append (out, "\\n");
        break;
      case '\r':
        g_string_append (out, "\\r");
        break;
      case '\\':
      case '\'':
        g_string_append_c (out, '\\');
        G_GNUC_FALLTHROUGH;
      default:
        g_string_append_c (out, *text);
      }
}

static void
put_quoted (GString *out, const char *text)
{
  g_string_append_c (out, '\'');
  put_escaped (out, text, -1);
  g_string_append_c (out, '\'');
}

/* "/?database=DATABASE&query=…": the path of the URL is the database's. */
static char *
query_path (const FlamLocation *location, const char *statement)
{
  g_autofree char *query = g_uri_escape_string (statement, NULL, FALSE);
  g_autofree char *database =
      g_uri_escape_string (location->database, NULL, FALSE);

  return g_strdup_printf ("/?database=%s&query=%s", database, query);
}

/* `rows` NULL: none. FALSE with an error. */
static gboolean
run_statement (const FlamLocation *location,
               const char *statement,
               const GString *rows,
               const FlamServerOptions *options,
               GError **error)
{
  g_autofree char *path = query_path (location, statement);
  g_autoptr (GBytes) body =
      g_bytes_new (rows != NULL ? rows->str : "", rows != NULL ? rows->len : 0);
  FlamServerRequest request = { .path = path,
                                .body_type = "text/tab-separated-values",
                                .body = body };
  g_autofree char *answer =
      flam_server_send_short (location, &request, options, error);

  return answer != NULL;
}

static gboolean
make_tables (const FlamLocation *location,
             const FlamServerOptions *options,
             GError **error)
{
  static const char *const statements[] = {
    ("CREATE TABLE IF NOT EXISTS run (id UInt64, capture UInt64, time "
     "DateTime, duration UInt64, service String, host String, command String, "
     "keys Array(String), values Array(String)) ENGINE = MergeTree PARTITION "
     "BY toYYYYMM(time) ORDER BY (service, time, id)"),
    ("CREATE TABLE IF NOT EXISTS sample (run UInt64, service String, time "
     "DateTime, measure String, unit String, stack UInt64, value Int64) "
     "ENGINE = MergeTree PARTITION BY toYYYYMM(time) ORDER BY (service, "
     "measure, time, run)"),
    ("CREATE TABLE IF NOT EXISTS stack (stack UInt64, frames Array(String)) "
     "ENGINE = ReplacingMergeTree ORDER BY stack"),
  };

  for (guint i = 0; i < G_N_ELEMENTS (statements); i++)
    if (!run_statement (location, statements[i], NULL, options, error))
      return FALSE;
  return TRUE;
}

/* --- pushing -------------------------------------------------------------- */

typedef struct
{
  const FlamLocation *location;
  const FlamServerOptions *options;
  const FlamProfile *profile;
  guint64 *stacks; /* one per stack: its number */
  guint64 capture; /* the same for the same capture */
  guint64 run;     /* of this push only */
  gint64 start;    /* s */
  const char *service;
} Push;

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
  gboolean sent =
      rows->len == 0 ||
      run_statement (push->location, statement, rows, push->options, error);

  g_string_truncate (rows, 0);
  return sent;
}

/* The frames of a stack, the outermost first. */
static void
put_stack (const Push *push, FlamStackId stack, GString *rows)
{
  const FlamStacks *stacks = &push->profile->stacks;
  g_autoptr (GArray) path = g_array_new (FALSE, FALSE, sizeof (FlamId));
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GString) once = g_string_new (NULL);

  for (FlamId s = stack; s != FLAM_NONE; s = stacks->prefix[s])
    g_array_append_val (path, stacks->frame[s]);
  g_string_append_printf (
      rows, "%" G_GUINT64_FORMAT "\t[", push->stacks[stack]);
  for (guint i = path->len; i-- > 0;)
    {
      g_string_truncate (text, 0);
      g_string_truncate (once, 0);
      put_frame (text, push->profile, g_array_index (path, FlamId, i));
      put_quoted (once, text->str);
      g_string_append_len (rows, once->str, (gssize)once->len);
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
put_sample (const Push *push,
            const FlamMeasure *measure,
            Sum sum,
            GString *rows)
{
  g_string_append_printf (rows, "%" G_GUINT64_FORMAT "\t", push->run);
  put_escaped (rows, push->service, -1);
  g_string_append_printf (rows, "\t%" G_GINT64_FORMAT "\t", push->start);
  put_escaped (
      rows, flam_export_measure_name (push->profile, measure, TRUE), -1);
  g_string_append_printf (rows,
                          "\t%s\t%" G_GUINT64_FORMAT "\t%" G_GINT64_FORMAT "\n",
                          flam_export_unit (measure),
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

          put_sample (push, &push->profile->measures[m], sum, rows);
          if (sum.stack != FLAM_NONE)
            used[sum.stack] = 1;
          if (rows->len > BATCH && !send_rows (push, "sample", rows, error))
            return FALSE;
        }
    }
  return send_rows (push, "sample", rows, error);
}

static gboolean
send_stacks (Push *push, const guint8 *used, GError **error)
{
  g_autoptr (GString) rows = g_string_new (NULL);

  for (FlamId i = 0; i < push->profile->stacks.n; i++)
    if (used[i])
      {
        put_stack (push, i, rows);
        if (rows->len > BATCH && !send_rows (push, "stack", rows, error))
          return FALSE;
      }
  return send_rows (push, "stack", rows, error);
}

static void
put_labels (const FlamLocation *location, guint from, GString *rows)
{
  gboolean first = TRUE;

  g_string_append (rows, "\t[");
  for (guint i = 0; i + 1 < location->words->len; i += 2)
    if (flam_location_is_label (location->words->pdata[i]))
      {
        g_autoptr (GString) once = g_string_new (NULL);

        put_quoted (once, location->words->pdata[i + from]);
        g_string_append (rows, first ? "" : ",");
        g_string_append_len (rows, once->str, (gssize)once->len);
        first = FALSE;
      }
  g_string_append_c (rows, ']');
}

/* Written last of the three: samples without their run come from a failed push,
 * and are not counted. */
static gboolean
send_run (const Push *push, GError **error)
{
  const FlamFacts *facts = &push->profile->facts;
  const char *host = flam_facts_other (facts, FLAM_FACT_HOST);
  g_autoptr (GString) rows = g_string_new (NULL);

  g_string_append_printf (rows,
                          "%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT
                          "\t%" G_GINT64_FORMAT "\t%" G_GINT64_FORMAT "\t",
                          push->run,
                          push->capture,
                          push->start,
                          facts->duration_ns);
  put_escaped (rows, push->service, -1);
  g_string_append_c (rows, '\t');
  put_escaped (rows, host != NULL ? host : "", -1);
  g_string_append_c (rows, '\t');
  put_escaped (rows, facts->command, -1);
  put_labels (push->location, 0, rows);
  put_labels (push->location, 1, rows);
  g_string_append_c (rows, '\n');
  return send_rows (push, "run", rows, error);
}

/* Computed before the push has a run and a time: the same capture has the same
 * number, whoever pushes it, and whenever. */
static guint64
number_capture (const Push *push, const FlamPart *part)
{
  g_autoptr (GString) text = g_string_new (push->service);

  g_string_append_printf (text,
                          "\n%" G_GINT64_FORMAT "\n%s\n",
                          push->profile->facts.start_unix_ns,
                          push->profile->facts.command);
  for (guint m = 0; m < push->profile->n_measures; m++)
    {
      g_autoptr (GArray) sums = sum_measure (part, m);

      for (guint i = 0; i < sums->len; i++)
        put_sample (push,
                    &push->profile->measures[m],
                    g_array_index (sums, Sum, i),
                    text);
    }
  return hash_of (text->str, text->len);
}

static gboolean
is_new (const Push *push, GError **error)
{
  g_autofree char *statement = g_strdup_printf (
      "SELECT count() FROM run WHERE capture = %" G_GUINT64_FORMAT,
      push->capture);
  g_autofree char *path = query_path (push->location, statement);
  const FlamServerRequest request = { .path = path };
  g_autofree char *answer =
      flam_server_send_short (push->location, &request, push->options, error);

  if (answer == NULL)
    return FALSE;
  return *answer == '0' ||
         flam_location_error (
             push->location, error, N_ ("the capture is there already"));
}

gboolean
flam_clickhouse_push (const FlamLocation *location,
                      const FlamProfile *profile,
                      const FlamSelection *selection,
                      const char *service,
                      const FlamServerOptions *options,
                      GError **error)
{
  g_auto (FlamPart) part = { 0 };
  Push push = { .location = location, .options = options, .service = service };
  g_autofree guint8 *used = NULL;
  gboolean sent;

  if (!flam_part_init (&part, profile, selection, error))
    return FALSE;
  push.profile = part.profile;
  number_stacks (&push);
  push.capture = number_capture (&push, &part);
  push.run = (guint64)g_random_int () << 32 | g_random_int ();
  push.start = profile->facts.start_unix_ns > 0
                   ? profile->facts.start_unix_ns / 1000000000
                   : g_get_real_time () / G_USEC_PER_SEC;
  used = g_new0 (guint8, part.profile->stacks.n + 1);
  sent = make_tables (location, options, error) && is_new (&push, error) &&
         send_samples (&push, &part, used, error) &&
         send_stacks (&push, used, error) && send_run (&push, error);
  g_free (push.stacks);
  return sent;
}

/* --- reading -------------------------------------------------------------- */

/* The service and the range, by which both tables are sorted. */
static void
put_range (GString *sql, const FlamLocation *location)
{
  const char *service = flam_location_word (location, "service");

  g_string_append_printf (sql,
                          " WHERE time >= toDateTime(%" G_GINT64_FORMAT
                          ") AND time <= toDateTime(%" G_GINT64_FORMAT ")",
                          location->from / 1000,
                          location->to / 1000);
  if (service != NULL)
    {
      g_string_append (sql, " AND service = ");
      put_quoted (sql, service);
    }
}

/* The runs that have all labels of the location. If a capture was pushed twice
 * at the same time, only one of the two. */
static void
put_runs (GString *sql, const FlamLocation *location)
{
  g_string_append (sql, "SELECT min(id) FROM run");
  put_range (sql, location);
  for (guint i = 0; i + 1 < location->words->len; i += 2)
    if (flam_location_is_label (location->words->pdata[i]))
      {
        g_string_append (sql, " AND values[indexOf(keys, ");
        put_quoted (sql, location->words->pdata[i]);
        g_string_append (sql, ")] = ");
        put_quoted (sql, location->words->pdata[i + 1]);
      }
  g_string_append (sql, " GROUP BY capture");
}

/* Sums first, so that only the remaining stacks are joined. */
static char *
make_query (const FlamLocation *location)
{
  const char *type = flam_location_word (location, "type");
  GString *sql = g_string_new (
      "SELECT measure, unit, value, frames FROM (SELECT measure, any(unit) AS "
      "unit, stack, sum(value) AS value FROM sample");

  put_range (sql, location);
  if (type != NULL)
    {
      g_string_append (sql, " AND measure = ");
      put_quoted (sql, type);
    }
  g_string_append (sql, " AND run IN (");
  put_runs (sql, location);
  g_string_append (
      sql,
      ") GROUP BY measure, stack) ANY LEFT JOIN (SELECT stack, any(frames) AS "
      "frames FROM stack WHERE stack IN (SELECT stack FROM sample");
  put_range (sql, location);
  g_string_append (sql,
                   ") GROUP BY stack) USING stack ORDER BY measure, stack "
                   "FORMAT TabSeparated");
  return g_string_free (sql, FALSE);
}

typedef struct
{
  FlamBuilder *builder;
  FlamThreadId thread;
  GPtrArray *measures; /* char *: names, by their columns */
  GHashTable *frames;  /* text -> FlamId + 1 */
  GString *text;
} Answer;

/* One value of tab-separated text; ends behind its tab or line feed.
 * `in_array`: up to the quote. */
static void
take_value (const char **at, const char *end, char stop, GString *into)
{
  g_string_truncate (into, 0);
  while (*at < end && **at != stop && **at != '\n')
    {
      if (**at == '\\' && *at + 1 < end)
        {
          char c = *++*at;
          g_string_append_c (into,
                             c == 't'   ? '\t'
                             : c == 'n' ? '\n'
                             : c == 'r' ? '\r'
                                        : c);
        }
      else
        g_string_append_c (into, **at);
      ++*at;
    }
  if (*at < end && **at == stop)
    ++*at;
}

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
        take_value (at, end, '\'', answer->text);
        if (answer->text->len > 0)
          stack = flam_builder_stack (
              answer->builder, stack, frame_of (answer, answer->text->str));
      }
  return stack;
}

/* The column of a row's measure; the first time, it is added. */
static guint
column_of (Answer *answer, const char *name, const char *unit)
{
  gint64 scale;
  FlamUnit as = flam_pprof_unit (unit, &scale);

  for (guint i = 0; i < answer->measures->len; i++)
    if (strcmp (answer->measures->pdata[i], name) == 0)
      return i;
  if (answer->measures->len >= FLAM_PPROF_MAX_TYPES)
    return FLAM_NONE;
  g_ptr_array_add (answer->measures, g_strdup (name));
  flam_builder_add_measure (answer->builder,
                            name,
                            name,
                            as,
                            flam_pprof_is_memory (name, as) ? FLAM_MEASURE_ALLOC
                                                            : FLAM_MEASURE_CPU,
                            (int)flam_builder_add_column (answer->builder),
                            FLAM_NONE);
  return answer->measures->len - 1;
}

/* Rows of measure, unit, value, frames: read first for the measures, then for
 * all. */
static gboolean
read_rows (Answer *answer, const FlamSpool *rows, gboolean samples)
{
  const char *at = (const char *)rows->base;
  const char *end = at + rows->size;
  g_autoptr (GString) measure = g_string_new (NULL);
  g_autoptr (GString) unit = g_string_new (NULL);

  while (at < end)
    {
      gint64 weights[FLAM_PPROF_MAX_TYPES] = { 0 };
      FlamSample sample = { .thread = answer->thread, .stack = FLAM_NONE };
      guint column;
      gint64 value;

      take_value (&at, end, '\t', measure);
      take_value (&at, end, '\t', unit);
      column = column_of (answer, measure->str, unit->str);
      take_value (&at, end, '\t', answer->text);
      if (column == FLAM_NONE ||
          !g_ascii_string_to_signed (
              answer->text->str, 10, 0, G_MAXINT64, &value, NULL))
        return FALSE;
      if (samples)
        {
          sample.stack = take_frames (answer, &at, end);
          weights[column] = value;
          flam_builder_add_sample (answer->builder, &sample, weights);
        }
      while (at < end && *at != '\n')
        at++;
      at++;
    }
  return TRUE;
}

static FlamProfile *
read_answer (const FlamLocation *location,
             const FlamSpool *rows,
             GError **error)
{
  g_autoptr (FlamBuilder) builder = flam_builder_new ();
  Answer answer = {
    .builder = builder,
    .measures = g_ptr_array_new_with_free_func (g_free),
    .frames = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL),
    .text = g_string_new (NULL),
  };
  FlamProfile *profile = NULL;

  flam_builder_set_format (builder, "clickhouse");
  if (rows->size == 0)
    flam_location_error (
        location, error, N_ ("the server has no such profile in this range"));
  else if (!read_rows (&answer, rows, FALSE))
    flam_location_error (
        location, error, N_ ("the answer is not one of ClickHouse's"));
  else
    {
      answer.thread = flam_builder_lone_thread (builder);
      if (read_rows (&answer, rows, TRUE))
        profile = flam_builder_finish (builder, error);
    }
  g_ptr_array_unref (answer.measures);
  g_hash_table_unref (answer.frames);
  g_string_free (answer.text, TRUE);
  return profile;
}

FlamProfile *
flam_clickhouse_profile (const FlamLocation *location,
                         const FlamServerOptions *options,
                         GError **error)
{
  g_autofree char *query = make_query (location);
  g_autofree char *path = query_path (location, query);
  const FlamServerRequest request = { .path = path };
  FlamProfile *profile = NULL;
  FlamSpool rows;

  if (!flam_spool_init (&rows, error))
    return NULL;
  if (flam_server_send (location, &request, options, &rows, error))
    profile = read_answer (location, &rows, error);
  flam_spool_clear (&rows);
  return profile;
}
