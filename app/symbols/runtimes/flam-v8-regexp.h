/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_V8_REGEXP_H
#define FLAM_V8_REGEXP_H

/* Machine code of a regular expression, which no function refers to:
 *
 *   JSRegExp   +source - 8  its data ──▶ ..., the Code, ...
 *              +source      the text between the slashes
 *
 * The functions that run the code have the JSRegExp on the stack.
 *
 * Sources: V8's src/objects/js-regexp.tq, js-regexp.h. */

#include "flam-runtime-memory.h"
#include "flam-v8-layout.h"

/* The last one that was found; a zeroed one to begin with. */
typedef struct
{
  uint64_t code; /* 0: none */
  uint64_t object;
} FlamV8RegExp;

/* The source of the regular expression with this Code, which is looked for
 * among the words of the stack; 0: there is none. */
uint64_t flam_v8_regexp_find (FlamV8RegExp *last,
                              const FlamV8Layout *layout,
                              const FlamRuntimeMemory *memory,
                              uint64_t code,
                              const uint64_t *words,
                              size_t n);

#endif
