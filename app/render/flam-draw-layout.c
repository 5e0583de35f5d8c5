/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-draw-private.h"

static void
add_label (FlamDraw *draw,
           const FlamLayout *layout,
           const FlamScene *scene,
           const FlamBox *box)
{
  flam_draw_add_label (draw,
                       flam_draw_state_of (scene, box),
                       flam_draw_name_of (scene, box),
                       MAX (box->x, 0),
                       MIN (box->x + box->width, layout->viewport.width),
                       box->y,
                       layout->viewport.row_height - FLAM_DRAW_GAP);
}

static void
draw_rows (FlamDraw *draw,
           cairo_t *cr,
           const FlamLayout *layout,
           const FlamScene *scene)
{
  g_autofree FlamColor *colors = g_new (FlamColor, (gsize)layout->n + 1);
  FlamColor background = flam_palette_background (scene->palette);

  for (guint32 i = 0; i < layout->n; i++)
    colors[i] = flam_draw_color_of (scene, &layout->boxes[i]);
  if (!flam_draw_boxes_as_pixels (cr, layout, colors, background))
    flam_draw_boxes_as_paths (cr, layout, colors, background);
  if (scene->bare)
    return;
  for (guint32 i = 0; i < layout->n; i++)
    if (!(layout->boxes[i].flags & FLAM_BOX_STRIP))
      add_label (draw, layout, scene, &layout->boxes[i]);
  flam_draw_show_labels (draw, cr, scene->palette);
}

void
flam_draw_layout (FlamDraw *draw,
                  cairo_t *cr,
                  const FlamLayout *layout,
                  const FlamScene *scene)
{
  const FlamViewport *view = &layout->viewport;

  flam_draw_set_profile (draw, scene->tree->profile);
  cairo_save (cr);
  cairo_rectangle (cr, 0, 0, view->width, view->height);
  cairo_clip (cr);
  if (view->shape == FLAM_SHAPE_FLAME)
    draw_rows (draw, cr, layout, scene);
  else
    {
      flam_draw_set_source (cr, flam_palette_background (scene->palette));
      cairo_paint (cr);
      if (view->shape == FLAM_SHAPE_SUNBURST)
        flam_draw_sunburst (draw, cr, layout, scene);
      else
        flam_draw_treemap (draw, cr, layout, scene);
    }
  cairo_restore (cr);
}
