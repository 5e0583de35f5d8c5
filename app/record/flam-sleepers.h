/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Threads that wait: found out and read through /proc, without a stop.
 * Stopping 63 sleepers 1000 times a second costs the target 20-48 % of its CPU
 * time; looking at their schedstat costs it nothing, and us 0.3 µs each. */

#include "flam-tracer.h"

G_BEGIN_DECLS

/* At a tick: TRUE when the whole process used less than a quarter of a
 * period's CPU time since it was last looked at, so that nobody in it is worth
 * a stop: it sleeps, or waits for a CPU. (CPU mode) */
gboolean
flam_sleepers_target (FlamTracer *tracer, FlamTarget *target, gint64 now);

/* At a tick: TRUE when the thread waits and is not to be interrupted. Writes
 * the samples that this takes. */
gboolean flam_sleepers_check (FlamTracer *tracer, FlamTask *task, gint64 now);

/* A stop gave `message`: was it to read a sleep? Then it says so. */
void flam_sleepers_stopped (FlamTask *task, FlamMessage *message);

G_END_DECLS
