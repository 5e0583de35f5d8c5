/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Everything that is shown of an open capture: the bar that says what is
 * shown, the overview of time, the path, the pages, the source, the status. A
 * new view is a widget with a "session" property and one row in
 * flam-page-table.c. */

#include "flam-search-bar.h"

G_BEGIN_DECLS

#define FLAM_TYPE_CAPTURE_VIEW (flam_capture_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamCaptureView, flam_capture_view, FLAM, CAPTURE_VIEW, GtkWidget)

/* Once. */
void flam_capture_view_set_session (FlamCaptureView *view,
                                    FlamSession *session);
/* Goes with the view. */
FlamSearchBar *flam_capture_view_get_search (FlamCaptureView *view);
/* A capture was opened: the first page, the keyboard in it. */
void flam_capture_view_begin (FlamCaptureView *view);
void flam_capture_view_set_narrow (FlamCaptureView *view, gboolean narrow);
/* No room for more than three pages beside one another. */
void flam_capture_view_set_tight (FlamCaptureView *view, gboolean tight);
void flam_capture_view_show_page (FlamCaptureView *view, int page);
/* The page of the help about the page that is shown. */
const char *flam_capture_view_get_topic (FlamCaptureView *view);
void flam_capture_view_toggle_invert (FlamCaptureView *view);
void flam_capture_view_choose_threads (FlamCaptureView *view);

/* Through the places that were zoomed to. */
void flam_capture_view_travel (FlamCaptureView *view, gboolean forward);

G_END_DECLS
