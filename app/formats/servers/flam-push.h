/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PUSH_H
#define FLAM_PUSH_H

/* Captures to a server: Pyroscope's /ingest takes pprof's profiles, OTLP's
 * servers OpenTelemetry's, ClickHouse sums (flam-clickhouse.h). The service,
 * and further labels, are words of the location. */

#include "flam-formats.h"
#include "flam-server.h"

G_BEGIN_DECLS

/* Whether something can be pushed there; FALSE with an error. */
gboolean flam_push_check (const FlamLocation *location, GError **error);
/* `*note`: a remark of the server, or NULL; g_free. `path`, the capture's,
 * names the service if neither the location nor the capture does. */
gboolean flam_push (const FlamLocation *location,
                    const FlamProfile *profile,
                    const FlamSelection *selection,
                    const char *path,
                    const FlamServerOptions *options,
                    char **note,
                    GError **error);

G_END_DECLS

#endif
