/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The list of keyboard shortcuts, described by help-overlay.ui: a dialog where
 * libadwaita has one for them (1.8), else GTK's window. Either is made when it
 * is shown: GTK would make its own for every window when that opens, a twelfth
 * of the program's start, from a resource of the name that it knows. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

void flam_shortcuts_show (GtkWindow *parent);

G_END_DECLS
