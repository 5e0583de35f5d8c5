/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-history-store.h"

#include "flam-history-load.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

/* "FLAM" */
#define APPLICATION 0x464c414d
/* Its place in an SQLite file, big endian. */
#define ID_AT 68
/* 1 had no errors, 2 all functions of each run. */
#define VERSION 3
#define WAIT_MS 10000
/* Of one run. */
#define MEASURES_MAX 64
#define FUNCTIONS_MAX 1000000
#define TEXT_MAX_BYTES (1 << 20)

struct _FlamHistoryStore
{
  char *path;
  sqlite3 *db;
  gint64 version; /* of the file */
};

static const char tables[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, path TEXT, name TEXT,"
    "  date INTEGER, of_file INTEGER, start_unix_ns INTEGER,"
    "  duration_ns INTEGER, peak_bytes INTEGER, modified INTEGER,"
    "  size INTEGER, format TEXT, command TEXT, host TEXT, build TEXT,"
    "  job TEXT, \"commit\" TEXT, measure INTEGER);"
    "CREATE INDEX run_path ON run (path);"
    "CREATE TABLE run_measure (run INTEGER, position INTEGER, id TEXT,"
    "  name TEXT, unit INTEGER, kind INTEGER, source INTEGER,"
    "  denominator INTEGER, total INTEGER, rest INTEGER,"
    "  total_error INTEGER, total_samples INTEGER, rest_error INTEGER,"
    "  rest_samples INTEGER, least_self INTEGER, least_total INTEGER,"
    "  PRIMARY KEY (run, position)) WITHOUT ROWID;"
    "CREATE TABLE function (id INTEGER PRIMARY KEY, name TEXT UNIQUE);"
    "CREATE TABLE run_function (run INTEGER, position INTEGER,"
    "  function INTEGER, self INTEGER, total INTEGER, self_error INTEGER,"
    "  self_samples INTEGER, total_error INTEGER, total_samples INTEGER,"
    "  PRIMARY KEY (run, position, function)) WITHOUT ROWID;"
    "CREATE VIEW functions (run, date, host, job, \"commit\", measure, name,"
    "    self, total) AS"
    "  SELECT run.id, run.date, host, job, \"commit\", run_measure.id,"
    "    function.name, self * 1.0 / denominator,"
    "    run_function.total * 1.0 / denominator"
    "  FROM run_function JOIN run ON run.id = run_function.run"
    "  JOIN run_measure USING (run, position)"
    "  JOIN function ON function.id = run_function.function;";

/* From the version before each. Of figures that are not estimates, and of runs
 * with all their functions, all of these are 0. */
static const char *const upgrades[] = {
  "ALTER TABLE run_measure ADD total_error INTEGER DEFAULT 0;"
  "ALTER TABLE run_measure ADD total_samples INTEGER DEFAULT 0;"
  "ALTER TABLE run_measure ADD rest_error INTEGER DEFAULT 0;"
  "ALTER TABLE run_measure ADD rest_samples INTEGER DEFAULT 0;"
  "ALTER TABLE run_function ADD self_error INTEGER DEFAULT 0;"
  "ALTER TABLE run_function ADD self_samples INTEGER DEFAULT 0;"
  "ALTER TABLE run_function ADD total_error INTEGER DEFAULT 0;"
  "ALTER TABLE run_function ADD total_samples INTEGER DEFAULT 0;"
  "PRAGMA user_version = 2;",
  "ALTER TABLE run_measure ADD least_self INTEGER DEFAULT 0;"
  "ALTER TABLE run_measure ADD least_total INTEGER DEFAULT 0;"
  "PRAGMA user_version = 3;",
};
G_STATIC_ASSERT (G_N_ELEMENTS (upgrades) == VERSION - 1);

static gboolean
fail (FlamHistoryStore *store, GError **error)
{
  return flam_error_set (error,
                         FLAM_ERROR_SYSTEM,
                         "%s: %s",
                         store->path,
                         sqlite3_errmsg (store->db));
}

static gboolean
run (FlamHistoryStore *store, const char *statements, GError **error)
{
  return sqlite3_exec (store->db, statements, NULL, NULL, NULL) == SQLITE_OK ||
         fail (store, error);
}

/* NULL with the error. */
static sqlite3_stmt *
prepare (FlamHistoryStore *store, const char *text, GError **error)
{
  sqlite3_stmt *statement = NULL;

  if (sqlite3_prepare_v2 (store->db, text, -1, &statement, NULL) != SQLITE_OK)
    fail (store, error);
  return statement;
}

static gint64
number_of (FlamHistoryStore *store, const char *query)
{
  sqlite3_stmt *statement = prepare (store, query, NULL);
  gint64 number = -1;

  if (statement != NULL && sqlite3_step (statement) == SQLITE_ROW)
    number = sqlite3_column_int64 (statement, 0);
  sqlite3_finalize (statement);
  return number;
}

/* --- opening -------------------------------------------------------------- */

gboolean
flam_history_store_is (const char *path)
{
  static const char magic[] = "SQLite format 3";
  static const guint8 id[] = { APPLICATION >> 24 & 0xff,
                               APPLICATION >> 16 & 0xff,
                               APPLICATION >> 8 & 0xff,
                               APPLICATION & 0xff };
  guint8 head[ID_AT + sizeof id];
  int file = open (path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  gboolean whole;

  if (file < 0)
    return FALSE;
  whole = read (file, head, sizeof head) == sizeof head;
  close (file);
  return whole && memcmp (head, magic, sizeof magic) == 0 &&
         memcmp (head + ID_AT, id, sizeof id) == 0;
}

static void
distrust (sqlite3 *db)
{
  sqlite3_db_config (db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_db_config (db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  sqlite3_limit (db, SQLITE_LIMIT_LENGTH, TEXT_MAX_BYTES);
  sqlite3_busy_timeout (db, WAIT_MS);
}

static gboolean
create (FlamHistoryStore *store, GError **error)
{
  g_autofree char *head =
      g_strdup_printf ("PRAGMA application_id = %d; PRAGMA user_version = %d;",
                       APPLICATION,
                       VERSION);

  /* Another process may have done it meanwhile. */
  if (!run (store, "BEGIN IMMEDIATE", error))
    return FALSE;
  if (number_of (store, "SELECT count(*) FROM sqlite_schema") > 0)
    return run (store, "COMMIT", error);
  if (run (store, head, error) && run (store, tables, error) &&
      run (store, "COMMIT", error))
    return TRUE;
  run (store, "ROLLBACK", NULL);
  return FALSE;
}

/* Another process may have done it meanwhile. */
static gboolean
upgrade (FlamHistoryStore *store, GError **error)
{
  gboolean good;

  if (store->version == VERSION)
    return TRUE;
  if (!run (store, "BEGIN IMMEDIATE", error))
    return FALSE;
  store->version = number_of (store, "PRAGMA user_version");
  good = store->version > 0 || fail (store, error);
  for (; good && store->version < VERSION; store->version++)
    good = run (store, upgrades[store->version - 1], error);
  if (good && run (store, "COMMIT", error))
    return TRUE;
  run (store, "ROLLBACK", NULL);
  return FALSE;
}

static gboolean
check (FlamHistoryStore *store, gboolean append, GError **error)
{
  gint64 n = number_of (store, "SELECT count(*) FROM sqlite_schema");

  if (n < 0)
    return fail (store, error);
  if (n == 0 && append && !create (store, error))
    return FALSE;
  if (number_of (store, "PRAGMA application_id") != APPLICATION)
    return flam_error_set (error,
                           FLAM_ERROR_UNKNOWN_FORMAT,
                           N_ ("%s: is not a store of runs"),
                           store->path);
  store->version = number_of (store, "PRAGMA user_version");
  if (store->version > VERSION)
    return flam_error_set (
        error,
        FLAM_ERROR_UNSUPPORTED,
        N_ ("%s: written by a newer Flambeau; this one reads version 3"),
        store->path);
  return !append || upgrade (store, error);
}

FlamHistoryStore *
flam_history_store_open (const char *path, gboolean append, GError **error)
{
  g_autoptr (FlamHistoryStore) store = g_new0 (FlamHistoryStore, 1);
  int how = append ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                   : SQLITE_OPEN_READONLY;

  store->path = g_strdup (path);
  if (sqlite3_open_v2 (path, &store->db, how, NULL) != SQLITE_OK)
    {
      fail (store, error);
      return NULL;
    }
  distrust (store->db);
  return check (store, append, error) ? g_steal_pointer (&store) : NULL;
}

void
flam_history_store_free (FlamHistoryStore *store)
{
  sqlite3_close (store->db);
  g_free (store->path);
  g_free (store);
}

/* --- writing -------------------------------------------------------------- */

/* Binds the values in turn and runs the statement. */
typedef struct
{
  sqlite3_stmt *statement;
  int at;
} Insert;

static void
put_text (Insert *insert, const char *text)
{
  sqlite3_bind_text (insert->statement, ++insert->at, text, -1, SQLITE_STATIC);
}

static void
put_int (Insert *insert, gint64 value)
{
  sqlite3_bind_int64 (insert->statement, ++insert->at, value);
}

static void
put_estimate (Insert *insert, FlamEstimate estimate)
{
  put_int (insert, estimate.error);
  put_int (insert, estimate.samples);
}

static gboolean
finish_row (FlamHistoryStore *store, Insert *insert, GError **error)
{
  gboolean done = sqlite3_step (insert->statement) == SQLITE_DONE;

  if (!done)
    fail (store, error);
  sqlite3_reset (insert->statement);
  insert->at = 0;
  return done;
}

gboolean
flam_history_store_has (FlamHistoryStore *store,
                        const char *path,
                        gint64 modified,
                        gint64 size)
{
  Insert query = { prepare (store,
                            "SELECT 1 FROM run WHERE path = ? AND modified = ? "
                            "AND size = ?",
                            NULL) };
  gboolean found;

  if (query.statement == NULL)
    return FALSE;
  put_text (&query, path);
  put_int (&query, modified);
  put_int (&query, size);
  found = sqlite3_step (query.statement) == SQLITE_ROW;
  sqlite3_finalize (query.statement);
  return found;
}

static gboolean
append_run (FlamHistoryStore *store, const FlamFigures *figures, GError **error)
{
  Insert row = { prepare (
      store,
      "INSERT INTO run VALUES (NULL,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
      error) };
  gboolean good;

  if (row.statement == NULL)
    return FALSE;
  put_text (&row, figures->path);
  put_text (&row, figures->name);
  put_int (&row, figures->date);
  put_int (&row, figures->of_file);
  put_int (&row, figures->start_unix_ns);
  put_int (&row, figures->duration_ns);
  put_int (&row, figures->peak_bytes);
  put_int (&row, figures->modified);
  put_int (&row, figures->size);
  put_text (&row, figures->format);
  put_text (&row, figures->command);
  put_text (&row, figures->host);
  put_text (&row, figures->build);
  put_text (&row, figures->job);
  put_text (&row, figures->commit);
  put_int (&row, figures->measure);
  good = finish_row (store, &row, error);
  sqlite3_finalize (row.statement);
  return good;
}

static gboolean
append_measure (FlamHistoryStore *store,
                Insert *row,
                gint64 id,
                guint position,
                const FlamFiguresMeasure *measure,
                GError **error)
{
  put_int (row, id);
  put_int (row, position);
  put_text (row, measure->id);
  put_text (row, measure->name);
  put_int (row, measure->measure.unit);
  put_int (row, measure->measure.kind);
  put_int (row, measure->measure.source);
  put_int (row, measure->measure.denominator);
  put_int (row, measure->total);
  put_int (row, measure->left);
  put_estimate (row, measure->total_estimate);
  put_estimate (row, measure->left_estimate);
  put_int (row, measure->least_self);
  put_int (row, measure->least_total);
  return finish_row (store, row, error);
}

static gboolean
append_functions (FlamHistoryStore *store,
                  Insert *name,
                  Insert *row,
                  gint64 id,
                  guint position,
                  const FlamFiguresMeasure *measure,
                  GError **error)
{
  for (guint i = 0; measure->functions != NULL && i < measure->n_functions; i++)
    {
      const FlamFiguresFunction *function = &measure->functions[i];

      put_text (name, function->name);
      if (!finish_row (store, name, error))
        return FALSE;
      put_int (row, id);
      put_int (row, position);
      put_text (row, function->name);
      put_int (row, function->self);
      put_int (row, function->total);
      put_estimate (row, function->self_estimate);
      put_estimate (row, function->total_estimate);
      if (!finish_row (store, row, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean
append_run_whole (FlamHistoryStore *store,
                  const FlamFigures *figures,
                  GError **error)
{
  Insert measure = { prepare (store,
                              "INSERT INTO run_measure VALUES "
                              "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                              error) };
  Insert name = { prepare (
      store, "INSERT OR IGNORE INTO function (name) VALUES (?)", error) };
  Insert function = { prepare (store,
                               "INSERT OR IGNORE INTO run_function SELECT "
                               "?1, ?2, id, ?4, ?5, ?6, ?7, ?8, ?9 FROM "
                               "function WHERE name = ?3",
                               error) };
  gboolean good = measure.statement != NULL && name.statement != NULL &&
                  function.statement != NULL &&
                  append_run (store, figures, error);
  gint64 id = sqlite3_last_insert_rowid (store->db);

  for (guint i = 0; i < figures->n_measures && good; i++)
    good =
        append_measure (store, &measure, id, i, &figures->measures[i], error) &&
        append_functions (
            store, &name, &function, id, i, &figures->measures[i], error);
  sqlite3_finalize (measure.statement);
  sqlite3_finalize (name.statement);
  sqlite3_finalize (function.statement);
  return good;
}

gboolean
flam_history_store_append_all (FlamHistoryStore *store,
                               const GPtrArray *runs,
                               GError **error)
{
  gboolean good = run (store, "BEGIN IMMEDIATE", error);

  if (!good)
    return FALSE;
  for (guint i = 0; i < runs->len && good; i++)
    good = append_run_whole (store, runs->pdata[i], error);
  if (good && run (store, "COMMIT", error))
    return TRUE;
  run (store, "ROLLBACK", NULL);
  return FALSE;
}

gboolean
flam_history_store_append (FlamHistoryStore *store,
                           const FlamFigures *figures,
                           GError **error)
{
  gpointer one[] = { (gpointer)figures };
  const GPtrArray runs = { one, 1 };

  return flam_history_store_append_all (store, &runs, error);
}

/* --- reading -------------------------------------------------------------- */

/* The columns of a row in turn. */
static char *
take_text (Insert *row)
{
  const char *text =
      (const char *)sqlite3_column_text (row->statement, row->at++);

  return text != NULL ? g_utf8_make_valid (text, -1) : g_strdup ("");
}

static gint64
take_int (Insert *row)
{
  return sqlite3_column_int64 (row->statement, row->at++);
}

static gint64
take_within (Insert *row, gint64 least, gint64 most)
{
  gint64 value = take_int (row);

  return CLAMP (value, least, most);
}

static FlamEstimate
take_estimate (Insert *row)
{
  gint64 error = take_within (row, 0, G_MAXINT64 / 2);
  gint64 samples = take_within (row, 0, G_MAXINT64 / 2);

  return (FlamEstimate){ samples > 0, error, samples };
}

static FlamFigures *
take_run (Insert *row, gint64 *id)
{
  FlamFigures *figures = g_atomic_rc_box_new0 (FlamFigures);

  row->at = 0;
  *id = take_int (row);
  figures->path = take_text (row);
  figures->name = take_text (row);
  figures->date = take_within (row, 0, G_MAXINT64);
  figures->of_file = take_int (row) != 0;
  figures->start_unix_ns = take_within (row, 0, G_MAXINT64);
  figures->duration_ns = take_within (row, 0, G_MAXINT64);
  figures->peak_bytes = take_within (row, -1, G_MAXINT64);
  figures->modified = take_int (row);
  figures->size = take_int (row);
  figures->format = take_text (row);
  figures->command = take_text (row);
  figures->host = take_text (row);
  figures->build = take_text (row);
  figures->job = take_text (row);
  figures->commit = take_text (row);
  figures->measure = (guint)take_within (row, 0, MEASURES_MAX);
  return figures;
}

static FlamFiguresMeasure
take_measure (Insert *row)
{
  FlamFiguresMeasure measure = { NULL };

  row->at = 0;
  measure.id = take_text (row);
  measure.name = take_text (row);
  measure.measure.unit = (FlamUnit)take_within (row, 0, FLAM_UNIT_BYTES);
  measure.measure.kind =
      (FlamMeasureKind)take_within (row, 0, FLAM_MEASURE_ALLOC);
  measure.measure.source =
      (FlamMeasureSource)take_within (row, 0, FLAM_N_SOURCES - 1);
  measure.measure.denominator = take_within (row, 1, G_MAXINT64);
  measure.measure.event = FLAM_NONE;
  measure.total = take_within (row, 0, G_MAXINT64);
  measure.left = take_within (row, 0, measure.total);
  measure.total_estimate = take_estimate (row);
  measure.left_estimate = take_estimate (row);
  measure.least_self = take_within (row, 0, measure.total);
  measure.least_total = take_within (row, 0, measure.total);
  return measure;
}

static int
compare_functions (gconstpointer a, gconstpointer b)
{
  return strcmp (((const FlamFiguresFunction *)a)->name,
                 ((const FlamFiguresFunction *)b)->name);
}

/* By name, each once: the table's key is the function, and names are unique. */
static void
read_functions (Insert *query,
                gint64 id,
                guint position,
                FlamFiguresMeasure *measure)
{
  GArray *functions = g_array_new (FALSE, FALSE, sizeof (FlamFiguresFunction));

  query->at = 0;
  put_int (query, id);
  put_int (query, position);
  while (functions->len < FUNCTIONS_MAX &&
         sqlite3_step (query->statement) == SQLITE_ROW)
    {
      FlamFiguresFunction function;
      g_autofree char *name = NULL;

      query->at = 0;
      name = take_text (query);
      function.name = g_ref_string_new_intern (name);
      function.self = take_within (query, 0, G_MAXINT64);
      function.total = take_within (query, 0, G_MAXINT64);
      function.self_estimate = take_estimate (query);
      function.total_estimate = take_estimate (query);
      g_array_append_val (functions, function);
    }
  sqlite3_reset (query->statement);
  g_array_sort (functions, compare_functions);
  measure->n_functions = functions->len;
  measure->functions =
      (FlamFiguresFunction *)(void *)g_array_free (functions, FALSE);
  if (measure->functions == NULL)
    measure->functions = g_new0 (FlamFiguresFunction, 1);
}

static void
read_measures (Insert *query,
               Insert *functions,
               gint64 id,
               const char *wanted,
               FlamFigures *figures)
{
  GArray *measures = g_array_new (FALSE, FALSE, sizeof (FlamFiguresMeasure));

  query->at = 0;
  put_int (query, id);
  while (measures->len < MEASURES_MAX &&
         sqlite3_step (query->statement) == SQLITE_ROW)
    {
      FlamFiguresMeasure measure = take_measure (query);

      if (g_strcmp0 (measure.id, wanted) == 0)
        figures->measure = measures->len;
      g_array_append_val (measures, measure);
    }
  sqlite3_reset (query->statement);
  figures->n_measures = measures->len;
  figures->measures =
      (FlamFiguresMeasure *)(void *)g_array_free (measures, FALSE);
  figures->measure = MIN (figures->measure, MAX (figures->n_measures, 1) - 1);
  if (figures->n_measures > 0)
    read_functions (
        functions, id, figures->measure, &figures->measures[figures->measure]);
}

static gboolean
has_measure (const FlamFigures *figures, const char *measure)
{
  return figures->n_measures > 0 &&
         (measure == NULL || flam_figures_find (figures, measure) != NULL);
}

/* Runs without the measure are left out. */
static gboolean
read_all (FlamHistoryStore *store,
          Insert *runs,
          Insert *measures,
          Insert *functions,
          const char *measure,
          GPtrArray *captures)
{
  int status = SQLITE_DONE;

  while (captures->len < FLAM_HISTORY_CAPTURES &&
         (status = sqlite3_step (runs->statement)) == SQLITE_ROW)
    {
      gint64 id;
      g_autoptr (FlamFigures) figures = take_run (runs, &id);

      read_measures (measures, functions, id, measure, figures);
      if (has_measure (figures, measure))
        g_ptr_array_add (captures, g_steal_pointer (&figures));
    }
  return status == SQLITE_DONE || status == SQLITE_ROW;
}

#define MEASURE "id, name, unit, kind, source, denominator, total, rest"
#define ERRORS ", total_error, total_samples, rest_error, rest_samples"
#define FROM_MEASURES "FROM run_measure WHERE run = ? ORDER BY position"
#define FROM_FUNCTIONS                                                         \
  "FROM run_function JOIN function ON function.id = run_function.function "    \
  "WHERE run = ? AND position = ?"

GPtrArray *
flam_history_store_read (FlamHistoryStore *store,
                         const char *measure,
                         GError **error)
{
  /* The newest ones, in the order in which they were added. */
  Insert runs = { prepare (
      store,
      "SELECT * FROM (SELECT * FROM run ORDER BY id DESC "
      "LIMIT " G_STRINGIFY (FLAM_HISTORY_CAPTURES) ") ORDER BY id",
      error) };
  gboolean old = store->version < 2;
  Insert measures = { prepare (
      store,
      old ? "SELECT " MEASURE ", 0, 0, 0, 0, 0, 0 " FROM_MEASURES
      : store->version < 3 ? "SELECT " MEASURE ERRORS ", 0, 0 " FROM_MEASURES
                           : "SELECT " MEASURE ERRORS
                             ", least_self, least_total " FROM_MEASURES,
      error) };
  Insert functions = { prepare (
      store,
      old ? "SELECT name, self, total, 0, 0, 0, 0 " FROM_FUNCTIONS
          : "SELECT name, self, total, self_error, self_samples, total_error, "
            "total_samples " FROM_FUNCTIONS,
      error) };
  g_autoptr (GPtrArray) captures = flam_history_new_captures ();
  gboolean good = runs.statement != NULL && measures.statement != NULL &&
                  functions.statement != NULL;

  if (good &&
      !read_all (store, &runs, &measures, &functions, measure, captures))
    good = fail (store, error);
  sqlite3_finalize (runs.statement);
  sqlite3_finalize (measures.statement);
  sqlite3_finalize (functions.statement);
  return good ? g_steal_pointer (&captures) : NULL;
}
