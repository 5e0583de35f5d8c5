/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_THREAD_LANES_H
#define FLAM_THREAD_LANES_H

/* The activity of each thread over time, below the overview and as wide as it:
 * a lane for each thread, the heaviest first, or for each CPU where the capture
 * has them. A click selects that thread or CPU, and all again. Hidden for a
 * single thread. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_THREAD_LANES (flam_thread_lanes_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamThreadLanes, flam_thread_lanes, FLAM, THREAD_LANES, GtkWidget)

void flam_thread_lanes_set_session (FlamThreadLanes *lanes,
                                    FlamSession *session);

G_END_DECLS

#endif
