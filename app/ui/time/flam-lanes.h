/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LANES_H
#define FLAM_LANES_H

/* The counters, other events and marks of a capture over time, below the
 * overview and as wide as it: a lane for each counter that the overview itself
 * does not draw, and for each event that is counted beside the selected
 * measure, on its own scale, and one for all marks. The chart has those that
 * have no room here. It takes a reference to the timeline. */

#include "flam-core-picture.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_LANES (flam_lanes_get_type ())
G_DECLARE_FINAL_TYPE (FlamLanes, flam_lanes, FLAM, LANES, GtkWidget)

/* NULL: none. It is hidden without lanes. */
void flam_lanes_set_timeline (FlamLanes *lanes, FlamTimeline *timeline);

G_END_DECLS

#endif
