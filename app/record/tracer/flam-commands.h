/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COMMANDS_H
#define FLAM_COMMANDS_H

/* External control of the tracer: by signals, by lines on the control
 * descriptor (flam-control.h) and by the clock; and the tracer's output on that
 * descriptor. */

#include "flam-tracer-state.h"

#include <signal.h>

/* Sets up signals for the loop. Called before any other thread exists. */
void flam_commands_prepare_signals (void);
/* The mask with which ppoll() ends at these signals. */
void flam_commands_get_open_mask (sigset_t *mask);
/* Whether one of them, or the terminal, ends an attached recording; `by`: the
 * signal that the recorder's exit status shows, 0: none. */
gboolean flam_commands_are_stopping (int *by);
/* Whether a stop sends SIGCHLD, which ends ppoll(). An exit always sends it. */
void flam_commands_hear_stops (gboolean hear);
/* Reads the commands and executes them. */
void flam_commands_handle (FlamTracer *tracer);
/* Ends the recording when its time is over, the program has ended, a signal has
 * arrived, or nothing more can be written. */
void flam_commands_check (FlamTracer *tracer, gint64 now);
/* Writes the status line, five times a second. */
void flam_commands_say_status (FlamTracer *tracer, gint64 now);
/* Adds a warning to the capture, and prints it on a terminal. */
void flam_tracer_warn (FlamTracer *tracer, const char *text);
/* A thread that is no longer recorded, although it may live on. */
void flam_tracer_note_survivor (FlamTracer *tracer, const FlamTask *task);
/* Warns of the processes among them that outlived the program. */
void flam_tracer_warn_of_survivors (FlamTracer *tracer);

#endif
