/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_HELP_H
#define FLAM_HELP_H

/* The help: pages of Mallard for Yelp, and the same text as one HTML page for
 * any browser (see data/help). Both are installed locally. A topic is the name
 * of a page. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Opens Yelp if it is installed and finds the pages, otherwise the browser;
 * explains what to do if neither can be started. */
void flam_help_show (GtkWindow *parent, const char *topic);
/* F1 within `widget` opens `topic`. */
void flam_help_bind (GtkWidget *widget, const char *topic);

G_END_DECLS

#endif
