/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_STATE_MENU_H
#define FLAM_STATE_MENU_H

/* The states of a wall capture that are shown: running, waiting, or some kinds
 * of waiting. Hidden if a capture only has the state "running". */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_STATE_MENU (flam_state_menu_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamStateMenu, flam_state_menu, FLAM, STATE_MENU, GtkWidget)

void flam_state_menu_set_session (FlamStateMenu *menu, FlamSession *session);

G_END_DECLS

#endif
