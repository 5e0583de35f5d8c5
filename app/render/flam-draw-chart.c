/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-draw-private.h"

#include <math.h>

#include "flam-core-picture.h"

#define MARK_LABEL 160.0 /* pixels beside a mark */
#define LEAST_MARK_LABEL 30.0
#define SIDE 6.0 /* space before a lane's name */
#define TICK 5.0

typedef struct
{
  FlamDraw *draw;
  cairo_t *cr;
  const FlamChartLayout *layout;
  const FlamChartScene *scene;
  PangoLayout *text;
} Drawing;

static void
put_text (const Drawing *drawing,
          const char *text,
          double x,
          double y,
          double width,
          double height)
{
  int text_width, text_height;

  pango_layout_set_text (drawing->text, text, -1);
  pango_layout_set_width (drawing->text, (int)(width * PANGO_SCALE));
  pango_layout_get_pixel_size (drawing->text, &text_width, &text_height);
  cairo_move_to (drawing->cr, x, y + floor ((height - text_height) / 2));
  pango_cairo_show_layout (drawing->cr, drawing->text);
}

static int
width_of (const Drawing *drawing, const char *text)
{
  int width;

  pango_layout_set_width (drawing->text, -1);
  pango_layout_set_text (drawing->text, text, -1);
  pango_layout_get_pixel_size (drawing->text, &width, NULL);
  return width;
}

/* --- boxes ---------------------------------------------------------------- */

static FlamColor
color_of (const Drawing *drawing, const FlamChartBox *box)
{
  const FlamChartScene *scene = drawing->scene;

  return flam_chart_box_color (
      scene->chart, box, scene->nodes, scene->palette, scene->dark);
}

static FlamColorState
label_state_of (const Drawing *drawing, const FlamChartBox *box)
{
  const FlamChartScene *scene = drawing->scene;

  return flam_chart_box_label_state (
      scene->chart, box, scene->nodes, scene->palette);
}

static void
draw_as_paths (const Drawing *drawing, const FlamColor *colors)
{
  const FlamChartLayout *layout = drawing->layout;

  for (guint32 i = 0; i < layout->n; i++)
    {
      const FlamChartBox *box = &layout->boxes[i];

      flam_draw_set_source (drawing->cr, colors[i]);
      cairo_rectangle (drawing->cr,
                       box->x,
                       box->y,
                       flam_draw_chart_box_width (box),
                       box->height - (flam_draw_chart_is_run (box) ? 0 : 1));
      cairo_fill (drawing->cr);
    }
}

/* A mark's name is beside it, in the page's text color. */
static void
put_mark_name (const Drawing *drawing,
               const char *name,
               const FlamChartBox *box,
               double right)
{
  g_autofree char *visible = flam_format_visible (name);
  double x = box->x + TICK;

  put_text (drawing, visible, x, box->y, right - x, box->height);
}

static void
add_label (const Drawing *drawing, guint32 i)
{
  const FlamChartBox *box = &drawing->layout->boxes[i];
  gboolean mark = (box->flags & FLAM_CHART_BOX_MARK) != 0;
  double right = mark ? MIN (box->x + MARK_LABEL,
                             flam_chart_layout_mark_end (drawing->layout, i))
                      : MIN (box->x + box->width, drawing->layout->view.width);
  const char *name;

  if (flam_draw_chart_is_run (box))
    return;
  name = flam_chart_box_name (drawing->scene->chart, box);
  if (mark && right - box->x < LEAST_MARK_LABEL)
    return;
  if (mark)
    put_mark_name (drawing, name, box, right);
  else
    flam_draw_add_label (drawing->draw,
                         label_state_of (drawing, box),
                         name,
                         MAX (box->x, 0),
                         right,
                         box->y,
                         box->height - 1);
}

static void
draw_boxes (const Drawing *drawing)
{
  const FlamChartLayout *layout = drawing->layout;
  FlamPalette *palette = drawing->scene->palette;
  g_autofree FlamColor *colors = g_new (FlamColor, (gsize)layout->n + 1);

  for (guint32 i = 0; i < layout->n; i++)
    colors[i] = color_of (drawing, &layout->boxes[i]);
  if (!flam_draw_chart_boxes_as_pixels (drawing->cr, layout, colors))
    draw_as_paths (drawing, colors);
  flam_draw_set_source (drawing->cr, flam_palette_ink (palette));
  for (guint32 i = 0; i < layout->n; i++)
    add_label (drawing, i);
  flam_draw_show_labels (drawing->draw, drawing->cr, palette);
}

static void
draw_frame (const Drawing *drawing, guint span, double line)
{
  const FlamChartLayout *layout = drawing->layout;

  if (span == G_MAXUINT)
    return;
  flam_draw_set_source (drawing->cr,
                        flam_palette_ink (drawing->scene->palette));
  cairo_set_line_width (drawing->cr, line);
  for (guint32 i = 0; i < layout->n; i++)
    if (layout->boxes[i].span == span)
      {
        const FlamChartBox *box = &layout->boxes[i];

        cairo_rectangle (drawing->cr,
                         box->x + line / 2,
                         box->y + line / 2,
                         MAX (box->width - line, 1),
                         box->height - line);
        cairo_stroke (drawing->cr);
      }
}

/* --- lanes ---------------------------------------------------------------- */

static void
draw_counter (const Drawing *drawing, const FlamChartLane *lane, double y)
{
  const FlamChart *chart = drawing->scene->chart;
  const FlamChartView *view = &drawing->layout->view;
  guint n = (guint)ceil (view->width);
  double bottom = y + view->counter_height;
  gint64 top;
  g_autofree gint64 *levels = flam_chart_levels (chart, lane, view, n, &top);
  g_autofree char *most =
      flam_format_value (top, chart->profile->counters[lane->of].unit);

  cairo_move_to (drawing->cr, 0, bottom);
  for (guint x = 0; x < n; x++)
    {
      double level =
          bottom - (double)levels[x] / (double)top * view->counter_height;

      cairo_line_to (drawing->cr, x, level);
      cairo_line_to (drawing->cr, MIN (x + 1, view->width), level);
    }
  cairo_line_to (drawing->cr, view->width, bottom);
  cairo_close_path (drawing->cr);
  flam_draw_set_source (drawing->cr,
                        flam_palette_strip (drawing->scene->palette));
  cairo_fill (drawing->cr);
  flam_draw_set_source (drawing->cr,
                        flam_palette_ink (drawing->scene->palette));
  put_text (drawing, most, SIDE, y, view->width - 2 * SIDE, view->row_height);
}

static void
draw_head (const Drawing *drawing, const FlamChartHead *head)
{
  const FlamChartScene *scene = drawing->scene;
  const FlamChartView *view = &drawing->layout->view;
  const FlamChartLane *lane = &scene->chart->lanes[head->lane];
  g_autofree char *text = flam_chart_head_text (
      scene->chart, head->lane, scene->nodes->tree->total[0]);

  flam_draw_set_source (drawing->cr, flam_palette_ink (scene->palette));
  put_text (
      drawing, text, SIDE, head->y, view->width - 2 * SIDE, view->head_height);
  if (lane->kind == FLAM_LANE_COUNTER)
    draw_counter (drawing, lane, head->y + view->head_height);
}

static void
draw_ruler (const Drawing *drawing)
{
  const FlamChart *chart = drawing->scene->chart;
  const FlamChartView *view = &drawing->layout->view;
  FlamPalette *palette = drawing->scene->palette;
  double span = view->to - view->from;
  double step = flam_chart_tick_step (chart, span, view->width);
  double time = ceil (view->from / step) * step;

  flam_draw_set_source (drawing->cr, flam_palette_background (palette));
  cairo_rectangle (drawing->cr, 0, 0, view->width, FLAM_DRAW_RULER);
  cairo_fill (drawing->cr);
  flam_draw_set_source (drawing->cr, flam_palette_ink (palette));
  for (; time < view->to; time += step)
    {
      double x = floor ((time - view->from) / span * view->width);
      g_autofree char *text = flam_chart_tick_text (chart, time, step);

      cairo_rectangle (drawing->cr, x, FLAM_DRAW_RULER - TICK, 1, TICK);
      cairo_fill (drawing->cr);
      if (x + 4 + width_of (drawing, text) <= view->width)
        put_text (drawing, text, x + 4, 0, 100, FLAM_DRAW_RULER - 2);
    }
  flam_draw_set_source (drawing->cr, flam_palette_strip (palette));
  cairo_rectangle (drawing->cr, 0, FLAM_DRAW_RULER - 1, view->width, 1);
  cairo_fill (drawing->cr);
}

void
flam_draw_chart (FlamDraw *draw,
                 cairo_t *cr,
                 const FlamChartLayout *layout,
                 const FlamChartScene *scene)
{
  Drawing drawing = { draw, cr, layout, scene };

  flam_draw_set_profile (draw, scene->chart->profile);
  drawing.text = pango_layout_new (draw->context);
  pango_layout_set_font_description (drawing.text, draw->font);
  pango_layout_set_ellipsize (drawing.text, PANGO_ELLIPSIZE_END);
  cairo_save (cr);
  cairo_rectangle (
      cr, 0, 0, layout->view.width, layout->view.height + FLAM_DRAW_RULER);
  cairo_clip (cr);
  flam_draw_set_source (cr, flam_palette_background (scene->palette));
  cairo_paint (cr);
  cairo_save (cr);
  cairo_translate (cr, 0, FLAM_DRAW_RULER);
  for (guint i = 0; i < layout->n_heads; i++)
    draw_head (&drawing, &layout->heads[i]);
  draw_boxes (&drawing);
  draw_frame (&drawing, scene->hovered, 1);
  draw_frame (&drawing, scene->selected, 2);
  cairo_restore (cr);
  draw_ruler (&drawing);
  cairo_restore (cr);
  g_object_unref (drawing.text);
}
