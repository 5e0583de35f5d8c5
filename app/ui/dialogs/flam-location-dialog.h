/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LOCATION_DIALOG_H
#define FLAM_LOCATION_DIALOG_H

/* Opens a capture of a server, or sends one there: an entry for its URL, one
 * for a token, and the latest URLs. The network is used once the user opens or
 * sends one, and until the dialog is closed. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

void flam_location_dialog_present (GtkWindow *parent);
/* Of the session's view as it is when the user sends it. */
void flam_location_dialog_present_to_send (GtkWindow *parent,
                                           FlamSession *session);

G_END_DECLS

#endif
