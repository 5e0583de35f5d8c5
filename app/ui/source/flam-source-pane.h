/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SOURCE_PANE_H
#define FLAM_SOURCE_PANE_H

/* The source of the current frame, line by line, with the cost of each line. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_SOURCE_PANE (flam_source_pane_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamSourcePane, flam_source_pane, FLAM, SOURCE_PANE, GtkWidget)

void flam_source_pane_set_session (FlamSourcePane *pane, FlamSession *session);

G_END_DECLS

#endif
