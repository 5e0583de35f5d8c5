/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SEARCH_BAR_H
#define FLAM_SEARCH_BAR_H

/* An entry for names of functions, with the share of the picture that matches,
 * and buttons to go from match to match. Emits "closed" when it goes. */

#include "flam-graph-view.h"

G_BEGIN_DECLS

#define FLAM_TYPE_SEARCH_BAR (flam_search_bar_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamSearchBar, flam_search_bar, FLAM, SEARCH_BAR, GtkWidget)

/* Call once. */
void flam_search_bar_set_session (FlamSearchBar *bar,
                                  FlamSession *session,
                                  FlamGraphView *graph);
/* Makes it the source of the action group, with "search-mode-enabled" while it
 * is shown. */
void flam_search_bar_bind (FlamSearchBar *bar, GBindingGroup *group);
void flam_search_bar_set_narrow (FlamSearchBar *bar, gboolean narrow);
void flam_search_bar_start (FlamSearchBar *bar);
/* The height that it covers once it has slid in; 0: it is closed. The signal
 * "height-changed" follows it. */
int flam_search_bar_get_height (FlamSearchBar *bar);
void flam_search_bar_next (FlamSearchBar *bar, gboolean backward);

G_END_DECLS

#endif
