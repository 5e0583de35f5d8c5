/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_START_PAGE_H
#define FLAM_START_PAGE_H

/* The content of a window without a capture: recent captures with a picture of
 * each, Open, Record, and the supported formats. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_START_PAGE (flam_start_page_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamStartPage, flam_start_page, FLAM, START_PAGE, GtkWidget)

G_END_DECLS

#endif
