/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_PROCESSES_H
#define FLAM_PERF_PROCESSES_H

/* The threads and their mappings, at the time of the latest record so far.
 *
 *   pid ──▶ process ──space──▶ mapping ──user──▶ module (path, build id)
 *             │
 *            tid ──▶ thread
 *
 * A pid that is used again is another process; a process that calls exec stays
 * the same one, with no mappings. */

#include "flam-load.h"
#include "flam-perf-modules.h"
#include "flam-perf-records.h"
#include "flam-unwind-space.h"

typedef struct _FlamPerfProcesses FlamPerfProcesses;

FlamPerfProcesses *flam_perf_processes_new (FlamLoad *load,
                                            FlamPerfModules *modules);

/* MMAP, MMAP2, COMM, FORK, EXIT; others are ignored. */
void flam_perf_processes_note (FlamPerfProcesses *processes,
                               const FlamPerfRecord *record);

/* The thread, created if it is new. */
FlamThreadId flam_perf_processes_thread (FlamPerfProcesses *processes,
                                         gint32 pid,
                                         gint32 tid);
/* The address space; mappings' `user` are FlamPerfModules' modules. */
FlamUnwindSpace *flam_perf_processes_space (FlamPerfProcesses *processes,
                                            gint32 pid);
/* There were more mappings than any process can have, and some were left
 * out. */
gboolean flam_perf_processes_too_many (const FlamPerfProcesses *processes);

#endif
