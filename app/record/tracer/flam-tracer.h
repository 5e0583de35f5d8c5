/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The tracer: one loop for all traced threads. The reasons for its design are
 * at the top of flam-tracer.c. */

#include "flam-tracer-state.h"

void flam_tracer_init (FlamTracer *tracer,
                       const FlamRecordOptions *options,
                       FlamControl *control,
                       FlamPipe *pipe);
void flam_tracer_clear (FlamTracer *tracer);
/* Runs on the thread that called flam_launch_exec_start(), until all traced
 * threads have ended or are detached. */
void flam_tracer_run (FlamTracer *tracer);
/* The percentile of the durations of stops, in ns. */
gint64 flam_tracer_stop_time (const FlamTracer *tracer, guint percent);
