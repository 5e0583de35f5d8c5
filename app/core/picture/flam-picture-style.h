/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_PICTURE_STYLE_H
#define FLAM_PICTURE_STYLE_H

/* The options of a picture of a tree, as a value that SVG, PNG, PDF, the page,
 * the command line and the window's dialog share. 0 or NULL means the default
 * for the kind of picture. */

#include <math.h>

#include "flam-layout.h"
#include "flam-palette.h"

G_BEGIN_DECLS

typedef struct
{
  const char *title; /* NULL: none */
  const char *subtitle;
  const char *notes;      /* in the document, but not visible in the picture */
  const char *count_name; /* the name of what plain numbers count; NULL: amounts
                             in readable form */
  double width;           /* pixels (PDF: points): 1200 */
  double row_height;      /* flam_picture_row_height() */
  double min_width;       /* narrower boxes are not drawn: SVG 0.1, else 0.5 */
  double font_size;       /* pixels: 12 */
  gboolean chart;         /* calls in time, a lane for each thread, and no tree:
                             it has neither direction nor order */
  FlamShape shape;        /* only a flame graph has a direction; a treemap is
                             ordered by weight */
  FlamDirection direction;
  FlamTreeOrder order;
  FlamColors colors;

  /* For SVG, as in flamegraph.pl. */
  const char *background; /* yellow, blue, green, grey or #rrggbb; NULL: that of
                             the palette */
  const char *encoding;   /* of the document; NULL: UTF-8 */
  const char *font;       /* a family; NULL: Verdana or a similar one */
  double font_width;      /* of a character, relative to the font size: 0.63 */
  const char *name_type;  /* before names in the details: "Function:" */
  double factor;          /* for amounts: 1 */
  double total;           /* what the whole width stands for, if larger */
  const struct _FlamNameAttributes *attributes; /* of functions, or NULL */
} FlamPictureStyle;

/* The height of a row of boxes and the gap below them, for text of this height;
 * 0: the font is not measured. SVG and the dumps use that of flamegraph.pl. */
static inline double
flam_picture_row_height (double text)
{
  return text > 0 ? ceil (text) + 6 : 16;
}

/* The height of shapes that fill the available space. */
static inline double
flam_picture_style_height (FlamShape shape, double width)
{
  return shape == FLAM_SHAPE_SUNBURST ? width : width * 0.6;
}

/* The options that apply to a kind of picture; others are refused. */
typedef enum
{
  FLAM_PICTURE_STYLE_TITLE = 1 << 0,
  FLAM_PICTURE_STYLE_SUBTITLE = 1 << 1,
  FLAM_PICTURE_STYLE_NOTES = 1 << 2,
  FLAM_PICTURE_STYLE_COUNT_NAME = 1 << 3,
  FLAM_PICTURE_STYLE_WIDTH = 1 << 4,
  FLAM_PICTURE_STYLE_ROW_HEIGHT = 1 << 5,
  FLAM_PICTURE_STYLE_MIN_WIDTH = 1 << 6,
  FLAM_PICTURE_STYLE_FONT_SIZE = 1 << 7,
  FLAM_PICTURE_STYLE_DIRECTION = 1 << 8,
  FLAM_PICTURE_STYLE_ORDER = 1 << 9,
  FLAM_PICTURE_STYLE_COLORS = 1 << 10,
  FLAM_PICTURE_STYLE_NEGATE = 1 << 11,
  FLAM_PICTURE_STYLE_CHART = 1 << 12,
  FLAM_PICTURE_STYLE_SHAPE = 1 << 13,
  FLAM_PICTURE_STYLE_PAPER = 1
                             << 14, /* background, encoding, font, name type */
  FLAM_PICTURE_STYLE_BOXES = 1 << 15, /* factor, total, attributes */
  FLAM_PICTURE_STYLE_ALL =
      FLAM_PICTURE_STYLE_TITLE | FLAM_PICTURE_STYLE_SUBTITLE |
      FLAM_PICTURE_STYLE_WIDTH | FLAM_PICTURE_STYLE_ROW_HEIGHT |
      FLAM_PICTURE_STYLE_MIN_WIDTH | FLAM_PICTURE_STYLE_FONT_SIZE |
      FLAM_PICTURE_STYLE_DIRECTION | FLAM_PICTURE_STYLE_ORDER |
      FLAM_PICTURE_STYLE_COLORS,
} FlamPictureStylePart;

G_END_DECLS

#endif
