/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_MEMBERS_H
#define FLAM_PERF_MEMBERS_H

/* The recorded processes as a map of the kernel's, for programs that run at
 * events of CPUs (flam-perf-copies). The kernel adds a child of a member when
 * it is created; those that existed before, and what ends, are told by the
 * kernel's records. */

#include <glib.h>
#include <sys/types.h>

typedef struct _FlamPerfMembers FlamPerfMembers;

/* `children`: those that are created from now on. NULL sets errno. */
FlamPerfMembers *flam_perf_members_new (gboolean children);
void flam_perf_members_free (FlamPerfMembers *members);
int flam_perf_members_map (const FlamPerfMembers *members);
void flam_perf_members_add (const FlamPerfMembers *members, pid_t pid);
void flam_perf_members_remove (const FlamPerfMembers *members, pid_t pid);

#endif
