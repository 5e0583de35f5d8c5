/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Programs compiled on the spot, in a folder of their own, and what we say of
 * them. Two sources lie there: program.cc, with a main(), inlined functions,
 * a namespace and a lambda, and second.cc, which is a unit to go with it. */

#include "flam-symbol-module.h"

void compiled_begin (void);
void compiled_end (void);

/* Free it. */
char *in_folder (const char *name);
/* Runs "tool arg arg" in the folder; FALSE when the tool is absent or fails. */
gboolean run (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* Everything said of the code of `path`, as text, a line an address. */
char *describe (const char *path,
                const FlamSymbolModuleOptions *options,
                gboolean names_alone);
/* Line by line, so that the first difference is what is printed. */
void assert_same (const char *text, const char *wanted);
