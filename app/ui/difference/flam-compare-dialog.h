/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COMPARE_DIALOG_H
#define FLAM_COMPARE_DIALOG_H

/* The one dialog from which a comparison starts: with a file, what another tab
 * of the window shows, a recent capture, or a part of the capture itself (the
 * selected range or threads, other threads). */

#include "flam-window.h"

G_BEGIN_DECLS

/* Does nothing while the tab in front shows no capture. */
void flam_compare_dialog_present (FlamWindow *window);

/* Makes the selected time range or, without one, the selected threads the
 * baseline. FALSE: neither is selected. */
gboolean flam_compare_set_selection (FlamSession *session);

G_END_DECLS

#endif
