/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PYTHON_CODE_H
#define FLAM_PYTHON_CODE_H

/* The form of frames in profilers for Python: a function and its place, a
 * Python file ("app.py", "<frozen runpy>"), another source file, or the library
 * of native code. */

#include "flam-core-profile.h"

/* Sets the function's file or module, kind and flags. A place with a line is a
 * file; one without is a library, unless it is Python's. */
void flam_python_set_location (FlamBuilder *builder,
                               FlamFunction *function,
                               const char *place,
                               gsize length,
                               gboolean has_line);

#endif
