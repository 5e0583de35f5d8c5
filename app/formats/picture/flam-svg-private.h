/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SVG_PRIVATE_H
#define FLAM_SVG_PRIVATE_H

/* The building blocks of flam-svg.c (the frame of a picture, and trees) and
 * flam-svg-chart.c: flam-svg-parts.c. */

#include "flam-svg.h"

#define FLAM_SVG_MARGIN 10

typedef struct
{
  FlamSink *out;
  const FlamTree *tree;
  const FlamChart *chart; /* NULL: the tree */
  const FlamPictureStyle *look;
  FlamPalette *palette;
  FlamDirection direction;
  double width, row, font, character;
  double head;  /* above the boxes */
  gint64 whole; /* the weight of the whole width */
} FlamSvg;

/* With a decimal point, whatever the locale. */
void flam_svg_put_number (FlamSink *out, double value, int places);
void flam_svg_put_attribute (FlamSink *out, const char *name, double value);
/* `name` NULL: no class. */
void flam_svg_put_text (FlamSink *out,
                        const char *name,
                        const char *anchor,
                        double x,
                        double y,
                        const char *text);
/* A name, shortened to fit; NULL if too little would remain; g_free. */
char *flam_svg_label_text (const FlamSvg *svg, const char *name, double width);
/* Draws it in a box. */
void flam_svg_put_label (
    const FlamSvg *svg, const char *name, double x, double y, double width);

/* Multiplied by the requested factor. */
gint64 flam_svg_weight (const FlamSvg *svg, gint64 weight);
/* Counts are whole numbers; time and memory have units. */
gboolean flam_svg_is_plain (const FlamSvg *svg, const FlamMeasure *measure);
/* "name (1,234 samples, 12.34%)", escaped. */
void flam_svg_put_description (const FlamSvg *svg, FlamNodeId node);

/* flam-svg-shape.c: the boxes of a sunburst or a treemap. */
void flam_svg_put_shape (const FlamSvg *svg, const FlamLayout *layout);

/* flam-svg-chart.c: the height of the lanes, and the lanes, drawn after the
 * frame; a note on what is left out, or NULL; g_free. */
double flam_svg_chart_height (const FlamSvg *svg);
char *flam_svg_put_chart (const FlamSvg *svg);

#endif
