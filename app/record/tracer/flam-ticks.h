/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TRACER_FLAM_TICKS_H
#define FLAM_TRACER_FLAM_TICKS_H

/* A tick of the tracer's clock: which threads stop, and when the next one
 * is. */

#include "flam-tracer-state.h"

/* Returns how many threads were sent an INTERRUPT. */
guint flam_ticks_take (FlamTracer *tracer, gint64 now);
/* Whether one of them, of the tick at `now`, is on a CPU other than the
 * tracer's. */
gboolean
flam_ticks_reach_elsewhere (FlamTracer *tracer, gint64 now, gint64 until);
/* Plans the next tick. */
void flam_ticks_plan (FlamTracer *tracer, gboolean stopped_some);

#endif
