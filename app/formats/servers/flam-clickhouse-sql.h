/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLICKHOUSE_SQL_H
#define FLAM_CLICKHOUSE_SQL_H

/* ClickHouse's HTTP interface: the statement is in the query of the URL, rows
 * are the body, tab-separated. */

#include "flam-server.h"

/* Seconds: samples have the hour of their run's start. */
#define FLAM_CLICKHOUSE_HOUR 3600

/* Within quotes, and in tab-separated values alike; -1: all of the text. */
void
flam_clickhouse_put_escaped (GString *out, const char *text, gssize length);
void flam_clickhouse_put_quoted (GString *out, const char *text);

/* Adds the rows of the answer to `into`, which is then sealed. `stacks` is
 * NULL, or the numbers of stacks, guint64, which the statement finds in a table
 * `asked` of its own. */
gboolean flam_clickhouse_ask (const FlamLocation *location,
                              const char *statement,
                              const GArray *stacks,
                              const FlamServerOptions *options,
                              FlamSpool *into,
                              GError **error);
/* Of a short answer; g_free. `rows` is NULL, or what an INSERT adds. */
char *flam_clickhouse_run (const FlamLocation *location,
                           const char *statement,
                           const GString *rows,
                           const FlamServerOptions *options,
                           GError **error);

/* " WHERE …": the rows of `run` that the location selects. `all_times`: a
 * location without a range selects those of all times, not of the last hour. */
void flam_clickhouse_put_runs (GString *sql,
                               const FlamLocation *location,
                               gboolean all_times);
/* " AND hour …": the samples' hours. */
void flam_clickhouse_put_hours (GString *sql,
                                const FlamLocation *location,
                                gboolean all_times);

/* One value of a tab-separated answer, unescaped; `*at` ends behind `stop`, or
 * at the line feed before it. */
void flam_clickhouse_take (const char **at,
                           const char *end,
                           char stop,
                           GString *into);
/* Sets that the answer is not one of ClickHouse's; returns FALSE. */
gboolean flam_clickhouse_refuse (const FlamLocation *location, GError **error);

#endif
