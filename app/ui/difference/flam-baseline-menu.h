/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What else a capture can be compared with than a file that is searched for.
 *
 *   win.compare-tab      what another tab of the window shows, by its place
 *   win.compare-uri      a recent capture
 *   win.compare-threads  lists the threads, for one or all others to be chosen
 */

#include "flam-window.h"

G_BEGIN_DECLS

void flam_baseline_menu_install (FlamWindow *window);
/* Only a capture can be compared with something. */
void flam_baseline_menu_enable (FlamWindow *window, gboolean capture);
/* Fills the menu anew: tabs and recent captures come and go. */
void flam_baseline_menu_update (FlamWindow *window, GMenu *menu);

/* The threads that are selected, or the range of time, as the baseline. FALSE:
 * neither is. */
gboolean flam_baseline_menu_set_selection (FlamSession *session);

G_END_DECLS
