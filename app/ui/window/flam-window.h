/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WINDOW_H
#define FLAM_WINDOW_H

/* A window: the header bar and its actions, which apply to the tab in front,
 * and the tabs. */

#include "flam-tab.h"

G_BEGIN_DECLS

#define FLAM_TYPE_WINDOW (flam_window_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamWindow, flam_window, FLAM, WINDOW, AdwApplicationWindow)

/* Without a tab: the caller opens one or moves one there. */
FlamWindow *flam_window_new (GtkApplication *application);

/* The tab in front; NULL: none yet. */
FlamTab *flam_window_get_tab (FlamWindow *window);
/* The tab in front if it is vacant, otherwise a new one, which is then in
 * front. */
FlamTab *flam_window_vacant_tab (FlamWindow *window);
AdwTabView *flam_window_get_tabs (FlamWindow *window);
AdwTabBar *flam_window_get_tab_bar (FlamWindow *window);

/* A new window is presented with what its tab shows, unless that takes long. */
void flam_window_present_ready (FlamWindow *window);

/* Shows a message on the tab in front. */
void flam_window_toast (FlamWindow *window, const char *message);

/* Call when one of the tabs has changed. */
void flam_window_update (FlamWindow *window);

G_END_DECLS

#endif
