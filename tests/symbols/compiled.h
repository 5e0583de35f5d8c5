/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TEST_COMPILED_H
#define FLAM_TEST_COMPILED_H

/* Programs compiled by the test in a separate folder, and our results for them.
 * It contains two sources: program.cc, with a main(), inlined functions, a
 * namespace and a lambda, and second.cc, a second unit. */

#include "flam-symbol-module.h"

void compiled_begin (void);
void compiled_end (void);

/* Free it. */
char *in_folder (const char *name);
/* Runs "tool arg arg" in the folder; FALSE if the tool is missing or fails. */
gboolean run (const char *format, ...) G_GNUC_PRINTF (1, 2);
/* All results for the code of `path`, as text, one line per address. */
char *describe (const char *path,
                const FlamSymbolModuleOptions *options,
                gboolean names_alone);
/* Line by line, so that the first difference is printed. */
void assert_same (const char *text, const char *wanted);

#endif
