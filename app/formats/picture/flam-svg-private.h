/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What flam-svg.c (the frame of a picture, and trees) and flam-svg-chart.c are
 * made of: flam-svg-parts.c. */

#include "flam-svg.h"

#define FLAM_SVG_MARGIN 10

typedef struct
{
  FlamSink *out;
  const FlamTree *tree;
  const FlamChart *chart; /* NULL: the tree */
  const FlamLook *look;
  FlamPalette *palette;
  FlamDirection direction;
  double width, row, font, character;
  double head; /* above the boxes */
} FlamSvg;

/* Whatever the locale says of decimal points. */
void flam_svg_put_number (FlamSink *out, double value, int places);
void flam_svg_put_attribute (FlamSink *out, const char *name, double value);
/* `name` NULL: no class. */
void flam_svg_put_text (FlamSink *out,
                        const char *name,
                        const char *anchor,
                        double x,
                        double y,
                        const char *text);
/* A name, cut to what fits; NULL where too little does; g_free. */
char *flam_svg_label_text (const FlamSvg *svg, const char *name, double width);
/* It, in a box. */
void flam_svg_put_label (
    const FlamSvg *svg, const char *name, double x, double y, double width);

/* Counts are whole; time and memory as people read them. */
gboolean flam_svg_is_plain (const FlamSvg *svg, const FlamMeasure *measure);
/* "name (1,234 samples, 12.34%)", escaped. */
void flam_svg_put_description (const FlamSvg *svg, FlamId node);

/* flam-svg-shape.c: the boxes of a sunburst or a treemap. */
void flam_svg_put_shape (const FlamSvg *svg, const FlamLayout *layout);

/* flam-svg-chart.c: how high the lanes are, and they, behind the frame; what
 * they do not show, or NULL; g_free. */
double flam_svg_chart_height (const FlamSvg *svg);
char *flam_svg_put_chart (const FlamSvg *svg);
