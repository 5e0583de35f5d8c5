/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CHART_PAGE_H
#define FLAM_CHART_PAGE_H

/* The flame chart: every thread's calls in time, and the durations of the
 * chosen function's calls. */

#include "flam-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_CHART_PAGE (flam_chart_page_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamChartPage, flam_chart_page, FLAM, CHART_PAGE, FlamPage)

G_END_DECLS

#endif
