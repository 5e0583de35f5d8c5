/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "flam-flame-chart-private.h"

#include "flam-draw.h"
#include "flam-format.h"
#include "flam-ticks.h"

#include <adwaita.h>
#include <math.h>

#define LABEL_LEAST 26.0 /* pixels of a box with a name in it */

typedef struct
{
  FlamFlameChart *chart;
  cairo_t *cr;
  PangoLayout *text;
  gboolean dark;
  double width, height;
} Scene;

static void
put_text (const Scene *scene,
          const char *text,
          double x,
          double y,
          double width,
          double height)
{
  int text_width, text_height;

  pango_layout_set_text (scene->text, text, -1);
  pango_layout_set_width (scene->text, (int)(width * PANGO_SCALE));
  pango_layout_get_pixel_size (scene->text, &text_width, &text_height);
  cairo_move_to (scene->cr, x, y + floor ((height - text_height) / 2));
  pango_cairo_show_layout (scene->cr, scene->text);
}

static FlamColor
color_of (const Scene *scene, const FlamChartBox *box)
{
  FlamFlameChart *self = scene->chart;
  FlamId node;

  if (box->flags & FLAM_CHART_BOX_STATE)
    return flam_palette_state_color (self->chart->spans[box->span].what,
                                     scene->dark);
  if (box->flags & FLAM_CHART_BOX_STRIP)
    return flam_palette_strip (self->palette);
  if (box->flags & FLAM_CHART_BOX_MARK)
    return flam_palette_ink (self->palette);
  node = flam_flame_chart_node_of (self, box->span);
  return node != 0 ? flam_palette_node (self->palette, self->tree, node)
                   : flam_palette_strip (self->palette);
}

static void
draw_box (const Scene *scene, const FlamChartBox *box)
{
  FlamFlameChart *self = scene->chart;
  const FlamChartLane *lane = &self->chart->lanes[box->lane];
  gboolean call =
      (box->flags & (FLAM_CHART_BOX_STATE | FLAM_CHART_BOX_STRIP)) == 0;
  double gap = box->width > 4 && call ? 1 : 0;
  double x = MAX (box->x, 0);

  flam_draw_set_source (scene->cr, color_of (scene, box));
  cairo_rectangle (scene->cr,
                   box->x,
                   box->y,
                   MAX (box->width - gap, 1),
                   box->height - (call ? 1 : 0));
  cairo_fill (scene->cr);
  if (box->flags & FLAM_CHART_BOX_MARK)
    {
      put_text (scene,
                flam_chart_name (self->chart, lane, box->span),
                box->x + 4,
                box->y,
                160,
                box->height);
      return;
    }
  if (!call || box->width < LABEL_LEAST)
    return;
  flam_draw_set_source (scene->cr,
                        flam_palette_text (self->palette, FLAM_COLOR_NORMAL));
  put_text (scene,
            flam_chart_name (self->chart, lane, box->span),
            x + 3,
            box->y,
            box->x + box->width - x - 6,
            box->height - 1);
}

static void
draw_frame (const Scene *scene, guint span, double line)
{
  const FlamChartLayout *layout = flam_flame_chart_layout (scene->chart);

  if (span == G_MAXUINT)
    return;
  flam_draw_set_source (scene->cr, flam_palette_ink (scene->chart->palette));
  cairo_set_line_width (scene->cr, line);
  for (guint32 i = 0; i < layout->n; i++)
    if (layout->boxes[i].span == span)
      {
        const FlamChartBox *box = &layout->boxes[i];

        cairo_rectangle (scene->cr,
                         box->x + line / 2,
                         box->y + line / 2,
                         MAX (box->width - line, 1),
                         box->height - line);
        cairo_stroke (scene->cr);
      }
}

/* The last value at or before a time. */
static gint64
value_at (const FlamCounter *counter, double time)
{
  guint32 low = 0, high = counter->n;

  while (low < high)
    {
      guint32 middle = low + (high - low) / 2;

      if ((double)counter->time[middle] <= time)
        low = middle + 1;
      else
        high = middle;
    }
  return low > 0 ? counter->value[low - 1] : 0;
}

static void
draw_counter (const Scene *scene, const FlamChartLane *lane, double y)
{
  FlamFlameChart *self = scene->chart;
  const FlamCounter *counter = &self->chart->profile->counters[lane->of];
  FlamChartView view = flam_flame_chart_view (self);
  double bottom = y + view.counter_height;
  double scale = (self->to - self->from) / scene->width;
  g_autofree char *most = NULL;
  gint64 top = 1;

  for (guint32 i = 0; i < counter->n; i++)
    top = MAX (top, counter->value[i]);
  cairo_move_to (scene->cr, 0, bottom);
  for (double x = 0; x <= scene->width; x++)
    {
      gint64 value = value_at (counter, self->from + x * scale);

      cairo_line_to (scene->cr,
                     x,
                     bottom - (double)MAX (value, 0) / (double)top *
                                  view.counter_height);
    }
  cairo_line_to (scene->cr, scene->width, bottom);
  cairo_close_path (scene->cr);
  flam_draw_set_source (scene->cr, flam_palette_strip (self->palette));
  cairo_fill (scene->cr);
  most = flam_format_value (top, counter->unit);
  flam_draw_set_source (scene->cr, flam_palette_ink (self->palette));
  put_text (scene, most, 6, y, 120, 16);
}

static void
draw_head (const Scene *scene, const FlamChartHead *head)
{
  FlamFlameChart *self = scene->chart;
  const FlamChartLane *lane = &self->chart->lanes[head->lane];
  FlamChartView view = flam_flame_chart_view (self);
  g_autofree char *name = flam_chart_lane_name (self->chart, lane);
  g_autofree char *share = NULL;
  g_autofree char *text = NULL;

  if (lane->kind == FLAM_LANE_THREAD && self->tree != NULL)
    share = flam_format_percent (lane->weight, self->tree->total[0]);
  text = g_strdup_printf (
      "%s%s%s", name, share != NULL ? "   " : "", share != NULL ? share : "");
  flam_draw_set_source (scene->cr, flam_palette_ink (self->palette));
  put_text (scene, text, 6, head->y, scene->width - 12, view.head_height);
  if (lane->kind == FLAM_LANE_COUNTER)
    draw_counter (scene, lane, head->y + view.head_height);
}

static void
draw_ruler (const Scene *scene, double y)
{
  FlamFlameChart *self = scene->chart;
  double span = self->to - self->from;
  double step = flam_ticks_step (span, scene->width);
  double first = ceil (self->from / step) * step;

  flam_draw_set_source (scene->cr, flam_palette_background (self->palette));
  cairo_rectangle (scene->cr, 0, y, scene->width, FLAM_CHART_RULER);
  cairo_fill (scene->cr);
  flam_draw_set_source (scene->cr, flam_palette_ink (self->palette));
  for (double time = first; time < self->to; time += step)
    {
      double x = floor ((time - self->from) / span * scene->width);
      g_autofree char *text = flam_ticks_text (time, step);

      cairo_rectangle (scene->cr, x, y + FLAM_CHART_RULER - 5, 1, 5);
      cairo_fill (scene->cr);
      put_text (scene, text, x + 4, y, 100, FLAM_CHART_RULER - 2);
    }
  flam_draw_set_source (scene->cr, flam_palette_strip (self->palette));
  cairo_rectangle (scene->cr, 0, y + FLAM_CHART_RULER - 1, scene->width, 1);
  cairo_fill (scene->cr);
}

void
flam_flame_chart_snapshot (GtkWidget *widget, GtkSnapshot *snapshot)
{
  FlamFlameChart *self = FLAM_FLAME_CHART (widget);
  const FlamChartLayout *layout;
  double top, height;
  Scene scene = { self };

  if (self->chart == NULL || self->palette == NULL)
    return;
  layout = flam_flame_chart_layout (self);
  top = layout->view.top;
  height = layout->view.height + FLAM_CHART_RULER;
  scene.width = gtk_widget_get_width (widget);
  scene.height = height;
  scene.dark = adw_style_manager_get_dark (adw_style_manager_get_default ());
  scene.text = gtk_widget_create_pango_layout (widget, NULL);
  pango_layout_set_ellipsize (scene.text, PANGO_ELLIPSIZE_END);
  scene.cr = gtk_snapshot_append_cairo (
      snapshot,
      &GRAPHENE_RECT_INIT (0, (float)top, (float)scene.width, (float)height));
  cairo_translate (scene.cr, 0, top);
  flam_draw_set_source (scene.cr, flam_palette_background (self->palette));
  cairo_paint (scene.cr);
  cairo_save (scene.cr);
  cairo_translate (scene.cr, 0, FLAM_CHART_RULER);
  for (guint i = 0; i < layout->n_heads; i++)
    draw_head (&scene, &layout->heads[i]);
  for (guint32 i = 0; i < layout->n; i++)
    draw_box (&scene, &layout->boxes[i]);
  draw_frame (&scene, self->hovered, 1);
  draw_frame (&scene, self->selected, 2);
  cairo_restore (scene.cr);
  draw_ruler (&scene, 0);
  cairo_destroy (scene.cr);
  g_object_unref (scene.text);
}
