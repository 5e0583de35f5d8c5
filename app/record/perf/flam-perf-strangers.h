/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_STRANGERS_H
#define FLAM_PERF_STRANGERS_H

/* The processes that are not recorded, as a map of the kernel's, for programs
 * that run at events of CPUs (flam-perf-copies). Unlike the recorded ones, few
 * of them are new: a process that is not in the map is sampled, and is added if
 * no record shows that it is a recorded one. */

#include <glib.h>
#include <sys/types.h>

typedef struct _FlamPerfStrangers FlamPerfStrangers;

/* All processes of now except those that are keys of `recorded`. NULL sets
 * errno. */
FlamPerfStrangers *flam_perf_strangers_new (GHashTable *recorded);
void flam_perf_strangers_free (FlamPerfStrangers *strangers);
int flam_perf_strangers_map (const FlamPerfStrangers *strangers);
void flam_perf_strangers_add (const FlamPerfStrangers *strangers, pid_t pid);
/* Its number is now that of a recorded process. */
void flam_perf_strangers_remove (const FlamPerfStrangers *strangers, pid_t pid);

#endif
