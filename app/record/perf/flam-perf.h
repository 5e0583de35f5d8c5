/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PERF_H
#define FLAM_PERF_H

/* The engine that uses the kernel's own clock: perf_event_open(2). The kernel
 * interrupts a thread after each period of its CPU time and copies its
 * registers and the end of its stack; no thread is ever stopped.
 *
 *   kernel ──▶ rings ──▶ records in order ──▶ FlamMessage ──▶ sampler
 *                          threads, maps        (flam-batch)
 *
 * What follows the message is the same for both engines: the walk over the
 * copied stack, the rows, the capture. The tracer's state, its commands and its
 * tasks are shared, too; flam-tracer.c is the loop of the other engine. */

#include "flam-tracer-state.h"

typedef struct _FlamPerf FlamPerf;

/* Whether a recording with these options can be made with this engine: NULL, or
 * why not, for users. */
const char *flam_perf_refuses (const FlamRecordOptions *options);
/* Launches or attaches; like flam_launch_exec_start(). */
FlamPerf *flam_perf_start (FlamTracer *tracer, GError **error);
/* Like flam_tracer_run(). */
void flam_perf_run (FlamPerf *perf);
void flam_perf_free (FlamPerf *perf);

#endif
