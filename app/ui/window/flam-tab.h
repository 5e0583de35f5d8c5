/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_TAB_H
#define FLAM_TAB_H

/* One tab, one session: start page, progress, error, the capture, or the
 * history of a folder; and the recording that writes the capture. The window
 * around it shows the properties of the tab in front: see flam-window.h. */

#include "flam-capture-view.h"
#include "flam-recording.h"

#include <adwaita.h>

G_BEGIN_DECLS

#define FLAM_TYPE_TAB (flam_tab_get_type ())
G_DECLARE_FINAL_TYPE (FlamTab, flam_tab, FLAM, TAB, GtkWidget)

FlamTab *flam_tab_new (void);

/* Signal "changed": one of the following has changed. */
const char *flam_tab_get_title (FlamTab *tab);
/* The command line of the recorded program, and the other machine on which it
 * ran; "". g_free. */
char *flam_tab_get_subtitle (FlamTab *tab);
/* Unique among all tabs of this process. */
guint flam_tab_get_number (FlamTab *tab);
/* The help topic of the visible content. */
const char *flam_tab_get_topic (FlamTab *tab);
gboolean flam_tab_shows_capture (FlamTab *tab);
/* Whether it neither shows a capture nor is about to. */
gboolean flam_tab_is_vacant (FlamTab *tab);
gboolean flam_tab_is_busy (FlamTab *tab);
/* NULL: not recording. */
FlamRecording *flam_tab_get_recording (FlamTab *tab);
/* FALSE also while the capture is completed. */
gboolean flam_tab_can_stop (FlamTab *tab);

/* Whether this file or folder is open in it. */
gboolean flam_tab_shows_file (FlamTab *tab, GFile *file);
/* Opens a capture, or the history of the captures in a folder. */
void flam_tab_open (FlamTab *tab, GFile *file);
/* Compares the shown or loading capture with the capture at `path`. */
void flam_tab_compare_with (FlamTab *tab, const char *path);
gboolean flam_tab_shows_history (FlamTab *tab);
/* Reads its capture or folder again. */
void flam_tab_reload (FlamTab *tab);
/* `name`, `envp`: as for flam_recording_start(). */
void flam_tab_record (FlamTab *tab,
                      const FlamRecordOptions *options,
                      const char *name,
                      const char *const *envp);
/* Whether `tab` has a recording that can be repeated. record_again() repeats it
 * in another tab, or in this one if it is vacant. */
gboolean flam_tab_has_recorded (FlamTab *tab);
/* `variables`: as for flam_recording_start_again(). */
void
flam_tab_record_again (FlamTab *tab, FlamTab *recorded, const char *variables);
/* Whether that recording started its program. */
gboolean flam_tab_has_launched (FlamTab *tab);
/* The same for a process that outlived the recorded program. */
void flam_tab_record_left (FlamTab *tab, FlamTab *recorded);
/* Called when the tab is closed: ends a recording, whose capture then becomes a
 * recent one. */
void flam_tab_leave_recording (FlamTab *tab);
/* Stops its current activity and a recording. */
void flam_tab_cancel (FlamTab *tab);
void flam_tab_back_to_start (FlamTab *tab);
void flam_tab_toast (FlamTab *tab, const char *message);

/* Creates the view of a capture while that is read. */
void flam_tab_prepare (FlamTab *tab);

/* These are owned by the tab. */
FlamSession *flam_tab_get_session (FlamTab *tab);
/* NULL: no capture was seen in it yet. */
FlamCaptureView *flam_tab_get_view (FlamTab *tab);
/* The popover of the (i) button. */
GtkWidget *flam_tab_get_capture_quality (FlamTab *tab);

G_END_DECLS

#endif
