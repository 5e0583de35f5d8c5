/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DIFFERENCE_EXPORT_H
#define FLAM_DIFFERENCE_EXPORT_H

/* A comparison as a file: a page, a picture or folded stacks of two columns,
 * depending on the suffix that the user chooses. */

#include "flam-comparison.h"
#include "flam-core-picture.h"

#include <gtk/gtk.h>

G_BEGIN_DECLS

/* Opens a file chooser, and reports the result in the window. `before` and
 * `now` are the names of the two sides. */
void flam_difference_export (GtkWindow *window,
                             FlamComparison *comparison,
                             const char *before,
                             const char *now,
                             FlamPaletteMode colors);

G_END_DECLS

#endif
