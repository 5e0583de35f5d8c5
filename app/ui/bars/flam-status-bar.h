/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_STATUS_BAR_H
#define FLAM_STATUS_BAR_H

/* The bottom line, or two where it is narrow: the frame under the pointer, else
 * the current one; the share of the picture that is too small to draw; the
 * legend of the colors. */

#include "flam-graph-view.h"

G_BEGIN_DECLS

#define FLAM_TYPE_STATUS_BAR (flam_status_bar_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamStatusBar, flam_status_bar, FLAM, STATUS_BAR, GtkWidget)

void flam_status_bar_set_session (FlamStatusBar *bar,
                                  FlamSession *session,
                                  FlamGraphView *graph_view);
/* Whether the flame graph's colors are the ones shown. */
void flam_status_bar_set_legend (FlamStatusBar *self, gboolean shown);
/* Gives the legend a line of its own. */
void flam_status_bar_set_narrow (FlamStatusBar *bar, gboolean narrow);

G_END_DECLS

#endif
