/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_CAPTURE_VIEW_H
#define FLAM_CAPTURE_VIEW_H

/* Everything that is shown of an open capture: the bar with the selection, the
 * time overview, the path, the pages, the source, the status. A new view is a
 * widget with a "session" property and one row in flam-page-table.c. */

#include "flam-search-bar.h"

G_BEGIN_DECLS

#define FLAM_TYPE_CAPTURE_VIEW (flam_capture_view_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamCaptureView, flam_capture_view, FLAM, CAPTURE_VIEW, GtkWidget)

/* What the window's width leaves room for. All but `small` also depend on the
 * size of the text. */
typedef struct
{
  gboolean tight;   /* for the buttons of three pages alone */
  gboolean narrow;  /* a menu replaces those buttons */
  gboolean stacked; /* measure and threads are below that menu */
  gboolean small;   /* the source is below the pages */
} FlamRoom;

/* Call once. */
void flam_capture_view_set_session (FlamCaptureView *view,
                                    FlamSession *session);
/* Owned by the view. */
FlamSearchBar *flam_capture_view_get_search (FlamCaptureView *view);
/* Call after a capture was opened: shows the first page and focuses it. */
void flam_capture_view_begin (FlamCaptureView *view);
void flam_capture_view_set_room (FlamCaptureView *view, FlamRoom room);
void flam_capture_view_show_page (FlamCaptureView *view, int page);
/* The help topic of the visible page. */
const char *flam_capture_view_get_topic (FlamCaptureView *view);
void flam_capture_view_toggle_invert (FlamCaptureView *view);
void flam_capture_view_choose_threads (FlamCaptureView *view);

/* Goes back and forward through the zoom history. */
void flam_capture_view_travel (FlamCaptureView *view, gboolean forward);

G_END_DECLS

#endif
