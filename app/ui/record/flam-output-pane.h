/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_OUTPUT_PANE_H
#define FLAM_OUTPUT_PANE_H

/* The output of a recording's target, updated while it is printed, and a field
 * for its input. The pane appears by itself when the program first waits for a
 * line.
 *
 * Property "has-content": there is text, or input can be given. */

#include "flam-recording.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_OUTPUT_PANE (flam_output_pane_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamOutputPane, flam_output_pane, FLAM, OUTPUT_PANE, GtkWidget)

/* Begins empty; its text is kept after the recording has ended. */
void flam_output_pane_set_recording (FlamOutputPane *pane,
                                     FlamRecording *recording);
/* Shows what was printed since the last update. This also happens automatically
 * a few times per second. */
void flam_output_pane_update (FlamOutputPane *pane);
gboolean flam_output_pane_has_text (FlamOutputPane *pane);

G_END_DECLS

#endif
