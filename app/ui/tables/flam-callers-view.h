/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The callers of a function, and its callees: the callers' flame graph above,
 * the callees' below, or both as tables. The function is the current frame's;
 * activating another one in this view makes that the middle. */

#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_CALLERS_VIEW (flam_callers_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamCallersView, flam_callers_view, FLAM, CALLERS_VIEW, FlamPage)

G_END_DECLS
