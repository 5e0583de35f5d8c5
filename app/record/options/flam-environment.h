/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ENVIRONMENT_H
#define FLAM_ENVIRONMENT_H

/* Environment variables by which programs write the names of their functions
 * themselves, for recordings that cannot read them: NODE_OPTIONS, for example.
 * An assignment is "NAME=VALUE". A value that begins with "-" or "+" is an
 * option, and such variables may hold several, with spaces between them. */

#include <glib.h>

/* Facts of a capture (flam_facts_other): the runtimes whose functions could not
 * be read, as in "V8 13.9, Java 26"; and the assignments for them, as words of
 * a shell. */
#define FLAM_FACT_UNREAD "unread-runtimes"
#define FLAM_FACT_UNREAD_VARIABLES "unread-variables"

/* Whether this environment, a list of assignments in which the last one counts,
 * does what the assignment does. */
gboolean flam_environment_has (const char *const *environment,
                               const char *assignment);
/* The assignment that keeps the variable's value in the environment; g_free. */
char *flam_environment_add (const char *const *environment,
                            const char *assignment);

#endif
