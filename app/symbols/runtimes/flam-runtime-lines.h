/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUNTIME_LINES_H
#define FLAM_RUNTIME_LINES_H

/* The lines of a function's positions as a reader keeps them in
 * FlamRuntimeName.lines: pairs of a position and the line from there on, both
 * of 32 bits, ascending by position. */

#include "flam-runtime-name.h"

/* Appends a pair unless the line is that of the last one. FALSE: no room. */
gboolean
flam_runtime_lines_add (FlamRuntimeName *name, guint32 at, guint32 line);
/* The function of a row (FlamRuntime.line). 0 before the first pair. */
guint32 flam_runtime_lines_find (guint32 version,
                                 const guint8 *lines,
                                 gsize n_lines,
                                 guint64 at,
                                 guint32 first_line);

#endif
