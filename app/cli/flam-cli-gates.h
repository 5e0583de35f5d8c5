/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Gates for continuous integration: the most that a capture may cost, and by
 * how much the cost may grow since the capture before.
 *
 *    --fail-above 5             the total of the selected measure
 *    --fail-above 5:peak        that of another measure
 *    --fail-above 5:parse       that of a function
 *    --limit peak=200MB         a measure's total, whatever it was before
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
  FlamDiffScale scale; /* of the base; as it is where it is not set */
  gboolean self;       /* of functions: selves, not totals */
  guint broken;
} FlamGates;

void flam_gates_clear (FlamGates *gates);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (FlamGates, flam_gates_clear)

/* FALSE after printing what is wrong with the usage. */
gboolean flam_gates_parse (FlamGates *gates, const char *verb);
/* Both have a measure, and all functions of the selected one. `base` NULL:
 * there is no earlier capture, and only limits count. FALSE after printing that
 * a rule has a name that does not occur, or a unit that its measure has not. */
gboolean flam_gates_check (FlamGates *gates,
                           const FlamFigures *base,
                           const FlamFigures *fresh);
/* FLAM_EXIT_DONE, or FLAM_EXIT_BROKEN where a rule was broken. */
FlamExit flam_gates_status (const FlamGates *gates);

#define FLAM_GATE_ENTRIES(gates)                                               \
  { "fail-above",                                                              \
    0,                                                                         \
    0,                                                                         \
    G_OPTION_ARG_STRING_ARRAY,                                                 \
    &(gates).above,                                                            \
    N_ ("Exit with status 3 if it grew by more (repeatable)"),                 \
    "PERCENT[:MEASURE|:FUNCTION]" },                                           \
  {                                                                            \
    "limit", 0, 0, G_OPTION_ARG_STRING_ARRAY, &(gates).limits,                 \
        N_ ("Exit with status 3 if it is more (repeatable)"), "MEASURE=VALUE"  \
  }

G_END_DECLS
