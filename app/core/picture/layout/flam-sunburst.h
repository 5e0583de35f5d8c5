/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SUNBURST_H
#define FLAM_SUNBURST_H

/* A flame graph bent around its zoomed node:
 *
 *              .-------.
 *            /  C   B   \         the disc in the middle is the zoomed node,
 *           |    .---.   |        the ring around it what that calls, and so
 *           | D | all |  |        on outwards; an angle is a share of the
 *           |    '---'   |        disc's total, clockwise from the top
 *            \    A     /
 *              '-------'
 *
 * Rings are as thick as the space allows, but no thinner than a row of text;
 * deeper callees become visible by zooming in. Boxes too narrow at the outer
 * edge are strips, as in the rows they are bent from. */

#include "flam-layout.h"

G_BEGIN_DECLS

typedef struct
{
  double x, y;   /* the centre */
  double radius; /* of all */
  double hole;   /* of the disc */
  double ring;   /* thickness of the rings */
  double rings;  /* with the disc */
} FlamSunburst;

/* `viewport.rings` must be set: that of a layout is. */
void flam_sunburst_init (FlamSunburst *self, const FlamViewport *viewport);
/* The number of rings if a viewport's `rings` is 0: for a view at rest. */
double flam_sunburst_rings (const FlamRows *rows, const FlamViewport *viewport);

/* The place of a name: along the ring or outwards, whichever has more room, and
 * never upside down. */
typedef struct
{
  gboolean along; /* bent: each letter at its own angle */
  gboolean other; /* the text runs the other way: its top, or its end, is
                     towards the centre */
  double angle;   /* of its middle */
  double radius;  /* of its middle; 0: it is in the disc, straight */
  double room;    /* maximum width */
} FlamSunburstLabel;

/* `line` is the height of a line. FALSE: no room. */
gboolean
flam_sunburst_label (const FlamBox *box, double line, FlamSunburstLabel *label);

G_END_DECLS

#endif
