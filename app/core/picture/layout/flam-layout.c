/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-layout-private.h"

#include <string.h>

static const char *const shapes[FLAM_N_SHAPES] = {
  [FLAM_SHAPE_FLAME] = "flame",
  [FLAM_SHAPE_SUNBURST] = "sunburst",
  [FLAM_SHAPE_TREEMAP] = "treemap",
};

const char *
flam_shape_to_string (FlamShape shape)
{
  return shapes[shape];
}

gboolean
flam_shape_from_string (const char *word, FlamShape *shape)
{
  for (*shape = 0; *shape < FLAM_N_SHAPES; (*shape)++)
    if (strcmp (word, shapes[*shape]) == 0)
      return TRUE;
  return FALSE;
}

gboolean
flam_viewport_is_scrolled (const FlamViewport *viewport,
                           const FlamViewport *before)
{
  return viewport->shape == FLAM_SHAPE_FLAME &&
         before->shape == FLAM_SHAPE_FLAME &&
         before->width == viewport->width &&
         before->row_height == viewport->row_height &&
         before->from == viewport->from && before->to == viewport->to &&
         before->min_width == viewport->min_width &&
         before->zoom == viewport->zoom &&
         before->direction == viewport->direction;
}

static void
fill (FlamLayout *layout, const FlamRows *rows, const FlamLayout *before)
{
  if (layout->viewport.shape == FLAM_SHAPE_SUNBURST)
    flam_sunburst_fill (layout, rows);
  else if (layout->viewport.shape == FLAM_SHAPE_TREEMAP)
    flam_treemap_fill (layout, rows);
  else
    flam_layout_fill_rows (layout, rows, before);
}

FlamLayout *
flam_layout_new_after (const FlamRows *rows,
                       const FlamViewport *viewport,
                       const FlamLayout *before)
{
  FlamLayout *layout = g_new0 (FlamLayout, 1);

  if (before != NULL &&
      !flam_viewport_is_scrolled (viewport, &before->viewport))
    before = NULL;
  layout->viewport = *viewport;
  layout->row = g_new0 (guint32, 1);
  if (!flam_viewport_is_empty (rows, viewport))
    fill (layout, rows, before);
  return layout;
}

FlamLayout *
flam_layout_new (const FlamRows *rows, const FlamViewport *viewport)
{
  return flam_layout_new_after (rows, viewport, NULL);
}

void
flam_layout_free (FlamLayout *layout)
{
  g_free (layout->boxes);
  g_free (layout->row);
  g_free (layout->row_hidden);
  g_free (layout);
}

const FlamBox *
flam_layout_hit (const FlamLayout *layout, double x, double y)
{
  if (layout->n == 0 || x < 0 || x >= layout->viewport.width)
    return NULL;
  if (layout->viewport.shape == FLAM_SHAPE_SUNBURST)
    return flam_sunburst_hit (layout, x, y);
  if (layout->viewport.shape == FLAM_SHAPE_TREEMAP)
    return flam_treemap_hit (layout, x, y);
  return flam_layout_hit_row (
      layout, flam_viewport_row_at (&layout->viewport, y), x);
}

gboolean
flam_layout_find (const FlamRows *rows,
                  const FlamLayout *layout,
                  FlamNodeId node,
                  FlamBox *box)
{
  if (layout->n == 0 || node >= rows->n)
    return FALSE;
  if (layout->viewport.shape == FLAM_SHAPE_SUNBURST)
    return flam_sunburst_find (rows, layout, node, box);
  if (layout->viewport.shape == FLAM_SHAPE_TREEMAP)
    return flam_treemap_find (layout, node, box);
  flam_layout_locate (rows, &layout->viewport, node, box);
  return TRUE;
}

FlamRect
flam_layout_bounds (const FlamLayout *layout, const FlamBox *box)
{
  if (layout->viewport.shape == FLAM_SHAPE_SUNBURST)
    return flam_sunburst_bounds (layout, box);
  return (FlamRect){ box->x, box->y, box->width, box->height };
}
