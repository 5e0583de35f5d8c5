/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sqlite.h"

#include <string.h>

#define MAGIC "SQLite format 3\0"
/* Of the database. */
#define HEAD 100
/* The smallest row has a length, an id, a head and a byte. */
#define LEAST_ROW 4
/* Instructions of SQLite between two reports. */
#define STEP 100000
#define LENGTH_MAX (1 << 24)

struct _FlamSqlite
{
  const FlamLoad *load;
  sqlite3 *base;
  guint64 rows; /* read so far, of `most` in each table */
  guint64 most;
  GError *cancelled;
};

/* In memory, read only, and without the functions that a schema can call. */
static sqlite3 *
open_base (const FlamSource *source)
{
  sqlite3 *base = NULL;

  if (sqlite3_open_v2 (":memory:",
                       &base,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY,
                       NULL) != SQLITE_OK ||
      sqlite3_deserialize (base,
                           "main",
                           (unsigned char *)source->data,
                           (sqlite3_int64)source->size,
                           (sqlite3_int64)source->size,
                           SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    {
      sqlite3_close (base);
      return NULL;
    }
  sqlite3_db_config (base, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config (base, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  sqlite3_db_config (base, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
  sqlite3_db_config (base, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
  sqlite3_limit (base, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
  return base;
}

static gboolean
has_table (sqlite3 *base, const char *name)
{
  static const char sql[] =
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1 "
      "AND rootpage > 0";
  sqlite3_stmt *statement = NULL;
  gboolean has =
      sqlite3_prepare_v2 (base, sql, -1, &statement, NULL) == SQLITE_OK &&
      sqlite3_bind_text (statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK &&
      sqlite3_step (statement) == SQLITE_ROW;

  sqlite3_finalize (statement);
  return has;
}

static gboolean
is_database (const FlamSource *source)
{
  return source->size >= HEAD &&
         memcmp (source->data, MAGIC, sizeof MAGIC - 1) == 0;
}

gboolean
flam_sqlite_is_packed (const FlamSource *source)
{
  return is_database (source) && source->unpack != NULL;
}

gboolean
flam_sqlite_has_tables (const FlamSource *source, const char *const *tables)
{
  sqlite3 *base = is_database (source) ? open_base (source) : NULL;
  gboolean has = base != NULL;

  for (; has && *tables != NULL; tables++)
    has = has_table (base, *tables);
  sqlite3_close (base);
  return has;
}

/* --- during a load -------------------------------------------------------- */

static void
sqlite_free (gpointer data)
{
  FlamSqlite *sqlite = data;

  sqlite3_close (sqlite->base);
  g_clear_error (&sqlite->cancelled);
  g_free (sqlite);
}

static int
tell (gpointer data)
{
  FlamSqlite *sqlite = data;

  return !flam_progress_step (
      sqlite->load->options->progress,
      MIN ((double)sqlite->rows / (double)sqlite->most, 1.0),
      &sqlite->cancelled);
}

FlamSqlite *
flam_sqlite_open (FlamLoad *load, GError **error)
{
  sqlite3 *base = open_base (load->source);
  FlamSqlite *sqlite;

  if (base == NULL)
    {
      flam_source_invalid (
          load->source, error, N_ ("this database cannot be opened"));
      return NULL;
    }
  sqlite = g_new0 (FlamSqlite, 1);
  flam_arena_keep (load, sqlite, sqlite_free);
  sqlite->load = load;
  sqlite->base = base;
  sqlite->most = load->source->size / LEAST_ROW + 1;
  sqlite3_progress_handler (base, STEP, tell, sqlite);
  return sqlite;
}

guint64
flam_sqlite_most_rows (const FlamSqlite *sqlite)
{
  return sqlite->most;
}

gboolean
flam_sqlite_has_column (FlamSqlite *sqlite,
                        const char *table,
                        const char *column)
{
  return has_table (sqlite->base, table) &&
         sqlite3_table_column_metadata (sqlite->base,
                                        "main",
                                        table,
                                        column,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL,
                                        NULL) == SQLITE_OK;
}

gboolean
flam_sqlite_each (FlamSqlite *sqlite,
                  const char *table,
                  const char *columns,
                  FlamSqliteRead read,
                  gpointer data)
{
  g_autofree char *sql = g_strdup_printf ("SELECT %s FROM %s", columns, table);
  sqlite3_stmt *statement = NULL;
  guint64 rows = 0;
  int status;

  if (!has_table (sqlite->base, table))
    return TRUE;
  status = sqlite3_prepare_v2 (sqlite->base, sql, -1, &statement, NULL);
  while (status == SQLITE_OK || status == SQLITE_ROW)
    {
      status = sqlite3_step (statement);
      if (status != SQLITE_ROW)
        break;
      sqlite->rows++;
      if (rows++ >= sqlite->most)
        {
          status = SQLITE_CORRUPT;
          break;
        }
      read (statement, data);
    }
  if (status != SQLITE_DONE && sqlite->cancelled == NULL)
    flam_builder_warn (
        sqlite->load->builder,
        N_ ("the table %s cannot be read: %s"),
        table,
        status == SQLITE_CORRUPT ? "damaged" : sqlite3_errmsg (sqlite->base));
  sqlite3_finalize (statement);
  return sqlite->cancelled == NULL;
}

gboolean
flam_sqlite_end (FlamSqlite *sqlite, GError **error)
{
  if (sqlite->cancelled == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&sqlite->cancelled));
  return FALSE;
}
