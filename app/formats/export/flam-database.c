/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-database.h"

#include "flam-core-profile.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

#define COPIED (1 << 20)
/* Rows of one statement: starting a statement takes three times as long as
 * appending a row. */
#define BATCH 100

typedef struct
{
  int type; /* SQLITE_INTEGER, _FLOAT, _TEXT or _NULL */
  union
  {
    gint64 integer;
    double real;
    char *text;
  };
} Value;

struct _FlamDatabase
{
  char *path; /* NULL: it could not be created */
  int fd;
  sqlite3 *db;
  char *table;
  guint n_columns;
  sqlite3_stmt *insert; /* a whole batch */
  Value *values;        /* of the rows that are not inserted yet */
  guint n_values;
  GError *error;

  /* Of the table that is taken from functions. */
  gboolean (*next) (gpointer data);
  void (*cell) (FlamDatabase *to, guint column, gpointer data);
  gpointer data;
  sqlite3_context *into; /* of the cell; NULL: values are of the batch */
};

static void
fail (FlamDatabase *database, const char *why)
{
  if (database->error == NULL)
    flam_error_set (&database->error,
                    FLAM_ERROR_SYSTEM,
                    N_ ("the temporary database cannot be written: %s"),
                    why);
}

void
flam_database_run (FlamDatabase *database, const char *statements)
{
  if (database->error == NULL &&
      sqlite3_exec (database->db, statements, NULL, NULL, NULL) != SQLITE_OK)
    fail (database, sqlite3_errmsg (database->db));
}

static void
drop_values (FlamDatabase *database)
{
  for (guint i = 0; i < database->n_values; i++)
    if (database->values[i].type == SQLITE_TEXT)
      g_free (database->values[i].text);
  database->n_values = 0;
}

/* Nobody else has the file, and if the process is killed, nobody needs it. */
FlamDatabase *
flam_database_new (void)
{
  FlamDatabase *database = g_new0 (FlamDatabase, 1);

  database->fd =
      g_file_open_tmp ("flambeau-XXXXXX", &database->path, &database->error);
  if (database->error != NULL)
    return database;
  if (sqlite3_open_v2 (database->path,
                       &database->db,
                       SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
                       NULL) != SQLITE_OK)
    fail (database, sqlite3_errmsg (database->db));
  flam_database_run (
      database,
      "PRAGMA page_size = 16384; PRAGMA journal_mode = OFF;"
      "PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;"
      "PRAGMA cache_size = -65536; BEGIN");
  return database;
}

void
flam_database_free (FlamDatabase *database)
{
  sqlite3_finalize (database->insert);
  sqlite3_close (database->db);
  if (database->path != NULL)
    g_unlink (database->path);
  if (database->fd >= 0)
    close (database->fd);
  drop_values (database);
  g_free (database->values);
  g_free (database->table);
  g_free (database->path);
  g_clear_error (&database->error);
  g_free (database);
}

/* --- rows taken from functions ------------------------------------------- */

/* A virtual table, from which SQLite reads: its loop over the rows is shorter
 * than that over a statement's parameters. */

#define SOURCE "flam_rows"

typedef struct
{
  sqlite3_vtab base;
  FlamDatabase *database;
} Source;

typedef struct
{
  sqlite3_vtab_cursor base;
  FlamDatabase *database;
  gint64 row;
  gboolean more;
} Cursor;

static int
source_connect (sqlite3 *db,
                void *database,
                int argc,
                const char *const *argv,
                sqlite3_vtab **table,
                char **why)
{
  g_autoptr (GString) text = g_string_new ("CREATE TABLE x (c0");
  Source *source;
  int status;

  for (guint i = 1; i < ((FlamDatabase *)database)->n_columns; i++)
    g_string_append_printf (text, ",c%u", i);
  g_string_append_c (text, ')');
  status = sqlite3_declare_vtab (db, text->str);
  if (status != SQLITE_OK)
    return status;
  source = g_new0 (Source, 1);
  source->database = database;
  *table = &source->base;
  return SQLITE_OK;
}

static int
source_disconnect (sqlite3_vtab *table)
{
  g_free (table);
  return SQLITE_OK;
}

static int
source_plan (sqlite3_vtab *table, sqlite3_index_info *info)
{
  return SQLITE_OK;
}

static int
source_open (sqlite3_vtab *table, sqlite3_vtab_cursor **opened)
{
  Cursor *cursor = g_new0 (Cursor, 1);

  cursor->database = ((Source *)table)->database;
  *opened = &cursor->base;
  return SQLITE_OK;
}

static int
source_close (sqlite3_vtab_cursor *cursor)
{
  g_free (cursor);
  return SQLITE_OK;
}

static int
source_next (sqlite3_vtab_cursor *base)
{
  Cursor *cursor = (Cursor *)base;

  cursor->row++;
  cursor->more = cursor->database->next (cursor->database->data);
  return SQLITE_OK;
}

static int
source_filter (sqlite3_vtab_cursor *cursor,
               int plan,
               const char *text,
               int argc,
               sqlite3_value **argv)
{
  return source_next (cursor);
}

static int
source_is_at_end (sqlite3_vtab_cursor *cursor)
{
  return !((Cursor *)cursor)->more;
}

static int
source_column (sqlite3_vtab_cursor *base, sqlite3_context *into, int column)
{
  FlamDatabase *database = ((Cursor *)base)->database;

  database->into = into;
  database->cell (database, (guint)column, database->data);
  database->into = NULL;
  return SQLITE_OK;
}

static int
source_row (sqlite3_vtab_cursor *cursor, sqlite3_int64 *row)
{
  *row = ((Cursor *)cursor)->row;
  return SQLITE_OK;
}

static const sqlite3_module source_module = {
  .xConnect = source_connect,
  .xBestIndex = source_plan,
  .xDisconnect = source_disconnect,
  .xOpen = source_open,
  .xClose = source_close,
  .xFilter = source_filter,
  .xNext = source_next,
  .xEof = source_is_at_end,
  .xColumn = source_column,
  .xRowid = source_row,
};

/* --- rows ---------------------------------------------------------------- */

/* NULL after an error. */
static sqlite3_stmt *
prepare_insert (FlamDatabase *database, guint n_rows)
{
  g_autoptr (GString) text = g_string_new (NULL);
  sqlite3_stmt *statement = NULL;

  g_string_printf (text, "INSERT INTO %s VALUES ", database->table);
  for (guint row = 0; row < n_rows; row++)
    {
      g_string_append (text, row > 0 ? ",(?" : "(?");
      for (guint i = 1; i < database->n_columns; i++)
        g_string_append (text, ",?");
      g_string_append_c (text, ')');
    }
  if (database->error == NULL &&
      sqlite3_prepare_v2 (database->db, text->str, -1, &statement, NULL) !=
          SQLITE_OK)
    fail (database, sqlite3_errmsg (database->db));
  return statement;
}

static void
bind (sqlite3_stmt *statement, int at, const Value *value)
{
  switch (value->type)
    {
    case SQLITE_INTEGER:
      sqlite3_bind_int64 (statement, at, value->integer);
      break;
    case SQLITE_FLOAT:
      sqlite3_bind_double (statement, at, value->real);
      break;
    case SQLITE_TEXT:
      sqlite3_bind_text (statement, at, value->text, -1, SQLITE_STATIC);
      break;
    default:
      sqlite3_bind_null (statement, at);
      break;
    }
}

static void
insert (FlamDatabase *database, sqlite3_stmt *statement)
{
  if (database->error == NULL)
    {
      for (guint i = 0; i < database->n_values; i++)
        bind (statement, (int)i + 1, &database->values[i]);
      if (sqlite3_step (statement) != SQLITE_DONE)
        fail (database, sqlite3_errmsg (database->db));
      sqlite3_reset (statement);
    }
  drop_values (database);
}

/* Inserts the rows of a batch that is not full. */
static void
end_table (FlamDatabase *database)
{
  guint n =
      database->n_columns > 0 ? database->n_values / database->n_columns : 0;
  sqlite3_stmt *rest = n > 0 ? prepare_insert (database, n) : NULL;

  if (n > 0)
    insert (database, rest);
  sqlite3_finalize (rest);
  sqlite3_finalize (database->insert);
  database->insert = NULL;
}

/* No column's definition has a comma of its own. */
static guint
count_columns (const char *columns)
{
  guint n = 1;

  for (const char *p = columns; *p != '\0'; p++)
    n += *p == ',';
  return n;
}

void
flam_database_begin (FlamDatabase *database,
                     const char *table,
                     const char *columns)
{
  g_autofree char *create =
      g_strdup_printf ("CREATE TABLE %s (%s)", table, columns);

  end_table (database);
  flam_database_run (database, create);
  g_free (database->table);
  database->table = g_strdup (table);
  database->n_columns = count_columns (columns);
  database->values =
      g_renew (Value, database->values, BATCH * database->n_columns);
  database->insert = prepare_insert (database, BATCH);
}

static void
add (FlamDatabase *database, Value value)
{
  if (database->into == NULL)
    database->values[database->n_values++] = value;
  else if (value.type == SQLITE_INTEGER)
    sqlite3_result_int64 (database->into, value.integer);
  else if (value.type == SQLITE_FLOAT)
    sqlite3_result_double (database->into, value.real);
  else if (value.type == SQLITE_TEXT)
    sqlite3_result_text (database->into, value.text, -1, g_free);
  else
    sqlite3_result_null (database->into);
}

void
flam_database_take (FlamDatabase *database,
                    const char *table,
                    const char *columns,
                    gboolean (*next) (gpointer data),
                    void (*cell) (FlamDatabase *to,
                                  guint column,
                                  gpointer data),
                    gpointer data)
{
  guint n = count_columns (columns);
  g_autoptr (GString) text = g_string_new (NULL);

  end_table (database);
  database->n_columns = n;
  g_string_printf (text, "CREATE TABLE %s (%s);", table, columns);
  flam_database_run (database, text->str);
  g_string_printf (text, "INSERT INTO %s SELECT c0", table);
  for (guint i = 1; i < n; i++)
    g_string_append_printf (text, ",c%u", i);
  g_string_append (text, " FROM " SOURCE);
  database->next = next;
  database->cell = cell;
  database->data = data;
  if (database->error == NULL &&
      sqlite3_create_module (database->db, SOURCE, &source_module, database) !=
          SQLITE_OK)
    fail (database, sqlite3_errmsg (database->db));
  flam_database_run (database, text->str);
  database->n_columns = 0;
}

void
flam_database_int (FlamDatabase *database, gint64 value)
{
  add (database, (Value){ SQLITE_INTEGER, .integer = value });
}

void
flam_database_real (FlamDatabase *database, double value)
{
  add (database, (Value){ SQLITE_FLOAT, .real = value });
}

void
flam_database_text (FlamDatabase *database, const char *text)
{
  add (database, (Value){ SQLITE_TEXT, .text = g_strdup (text) });
}

void
flam_database_null (FlamDatabase *database)
{
  add (database, (Value){ .type = SQLITE_NULL });
}

void
flam_database_row (FlamDatabase *database)
{
  if (database->n_values == BATCH * database->n_columns)
    insert (database, database->insert);
}

/* --- the end ------------------------------------------------------------- */

gboolean
flam_database_is_broken (const FlamDatabase *database)
{
  return database->error != NULL;
}

static void
copy (FlamDatabase *database, FlamSink *out)
{
  g_autofree guint8 *buffer = g_malloc (COPIED);
  off_t at = 0;
  ssize_t n;

  while (!flam_sink_is_broken (out) &&
         (n = pread (database->fd, buffer, COPIED, at)) != 0)
    if (n > 0)
      {
        flam_sink_put_len (out, buffer, (gsize)n);
        at += n;
      }
    else if (errno != EINTR)
      {
        fail (database, g_strerror (errno));
        return;
      }
}

gboolean
flam_database_finish (FlamDatabase *database, FlamSink *out, GError **error)
{
  end_table (database);
  flam_database_run (database, "COMMIT");
  if (database->error == NULL)
    copy (database, out);
  if (database->error == NULL)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&database->error));
  return FALSE;
}
