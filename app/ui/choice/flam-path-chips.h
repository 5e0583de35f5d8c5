/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The changes to the picture, a chip for each, removed by its cross. */

#include "flam-session.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Fills a box with those of the session's selection and baseline. */
void flam_path_chips_show (GtkBox *chips, FlamSession *session);

G_END_DECLS
