/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PATH_BAR_H
#define FLAM_PATH_BAR_H

/* The place in the tree (the path from "All" to the current frame; frames
 * beyond the zoomed one are dimmed) and the changes to the picture (one chip
 * each, with a cross that removes it). */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_PATH_BAR (flam_path_bar_get_type ())
G_DECLARE_FINAL_TYPE (FlamPathBar, flam_path_bar, FLAM, PATH_BAR, GtkWidget)

void flam_path_bar_set_session (FlamPathBar *bar, FlamSession *session);
void flam_path_bar_set_narrow (FlamPathBar *bar, gboolean narrow);

G_END_DECLS

#endif
