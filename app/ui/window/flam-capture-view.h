/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Everything that is shown of an open capture: the bar with the selection,
 * the overview of time, the path, the pages, the source, the status. A new
 * view is a widget with a "session" property and one row in
 * flam-page-table.c. */

#include "flam-search-bar.h"

G_BEGIN_DECLS

#define FLAM_TYPE_CAPTURE_VIEW (flam_capture_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamCaptureView, flam_capture_view, FLAM, CAPTURE_VIEW, GtkWidget)

/* To be called once. */
void flam_capture_view_set_session (FlamCaptureView *view,
                                    FlamSession *session);
/* Owned by the view. */
FlamSearchBar *flam_capture_view_get_search (FlamCaptureView *view);
/* When a capture was opened: shows the first page, with the focus in it. */
void flam_capture_view_begin (FlamCaptureView *view);
void flam_capture_view_set_narrow (FlamCaptureView *view, gboolean narrow);
/* There is no room for more than three pages side by side. */
void flam_capture_view_set_tight (FlamCaptureView *view, gboolean tight);
void flam_capture_view_show_page (FlamCaptureView *view, int page);
/* The topic of the help about the page that is shown. */
const char *flam_capture_view_get_topic (FlamCaptureView *view);
void flam_capture_view_toggle_invert (FlamCaptureView *view);
void flam_capture_view_choose_threads (FlamCaptureView *view);

/* Goes through the places that were zoomed to. */
void flam_capture_view_travel (FlamCaptureView *view, gboolean forward);

G_END_DECLS
