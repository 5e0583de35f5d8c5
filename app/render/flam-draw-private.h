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

/* The pixels of an image, from an origin on. */
typedef struct
{
  guint32 *pixels;
  gsize stride;      /* pixels */
  int width, height; /* device pixels */
  double scale;      /* device pixels a pixel */
} FlamPixels;

/* Those of the image that `cr` draws to, from its origin on and no more than a
 * width and height; FALSE when they cannot be written one by one. */
gboolean flam_draw_find_pixels (cairo_t *cr,
                                double width,
                                double height,
                                FlamPixels *found);

/* States and strips are runs: nothing parts them. */
static inline gboolean
flam_draw_chart_is_run (const FlamChartBox *box)
{
  return (box->flags & (FLAM_CHART_BOX_STATE | FLAM_CHART_BOX_STRIP)) != 0;
}

/* Of a box as it is drawn. */
static inline double
flam_draw_chart_box_width (const FlamChartBox *box)
{
  double gap =
      box->width > FLAM_DRAW_PLAIN && !flam_draw_chart_is_run (box) ? 1 : 0;

  return MAX (box->width - gap, 1);
}

/* The boxes of a chart's layout on a background that is there; `colors` is one
 * a box. FALSE when the surface is not one that it can write to. */
gboolean flam_draw_chart_boxes_as_pixels (cairo_t *cr,
                                          const FlamChartLayout *layout,
                                          const FlamColor *colors);

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
