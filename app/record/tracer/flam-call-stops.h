/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALL_STOPS_H
#define FLAM_CALL_STOPS_H

/* The stops at the entry of a system call and at its exit, with which mappings,
 * descriptors and threads are followed (flam-calls.h). Every call of a recorded
 * thread stops twice. A seccomp filter could select the calls of interest, but
 * it cannot be taken out of a process: once no tracer answers, each of these
 * calls fails (ENOSYS), so the end of the recorder would end the program. */

#include "flam-tracer-state.h"

/* Whether these options need the stops. */
gboolean flam_call_stops_are_wanted (const FlamRecordOptions *options);
/* Handles such a stop, and resumes the thread. */
void flam_call_stops_handle (FlamTracer *tracer, FlamTask *task);
/* Called when a thread has created another, or a process, before it is
 * resumed. */
void
flam_call_stops_created (FlamTracer *tracer, FlamTask *task, pid_t created);
/* Called at the stop at a thread's end, which has no other stop after it. */
void flam_call_stops_ending (FlamTracer *tracer, FlamTask *task);
/* Called at an exec, before the thread is resumed: descriptors are closed by
 * it, and the call of a thread that it ended is over. */
void flam_call_stops_exec (FlamTracer *tracer, FlamTask *task);

#endif
