/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DOWNLOAD_BAR_H
#define FLAM_DOWNLOAD_BAR_H

/* Offers to download missing debug information of hot modules, and shows the
 * progress and the result. It is visible only then. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_DOWNLOAD_BAR (flam_download_bar_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamDownloadBar, flam_download_bar, FLAM, DOWNLOAD_BAR, GtkWidget)

void flam_download_bar_set_session (FlamDownloadBar *bar, FlamSession *session);

G_END_DECLS

#endif
