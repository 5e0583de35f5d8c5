/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Where the debug information of a stripped binary lies. Looked for, in this
 * order, in each debug directory D (first those asked for, then
 * /usr/lib/debug):
 *
 *   D/.build-id/ab/cdef....debug        the build id says which
 *   DIR/NAME, DIR/.debug/NAME           .gnu_debuglink, DIR the binary's own
 *   D/DIR/NAME
 *
 * A file found by build id must have that build id; one found by name must
 * have the build id of the binary, or, if there is none, the checksum in
 * .gnu_debuglink.
 *
 * And a package of split units, which has no build id (its units have ids):
 *
 *   DIR/BINARY.dwp                      DIR the binary's own, symbolic links
 *                                       followed or not, or the debug file's
 *   DIR/DEBUGFILE.dwp
 *   D/.build-id/ab/cdef....dwp
 *   D/DIR/BINARY.dwp, D/BINARY.dwp
 *
 * Sources: GDB manual, "Separate Debug Files"; the order of packages is
 * gdb's. */

#include "flam-elf.h"

/* `directories` may be NULL, or NULL-terminated. NULL when there is none; what
 * was looked for is appended to `tried` (may be NULL) a line each. */
FlamElf *flam_debug_file_find (const FlamElf *elf,
                               const char *const *directories,
                               GString *tried);
/* Whether it will be found by its build id from now on, too: packages put
 * theirs below /usr/lib/debug, people's own come and go. */
gboolean flam_debug_file_is_installed (const FlamElf *debug);
/* By build id alone: the debug file, or with `suffix` "" the binary. */
char *flam_debug_file_path (const char *directory,
                            const char *build_id,
                            const char *suffix);

/* The package that goes with `binary`, whose debug file `debug` is (it may be
 * the binary itself); NULL when there is none. */
FlamElf *flam_debug_package_find (const FlamElf *binary,
                                  const FlamElf *debug,
                                  const char *const *directories);
