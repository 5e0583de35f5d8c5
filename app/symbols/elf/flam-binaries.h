/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_BINARIES_H
#define FLAM_BINARIES_H

/* From a module of the recording machine (path, build id) to a file on this
 * machine. The search order is:
 *
 *   1. each DIR asked for   DIR/.build-id/ab/cdef...   DIR/PATH   DIR/NAME
 *                           then any ELF file below DIR with that build id
 *   2. the recorded path    ROOT/PATH
 *   3. perf's own cache     ~/.debug/.build-id/ab/cdef.../elf
 *   4. debug directories    /usr/lib/debug/.build-id/ab/cdef... (and .debug)
 *
 * A file with another build id is never used, but reported. */

#include "flam-elf.h"

typedef struct _FlamBinaries FlamBinaries;

/* `directories` may be NULL; `root` ("/proc/PID/root") may be NULL. */
FlamBinaries *flam_binaries_new (const char *const *directories,
                                 const char *root);
void flam_binaries_free (FlamBinaries *binaries);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamBinaries, flam_binaries_free)

/* The path of a usable file, or NULL with a reason for users in `why`, such as
 * "file not found: /usr/bin/x" or "build id differs: ...". `build_id` ""
 * accepts any. */
char *flam_binaries_find (FlamBinaries *binaries,
                          const char *path,
                          const char *build_id,
                          char **why);
/* A file below the given directories that has this build id and debug
 * information, under any name; or NULL. g_free. */
char *flam_binaries_find_debug (FlamBinaries *binaries, const char *build_id);

#endif
