/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Asks for what functions are called, says how much of the picture matches,
 * and goes from match to match. */

#include "flam-graph-view.h"

G_BEGIN_DECLS

#define FLAM_TYPE_SEARCH_BAR (flam_search_bar_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamSearchBar, flam_search_bar, FLAM, SEARCH_BAR, GtkWidget)

/* Once. */
void flam_search_bar_set_session (FlamSearchBar *bar,
                                  FlamSession *session,
                                  FlamGraphView *graph);
/* Makes it the group's source: "search-mode-enabled" as long as it is seen. */
void flam_search_bar_bind (FlamSearchBar *bar, GBindingGroup *group);
void flam_search_bar_set_narrow (FlamSearchBar *bar, gboolean narrow);
void flam_search_bar_start (FlamSearchBar *bar);
void flam_search_bar_next (FlamSearchBar *bar, gboolean backward);

G_END_DECLS
