/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PATH_ACCESS_H
#define FLAM_PATH_ACCESS_H

/* Restricts names from untrusted sources. Captures name programs, sources and
 * debug files, and these name others; opening a capture is not a permission to
 * access all these names:
 *
 *    /proc /sys /dev     never: reading has side effects, and may not end
 *    network, automount  if the user named something there: it may hang, and
 *                        reveals this machine to a foreign server
 *    all others          regular files, opened so that nothing can block
 *
 * Links are followed one at a time, so that the check itself accesses
 * nothing. */

#include "flam-core-profile.h"

#include <sys/stat.h>

/* The user named this file or folder: files on its file system, or below it,
 * may be accessed. */
void flam_path_access_grant (const char *path);

/* The root folder of a process in a container: names that begin with this path
 * may be opened, also below /proc, and links in it remain in it. */
void flam_path_access_grant_root (const char *path);

/* Whether a file with an untrusted name may be accessed; if not, the reason. */
gboolean flam_path_access_check (const char *path, const char **why);

/* Opens a regular file that is not one of the kernel's; -1 otherwise. */
int flam_path_access_open_regular (const char *path,
                                   struct stat *info,
                                   GError **error);
/* The same for a name from an untrusted source. */
int flam_path_access_open (const char *path, struct stat *info, GError **error);

/* The same for a file below `folder`, without following links that lead out of
 * it. `path` begins with `folder`. */
int flam_path_access_open_beneath (const char *folder,
                                   const char *path,
                                   struct stat *info,
                                   GError **error);

/* Its bytes and a NUL; FLAM_ERROR_TOO_LARGE if it has more than `most`,
 * regardless of the size that fstat() reports. */
char *flam_path_access_read (const char *path,
                             gsize most,
                             gsize *size,
                             GError **error);

/* The same for a file opened by flam_path_access_open_beneath(). */
char *flam_path_access_read_beneath (const char *folder,
                                     const char *path,
                                     gsize most,
                                     gsize *size,
                                     GError **error);

#endif
