/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_FIND_H
#define FLAM_FIND_H

/* The processes that the options of a recording name. */

#include "flam-control.h"
#include "flam-record-options.h"
#include "flam-tracer-kin.h"

/* pid_t, each once, ancestors before their descendants. If child processes are
 * followed, processes with an ancestor in the list are left out. The processes
 * may have ended in the meantime. Sets `kin`. NULL: no process is found, or
 * several unrelated ones have a name, which the message lists. */
GArray *flam_find_targets (const FlamRecordOptions *options,
                           FlamTracerKin *kin,
                           GError **error);

/* Waits until a process of the name exists, and returns as flam_find_targets()
 * does; it may be missed if it exists for less than 20 ms. NULL: a signal or
 * the peer ended the wait. */
GArray *flam_find_wait (const FlamRecordOptions *options,
                        FlamControl *control,
                        GError **error);

/* --- steps ---------------------------------------------------------------- */

/* Whether this is the name of the process, or the file name of its program or
 * of argv[0]; FALSE for ended processes, and for the recorder itself. */
gboolean flam_find_is_named (pid_t pid, const char *name);
/* Ancestors first; `roots`: without their descendants. */
GArray *flam_find_sort (const GArray *pids, gboolean roots);

/* They return pid_t; none: an empty array. */
GArray *flam_find_in_cgroup (const char *path);
GArray *flam_find_in_unit (const char *unit);
GArray *flam_find_in_container (const char *name);

#endif
