/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Who calls a function, and what it calls: the callers' flame graph above, the
 * callees' below, or both as tables. The function is the current frame's;
 * activating another one in here makes that the middle. */

#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_CALLERS_VIEW (flam_callers_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamCallersView, flam_callers_view, FLAM, CALLERS_VIEW, FlamPage)

G_END_DECLS
