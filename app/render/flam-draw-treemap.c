/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-draw-private.h"

#include <math.h>

/* Frames are pale and cost boxes are not: the colored area is where the time
 * was spent, at whatever depth. A search dims boxes as in other shapes. */

#define ROUNDED 10.0 /* pixels: smaller boxes have corners */
#define LEAST_GAP 3.0

static gboolean
is_pale (const FlamScene *scene, const FlamBox *box)
{
  return scene->matched == NULL &&
         (box->flags & (FLAM_BOX_FRAME | FLAM_BOX_HEAD)) != 0;
}

static FlamColorState
state_of (const FlamScene *scene, const FlamBox *box)
{
  return is_pale (scene, box) ? flam_palette_label_state (
                                    scene->palette,
                                    scene->tree,
                                    box->node,
                                    flam_palette_pale_state (scene->palette))
                              : flam_draw_state_of (scene, box);
}

static FlamColor
color_of (const FlamScene *scene, const FlamBox *box)
{
  FlamColor color = flam_draw_color_of (scene, box);

  return is_pale (scene, box) ? flam_palette_pale (scene->palette, color)
                              : color;
}

/* Aligned to whole pixels, with the gap to the right and below. */
static FlamRect
rect_of (const FlamBox *box)
{
  double left = round (box->x), right = round (box->x + box->width);
  double top = round (box->y), bottom = round (box->y + box->height);
  FlamRect rect = { left, top, right - left, bottom - top };

  if (rect.width > LEAST_GAP)
    rect.width -= FLAM_DRAW_GAP;
  if (rect.height > LEAST_GAP)
    rect.height -= FLAM_DRAW_GAP;
  return rect;
}

static void
draw_box (cairo_t *cr, const FlamScene *scene, const FlamBox *box)
{
  FlamRect rect = rect_of (box);

  if (rect.width < ROUNDED || rect.height < ROUNDED)
    cairo_rectangle (cr, rect.x, rect.y, rect.width, rect.height);
  else
    flam_draw_rounded (cr, &rect);
  flam_draw_set_source (cr, color_of (scene, box));
  cairo_fill (cr);
}

/* The label is at the top of the box, or centered in a low one; a frame's label
 * is in its title. */
static void
add_label (FlamDraw *draw,
           const FlamScene *scene,
           const FlamBox *box,
           double row_height)
{
  double height = box->height < 2 * row_height ? box->height : row_height;

  if (box->flags & FLAM_BOX_FRAME)
    return;
  flam_draw_add_label (
      draw,
      state_of (scene, box),
      box->flags & FLAM_BOX_STRIP ? "…" : flam_draw_name_of (scene, box),
      box->x,
      box->x + box->width,
      box->y,
      height - FLAM_DRAW_GAP);
}

void
flam_draw_treemap (FlamDraw *draw,
                   cairo_t *cr,
                   const FlamLayout *layout,
                   const FlamScene *scene)
{
  for (guint32 i = 0; i < layout->n; i++)
    draw_box (cr, scene, &layout->boxes[i]);
  if (scene->bare)
    return;
  for (guint32 i = 0; i < layout->n; i++)
    add_label (draw, scene, &layout->boxes[i], layout->viewport.row_height);
  flam_draw_show_labels (draw, cr, scene->palette);
}
