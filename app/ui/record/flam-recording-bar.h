/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RECORDING_BAR_H
#define FLAM_RECORDING_BAR_H

/* Shown while a recording runs: its name, duration, number of samples, Pause
 * and Stop. */

#include "flam-output-pane.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_RECORDING_BAR (flam_recording_bar_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamRecordingBar, flam_recording_bar, FLAM, RECORDING_BAR, GtkWidget)

/* NULL hides it. */
void flam_recording_bar_set_recording (FlamRecordingBar *bar,
                                       FlamRecording *recording);

/* The button shows and hides the pane once it has text. */
void flam_recording_bar_bind (FlamRecordingBar *bar, FlamOutputPane *pane);

G_END_DECLS

#endif
