/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PYTHON_RECORDING_H
#define FLAM_PYTHON_RECORDING_H

/* Recordings of targets/frames.py, and assertions about their frames. */

#include "recording.h"

char *script (void);
Recording *record_case (const char *python,
                        const char *option,
                        const char *name,
                        const char *seconds,
                        const char *file);
FlamId function_of (const FlamProfile *profile, FlamStackId stack);
gboolean is_python (const FlamProfile *profile, FlamStackId stack);
const char *name_of (const FlamProfile *profile, FlamStackId stack);
/* "name:line" of only the Python frames, from the root to `stack`, one per
 * line. */
char *python_stack (const FlamProfile *profile, FlamStackId stack);
/* Only lines with the comment "calls NAME" may call a Python function of that
 * name in the script. */
void assert_lines (const FlamProfile *profile, const char *const *called);
void assert_stack (const Recording *recording,
                   const char *leaf,
                   const char *pattern);
/* Shares of the whole, within the error of sampling; frames before main() are
 * left out. */
void assert_part (const Recording *recording,
                  const char *function,
                  const char *of,
                  double share);

#endif
