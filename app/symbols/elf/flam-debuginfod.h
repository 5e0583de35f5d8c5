/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DEBUGINFOD_H
#define FLAM_DEBUGINFOD_H

/* Debug information from the servers in $DEBUGINFOD_URLS, through
 * libdebuginfod, which is loaded when first needed: without it everything else
 * works. Downloads go to libdebuginfod's own cache and are limited by its own
 * settings. */

#include "flam-core-profile.h"

typedef struct _FlamDebuginfod FlamDebuginfod;

/* Whether a server is configured and the library is installed. */
gboolean flam_debuginfod_is_configured (void);

/* FLAM_ERROR_UNSUPPORTED if the library is absent, or no server is
 * configured. */
FlamDebuginfod *flam_debuginfod_new (GError **error);
void flam_debuginfod_free (FlamDebuginfod *debuginfod);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDebuginfod, flam_debuginfod_free)

/* Path of the downloaded file. `build_id` in hex. `progress` is called often
 * (fraction of this one download) and may cancel: FLAM_ERROR_CANCELLED.
 * FLAM_ERROR_SYSTEM: not found on any server. */
char *flam_debuginfod_find_debuginfo (FlamDebuginfod *debuginfod,
                                      const char *build_id,
                                      const FlamProgress *progress,
                                      GError **error);
char *flam_debuginfod_find_executable (FlamDebuginfod *debuginfod,
                                       const char *build_id,
                                       const FlamProgress *progress,
                                       GError **error);

#endif
