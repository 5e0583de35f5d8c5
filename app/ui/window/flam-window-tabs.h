/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The tabs of a window: new ones, closing, dragging out, what stands on them.
 *
 *   win.new-tab            with the start page
 *   win.close-tab          the last one closes the window
 *   win.close-other-tabs
 *   win.move-tab           into a window of its own
 *   win.reopen-tabs        those of the window that was closed last */

#include "flam-window.h"

G_BEGIN_DECLS

void flam_window_tabs_install (FlamWindow *window);
/* A new tab in front. */
FlamTab *flam_window_tabs_add (FlamWindow *window);
/* Brings the tab that has this very file to the front, and the window with it;
 * or the tab of that number. */
gboolean flam_window_tabs_show_file (FlamWindow *window, GFile *file);
gboolean flam_window_tabs_show_number (FlamWindow *window, guint number);
/* The window goes: recordings end, and what is open is kept for the start page
 * to offer. */
void flam_window_tabs_stop (FlamWindow *window);

G_END_DECLS
