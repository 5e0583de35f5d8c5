/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where a name that somebody else chose may lead. Captures name programs,
 * sources and debug files, and these name others; who opens a capture did not
 * ask for what stands behind the names:
 *
 *    /proc /sys /dev     never: reading there does things, and does not end
 *    network, automount  when the user named something there: may hang, and
 *                        tells a stranger's server that we are here
 *    all else            regular files, opened so that nothing can block
 *
 * Links are followed one at a time, so that finding out touches nothing. */

#include "flam-types.h"

#include <sys/stat.h>

/* The user named this file or folder: what lies on its file system, or below
 * it, is asked for. */
void flam_path_access_grant (const char *path);

/* Whether a file named by somebody else may be touched; why not, otherwise. */
gboolean flam_path_access_check (const char *path, const char **why);

/* A regular file, and none of the kernel's; -1 otherwise. */
int flam_path_access_open_regular (const char *path,
                                   struct stat *info,
                                   GError **error);
/* Likewise, for a name that somebody else chose. */
int flam_path_access_open (const char *path, struct stat *info, GError **error);

/* Its bytes and a NUL; FLAM_ERROR_TOO_LARGE when it has more than `most`,
 * whatever it said that it has. */
char *flam_path_access_read (const char *path,
                             gsize most,
                             gsize *size,
                             GError **error);

/* For tests: as if this were /proc/self/mountinfo; NULL: no longer. */
void flam_path_access_set_mounts (const char *text);
