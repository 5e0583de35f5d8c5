/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_CHAINS_H
#define FLAM_PERF_CHAINS_H

/* The managed frames of the kernel's samples, by the readers that read them in
 * stops: from the copied registers and stack, and from the runtime's own data
 * that the kernel copied (flam-perf-copies).
 *
 * The thread pointer, which some runtimes need, is not in a sample: a thread of
 * theirs is stopped once to read it. */

#include "flam-perf-copies.h"
#include "flam-perf-rings.h"
#include "flam-tracer-state.h"

typedef struct _FlamPerfChains FlamPerfChains;

FlamPerfChains *flam_perf_chains_new (void);
void flam_perf_chains_free (FlamPerfChains *chains);
/* For the options of rings. NULL: the kernel copies nothing. */
FlamPerfCopies *flam_perf_chains_copies (const FlamPerfChains *chains);
/* Its number of items, which is then passed on by
 * flam_runtime_reader_resolve(). */
guint flam_perf_chains_walk (FlamPerfChains *chains,
                             FlamTracer *tracer,
                             FlamTask *task,
                             const FlamPerfRecord *record,
                             gint64 now);
/* A thread has ended, or runs another program. */
void flam_perf_chains_forget (FlamPerfChains *chains, pid_t tid);
/* A thread with a requested thread pointer has stopped: it is read, and the
 * thread is let go. */
void flam_perf_chains_take_stop (FlamPerfChains *chains,
                                 FlamTracer *tracer,
                                 pid_t tid,
                                 int status);
/* Threads with a request that have not stopped yet. */
guint flam_perf_chains_asked (const FlamPerfChains *chains);

#endif
