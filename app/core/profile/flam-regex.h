/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_REGEX_H
#define FLAM_REGEX_H

/* Regular expressions from the user or a file, matched against many names.
 * Nested repetitions can take practically forever on one name, so the steps of
 * each match are limited. An expression that has reached the limit matches
 * nothing from then on, so that a search over all names ends, too. */

#include <glib.h>

G_BEGIN_DECLS

/* An expression whose matches fail with G_REGEX_ERROR_MATCH after this many
 * steps: 100,000 take 1 to 5 ms. NULL with FLAM_ERROR_INVALID, whose message
 * has the position in `pattern`. */
GRegex *flam_regex_new_limited (const char *pattern,
                                GRegexCompileFlags flags,
                                guint steps,
                                GError **error);

/* Immutable, except that it may be marked as slow; can be shared by threads. */
typedef struct _FlamRegex FlamRegex;

/* Like flam_regex_new_limited(), with enough steps for the longest names. */
FlamRegex *
flam_regex_new (const char *pattern, GRegexCompileFlags flags, GError **error);
FlamRegex *flam_regex_ref (FlamRegex *regex);
void flam_regex_unref (FlamRegex *regex);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamRegex, flam_regex_unref)

gboolean flam_regex_match (FlamRegex *regex, const char *text);
/* The text on which it reached the limit; NULL: none. Owned by the regex. */
const char *flam_regex_get_slow (const FlamRegex *regex);

G_END_DECLS

#endif
