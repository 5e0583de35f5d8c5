/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The program whose gmon.out it is: the file does not name it, but holds where
 * its code ends. Looked for among the programs in the folders asked for and in
 * the file's own. */

#include "flam-symbol-table.h"

/* A program whose code ends within 16 bytes before `end`; NULL: none found. */
FlamElf *flam_gprof_find_binary (const char *const *folders,
                                 const char *capture,
                                 guint64 end);
