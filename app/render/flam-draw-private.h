/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What flam-draw.c (trees) and flam-draw-chart.c share. */

#include "flam-draw.h"
#include "flam-label.h"

G_BEGIN_DECLS

struct _FlamDraw
{
  PangoContext *context; /* a reference */
  PangoFontDescription *font;
  FlamLabels *labels;
  FlamProfile *profile; /* of which the labels are kept */
  FlamGlyphs glyphs[FLAM_N_COLOR_STATES];
};

void flam_draw_know_names_of (FlamDraw *draw, FlamProfile *profile);

/* Adds a name, in the middle of a row that is `y` .. `y` + `height`, between
 * two edges. */
void flam_draw_add_label (FlamDraw *draw,
                          FlamColorState state,
                          const char *name,
                          double left,
                          double right,
                          double y,
                          double height);

G_END_DECLS
