/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_V8_SCRIPT_H
#define FLAM_V8_SCRIPT_H

/* Lines of scripts, and names of functions.
 *
 * A script has a list of the ends of its lines only if somebody needed one (for
 * Error.stack); otherwise they are counted in its source and kept here, for a
 * limited number of scripts and lines.
 *
 * Sources: V8's src/objects/script.tq, scope-info.tq, shared-function-info.tq,
 * String::CalculateLineEnds() in src/objects/string.cc. */

#include "flam-runtime-name.h"
#include "flam-v8-strings.h"

typedef struct _FlamV8Scripts FlamV8Scripts;

/* NULL: no memory. */
FlamV8Scripts *flam_v8_scripts_new (void);
void flam_v8_scripts_free (FlamV8Scripts *scripts);

/* The line, from 1, of a character of a script; 0: unknown. */
uint32_t flam_v8_script_line (FlamV8Scripts *scripts,
                              const FlamV8Layout *layout,
                              const FlamRuntimeMemory *memory,
                              uint64_t script,
                              uint32_t offset);

/* A string, truncated to 1,024 units of UTF-16; "": it is not one. */
const char *flam_v8_read_text (const FlamV8Layout *layout,
                               const FlamRuntimeMemory *memory,
                               uint64_t string,
                               FlamRuntimeName *name);

/* Name, file and first line of a function, by its SharedFunctionInfo. A
 * function without a name is "(anonymous)", as in DevTools. `*script` is 0 if
 * it has none. False: not a function. */
bool flam_v8_shared_name (FlamV8Scripts *scripts,
                          const FlamV8Layout *layout,
                          const FlamRuntimeMemory *memory,
                          uint64_t shared,
                          FlamRuntimeName *name,
                          FlamRuntimeNamed *named,
                          uint64_t *script);

#endif
