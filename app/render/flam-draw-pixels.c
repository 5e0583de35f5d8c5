/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-draw-private.h"

#include <math.h>
#include <string.h>

/* A row of boxes, as lines of pixels:
 *
 *    edge[0]    .####. .##########. ###        corners rounded
 *    edge[1]    ######.############.###
 *    middle     ######.############.###        copied down the row
 *    edge[1]    ######.############.###
 *    edge[0]    .####. .##########. ###
 *    background                                the gap below
 */

#define MAX_EDGES 16

typedef struct
{
  FlamPixels on;
  int edges, gap, plain; /* device pixels */
  guint32 background;
  float cover[MAX_EDGES][MAX_EDGES]; /* of a corner: line, pixel */
  guint32 *line[MAX_EDGES + 1];      /* edges, then the middle */
  guint8 *written; /* one byte per line: whether boxes are on it */
} Canvas;

static guint32
opaque (FlamColor color)
{
  return 0xff000000u | color;
}

static guint32
blend (guint32 over, guint32 under, float cover)
{
  guint32 result = 0xff000000u;

  for (guint shift = 0; shift <= 16; shift += 8)
    {
      float a = (float)(over >> shift & 255);
      float b = (float)(under >> shift & 255);

      result |= (guint32)lroundf (b + (a - b) * cover) << shift;
    }
  return result;
}

/* How much of each pixel a quarter of a circle covers, by 16 points each. */
static void
find_cover (Canvas *canvas)
{
  int n = canvas->edges;

  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++)
      {
        int inside = 0;

        for (int point = 0; point < 16; point++)
          {
            double dx = n - (x + (point % 4 + 0.5) / 4);
            double dy = n - (y + (point / 4 + 0.5) / 4);

            inside += dx * dx + dy * dy <= (double)n * n;
          }
        canvas->cover[y][x] = (float)inside / 16;
      }
}

static void
fill_line (guint32 *line, int from, int to, guint32 color)
{
  for (int x = from; x < to; x++)
    line[x] = color;
}

static void
round_corners (
    Canvas *canvas, guint32 *line, int edge, int from, int to, guint32 color)
{
  for (int i = 0; i < canvas->edges; i++)
    {
      guint32 mixed = blend (color, canvas->background, canvas->cover[edge][i]);

      if (from + i >= 0 && from + i < canvas->on.width)
        line[from + i] = mixed;
      if (to - 1 - i >= 0 && to - 1 - i < canvas->on.width)
        line[to - 1 - i] = mixed;
    }
}

/* Boxes less than a pixel wide fill a pixel that no other box has. */
static void
compose_box (Canvas *canvas, const FlamBox *box, guint32 color)
{
  int from = (int)lround (box->x * canvas->on.scale);
  int to = (int)lround ((box->x + box->width) * canvas->on.scale);
  gboolean rounded = to - from >= canvas->plain;
  int left, right;

  if (rounded)
    to -= canvas->gap;
  left = CLAMP (from, 0, canvas->on.width);
  right = CLAMP (MAX (to, from + 1), 0, canvas->on.width);
  if (to <= from &&
      (left >= right || canvas->line[0][left] != canvas->background))
    return;
  for (int i = 0; i <= canvas->edges; i++)
    {
      fill_line (canvas->line[i], left, right, color);
      if (rounded && i < canvas->edges)
        round_corners (canvas, canvas->line[i], i, from, to, color);
    }
}

static void
copy_lines (Canvas *canvas, int top, int bottom)
{
  for (int y = MAX (top, 0); y < MIN (bottom, canvas->on.height); y++)
    {
      int edge = MIN (y - top, bottom - 1 - y);
      const guint32 *line = canvas->line[MIN (edge, canvas->edges)];

      memcpy (canvas->on.pixels + canvas->on.stride * y,
              line,
              4 * canvas->on.width);
      canvas->written[y] = 1;
    }
}

static void
fill_rows (Canvas *canvas, const FlamLayout *layout, const FlamColor *colors)
{
  for (guint32 row = 0; row < layout->n_rows; row++)
    {
      guint32 first = layout->row[row], end = layout->row[row + 1];
      double y;

      if (first == end)
        continue;
      for (int i = 0; i <= canvas->edges; i++)
        fill_line (canvas->line[i], 0, canvas->on.width, canvas->background);
      for (guint32 i = first; i < end; i++)
        compose_box (canvas, &layout->boxes[i], opaque (colors[i]));
      y = layout->boxes[first].y;
      copy_lines (
          canvas,
          (int)lround (y * canvas->on.scale),
          (int)lround ((y + layout->viewport.row_height) * canvas->on.scale) -
              canvas->gap);
    }
}

gboolean
flam_draw_find_pixels (cairo_t *cr,
                       double width,
                       double height,
                       FlamPixels *found)
{
  cairo_surface_t *surface = cairo_get_group_target (cr);
  cairo_matrix_t matrix;
  double scale, scale_y, dx, dy;
  int x, y;

  if (cairo_surface_get_type (surface) != CAIRO_SURFACE_TYPE_IMAGE ||
      (cairo_image_surface_get_format (surface) != CAIRO_FORMAT_ARGB32 &&
       cairo_image_surface_get_format (surface) != CAIRO_FORMAT_RGB24))
    return FALSE;
  cairo_get_matrix (cr, &matrix);
  cairo_surface_get_device_scale (surface, &scale, &scale_y);
  cairo_surface_get_device_offset (surface, &dx, &dy);
  x = (int)lround (matrix.x0 * scale + dx);
  y = (int)lround (matrix.y0 * scale + dy);
  if (matrix.xx != 1 || matrix.yy != 1 || matrix.xy != 0 || matrix.yx != 0 ||
      scale != scale_y || x < 0 || y < 0)
    return FALSE;

  found->scale = scale;
  found->stride = (gsize)cairo_image_surface_get_stride (surface) / 4;
  found->width = MIN ((int)ceil (width * scale),
                      cairo_image_surface_get_width (surface) - x);
  found->height = MIN ((int)ceil (height * scale),
                       cairo_image_surface_get_height (surface) - y);
  if (found->width <= 0 || found->height <= 0)
    return FALSE;
  cairo_surface_flush (surface);
  found->pixels = (guint32 *)(void *)cairo_image_surface_get_data (surface) +
                  found->stride * y + x;
  return TRUE;
}

gboolean
flam_draw_boxes_as_pixels (cairo_t *cr,
                           const FlamLayout *layout,
                           const FlamColor *colors,
                           FlamColor background)
{
  Canvas canvas = { .background = opaque (background) };
  gboolean low = layout->viewport.row_height < FLAM_DRAW_LOW;
  g_autofree guint32 *lines = NULL;
  g_autofree guint8 *written = NULL;

  if (!flam_draw_find_pixels (
          cr, layout->viewport.width, layout->viewport.height, &canvas.on))
    return FALSE;
  canvas.edges =
      low ? 0
          : MIN ((int)lround (FLAM_DRAW_RADIUS * canvas.on.scale), MAX_EDGES);
  canvas.gap = low ? 0 : MAX ((int)lround (FLAM_DRAW_GAP * canvas.on.scale), 1);
  canvas.plain = (int)lround (FLAM_DRAW_PLAIN * canvas.on.scale);
  find_cover (&canvas);
  lines = g_new (guint32, (gsize)canvas.on.width * (canvas.edges + 1));
  for (int i = 0; i <= canvas.edges; i++)
    canvas.line[i] = lines + (gsize)canvas.on.width * i;

  canvas.written = written = g_new0 (guint8, canvas.on.height);

  fill_rows (&canvas, layout, colors);
  for (int y = 0; y < canvas.on.height; y++)
    if (!written[y])
      fill_line (canvas.on.pixels + canvas.on.stride * y,
                 0,
                 canvas.on.width,
                 canvas.background);
  cairo_surface_mark_dirty (cairo_get_group_target (cr));
  return TRUE;
}
