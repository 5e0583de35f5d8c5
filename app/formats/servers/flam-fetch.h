/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FETCH_H
#define FLAM_FETCH_H

/* The capture at a location:
 *
 *   location ─▶ request ─▶ server ─▶ bytes ─▶ source ─▶ importer ─▶ profile
 *
 * The network ends at the source: importers read bytes, as those of a file. */

#include "flam-formats.h"
#include "flam-server.h"

G_BEGIN_DECLS

/* NULL with "URL: why". */
FlamProfile *flam_fetch_profile (const FlamLocation *location,
                                 const FlamServerOptions *server,
                                 const FlamLoadOptions *load,
                                 GError **error);
/* A file of it in the user's cache, for the window, which opens files; g_free.
 * The oldest ones are removed. */
char *flam_fetch_file (const FlamLocation *location,
                       const FlamServerOptions *options,
                       GError **error);
/* The same for the runs of a ClickHouse, one by one: a store of runs
 * (flam-history-store.h). */
char *flam_fetch_history (const FlamLocation *location,
                          const FlamServerOptions *options,
                          GError **error);

G_END_DECLS

#endif
