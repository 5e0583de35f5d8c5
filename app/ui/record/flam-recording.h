/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RECORDING_H
#define FLAM_RECORDING_H

/* A running recorder: a separate process, controlled by lines over a socket
 * pair (app/record/tracer/flam-control.h describes them). The capture that it
 * writes is read like any other file. */

#include "flam-record-options.h"

#include <gio/gio.h>

G_BEGIN_DECLS

/* From the settings. */
FlamRecordOptions *flam_recording_options_new (void);

typedef enum
{
  FLAM_RECORDING_STARTING,
  FLAM_RECORDING_RUNNING,
  FLAM_RECORDING_PAUSED,
  FLAM_RECORDING_FINISHING, /* symbols are being resolved */
  FLAM_RECORDING_DONE,
} FlamRecordingState;

#define FLAM_TYPE_RECORDING (flam_recording_get_type ())
G_DECLARE_FINAL_TYPE (FlamRecording, flam_recording, FLAM, RECORDING, GObject)

/* Signals: "changed"; "finished" (GError or NULL), once. `name`: of the
 * attached process; NULL: the program's. `envp`: the environment of the
 * recorder and of the program; NULL: that of this process. */
FlamRecording *flam_recording_start (const FlamRecordOptions *options,
                                     const char *name,
                                     const char *const *envp,
                                     GError **error);
/* Records the same again, into a new file among the recordings. `variables`:
 * assignments to add to the program's environment, as words of a shell; or
 * NULL. */
FlamRecording *flam_recording_start_again (FlamRecording *recording,
                                           const char *variables,
                                           GError **error);
/* Adds these assignments; FALSE: they are not words of a shell. */
gboolean flam_recording_add_variables (FlamRecordOptions *options,
                                       const char *variables,
                                       const char *const *envp,
                                       GError **error);
/* Whether a program was started for it. */
gboolean flam_recording_is_launched (FlamRecording *recording);
/* The same for the process that outlived the program. */
FlamRecording *flam_recording_start_left (FlamRecording *recording,
                                          GError **error);
void flam_recording_stop (FlamRecording *recording);
/* Whether it is a launched program that has not ended: its standard input is a
 * terminal. */
gboolean flam_recording_takes_input (FlamRecording *recording);
/* Whether the program waits for a line of it now, as far as this can be
 * determined. */
gboolean flam_recording_waits_for_input (FlamRecording *recording);
/* Whether it has turned the echo off, as for a password. */
gboolean flam_recording_hides_input (FlamRecording *recording);
/* A line with its end; "\004", on a line of its own, ends the input. */
void flam_recording_send_input (FlamRecording *recording, const char *text);
void flam_recording_set_paused (FlamRecording *recording, gboolean paused);

FlamRecordingState flam_recording_get_state (FlamRecording *recording);
/* The connection to another machine was lost, and the recorder tries to
 * connect again. */
gboolean flam_recording_is_broken (FlamRecording *recording);
const char *flam_recording_get_path (FlamRecording *recording);
/* "nest 100", or the name of the process. */
const char *flam_recording_get_title (FlamRecording *recording);
/* The other machine or container; NULL: this machine. */
const char *flam_recording_get_host (FlamRecording *recording);
gint64 flam_recording_get_elapsed_ms (FlamRecording *recording);
guint64 flam_recording_get_samples (FlamRecording *recording);

/* The target's output since the last call, as in flam_printed_take(). */
char *flam_recording_take_printed (FlamRecording *recording,
                                   gboolean *left_out);
/* Display text, g_free: what it is waiting for before the first picture, and
 * how it ended. */
char *flam_recording_describe_wait (FlamRecording *recording);
char *flam_recording_describe_end (FlamRecording *recording);
/* How many processes have outlived the program. */
guint flam_recording_count_left (FlamRecording *recording);
/* The target ended with an error. */
gboolean flam_recording_has_failed (FlamRecording *recording);

G_END_DECLS

#endif
