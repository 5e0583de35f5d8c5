/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* The options of a picture of a tree, as a value that SVG, PNG, PDF, the page,
 * the command line and the window's dialog share. 0 or NULL means the default
 * for the kind of picture. */

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
  double row_height;      /* SVG: 16; otherwise depends on the font */
  double min_width;       /* narrower boxes are not drawn: SVG 0.1, else 0.5 */
  double font_size;       /* pixels: 12 */
  gboolean chart;         /* calls in time, a lane for each thread, and no tree:
                             it has neither direction nor order */
  FlamShape shape;        /* only a flame graph has a direction; a treemap is
                             ordered by weight */
  FlamDirection direction;
  FlamTreeOrder order;
  FlamColors colors;
} FlamLook;

/* The height of shapes that fill the available space. */
static inline double
flam_look_height (FlamShape shape, double width)
{
  return shape == FLAM_SHAPE_SUNBURST ? width : width * 0.6;
}

/* The options that apply to a kind of picture; others are refused. */
typedef enum
{
  FLAM_LOOK_TITLE = 1 << 0,
  FLAM_LOOK_SUBTITLE = 1 << 1,
  FLAM_LOOK_NOTES = 1 << 2,
  FLAM_LOOK_COUNT_NAME = 1 << 3,
  FLAM_LOOK_WIDTH = 1 << 4,
  FLAM_LOOK_ROW_HEIGHT = 1 << 5,
  FLAM_LOOK_MIN_WIDTH = 1 << 6,
  FLAM_LOOK_FONT_SIZE = 1 << 7,
  FLAM_LOOK_DIRECTION = 1 << 8,
  FLAM_LOOK_ORDER = 1 << 9,
  FLAM_LOOK_COLORS = 1 << 10,
  FLAM_LOOK_NEGATE = 1 << 11,
  FLAM_LOOK_CHART = 1 << 12,
  FLAM_LOOK_SHAPE = 1 << 13,
  FLAM_LOOK_PICTURE = FLAM_LOOK_TITLE | FLAM_LOOK_SUBTITLE | FLAM_LOOK_WIDTH |
                      FLAM_LOOK_ROW_HEIGHT | FLAM_LOOK_MIN_WIDTH |
                      FLAM_LOOK_FONT_SIZE | FLAM_LOOK_DIRECTION |
                      FLAM_LOOK_ORDER | FLAM_LOOK_COLORS,
} FlamLookPart;

G_END_DECLS
