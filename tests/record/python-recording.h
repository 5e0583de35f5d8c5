/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Recordings of targets/frames.py, and what is asserted of their frames. */

#include "recording.h"

char *script (void);
Recording *record_case (const char *python,
                        const char *option,
                        const char *name,
                        const char *seconds,
                        const char *file);
FlamId function_of (const FlamProfile *profile, FlamId stack);
gboolean is_python (const FlamProfile *profile, FlamId stack);
const char *name_of (const FlamProfile *profile, FlamId stack);
/* "name:line" of Python alone, from the root to `stack`, one a line. */
char *python_stack (const FlamProfile *profile, FlamId stack);
/* Lines with the comment "calls NAME" are the only ones from which a Python
 * function of the script may call that function. */
void assert_lines (const FlamProfile *profile, const char *const *called);
void assert_stack (const Recording *recording,
                   const char *leaf,
                   const char *pattern);
/* Of the whole, in error of sampling; what comes before main() is left out. */
void assert_part (const Recording *recording,
                  const char *function,
                  const char *of,
                  double share);
