/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PATH_CHIPS_H
#define FLAM_PATH_CHIPS_H

/* The changes to the picture, one chip each, with a cross that removes it. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Fills a box with the chips of the session's selection and baseline. */
void flam_path_chips_show (GtkBox *chips, FlamSession *session);

G_END_DECLS

#endif
