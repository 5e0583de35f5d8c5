/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_DRAW_H
#define FLAM_DRAW_H

/* Boxes -> picture. The window, PNG and PDF all use this.
 *
 * On an image surface rows are filled as lines of pixels: a row's boxes all
 * have the same height, so the first line is composed box by box and the
 * others are copies of it; 100,000 boxes cost what 1,000 do. On any other
 * surface they are paths, one for each color. The pictures are the same but
 * for the rounding of positions to pixels. Sunbursts and treemaps are paths
 * anywhere. */

#include <pango/pangocairo.h>

#include "flam-core-picture.h"

G_BEGIN_DECLS

typedef struct _FlamDraw FlamDraw;

/* `font` NULL: the context's own. */
FlamDraw *flam_draw_new (PangoContext *context,
                         const PangoFontDescription *font);
void flam_draw_free (FlamDraw *draw);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamDraw, flam_draw_free)

/* The row height for the font: text, a pixel or two above and below, the
 * gap. */
double flam_draw_row_height (const FlamDraw *draw);
/* Whether all labels so far stayed within rows of that height; letters with
 * many accents may exceed it. */
gboolean flam_draw_is_in_rows (const FlamDraw *draw);

typedef struct
{
  const FlamTree *tree;
  FlamPalette *palette;
  const guint8 *matched; /* one byte per node: all others are dimmed; or NULL */
  gboolean bare;         /* no labels */
  const char *root;      /* the label of the first box; NULL: its name */
} FlamScene;

/* In the viewport's shape. Fills the viewport, including the background, at
 * the origin of `cr`. An image surface must have the device scale of the
 * screen set, and no other transformation in `cr` but a translation by whole
 * pixels. */
void flam_draw_layout (FlamDraw *draw,
                       cairo_t *cr,
                       const FlamLayout *layout,
                       const FlamScene *scene);

/* Adds the outline of a sunburst's box, as it is drawn, to the path. */
void flam_draw_append_sector (cairo_t *cr,
                              const FlamLayout *layout,
                              const FlamBox *box);

/* --- charts --------------------------------------------------------------- */

#define FLAM_DRAW_RULER 18.0 /* height of the times along a chart */

typedef struct
{
  const FlamChart *chart;
  const FlamChartNodes *nodes;
  FlamPalette *palette;
  gboolean dark;
  guint hovered, selected; /* spans that are outlined; G_MAXUINT: none */
} FlamChartScene;

/* The ruler and the view below it, including the background, at the origin. */
void flam_draw_chart (FlamDraw *draw,
                      cairo_t *cr,
                      const FlamChartLayout *layout,
                      const FlamChartScene *scene);

static inline void
flam_draw_set_source (cairo_t *cr, FlamColor color)
{
  cairo_set_source_rgb (cr,
                        (color >> 16 & 255) / 255.0,
                        (color >> 8 & 255) / 255.0,
                        (color & 255) / 255.0);
}

/* Radius of the boxes' corners and the gap between boxes, in pixels. Boxes
 * narrower than FLAM_DRAW_PLAIN and rows lower than FLAM_DRAW_LOW have
 * neither. */
#define FLAM_DRAW_RADIUS 2.0
#define FLAM_DRAW_GAP 1.0
#define FLAM_DRAW_PLAIN 4.0
#define FLAM_DRAW_LOW 8.0

/* The two ways to fill boxes; `colors` is one for each box. pixels() is FALSE
 * when the surface cannot be written to directly. */
gboolean flam_draw_boxes_as_pixels (cairo_t *cr,
                                    const FlamLayout *layout,
                                    const FlamColor *colors,
                                    FlamColor background);
void flam_draw_boxes_as_paths (cairo_t *cr,
                               const FlamLayout *layout,
                               const FlamColor *colors,
                               FlamColor background);

G_END_DECLS

#endif
