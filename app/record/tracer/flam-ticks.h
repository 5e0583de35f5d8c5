/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A tick of the tracer's clock: who is to stop, and when the next one is. */

#include "flam-tracer-state.h"

/* Returns how many threads were sent an INTERRUPT. */
guint flam_ticks_take (FlamTracer *tracer, gint64 now);
/* Whether one of them, of the tick at `now`, is on another CPU than ours. */
gboolean
flam_ticks_reach_elsewhere (FlamTracer *tracer, gint64 now, gint64 until);
/* The next one, after the one that began then. */
void flam_ticks_plan (FlamTracer *tracer, gint64 began);
