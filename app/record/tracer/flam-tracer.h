/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The tracer: one loop that owns every traced thread. See facts at the top of
 * flam-tracer.c for why it is as it is. */

#include "flam-tracer-state.h"

void flam_tracer_init (FlamTracer *tracer,
                       const FlamRecordOptions *options,
                       FlamControl *control,
                       FlamPipe *pipe);
void flam_tracer_clear (FlamTracer *tracer);
/* On the thread that called flam_launch_exec_start(), until all that was traced
 * has ended or is detached. */
void flam_tracer_run (FlamTracer *tracer);
/* ns: so many percent of the stops were no longer. */
gint64 flam_tracer_stop_time (const FlamTracer *tracer, guint percent);
