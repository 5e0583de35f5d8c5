/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PNG_H
#define FLAM_PNG_H

/* PNG of a picture without transparency. Rows of boxes are many pixels high,
 * and most of their lines are equal: each line is stored as the difference from
 * the one above. A third of libpng's CPU time, which tries all filters. */

#include <cairo.h>
#include <glib.h>

/* Appends it. FALSE: there is not enough memory. */
gboolean flam_png_append (cairo_surface_t *surface, GString *out);

#endif
