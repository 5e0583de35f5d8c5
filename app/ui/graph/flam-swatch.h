/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SWATCH_H
#define FLAM_SWATCH_H

/* A small square of a color, for legends. */

#include <gtk/gtk.h>

#include "flam-core-picture.h"

G_BEGIN_DECLS

#define FLAM_TYPE_SWATCH (flam_swatch_get_type ())
G_DECLARE_FINAL_TYPE (FlamSwatch, flam_swatch, FLAM, SWATCH, GtkWidget)

GtkWidget *flam_swatch_new (FlamColor color);
void flam_swatch_set_color (FlamSwatch *swatch, FlamColor color);

G_END_DECLS

#endif
