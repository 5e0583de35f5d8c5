/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_NAMESAKES_H
#define FLAM_NAMESAKES_H

/* Functions with the same name. Overloads in C++ are told apart by their
 * parameters, others by their file or else by their module:
 *
 *   _Z4areai    area            ─▶  area(int)
 *   _Z4aread    area            ─▶  area(double)
 *   _Z4turnv    turn            ─▶  no namesake
 *               init   lexer.c  ─▶  init (lexer.c)
 *               init   parser.c ─▶  init (parser.c)
 *
 * Linker names are from untrusted files: see flam-demangle.h. Immutable,
 * reference counted, any thread may read it. */

#include "flam-core-profile.h"

G_BEGIN_DECLS

typedef struct _FlamNamesakes FlamNamesakes;

FlamNamesakes *flam_namesakes_new (const FlamProfile *profile);
FlamNamesakes *flam_namesakes_ref (FlamNamesakes *namesakes);
void flam_namesakes_unref (FlamNamesakes *namesakes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamNamesakes, flam_namesakes_unref)

/* The name, followed by what distinguishes the function from others of that
 * name. NULL: the name is unique, nothing distinguishes them, or FLAM_NONE. */
const char *flam_namesakes_get (const FlamNamesakes *namesakes,
                                FlamFunctionId function);

G_END_DECLS

#endif
