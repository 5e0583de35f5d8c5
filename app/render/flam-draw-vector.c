/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-draw-private.h"

#include <stdlib.h>

typedef struct
{
  FlamColor color;
  guint32 box;
} Item;

static int
by_color (const void *a, const void *b)
{
  const Item *x = a, *y = b;

  if (x->color != y->color)
    return x->color < y->color ? -1 : 1;
  return x->box < y->box ? -1 : x->box > y->box;
}

void
flam_draw_rounded (cairo_t *cr, const FlamRect *rect)
{
  double x = rect->x, y = rect->y, w = rect->width, h = rect->height;
  double r = FLAM_DRAW_RADIUS;

  cairo_new_sub_path (cr);
  cairo_arc (cr, x + w - r, y + r, r, -G_PI / 2, 0);
  cairo_arc (cr, x + w - r, y + h - r, r, 0, G_PI / 2);
  cairo_arc (cr, x + r, y + h - r, r, G_PI / 2, G_PI);
  cairo_arc (cr, x + r, y + r, r, G_PI, 3 * G_PI / 2);
  cairo_close_path (cr);
}

static void
add_box (cairo_t *cr, const FlamBox *box, double height)
{
  if (height < FLAM_DRAW_LOW)
    {
      cairo_rectangle (cr, box->x, box->y, box->width, height);
      return;
    }
  height -= FLAM_DRAW_GAP;
  if (box->width < FLAM_DRAW_PLAIN + FLAM_DRAW_GAP)
    cairo_rectangle (cr, box->x, box->y, box->width, height);
  else
    flam_draw_rounded (
        cr, &(FlamRect){ box->x, box->y, box->width - FLAM_DRAW_GAP, height });
}

void
flam_draw_boxes_as_paths (cairo_t *cr,
                          const FlamLayout *layout,
                          const FlamColor *colors,
                          FlamColor background)
{
  g_autofree Item *items = g_new (Item, (gsize)layout->n + 1);

  for (guint32 i = 0; i < layout->n; i++)
    items[i] = (Item){ colors[i], i };
  qsort (items, layout->n, sizeof *items, by_color);

  cairo_rectangle (cr, 0, 0, layout->viewport.width, layout->viewport.height);
  flam_draw_set_source (cr, background);
  cairo_fill (cr);
  for (guint32 i = 0; i < layout->n; i++)
    {
      add_box (cr, &layout->boxes[items[i].box], layout->viewport.row_height);
      if (i + 1 == layout->n || items[i + 1].color != items[i].color)
        {
          flam_draw_set_source (cr, items[i].color);
          cairo_fill (cr);
        }
    }
}
