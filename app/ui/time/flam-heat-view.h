/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* FlameScope's heat map: seconds across, the offset within them upwards; two
 * clicks select a time range. */

#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_HEAT_VIEW (flam_heat_view_get_type ())
G_DECLARE_FINAL_TYPE (FlamHeatView, flam_heat_view, FLAM, HEAT_VIEW, FlamPage)

G_END_DECLS
