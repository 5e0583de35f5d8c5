/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DRAW_PRIVATE_H
#define FLAM_DRAW_PRIVATE_H

/* Shared by flam-draw-layout.c (trees), flam-draw-sunburst.c, flam-draw-
 * treemap.c and flam-draw-chart.c. */

#include "flam-draw.h"
#include "flam-label.h"

G_BEGIN_DECLS

struct _FlamDraw
{
  PangoContext *context; /* a reference */
  PangoFontDescription *font;
  FlamLabels *labels;
  FlamProfile *profile; /* limit of the kept labels */
  FlamGlyphs glyphs[FLAM_N_COLOR_STATES];
  GHashTable *outlines; /* of rotated glyphs: flam-draw-sunburst.c */
};

void flam_draw_set_profile (FlamDraw *draw, FlamProfile *profile);

/* Adds a name, centered in a row from `y` to `y` + `height`, between two
 * edges. */
void flam_draw_add_label (FlamDraw *draw,
                          FlamColorState state,
                          const char *name,
                          double left,
                          double right,
                          double y,
                          double height);

/* Draws the labels that were added. */
void
flam_draw_show_labels (FlamDraw *draw, cairo_t *cr, const FlamPalette *palette);

/* The name of a box, and its color regardless of other boxes. */
const char *flam_draw_name_of (const FlamScene *scene, const FlamBox *box);
FlamColorState flam_draw_state_of (const FlamScene *scene, const FlamBox *box);
FlamColor flam_draw_color_of (const FlamScene *scene, const FlamBox *box);

/* The outline of a box in a treemap, rounded like other boxes. */
void flam_draw_rounded (cairo_t *cr, const FlamRect *rect);

/* The pixels of an image, beginning at an origin. */
typedef struct
{
  guint32 *pixels;
  gsize stride;      /* pixels */
  int width, height; /* device pixels */
  double scale;      /* device pixels per pixel */
} FlamPixels;

/* The pixels of the image that `cr` draws to, from its origin on, at most
 * `width` by `height` of them; FALSE when they cannot be written directly. */
gboolean flam_draw_find_pixels (cairo_t *cr,
                                double width,
                                double height,
                                FlamPixels *found);

/* States and strips are contiguous runs, without gaps. */
static inline gboolean
flam_draw_chart_is_run (const FlamChartBox *box)
{
  return (box->flags & (FLAM_CHART_BOX_STATE | FLAM_CHART_BOX_STRIP)) != 0;
}

/* The drawn height of a box. */
static inline double
flam_draw_chart_box_width (const FlamChartBox *box)
{
  double gap =
      box->width > FLAM_DRAW_PLAIN && !flam_draw_chart_is_run (box) ? 1 : 0;

  return MAX (box->width - gap, 1);
}

/* The boxes of a chart's layout on an existing background; `colors` is one for
 * each box. FALSE when the surface cannot be written to directly. */
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

#endif
