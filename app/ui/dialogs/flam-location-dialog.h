/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LOCATION_DIALOG_H
#define FLAM_LOCATION_DIALOG_H

/* Opens a capture of a server: an entry for its URL, one for a token, and the
 * latest URLs. The network is used once the user opens one, and until the
 * dialog is closed. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

void flam_location_dialog_present (GtkWindow *parent);

G_END_DECLS

#endif
