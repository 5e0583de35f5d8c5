/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RANKS_H
#define FLAM_RANKS_H

/* The captures of a job's ranks, one file each, opened as one profile: every
 * process has its rank and its host, and all times count from the start of the
 * first rank.
 *
 *    record --output 'run-%r.flambeau'      run-0.flambeau ┐
 *                                           run-1.flambeau ├─▶ one profile
 *    run-%r.flambeau  is the name of all:   run-2.flambeau ┘
 */

#include "flam-load.h"

G_BEGIN_DECLS

#define FLAM_RANKS_MAX 100000

/* Whether the last part of the path contains %r, and is not a file itself. */
gboolean flam_ranks_is_pattern (const char *path);
/* The existing files of the pattern, by rank; NULL with an error: there are
 * none. */
char **flam_ranks_find (const char *pattern, GError **error);
/* The number in the place of %r of such a file. */
guint flam_ranks_number (const char *pattern, const char *path);
/* The pattern of which these are the files, if they are captures of ranks, and
 * how many it has in all; g_free; NULL: there is none. */
char *flam_ranks_pattern_of (const char *const *paths, guint *n_all);

/* FLAM_ERROR_INVALID: one is not a rank's capture, or belongs to another
 * job. */
FlamProfile *flam_ranks_load (const char *const *paths,
                              const FlamLoadOptions *options,
                              GError **error);
/* The profile at a path: of the files of a pattern, otherwise by
 * flam_formats_load(). */
FlamProfile *flam_ranks_open (const char *path,
                              const FlamLoadOptions *options,
                              GError **error);

G_END_DECLS

#endif
