/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_ENDING_H
#define FLAM_ENDING_H

/* The end of processes whose memory the sampler reads, for the frames of native
 * runtimes (flam-runtime.h). Such a process is held at its end, for at most
 * 50 ms, until the samples that were taken of it are read:
 *
 *   a sample ─▶ watch: the thread and the leader will stop when they end
 *   end of the process ─▶ message to the sampler ─▶ its hint ─▶ let go
 *
 * Threads that end before their process are not held. Other processes have no
 * stop at their end. */

#include "flam-tracer-state.h"

/* Called when a thread has stopped for a sample. */
void flam_ending_watch (FlamTracer *tracer, FlamTask *task);
/* Called at any other stop of a thread before it is resumed. */
void flam_ending_meet (FlamTracer *tracer, FlamTask *task);
/* Called at the stop at a thread's end. TRUE: it must not be resumed. */
gboolean flam_ending_hold (FlamTracer *tracer, FlamTask *task);
/* Resumes the threads that need not be held any longer. */
void flam_ending_let_go (FlamTracer *tracer);

#endif
