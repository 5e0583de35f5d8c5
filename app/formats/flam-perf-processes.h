/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Who ran, and what was mapped where, at the time that the records have reached
 * so far; addresses -> frames.
 *
 *   pid ──▶ process ──space──▶ mapping ──user──▶ module (path, build id)
 *             │                                    │
 *            tid ──▶ thread                        └──▶ unwind table, frames
 *
 * A module's file is looked for when the first stack comes through it. A frame
 * is (module, file offset); kernel and JIT frames are absolute. Addresses in no
 * mapping, which frame pointers that were none give in plenty, are all one
 * frame "[unknown]". */

#include "flam-builder.h"
#include "flam-perf-records.h"
#include "flam-unwind-space.h"

G_BEGIN_DECLS

typedef struct _FlamPerfProcesses FlamPerfProcesses;

/* `binaries` may be NULL: where files are looked for, besides their path. */
FlamPerfProcesses *flam_perf_processes_new (const FlamPerfFile *file,
                                            FlamBuilder *builder,
                                            const char *const *binaries);
void flam_perf_processes_free (FlamPerfProcesses *processes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamPerfProcesses, flam_perf_processes_free)

/* MMAP, MMAP2, COMM, FORK, EXIT; others are ignored. */
void flam_perf_processes_note (FlamPerfProcesses *processes,
                               const FlamPerfRecord *record);

/* The thread, made when it is new. */
FlamId flam_perf_processes_thread (FlamPerfProcesses *processes,
                                   gint32 pid,
                                   gint32 tid);

/* The stack of a sample, FLAM_NONE without one. */
FlamId flam_perf_processes_stack (FlamPerfProcesses *processes,
                                  const FlamPerfEvent *event,
                                  const FlamPerfRecord *record,
                                  const FlamPerfSample *sample);

/* Copied stacks that do not reach their root. */
guint64 flam_perf_processes_n_truncated (const FlamPerfProcesses *processes);
/* Says of modules that stacks had to end in why that is. */
void flam_perf_processes_warn (const FlamPerfProcesses *processes);

G_END_DECLS
