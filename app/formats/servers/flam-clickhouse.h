/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLICKHOUSE_H
#define FLAM_CLICKHOUSE_H

/* Captures of a fleet in ClickHouse, by its HTTP interface. ClickHouse adds
 * them up: the answer is one profile of all that the location selects.
 *
 *   run           one row per push: id, hash of the capture, start, host, job,
 *                 labels, and the measures with their series and totals
 *   run_function  run, series, function ─▶ self, total
 *   sample        run, series, hour, stack ─▶ value
 *   stack         stack ─▶ frames, the outermost first: "name, module, file,
 *                 line"
 *
 * A stack's number is a hash of its frames, so that captures share stacks; that
 * of a series is one of service, measure and labels. A history reads the
 * figures of runs, anything else the sums of their samples. The tables are in
 * the database that the path of the URL names, and are made by the first
 * push. */

#include "flam-formats.h"
#include "flam-load.h"
#include "flam-server.h"

G_BEGIN_DECLS

gboolean flam_clickhouse_push (const FlamLocation *location,
                               const FlamProfile *profile,
                               const FlamSelection *selection,
                               const char *service,
                               const char *path,
                               const FlamServerOptions *options,
                               GError **error);
FlamProfile *flam_clickhouse_profile (const FlamLocation *location,
                                      const FlamServerOptions *options,
                                      const FlamLoadOptions *load,
                                      GError **error);
/* FlamFigures of the runs that the location selects, for flam_history_new():
 * those of all times unless it has a range. Of the measure with this id, or
 * with NULL the selected one of each run, they have the largest functions, and
 * those of `functions` (NULL: none). */
GPtrArray *flam_clickhouse_runs (const FlamLocation *location,
                                 const char *measure,
                                 const char *const *functions,
                                 const FlamServerOptions *options,
                                 GError **error);

G_END_DECLS

#endif
