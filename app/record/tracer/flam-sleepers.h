/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Threads that wait: found out and read through /proc, without a stop.
 * Stopping 63 sleepers 1000 times a second costs the target 20-48 % of its CPU
 * time; looking at their schedstat costs it nothing, and us 0.3 µs each. */

#include "flam-tracer-state.h"

/* At a tick. These write the samples that it takes. */

/* TRUE: still in the sleep in which it was found. FALSE: it has moved, or needs
 * a stop. */
gboolean
flam_sleepers_sleeps_on (FlamTracer *tracer, FlamTask *task, gint64 now);
/* One that has moved. TRUE: it sleeps again. */
gboolean flam_sleepers_check (FlamTracer *tracer, FlamTask *task, gint64 now);
/* One that has moved, and runs. */
void flam_sleepers_woke (FlamTracer *tracer, FlamTask *task);

/* Whether it was stopped to read the stack that it sleeps on. */
gboolean flam_sleepers_stopped (const FlamTask *task);
