/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* A window: the header bar and its actions, which are about the tab in front,
 * and the tabs. */

#include "flam-tab.h"

G_BEGIN_DECLS

#define FLAM_TYPE_WINDOW (flam_window_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamWindow, flam_window, FLAM, WINDOW, AdwApplicationWindow)

/* Without a tab: one comes with what is opened, or is moved there. */
FlamWindow *flam_window_new (GtkApplication *application);

/* The tab in front; NULL: there is none yet. */
FlamTab *flam_window_get_tab (FlamWindow *window);
/* The tab in front where it is vacant, or else a new one, which is in front
 * then. */
FlamTab *flam_window_vacant_tab (FlamWindow *window);
AdwTabView *flam_window_get_tabs (FlamWindow *window);
AdwTabBar *flam_window_get_tab_bar (FlamWindow *window);

/* Says on the tab in front what has come of something. */
void flam_window_toast (FlamWindow *window, const char *message);

/* One of the tabs is no longer what it was. */
void flam_window_update (FlamWindow *window);

G_END_DECLS
