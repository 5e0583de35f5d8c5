/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WINDOW_TABS_H
#define FLAM_WINDOW_TABS_H

/* The tabs of a window: opening, closing and detaching them, and their titles.
 *
 *   win.new-tab            with the start page
 *   win.close-tab          closing the last one closes the window
 *   win.close-other-tabs
 *   win.move-tab           into a window of its own
 *   win.reopen-tabs        those of the window that was closed last */

#include "flam-window.h"

G_BEGIN_DECLS

void flam_window_tabs_install (FlamWindow *window);
/* Adds a new tab in front. */
FlamTab *flam_window_tabs_add (FlamWindow *window);
/* Brings the tab with this file to the front, and its window, too; or the tab
 * with that number. */
gboolean flam_window_tabs_show_file (FlamWindow *window, GFile *file);
gboolean flam_window_tabs_show_number (FlamWindow *window, guint number);
/* To be called when the window closes: recordings end, and the open captures
 * are stored, to be offered on the start page. FALSE: a recording is running,
 * and the window is closed later if the user agrees. */
gboolean flam_window_tabs_stop (FlamWindow *window);
/* Closes the window: its recordings end without a question. */
void flam_window_tabs_close (FlamWindow *window);

G_END_DECLS

#endif
