/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DEBUG_FILES_H
#define FLAM_DEBUG_FILES_H

/* Finds the debug information of a stripped binary. It is searched for, in this
 * order, in each debug directory D (first the given ones, then /usr/lib/debug):
 *
 *   D/.build-id/ab/cdef....debug        by the build id
 *   DIR/NAME, DIR/.debug/NAME           .gnu_debuglink, DIR the binary's
 *   D/DIR/NAME
 *
 * A file found by build id must have that build id; one found by name must
 * have the build id of the binary, or, if there is none, the checksum in
 * .gnu_debuglink.
 *
 * And a package of split units, which has no build id (its units have ids):
 *
 *   DIR/BINARY.dwp                      DIR the binary's, symbolic links
 *                                       followed or not, or the debug file's
 *   DIR/DEBUGFILE.dwp
 *   D/.build-id/ab/cdef....dwp
 *   D/DIR/BINARY.dwp, D/BINARY.dwp
 *
 * Sources: GDB manual, "Separate Debug Files"; the order of packages is
 * gdb's. */

#include "flam-elf.h"

/* `directories` may be NULL, or NULL-terminated. NULL if there is none; the
 * paths that were tried are appended to `tried` (may be NULL), one per line. */
FlamElf *flam_debug_file_find (const FlamElf *elf,
                               const char *const *directories,
                               GString *tried);
/* Whether it will also be found by its build id in the future: packages install
 * debug files below /usr/lib/debug, other files may be removed. */
gboolean flam_debug_file_is_installed (const FlamElf *debug);
/* The path by build id: of the debug file, or with `suffix` "" of the
 * binary. */
char *flam_debug_file_path (const char *directory,
                            const char *build_id,
                            const char *suffix);

/* The package of `binary`, whose debug file `debug` is (it may be the binary
 * itself); NULL if there is none. */
FlamElf *flam_debug_package_find (const FlamElf *binary,
                                  const FlamElf *debug,
                                  const char *const *directories);

#endif
