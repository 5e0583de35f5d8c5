/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CLI_GATES_H
#define FLAM_CLI_GATES_H

/* Gates for continuous integration: the maximum cost of a capture, and its
 * maximum growth since the previous capture.
 *
 *    --fail-above 5             the total of the selected measure
 *    --fail-above 5:peak        that of another measure
 *    --fail-above 5:parse       that of a function
 *    --limit peak=200MB         a measure's absolute total
 *
 * Broken gates are a table on standard error, and set the exit status. */

#include "flam-cli.h"
#include "flam-core-query.h"

G_BEGIN_DECLS

typedef struct
{
  char **above; /* as typed; NULL: none */
  char **limits;
  GArray *rules;
  FlamDiffScale scale; /* threshold for the base; the same if not set */
  gboolean self; /* compare the self costs of functions, not their totals */
  guint broken;
} FlamGates;

void flam_gates_clear (FlamGates *gates);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamGates, flam_gates_clear)

/* FALSE after printing a usage error. */
gboolean flam_gates_parse (FlamGates *gates, const char *verb);
/* Both have a measure, and all functions of the selected one. `base` NULL:
 * there is no earlier capture, and only limits apply. FALSE after printing that
 * a rule has an unknown name, or a unit that its measure does not have. */
gboolean flam_gates_check (FlamGates *gates,
                           const FlamFigures *base,
                           const FlamFigures *fresh);
/* FLAM_EXIT_DONE, or FLAM_EXIT_BROKEN if a rule was broken. */
FlamExit flam_gates_status (const FlamGates *gates);

#define FLAM_GATE_ENTRIES(gates)                                               \
  { "fail-above",                                                              \
    0,                                                                         \
    0,                                                                         \
    G_OPTION_ARG_STRING_ARRAY,                                                 \
    &(gates).above,                                                            \
    N_ ("Exit with status 3 if a total grew by more (repeatable)"),            \
    "PERCENT[:MEASURE|:FUNCTION]" },                                           \
  {                                                                            \
    "limit", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(gates).limits,                 \
        N_ ("Exit with status 3 if a total is larger (repeatable)"),           \
        "MEASURE=VALUE"                                                        \
  }

G_END_DECLS

#endif
