/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SLEEPERS_H
#define FLAM_SLEEPERS_H

/* Threads that wait are detected and read through /proc, without a stop.
 * Stopping 63 sleepers 1000 times a second costs the target 20-48 % of its CPU
 * time; reading their schedstat costs it nothing, and the recorder 0.3 µs
 * each. */

#include "flam-tracer-state.h"

/* Called at a tick. These functions write the samples that it takes. */

/* TRUE: still in the sleep in which it was found. FALSE: it has run since, or
 * needs a stop. */
gboolean
flam_sleepers_sleeps_on (FlamTracer *tracer, FlamTask *task, gint64 now);
/* Checks a thread that has run since. TRUE: it sleeps again. */
gboolean flam_sleepers_check (FlamTracer *tracer, FlamTask *task, gint64 now);
/* Handles a thread that has run since, and is running. */
void flam_sleepers_woke (FlamTracer *tracer, FlamTask *task);

/* Whether it was stopped to read the stack that it sleeps on. */
gboolean flam_sleepers_stopped (const FlamTask *task);

#endif
