/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_MERGE_FACTS_H
#define FLAM_MERGE_FACTS_H

#include "flam-builder.h"

G_BEGIN_DECLS

/* Adds the facts of a capture to those of a builder that holds several, all but
 * the duration. `commands` gets its command unless it has it. */
void flam_merge_add_facts (FlamBuilder *builder,
                           GString *commands,
                           const char *name,
                           const FlamFacts *of);

G_END_DECLS

#endif
