/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Processes whose allocations are not recorded: the first of a name and a
 * reason is a warning at once, the others are counted, since a build runs the
 * same tool a thousand times. */

#include "flam-builder.h"

#include <sys/types.h>

typedef struct _FlamAllocMissed FlamAllocMissed;

FlamAllocMissed *flam_alloc_missed_new (FlamBuilder *builder);
void flam_alloc_missed_free (FlamAllocMissed *missed);
/* `why` goes on after "it ". */
void flam_alloc_missed_add (FlamAllocMissed *missed,
                            pid_t pid,
                            const char *name,
                            const char *why);
/* How many there were of those that were reported once. */
void flam_alloc_missed_finish (FlamAllocMissed *missed);
