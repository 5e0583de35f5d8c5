/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What profilers for Python say of a frame: a function and the place it is at,
 * a Python file ("app.py", "<frozen runpy>"), another source file, or the
 * library of native code. */

#include "flam-builder.h"

/* Fills in the function's file or module, kind and flags. A place with a line
 * is a file; of the others those that are not Python's are libraries. */
void flam_python_set_location (FlamBuilder *builder,
                               FlamFunction *function,
                               const char *place,
                               gsize length,
                               gboolean has_line);
