/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-draw-private.h"

#include <math.h>

/* The boxes of a chart, written to an image: each row is composed once, as two
 * lines of partly transparent pixels, and drawn over each line of the row.
 * Calls leave the last pixel of their row free, runs do not:
 *
 *    y            calls: ##### ### ######        runs:      ######
 *    ...          ##### ### ######                          ######
 *    height - 1                                             ######
 *
 * A line that is covered completely is a copy of the line above it, as both are
 * drawn over the plain background. */

typedef struct
{
  FlamPixels on;
  guint32 *calls, *runs; /* premultiplied; 0 where there is no box */
  int from, to;          /* the range of device pixels with boxes */
} Row;

/* Each channel times `part` / 255, rounded. */
static guint32
scaled (guint32 pixel, guint part)
{
  guint32 low = (pixel & 0x00ff00ffu) * part + 0x00800080u;
  guint32 high = (pixel >> 8 & 0x00ff00ffu) * part + 0x00800080u;

  low += low >> 8 & 0x00ff00ffu;
  high += high >> 8 & 0x00ff00ffu;
  return (low >> 8 & 0x00ff00ffu) | (high & 0xff00ff00u);
}

/* `pixel` is premultiplied. */
static guint32
over (guint32 pixel, guint32 below)
{
  return pixel + scaled (below, 255 - (pixel >> 24));
}

/* How much of the device pixel `at` lies within from .. to, in 255ths. */
static guint
cover (int at, double from, double to)
{
  return (guint)lround (255 * CLAMP (MIN (to, at + 1) - MAX (from, at), 0, 1));
}

static void
add_box (Row *row, guint32 *line, double from, double to, guint32 color)
{
  int left = (int)floor (MAX (from, 0));
  int right = (int)ceil (MIN (to, row->on.width));

  if (left >= right)
    return;
  for (int x = left; x < right; x++)
    {
      guint part = x > from && x + 1 < to ? 255 : cover (x, from, to);

      line[x] = part == 255 ? color : over (scaled (color, part), line[x]);
    }
  row->from = MIN (row->from, left);
  row->to = MAX (row->to, right);
}

static void
lay_line (const Row *row, int y, guint calls, guint runs)
{
  guint32 *to = row->on.pixels + row->on.stride * y;

  for (int x = row->from; x < row->to; x++)
    {
      if (row->runs[x] != 0)
        to[x] = over (scaled (row->runs[x], runs), to[x]);
      if (row->calls[x] != 0)
        to[x] = over (scaled (row->calls[x], calls), to[x]);
    }
}

static void
lay_row (const Row *row, double top, double bottom, double calls_bottom)
{
  int end = (int)ceil (MIN (bottom, row->on.height));
  const guint32 *whole = NULL;

  for (int y = (int)floor (MAX (top, 0)); y < end; y++)
    {
      guint calls = cover (y, top, calls_bottom);
      guint runs = cover (y, top, bottom);
      guint32 *to = row->on.pixels + row->on.stride * y;

      if (calls == 255 && runs == 255 && whole != NULL)
        memcpy (to + row->from,
                whole + row->from,
                sizeof *to * (gsize)(row->to - row->from));
      else
        lay_line (row, y, calls, runs);
      if (calls == 255 && runs == 255)
        whole = to;
    }
}

/* The boxes from `first` on that are in one row; returns the next one. */
static guint32
draw_row (Row *row,
          const FlamChartLayout *layout,
          const FlamColor *colors,
          guint32 first)
{
  const FlamChartBox *boxes = layout->boxes;
  double scale = row->on.scale;
  double top = boxes[first].y * scale;
  double bottom = ((double)boxes[first].y + boxes[first].height) * scale;
  guint32 i;

  row->from = row->on.width;
  row->to = 0;
  for (i = first; i < layout->n && boxes[i].lane == boxes[first].lane &&
                  boxes[i].y == boxes[first].y;
       i++)
    add_box (row,
             flam_draw_chart_is_run (&boxes[i]) ? row->runs : row->calls,
             boxes[i].x * scale,
             (boxes[i].x + flam_draw_chart_box_width (&boxes[i])) * scale,
             0xff000000u | colors[i]);
  if (row->from < row->to)
    {
      gsize size = sizeof *row->runs * (gsize)(row->to - row->from);

      lay_row (row, top, bottom, bottom - scale);
      memset (row->calls + row->from, 0, size);
      memset (row->runs + row->from, 0, size);
    }
  return i;
}

gboolean
flam_draw_chart_boxes_as_pixels (cairo_t *cr,
                                 const FlamChartLayout *layout,
                                 const FlamColor *colors)
{
  const FlamChartView *view = &layout->view;
  g_autofree guint32 *lines = NULL;
  Row row = { 0 };

  if (!flam_draw_find_pixels (cr, view->width, view->height, &row.on))
    return FALSE;
  lines = g_new0 (guint32, (gsize)row.on.width * 2);
  row.calls = lines;
  row.runs = lines + row.on.width;
  for (guint32 i = 0; i < layout->n;)
    i = draw_row (&row, layout, colors, i);
  cairo_surface_mark_dirty (cairo_get_group_target (cr));
  return TRUE;
}
