/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACER_KIN_H
#define FLAM_TRACER_KIN_H

/* Which descendants of the chosen processes are recorded, too: all of those of
 * a process that was chosen itself, and of a unit or control group only its
 * members. A descendant of a member may have another group: init.scope has
 * process 1 alone, all others descend from it. */

#include <glib.h>

/* Zeroed: all descendants. */
typedef struct
{
  GArray *trees;      /* pid_t, chosen themselves */
  GHashTable *groups; /* of the members: contents of /proc/PID/cgroup */
} FlamTracerKin;

/* `trees`, `members`: pid_t. */
void flam_tracer_kin_set (FlamTracerKin *kin,
                          const GArray *trees,
                          const GArray *members);
void flam_tracer_kin_clear (FlamTracerKin *kin);
/* Whether it is in the group of a member. `kin->groups`: not NULL. */
gboolean flam_tracer_kin_has (const FlamTracerKin *kin, pid_t pid);
/* Like flam_proc_below(). */
GArray *flam_tracer_kin_below (const FlamTracerKin *kin, const GArray *chosen);

#endif
