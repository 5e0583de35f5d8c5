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
 * .gnu_debuglink. Source: GDB manual, "Separate Debug Files". */

#include "flam-elf.h"

G_BEGIN_DECLS

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

G_END_DECLS
