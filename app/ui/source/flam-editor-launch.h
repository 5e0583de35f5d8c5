/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_EDITOR_LAUNCH_H
#define FLAM_EDITOR_LAUNCH_H

/* Opens a source file in the editor of the preferences, of the environment or
 * of the desktop; explains what to do if none of them can be started. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

void flam_editor_open (GtkWidget *widget, const char *path, guint line);

G_END_DECLS

#endif
