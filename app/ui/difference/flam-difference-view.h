/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DIFFERENCE_VIEW_H
#define FLAM_DIFFERENCE_VIEW_H

/* The changes against the session's baseline: a flame graph in red and blue,
 * the functions in a table, and a text for what neither can show. */

#include "flam-table-page.h"

G_BEGIN_DECLS

#define FLAM_TYPE_DIFFERENCE_VIEW (flam_difference_view_get_type ())
G_DECLARE_FINAL_TYPE (FlamDifferenceView,
                      flam_difference_view,
                      FLAM,
                      DIFFERENCE_VIEW,
                      FlamTablePage)

G_END_DECLS

#endif
