/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-sunburst.h"

#include "flam-layout-private.h"

#include <math.h>

#define TURN (2 * G_PI)
#define MARGIN 1.0      /* pixels around the outer ring */
#define LEAST_HOLE 0.14 /* share of the radius, for the zoomed name */
#define MOST_HOLE 0.30
#define LEAST_ARC 1.0 /* pixels at the outer edge */

/* --- rings ---------------------------------------------------------------- */

static double
radius_of (const FlamViewport *viewport)
{
  return MAX (MIN (viewport->width, viewport->height) / 2 - MARGIN, 1);
}

void
flam_sunburst_init (FlamSunburst *self, const FlamViewport *viewport)
{
  double rings = MAX (viewport->rings, 1);

  self->x = viewport->width / 2;
  self->y = viewport->height / 2;
  self->radius = radius_of (viewport);
  self->rings = rings;
  self->hole = self->radius * CLAMP (1 / rings, LEAST_HOLE, MOST_HOLE);
  /* Between one ring and two the disc shrinks gradually, as a zoom moves. */
  if (rings < 2)
    self->hole += (self->radius - self->hole) * (2 - rings);
  self->ring = (self->radius - self->hole) / MAX (rings - 1, 1);
}

/* The rows before they are bent. */
static FlamViewport
unrolled (const FlamViewport *viewport)
{
  FlamViewport rows = *viewport;

  rows.width = TURN * radius_of (viewport);
  rows.min_width = MAX (viewport->min_width, LEAST_ARC);
  rows.direction = FLAM_DIRECTION_ICICLE;
  rows.height = viewport->row_height * (MAX (ceil (viewport->rings), 1) - 0.5);
  return rows;
}

static double
rings_there (const FlamRows *rows, const FlamViewport *viewport)
{
  FlamViewport rolled = unrolled (viewport);

  return flam_layout_n_rows (rows, &rolled) -
         floor (viewport->scroll / viewport->row_height);
}

/* No more rings than have room for a line of text each. */
double
flam_sunburst_rings (const FlamRows *rows, const FlamViewport *viewport)
{
  double room = radius_of (viewport) * (1 - LEAST_HOLE);
  double fit = 1 + floor (room / viewport->row_height);

  return CLAMP (rings_there (rows, viewport), 1, MAX (fit, 2));
}

gboolean
flam_layout_is_cut (const FlamRows *rows, const FlamLayout *layout)
{
  const FlamViewport *viewport = &layout->viewport;

  return layout->n > 0 && viewport->shape == FLAM_SHAPE_SUNBURST &&
         rings_there (rows, viewport) > viewport->rings;
}

/* --- boxes ---------------------------------------------------------------- */

/* Inner edge of a row, counted from the disc. */
static double
edge_of (const FlamSunburst *self, double row)
{
  double edge =
      row < 1 ? row * self->hole : self->hole + (row - 1) * self->ring;

  return CLAMP (edge, 0, self->radius);
}

static void
bend (const FlamSunburst *self, const FlamViewport *rows, FlamBox *box)
{
  double row = box->y / rows->row_height;
  double left = CLAMP (box->x, 0, rows->width);
  double right = CLAMP (box->x + box->width, 0, rows->width);
  double inner = edge_of (self, row);

  box->x = (float)(left / rows->width * TURN);
  box->width = (float)((right - left) / rows->width * TURN);
  box->y = (float)inner;
  box->height = (float)(edge_of (self, row + 1) - inner);
}

void
flam_sunburst_fill (FlamLayout *layout, const FlamRows *rows)
{
  FlamViewport viewport = layout->viewport;
  FlamSunburst self;

  if (!(viewport.rings > 0))
    viewport.rings = flam_sunburst_rings (rows, &viewport);
  flam_sunburst_init (&self, &viewport);
  layout->viewport = unrolled (&viewport);
  flam_layout_fill_rows (layout, rows, NULL);
  for (guint32 i = 0; i < layout->n; i++)
    bend (&self, &layout->viewport, &layout->boxes[i]);
  layout->viewport = viewport;
}

const FlamBox *
flam_sunburst_hit (const FlamLayout *layout, double x, double y)
{
  const FlamViewport *viewport = &layout->viewport;
  FlamSunburst self;
  double distance, angle, row;

  flam_sunburst_init (&self, viewport);
  distance = hypot (x - self.x, y - self.y);
  if (distance >= self.radius)
    return NULL;
  angle = atan2 (x - self.x, self.y - y);
  if (angle < 0)
    angle += TURN;
  row = distance < self.hole ? distance / self.hole
                             : 1 + (distance - self.hole) / self.ring;
  row += viewport->scroll / viewport->row_height;
  return flam_layout_hit_row (layout, floor (row), angle);
}

gboolean
flam_sunburst_find (const FlamRows *rows,
                    const FlamLayout *layout,
                    FlamNodeId node,
                    FlamBox *box)
{
  FlamViewport rolled = unrolled (&layout->viewport);
  FlamSunburst self;

  flam_sunburst_init (&self, &layout->viewport);
  flam_layout_locate (rows, &rolled, node, box);
  bend (&self, &rolled, box);
  return box->height > 0 && box->width > 0;
}

/* --- extent of a sector ----------------------------------------------------
 */

static void
include (FlamRect *rect, double x, double y)
{
  double right = MAX (rect->x + rect->width, x);
  double bottom = MAX (rect->y + rect->height, y);

  rect->x = MIN (rect->x, x);
  rect->y = MIN (rect->y, y);
  rect->width = right - rect->x;
  rect->height = bottom - rect->y;
}

/* The corners, and where the outer edge crosses an axis. */
FlamRect
flam_sunburst_bounds (const FlamLayout *layout, const FlamBox *box)
{
  double from = box->x, to = box->x + box->width;
  double outer = box->y + box->height;
  FlamSunburst self;
  FlamRect rect;

  flam_sunburst_init (&self, &layout->viewport);
  rect = (FlamRect){
    self.x + box->y * sin (from), self.y - box->y * cos (from), 0, 0
  };
  include (&rect, self.x + box->y * sin (to), self.y - box->y * cos (to));
  include (&rect, self.x + outer * sin (from), self.y - outer * cos (from));
  include (&rect, self.x + outer * sin (to), self.y - outer * cos (to));
  for (double axis = ceil (from / (TURN / 4)) * (TURN / 4); axis <= to;
       axis += TURN / 4)
    include (&rect, self.x + outer * sin (axis), self.y - outer * cos (axis));
  return rect;
}

/* --- names ---------------------------------------------------------------- */

#define PADDING 3.0

/* A name that runs outwards begins where the sector is as wide as a line. */
static double
find_outwards (const FlamBox *box, double line, double *from)
{
  *from = box->y + PADDING;
  if (box->width < G_PI)
    *from = MAX (*from, line / (2 * tan (box->width / 2)));
  return box->y + box->height - PADDING - *from;
}

static void
in_disc (const FlamBox *box, double line, FlamSunburstLabel *label)
{
  double reach = box->height - PADDING;

  *label = (FlamSunburstLabel){ .room = 0 };
  if (reach > line / 2)
    label->room = 2 * sqrt (reach * reach - line * line / 4);
}

gboolean
flam_sunburst_label (const FlamBox *box, double line, FlamSunburstLabel *label)
{
  double middle = box->y + box->height / 2, from;
  double outwards = find_outwards (box, line, &from);
  double along = box->height > line ? box->width * middle - 2 * PADDING : 0;

  if (box->y <= 0)
    {
      in_disc (box, line, label);
      return label->room > 0;
    }
  *label = (FlamSunburstLabel){
    .along = along >= outwards,
    .angle = box->width >= TURN - 1e-6 ? 0 : box->x + box->width / 2,
    .radius = along >= outwards ? middle : from + outwards / 2,
    .room = MAX (along, outwards),
  };
  label->other = label->along
                     ? label->angle > TURN / 4 && label->angle < 3 * TURN / 4
                     : label->angle > G_PI;
  return label->room > 0;
}
