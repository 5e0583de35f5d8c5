/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FETCHED_SOURCE_H
#define FLAM_FETCHED_SOURCE_H

/* Source files of the machine that a capture was recorded on, by --host: copied
 * from there when the user asks for one, and kept
 *
 *   below  ~/.cache/flambeau/sources/on-HOST/build-BUILDID/
 *   as     the path that the capture has of the file
 *
 * so that a program that was built again gets its own files. */

#include "flam-source-path.h"
#include "flam-core-profile.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* The host that `recorded`, a file of the capture, can be fetched from; NULL:
 * none is known. */
const char *flam_fetched_host (const FlamProfile *profile,
                               const char *recorded);
/* Looks for files of this function's module among the kept ones first. */
void flam_fetched_add_paths (FlamSourcePaths *paths,
                             const FlamProfile *profile,
                             FlamFunctionId function);

/* Fetches the file; flam_fetched_host() has permitted it. */
void flam_fetched_fetch (const FlamProfile *profile,
                         FlamFunctionId function,
                         const char *recorded,
                         GAsyncReadyCallback done,
                         gpointer data);
gboolean flam_fetched_finish (GAsyncResult *result, GError **error);

G_END_DECLS

#endif
