/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_WRAP_LAYOUT_H
#define FLAM_WRAP_LAYOUT_H

/* Children side by side at their natural widths, in as many lines as they need,
 * from the side where the language's text begins. Those that expand share what
 * a line has left. */

#include <gtk/gtk.h>

G_BEGIN_DECLS

#define FLAM_TYPE_WRAP_LAYOUT (flam_wrap_layout_get_type ())
G_DECLARE_FINAL_TYPE (
    FlamWrapLayout, flam_wrap_layout, FLAM, WRAP_LAYOUT, GtkLayoutManager)

G_END_DECLS

#endif
