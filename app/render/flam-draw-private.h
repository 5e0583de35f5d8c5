/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What flam-draw-layout.c (trees), flam-draw-sunburst.c, flam-draw-treemap.c
 * and flam-draw-chart.c share. */

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
  GHashTable *outlines; /* of glyphs that are turned: flam-draw-sunburst.c */
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

/* Shows the labels that were added. */
void
flam_draw_show_labels (FlamDraw *draw, cairo_t *cr, const FlamPalette *palette);

/* What a box is called, and how it is colored where it stands alone. */
const char *flam_draw_name_of (const FlamScene *scene, const FlamBox *box);
FlamColorState flam_draw_state_of (const FlamScene *scene, const FlamBox *box);
FlamColor flam_draw_color_of (const FlamScene *scene, const FlamBox *box);

/* A box of a treemap, as the others are rounded. */
void flam_draw_rounded (cairo_t *cr, const FlamRect *rect);

/* The boxes of the other shapes, and their labels, on a background. */
void flam_draw_sunburst (FlamDraw *draw,
                         cairo_t *cr,
                         const FlamLayout *layout,
                         const FlamScene *scene);
void flam_draw_treemap (FlamDraw *draw,
                        cairo_t *cr,
                        const FlamLayout *layout,
                        const FlamScene *scene);

G_END_DECLS
