/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SQLITE_H
#define FLAM_SQLITE_H

/* Reading an SQLite database that is not trusted, from memory: only plain
 * tables, and no more rows than fit into the file, since views and damaged
 * trees of pages could have any number of them. */

#include "flam-load.h"

#include <sqlite3.h>

typedef struct _FlamSqlite FlamSqlite;

typedef void (*FlamSqliteRead) (sqlite3_stmt *row, gpointer data);

/* Whether it is a database whose head is there but not yet the rest. */
gboolean flam_sqlite_is_packed (const FlamSource *source);
/* Whether it is a database with all of these tables; NULL-terminated. */
gboolean flam_sqlite_has_tables (const FlamSource *source,
                                 const char *const *tables);

/* Kept by the load; NULL with the error. */
FlamSqlite *flam_sqlite_open (FlamLoad *load, GError **error);
/* More than the number of rows of any table in the file. */
guint64 flam_sqlite_most_rows (const FlamSqlite *sqlite);
gboolean flam_sqlite_has_column (FlamSqlite *sqlite,
                                 const char *table,
                                 const char *column);
/* Calls read() for each row, in the order of the row ids; nothing if there is
 * no such table. A table that cannot be read is a warning. FALSE: cancelled;
 * the error is that of flam_sqlite_end(). */
gboolean flam_sqlite_each (FlamSqlite *sqlite,
                           const char *table,
                           const char *columns,
                           FlamSqliteRead read,
                           gpointer data);
/* Returns FALSE with the error if a step was cancelled. */
gboolean flam_sqlite_end (FlamSqlite *sqlite, GError **error);

#endif
