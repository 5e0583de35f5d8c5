/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DISPLAY_MENU_H
#define FLAM_DISPLAY_MENU_H

/* The menu of how the pages show a capture: shape, root and colors of the
 * graph, and the frames that are hidden. It only contains items that apply to
 * the capture and to the visible page. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Fills the button's menu each time it is opened. Both belong to one view, and
 * live as long as it does. */
void flam_display_menu_install (GtkMenuButton *button, FlamSession *session);

G_END_DECLS

#endif
