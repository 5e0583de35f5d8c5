/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* Opens a source in the editor that the preferences name, or the environment,
 * or the desktop; says what to do when none of them answers. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

void flam_editor_open (GtkWidget *widget, const char *path, guint line);

G_END_DECLS
