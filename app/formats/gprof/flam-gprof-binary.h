/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GPROF_BINARY_H
#define FLAM_GPROF_BINARY_H

/* The program of a gmon.out: the file does not contain its name, but the end of
 * its code. It is searched in the given folders and in the file's own. */

#include "flam-symbol-table.h"

/* A program whose code ends at most 16 bytes before `end`; NULL: none found. */
FlamElf *flam_gprof_find_binary (const char *const *folders,
                                 const char *capture,
                                 guint64 end);

#endif
