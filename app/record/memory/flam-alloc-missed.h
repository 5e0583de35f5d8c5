/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ALLOC_MISSED_H
#define FLAM_ALLOC_MISSED_H

/* Processes whose allocations are not recorded. The first one with a given name
 * and reason is reported as a warning at once; the others are counted, because
 * a build may run the same tool a thousand times. */

#include "flam-core-profile.h"

#include <sys/types.h>

typedef struct _FlamAllocMissed FlamAllocMissed;

FlamAllocMissed *flam_alloc_missed_new (FlamBuilder *builder);
void flam_alloc_missed_free (FlamAllocMissed *missed);
/* `why` continues a sentence after "it ". */
void flam_alloc_missed_add (FlamAllocMissed *missed,
                            pid_t pid,
                            const char *name,
                            const char *why);
/* Reports the number of processes of each kind that was reported once. */
void flam_alloc_missed_finish (FlamAllocMissed *missed);

#endif
