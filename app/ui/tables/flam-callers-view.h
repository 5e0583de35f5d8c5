/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The callers and callees of a function: the callers' flame graph above, the
 * callees' below, or both as tables. It begins with the current frame's
 * function; activating another one in this view moves that to the middle. */

#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_CALLERS_VIEW (flam_callers_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamCallersView, flam_callers_view, FLAM, CALLERS_VIEW, FlamPage)

G_END_DECLS
