/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The baselines of a capture, other than a file from a file chooser.
 *
 *   win.compare-tab      what another tab of the window shows, by its place
 *   win.compare-uri      a recent capture
 *   win.compare-threads  lists the threads, for one or all others to be chosen
 */

#include "flam-window.h"

G_BEGIN_DECLS

void flam_baseline_menu_install (FlamWindow *window);
/* Only a capture can be compared. */
void flam_baseline_menu_enable (FlamWindow *window, gboolean capture);
/* Fills the menu again: tabs and recent captures come and go. */
void flam_baseline_menu_update (FlamWindow *window, GMenu *menu);

/* Makes the selected threads, or the selected time range, the baseline. FALSE:
 * neither is selected. */
gboolean flam_baseline_menu_set_selection (FlamSession *session);

G_END_DECLS
