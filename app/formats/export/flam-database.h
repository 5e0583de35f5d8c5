/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DATABASE_H
#define FLAM_DATABASE_H

/* A SQLite database that is written once, table by table: rows are appended
 * without a journal into a temporary file, which is then copied to a sink. The
 * first error is kept, and returned by flam_database_finish(). */

#include "flam-sink.h"

typedef struct _FlamDatabase FlamDatabase;

FlamDatabase *flam_database_new (void);
/* Without flam_database_finish(), nothing is written to a sink. */
void flam_database_free (FlamDatabase *database);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDatabase, flam_database_free)

/* Creates a table with columns such as "id INTEGER PRIMARY KEY, name TEXT";
 * the rows that follow belong to it. */
void flam_database_begin (FlamDatabase *database,
                          const char *table,
                          const char *columns);
/* The values of a row, in the order of the columns. */
void flam_database_int (FlamDatabase *database, gint64 value);
void flam_database_real (FlamDatabase *database, double value);
void flam_database_text (FlamDatabase *database, const char *text);
void flam_database_null (FlamDatabase *database);
void flam_database_row (FlamDatabase *database);
/* A table of many rows, in half the time: they are taken from these functions.
 * next() goes to the next row, at first to the first one; cell() gives a column
 * of it by one of the functions for values. */
void flam_database_take (FlamDatabase *database,
                         const char *table,
                         const char *columns,
                         gboolean (*next) (gpointer data),
                         void (*cell) (FlamDatabase *to,
                                       guint column,
                                       gpointer data),
                         gpointer data);
/* Views and indices. */
void flam_database_run (FlamDatabase *database, const char *statements);

gboolean flam_database_is_broken (const FlamDatabase *database);
gboolean
flam_database_finish (FlamDatabase *database, FlamSink *out, GError **error);

#endif
