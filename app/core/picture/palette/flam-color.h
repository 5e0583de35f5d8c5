/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_COLOR_H
#define FLAM_COLOR_H

/* Colors and their arithmetic. */

#include <glib.h>

G_BEGIN_DECLS

/* 0xRRGGBB */
typedef guint32 FlamColor;

/* In OKLCH, equal numbers look equally light: lightness 0..1, chroma 0 (grey)
 * to about 0.3, hue in degrees. Colors that the screen cannot show lose
 * chroma. */
FlamColor flam_color_from_oklch (double lightness, double chroma, double hue);
/* The contrast of WCAG: 1 for equal colors, 21 for black and white. */
double flam_color_contrast (FlamColor a, FlamColor b);
/* The color that is `share` of the way from `a` to `b`. */
FlamColor flam_color_mix (FlamColor a, FlamColor b, double share);

G_END_DECLS

#endif
