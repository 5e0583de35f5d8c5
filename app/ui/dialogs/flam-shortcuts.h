/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SHORTCUTS_H
#define FLAM_SHORTCUTS_H

/* The list of keyboard shortcuts, described by help-overlay.ui: libadwaita's
 * dialog if it has one (1.8), else GTK's window. Either is created when it is
 * shown. GTK would create its own for every window, from a resource with a
 * fixed name, which takes a twelfth of the program's start. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

void flam_shortcuts_show (GtkWindow *parent);

G_END_DECLS

#endif
