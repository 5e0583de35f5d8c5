/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CALLERS_VIEW_H
#define FLAM_CALLERS_VIEW_H

/* The callers and callees of a function, as tables or as flame graphs, the
 * callers' above and the callees' below; or its places, the source lines that
 * have its cost. It begins with the current frame's function; activating
 * another one in this view moves that to the middle, which emits "centered". */

#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_CALLERS_VIEW (flam_callers_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamCallersView, flam_callers_view, FLAM, CALLERS_VIEW, FlamPage)

/* Moves the current frame's function to the middle. */
void flam_callers_view_show_current (FlamCallersView *view);
/* Empties it: a function was chosen that has no frame in the current view data,
 * such as samples without a stack. */
void flam_callers_view_show_none (FlamCallersView *view);
/* Whether the current frame is being selected in this view, which keeps its
 * middle. */
gboolean flam_callers_view_is_choosing (FlamCallersView *view);
/* It is wider than high: tables are side by side. */
void flam_callers_view_set_wide (FlamCallersView *view, gboolean wide);
/* The middle's figures beside its name. */
void flam_callers_view_show_figures (FlamCallersView *view, gboolean shown);

G_END_DECLS

#endif
