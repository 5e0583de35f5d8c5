/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PAGE_BAR_H
#define FLAM_PAGE_BAR_H

/* The range of visible functions in a sunburst that does not fit all, and
 * buttons for the previous and next page. It is only visible then: an overlay
 * for a corner that the circle leaves free. A treemap has a box for the rest,
 * and a flame graph pans. */

#include "flam-flame-graph.h"

G_BEGIN_DECLS

#define FLAM_TYPE_PAGE_BAR (flam_page_bar_get_type ())
G_DECLARE_FINAL_TYPE (FlamPageBar, flam_page_bar, FLAM, PAGE_BAR, GtkBox)

GtkWidget *flam_page_bar_new (FlamFlameGraph *graph);

G_END_DECLS

#endif
