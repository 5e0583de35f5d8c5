/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_UNRESOLVED_BAR_H
#define FLAM_UNRESOLVED_BAR_H

/* A banner when much of a picture has no names: because programs are not on
 * this computer (it then asks for their folder), because their debug symbols
 * are missing, or because the runtime of a language cannot be read (it then
 * offers a recording in which the program names its functions). */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_UNRESOLVED_BAR (flam_unresolved_bar_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamUnresolvedBar, flam_unresolved_bar, FLAM, UNRESOLVED_BAR, GtkWidget)

/* Call once. */
void flam_unresolved_bar_set_session (FlamUnresolvedBar *bar,
                                      FlamSession *session);

G_END_DECLS

#endif
