/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SOURCE_NAMES_H
#define FLAM_SOURCE_NAMES_H

/* The names of the files and folders below some roots, nearest to a root first;
 * hidden ones are left out. Reading them takes long, so it is done once, on the
 * first search, and threads may share the result. */

#include <glib.h>

typedef struct _FlamSourceNames FlamSourceNames;

FlamSourceNames *flam_source_names_new (void);
FlamSourceNames *flam_source_names_ref (FlamSourceNames *names);
void flam_source_names_unref (FlamSourceNames *names);

/* The folders that contain `name`, below `folders`, which are untrusted
 * (flam-path-access.h), and `roots`; free with g_strfreev. Others than in the
 * last search are read anew. */
char **flam_source_names_find (FlamSourceNames *names,
                               const GPtrArray *folders,
                               const GPtrArray *roots,
                               const char *name);

#endif
