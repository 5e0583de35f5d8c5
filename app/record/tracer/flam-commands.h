/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What controls the tracer from outside: by signals, by lines on the control
 * descriptor (flam-control.h), by the clock; and what it says there. */

#include "flam-tracer-state.h"

/* Before any other thread exists: signals are set up for the loop. */
void flam_commands_prepare_signals (void);
/* Whether a stop sends SIGCHLD, which ends ppoll(). An exit always does. */
void flam_commands_hear_stops (gboolean hear);
/* Reads and does what was said. */
void flam_commands_handle (FlamTracer *tracer);
/* Ends the recording when its time is over, the program has ended, a signal
 * came, or nothing can be written any more. */
void flam_commands_check (FlamTracer *tracer, gint64 now);
/* Five times a second. */
void flam_commands_say_status (FlamTracer *tracer, gint64 now);
/* Into the capture; and to people at a terminal. */
void flam_tracer_warn (FlamTracer *tracer, const char *text);
