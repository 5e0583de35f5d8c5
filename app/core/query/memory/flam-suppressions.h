/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SUPPRESSIONS_H
#define FLAM_SUPPRESSIONS_H

/* Rules for known leaks that must not be counted, in the format of
 * LeakSanitizer's suppression files: a line "leak:PATTERN"; '#' begins a
 * comment. A leaked block is suppressed when a pattern matches the function,
 * the file or the module of any frame of its stack.
 *
 * A pattern matches anywhere in a text; '*' stands for anything, '^' first and
 * '$' last anchor it to the text's ends. An empty text is never matched. */

#include "flam-types.h"

G_BEGIN_DECLS

/* No rules may be added once a second thread has access to it. */
typedef struct _FlamSuppressions FlamSuppressions;

FlamSuppressions *flam_suppressions_new (void);
FlamSuppressions *flam_suppressions_ref (FlamSuppressions *suppressions);
void flam_suppressions_unref (FlamSuppressions *suppressions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSuppressions, flam_suppressions_unref)

void flam_suppressions_add (FlamSuppressions *suppressions,
                            const char *pattern,
                            gssize length);
/* The text of a whole file. FALSE with FLAM_ERROR_INVALID, naming the line, if
 * a line is neither a rule nor a comment; the rules before it stay. */
gboolean flam_suppressions_parse (FlamSuppressions *suppressions,
                                  const char *text,
                                  gsize length,
                                  GError **error);
guint flam_suppressions_get_n (const FlamSuppressions *suppressions);
const char *flam_suppressions_get (const FlamSuppressions *suppressions,
                                   guint rule);
/* The first rule that matches, or -1. */
int flam_suppressions_match (const FlamSuppressions *suppressions,
                             const char *text,
                             gsize length);

G_END_DECLS

#endif
