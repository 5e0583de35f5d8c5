/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACER_H
#define FLAM_TRACER_H

/* The tracer: one loop for all traced threads. The reasons for its design are
 * at the top of flam-tracer.c. */

#include "flam-tracer-state.h"

void flam_tracer_init (FlamTracer *tracer,
                       const FlamRecordOptions *options,
                       FlamControl *control,
                       FlamPipe *pipe);
void flam_tracer_clear (FlamTracer *tracer);
/* FALSE, with the error for a reason that continues a sentence after "it ". */
gboolean
flam_tracer_refuse_library (pid_t pid, const char *why, GError **error);
/* Puts the allocation library into the processes that were attached to, before
 * the recording begins; it is taken out again before they are detached. FALSE
 * if that is not possible with any of them. */
gboolean flam_tracer_attach_library (FlamTracer *tracer, GError **error);
/* Runs on the thread that called flam_launch_exec_start(), until all traced
 * threads have ended or are detached. */
void flam_tracer_run (FlamTracer *tracer);
/* The percentile of the durations of stops, in ns. */
gint64 flam_tracer_stop_time (const FlamTracer *tracer, guint percent);

#endif
